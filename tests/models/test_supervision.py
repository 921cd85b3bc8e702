"""Stochastic supervision: reading assessments, laws of the fit, warnings, comparison of models."""

import pickle
import warnings
from itertools import pairwise

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import beta as beta_distribution
from sklearn.base import clone

from plausible.engine import ArrayRows, DaskRows, StreamRows
from plausible.labels import Labels
from plausible.models import (
    EmptyClassWarning,
    StochasticSupervisionClassifier,
    SupervisionWarning,
    compare_models,
)
from plausible.models.supervision.assessments import CLIP, read_assessments
from plausible.models.supervision.beta import fit_beta
from plausible.models.supervision.class_weights import best_class_weights
from plausible.models.supervision.classifier import MODELS


def two_classes(n=400, seed=0, tilt=0.0):
    """Features, log odds and classes (0 where log odds are mostly positive)."""
    rng = np.random.default_rng(seed)
    y = (rng.uniform(size=n) < 0.6).astype(int)
    X = rng.normal(size=(n, 2)) + 1.5 * y[:, None]
    w = np.where(y == 0, 2.0, -1.5) + rng.normal(size=n) + tilt * X[:, 0]
    return X, w, y


def three_classes(n=600, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    X = rng.normal(size=(n, 2)) + 3 * np.eye(3, 2)[y]
    logits = 2.0 * np.eye(3)[y] + rng.normal(scale=0.7, size=(n, 3))
    Z = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return X, Z, y


def make(name, **options):
    more = {"n_components": 2} if name in ("g4", "g34") else {}
    return StochasticSupervisionClassifier(name, random_state=0, **more, **options)


def answers(model, X, Z):
    return model.predict_proba(X), model.predict_proba(X, assessments=Z), model.log_likelihood_


def assert_same(one, other, atol=1e-8):
    for a, b in zip(one, other, strict=True):
        np.testing.assert_allclose(a, b, atol=atol, rtol=1e-8)


def test_log_odds_are_relative_to_the_last_class():
    Z = np.array([[0.2, 0.3, 0.5], [np.nan] * 3])
    w = read_assessments(Z).log_odds
    np.testing.assert_allclose(w[0], np.log([0.4, 0.6]))
    assert np.isnan(w[1]).all()
    np.testing.assert_allclose(read_assessments([1e-8]).log_odds, [[np.log(1e-8)]], rtol=1e-8)
    np.testing.assert_allclose(read_assessments([0.2]).log_odds, read_assessments([[0.2, 0.8]])[0])
    np.testing.assert_array_equal(read_assessments([-3.0], "log_odds").log_odds, [[-3.0]])


def test_certain_assessments_are_clipped_or_become_labels():
    clipped = read_assessments([0.0, 1.0, 1e-8]).log_odds.ravel()
    edge = np.log((1 - CLIP) / CLIP)
    np.testing.assert_allclose(clipped, [-edge, edge, np.log(1e-8)], rtol=1e-6)
    np.testing.assert_allclose(
        read_assessments([np.inf, -np.inf], "log_odds").log_odds.ravel(), [edge, -edge]
    )
    np.testing.assert_allclose(read_assessments([[0.0, 1.0]]).log_odds, [[-edge]])
    given = read_assessments(
        [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0], [0.2, 0.3, 0.5]], "probability", "certain"
    )
    np.testing.assert_array_equal(given.possible, [[1, 1, 0], [0, 0, 1], [1, 1, 1]])
    assert np.isnan(given.log_odds).all(axis=1).tolist() == [True, True, False]
    np.testing.assert_allclose(read_assessments([1.0], saturated=0.01).log_odds, [[np.log(99)]])


@pytest.mark.parametrize(
    ("Z", "options", "words"),
    [
        ([0.2, 1.7, 0.3], {}, r"1\.7.*row 1.*log_odds"),
        ([[0.2, 0.2], [0.5, 0.5]], {}, r"sum to one.*row 0"),
        ([[0.2, np.nan], [0.5, 0.5]], {}, r"missing in 1 row \(row 0\)"),
        ([0.2, 0.3], {"scale": "odds"}, "'probability' or 'log_odds'"),
        ([0.2, 0.3], {"saturated": "drop"}, "'clip' or 'certain'"),
        ([0.2, 0.3], {"saturated": 0.5}, r"between 0 and 0\.1"),
        (["yes", "no"], {}, "array of numbers"),
        (np.zeros((2, 2, 2)), {}, "shape"),
        ([[np.inf, np.inf], [0.0, 0.0]], {"scale": "log_odds"}, "plus infinity.*row 0"),
        (Labels.from_sets([["a", "b"], ["a"]], classes=["a", "b"]), {}, None),
        (Labels.from_sets([["a", "b"], ["a"]], classes=["a", "b", "c"]), {}, "from_probability"),
    ],
)
def test_bad_assessments_are_refused_with_their_rows(Z, options, words):
    if words is None:  # all classes: an item that was not assessed
        assert np.isnan(read_assessments(Z, **options).log_odds[0]).all()
        return
    with pytest.raises(ValueError, match=words):
        read_assessments(Z, **options)


def test_the_beta_fit_is_that_of_scipy():
    z = np.random.default_rng(0).beta(2.5, 0.7, size=300)
    a, b, _, _ = beta_distribution.fit(z, floc=0, fscale=1)
    np.testing.assert_allclose(fit_beta(np.log(z).mean(), np.log1p(-z).mean()), [a, b], rtol=1e-5)
    assert np.isfinite(fit_beta(np.log(0.3), np.log(0.7))).all()  # all alike


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("reg_covar", [0.0, 0.3])
def test_the_likelihood_never_falls_with_or_without_floors(name, reg_covar):
    X, w, _ = two_classes(tilt=0.5)
    model = make(name, reg_covar=reg_covar, tol=1e-9, accelerate=False).fit(X, expit(w))
    steps = np.diff(model.history_)
    assert model.converged_
    assert steps.min() >= -1e-9 * abs(model.log_likelihood_)
    together = model.score_samples(X, expit(w)).sum()
    if name == "krishnan_nandy":  # densities of log odds, from those of probabilities
        together -= np.log(expit(w) * expit(-w)).sum()
    np.testing.assert_allclose(together, model.log_likelihood_, rtol=1e-9)


@pytest.mark.parametrize("name", MODELS)
def test_acceleration_ends_no_lower(name):
    X, w, _ = two_classes(tilt=0.5, seed=3)
    quick = make(name, tol=1e-9).fit(X, expit(w))
    plain = make(name, tol=1e-9, accelerate=False, max_iter=5000).fit(X, expit(w))
    assert np.diff(quick.history_).min() >= 0
    assert quick.log_likelihood_ >= plain.log_likelihood_ - 1e-4


@pytest.mark.parametrize("name", MODELS)
def test_names_and_their_order_change_nothing_else(name):
    X, w, _ = two_classes(tilt=0.3)
    z = expit(w)
    plain = make(name).fit(X, z)
    named = make(name).fit(X, z, classes=["b", "a"])  # z is the probability of "b"
    assert named.classes_.tolist() == ["a", "b"]
    p, q, _ = answers(named, X, z)
    assert_same(answers(plain, X, z), (p[:, ::-1], q[:, ::-1], named.log_likelihood_), 1e-6)
    table = make(name).fit(X, np.stack([z, 1 - z], axis=1))
    assert_same(answers(plain, X, z), answers(table, X, z), 1e-7)
    labels = Labels.from_probability(np.stack([z, 1 - z], axis=1), classes=["b", "a"])
    assert_same(answers(named, X, z), answers(make(name).fit(X, labels), X, labels), 1e-6)


def test_three_classes_in_any_order():
    X, Z, y = three_classes()
    one = make("g3", tol=1e-10).fit(X, Z)
    other = make("g3", tol=1e-10).fit(X, Z[:, [2, 0, 1]], classes=[2, 0, 1])
    assert one.score(X, y, assessments=Z) > 0.95
    np.testing.assert_allclose(one.log_likelihood_, other.log_likelihood_, rtol=1e-10)
    np.testing.assert_allclose(
        one.predict_proba(X, assessments=Z),
        other.predict_proba(X, assessments=Z[:, [2, 0, 1]]),
        atol=1e-6,
    )


def test_items_without_assessment_or_weight():
    X, w, _ = two_classes()
    z = expit(w)
    z[:50] = np.nan
    weights = np.ones(len(X))
    weights[50:60] = 0.0
    model = make("g3", tol=1e-10).fit(X, z, sample_weight=weights)
    alone = np.delete(np.arange(len(X)), np.arange(50, 60))
    same = make("g3", tol=1e-10).fit(X[alone], z[alone])
    assert_same(answers(model, X, z), answers(same, X, z), 1e-6)
    parts = model.score_samples(X[:50]).sum() + model.score_samples(X[60:], z[60:]).sum()
    np.testing.assert_allclose(parts, model.log_likelihood_, rtol=1e-9)
    unseen = model.predict_proba(X[:50], assessments=z[:50])
    np.testing.assert_allclose(unseen, model.predict_proba(X[:50]))


def test_certain_labels_for_all_items_are_discriminant_analysis():
    X, w, y = two_classes()
    model = make("g2", reg_covar=0.0).fit(X, expit(w), labels=y)
    for j in (0, 1):
        mine = y == j
        np.testing.assert_allclose(model.means_[j], X[mine].mean(axis=0))
        np.testing.assert_allclose(model.covariances_[j], np.cov(X[mine].T, bias=True))
        np.testing.assert_allclose(model.assessment_means_[j], w[mine].mean())
        np.testing.assert_allclose(model.assessment_covariances_[j], [[w[mine].var()]])


def test_saturated_assessments_as_labels_are_labels():
    X, w, _ = two_classes()
    z = expit(w)
    z[:30] = (w[:30] > 0).astype(float)
    certain = make("g1", saturated="certain", tol=1e-10).fit(X, z)
    missing, labels = z.copy(), np.full(len(z), np.nan)
    missing[:30], labels[:30] = np.nan, 1 - z[:30]
    same = make("g1", tol=1e-10).fit(
        X, missing, labels=[None if v != v else int(v) for v in labels]
    )
    assert_same((certain.means_, certain.log_likelihood_), (same.means_, same.log_likelihood_))
    assert (certain.predict_proba(X[:30], assessments=z[:30]).max(axis=1) == 1).all()


@pytest.mark.parametrize("name", MODELS)
def test_some_exact_assessments_do_not_ruin_the_fit(name):
    X, w, y = two_classes(1000)
    z = expit(w)
    u = np.random.default_rng(1).uniform(size=len(z))
    z[u < 0.10] = 1.0 - y[u < 0.10]
    z[u > 0.99] = y[u > 0.99]
    model = StochasticSupervisionClassifier(name, random_state=0).fit(X, z)
    assert model.score(X, y, assessments=z) > 0.9


@pytest.mark.parametrize("name", ["krishnan_nandy", "titterington", "g3", "g34"])
def test_streams_and_dask_give_the_model_of_arrays(name):
    da = pytest.importorskip("dask.array")
    X, w, _ = two_classes(1000, tilt=0.3)
    z, weights = expit(w), np.random.default_rng(0).uniform(0.5, 2, size=1000)
    z[::7] = np.nan
    begun = {"init": make(name, tol=1e-2).fit(X, z, sample_weight=weights), "tol": 1e-5}
    base = make(name, **begun).fit(X, z, sample_weight=weights)
    pieces = [(X[i : i + 300], z[i : i + 300], weights[i : i + 300]) for i in range(0, 1000, 300)]
    parts = [da.from_array(a, chunks=(400, -1)[: a.ndim]) for a in (X, z, weights)]
    for rows in (ArrayRows(X, z, weights), StreamRows(pieces), DaskRows(*parts)):
        model = make(name, **begun).fit(rows)
        assert_same(answers(base, X, z), answers(model, X, z), 1e-6)
    fresh = make(name).fit(StreamRows(pieces))
    assert_same(
        answers(make(name).fit(X, z, sample_weight=weights), X, z), answers(fresh, X, z), 1e-6
    )


def test_large_data_by_the_compiled_kernel_are_the_same():
    X, w, _ = two_classes(3000, tilt=0.3)
    X = np.hstack([X, np.random.default_rng(0).normal(size=(3000, 14))])
    start = make("g3", tol=1e-1).fit(X, expit(w))
    options = {"max_iter": 2, "tol": 0.0, "init": start}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one = make("g3", **options).fit(np.tile(X, (20, 1)), np.tile(expit(w), 20))
        other = make("g3", **options).fit(X, expit(w))
    np.testing.assert_allclose(one.means_, other.means_, rtol=1e-9)
    np.testing.assert_allclose(one.log_likelihood_, 20 * other.log_likelihood_, rtol=1e-10)


def test_a_fit_goes_on_from_its_checkpoint(tmp_path):
    X, w, _ = two_classes(tilt=0.5)
    path = tmp_path / "fit.npz"
    whole = make("g34", accelerate=False).fit(X, expit(w))
    first = make("g34", accelerate=False, checkpoint=path, callback=lambda p: p.iteration >= 5)
    first.fit(X, expit(w))
    second = make("g34", accelerate=False, checkpoint=path).fit(X, expit(w))
    np.testing.assert_array_equal(second.history_, whole.history_)


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_an_expert_who_is_a_linear_model_of_the_features(offset):
    X, _, y = two_classes()
    w = 4 - 5.0 * X[:, 0] + X[:, 1]
    for name in ("g3", "g34"):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = make(name, scale="log_odds").fit(X + offset, w)
        assert any("nearly a linear function" in str(w.message) for w in caught)
        assert np.isfinite(model.log_likelihood_)
        assert np.diff(model.history_).min() >= -1e-6 * abs(model.log_likelihood_)
        assert name == "g34" or model.score(X + offset, y) > 0.7


def test_a_component_that_leaves_its_class_is_reported():
    rng = np.random.default_rng(0)
    side = rng.integers(2, size=600)
    X = rng.normal(size=(600, 1)) + 12 * side[:, None]  # clusters that the expert does not mean
    z = expit(rng.normal(scale=0.7, size=600))
    with pytest.warns(SupervisionWarning, match="has left it"):
        make("g3").fit(X, z)


def test_a_class_that_is_never_the_most_probable_is_reported():
    X, Z, _ = three_classes()
    Z = Z * [1, 1, 1e-4]
    with pytest.warns(EmptyClassWarning, match=r"\['c'\] never are"):
        make("g2").fit(X, Z / Z.sum(axis=1, keepdims=True), classes=list("abc"))


@pytest.mark.parametrize(
    ("options", "fit", "words"),
    [
        ({"model": "g5"}, {}, "did you mean|model should be"),
        ({"model": "g3", "covariance_type": "tied"}, {}, "leave out model or covariance_type"),
        ({"model": "g2", "n_components": 2}, {}, "'g4' or 'g34'"),
        ({"n_components": [1, 2, 3]}, {}, "n_components should be"),
        ({"init": "labels"}, {}, "'assessments'"),
        ({"init": np.ones((3, 2))}, {}, r"shape \(400, 2\)"),
        ({"init": np.ones((400, 2))}, {}, "sum to one"),
        ({"reg_covar": -1.0}, {}, "reg_covar"),
        ({}, {"classes": ["a"]}, "2 different names"),
        ({}, {"labels": [0, 1]}, "same length"),
        ({}, {"sample_weight": np.zeros(400)}, "positive weight"),
        ({}, {"y": np.full(400, np.nan)}, "should be assessed"),
        ({}, {"y": np.full(300, 0.5)}, "same length"),
        ({}, {"y": None}, "probabilities"),
        ({"model": "titterington"}, {"y": np.full((400, 3), 1 / 3)}, "two classes"),
    ],
)
def test_bad_options_are_refused(options, fit, words):
    X, w, _ = two_classes()
    arguments = {"y": expit(w)} | fit
    with pytest.raises(ValueError, match=words):
        StochasticSupervisionClassifier(**options).fit(X, **arguments)


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_odd_data_give_a_result(kind):
    X, w, _ = two_classes()
    odd = np.hstack([X * [1e-6, 1e6], np.ones((400, 1)), X[:, :1]])  # scales, constant, copy
    for few in (slice(None), slice(0, 12)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = StochasticSupervisionClassifier(covariance_type=kind, assessment="linear")
            model.fit(odd[few], expit(w[few]))
        assert np.isfinite(model.predict_proba(odd)).all()
        assert (
            model.covariances_.shape
            == {
                "full": (2, 4, 4),
                "tied": (4, 4),
                "diag": (2, 4),
                "spherical": (2,),
            }[kind]
        )


def test_estimators_are_cloned_and_pickled():
    X, w, _ = two_classes()
    model = make("g34").fit(X, expit(w), classes=["yes", "no"])
    restored = pickle.loads(pickle.dumps(model))
    assert_same(answers(model, X, expit(w)), answers(restored, X, expit(w)))
    assert clone(model).get_params() == model.get_params()


def test_class_weights_have_the_least_expected_cost():
    rng = np.random.default_rng(0)
    said, truth = rng.dirichlet(np.ones(2), size=80), rng.dirichlet(np.ones(2), size=80)
    cost = np.array([[0.0, 1.0], [5.0, 0.0]])
    weights = best_class_weights(np.log(said), truth, cost)

    def spent(v):
        return float((truth @ cost)[np.arange(80), (np.log(said) + np.log(v)).argmax(axis=1)].sum())

    thresholds = np.exp(np.linspace(-8, 8, 4001))
    assert spent(weights) <= min(spent([v, 1.0]) for v in thresholds) + 1e-9
    assert spent(weights) < spent([1.0, 1.0])
    three = rng.dirichlet(np.ones(3), size=80)
    equal = best_class_weights(np.log(three), three)
    np.testing.assert_array_equal((three * equal).argmax(axis=1), three.argmax(axis=1))


def test_a_careful_expert_gets_another_threshold():
    """Log odds that are all too low by 2: the threshold on w moves to about -2."""
    X, w, y = two_classes(2000)
    z = expit(w - 2)
    model = make("g1").fit(X, z, classes=["sick", "well"])
    weights = model.learn_class_weights(X, z)
    expert = np.where(np.log(weights["sick"]) + w - 2 > 0, 0, 1)
    assert (expert == y).mean() > ((w - 2 < 0) == y).mean() + 0.05
    dear = model.learn_class_weights(X, cost=[[0, 20], [1, 0]])
    alarmed = model.predict(X, class_weight=dear) == "sick"
    assert alarmed.mean() > (model.predict(X) == "sick").mean()


def test_compared_likelihoods_rise_with_the_models():
    X, w, _ = two_classes(500, tilt=0.8)
    table = compare_models(X, expit(w), cv=3)
    assert [row.model for row in table] == list(MODELS)
    order = ("titterington", "g1", "g2", "g3", "g34"), ("g2", "g4", "g34")
    for smaller, larger in (pair for chain in order for pair in pairwise(chain)):
        assert table[larger].log_likelihood >= table[smaller].log_likelihood - 1e-8
    assert table.best.model in ("g3", "g34")
    assert table["g3"].bic == table["g3"].classifier.bic_
    beta = table["krishnan_nandy"]
    z = expit(w)
    np.testing.assert_allclose(
        beta.log_likelihood, beta.classifier.log_likelihood_ + np.log(z * (1 - z)).sum()
    )
    assert len(str(table).splitlines()) >= 8
    many = compare_models(*three_classes(300)[:2], models=["g2", "g3"], cv=2)
    assert len(many) == 2


def test_the_number_of_parameters_is_that_of_a_gaussian_mixture():
    """The linear model with one component is a full mixture of (x, w)."""
    X, Z, _ = three_classes()
    model = make("g3").fit(X, Z)
    d = 4
    assert model.n_parameters_ == 2 + 3 * (d + d * (d + 1) // 2)
    np.testing.assert_allclose(model.aic_, 2 * model.n_parameters_ - 2 * model.log_likelihood_)


def test_names_of_columns_and_orders_of_classes_are_heeded():
    pd = pytest.importorskip("pandas")
    X, w, y = two_classes()
    z = expit(w)  # of "sick", which stands last in the alphabet
    named = make("g1").fit(X, z, classes=["sick", "fine"])
    frame = pd.DataFrame({"fine": 1 - z, "sick": z})
    read = make("g1").fit(X, frame)
    assert read.classes_.tolist() == ["fine", "sick"]
    assert_same(answers(named, X, z), answers(read, X, frame[["sick", "fine"]]), 1e-6)
    with pytest.raises(ValueError, match="rename them"):
        make("g1").fit(X, frame, classes=["x", "y"])
    known = named.predict(X[:1], labels=[[1.0, 0.0]])  # columns as those of the assessments
    assert known.tolist() == ["sick"]
    eager = named.predict(X, class_weight={"sick": 1e6, "fine": 1.0})
    assert (eager == "sick").mean() > (y == 0).mean()
