"""``plausible check``, and what the other verbs do with features as people have them."""

import csv
import json
import shlex

import numpy as np
import pytest

from plausible.io import inspect_model, load, read_table, write_table
from plausible.models import FeaturePreparation

N = 45
CLASSES = ("ash", "elm", "oak")
Y = np.arange(N) % 3


def ok(done):
    assert done.code == 0, done
    return done


@pytest.fixture
def messy(folder):
    """Answers about numbered items; features in another order, of all kinds, in ``messy.csv``."""
    random = np.random.default_rng(0)
    rows = random.permutation(N)
    size = 4.0 * Y + random.normal(size=N)
    table = {
        "width": [None if k % 9 == 0 else float(Y[k] - random.random()) for k in rows],
        "ID": [int(k) + 1 for k in rows],
        "size": size[rows].tolist(),
        "color": [["red", "green", "blue"][Y[k]] if k % 5 else "red" for k in rows],
        "seen": [f"2024-0{1 + k % 9}-1{k % 10}" for k in rows],
        "comment": [f"number {k}, {k * k} cm" for k in rows],
        "lab": ["Kiel"] * N,
    }
    write_table(table, folder / "messy.csv")
    said = [(k + 1, who, CLASSES[Y[k]]) for k in range(30) for who in ("ann", "bob")]
    said[1] = (1, "bob", "elm")
    names = ("item", "annotator", "label")
    answers = dict(zip(names, map(list, zip(*said, strict=True)), strict=True))
    write_table(answers, folder / "said.csv")
    return folder


def test_check_tells_what_was_understood_and_writes_nothing(plausible, messy):
    before = {path.name for path in messy.iterdir()}
    done = ok(plausible("check", "said.csv", "messy.csv", "--json"))
    found = done.json
    assert found["answers"]["holds"] == "answers"
    assert found["answers"]["classes"] == {"ash": 19, "elm": 21, "oak": 20}
    assert found["answers"]["people"] == {"ann": 30, "bob": 30}
    assert found["answers"]["meanings"]["item"] == "item"
    assert found["features"]["id"] == "ID"
    assert found["features"]["n_matched"] == 30
    kinds = {"width": "number", "size": "number", "color": "category", "seen": "date"}
    assert found["features"]["kinds"] == kinds
    told = " ".join(found["notes"])
    for words in ("comment (text that differs", "lab (always 'Kiel')", "width: 5 empty cells"):
        assert words in told
    assert found["to_decide"] == []
    assert {path.name for path in messy.iterdir()} == before
    said = ok(plausible("check", "said.csv", "messy.csv")).out
    for words in ("3 classes: ash 19, elm 21, oak 20", "matched by 'ID'", "color is a category"):
        assert words in said
    command = shlex.split(found["command"])
    assert command[:2] == ["plausible", "fit"]
    ok(plausible(*command[1:], "--model", "logistic"))


def test_check_finds_one_thing_after_the_other_and_the_command_that_mends_them(plausible, messy):
    text = (messy / "messy.csv").read_text().replace('"lab"', '"note"')
    lines = text.splitlines()
    lines[3] = "wide" + lines[3][lines[3].index(",") :]
    (messy / "messy.csv").write_text("\n".join(lines[:30]) + "\n")
    done = plausible("check", "said.csv", "messy.csv", "--json")
    assert done.code == 1
    first, second = done.json["to_decide"]
    assert "items of 30 have none" in first["what"]
    assert first["options"] == ["--on-unmatched drop"]
    assert "column 'width' holds 'wide'" in second["what"]
    assert second["options"] == ["--missing wide", "--categories width"]
    assert done.json["command"].endswith("--on-unmatched drop --missing wide -o model.skops")
    ok(plausible(*shlex.split(done.json["command"])[1:], "--model", "logistic"))
    shown = plausible("check", "said.csv", "messy.csv")
    assert (shown.code, shown.out.count("to decide")) == (1, 2)


def test_check_of_answers_alone(plausible, folder):
    done = ok(plausible("check", "answers.csv", "--json"))
    assert done.json["features"] is None
    assert done.json["command"] == "plausible pool answers.csv -o labels.csv"
    (folder / "numbers.csv").write_text("a,b\n0.5,0.25\n0.125,3.5\n")
    done = plausible("check", "numbers.csv", "--json")
    assert done.code == 1
    assert done.json["to_decide"][0]["about"] == "answers"
    assert done.stderr.splitlines()[-1] == (
        "plausible check: 1 thing has to be decided before a fit."
    )
    assert "plausible check: " in plausible("check", "nowhere.csv").stderr


def test_check_reads_standard_input(plausible, small_files):
    named = ok(plausible("check", "answers.csv", "features.csv", "--json")).json
    for words, name in (
        (("-", "features.csv"), "answers.csv"),
        (("answers.csv", "-"), "features.csv"),
    ):
        piped = ok(plausible("check", *words, "--json", stdin=small_files[name])).json
        assert piped["answers"]["classes"] == named["answers"]["classes"]
        assert piped["features"]["kinds"] == named["features"]["kinds"]
        assert piped["command"] == f"plausible fit {' '.join(words)} -o model.skops"


def test_fit_prepares_and_predict_does_the_same(plausible, messy):
    options = {"mixture": "reg_covar=0.01", "auto": "max_seconds=0"}
    for name in ("logistic", "mixture", "tree", "auto"):
        folded, words = name in options, ["--model", name]
        words += ["--set", options[name]] if folded else []
        done = ok(plausible("fit", "said.csv", "messy.csv", "-o", "m.skops", *words, "--json"))
        assert done.json["features"] == ["width", "size", "color", "seen"]
        assert done.json["soft_accuracy"] > 0.9
        told = " ".join(done.json["notes"])
        assert "prepared: color: 3 categories" in told
        model = load(messy / "m.skops")
        assert isinstance(model[0], FeaturePreparation)
        assert model[0].full_rank is folded
        assert ("no Gaussians" in told) is (name == "mixture")
        new = {"seen": ["2024-05-05"] * 3, "color": ["blue", "violet", None], "who": list("xyz"),
               "size": [8.0, 4.0, 0.0], "ID": [7, 8, 9], "width": [None, 1.0, 0.0]}  # fmt: skip
        write_table(new, messy / "new.csv")
        done = ok(plausible("predict", "m.skops", "new.csv", "-o", "p.csv"))
        for words in (
            "width: 1 empty cell filled",
            "('violet', empty)",
            "through to the decisions",
        ):
            assert words in done.stderr
        with open(messy / "p.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        assert [row["item"] for row in rows] == ["7", "8", "9"]
        assert [row["who"] for row in rows] == list("xyz")
        assert rows[0]["answer"] == "oak"
        assert rows[0]["probability"] == rows[0]["probability:oak"]
        found = ok(plausible("evaluate", "m.skops", "said.csv", "messy.csv", "--json")).json
        assert found["scores"][0]["estimate"] > 0.9
        ok(plausible("report", "said.csv", "messy.csv", "--model", "m.skops", "-o", "r.html"))


def test_categories_that_look_like_numbers_and_columns_to_leave_out(plausible, messy):
    done = ok(plausible("fit", "said.csv", "messy.csv", "-o", "m.skops", "--json",
                        "--model", "logistic",
                        "--leave-out", "comment,color", "--categories", "size"))  # fmt: skip
    assert done.json["features"] == ["width", "size", "seen"]
    assert load(messy / "m.skops")[0].kinds_ == ["number", "category", "date"]
    done = plausible("fit", "said.csv", "messy.csv", "-o", "x", "--leave-out", "colour")
    assert (done.code, "'colour' is not there" in done.stderr) == (1, True)
    words = "fit", "said.csv", "messy.csv", "-o", "x", "--prepare", "never", "--missing", "?"
    assert plausible(*words).code == 2


def test_a_model_for_gaps_that_come_later(plausible, folder):
    table = read_table(folder / "new.csv").to_pydict()
    table["width"][1] = None
    write_table(table, folder / "gaps.csv")
    words = "fit", "answers.csv", "features.csv", "-o", "m.skops", "--model", "mixture"
    ok(plausible(*words))
    done = plausible("predict", "m.skops", "gaps.csv", "-o", "p.csv")
    assert (done.code, "fit the model with --prepare always" in done.stderr) == (1, True)
    ok(plausible(*words, "--prepare", "always"))
    ok(plausible("predict", "m.skops", "gaps.csv", "-o", "p.csv"))


def test_models_without_names_need_the_columns(plausible, folder):
    assert inspect_model(folder / "nameless.skops")["features"] is None
    words = "predict", "nameless.skops", "new.csv", "-o", "p.csv"
    done = plausible(*words)
    assert (done.code, "say --columns in the order of the model" in done.stderr) == (1, True)
    ok(plausible(*words, "--columns", "length,width"))
    one = (folder / "p.csv").read_bytes()
    ok(plausible(*words, "--columns", "width,length"))
    assert (folder / "p.csv").read_bytes() != one
    done = plausible("predict", "model.skops", "new.csv", "-o", "p.csv", "--columns", "length")
    assert (done.code, "leave it out" in done.stderr) == (2, True)


def test_rows_by_number_on_the_command_line(plausible, folder):
    (folder / "bare.csv").write_text("length\n1.5\n2.5\n3.5\n")
    (folder / "by_number.csv").write_text("item,label\n3,ash\n1,elm\n")
    words = "fit", "by_number.csv", "bare.csv", "-o", "out.skops", "--model", "centroid"
    done = plausible(*words)
    assert (done.code, "say --id row if the items are numbers of rows" in done.stderr) == (1, True)
    done = ok(plausible(*words, "--id", "row"))
    assert "whose numbers, from 1, are the items" in done.stderr
    done = plausible(*words, "--id", "row0")
    assert (done.code, "1 item of 2 has none (3)" in done.stderr) == (1, True)


def test_endings_are_looked_at_before_any_work(plausible, folder):
    for words in (("pool", "nothing.csv"), ("predict", "nothing.skops", "new.csv")):
        done = plausible(*words, "-o", "out.docx", "--json")
        assert done.code == 2
        assert "'out.docx' came" in json.loads(done.out)["error"]
    done = plausible("fit", "nothing.csv", "new.csv", "-o", "out.pkl", "--json")
    assert done.code == 2
    assert "as if it were a pickle; write 'out.skops'" in json.loads(done.out)["error"]


def test_rejected_answers_are_told_and_left_out(plausible, folder):
    rows = ["item,annotator,label,review_status", "1,ann,oak,ok", "1,bob,elm,Rejected",
            "2,ann,ash,ok", "2,cy,ash,ok", "3,cy,elm,ok", "3,bob,oak,rejected"]  # fmt: skip
    (folder / "said.csv").write_text("\n".join(rows))
    done = ok(plausible("check", "said.csv"))
    assert "2 answers were kept although review_status is 'Rejected' or 'rejected'" in done.out
    assert "--on-rejected drop" in done.out
    found = ok(plausible("check", "said.csv", "--on-rejected", "drop", "--json")).json
    assert found["answers"]["people"] == {"ann": 2, "cy": 2}
    assert found["answers"]["classes"] == {"ash": 2, "elm": 1, "oak": 1}
    assert any(note.startswith("2 answers left out") for note in found["notes"])
    assert "--on-rejected drop" in found["command"]
    ok(plausible("pool", "said.csv", "-o", "pooled.csv", "--on-rejected", "drop", "--doubt", "0.1"))
    best = read_table(folder / "pooled.csv")
    assert [best.column(f"plausibility:{name}").to_pylist()[0] for name in CLASSES] == [
        pytest.approx(0.1), pytest.approx(0.1), pytest.approx(1.0),
    ]  # fmt: skip


def test_a_single_class_is_counted(plausible, folder):
    (folder / "one.csv").write_text("item,annotator,label\nx,ann,oak\ny,ann,oak\n")
    assert "1 class: oak 2" in ok(plausible("check", "one.csv")).out


def test_check_tells_the_same_once_and_no_columns_of_exports(plausible, folder):
    lines = [{"text": f"t{k}", "label": "SPAM", "_input_hash": k, "_session_id": "ann",
              "answer": ("accept", "reject")[k % 2]} for k in range(8)]  # fmt: skip
    (folder / "binary.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert "meanings" not in ok(plausible("check", "binary.jsonl", "--json")).json["answers"]
    (folder / "odd.csv").write_text("a,b\n" + "".join(f"{k % 2},{k % 3}\n" for k in range(9)))
    found = plausible("check", "odd.csv", "--json").json["to_decide"]
    assert len({one["what"] for one in found}) == len(found)
