"""What a model says, as a table: exact numbers, refusals, and names that can be read again."""

import csv

import numpy as np
import pytest

from plausible.belief import decide
from plausible.io import (
    Features,
    inspect_model,
    load,
    read_features,
    read_labels,
    read_table,
    save,
    write_predictions,
)
from plausible.models import GaussianMixtureClassifier, PartialLogisticRegression, believe


@pytest.fixture(scope="module")
def model():
    random = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = random.normal(size=(60, 2)) + 1.5 * np.eye(3, 2)[y]
    return PartialLogisticRegression(random_state=0).fit(X, np.array(["a|b", "c", "7"])[y])


NEW = Features(np.random.default_rng(1).normal(size=(20, 2)) + 0.5, ["x", "y"], None)


@pytest.mark.parametrize("reject", [None, 0.1, 0.4])
def test_every_number_and_every_refusal(tmp_path, model, reject):
    decision = write_predictions(model, NEW, tmp_path / "p.parquet", reject=reject)
    expected = decide(model.predict_proba(NEW.X), kind="probability", reject=reject)
    assert np.array_equal(decision.index, expected.index)
    table = read_table(tmp_path / "p.parquet").to_pydict()
    assert table["item"] == list(range(20))
    names = ['"7"', '"a|b"', "c"]
    assert table["answer"] == [None if k < 0 else names[k] for k in expected.index]
    assert (None in table["answer"]) == (reject is not None)
    beliefs = believe(model, NEW.X)
    for k, name in enumerate(names):
        assert table[f"probability:{name}"] == beliefs.probability[:, k].tolist()
        assert table[f"plausibility:{name}"] == beliefs.contour[:, k].tolist()


def test_predictions_are_labels(tmp_path, model):
    write_predictions(model, NEW, tmp_path / "p.csv")
    labels = read_labels(tmp_path / "p.csv", "probability")
    assert labels.classes.tolist() == model.classes_.tolist() == ["7", "a|b", "c"]
    assert np.array_equal(labels.contour, model.predict_proba(NEW.X))
    sets = read_labels(tmp_path / "p.csv", "sets", "set", classes=["7", "a|b", "c"])
    assert np.array_equal(sets.contour == 1, believe(model, NEW.X).sets)


def test_names_of_items_are_kept(tmp_path, model):
    new = read_features(
        {"item": ["007", 'say "x"', "ö"], "x": [0.0, 1, 2], "y": [0.0, 0, 0]}, "item"
    )
    with pytest.raises(ValueError, match="know the names of its features.*give names="):
        write_predictions(model, new, tmp_path / "p.csv")
    write_predictions(model, new, tmp_path / "p.csv", names=["x", "y"])
    with open(tmp_path / "p.csv", encoding="utf-8", newline="") as file:
        assert [row["item"] for row in csv.DictReader(file)] == ["007", 'say "x"', "ö"]


def test_refusing_nothing_costs_nothing_and_everything_is_refused_for_free(tmp_path, model):
    assert not write_predictions(model, NEW, tmp_path / "p.csv", reject=1.0).refused.any()
    assert write_predictions(model, NEW, tmp_path / "p.csv", reject=0.0).refused.all()


def test_saved_names_of_features(tmp_path, model):
    save(model, tmp_path / "m", features=["x", "y"])
    assert inspect_model(tmp_path / "m")["features"] == ["x", "y"]
    assert (
        load(tmp_path / "m").predict_proba(NEW.X).tobytes() == model.predict_proba(NEW.X).tobytes()
    )
    before = (tmp_path / "m").read_bytes()
    with pytest.raises(ValueError, match="name the 2 features of the model, but there are 3 names"):
        save(model, tmp_path / "m", features=["x", "y", "z"])
    assert (tmp_path / "m").read_bytes() == before


def test_mixtures_say_what_they_find_plausible(tmp_path):
    y = np.arange(40) % 2
    X = np.random.default_rng(0).normal(size=(40, 1)) + 3 * y[:, None]
    model = GaussianMixtureClassifier("tied").fit(X, y)
    write_predictions(model, Features(X, ["x"], None), tmp_path / "p.csv")
    table = read_table(tmp_path / "p.csv").to_pydict()
    contour = model.predict_plausibility(X)
    assert np.allclose(
        np.column_stack([table["plausibility:0"], table["plausibility:1"]]),
        contour / contour.max(axis=1, keepdims=True), rtol=1e-15,
    )  # fmt: skip
    assert table["answer"] == model.predict(X).tolist()
