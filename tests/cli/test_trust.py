"""Estimators of other people on the command line: only if the user names their classes."""

import json
import sys

import numpy as np
import pytest

from base.toys import SomebodyElses
from plausible.cli.main import main
from plausible.io import save
from plausible.labels import Labels
from plausible.tables import read_table

NAME = f"{SomebodyElses.__module__}.SomebodyElses"
X = np.array([[0.0, 0.0], [1.0, 0.0], [6.0, 5.0], [5.0, 6.0], [0.0, 1.0]])
LABELS = Labels.from_doubt(["b", "b", "a", "a", "b"], [0.0, 0.3, 0.1, 0.0, 0.6])


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = SomebodyElses().fit(X, LABELS)
    save(model, "model", features=["x", "y"], trusted=[SomebodyElses])
    rows = "".join(f"{i},{x},{y}\n" for i, (x, y) in enumerate(X.tolist()))
    (tmp_path / "new.csv").write_text("item,x,y\n" + rows)
    truth = "".join(f"{i},{name}\n" for i, name in enumerate(LABELS.crisp()))
    (tmp_path / "truth.csv").write_text("item,label\n" + truth)
    return model


def test_predict_takes_an_estimator_of_somebody_else_that_the_user_names(files, capsys):
    assert main(["predict", "model", "new.csv", "-o", "out.csv", "--trust", NAME, "--quiet"]) == 0
    told = read_table("out.csv")
    assert told["answer"].to_pylist() == files.predict(X).tolist()
    capsys.readouterr()
    assert main(["evaluate", "model", "truth.csv", "new.csv", "--trust", NAME, "--json"]) == 0
    scores = {
        row["score"]: row["estimate"] for row in json.loads(capsys.readouterr().out)["scores"]
    }
    assert scores["soft_accuracy"] == files.score(X, LABELS.crisp())


def test_a_file_cannot_name_what_is_trusted(files, capsys, tmp_path, monkeypatch):
    monkeypatch.delitem(sys.modules, SomebodyElses.__module__)
    assert main(["predict", "model", "new.csv", "-o", "out.csv"]) == 1
    assert SomebodyElses.__module__ not in sys.modules  # nor imported because a file says so
    told = capsys.readouterr().err
    assert f"names {NAME}" in told
    assert "name it with --trust." in told
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Alone", "'Alone' is none; functions and modules are never trusted"),
        ("os.system", "'os.system' is none"),
        ("no_such_package.Class", r"cannot be \(No module named 'no_such_package'\)"),
        ("json.NoSuchClass", "cannot be"),
    ],
)
def test_only_classes_that_exist_can_be_trusted(files, capsys, name, words):
    assert main(["predict", "model", "new.csv", "-o", "out.csv", "--trust", name]) == 2
    assert words.replace("\\", "") in capsys.readouterr().err
