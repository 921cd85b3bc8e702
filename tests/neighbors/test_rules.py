"""Parameters, searches, edges; and contextual discounting."""

import pickle
import sys

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.neighbors import KNeighborsClassifier

from neighbors.kinds import CLASSES, all_kinds, assert_same_masses, draw_items, exact_masses
from plausible.belief import contextual_discount, contour, dempster, pignistic
from plausible.errors import InputError
from plausible.labels import Labels
from plausible.neighbors import ContextualNeighborsClassifier, EvidentialNeighborsClassifier

X, NEW = draw_items(), draw_items(12, seed=5)
SORTED = sorted(CLASSES)


# -- Searches --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"algorithm": "brute"},
        {"algorithm": "kd_tree"},
        {"algorithm": "ball_tree"},
        {"metric": "euclidean"},
        {"n_jobs": 2},
    ],
)
def test_every_exact_search_finds_the_same(options):
    labels = all_kinds()["doubted"]
    model = EvidentialNeighborsClassifier(5).fit(X, labels)
    other = EvidentialNeighborsClassifier(5, **options).fit(X, labels)
    np.testing.assert_allclose(other.predict_proba(NEW), model.predict_proba(NEW), atol=1e-7)


@pytest.mark.parametrize("unknown", ["count", "skip"])
@pytest.mark.parametrize("metric", ["euclidean", "cityblock"])
def test_distances_may_be_given(metric, unknown):
    labels = all_kinds()["missing"]
    model = EvidentialNeighborsClassifier(5, unknown=unknown, metric=metric).fit(X, labels)
    other = EvidentialNeighborsClassifier(5, unknown=unknown, metric="precomputed")
    other.fit(cdist(X, X, metric), labels)
    np.testing.assert_allclose(other.gamma_, model.gamma_, rtol=1e-6)
    found = other.predict_mass(cdist(NEW, X, metric)).values
    np.testing.assert_allclose(found, model.predict_mass(NEW).values, atol=1e-9)
    np.testing.assert_allclose(other.loo_masses_.values, model.loo_masses_.values, atol=1e-9)
    with pytest.raises(ValueError, match="square table of distances"):
        EvidentialNeighborsClassifier(metric="precomputed").fit(X, labels)


def test_neighbors_are_those_of_scikit_learn():
    labels = all_kinds()["hard"]
    model = EvidentialNeighborsClassifier(4, gamma=1.0).fit(X, labels)
    peer = KNeighborsClassifier(4).fit(X, labels.crisp())
    for one, other in zip(model.kneighbors(NEW), peer.kneighbors(NEW), strict=True):
        np.testing.assert_allclose(one, other)
    np.testing.assert_array_equal(
        model.kneighbors(n_neighbors=3, return_distance=False),
        peer.kneighbors(n_neighbors=3, return_distance=False),
    )
    # As gamma falls to nothing, all neighbors count alike: the majority.
    flat = EvidentialNeighborsClassifier(3, gamma=0.0).fit(X, labels)
    votes = KNeighborsClassifier(3).fit(X, labels.crisp()).predict_proba(NEW)
    most = votes.max(axis=1) > 0.5
    np.testing.assert_array_equal(
        flat.predict(NEW)[most], peer.classes_[votes.argmax(axis=1)][most]
    )


def test_approximate_search_with_exact_distances():
    pytest.importorskip("hnswlib")
    rng = np.random.default_rng(0)
    items, new = rng.normal(size=(2000, 5)), rng.normal(size=(200, 5))
    y = (items[:, 0] > 0.2 * items[:, 1]).astype(int)
    exact = EvidentialNeighborsClassifier(7, gamma=0.5).fit(items, y)
    model = EvidentialNeighborsClassifier(7, gamma=0.5, algorithm="hnsw").fit(items, y)
    distances, numbers = model.kneighbors(new)
    true, right = exact.kneighbors(new)
    recall = np.mean([len(set(a) & set(b)) / 7 for a, b in zip(numbers, right, strict=True)])
    assert recall > 0.98
    same = (numbers == right).all(axis=1)
    np.testing.assert_allclose(distances[same], true[same], rtol=1e-12)
    np.testing.assert_allclose(
        model.predict_proba(new)[same], exact.predict_proba(new)[same], atol=1e-12
    )
    own = model.kneighbors(return_distance=False)
    assert (own != np.arange(2000)[:, None]).all()
    cosine = EvidentialNeighborsClassifier(7, 9.0, algorithm="hnsw", metric="cosine").fit(items, y)
    plain = EvidentialNeighborsClassifier(7, 9.0, algorithm="brute", metric="cosine").fit(items, y)
    close = np.abs(cosine.predict_proba(new) - plain.predict_proba(new)).max(axis=1) < 1e-9
    assert close.mean() > 0.9
    with pytest.raises(ValueError, match="'euclidean' or 'cosine'.*algorithm='auto'"):
        EvidentialNeighborsClassifier(algorithm="hnsw", metric="cityblock").fit(items, y)
    with pytest.raises(ValueError, match="ann_options.*'speed' came"):
        EvidentialNeighborsClassifier(algorithm="hnsw", ann_options={"speed": 1}).fit(items, y)
    with pytest.raises(ValueError, match="ef should be a whole number of at least 1, but 0.5"):
        EvidentialNeighborsClassifier(algorithm="hnsw", ann_options={"ef": 0.5}).fit(items, y)


def test_where_the_index_leads_to_too_few_items_exact_search_is_named():
    pytest.importorskip("hnswlib")
    copies = np.repeat(np.random.default_rng(0).normal(size=(4, 3)), 500, axis=0)
    model = EvidentialNeighborsClassifier(60, gamma=1.0, algorithm="hnsw")
    model.fit(copies, np.arange(2000) % 3)
    assert (model.kneighbors(copies[:9])[0] == 0.0).all()
    with pytest.raises(InputError, match="find 1900 neighbors.*algorithm='auto'"):
        model.kneighbors(copies[:9], 1900)


def test_an_index_of_far_clusters_and_its_copy_find_the_same():
    pytest.importorskip("hnswlib")
    rng = np.random.default_rng(0)
    items = rng.normal(size=(3000, 6)) + 30.0 * rng.normal(size=(30, 6))[np.arange(3000) % 30]
    y = np.arange(3000) % 3
    exact = EvidentialNeighborsClassifier(15, gamma=0.5).fit(items, y)
    model = EvidentialNeighborsClassifier(15, gamma=0.5, algorithm="hnsw").fit(items, y)
    right = exact.kneighbors(items[:300], return_distance=False)
    found = model.kneighbors(items[:300], return_distance=False)
    recall = np.mean([len(set(a) & set(b)) / 15 for a, b in zip(found, right, strict=True)])
    assert recall > 0.98
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict_proba(items[:50]), model.predict_proba(items[:50]))


def test_without_the_package_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "hnswlib", None)
    with pytest.raises(ImportError, match=r"plausible\[ann\]"):
        EvidentialNeighborsClassifier(algorithm="hnsw").fit(X, all_kinds()["hard"])


# -- Edges -----------------------------------------------------------------------------------------


def test_more_neighbors_than_items_are_all_items():
    labels = all_kinds()["sets"]
    model = EvidentialNeighborsClassifier(500, gamma=1.0).fit(X, labels)
    every = EvidentialNeighborsClassifier(40, gamma=1.0).fit(X, labels)
    assert model.n_neighbors_ == 40
    np.testing.assert_allclose(model.predict_proba(NEW), every.predict_proba(NEW))
    assert EvidentialNeighborsClassifier(500).fit(X, labels).loo_masses_.shape[0] == 40


def test_a_class_with_one_item_has_a_gamma():
    labels = Labels.from_crisp(["a"] * 20 + ["b"] * 19 + ["c"])
    model = EvidentialNeighborsClassifier(3).fit(X, labels)
    assert np.isfinite(model.gamma_).all()
    assert (model.gamma_ > 0.0).all()
    assert model.predict(X[-1:])[0] in "abc"


def test_all_at_one_point():
    for labels in all_kinds(6).values():
        model = EvidentialNeighborsClassifier(3).fit(np.ones((6, 2)), labels)
        bets = model.predict_proba(np.ones((1, 2)))
        np.testing.assert_allclose(bets.sum(), 1.0)


@pytest.mark.parametrize(
    "estimator", [EvidentialNeighborsClassifier, ContextualNeighborsClassifier]
)
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors should be a whole number"),
        ({"n_neighbors": 2.5}, "n_neighbors should be a whole number.*'cv'.*2.5"),
        ({"n_neighbors": "best"}, "'cv'.*'best'"),
        ({"n_neighbors": []}, "numbers to choose from"),
        ({"n_neighbors": [3, 0]}, "n_neighbors should be a whole number"),
        ({"gamma": "guess"}, "'fit' or 'heuristic'"),
        ({"gamma": -1.0}, "gamma should be.*not negative.*-1.0"),
        ({"gamma": [1.0, 1.0]}, "each of the 4 classes"),
        ({"gamma": np.nan}, "gamma should be"),
        ({"max_mass": 0.0}, "max_mass should be above 0"),
        ({"max_mass": 1.5}, r"max_mass should be a finite number in \[0, 1\]"),
        ({"unknown": "drop"}, "'count' or 'skip'"),
        ({"algorithm": "fast"}, "algorithm should be"),
        ({"n_jobs": 0}, "n_jobs"),
    ],
)
def test_bad_parameters_are_refused(estimator, parameters, message):
    with pytest.raises(ValueError, match=message):
        estimator(**parameters).fit(X, all_kinds()["hard"])


def test_other_bad_input_is_refused():
    labels = all_kinds()["hard"]
    with pytest.raises(ValueError, match="'squared' or 'c1'"):
        EvidentialNeighborsClassifier(loss="log").fit(X, labels)
    with pytest.raises(ValueError, match="'exact' or 'contours'"):
        EvidentialNeighborsClassifier(combination="fast").fit(X, labels)
    with pytest.raises(ValueError, match="all labels are unknown; label some items"):
        EvidentialNeighborsClassifier().fit(X, Labels.unknown(40, CLASSES))
    with pytest.raises(ValueError, match="only 1 sample"):
        EvidentialNeighborsClassifier().fit(X[:1], ["a"])
    one = Labels.from_crisp(["a", None, None], classes="ab", missing=None)
    with pytest.raises(ValueError, match="only 1 sample with a label"):
        EvidentialNeighborsClassifier(unknown="skip").fit(X[:3], one)
    lonely = EvidentialNeighborsClassifier(3, gamma=1.0).fit(X[:1], ["a"])
    assert lonely.predict(X).tolist() == ["a"] * 40
    with pytest.raises(ValueError, match="only 1 sample"):
        lonely.objective_  # noqa: B018
    with pytest.raises(ValueError, match="scale them"):
        EvidentialNeighborsClassifier().fit(1e200 * X, labels)
    with pytest.raises(ValueError, match="n_neighbors should be a whole number from 1 to 40"):
        EvidentialNeighborsClassifier().fit(X, labels).kneighbors(NEW, 41)


# -- Contextual discounting ------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::plausible.base.warnings.SharpenedLabelsWarning")
@pytest.mark.parametrize("kind", all_kinds())
def test_contextual_masses_are_those_of_discounting_and_dempsters_rule(kind):
    labels = all_kinds()[kind].reorder(SORTED)
    gamma = np.array([0.3, 2.0, 0.8, 1.1])
    model = ContextualNeighborsClassifier(4, gamma, 0.9).fit(X, labels)
    masses = exact_masses(labels)
    expected = []
    for row in cdist(NEW, X) ** 2:
        near = np.argsort(row)[:4]
        trust = 0.9 * np.exp(-np.outer(row[near], gamma))
        sources = [
            contextual_discount(masses[j], 1.0 - degrees)
            for j, degrees in zip(near, trust, strict=True)
        ]
        expected.append(dempster(*sources))
    found = model.predict_mass(NEW)
    assert_same_masses(found, expected, SORTED, 1e-10)
    np.testing.assert_allclose(model.predict_plausibility(NEW), contour(found), atol=1e-12)
    np.testing.assert_allclose(model.predict_proba(NEW), pignistic(found), atol=1e-12)
    frame = found.values[:, found.focal_sets == 15][:, 0]
    np.testing.assert_allclose(model.score_novelty(NEW), frame, atol=1e-12)


def test_with_one_gamma_and_hard_labels_plausibilities_are_the_classic_ones():
    labels = all_kinds()["missing"]
    classic = EvidentialNeighborsClassifier(5, 0.7, max_mass=0.8).fit(X, labels)
    model = ContextualNeighborsClassifier(5, 0.7, 0.8).fit(X, labels)
    ratio = model.predict_plausibility(NEW) / classic.predict_plausibility(NEW)
    np.testing.assert_allclose(ratio, ratio[:, :1] * np.ones(4), rtol=1e-10)


def test_the_contextual_objective_is_the_evidential_likelihood():
    labels = all_kinds()["plausibilities"].reorder(SORTED)
    model = ContextualNeighborsClassifier(5).fit(X, labels)
    shares = contour(model.loo_masses_)
    shares /= shares.sum(axis=1, keepdims=True)
    likelihood = np.log((shares * labels.scaled()).sum(axis=1))[~labels.is_unknown]
    assert model.objective_ == pytest.approx(-likelihood.mean(), abs=1e-10)
    start = ContextualNeighborsClassifier(5, "heuristic").fit(X, labels)
    assert model.objective_ <= start.objective_
    fixed = ContextualNeighborsClassifier(5, max_mass=model.max_mass_).fit(X, labels)
    assert fixed.max_mass_ == pytest.approx(model.max_mass_)
    assert fixed.objective_ == pytest.approx(model.objective_, abs=1e-3)
    given = ContextualNeighborsClassifier(5, model.gamma_, model.max_mass_).fit(X, labels)
    assert given.objective_ == pytest.approx(model.objective_, abs=1e-12)


def test_contextual_far_items_and_many_classes():
    labels = Labels.from_sets([{"a", "b"}, {"b", "c"}, {"c"}], classes="abc")
    model = ContextualNeighborsClassifier(3, 1.0, 0.9).fit([[0.0], [10.0], [0.5]], labels)
    bets = model.predict_proba([[15.0]])[0]
    assert 0.0 < bets[1] - bets[0] < 1e-9
    names = [f"c{number:02d}" for number in range(12)]
    codes = np.random.default_rng(0).integers(12, size=(40, 2))
    sets = Labels.from_sets([{names[a], names[b]} for a, b in codes], names)
    many = ContextualNeighborsClassifier(5).fit(X, sets)
    beliefs = many.believe(NEW)
    np.testing.assert_allclose(beliefs.contour, contour(many.predict_mass(NEW)), atol=1e-12)
    np.testing.assert_allclose(beliefs.probability.sum(axis=1), 1.0)
    assert ContextualNeighborsClassifier([2, 4]).fit(X, sets).n_neighbors_ in (2, 4)


def test_learning_which_class_spreads_wider():
    """A class of wide spread keeps trust over longer ways than one that is packed."""
    rng = np.random.default_rng(0)
    narrow, wide = rng.normal(0.0, 0.1, (60, 2)), rng.normal(3.0, 2.0, (60, 2))
    items = np.concatenate([narrow, wide])
    model = EvidentialNeighborsClassifier(5).fit(items, ["narrow"] * 60 + ["wide"] * 60)
    gamma = dict(zip(model.classes_, model.gamma_, strict=True))
    assert gamma["narrow"] > 10 * gamma["wide"]
