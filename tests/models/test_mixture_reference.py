"""Gaussian classifiers against a slow reference of (1.9) and against scikit-learn.

The reference knows no code of the library: densities are scipy's, sums are written out.
"""

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import invwishart, multivariate_normal
from sklearn.datasets import load_iris, make_blobs
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from plausible.engine import StreamRows
from plausible.labels import Labels
from plausible.models import DiscriminantClassifier, GaussianMixtureClassifier
from plausible.models.gaussian import e_step as passes

KINDS = ["full", "tied", "diag", "spherical"]
FORMS = {"linear": {}, "centered": {"TOO_FAR": -1.0}, "compiled": {"FAST_WORK": 0}}
BOTH = [GaussianMixtureClassifier, DiscriminantClassifier]
IRIS = load_iris(return_X_y=True)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def matrix(covariances, k, kind, d):
    if kind in ("full", "tied"):
        return covariances[k] if kind == "full" else covariances
    return np.diag(np.broadcast_to(covariances[k], d))


def by_kind(matrices, kind):
    if kind == "full":
        return matrices
    if kind == "tied":
        return matrices[0]
    variances = np.array([np.diag(m) for m in matrices])
    return variances if kind == "diag" else variances.mean(axis=1)


def log_joint(X, weights, means, covariances, kind):
    d = X.shape[1]
    densities = [
        multivariate_normal.logpdf(X, mean, matrix(covariances, k, kind, d)).reshape(len(X))
        for k, mean in enumerate(means)
    ]
    return np.log(weights) + np.array(densities).T


def scores_of(X, plausibility, theta, kind, owner):
    with np.errstate(divide="ignore"):
        return log_joint(X, *theta, kind) + np.log(plausibility[:, owner])


def criterion(X, plausibility, weight, theta, kind, owner):
    return weight @ logsumexp(scores_of(X, plausibility, theta, kind, owner), axis=1)


def responsibilities(X, plausibility, theta, kind, owner):
    scores = scores_of(X, plausibility, theta, kind, owner)
    return np.exp(scores - logsumexp(scores, axis=1, keepdims=True))


def em_step(X, plausibility, weight, theta, kind, owner, reg_covar):
    r = responsibilities(X, plausibility, theta, kind, owner) * weight[:, None]
    counts, means, scatters = r.sum(axis=0), [], []
    for column, count in zip(r.T, counts, strict=True):
        mean = column @ X / count
        means.append(mean)
        pairs = zip(X, column, strict=True)
        scatters.append(sum(share * np.outer(x - mean, x - mean) for x, share in pairs))
    if kind == "tied":
        matrices = [sum(scatters) / counts.sum()]
    else:
        matrices = [s / n for s, n in zip(scatters, counts, strict=True)]
    covariances = by_kind([m + reg_covar * np.eye(len(m)) for m in matrices], kind)
    return counts / counts.sum(), np.array(means), np.array(covariances)


def draw_problem(seed, n=201, n_classes=4, d=3):
    """Rows with soft, partial and hard labels, weights (some zero) and several components."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 3, size=n_classes)
    X = 2 * rng.normal(size=(n, d)) + 5
    plausibility = rng.random((n, n_classes))
    plausibility[rng.random((n, n_classes)) < 0.5] = 0
    hard = rng.random(n) < 0.3
    plausibility[hard] = 0.7 * np.eye(n_classes)[rng.integers(n_classes, size=hard.sum())]
    plausibility[plausibility.sum(axis=1) == 0] = 1
    plausibility[0] = 1
    weight = rng.choice([0.0, 0.5, 1.0, 3.0], size=n)
    weight[0] = 1
    return rng, X, plausibility, weight, sizes


def draw_start(rng, n_components, d, kind):
    roots = rng.normal(size=(n_components, d, d))
    matrices = roots @ np.swapaxes(roots, 1, 2) / d + np.eye(d)
    weights = rng.dirichlet(np.full(n_components, 5.0))
    return weights, 5 + 2 * rng.normal(size=(n_components, d)), np.array(by_kind(matrices, kind))


def as_init(theta):
    return dict(zip(("weights", "means", "covariances"), theta, strict=True))


def soft_blobs(seed, n=300, d=2, share=0.3, wrong=0.1, other=0.3):
    """Four blobs; a share of the rows has a soft label, some of them wrong, the rest none."""
    rng = np.random.default_rng(seed)
    gap = 0.0
    while gap < 5:
        centers = rng.uniform(-10, 10, size=(4, d))
        gaps = np.linalg.norm(centers[:, None] - centers, axis=2)
        gap = gaps[np.triu_indices(4, 1)].min()
    X, y = make_blobs(n, centers=centers, random_state=seed)
    label = np.where(rng.random(n) < wrong, (y + rng.integers(1, 4, size=n)) % 4, y)
    plausibility = np.where(np.eye(4)[label] > 0, 1.0, other)
    plausibility[rng.random(n) > share] = 1
    return X, y, Labels(plausibility, range(4))


def parameters_of(model):
    return model.weights_, model.means_, model.covariances_


def assert_same_fit(one, other, rtol=0.0, atol=0.0):
    for a, b in zip(parameters_of(one), parameters_of(other), strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=atol)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [40, 199, 200, 201])
def test_one_iteration_is_the_em_step_of_the_criterion(monkeypatch, form, kind, n):
    for name, value in FORMS[form].items():
        monkeypatch.setattr(passes, name, value)
    rng, X, plausibility, weight, sizes = draw_problem(n, n)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    start = draw_start(rng, len(owner), X.shape[1], kind)
    model = GaussianMixtureClassifier(
        kind, sizes, as_init(start), max_iter=1, tol=1e-300, reg_covar=0.01, accelerate=False
    ).fit(X, Labels(plausibility, range(4)), weight)
    step = em_step(X, plausibility, weight, start, kind, owner, 0.01)
    values = [criterion(X, plausibility, weight, t, kind, owner) for t in (start, step)]
    assert values[1] > values[0]
    for found, expected in zip(parameters_of(model), step, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(model.history_, values, rtol=1e-10)
    np.testing.assert_allclose(model.score_samples(X), logsumexp(log_joint(X, *step, kind), axis=1))


@pytest.mark.parametrize("form", FORMS)
def test_two_candidates_of_many_classes(monkeypatch, form):
    for name, value in FORMS[form].items():
        monkeypatch.setattr(passes, name, value)
    rng, X, _, weight, _ = draw_problem(3, 450)
    pairs = np.array([rng.permutation(20)[:2] for _ in X])
    pairs[:20] = np.arange(40).reshape(20, 2) % 20
    weight[:20] = 1
    plausibility = np.zeros((len(X), 20))
    np.put_along_axis(plausibility, pairs, rng.uniform(0.1, 1, size=pairs.shape), axis=1)
    start, owner = draw_start(rng, 20, 3, "full"), np.arange(20)
    model = GaussianMixtureClassifier(
        init=as_init(start), max_iter=1, tol=1e-300, reg_covar=0.1, store_responsibilities=True
    ).fit(X, Labels(plausibility, range(20)), weight)
    step = em_step(X, plausibility, weight, start, "full", owner, 0.1)
    np.testing.assert_allclose(model.means_, step[1], rtol=1e-8)
    expected = responsibilities(X, plausibility, step, "full", owner)
    np.testing.assert_allclose(model.responsibilities_, expected, atol=1e-9)


def log_prior(theta, kind, concentration, mean, precision, freedom, scale):
    weights, means, covariances = theta
    value = (concentration - 1) * np.log(weights).sum()
    for k, mu in enumerate(means):
        covariance = matrix(covariances, k, kind, len(mu))
        value += multivariate_normal.logpdf(mu, mean, covariance / precision)
        if k == 0 or kind != "tied":
            value += invwishart.logpdf(covariance, freedom, scale)
    return value


@pytest.mark.parametrize("kind", KINDS)
def test_the_m_step_with_a_prior_maximizes_the_penalized_criterion(kind):
    rng, X, plausibility, weight, _ = draw_problem(5, 60)
    owner, start = np.arange(4), draw_start(rng, 4, 3, kind)
    root = rng.normal(size=(3, 3))
    entries = 2.5, rng.normal(size=3), 0.7, 5.5, root @ root.T + np.eye(3)
    names = "weights", "mean", "mean_precision", "degrees_of_freedom", "scale"
    model = GaussianMixtureClassifier(
        kind,
        init=as_init(start),
        max_iter=1,
        tol=1e-300,
        reg_covar=0,
        prior=dict(zip(names, entries, strict=True)),
    ).fit(X, Labels(plausibility, range(4)), weight)
    r = responsibilities(X, plausibility, start, kind, owner) * weight[:, None]

    def expected(theta):
        return (r * log_joint(X, *theta, kind)).sum() + log_prior(theta, kind, *entries)

    found = parameters_of(model)
    for _ in range(40):
        weights = found[0] * np.exp(1e-3 * rng.normal(size=4))
        means = found[1] + 1e-3 * rng.normal(size=found[1].shape)
        tilt = np.eye(3) + 1e-3 * rng.normal(size=(3, 3))
        if kind in ("full", "tied"):
            covariances = tilt @ found[2] @ tilt.T
        else:
            covariances = found[2] * np.exp(1e-3 * rng.normal(size=found[2].shape))
        moved = weights / weights.sum(), means, covariances
        for part in range(3):
            near = (*found[:part], moved[part], *found[part + 1 :])
            assert expected(near) < expected(found)
    rise = [
        criterion(X, plausibility, weight, t, kind, owner) + log_prior(t, kind, *entries)
        for t in (start, found)
    ]
    np.testing.assert_allclose(np.diff(model.history_), np.diff(rise), rtol=1e-9)


@pytest.mark.parametrize("accelerate", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_vacuous_labels_give_scikit_learns_mixture(kind, accelerate):
    X = IRIS[0]
    matrices = np.tile(np.diag(X.var(axis=0)), (3, 1, 1))
    start = np.array([0.2, 0.3, 0.5]), X[[0, 60, 120]], np.array(by_kind(matrices, kind))
    inverse = np.linalg.inv(start[2]) if kind in ("full", "tied") else 1 / start[2]
    theirs = GaussianMixture(
        3,
        covariance_type=kind,
        weights_init=start[0],
        means_init=start[1],
        precisions_init=inverse,
        tol=1e-12,
        max_iter=9000,
    ).fit(X)
    ours = GaussianMixtureClassifier(
        kind, init=as_init(start), tol=1e-12, max_iter=9000, accelerate=accelerate
    ).fit(X, Labels.unknown(len(X), range(3)))
    np.testing.assert_allclose(ours.means_, theirs.means_, rtol=1e-5)
    np.testing.assert_allclose(ours.covariances_, theirs.covariances_, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(ours.bic(), theirs.bic(X), rtol=1e-9)
    np.testing.assert_allclose(ours.aic(), theirs.aic(X), rtol=1e-9)
    assert (np.diff(ours.history_) >= 0).all()
    assert len(ours.history_) == ours.n_iter_ + 1


def test_hard_labels_give_scikit_learns_discriminant_analysis():
    X, y = IRIS
    theirs = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    ours = DiscriminantClassifier(reg_covar=0).fit(X, y)
    np.testing.assert_allclose(ours.covariances_, theirs.covariance_, atol=1e-12)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-10)
    quadratic = DiscriminantClassifier(shared_covariance=False, reg_covar=0).fit(X, y)
    theirs = QuadraticDiscriminantAnalysis().fit(X, y)
    np.testing.assert_allclose(quadratic.means_, theirs.means_, rtol=1e-12)
    np.testing.assert_allclose(quadratic.predict_proba(X), theirs.predict_proba(X), atol=1e-8)
    shrunk = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.3).fit(X, y)
    ours = DiscriminantClassifier(shrinkage=0.3, reg_covar=0).fit(X, y)
    np.testing.assert_allclose(ours.covariances_, shrunk.covariance_, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("scale", "offset"), [(1e8, 0), (1e-8, 0), (1, 1e8), (1e-3, 1e4)])
def test_units_and_offsets_change_no_answer(kind, scale, offset):
    X, _, labels = soft_blobs(0)
    moved = scale * X + offset
    model = GaussianMixtureClassifier(kind, reg_covar=0, tol=1e-9)
    there = model.fit(moved, labels).predict_proba(moved)
    back = (moved - offset) / scale  # what the numbers can hold of X
    np.testing.assert_allclose(there, model.fit(back, labels).predict_proba(back), atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_components_far_apart_keep_their_covariances(kind):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(3), 50)
    X = rng.normal(size=(150, 2)) + 1e6 * y[:, None]
    plausibility = np.where(np.arange(150)[:, None] % 5 == 0, 0.9 * np.eye(3)[y] + 0.1, 1.0)
    model = GaussianMixtureClassifier(kind, reg_covar=0).fit(X, Labels(plausibility, range(3)))
    scatters = [np.cov(X[y == k].T, ddof=0) for k in range(3)]
    expected = by_kind([np.mean(scatters, axis=0)] if kind == "tied" else np.array(scatters), kind)
    np.testing.assert_allclose(model.covariances_, expected, rtol=1e-8)


def test_whole_weights_are_repeated_rows_and_order_is_nothing():
    rng, X, plausibility, _, _ = draw_problem(8, 150)
    times = rng.integers(0, 4, size=150)
    model = GaussianMixtureClassifier(prior="weak", tol=1e-10)
    weighted = model.fit(X, Labels(plausibility, range(4)), times)
    repeated = np.repeat(np.arange(150), times)[::-1]
    other = GaussianMixtureClassifier(prior="weak", tol=1e-10)
    other.fit(X[repeated], Labels(plausibility[repeated], range(4)))
    assert_same_fit(weighted, other, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("estimator", BOTH)
def test_labels_of_new_rows_multiply_and_sets_hold_the_prediction(estimator):
    X, _, labels = soft_blobs(1, d=3)
    model = estimator().fit(X, labels)
    known = np.random.default_rng(0).random((len(X), 4))
    product = model.predict_proba(X) * known
    expected = product / product.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X, Labels(known, range(4))), expected)
    contour = model.predict_plausibility(X)
    masses = model.predict_mass(X)
    holds = masses.focal_sets[:, None] >> np.arange(4) & 1
    np.testing.assert_allclose(masses.values @ holds, contour, atol=1e-12)
    assert model.predict_set(X)[np.arange(len(X)), contour.argmax(axis=1)].all()


@pytest.mark.parametrize("estimator", BOTH)
def test_novelty_is_calibrated_on_the_models_own_items(estimator):
    X, _, labels = soft_blobs(2)
    model = estimator(random_state=0).fit(X, labels)
    other = estimator(random_state=1).fit(X, labels).sample(40_000)[0]
    for level in (0.01, 0.1, 0.5):
        flagged = model.predict_novelty(other, level).mean()
        assert abs(flagged - level) < 5 * np.sqrt(level * (1 - level) * (1 / 20_000 + 1 / 40_000))


@pytest.mark.parametrize("estimator", BOTH)
@pytest.mark.parametrize("d", [2, 10])
def test_soft_and_partly_wrong_labels_find_the_blobs(estimator, d):
    for seed in range(20):
        X, y, labels = soft_blobs(seed, d=d)
        assert (estimator(random_state=0).fit(X, labels).predict(X) == y).mean() > 0.95, seed


@pytest.mark.parametrize(("accelerate", "n_init"), [(True, 1), (False, 1), (True, 3)])
def test_an_interrupted_fit_goes_on_as_if_it_had_not_stopped(tmp_path, accelerate, n_init):
    X, labels = IRIS[0], Labels.unknown(150, range(3))
    settings = {"covariance_type": "tied", "accelerate": accelerate, "n_init": n_init}
    settings |= {"init": "random", "random_state": 0}
    whole = GaussianMixtureClassifier(**settings).fit(X, labels)
    for stop in (1, 9, 11, 13, 18):
        left = iter([None] * (stop - 1))

        def callback(progress, left=left):
            if next(left, "stop") == "stop":
                raise KeyboardInterrupt

        path = tmp_path / f"{stop}.npz"
        part = GaussianMixtureClassifier(**settings, callback=callback, checkpoint=path)
        with pytest.warns(ConvergenceWarning, match="interrupted"):
            part.fit(X, labels)
        resumed = GaussianMixtureClassifier(**settings, checkpoint=path).fit(X, labels)
        assert_same_fit(resumed, whole)
        np.testing.assert_array_equal(resumed.history_, whole.history_)


@pytest.mark.parametrize("estimator", BOTH)
def test_a_stream_gives_what_memory_gives(estimator):
    _, X, plausibility, weight, _ = draw_problem(9, 3000)
    names = ["zeta", "alpha", "mid", "beta"]
    starts = {"means": dict(zip(sorted(names), X[:4], strict=True))}

    def source():
        for start in range(0, 3000, 700):
            rows = slice(start, start + 700)
            yield X[rows], plausibility[rows], weight[rows]

    source.classes = names
    memory = estimator(init=starts).fit(X, Labels(plausibility, names), weight)
    stream = estimator(init=starts).fit(StreamRows(source))
    np.testing.assert_array_equal(stream.classes_, sorted(names))
    assert_same_fit(stream, memory, rtol=1e-9, atol=1e-9)


def test_without_a_tolerance_a_fit_runs_until_nothing_rises():
    X, _, labels = soft_blobs(0)
    assert GaussianMixtureClassifier(tol=0).fit(X, labels).converged_


@pytest.mark.filterwarnings("ignore::plausible.models.gaussian.estimator.EmptyClassWarning")
def test_a_far_component_without_rows_spoils_no_other():
    X = np.random.default_rng(0).normal(size=(150, 1)) + np.repeat([-1e5, 0, 1e5], 50)[:, None]
    start = {"means": [[-1e5], [0], [1e5], [5e8]], "covariances": np.full((4, 1, 1), 2.0)}
    model = GaussianMixtureClassifier(init=start).fit(X, Labels.unknown(150, range(4)))
    np.testing.assert_allclose(model.weights_, [1 / 3, 1 / 3, 1 / 3, 0], atol=1e-9)


@pytest.mark.filterwarnings("ignore::plausible.models.gaussian.estimator.EmptyClassWarning")
def test_rows_of_no_weight_say_nothing():
    X, _, labels = soft_blobs(0)
    contour = np.r_[np.pad(labels.contour, ((0, 0), (0, 2))), [[0, 0, 0, 0, 1, 1]]]
    labels = Labels(contour, range(6))
    padded = GaussianMixtureClassifier().fit(np.r_[X, X[:1]], labels, [1] * 300 + [0])
    alone = GaussianMixtureClassifier().fit(X, labels[:300])
    np.testing.assert_allclose(padded.means_, alone.means_, rtol=1e-9)
