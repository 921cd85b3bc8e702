"""The README's commands and its Python, word for word."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from plausible.cli.demo import COMMANDS, make_files

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


def test_three_commands_and_ten_lines_of_python_reach_the_same_decisions(tmp_path):
    commands = [line for line in blocks("sh")[1].splitlines() if line]
    assert commands == list(COMMANDS)  # of `plausible demo`
    by_command, by_python = tmp_path / "command", tmp_path / "python"
    for folder in (by_command, by_python):
        folder.mkdir()
        make_files(folder, seed=0)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for command in commands:
        done = subprocess.run(
            shlex.split(command),
            cwd=by_command,
            env=os.environ | {"PATH": path},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
    code = blocks("python")[0]
    lines = [line for line in code.splitlines() if line.strip()]
    assert len(lines) <= 10
    assert ">>>" not in code
    subprocess.run([sys.executable, "-c", code], cwd=by_python, check=True)
    decisions = [(folder / "decisions.csv").read_text() for folder in (by_command, by_python)]
    assert decisions[0] == decisions[1]
    assert decisions[0].count("\n") == 21
    for folder in (by_command, by_python):
        page = (folder / "report.html").read_text(encoding="utf-8")
        assert page.startswith("<!doctype html>")
        assert all(name in page for name in ("Ada", "Eve", "setosa"))


def test_the_first_screen_shows_the_report():
    picture = README.index("](docs/pictures/report.png)")
    assert README[:picture].count("\n") < 20
    assert (ROOT / "docs/pictures/report.png").read_bytes().startswith(b"\x89PNG")


def test_the_benefit_is_the_one_of_the_stored_results():
    page = (ROOT / "docs" / "reproduction.md").read_text()
    asked = r"labelme, logistic, by likelihood \| asked: joint, full [^|]*\| "
    gain = re.search(asked + r"\+([\d.]+) \(\+([\d.]+) to \+([\d.]+)\)", page)
    head = re.findall(r"^\| set \| model \| (majority .*)$", page, re.MULTILINE)[0]
    row = re.findall(r"^\| labelme \| logistic, by likelihood \| (.*)$", page, re.MULTILINE)[0]
    right = dict(zip(head.split(" | "), row.split(" | "), strict=True))
    told = " ".join(README.split())
    assert f"**{gain[1]} points more** (95 % interval {gain[2]} to {gain[3]})" in told
    assert f"names {float(right['joint, full']):.1%}".replace("%", " %") in told
    assert f"on majority votes it is {float(right['majority']):.1%}".replace("%", " %") in told


def test_the_first_screen_says_how_to_install():
    assert blocks("sh")[0].strip() == 'pip install ".[cli]"'
    assert README.index("pip install") < README.index("plausible fit answers.csv")
    assert README.index("points more**") < README.index("pip install")


def test_the_speed_table_is_a_part_of_the_whole_one():
    rows = README.partition("## Speed")[2].partition("## More")[0]
    ratios = re.findall(r"\| ([^|]*) \|$", rows, re.MULTILINE)[2:]
    whole = (ROOT / "docs" / "benchmarks.md").read_text()
    for ratio in ratios:
        for number in re.findall(r"\d[\d.,]*", ratio):
            assert number in whole
