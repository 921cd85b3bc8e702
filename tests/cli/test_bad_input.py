"""Whatever is wrong: the exit code, one clear line, no traceback, and nothing is left behind."""

import json
import os
import random

import pytest

from support.refusals import (
    BAD_DATA,
    COMMANDS,
    USAGE,
    refused,
    snapshot,
    swapped,
    the_message,
)

NOISE = random.Random(0).randbytes(300)
PNG = b"\x89PNG\r\n\x1a\n" + NOISE


# -- Files that cannot be read ---------------------------------------------------------------------

TABLES = [
    ("pool", "answers"),
    ("fit", "answers"),
    ("fit", "features"),
    ("predict", "new"),
    ("evaluate", "truth"),
    ("evaluate", "features"),
    ("partition", "features"),
    ("report", "answers"),
    ("report", "features"),
    ("info", "new"),
]
MODELS = [("predict", "model"), ("evaluate", "model"), ("report", "model")]


def spoil(folder, name, fault):
    """Put a file that is no table into the folder; its name, and what the message says."""
    good = (folder / f"{name}.csv").read_bytes()
    contents = {
        "empty": ("bad.csv", b"", "header"),
        "random bytes": ("bad.csv", NOISE, "bad.csv"),
        "picture": ("bad.csv", PNG, "bad.csv"),
        "no parquet": ("bad.parquet", good, "does not begin like one"),
        "cut parquet": ("bad.parquet", (folder / "features.parquet").read_bytes()[:700], "bad."),
        "no utf-8": ("bad.csv", good.replace(b"t1", b"t\x81"), "UTF-8"),
        "zeros": ("bad.csv", b"\0" * 100, "bad.csv"),
        "cut gzip": ("bad.csv.gz", b"\x1f\x8b\x08\x00" + NOISE, "bad.csv.gz"),
        "ragged": ("bad.csv", good + b"1\n", "row"),
        "json": ("bad.jsonl", b'{"item": 1}\n{"item": \n', "bad.jsonl"),
    }
    file, content, says = contents[fault]
    (folder / file).write_bytes(content)
    return file, [file, says]


EVERYWHERE = ["empty", "random bytes", "picture", "cut parquet"]
SOMEWHERE = ["no parquet", "no utf-8", "zeros", "cut gzip", "ragged", "json"]
FAULTS = [(*place, fault) for place in TABLES for fault in EVERYWHERE]
FAULTS += [(*place, fault) for place in (TABLES[0], TABLES[2], TABLES[-1]) for fault in SOMEWHERE]


@pytest.mark.parametrize(("verb", "place", "fault"), FAULTS)
def test_files_that_are_no_tables(plausible, folder, verb, place, fault):
    if fault == "no utf-8" and place == "new":
        (folder / "new.csv").write_bytes((folder / "new.csv").read_bytes().replace(b'"v"', b"t1"))
    name, says = spoil(folder, place, fault)
    refused(plausible, folder, swapped(verb, **{place: name}), BAD_DATA, says)


@pytest.mark.parametrize(("verb", "place"), [*TABLES, *MODELS])
def test_missing_files_and_folders(plausible, folder, verb, place):
    words = swapped(verb, **{place: "nowhere.csv"})
    refused(plausible, folder, words, BAD_DATA, ["'nowhere.csv' should be a file, but is not"])
    (folder / "heap.csv").mkdir()
    refused(plausible, folder, swapped(verb, **{place: "heap.csv"}), BAD_DATA, ["heap.csv"])


@pytest.mark.parametrize(("verb", "place"), TABLES[:-1])
def test_tables_without_rows(plausible, folder, verb, place):
    header = (folder / f"{place}.csv").read_text().splitlines()[0] + "\n"
    (folder / "bare.csv").write_text(header)
    words = swapped(verb, **{place: "bare.csv"})
    refused(plausible, folder, words, BAD_DATA, ["'bare.csv' should have at least one row"])


@pytest.mark.parametrize(("verb", "place"), [*TABLES, *MODELS])
def test_nothing_is_made_of_bad_files(plausible, folder, verb, place):
    (folder / "bad.csv").write_bytes(PNG)
    before = snapshot(folder)
    done = plausible(*swapped(verb, **{place: "bad.csv"}), "--quiet")
    assert "'bad.csv'" in the_message(done, verb, BAD_DATA)
    assert (done.stdout, len(done.lines)) == (b"", 1)
    assert snapshot(folder) == before


def altered(model):
    middle = len(model) // 2
    return model[:middle] + bytes([model[middle] ^ 1]) + model[middle + 1 :]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (lambda files: b"", "does not begin like one"),
        (lambda files: NOISE, "does not begin like one"),
        (lambda files: files["features.parquet"], "does not begin like one"),
        (lambda files: files["model.pickle"], "does not begin like one"),
        (lambda files: files["model.skops"][:-9], "cut off or altered"),
        (lambda files: altered(files["model.skops"]), "cut off or altered"),
        (lambda files: files["model.skops"][:60], "does not begin like one"),
    ],
    ids=["empty", "noise", "table", "pickle", "cut off", "altered", "cut early"],
)
@pytest.mark.parametrize(("verb", "place"), MODELS)
def test_files_that_are_no_models(plausible, folder, small_files, verb, place, content, says):
    (folder / "bad.skops").write_bytes(content(small_files))
    refused(plausible, folder, swapped(verb, model="bad.skops"), BAD_DATA, ["'bad.skops'", says])


# -- Outputs that cannot be written ----------------------------------------------------------------

WRITERS = [verb for verb, words in COMMANDS.items() if " -o " in words]


@pytest.mark.parametrize("verb", WRITERS)
def test_outputs_that_cannot_be_written(plausible, folder, verb):
    ending = COMMANDS[verb].rpartition(".")[2]
    (folder / f"heap.{ending}").mkdir()
    for output, says in [
        (f"nowhere/x.{ending}", "does not exist"),
        (f"heap.{ending}", "is a folder"),
        (f"answers.csv/x.{ending}", "does not exist"),
        ("", "has no name"),
    ]:
        words = swapped(verb, out=output)
        told = refused(plausible, folder, words, BAD_DATA, [repr(output), says])
        assert "name another" in told


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
@pytest.mark.parametrize("verb", WRITERS)
def test_folders_that_may_not_be_written_to(plausible, folder, verb):
    (folder / "locked").mkdir(mode=0o500)
    words = swapped(verb, out="locked/x." + COMMANDS[verb].rpartition(".")[2])
    refused(plausible, folder, words, BAD_DATA, ["may not be written to"])


@pytest.mark.parametrize("verb", WRITERS)
def test_outputs_that_would_replace_an_input(plausible, folder, verb):
    for source in [word for word in COMMANDS[verb].split() if (folder / word).exists()]:
        (folder / "linked").unlink(missing_ok=True)
        (folder / "linked").symlink_to(source)
        for output in (source, f"./{source}", folder / source, "linked"):
            words = list(map(str, swapped(verb, out=output)))
            refused(plausible, folder, words, USAGE, ["should not replace the input", source])


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no full device")
@pytest.mark.parametrize("verb", COMMANDS)
def test_a_full_disk(plausible, folder, verb):
    words = COMMANDS[verb].split()
    if "-o" in words:
        words[words.index("-o") + 1] = "-"
    done = plausible(*words, stdout="/dev/full")
    assert done.code == BAD_DATA
    assert done.lines[-1] == f"plausible {verb}: standard output: No space left on device."
    if "-o" not in words:
        done = plausible(*words, "--json", stdout="/dev/full")
        assert (done.code, done.lines[-1].count("No space left")) == (BAD_DATA, 1)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no full device")
@pytest.mark.parametrize("verb", ["fit", "report"])
def test_devices_are_written_to_and_not_replaced(plausible, folder, verb):
    done = plausible(*swapped(verb, out="/dev/full"))
    assert (done.code, done.lines[-1]) == (
        BAD_DATA, f"plausible {verb}: '/dev/full': No space left on device.")  # fmt: skip
    assert plausible(*swapped(verb, out="/dev/null"), "--quiet").code == 0
    assert not os.path.isfile("/dev/null")
    assert not os.path.isfile("/dev/full")
    assert not [name for name in os.listdir("/dev") if "part" in name or "checkpoint" in name]


@pytest.mark.parametrize(("verb", "out"), [("pool", "out.docx"), ("predict", "out")])
def test_tables_need_a_known_ending(plausible, folder, verb, out):
    refused(plausible, folder, swapped(verb, out=out), USAGE, [f"'{out}' came", ".csv"])


# -- Usage -----------------------------------------------------------------------------------------

USAGES = {
    "no such option": (["fit", "--modle", "mixture"], ["unknown arguments: --mod"]),
    "no abbreviations": (["fit", "--mod", "mixture"], ["unknown arguments: --mod"]),
    "no such model": (["fit", "--model", "swamp"], ["'swamp'", "logistic", "mixture"]),
    "doubt above one": (["fit", "--doubt", "1.5"], ["--doubt", "from 0 to 1", "'1.5'"]),
    "doubt in words": (["pool", "--doubt", "much"], ["--doubt", "from 0 to 1", "'much'"]),
    "doubt nan": (["pool", "--doubt", "nan"], ["--doubt", "from 0 to 1"]),
    "negative seed": (["fit", "--seed", "-1"], ["--seed"]),
    "seed in words": (["evaluate", "--seed", "x"], ["--seed", "whole number"]),
    "seed too large": (["report", "--seed", str(2**32)], ["--seed", "whole number"]),
    "seed in other digits": (["fit", "--seed", "²"], ["--seed", "whole number"]),
    "reject above one": (["predict", "--reject", "2"], ["--reject", "from 0 to 1"]),
    "unknown form": (["pool", "--form", "excel"], ["--form", "'excel'", "label-studio"]),
    "unknown conflict": (["pool", "--on-conflict", "shrug"], ["--on-conflict", "unknown"]),
    "classes twice": (["pool", "--classes", "a,a"], ["--classes", "different names"]),
    "columns empty": (["fit", "--columns", "a,,b"], ["--columns", "different names"]),
    "names in no pairs": (["pool", "--names", "item"], ["--names", "item=task"]),
    "parameter unknown": (
        ["fit", "--model", "logistic", "--set", "depth=3"], ["depth=3", "alpha", "tol"]
    ),
    "parameter without value": (["fit", "--set", "alpha"], ["'alpha'", "NAME=VALUE"]),
    "parameter of the run": (["fit", "--set", "callback=x"], ["'callback=x'"]),
    "model without features": (["report", "--model", "model.skops"], ["come together"]),
    "too many files": (["pool", "more.csv"], ["unknown arguments: more.csv"]),
    "unknown rule": (["pool", "--rule", "majority"], ["--rule", "'majority'", "dempster"]),
    "unknown kind": (["pool", "--kind", "odds"], ["--kind", "'odds'", "plausibility"]),
}  # fmt: skip


@pytest.mark.parametrize("name", USAGES)
def test_wrong_usage(plausible, folder, name):
    (verb, *more), says = USAGES[name]
    words = COMMANDS[verb].split()
    if name == "model without features":
        words.remove("features.csv")
        more = []
    refused(plausible, folder, [*words, *more], USAGE, says)


@pytest.mark.parametrize("words", [
    "fit - - -o out.skops", "predict - - -o out.csv", "evaluate model.skops - -",
    "report - - --model model.skops -o out.html", "report - -o out.html --test - new.csv",
])  # fmt: skip
def test_standard_input_is_read_once(plausible, folder, words):
    refused(plausible, folder, words.split(), USAGE, ["Only one file", "standard input"])


@pytest.mark.parametrize("verb", COMMANDS)
def test_missing_arguments(plausible, folder, verb):
    if verb == "info":
        pytest.skip("info needs none")
    refused(plausible, folder, [verb], USAGE, ["required", f"plausible {verb} --help"])


def test_json_and_data_do_not_share_a_stream(plausible):
    done = plausible("pool", "answers.csv", "-o", "-", "--json")
    assert done.code == USAGE
    assert json.loads(done.stdout)["error"].startswith("plausible pool: --json and -o -")


def test_resume_needs_something_to_resume(plausible, folder):
    words = [*COMMANDS["fit"].split(), "--resume"]
    assert plausible(*words[:-2], "-", "--resume").code == USAGE
    refused(plausible, folder, [*words, "--model", "mixture"], BAD_DATA, ["out.skops.checkpoint"])
    (folder / "out.skops").unlink(missing_ok=True)
    done = plausible(*words)
    assert (done.code, "out.skops" in done.lines[-1]) == (BAD_DATA, True)
