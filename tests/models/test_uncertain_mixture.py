"""Gaussian classes from uncertain features: likelihood by definition, reductions, imputation."""

import warnings

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.special import ndtr
from scipy.stats import multivariate_normal, norm

from plausible.errors import InputError
from plausible.labels import Labels
from plausible.models import (
    E2M,
    GaussianMixtureClassifier,
    Normal,
    UncertainGaussianMixture,
    UncertainValues,
)
from plausible.models.e2m.mixture_errors import mixture_information
from plausible.models.e2m.rectangles import within
from plausible.models.gaussian import patterns

CLASSES = ["dog", "ant", "cat"]  # not sorted
LONG = pytest.mark.long
KINDS = ["full", "tied", "diag", "spherical"]


def rows_of_three_classes(n=60, d=3, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.choice(3, size=n, p=[0.5, 0.2, 0.3])
    mixing = np.eye(d) + 0.4 * rng.normal(size=(3, d, d))
    means = 2 * rng.normal(size=(3, d))
    X = np.einsum("nij,nj->ni", mixing[codes], rng.normal(size=(n, d))) + means[codes]
    pl = np.maximum(np.eye(3)[codes], rng.uniform(size=(n, 3)) ** 2)
    pl[::4] = np.eye(3)[codes[::4]]
    pl[1::9] = 1.0
    return X, codes, Labels.from_plausibility(pl, classes=CLASSES)


def uncertain(X, most_intervals, seed=1):
    """Features of all kinds, in each row at most so many intervals."""
    rng = np.random.default_rng(seed)
    kind = rng.choice(5, size=X.shape, p=[0.35, 0.2, 0.1, 0.2, 0.15])
    bounded = np.cumsum((kind == 1) | (kind == 2), axis=1) > most_intervals
    kind[bounded & ((kind == 1) | (kind == 2))] = 3
    values = UncertainValues.from_precise(X)
    low = np.floor(X / 1.5) * 1.5
    for k, other in enumerate([
        UncertainValues.from_intervals(low, low + 1.5),
        UncertainValues.from_intervals(low, np.inf),
        UncertainValues.from_fuzzy(X + 0.5 * rng.normal(size=X.shape), 0.5),
        UncertainValues.missing(X.shape),
    ]):  # fmt: skip
        values = values.where(kind != k + 1, other)
    return values


def log_evidence(values, i, mean, covariance):
    """log of the integral of contour times density, by definition."""
    sd, low, high = values.sd[i], values.low[i], values.high[i]
    seen, cut = np.isfinite(sd), np.isinf(sd) & (np.isfinite(low) | np.isfinite(high))
    noisy = covariance + np.diag(np.where(seen, sd**2, 0.0))
    logs = 0.5 * np.log(2 * np.pi * sd[seen & (sd > 0)] ** 2).sum()
    rest_mean, rest = mean[cut], noisy[np.ix_(cut, cut)]
    if seen.any():
        inner = noisy[np.ix_(seen, seen)]
        gap = values.mean[i, seen] - mean[seen]
        log_det = np.linalg.slogdet(2 * np.pi * inner)[1]
        logs -= 0.5 * (log_det + gap @ np.linalg.solve(inner, gap))
        gain = np.linalg.solve(inner, covariance[np.ix_(seen, cut)]).T
        rest_mean = rest_mean + gain @ gap
        rest = covariance[np.ix_(cut, cut)] - gain @ covariance[np.ix_(seen, cut)]
    if cut.any():
        if cut.sum() == 1:
            s = np.sqrt(rest[0, 0])
            a, b = (low[cut][0] - rest_mean[0]) / s, (high[cut][0] - rest_mean[0]) / s
            p = ndtr(-a) - ndtr(-b) if a > 0 else ndtr(b) - ndtr(a)
        else:
            p = multivariate_normal(rest_mean, rest).cdf(high[cut], lower_limit=low[cut])
        logs += np.log(max(p, 1e-300))
    return logs


def matrices(covariances, kind, d):
    if kind == "tied":
        return [covariances] * 3
    return [{"full": c, "diag": np.diag(np.atleast_1d(c)), "spherical": c * np.eye(d)}[kind]
            for c in covariances]  # fmt: skip


def reference(values, pl, weights, means, covariances, kind):
    full = matrices(covariances, kind, values.shape[1])
    total = 0.0
    for i in range(len(values)):
        joint = [
            np.log(w) + log_evidence(values, i, m, c) + np.log(p)
            for w, m, c, p in zip(weights, means, full, pl[i], strict=True) if p > 0
        ]  # fmt: skip
        total += np.logaddexp.reduce(joint)
    return total


def sorted_contour(labels):
    return labels.reorder(sorted(labels.classes.tolist())).contour


@pytest.mark.parametrize("kind", KINDS)
def test_the_likelihood_is_that_of_the_definition_and_never_falls(kind):
    X, _, labels = rows_of_three_classes(90)
    values = uncertain(X, 2 if kind in ("full", "tied") else 3)
    model = UncertainGaussianMixture(kind, reg_covar=0.0, tol=1e-8).fit(values, labels)
    assert model.converged_
    assert (np.diff(model.history_) >= 0).all()
    pl = sorted_contour(labels)
    parameters = model.weights_, model.means_, model.covariances_
    expected = reference(values, pl, *parameters, kind)
    np.testing.assert_allclose(model.log_likelihood_, expected, rtol=1e-6)

    def shifted(means):
        return reference(values, pl, model.weights_, means.reshape(3, -1), model.covariances_, kind)

    if kind in ("diag", "spherical"):  # bivariate probabilities of scipy are too rough for slopes
        slope = approx_fprime(model.means_.ravel(), shifted, 1e-6)
        np.testing.assert_allclose(slope, 0.0, atol=0.02)


@pytest.mark.parametrize("kind", ["full", pytest.param("tied", marks=LONG)])
def test_the_fixed_point_is_stationary_for_correlated_features(kind):
    # At most one interval in a row: the reference has no numerical integral.
    X, _, labels = rows_of_three_classes(80)
    values, pl = uncertain(X, 1), sorted_contour(labels)
    model = UncertainGaussianMixture(kind, reg_covar=0.0, tol=1e-10).fit(values, labels)
    lower = np.tril_indices(3)

    def log_likelihood(vector):
        means, rest = vector[:9].reshape(3, 3), vector[9:].reshape(-1, 6)
        factors = np.zeros((len(rest), 3, 3))
        factors[:, lower[0], lower[1]] = rest
        found = factors @ factors.swapaxes(1, 2)
        covariances = found[0] if kind == "tied" else found
        return reference(values, pl, model.weights_, means, covariances, kind)

    factors = np.linalg.cholesky(np.atleast_3d(model.covariances_).reshape(-1, 3, 3))
    start = np.concatenate([model.means_.ravel(), factors[:, lower[0], lower[1]].ravel()])
    slope = approx_fprime(start, log_likelihood, 1e-6)
    np.testing.assert_allclose(slope, 0.0, atol=0.02)


@pytest.mark.parametrize("kind", KINDS)
def test_precise_features_are_the_mixture_of_soft_labels(kind):
    X, _, labels = rows_of_three_classes()
    plain = GaussianMixtureClassifier(kind, unlabeled_weight=1).fit(X, labels)
    for data in (X, UncertainValues.from_precise(X), UncertainValues.from_fuzzy(X, 1e-9)):
        model = UncertainGaussianMixture(kind).fit(data, labels)
        np.testing.assert_allclose(model.means_, plain.means_, atol=1e-5)
        np.testing.assert_allclose(model.predict_proba(data), plain.predict_proba(X), atol=1e-5)
    narrow = UncertainValues.from_precise(X)
    narrow = narrow.where([True, True, False], UncertainValues.from_intervals(X - 1e-6, X + 1e-6))
    model = UncertainGaussianMixture(kind).fit(narrow, labels)
    np.testing.assert_allclose(model.covariances_, plain.covariances_, atol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_missing_features_are_integrated_by_pattern_or_row_by_row(kind, monkeypatch):
    X, _, labels = rows_of_three_classes(90, 4)
    X[np.random.default_rng(0).uniform(size=X.shape) < 0.25] = np.nan
    X[7] = np.nan
    fits = []
    for few in (1, 8, 10**9):
        monkeypatch.setattr(patterns, "FEW_ROWS", few)
        model = GaussianMixtureClassifier(kind, missing="integrate", reg_covar=0.0, tol=1e-9)
        fits.append(model.fit(X, labels))
    fits.append(UncertainGaussianMixture(kind, reg_covar=0.0, tol=1e-9).fit(X, labels))
    wide = np.where(np.isnan(X), -1e9, X), np.where(np.isnan(X), 1e9, X)
    if kind in ("diag", "spherical"):
        cells = UncertainValues.from_intervals(*wide)
        fits.append(UncertainGaussianMixture(kind, reg_covar=0.0, tol=1e-9).fit(cells, labels))
    for model in fits[1:]:
        np.testing.assert_allclose(model.log_likelihood_, fits[0].log_likelihood_, rtol=1e-8)
        np.testing.assert_allclose(model.covariances_, fits[0].covariances_, rtol=1e-4)
        np.testing.assert_allclose(model.predict_proba(X), fits[0].predict_proba(X), atol=1e-5)
    values = UncertainValues.from_precise(X)
    expected = reference(values, sorted_contour(labels), model.weights_, model.means_,
                         model.covariances_, kind)  # fmt: skip
    np.testing.assert_allclose(fits[0].log_likelihood_, expected, rtol=1e-8)


def test_nan_is_refused_unless_it_is_meant():
    X, codes, _ = rows_of_three_classes()
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        GaussianMixtureClassifier().fit(X, codes)
    model = GaussianMixtureClassifier(missing="integrate").fit(X, codes)
    assert model.predict(X).shape == (60,)
    with pytest.raises(InputError, match=r"all known, but .* 1 row \(row 3\)"):
        model.predict_novelty(X)
    with pytest.raises(InputError, match=r"missing should be 'error' or 'integrate'"):
        GaussianMixtureClassifier(missing="mean").fit(X, codes)
    X[:, 2] = np.nan
    with pytest.raises(InputError, match="column 2 is missing in all 60"):
        model.fit(X, codes)


def test_one_feature_of_one_class_is_e2m():
    x = np.random.default_rng(0).normal(3.0, 2.0, size=80)
    values = UncertainValues.from_intervals(np.floor(x), np.floor(x) + 1).where(x < 5, x)
    law = E2M(Normal()).fit(values)
    table = values[:, None]
    model = UncertainGaussianMixture(n_classes=1, reg_covar=0.0, tol=1e-11).fit(table)
    np.testing.assert_allclose(model.means_[0, 0], law.params_["mean"], atol=1e-4)
    np.testing.assert_allclose(model.covariances_[0, 0, 0], law.params_["variance"], atol=1e-3)
    np.testing.assert_allclose(model.log_likelihood_, law.log_likelihood_, rtol=1e-8)


@pytest.mark.parametrize("kind", ["full", "tied", "diag"])
def test_weights_are_repeated_rows_and_probabilities_are_shares(kind):
    X, _, labels = rows_of_three_classes()
    p = sorted_contour(labels)
    shares = Labels.from_probability(p / p.sum(axis=1, keepdims=True), classes=sorted(CLASSES))
    mixed = Labels.concatenate([labels[:40], shares[40:]])
    values = uncertain(X, 2)
    times = np.arange(60) % 3
    some = np.repeat(np.arange(60), times)
    weighted = UncertainGaussianMixture(kind, tol=1e-9).fit(values, mixed, sample_weight=times)
    repeated = UncertainGaussianMixture(kind, tol=1e-9).fit(values[some], mixed[some])
    np.testing.assert_allclose(weighted.means_, repeated.means_, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(weighted.log_likelihood_, repeated.log_likelihood_, rtol=1e-6)
    only = np.arange(60)[40:]
    hard = UncertainGaussianMixture(kind, init={"means": weighted.means_}, max_iter=1, tol=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        hard.fit(values[only], shares[only])
    np.testing.assert_allclose(hard.weights_, shares.contour[only].mean(axis=0), atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_new_items_may_be_uncertain(kind):
    X, _, labels = rows_of_three_classes()
    model = UncertainGaussianMixture(kind).fit(X, labels)
    new = uncertain(X[:20] + 0.3, 2, seed=5)
    full = matrices(model.covariances_, kind, 3)
    joint = np.array([
        [np.log(w) + log_evidence(new, i, m, c)
         for w, m, c in zip(model.weights_, model.means_, full, strict=True)]
        for i in range(20)
    ])  # fmt: skip
    expected = np.exp(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))
    np.testing.assert_allclose(model.predict_proba(new), expected, atol=2e-4)
    np.testing.assert_allclose(
        model.score_samples(new), np.logaddexp.reduce(joint, axis=1), atol=2e-3
    )
    nothing = UncertainValues.missing((1, 3))
    np.testing.assert_allclose(model.predict_proba(nothing)[0], model.weights_, rtol=1e-9)


def test_imputation_is_the_conditional_expectation_with_its_variance():
    X, _, labels = rows_of_three_classes()
    model = UncertainGaussianMixture().fit(X, labels)
    new = np.array([[0.5, np.nan, -0.2]])
    k = 1
    known = Labels.from_crisp([model.classes_[k]], classes=model.classes_.tolist())
    found = model.impute(new, known)
    mean, C = model.means_[k], model.covariances_[k]
    seen = [0, 2]
    gain = np.linalg.solve(C[np.ix_(seen, seen)], C[seen, 1])
    assert found.mean[0, 1] == pytest.approx(mean[1] + gain @ (new[0, seen] - mean[seen]))
    assert found.variance[0, 1] == pytest.approx(C[1, 1] - gain @ C[seen, 1])
    np.testing.assert_array_equal(found.mean[0, seen], new[0, seen])
    np.testing.assert_array_equal(found.variance[0, seen], 0.0)
    # Without a label: the mixture of the classes, of which the variance is within and between.
    each = [model.impute(new, Labels.from_crisp([c], classes=model.classes_.tolist()))
            for c in model.classes_.tolist()]  # fmt: skip
    p = model.predict_proba(new)[0]
    means, variances = (np.array([getattr(e, a)[0, 1] for e in each]) for a in ("mean", "variance"))
    found = model.impute(new)
    assert found.mean[0, 1] == pytest.approx(p @ means)
    assert found.variance[0, 1] == pytest.approx(p @ (variances + (means - p @ means) ** 2))
    np.testing.assert_allclose(model.transform(new), found.mean)


@pytest.mark.parametrize("where", ["near", "far", "narrow", "correlated"])
def test_two_bounded_features_are_integrated_exactly(where):
    rng = np.random.default_rng(0)
    n = 6
    rho = np.array([0.0, 0.3, -0.6, 0.9, -0.97, 0.5])
    rho = np.sign(rho) * 0.999 if where == "correlated" else rho
    sd = rng.uniform(0.5, 2.0, size=(n, 2))
    C = np.empty((n, 2, 2))
    C[:, 0, 0], C[:, 1, 1] = sd.T**2
    C[:, 0, 1] = C[:, 1, 0] = rho * sd[:, 0] * sd[:, 1]
    mean = rng.normal(size=(n, 2))
    offset = {"near": 0.0, "far": 3.0, "narrow": 0.5, "correlated": 0.0}[where] * sd
    width = {"near": 1.5, "far": 1.0, "narrow": 1e-3, "correlated": 1.5}[where] * sd
    low, high = mean + offset - 0.3 * sd, mean + offset - 0.3 * sd + width
    high[0, 1] = np.inf
    found = within(mean, C, low, high, 0)
    for i in range(n):
        top = np.where(np.isinf(high[i]), mean[i] + 12 * sd[i], high[i])
        # a fine grid of the first, the second in closed form
        edges = np.linspace(low[i, 0], top[0], 200_001)
        x = 0.5 * (edges[1:] + edges[:-1])
        inner = mean[i, 1] + C[i, 0, 1] / C[i, 0, 0] * (x - mean[i, 0])
        s = np.sqrt(C[i, 1, 1] - C[i, 0, 1] ** 2 / C[i, 0, 0])
        a, b = (low[i, 1] - inner) / s, (high[i, 1] - inner) / s
        p = np.where(a > 0, norm.sf(a) - norm.sf(b), norm.cdf(b) - norm.cdf(a))
        mass = norm.pdf(x, mean[i, 0], sd[i, 0]) * p * np.diff(edges)
        np.testing.assert_allclose(found.log_mass[i], np.log(mass.sum()), rtol=1e-7)
        share = mass / mass.sum()
        np.testing.assert_allclose(found.mean[i, 0], share @ x, rtol=1e-6)
        np.testing.assert_allclose(
            found.covariance[i, 0, 0], share @ (x - share @ x) ** 2, rtol=1e-4
        )
        inner_mean = inner + s * (norm.pdf(a) - norm.pdf(b)) / np.maximum(p, 1e-300)
        if where != "narrow":
            np.testing.assert_allclose(found.mean[i, 1], share @ inner_mean, rtol=1e-5)
            both = share @ ((x - share @ x) * (inner_mean - share @ inner_mean))
            np.testing.assert_allclose(found.covariance[i, 0, 1], both, atol=1e-6)


def test_more_intervals_are_refused_or_integrated_on_request():
    X, codes, _ = rows_of_three_classes()
    low = np.floor(X)
    cells = UncertainValues.from_intervals(low, low + 1)
    with pytest.raises(InputError, match=r"at most 2 intervals .* there are 3 in 60 rows.*'diag'"):
        UncertainGaussianMixture().fit(cells, codes)
    exact = GaussianMixtureClassifier().fit(X, codes)
    model = UncertainGaussianMixture("tied", n_lattice=200, tol=1e-4).fit(cells, codes)
    midpoints = GaussianMixtureClassifier("tied").fit(cells.midpoints(), codes)
    target = np.diagonal(GaussianMixtureClassifier("tied").fit(X, codes).covariances_)
    ours, theirs = (np.diagonal(m.covariances_) for m in (model, midpoints))
    assert np.abs(ours - target).sum() < np.abs(theirs - target).sum()
    with pytest.raises(InputError, match="at most 2 intervals"):
        UncertainGaussianMixture().fit(X, codes).predict(cells)
    assert exact.predict(X).shape == (60,)


def test_the_lattice_comes_near_exact_integrals():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(5, 3, 3))
    C = A @ A.swapaxes(1, 2) + 0.3 * np.eye(3)
    mean = rng.normal(size=(5, 3))
    low, high = mean - rng.uniform(0, 2, (5, 3)), mean + rng.uniform(0.5, 2, (5, 3))
    found = within(mean, C, low, high, 2000)
    for i in range(5):
        law = multivariate_normal(mean[i], C[i], maxpts=200_000, abseps=1e-7, releps=1e-7)
        np.testing.assert_allclose(np.exp(found.log_mass[i]), law.cdf(high[i], lower_limit=low[i]),
                                   rtol=5e-3)  # fmt: skip
        draws = rng.multivariate_normal(mean[i], C[i], size=300_000)
        kept = draws[((draws >= low[i]) & (draws <= high[i])).all(axis=1)]
        np.testing.assert_allclose(found.mean[i], kept.mean(axis=0), atol=0.02)
        np.testing.assert_allclose(found.covariance[i], np.cov(kept.T), atol=0.03)


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (UncertainValues.from_precise([1.0, 2.0]), r"rows of features \(n, d\)"),
        (UncertainValues.missing((4, 2)), "column 0 is missing in all 4"),
    ],
)
def test_tables_that_cannot_be(X, words):
    with pytest.raises(InputError, match=words):
        UncertainGaussianMixture().fit(X, ["a", "b"] * (len(X) // 2))


def test_new_items_need_the_same_features():
    X, codes, _ = rows_of_three_classes()
    model = UncertainGaussianMixture().fit(X, codes)
    with pytest.raises(InputError, match=r"\(n, 3\), but has the shape \(5, 2\)"):
        model.predict(UncertainValues.missing((5, 2)))


@pytest.mark.parametrize("kind", ["full", "tied", "diag", pytest.param("spherical", marks=LONG)])
def test_standard_errors_are_those_of_differences_of_the_likelihood(kind):
    X, _, labels = rows_of_three_classes(70, 2)
    values, pl = uncertain(X, 1), sorted_contour(labels)
    model = UncertainGaussianMixture(kind, reg_covar=0.0, tol=1e-11).fit(values, labels)
    found = model.standard_errors(values, labels)
    shapes = model.weights_.shape, model.means_.shape, model.covariances_.shape
    assert tuple(found[name].shape for name in ("weights", "means", "covariances")) == shapes
    upper = np.triu_indices(2)

    def log_likelihood(vector):
        weights, means, rest = np.split(vector, [2, 8])
        weights = np.append(weights, 1 - weights.sum())
        if kind in ("full", "tied"):
            C = np.empty((*model.covariances_.shape[:-2], 2, 2))
            C[..., upper[0], upper[1]] = C[..., upper[1], upper[0]] = rest.reshape(*C.shape[:-2], 3)
        else:
            C = rest.reshape(model.covariances_.shape)
        return reference(values, pl, weights, means.reshape(3, 2), C, kind)

    entries = model.covariances_
    entries = entries[..., upper[0], upper[1]] if kind in ("full", "tied") else entries
    here = np.concatenate([model.weights_[:2], model.means_.ravel(), entries.ravel()])
    # the information along a few random directions
    information = np.linalg.inv(covariance_from(model, values, labels))
    rng = np.random.default_rng(0)
    for _ in range(2):
        move = 0.004 * rng.normal(size=len(here))
        bend = 0.0
        for size, share in ((1.0, -1 / 3), (0.5, 16 / 3)):
            rise = log_likelihood(here + size * move) + log_likelihood(here - size * move)
            bend += share * (rise - 2 * log_likelihood(here))
        assert move @ information @ move == pytest.approx(-bend, rel=0.02)
    last = np.ones(2) @ np.linalg.inv(information)[:2, :2] @ np.ones(2)
    assert found["weights"][2] == pytest.approx(np.sqrt(last))


def covariance_from(model, values, labels):
    problem = model._pose(model._training(values, labels, None))
    return np.linalg.inv(mixture_information(problem, model._parameters))


def test_complete_data_have_the_textbook_standard_errors():
    X, codes, _ = rows_of_three_classes(90, 2)
    model = UncertainGaussianMixture("diag", reg_covar=0.0).fit(X, codes)
    found = model.standard_errors(X, codes)
    n = np.bincount(codes)
    np.testing.assert_allclose(
        found["weights"], np.sqrt(model.weights_ * (1 - model.weights_) / 90)
    )
    np.testing.assert_allclose(found["means"], np.sqrt(model.covariances_ / n[:, None]), rtol=1e-5)
    expected = model.covariances_ * np.sqrt(2 / n[:, None])
    np.testing.assert_allclose(found["covariances"], expected, rtol=1e-5)
    low, high = model.intervals(X, codes, level=0.9)["covariances"]
    assert (low > 0).all()
    reach = 1.644854 * np.sqrt(2 / n[:, None])
    np.testing.assert_allclose(high, model.covariances_ * np.exp(reach), rtol=1e-4)
    named = Labels.from_crisp(codes, classes=[2, 0, 1])  # in an order of their own
    by_rows = model.standard_errors(X, named, method="bootstrap", n_bootstrap=60)
    np.testing.assert_allclose(by_rows["means"], found["means"], rtol=0.35)
    below, above = model.intervals(X, codes, method="bootstrap", n_bootstrap=60)["means"]
    assert ((below < model.means_) & (model.means_ < above)).all()
