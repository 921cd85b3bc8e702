"""Whatever the default has chosen: the same answers after a round trip, and nothing is run."""

import builtins
import json
import os
import subprocess
import zipfile

import numpy as np
import pytest

from plausible.io import load, save
from plausible.labels import Labels
from plausible.models import AutoClassifier
from plausible.models.auto import classifier as auto
from plausible.models.auto.ladder import default_ladder

RUNGS = {rung.name: rung for rung in default_ladder()}
MAKES = ("FunctionNode", "MethodNode", "PartialNode", "OperatorFuncNode", "TreeNode")


@pytest.fixture(scope="module")
def data():
    """Three unsorted classes in sets and degrees, and some that are unknown."""
    random = np.random.default_rng(2)
    y = random.integers(3, size=60)
    X = random.normal(size=(60, 3)) + 2.0 * np.eye(3)[y]
    contour = np.maximum(np.eye(3)[y], 0.5 * (random.random((60, 3)) < 0.3))
    contour[:4] = 1.0
    return X, Labels.from_plausibility(contour, ["c", "a", "b"])


def in_and_out(model, path, monkeypatch):
    """Save and load while nothing may run what a file could bring along."""

    def alarm(*args, **kwargs):
        raise AssertionError("code was run")

    save(model, path)
    with monkeypatch.context() as guarded:
        for module, name in [(os, "system"), (subprocess, "Popen"), (builtins, "eval")]:
            guarded.setattr(module, name, alarm)
        return load(path)


def loaders(part):
    """Names of the ways in which the parts of a file are put together."""
    if isinstance(part, dict):
        named = [part["__loader__"]] if "__loader__" in part else []
        return {*named, *(name for one in part.values() for name in loaders(one))}
    return {name for one in part for name in loaders(one)} if isinstance(part, list) else set()


@pytest.mark.parametrize("name", RUNGS)
def test_a_choice_of_one_rung_answers_the_same(data, tmp_path, monkeypatch, name):
    X, labels = data
    monkeypatch.setattr(auto, "default_ladder", lambda: [RUNGS[name]])
    model = AutoClassifier(cv=2, random_state=0).fit(X, labels)
    assert list(model.named_estimators_) == [name]
    again = in_and_out(model, tmp_path / "model", monkeypatch)
    new = X[::-1] * 1.3 + 0.1
    np.testing.assert_allclose(again.predict_proba(new), model.predict_proba(new), atol=1e-12)
    assert again.predict(new).tolist() == model.predict(new).tolist()
    assert again.summary() == model.summary()
    with zipfile.ZipFile(tmp_path / "model") as archive:
        assert not loaders(json.loads(archive.read("schema.json"))).intersection(MAKES)


def test_a_choice_with_votes_for_boosted_trees_answers_the_same(data, tmp_path, monkeypatch):
    X, labels = data
    chosen = [RUNGS[name] for name in ("boosted trees, shares", "logistic, ridge 1", "neighbors")]
    monkeypatch.setattr(auto, "default_ladder", lambda: chosen)
    model = AutoClassifier(cv=2, random_state=0).fit(X, labels)
    assert "boosted trees, shares" in model.named_estimators_
    assert len(model.votes_) > 1
    again = in_and_out(model, tmp_path / "model", monkeypatch)
    new = X[::-1] * 1.3 + 0.1
    np.testing.assert_allclose(again.predict_proba(new), model.predict_proba(new), atol=1e-12)
    np.testing.assert_array_equal(again.votes_, model.votes_)
