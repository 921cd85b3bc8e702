"""Help comes at once, completion works, and nothing heavy is imported for either."""

import shutil
import subprocess
import sys

import pytest

from plausible.cli.main import VERBS
from support.command import environment, fresh

HEAVY = {"numpy", "scipy", "sklearn", "numba", "pyarrow", "rich", "skops", "shtab", "matplotlib"}


def test_every_verb_has_help(server, tmp_path):
    main = server.run("--help", folder=tmp_path)
    assert main.code == 0
    assert "Exit codes: 0 done, 1 bad data or files, 2 wrong usage, 130 interrupted" in main.out
    for verb in VERBS:
        done = server.run(verb, "--help", folder=tmp_path)
        assert (done.code, done.stderr) == (0, "")
        assert done.out.startswith(f"usage: plausible {verb} ")
        assert f"Example: plausible {verb}" in done.out
        assert "--json" in done.out
        assert f" {verb} " in main.out
        assert max(map(len, done.out.splitlines())) <= 100


def test_no_arguments_are_a_call_for_help(server, tmp_path):
    assert server.run(folder=tmp_path) == server.run("--help", folder=tmp_path)


@pytest.mark.parametrize("words", [["--help"], ["fit", "--help"], ["--version"], [], ["fit"],
                                   ["predict", "--reject", "7"], ["info"],
                                   ["fit", "-", "-", "-o", "x"], ["pool", "x", "-o", "no/x.csv"],
                                   ["evaluate", "-", "-", "x"]])  # fmt: skip
def test_help_and_wrong_usage_import_nothing_heavy(words):
    code = f"""
import sys
from plausible.cli import main
try:
    main({words!r})
except SystemExit:
    pass
print(*(name for name in sys.modules if "." not in name), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True,
                          text=True, check=True)  # fmt: skip
    assert HEAVY & set(done.stderr.splitlines()[-1].split()) == set()


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_fresh_interpreter(server, tmp_path, verb):
    there = fresh(verb, "--help", folder=tmp_path)
    assert there == server.run(verb, "--help", folder=tmp_path)


def test_completion_is_a_script(server, tmp_path):
    for shell in ("bash", "zsh"):
        done = server.run("--completion", shell, folder=tmp_path)
        assert (done.code, done.stderr) == (0, "")
        for word in (*VERBS, "--model", "--reject", "mixture"):
            assert word in done.out
        if shutil.which(shell):
            checked = subprocess.run([shell, "-n"], input=done.stdout, capture_output=True)
            assert (checked.returncode, checked.stderr) == (0, b"")


def test_completion_completes(server, tmp_path):
    (tmp_path / "script").write_bytes(server.run("--completion", "bash", folder=tmp_path).stdout)
    ask = """
source ./script
COMP_WORDS=(plausible fit a.csv b.csv --model mi); COMP_CWORD=5
"$(complete -p plausible | grep -o -- '-F [^ ]*' | cut -c4-)" plausible mi --model
echo "${COMPREPLY[@]}"
"""
    done = subprocess.run(["bash", "-c", ask], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.split() == ["mixture"]


@pytest.mark.parametrize(
    ("words", "says"),
    [(["polish"], "'polish'"), (["--completion", "fish"], "'fish'"), (["--loud"], "--loud"),
     (["fit\n", "x"], "fit"), ([""], "''")],
)  # fmt: skip
def test_unknown_verbs_and_shells(server, tmp_path, words, says):
    done = server.run(*words, folder=tmp_path)
    assert (done.code, done.stdout, len(done.lines)) == (2, b"", 1)
    assert done.lines[0].startswith("plausible: ")
    assert says in done.lines[0]
    assert done.lines[0].endswith("see plausible --help.")
    again = server.run(*words, "--json", folder=tmp_path)
    assert (again.code, again.json["error"].startswith("plausible: ")) == (2, True)


def test_version(server, tmp_path):
    import plausible

    assert server.run("--version", folder=tmp_path).out == f"plausible {plausible.__version__}\n"


def test_closed_streams(folder):
    start = f'"{sys.executable}" -m plausible.cli '
    pool = "pool answers.csv -o - "
    for command, code in ((pool + ">&-", 1), (pool + "2>&-", 0), ("info >&-", 0)):
        done = subprocess.run(["bash", "-c", start + command], cwd=folder, env=environment(),
                              capture_output=True, text=True)  # fmt: skip
        assert done.returncode == code, done
        assert "Traceback" not in done.stderr
        if code == 1:
            assert "Standard output should be open" in done.stderr
        elif command.startswith("pool"):
            assert done.stdout.startswith('"item"')
