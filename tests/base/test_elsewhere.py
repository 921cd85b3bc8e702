"""Answers and scores about rows in streams and on Dask are those about rows in memory."""

from itertools import pairwise

import dask.array
import dask.dataframe
import numpy as np
import pandas as pd
import pytest

from plausible.base import Beliefs, score_rows
from plausible.belief import SparseMasses
from plausible.engine import StreamRows
from plausible.labels import Labels
from plausible.metrics import (
    expected_calibration_error,
    set_coverage,
    set_imprecision,
    soft_accuracy,
    soft_brier_score,
    soft_log_loss,
    utility_discounted_accuracy,
)
from plausible.models import DiscriminantClassifier
from plausible.neighbors import EvidentialNeighborsClassifier

ARRAYS = ("predict", "predict_proba", "predict_log_proba", "predict_plausibility", "predict_set")
N = 300


@pytest.fixture(scope="module")
def data():
    """Features, labels of unsorted classes with doubts, sets and unknown ones, and weights."""
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=N)
    X = rng.normal(size=(N, 3)) + 1.2 * truth[:, None]
    contour = np.where(rng.random((N, 3)) < 0.3, 1.0, rng.random((N, 3)))
    contour[np.arange(N), truth] = 1.0
    contour[:20] = 1.0
    return X, Labels.from_plausibility(contour, ["c", "a", "b"]), rng.random(N) * 3


def streamed(*columns):
    """The columns in chunks of unequal length."""
    stops = [0, 90, 91, 210, N]
    return StreamRows([tuple(column[a:b] for column in columns) for a, b in pairwise(stops)])


@pytest.mark.parametrize("kind", [DiscriminantClassifier, EvidentialNeighborsClassifier])
def test_answers_are_those_in_memory(data, kind):
    X, labels, _ = data
    model = kind().fit(X, labels)
    lazy = dask.array.from_array(X, chunks=((150, 0, 150), 2))
    for name in ARRAYS:
        expected = getattr(model, name)(X)
        answer = getattr(model, name)(lazy)
        assert isinstance(answer, dask.array.Array)
        assert (answer.shape, answer.dtype) == (expected.shape, expected.dtype)
        for found in (answer.compute(), getattr(model, name)(streamed(X))):
            if expected.dtype == float:
                np.testing.assert_allclose(found, expected, atol=1e-14)
            else:
                np.testing.assert_array_equal(found, expected)
    for rows in (lazy, streamed(X)):
        np.testing.assert_array_equal(
            model.decide(rows, reject=0.2).chosen, model.decide(X, reject=0.2).chosen
        )
        np.testing.assert_allclose(
            model.predict_mass(rows).to_dense(), model.predict_mass(X).to_dense(), atol=1e-15
        )


def test_names_of_data_frames_are_compared(data):
    X, labels, _ = data
    frame = pd.DataFrame(X, columns=["z", "y", "x"])
    model = DiscriminantClassifier().fit(frame, labels)
    lazy = dask.dataframe.from_pandas(frame, npartitions=3)
    np.testing.assert_array_equal(model.predict(lazy).compute(), model.predict(frame))
    np.testing.assert_array_equal(model.predict(streamed(X)), model.predict(frame))
    with pytest.raises(ValueError, match="another order"):
        model.predict(lazy[["x", "y", "z"]])


def test_what_cannot_be_answered_is_refused(data):
    X, labels, _ = data
    model = DiscriminantClassifier().fit(X, labels)
    lazy = dask.array.from_array(X)
    for rows in (lazy, streamed(X)):
        with pytest.raises(ValueError, match="features in memory"):
            model.believe(rows, labels)
        with pytest.raises(ValueError, match="features in memory"):
            model.predict_proba(rows, labels)
    with pytest.raises(ValueError, match="two axes"):
        model.predict(lazy[:, 0])


def test_scores_are_those_of_their_definitions_whatever_the_chunks(data):
    X, labels, weight = data
    model = DiscriminantClassifier().fit(X, labels)
    found = score_rows(model, X, labels, weight)
    says = labels.informativeness > 0
    beliefs = model.believe(X)
    sets, classes = beliefs.sets, beliefs.classes
    expected = {
        "soft_accuracy": soft_accuracy(labels, beliefs.predicted, weight),
        "soft_log_loss": soft_log_loss(labels, beliefs, weight),
        "soft_brier_score": soft_brier_score(labels, beliefs, weight),
        "set_coverage": set_coverage(labels, sets, weight, classes),
        "utility_discounted_accuracy": utility_discounted_accuracy(
            labels, sets, sample_weight=weight, classes=classes
        ),
        "set_imprecision": set_imprecision(sets[says], weight[says]),
        "expected_calibration_error": expected_calibration_error(
            labels, beliefs, sample_weight=weight
        ),
    }
    assert (found.n_items, found.n_counted) == (N, int(says.sum()))
    assert {name: one.estimate for name, one in found.scores.items()} == pytest.approx(expected)
    lazy = dask.array.from_array(X, chunks=(130, 2))
    for other in (
        score_rows(model, streamed(X, labels, weight)),
        score_rows(model, lazy, labels, weight),
    ):
        for name, one in found.scores.items():
            assert other.scores[name] == pytest.approx(one, abs=1e-12)
            assert one.low <= one.estimate <= one.high


def test_without_a_label_that_says_anything_scores_are_undefined(data):
    X, labels, _ = data
    model = DiscriminantClassifier().fit(X, labels)
    for found in (
        score_rows(model, X, labels, np.zeros(N)),
        score_rows(model, X, Labels.unknown(N, labels.classes)),
    ):
        assert found.n_counted == 0
        assert np.isnan(list(found.scores.values())).all()


@pytest.mark.parametrize("kind", [DiscriminantClassifier, EvidentialNeighborsClassifier])
def test_rows_that_say_nothing_change_no_score(data, kind):
    """Among others, in a chunk of their own, or without weight; by bets and by masses."""
    X, labels, weight = data
    model = kind().fit(X, labels)
    says = labels.informativeness > 0
    weight = np.where(np.arange(N) % 5 == 3, 0.0, weight)
    expected = score_rows(model, X[says], labels[says], weight[says])
    parts = [(part, labels[part], weight[part]) for part in (slice(12), slice(12, N))]
    rows = StreamRows([(X[part], given, own) for part, given, own in parts])
    for found in (score_rows(model, X, labels, weight), score_rows(model, rows)):
        assert (found.n_items, found.n_counted) == (N, expected.n_counted)
        for name, one in expected.scores.items():
            assert found.scores[name] == pytest.approx(one, abs=1e-12)


def test_intervals_of_scores_hold_their_mean(data):
    """Of 100 samples, the interval of the accuracy misses the long-run value in few."""
    X, _, _ = data
    rng = np.random.default_rng(1)
    model = DiscriminantClassifier().fit(X, rng.integers(3, size=N))
    missed = 0
    for _ in range(100):
        Z = rng.normal(size=(400, 3)) + 1.2
        answers = model.predict(Z)
        y = np.where(rng.random(400) < 0.7, answers, (answers + 1) % 3)  # right in 0.7
        one = score_rows(model, Z, y, n_bootstrap=100).scores["soft_accuracy"]
        missed += not one.low <= 0.7 <= one.high
    assert 1 <= missed <= 13


def test_beliefs_of_parts_are_joined():
    one = Beliefs.from_masses(SparseMasses([[0.3, 0.7]], [1, 3], 2), ["b", "a"])
    other = Beliefs.from_masses(SparseMasses([[0.4, 0.6]], [2, 3], 2), ["b", "a"])
    both = Beliefs.concatenate([one, other, Beliefs.from_probability([[0.9, 0.1]], ["b", "a"])])
    np.testing.assert_allclose(both.contour, [[1, 0.7], [0.6, 1], [1, 0.2]])
    with pytest.raises(ValueError, match="there are none"):
        Beliefs.concatenate([])
    different = Beliefs.from_probability([[0.9, 0.1]], ["a", "b"])
    with pytest.raises(ValueError, match="differ"):
        Beliefs.concatenate([one, different])
