"""Labels that are probabilities teach shares, and not certainty."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from plausible.base import EvidenceClassifier, SharpenedLabelsWarning, training_rows
from plausible.engine import StreamRows
from plausible.labels import Labels
from plausible.models import (
    DiscriminantClassifier,
    EvidentialCalibratedClassifier,
    GaussianMixtureClassifier,
    PartialLogisticRegression,
    SoftNearestCentroid,
    SoftVotingClassifier,
    partial_label_loss,
)
from plausible.neighbors import ContextualNeighborsClassifier

NAMES = ["small", "medium", "large"]  # not sorted
RNG = np.random.default_rng(3)
X = RNG.normal(size=(90, 2)) + 1.5 * np.repeat(np.eye(3, 2), 30, axis=0)
P = RNG.dirichlet([0.7, 0.7, 0.7], 90)
P[::7, 1] = 0.0
P[::11] = np.eye(3)[RNG.integers(3, size=len(P[::11]))]
P /= P.sum(axis=1, keepdims=True)
WEIGHT = RNG.uniform(0.5, 2.0, size=90)
SHARES = Labels.from_probability(P, NAMES)
# A third probabilities, a third degrees of plausibility, the rest sets and nothing.
KIND = np.arange(90) % 3
DEGREES = np.maximum(RNG.uniform(size=(90, 3)) * 0.7, np.eye(3)[RNG.integers(3, size=90)])
SETS = np.where(RNG.uniform(size=(90, 3)) < 0.4, 0.0, 1.0)
SETS[SETS.sum(axis=1) == 0] = 1.0
CONTOUR = np.where(KIND[:, None] == 0, P, np.where(KIND[:, None] == 1, DEGREES, SETS))
MIXED = Labels(CONTOUR, NAMES, is_probability=KIND == 0)


def split_rows(labels, X, weight):
    """Rows of each class with the shares as weights, in the place of probabilities."""
    shares = labels.is_probability
    row, column = np.nonzero(np.where(shares[:, None], labels.contour, 0.0))
    contour = np.vstack([labels.contour[~shares], np.eye(3)[column]])
    weights = np.concatenate([weight[~shares], weight[row] * labels.contour[row, column]])
    return np.vstack([X[~shares], X[row]]), Labels(contour, labels.classes), weights


@pytest.mark.parametrize("y", [[[0.6, 0.4]] * 500, Labels.from_probability([[0.6, 0.4]] * 500)])
def test_the_same_probabilities_everywhere_are_learned(y):
    Z = np.random.default_rng(0).normal(size=(500, 2))
    for model in (PartialLogisticRegression(), DiscriminantClassifier()):
        np.testing.assert_allclose(model.fit(Z, y).predict_proba(Z)[:, 0], 0.6, atol=0.02)
    likelihoods = Labels.from_plausibility([[0.6, 0.4]] * 500)
    sure = PartialLogisticRegression(random_state=0).fit(Z, likelihoods)
    assert sure.predict_proba(Z)[:, 0].min() > 0.99  # the reading of the papers, by its name


@pytest.mark.parametrize("solver", ["lbfgs", "newton", "em"])
@pytest.mark.parametrize("criterion", ["minimum_commitment", "maximum_entropy", "minimum_entropy"])
def test_logistic_regression_is_that_of_scikit_learn_on_split_rows(solver, criterion):
    model = PartialLogisticRegression(criterion, alpha=0.5, solver=solver, tol=1e-10)
    model.fit(X, SHARES, sample_weight=WEIGHT)
    row, column = np.nonzero(P)
    weight = WEIGHT[row] * P[row, column]
    peer = LogisticRegression(C=2.0, tol=1e-10, max_iter=5000)
    peer.fit(X[row], np.array(NAMES)[column], sample_weight=weight)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-6)
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), atol=1e-6)
    logs = model.predict_log_proba(X)[row, np.searchsorted(model.classes_, np.array(NAMES)[column])]
    assert model.log_likelihood_ == pytest.approx(weight @ logs)


CRITERIA = ["minimum_commitment", "self_consistent", "minimum_entropy"]


@pytest.mark.parametrize("criterion", CRITERIA)
def test_rows_of_all_kinds_in_one_fit_are_those_with_split_rows(criterion):
    rows, labels, weight = split_rows(MIXED, X, WEIGHT)
    one = PartialLogisticRegression(criterion, n_init=1, tol=1e-9, random_state=0)
    one.fit(X, MIXED, sample_weight=WEIGHT)
    start = dict(zip(one.classes_, zip(one.coef_, one.intercept_, strict=True), strict=True))
    other = PartialLogisticRegression(criterion, init=start, tol=1e-9)
    other.fit(rows, labels, sample_weight=weight)
    assert other.objective_ == pytest.approx(one.objective_, rel=1e-9)
    np.testing.assert_allclose(other.coef_, one.coef_, atol=1e-5)
    assert np.diff(one.history_).min() >= -1e-9


@pytest.mark.parametrize("solver", ["lbfgs", "newton", "em"])
def test_solvers_agree_on_mixed_rows_and_never_fall(solver):
    model = PartialLogisticRegression(solver=solver, alpha=2.0, n_init=1, random_state=0, tol=1e-8)
    reference = PartialLogisticRegression(alpha=2.0, n_init=1, random_state=0, tol=1e-8)
    assert np.diff(model.fit(X, MIXED).history_).min() >= -1e-9
    assert model.objective_ == pytest.approx(reference.fit(X, MIXED).objective_, abs=1e-6)


@pytest.mark.parametrize("criterion", [*CRITERIA, "maximum_entropy"])
def test_losses_of_probabilities_are_cross_entropies_with_the_right_gradient(criterion):
    logits, loss = RNG.normal(size=(90, 3)), partial_label_loss(criterion)
    value, gradient = loss(logits, MIXED, WEIGHT)
    shares = MIXED.is_probability
    log_f = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    expected = -(WEIGHT[:, None] * P * log_f)[shares].sum()
    rest = loss(logits[~shares], MIXED[~shares], WEIGHT[~shares])[0]
    assert value == pytest.approx(expected + rest)
    for i, k in [(0, 0), (3, 2), (1, 1), (2, 0)]:
        step = np.zeros_like(logits)
        step[i, k] = 1e-6
        slope = (
            loss(logits + step, MIXED, WEIGHT)[0] - loss(logits - step, MIXED, WEIGHT)[0]
        ) / 2e-6
        assert gradient[i, k] == pytest.approx(slope, abs=1e-6)


GAUSSIANS = {
    "full": GaussianMixtureClassifier(random_state=0, prior="weak"),
    "tied": GaussianMixtureClassifier("tied", random_state=0),
    "diag": GaussianMixtureClassifier("diag", random_state=0),
    "parts": GaussianMixtureClassifier(
        "spherical", {"large": 1, "medium": 2, "small": 2}, random_state=0, prior="weak"
    ),
    "discriminant": DiscriminantClassifier(random_state=0),
    "shrunk": DiscriminantClassifier(shrinkage="auto", shared_covariance=False),
}


@pytest.mark.parametrize("name", GAUSSIANS)
@pytest.mark.parametrize("labels", [SHARES, MIXED], ids=["shares", "mixed"])
def test_gaussian_fits_are_those_of_split_rows(name, labels):
    model = clone(GAUSSIANS[name]).set_params(tol=1e-10)
    if name == "parts":  # would start at k-means, of other rows
        means = {"large": X[[50]], "medium": X[[5, 80]], "small": X[[20, 65]]}
        model.set_params(init={"means": means})
    one = clone(model).fit(X, labels, sample_weight=WEIGHT)
    rows, split, weight = split_rows(labels, X, WEIGHT)
    other = clone(model).fit(rows, split, sample_weight=weight)
    np.testing.assert_allclose(other.means_, one.means_, atol=1e-4)
    np.testing.assert_allclose(other.weights_, one.weights_, atol=1e-4)
    assert other.log_likelihood_ == pytest.approx(one.log_likelihood_, abs=1e-5)
    assert np.diff(one.history_).min() >= -1e-7


def test_responsibilities_of_probabilities_stay_what_they_are():
    model = GaussianMixtureClassifier(
        "diag",
        n_components={"large": 2, "medium": 1, "small": 1},
        random_state=0,
        store_responsibilities=True,
    ).fit(X, MIXED)
    by_class = np.column_stack(
        [model.responsibilities_[:, model.component_classes_ == k].sum(axis=1) for k in NAMES]
    )
    shares = MIXED.is_probability
    np.testing.assert_allclose(by_class[shares], P[shares], atol=1e-12)
    assert np.abs(by_class[~shares] - MIXED.contour[~shares]).max() > 0.1


def test_centroids_of_probabilities_are_weighted_means():
    model = SoftNearestCentroid().fit(X, SHARES, sample_weight=WEIGHT)
    weights = WEIGHT[:, None] * P
    expected = (weights.T @ X) / weights.sum(axis=0)[:, None]
    np.testing.assert_allclose(model.means_, expected[np.argsort(NAMES)])


def test_other_learners_in_an_ensemble_see_weighted_rows():
    row, column = np.nonzero(P)
    alone = GaussianNB().fit(X[row], np.array(NAMES)[column], sample_weight=P[row, column])
    voting = SoftVotingClassifier([("bayes", GaussianNB())]).fit(X, SHARES)
    np.testing.assert_allclose(voting.predict_proba(X), alone.predict_proba(X))


@pytest.mark.parametrize(
    "model", [PartialLogisticRegression(n_init=1, random_state=0), GaussianMixtureClassifier()]
)
@pytest.mark.parametrize("labels", [SHARES, MIXED], ids=["shares", "mixed"])
def test_streams_learn_the_same(model, labels):
    whole = clone(model).fit(X, labels, sample_weight=WEIGHT)
    edges = [0, 13, 14, 60, 90]
    chunks = [(X[a:b], labels[a:b].reorder(NAMES[::-1]), WEIGHT[a:b]) for a, b in pairwise(edges)]
    stream = clone(model).fit(StreamRows(chunks))
    np.testing.assert_allclose(stream.predict_proba(X), whole.predict_proba(X), atol=1e-5)


def test_plain_tables_in_streams_mean_what_they_mean_in_memory():
    chunks = [(X[:40], P[:40]), (X[40:], P[40:])]
    whole = PartialLogisticRegression().fit(X, P)
    stream = PartialLogisticRegression().fit(StreamRows(chunks))
    np.testing.assert_allclose(stream.coef_, whole.coef_, atol=1e-6)
    later = P[40:] / P[40:].max(axis=1, keepdims=True)  # more contours make all of them contours
    whole = PartialLogisticRegression(random_state=0).fit(X, np.vstack([P[:40], later]))
    stream = PartialLogisticRegression(random_state=0).fit(StreamRows([chunks[0], (X[40:], later)]))
    np.testing.assert_allclose(stream.objective_, whole.objective_, rtol=1e-4)
    few = np.vstack([P[40:-1], [[1.0, 0.2, 0.2]]])  # one of them is more likely a mistake
    for rows in ((X, np.vstack([P[:40], few])), (StreamRows([chunks[0], (X[40:], few)]),)):
        with pytest.raises(ValueError, match="should sum to one.* 1 do not"):
            PartialLogisticRegression().fit(*rows)


def test_dask_collections_learn_the_same():
    dask = pytest.importorskip("dask.array")
    rows = dask.from_array(X, chunks=(31, 2))
    for y in (SHARES, MIXED, dask.from_array(P, chunks=(31, 3))):
        model = PartialLogisticRegression(n_init=1, random_state=0).fit(rows, y)
        whole = PartialLogisticRegression(n_init=1, random_state=0)
        whole.fit(X, P if hasattr(y, "dask") else y)
        np.testing.assert_allclose(model.predict_proba(X), whole.predict_proba(X), atol=1e-5)


def test_uniform_probabilities_say_something_and_unknown_rows_nothing():
    Z = np.r_[X, X + 0.1]
    hard = Labels.from_crisp(np.array(NAMES)[P.argmax(axis=1)], NAMES)
    alone = PartialLogisticRegression().fit(X, hard)
    unknown = Labels.concatenate([hard, Labels.unknown(90, NAMES)])
    even = Labels.concatenate([hard, Labels.from_probability(np.full((90, 3), 1 / 3), NAMES)])
    np.testing.assert_allclose(
        PartialLogisticRegression().fit(Z, unknown).coef_, alone.coef_, atol=1e-6
    )
    drawn = PartialLogisticRegression().fit(Z, even)
    assert drawn.predict_proba(X).max() < alone.predict_proba(X).max() - 0.05


class Likely(EvidenceClassifier):
    """Somebody's estimator that has not heard of probabilities."""

    def fit(self, X, y, sample_weight=None):
        rows, self.classes_ = training_rows(self, X, y, sample_weight)
        self.total_ = sum(columns[1].sum() for columns in rows.chunks())
        return self


def test_who_would_harden_probabilities_says_so():
    for data, y in ((X, SHARES), (StreamRows([(X, SHARES)]), None), (StreamRows([(X, P)]), None)):
        with pytest.warns(SharpenedLabelsWarning, match="Likely takes them for likelihoods"):
            assert Likely().fit(data, y).total_ == pytest.approx(90)
    for model in (EvidentialCalibratedClassifier(cv=2), ContextualNeighborsClassifier(5)):
        with pytest.warns(SharpenedLabelsWarning, match="from_plausibility"):
            model.fit(X, SHARES)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Likely().fit(X, Labels.from_plausibility(P, NAMES))
        Likely().fit(X, NAMES * 30)
