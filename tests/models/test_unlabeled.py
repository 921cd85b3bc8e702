"""Rows without a label help a mixture, or make it forget its labels: then they weigh less."""

import warnings
from itertools import pairwise

import numpy as np
import pytest

from plausible.engine import ArrayRows, StreamRows
from plausible.experts import Annotations, JointAnnotatorClassifier
from plausible.labels import Labels
from plausible.models import (
    DiscriminantClassifier,
    GaussianMixtureClassifier,
    UnlabeledRowsWarning,
)
from plausible.models.gaussian.unlabeled import lighter, with_factor

NAMES = ["small", "medium", "large"]


def stripes(n_labeled=150, n_unlabeled=1500, seed=0):
    """Classes are told by one feature, clusters by three others: a mixture would find these."""
    rng = np.random.default_rng(seed)
    n = n_labeled + n_unlabeled + 1000
    y = rng.integers(3, size=n)
    cluster = np.where(rng.uniform(size=n) < 0.3, (y + 1) % 3, rng.integers(3, size=n))
    X = 5 * np.eye(3)[cluster] + rng.normal(size=(n, 3))
    return split(np.column_stack([X, y + 0.5 * rng.normal(size=n)]), y, n_labeled)


def clouds(n_labeled=12, n_unlabeled=1500, seed=0):
    """Classes that are Gaussian: unlabeled rows tell their shapes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_labeled + n_unlabeled + 1000) % 3
    X = rng.normal(size=(len(y), 4)) * [1, 1, 2, 0.5] + 2.5 * np.eye(3, 4)[y]
    return split(X, y, n_labeled)


def split(X, y, n_labeled):
    known = np.where(np.arange(len(y)) < n_labeled, np.array(NAMES)[y], "")
    labels = Labels.from_crisp(known, NAMES, missing="")
    train = slice(None, len(y) - 1000)
    return X[train], labels[train], X[-1000:], np.array(NAMES)[y[-1000:]]


def accuracy(model, X, y):
    return float((model.predict(X) == y).mean())


KINDS = {
    "full": (GaussianMixtureClassifier, {}),
    "tied": (GaussianMixtureClassifier, {"covariance_type": "tied"}),
    "discriminant": (DiscriminantClassifier, {}),
    "prior": (GaussianMixtureClassifier, {"covariance_type": "diag", "prior": "weak"}),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [0, 1])
def test_unlabeled_rows_do_no_serious_harm(kind, seed):
    X, labels, X_test, y_test = stripes(seed=seed)
    make, options = KINDS[kind]
    told = r"with them it agrees with 0\.\d\d of the labels where labeled rows alone foretell 0\.\d"
    with pytest.warns(UnlabeledRowsWarning, match=told):
        safe = make(**options).fit(X, labels)
    alone = make(unlabeled_weight=0, **options).fit(X, labels)
    wrecked = make(unlabeled_weight=1, **options).fit(X, labels)
    assert accuracy(wrecked, X_test, y_test) < accuracy(alone, X_test, y_test) - 0.1
    assert accuracy(safe, X_test, y_test) > accuracy(alone, X_test, y_test) - 0.04
    assert safe.unlabeled_weight_ < 0.2
    assert np.diff(safe.history_).min() > -1e-6


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [0, 1])
def test_unlabeled_rows_that_help_count_in_full_and_nothing_is_said(kind, seed):
    X, labels, X_test, y_test = clouds(seed=seed)
    make, options = KINDS[kind]
    model = make(**options).fit(X, labels)  # warnings are errors
    whole = make(unlabeled_weight=1, **options).fit(X, labels)
    assert model.unlabeled_weight_ == 1
    np.testing.assert_array_equal(model.means_, whole.means_)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a covariance that rests on four items
        alone = make(unlabeled_weight=0, **options).fit(X, labels)
    assert accuracy(model, X_test, y_test) > accuracy(alone, X_test, y_test) + 0.02


def test_the_weight_is_that_of_samples():
    X, labels, *_ = clouds(60, 300)
    idle = labels.is_unknown
    weight = np.random.default_rng(0).uniform(0.5, 2, len(X))
    one = GaussianMixtureClassifier(unlabeled_weight=0.2).fit(X, labels, sample_weight=weight)
    other = GaussianMixtureClassifier(unlabeled_weight=1)
    other.fit(X, labels, sample_weight=np.where(idle, 0.2 * weight, weight))
    np.testing.assert_allclose(one.means_, other.means_, atol=1e-9)
    assert one.log_likelihood_ == pytest.approx(other.log_likelihood_)
    none = GaussianMixtureClassifier(unlabeled_weight=0).fit(X, labels)
    np.testing.assert_allclose(
        none.means_, GaussianMixtureClassifier().fit(X[~idle], labels[~idle]).means_, atol=1e-9
    )
    sets = Labels.from_sets([{"small", "medium"}, None, {"large"}], NAMES)
    columns = (np.zeros((3, 1)), sets.contour, None)
    assert lighter(columns, 0.1)[2].tolist() == [1.0, 0.1, 1.0]
    shares = (np.zeros((2, 1)), np.full((2, 2), 0.5), None, np.array([True, False]))
    assert with_factor(ArrayRows(*shares), 0.1).columns[2].tolist() == [1.0, 0.1]


def test_streams_and_arrays_weigh_alike():
    X, labels, X_test, _ = stripes()
    edges = [0, 100, 101, 900, len(X)]
    chunks = [(X[a:b], labels[a:b]) for a, b in pairwise(edges)]
    with pytest.warns(UnlabeledRowsWarning):
        whole = GaussianMixtureClassifier().fit(X, labels)
    with pytest.warns(UnlabeledRowsWarning):
        stream = GaussianMixtureClassifier().fit(StreamRows(chunks))
    assert stream.unlabeled_weight_ == pytest.approx(whole.unlabeled_weight_)
    np.testing.assert_allclose(stream.predict_proba(X_test), whole.predict_proba(X_test), atol=1e-6)


def test_soft_labels_are_judged_by_their_degrees():
    X, labels, X_test, y_test = stripes(240)
    doubted = Labels.concatenate([labels[:240].discount(0.3), labels[240:]])
    with pytest.warns(UnlabeledRowsWarning):
        safe = GaussianMixtureClassifier().fit(X, doubted)
    alone = GaussianMixtureClassifier(unlabeled_weight=0).fit(X, doubted)
    whole = GaussianMixtureClassifier(unlabeled_weight=1).fit(X, doubted)
    assert accuracy(safe, X_test, y_test) > accuracy(alone, X_test, y_test) - 0.02
    assert accuracy(safe, X_test, y_test) > accuracy(whole, X_test, y_test) + 0.05


def test_joint_fits_keep_one_criterion():
    X, labels, *_ = stripes(60, 200)
    said = np.where(labels.is_unknown, "", labels.crisp())
    answers = Annotations.from_answers(np.column_stack([said, said]), NAMES)
    joint = JointAnnotatorClassifier(GaussianMixtureClassifier(), model="one_coin").fit(X, answers)
    assert joint.classifier_.unlabeled_weight_ == 1
    assert np.diff(joint.history_).min() >= -1e-6


@pytest.mark.parametrize("bad", ["always", -1, None, np.nan])
def test_weights_are_checked(bad):
    with pytest.raises(ValueError, match="unlabeled_weight"):
        GaussianMixtureClassifier(unlabeled_weight=bad).fit([[0.0], [1.0]], ["a", "b"])
