"""Models that an earlier version saved still load, and answer as they did."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

from plausible.io import VersionWarning, inspect_model, load

SAVED = Path(__file__).parent / "saved"
EXPECTED = json.loads((SAVED / "answers.json").read_text())


def loaded(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VersionWarning)
        return load(SAVED / f"{name}.skops")


def test_every_file_is_tried():
    assert {path.stem for path in SAVED.glob("*.skops")} == set(EXPECTED["models"])


@pytest.mark.parametrize("name", sorted(EXPECTED["models"]))
def test_answers_are_those_of_the_version_that_saved_it(name):
    model, expected = loaded(name), EXPECTED["models"][name]
    probe = np.array(EXPECTED["probe"])
    assert model.classes_.tolist() == expected["classes"]
    assert model.predict(probe).tolist() == expected["predict"]
    bets = model.predict_proba(probe)
    if name.startswith("calibrated"):  # bet with plausibilities, scaled to sum to one, then
        plausible = model.predict_plausibility(probe)
        bets = plausible / plausible.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(bets, expected["predict_proba"], atol=1e-10)


@pytest.mark.parametrize("name", sorted(EXPECTED["models"]))
def test_parameters_are_complete_so_that_the_model_can_be_printed_and_cloned(name):
    model = loaded(name)
    assert type(model).__name__ in repr(model)
    type(model)(**model.get_params(deep=False))


def test_what_a_file_says_about_itself_is_kept():
    about = inspect_model(SAVED / "mixture_tied.skops")
    assert about["features"] == ["length", "width"]
    assert about["id"] == "tree"
