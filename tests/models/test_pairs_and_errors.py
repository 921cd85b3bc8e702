"""Shares of rows in pairs of classes, and standard errors of differences, by definition."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from plausible.labels import Labels
from plausible.models import EvidentialCalibratedClassifier
from plausible.models.calibration.classifier import about_pair
from plausible.models.supervision.comparison import tabulate


def test_a_row_counts_in_a_pair_by_the_probability_that_its_class_is_there():
    rng = np.random.default_rng(0)
    plausibility = rng.choice([0.0, 0.2, 0.7, 1.0], size=(60, 4))
    plausibility[:, 1] = np.maximum(plausibility[:, 1], plausibility.max(axis=1) == 0)
    weight = rng.uniform(0.5, 3.0, 60)
    weight[3] = 0.0
    for pair in ([0, 2], [1, 3], [2, 3]):
        rows, inside, share = about_pair(plausibility, weight, np.array(pair))
        expected = []
        for row, (degrees, w) in enumerate(zip(plausibility.tolist(), weight, strict=True)):
            own = [degrees[k] for k in pair]
            if w * sum(own) > 0:
                scaled = [degree / max(own) for degree in own]
                expected.append((row, *scaled, w * sum(own) / sum(degrees)))
        found = np.column_stack([rows, inside, share])
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_other_classifiers_weigh_a_row_by_its_margin_over_the_next_class():
    rng = np.random.default_rng(0)
    names, truth = np.array(["z", "b", "m"]), rng.integers(3, size=90)
    X = rng.normal(size=(90, 2)) + 2 * np.array([[0, 0], [1, 0], [0, 1]])[truth]
    contour = np.where(np.eye(3)[truth] > 0, 1.0, rng.uniform(0.1, 0.8, (90, 3)))
    contour[::9] = [1.0, 1.0, 0.0]  # two classes alike: no margin
    labels = Labels.from_plausibility(contour, names)
    model = EvidentialCalibratedClassifier(GaussianNB(), scores="classes").fit(X, labels)
    rows, said, margins = [], [], []
    for row, degrees in enumerate(contour.tolist()):
        first, second, _ = sorted(degrees, reverse=True)
        if first > second:
            rows.append(row)
            said.append(names[degrees.index(first)])
            margins.append(1 - second / first)
    peer = GaussianNB().fit(X[rows], said, sample_weight=margins)
    np.testing.assert_allclose(model.estimators_[0].theta_, peer.theta_)


def test_errors_are_those_of_the_difference_about_its_mean():
    rng = np.random.default_rng(1)
    held_out = rng.normal(size=(3, 400)) + np.array([[0.0], [0.5], [-2.0]])
    fitted = {
        name: SimpleNamespace(log_likelihood_=0.0, n_parameters_=1, bic_=0.0)
        for name in ("g1", "g2", "g3")
    }
    messages = dict.fromkeys(fitted, ())
    ones, zeros = np.ones(400), np.zeros(400)
    table = tabulate(fitted, messages, held_out, zeros, ones)
    assert table.best.model == "g2"
    assert table["g2"].held_out_error == 0.0
    for place, name in ((0, "g1"), (2, "g3")):
        apart = held_out[1] - held_out[place]
        expected = apart.std() / np.sqrt(400)
        assert table[name].held_out_error == pytest.approx(expected, rel=0.01)
    # A model that is worse by the same for every item is so without any doubt.
    moved = tabulate(fitted, messages, held_out - [[5.0], [0.0], [9.0]], zeros, ones)
    for name in fitted:
        assert moved[name].held_out_error == pytest.approx(table[name].held_out_error)
