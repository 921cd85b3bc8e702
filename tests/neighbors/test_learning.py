"""Gamma and the number of neighbors are learned by a leave-one-out cost."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import approx_fprime

from neighbors.kinds import CLASSES, all_kinds, draw_items, exact_masses
from neighbors.kinds import by_name as of_classes
from plausible.belief import membership, pignistic
from plausible.labels import Labels
from plausible.neighbors import ContextualNeighborsClassifier, EvidentialNeighborsClassifier
from plausible.neighbors.closures import SparseCombiner
from plausible.neighbors.evidence import LabelEvidence
from plausible.neighbors.losses import Loss
from plausible.neighbors.rates import BOUND, Cost
from plausible.neighbors.search import Search

X = draw_items()
KINDS = list(all_kinds())


def cost_by_sets(labels, bets):
    """The squared cost as it is defined, focal set by focal set; NaN for unknown rows."""
    masses = exact_masses(labels)
    inside = membership(masses.focal_sets, labels.n_classes).astype(float)
    within = bets @ inside.T
    outside = np.square(bets) @ (1.0 - inside.T)
    costs = (masses.values * (np.square(1.0 - within) + outside)).sum(axis=1)
    return np.where(labels.is_unknown, np.nan, costs)


def linear_cost(labels, bets):
    """C1 of each row; NaN for unknown rows."""
    agreed = (exact_masses(labels).values @ membership_of(labels) * bets).sum(axis=1)
    return np.where(labels.is_unknown, np.nan, 1.0 - agreed)


def membership_of(labels):
    return membership(exact_masses(labels).focal_sets, labels.n_classes).astype(float)


def bets_of_each_from_the_others(X, labels, **parameters):
    """The slow way: as many fits as items."""
    rows = np.arange(len(X))
    return np.concatenate(
        [
            EvidentialNeighborsClassifier(**parameters)
            .fit(X[rows != i], labels[rows != i])
            .predict_proba(X[i : i + 1])
            for i in rows
        ]
    )


# -- The cost -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_the_squared_cost_is_that_of_all_focal_sets(kind):
    labels = all_kinds()[kind]
    bets = np.random.default_rng(0).dirichlet(np.ones(4), 40)
    cost, _ = Loss("squared", LabelEvidence(labels))(bets)
    assert cost == pytest.approx(np.nanmean(cost_by_sets(labels, bets)), abs=1e-14)


def test_the_squared_cost_of_simple_labels_is_what_it_should_be():
    bets = np.random.default_rng(0).dirichlet(np.ones(4), 40)
    kinds = all_kinds()
    hard, doubted, probable = (kinds[name] for name in ("hard", "doubted", "probabilities"))
    distance = np.square(bets - hard.contour).sum(axis=1)  # Zouhal and Denoeux 1998
    assert Loss("squared", LabelEvidence(hard))(bets)[0] == pytest.approx(distance.mean())
    trust = doubted.informativeness
    assert Loss("squared", LabelEvidence(doubted))(bets)[0] == pytest.approx(
        (trust * np.square(bets - (doubted.contour == 1.0)).sum(axis=1)).mean()
    )
    # Of probabilities, a constant more than the squared distance: a proper score.
    constant = 1.0 - np.square(probable.contour).sum(axis=1)
    distance = np.square(bets - probable.contour).sum(axis=1)
    assert Loss("squared", LabelEvidence(probable))(bets)[0] == pytest.approx(
        (distance + constant).mean()
    )


@pytest.mark.parametrize("unknown", ["count", "skip"])
@pytest.mark.parametrize("kind", ["missing", "sets", "masses"])
def test_the_objective_is_what_leaving_out_one_by_one_costs(kind, unknown):
    labels = all_kinds()[kind]
    gamma = of_classes([0.5, 1.5, 1.0, 0.8])
    slow = bets_of_each_from_the_others(X, labels, n_neighbors=4, gamma=gamma, unknown=unknown)
    by_name = slow[:, np.searchsorted(sorted(CLASSES), CLASSES)]
    for loss, cost in {"squared": cost_by_sets, "c1": linear_cost}.items():
        model = EvidentialNeighborsClassifier(4, gamma, loss=loss, unknown=unknown).fit(X, labels)
        expected = np.nanmean(cost(labels, by_name))
        assert model.objective_ == pytest.approx(expected, abs=1e-12)
        np.testing.assert_allclose(pignistic(model.loo_masses_), slow, atol=1e-12)


def test_leaving_out_an_item_leaves_its_duplicates():
    doubled = np.repeat(X[:10], 3, axis=0)
    labels = Labels.from_crisp(np.random.default_rng(0).choice(list("abc"), 30))
    model = EvidentialNeighborsClassifier(4, gamma=1.0).fit(doubled, labels)
    slow = bets_of_each_from_the_others(doubled, labels, n_neighbors=2, gamma=1.0)
    near = EvidentialNeighborsClassifier(2, gamma=1.0).fit(doubled, labels)
    np.testing.assert_allclose(pignistic(near.loo_masses_), slow, atol=1e-12)
    distances, numbers = model.kneighbors()
    assert (numbers != np.arange(30)[:, None]).all()
    np.testing.assert_allclose(distances[:, :2], 0.0, atol=1e-7)


# -- The gradient ----------------------------------------------------------------------------------


def assert_gradient(cost, point):
    """Exact to 1e-7 against differences of fourth order."""
    _, exact = cost.with_gradient(point)
    found = np.empty_like(exact)
    step = 1e-5
    for place in range(len(point)):
        unit = np.eye(len(point))[place] * step
        values = [cost.with_gradient(point + times * unit)[0] for times in (-2, -1, 1, 2)]
        found[place] = np.dot([1, -8, 8, -1], values) / (12 * step)
    np.testing.assert_allclose(exact, found, atol=1e-7)
    assert np.abs(exact).max() > 1e-4


@pytest.mark.filterwarnings("ignore::plausible.base.SharpenedLabelsWarning")
@pytest.mark.parametrize("combination", ["exact", "contours"])
@pytest.mark.parametrize("loss", ["squared", "c1"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_gradient_is_exact(kind, loss, combination):
    labels = all_kinds()[kind]
    model = EvidentialNeighborsClassifier(6, 1.0, loss=loss, combination=combination)
    cost = model.fit(X, labels)._cost(6)
    assert_gradient(cost, np.log([0.4, 0.9, 2.0, 1.3]))


@pytest.mark.parametrize("kind", ["sets", "masses", "plausibilities"])
def test_the_gradient_set_by_set_is_exact(kind):
    model = EvidentialNeighborsClassifier(4, 1.0).fit(X, all_kinds()[kind])
    cost = model._cost(4)
    sparse = Cost(SparseCombiner(model._told), cost.bets, cost.lists, cost.loss, 0.95)
    assert_gradient(sparse, np.log([0.4, 0.9, 2.0, 1.3]))
    assert sparse.value(np.ones(4)) == pytest.approx(cost.value(np.ones(4)), abs=1e-13)


@pytest.mark.filterwarnings("ignore::plausible.base.warnings.SharpenedLabelsWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_the_contextual_gradient_is_exact(kind):
    cost = ContextualNeighborsClassifier(6, 1.0, 0.9).fit(X, all_kinds()[kind])._cost(6)
    assert_gradient(cost, np.array([-0.5, 0.2, 0.7, 0.0, 1.4]))
    point = np.array([-0.5, 0.2, 0.7, 0.0, 1.4])
    rough = approx_fprime(point, lambda one: cost.with_gradient(one)[0], 1e-6)
    np.testing.assert_allclose(cost.with_gradient(point)[1], rough, atol=1e-4)


# -- What is learned -------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["squared", "c1"])
def test_a_fit_costs_no_more_than_the_heuristic(loss):
    labels = all_kinds()["sets"]
    given_, fitted = (
        EvidentialNeighborsClassifier(5, gamma, loss=loss).fit(X, labels)
        for gamma in ("heuristic", "fit")
    )
    assert fitted.objective_ <= given_.objective_


@pytest.mark.long
@given(
    st.integers(0, 10_000),
    st.sampled_from(KINDS),
    st.sampled_from(["squared", "c1"]),
    st.integers(1, 9),
)
def test_fitting_never_costs_more_than_the_heuristic(seed, kind, loss, k):
    items, labels = draw_items(25, seed=seed), all_kinds(25, seed=seed)[kind]
    given_, fitted = (
        EvidentialNeighborsClassifier(k, gamma, loss=loss).fit(items, labels)
        for gamma in ("heuristic", "fit")
    )
    assert fitted.objective_ <= given_.objective_
    ratio = fitted.gamma_ / given_.gamma_
    assert (ratio <= BOUND * 1.001).all()
    assert (ratio >= 0.999 / BOUND).all()
    if loss == "c1":
        assert np.ptp(fitted.gamma_) == 0.0
    at_same = EvidentialNeighborsClassifier(k, of_classes(fitted.gamma_), loss=loss).fit(
        items, labels
    )
    assert at_same.objective_ == pytest.approx(fitted.objective_, abs=1e-12)


def test_no_other_gamma_is_better_nearby():
    labels = all_kinds()["sets"]
    model = EvidentialNeighborsClassifier(6).fit(X, labels)
    cost = model._cost(6)
    for place in range(4):
        for factor in (0.9, 1.1):
            other = model.gamma_.copy()
            other[place] *= factor
            assert cost.value(other) >= model.objective_ - 1e-7


@pytest.mark.parametrize("loss", ["squared", "c1"])
def test_units_do_not_matter(loss):
    labels = all_kinds()["doubted"]
    model = EvidentialNeighborsClassifier(5, loss=loss).fit(X, labels)
    other = EvidentialNeighborsClassifier(5, loss=loss).fit(1000.0 * X, labels)
    np.testing.assert_allclose(other.gamma_ * 1e6, model.gamma_, rtol=1e-3)
    np.testing.assert_allclose(other.predict_proba(1000.0 * X), model.predict_proba(X), atol=1e-4)
    far = EvidentialNeighborsClassifier(5, of_classes(model.gamma_)).fit(X + 1e7, labels)
    near = EvidentialNeighborsClassifier(5, of_classes(model.gamma_)).fit(X, labels)
    np.testing.assert_allclose(far.predict_proba(X + 1e7), near.predict_proba(X), atol=1e-6)


def test_the_heuristic_is_one_over_the_mean_squared_distance_of_neighbors_of_the_class():
    labels = Labels.from_crisp(["a", "b"] * 20)
    model = EvidentialNeighborsClassifier(5, "heuristic").fit(X, labels)
    distances, numbers = model.kneighbors()
    for k, name in enumerate("ab"):
        own = labels.crisp() == name
        same = own[numbers] & own[:, None]
        assert model.gamma_[k] == pytest.approx(1.0 / np.square(distances[same]).mean())


# -- The number of neighbors -----------------------------------------------------------------------


def test_the_number_of_neighbors_is_chosen_with_one_search(monkeypatch):
    searches = []
    real = Search.others
    monkeypatch.setattr(Search, "others", lambda self, k: searches.append(k) or real(self, k))
    labels = all_kinds()["doubted"]
    model = EvidentialNeighborsClassifier("cv", "heuristic").fit(X, labels)
    assert searches == [30]
    for k, cost in model.cv_costs_.items():
        alone = EvidentialNeighborsClassifier(k, "heuristic").fit(X, labels)
        assert alone.objective_ == pytest.approx(cost, abs=1e-14)
    assert model.n_neighbors_ == min(model.cv_costs_, key=model.cv_costs_.get)
    assert model.objective_ == min(model.cv_costs_.values())
    listed = EvidentialNeighborsClassifier([3, 7, 200], gamma=1.0).fit(X, labels)
    assert list(listed.cv_costs_) == [3, 7, 39]
    chosen = EvidentialNeighborsClassifier(listed.n_neighbors_, gamma=1.0).fit(X, labels)
    np.testing.assert_allclose(listed.predict_proba(X), chosen.predict_proba(X))


# -- Unknown labels --------------------------------------------------------------------------------


def test_skipping_unknown_labels_is_dropping_them():
    labels = all_kinds()["missing"]
    kept = ~labels.is_unknown
    skipping = EvidentialNeighborsClassifier(5, unknown="skip").fit(X, labels)
    without = EvidentialNeighborsClassifier(5).fit(X[kept], labels[kept])
    np.testing.assert_allclose(skipping.gamma_, without.gamma_)
    np.testing.assert_allclose(skipping.predict_proba(X + 0.1), without.predict_proba(X + 0.1))
    numbers = skipping.kneighbors(X, return_distance=False)
    assert kept[numbers].all()
    np.testing.assert_array_equal(
        numbers, np.flatnonzero(kept)[without.kneighbors(X, return_distance=False)]
    )
    of_unknown = skipping.loo_masses_[labels.is_unknown]
    np.testing.assert_allclose(of_unknown.values, without.predict_mass(X[~kept]).values)


def test_unknown_labels_that_count_fill_places():
    labels = Labels.from_crisp(["a", None, None, "b"], missing=None)
    items = [[0.0], [1.0], [1.1], [3.0]]
    counting = EvidentialNeighborsClassifier(2, gamma=1.0).fit(items, labels)
    assert counting.score_novelty([[1.05]])[0] == 1.0
    skipping = EvidentialNeighborsClassifier(2, gamma=1.0, unknown="skip").fit(items, labels)
    assert skipping.score_novelty([[1.05]])[0] < 0.7


def test_unknown_rows_do_not_change_the_objective():
    labels = all_kinds()["sets"]
    far = Labels.concatenate([labels, Labels.unknown(5, labels.classes)])
    items = np.concatenate([X, 100.0 + draw_items(5)])
    model = EvidentialNeighborsClassifier(5, gamma=1.0).fit(X, labels)
    more = EvidentialNeighborsClassifier(5, gamma=1.0).fit(items, far)
    assert more.objective_ == pytest.approx(model.objective_, abs=1e-14)
