"""What plausible report shows beyond the numbers: pooling, features without a model, contents."""

import html
import json
import re

import pytest

from plausible.io import read_table, write_table
from support.small_files import CLASSES


@pytest.fixture
def shown(folder):
    """Features with the text and the picture of each item, and a column of text and gaps."""
    table = read_table(folder / "features.csv").to_pydict()
    n = len(table["item"])
    table["remark"] = [f"seen by the river, number {row}" for row in range(n)]
    table["photo"] = [f"photos/{item}.png" for item in table["item"]]
    table["bark"] = [("rough", "smooth", None)[row % 3] for row in range(n)]
    write_table(table, folder / "shown.csv")
    (folder / "photos").mkdir()
    from PIL import Image

    for item in table["item"][:10]:
        Image.new("RGB", (300, 200), "seagreen").save(folder / "photos" / f"{item}.png")
    return "shown.csv"


def written(plausible, folder, *words):
    done = plausible("report", *words, "-o", "out.html", "--json")
    assert done.code == 0, done
    return done.json["summary"], (folder / "out.html").read_text(encoding="utf-8")


def test_the_page_tells_how_answers_were_pooled(plausible, folder):
    summary, page = written(plausible, folder, "answers.csv")
    found = summary["pooling"]
    assert (found["rule"], found["doubt"]) == ("dempster", "own")
    assert any("54 answers of 3 people" in note for note in found["notes"])
    assert "pooled by Dempster&#x27;s rule, with the doubts that came with them" in page
    words = ["answers.csv", "--rule", "cautious", "--doubt", "0.2"]
    summary, page = written(plausible, folder, *words)
    found = summary["pooling"]
    assert (found["rule"], found["doubt"]) == ("cautious", 0.2)
    assert "by the cautious rule, with a doubt of 0.20 in every answer, beyond those" in page


def test_what_is_missing_is_asked_for_by_option(plausible, folder):
    summary, page = written(plausible, folder, "labels.csv")
    asked = [
        part["missing"] for part in summary.values() if isinstance(part, dict) and "missing" in part
    ]
    assert len(asked) >= 5
    assert not [line for line in asked if re.search(r"\w=", line)]
    assert "--model" in html.unescape(page)


def test_features_need_no_model(plausible, folder, shown):
    summary, page = written(plausible, folder, "answers.csv", shown)
    rows = {row["feature"]: row for row in summary["features"]["features"]}
    assert list(rows) == ["length", "width", "bark"]
    assert summary["features"]["n_items"] == 18  # of 24 that are measured
    assert rows["bark"]["kind"] == "text"
    assert rows["bark"]["n_missing"] == 6
    assert rows["length"]["separation"] > 0.1
    assert "&#x27;shown.csv&#x27;: 24 rows of 3 features" in page
    assert "2 columns left out: remark" in page


@pytest.mark.parametrize("model", [[], ["--model", "model.skops"]])
def test_texts_and_pictures_come_from_the_features(plausible, folder, shown, model):
    words = ["answers.csv", shown, *model, "--text", "remark", "--picture", "photo"]
    summary, page = written(plausible, folder, *words)
    assert page.count("seen by the river, number") >= len(summary["contents"]) > 5
    for item, found in summary["contents"].items():
        assert found["text"] == f"seen by the river, number {int(item[1:])}"
        assert ("picture" in found) == (int(item[1:]) < 10)
    assert re.search(r"no picture: there is no file t1\d\.png", page)
    assert str(folder) not in page
    names = [row["feature"] for row in summary["features"]["features"]]
    assert not {"remark", "photo"} & set(names)


def test_texts_may_stand_beside_the_answers(plausible, folder):
    table = read_table(folder / "answers.csv").to_pydict()
    table["sentence"] = [f"about {item}" if k % 2 else None for k, item in enumerate(table["item"])]
    write_table(table, folder / "told.csv")
    summary, _ = written(plausible, folder, "told.csv", "--text", "sentence")
    assert summary["contents"]
    for item, found in summary["contents"].items():
        assert found["text"] == f"about {item}"
    assert summary["labels"]["n_classes"] == len(CLASSES)


def test_texts_may_be_a_field_of_an_export(plausible, folder):
    table = read_table(folder / "answers.csv").to_pydict()
    said = zip(table["item"], table["annotator"], table["label"], strict=True)
    tasks = {item: {"id": k, "data": {"name": item, "text": f"about {item}"}, "annotations": []}
             for k, item in enumerate(dict.fromkeys(table["item"]))}  # fmt: skip
    for item, who, label in said:
        result = {"from_name": "tree", "type": "choices", "value": {"choices": [label]}}
        tasks[item]["annotations"].append({"completed_by": who, "result": [result]})
    (folder / "tasks.json").write_text(json.dumps(list(tasks.values())))
    words = ("tasks.json", "--names", "item=data.name", "--text")
    summary, _ = written(plausible, folder, *words, "data.text")
    assert summary["contents"]
    for item, found in summary["contents"].items():
        assert found["text"] == f"about {item}"
    done = plausible("report", *words, "txt", "-o", "other.html")
    assert done.code == 2
    assert "'txt' should be a field of the answers, but they have 'data.name'" in done.stderr


def test_a_column_that_is_not_there_is_refused(plausible, folder, shown):
    for option in ("--text", "--picture"):
        done = plausible("report", "answers.csv", shown, option, "nowhere", "-o", "out.html")
        assert done.code == 2
        assert "'nowhere' should be a column of the features or of the answers" in done.stderr
        assert "remark" in done.stderr
    assert not (folder / "out.html").exists()


def test_a_report_on_answers_alone_warns_of_no_features(plausible, folder):
    done = plausible("report", "answers.csv", "-o", "out.html")
    assert done.code == 0
    assert "reg_covar" not in done.stderr + done.out + (folder / "out.html").read_text()


def test_tests_need_a_model(plausible, folder):
    done = plausible(
        "report", "answers.csv", "--test", "truth.csv", "features.csv", "-o", "out.html"
    )
    assert done.code == 2
    assert "--test and --model should come together" in done.stderr
