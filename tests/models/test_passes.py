"""The three forms of the E step (NumPy, compiled, centered) are one computation."""

from functools import partial

import numba
import numpy as np
import pytest
from scipy.stats import multivariate_normal

from plausible.engine import ArrayRows
from plausible.models.gaussian import e_step as passes
from plausible.models.gaussian.census import candidate_codes, take_census
from plausible.models.gaussian.e_step_compiled import compiled_sums
from plausible.models.gaussian.e_step_kernel import _exp, _log
from plausible.models.gaussian.parameters import KINDS, GaussianChart, Gaussians, about_mean, merge
from plausible.models.gaussian.soft_mixture import SoftMixture

D = 4


def mixture(kind, n_components, seed=0, d=D):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n_components, d, d))
    full = np.eye(d) * 0.3 + A @ A.transpose(0, 2, 1) / d
    covariances = {
        "full": full,
        "tied": full[0],
        "diag": rng.uniform(0.3, 2.0, (n_components, d)),
        "spherical": rng.uniform(0.3, 2.0, n_components),
    }[kind]
    weights = rng.dirichlet(np.ones(n_components) * 3)
    return Gaussians(weights, rng.normal(size=(n_components, d)) * 2, covariances)


def as_matrices(parameters, kind):
    n_components, d = parameters.means.shape
    c = parameters.covariances
    return {
        "full": lambda: c,
        "tied": lambda: np.tile(c, (n_components, 1, 1)),
        "diag": lambda: np.array([np.diag(v) for v in c]),
        "spherical": lambda: np.array([v * np.eye(d) for v in c]),
    }[kind]()


def slow_e_step(X, pl, w, parameters, kind):
    """Responsibilities and criterion from scipy's density, row by row."""
    joint = np.column_stack(
        [
            pi * multivariate_normal(m, S).pdf(X)
            for pi, m, S in zip(
                parameters.weights, parameters.means, as_matrices(parameters, kind), strict=True
            )
        ]
    ).reshape(len(X), -1)
    joint = joint * pl
    total = joint.sum(axis=1)
    return joint / total[:, None] * w[:, None], float(w @ np.log(total))


def draw(n, n_classes, zeros, seed=1, d=D):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 2 + 5.0
    pl = rng.uniform(0.01, 1.0, (n, n_classes))
    pl[rng.uniform(size=pl.shape) < zeros] = 0.0
    pl[np.arange(n), rng.integers(n_classes, size=n)] = 0.7
    return X, pl, rng.uniform(0.0, 2.0, n)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", ["numpy", "compiled", "centered"])
@pytest.mark.parametrize(("n", "zeros"), [(1, 0.0), (191, 0.9), (192, 0.5), (1203, 0.0)])
def test_all_forms_give_the_moments_of_the_definition(kind, form, n, zeros, monkeypatch):
    owner = np.array([0, 1, 1, 2, 3])
    X, pl, w = draw(n, 4, zeros)
    w[0] += 0.1
    parameters = mixture(kind, len(owner))
    parameters = parameters._replace(means=parameters.means + 5.0)
    monkeypatch.setattr(passes, "FAST_WORK", 0 if form == "compiled" else np.inf)
    monkeypatch.setattr(passes, "TOO_FAR", -1.0 if form == "centered" else np.inf)
    rows = ArrayRows(X, pl, w, chunk_rows=217)
    census = take_census(rows, np.bincount(owner) == 1)
    problem = SoftMixture(rows, census, kind, owner)
    summary = problem.summarize([parameters])[0]
    r, criterion = slow_e_step(X, pl[:, owner], w, parameters, kind)
    np.testing.assert_allclose(summary.criterion, criterion, rtol=1e-10)
    np.testing.assert_allclose(summary.moments.counts, r.sum(axis=0), atol=1e-9)
    means = (r.T @ X) / np.maximum(r.sum(axis=0), 1e-300)[:, None]
    kept = r.sum(axis=0) > 1e-6
    np.testing.assert_allclose(summary.moments.mean[kept], means[kept], atol=1e-7)
    gaps = X[:, None, :] - summary.moments.mean
    scatter = np.einsum("nk,nki,nkj->kij", r, gaps, gaps)
    variances = np.diagonal(scatter, axis1=1, axis2=2)
    expected = {
        "full": scatter,
        "tied": scatter.sum(axis=0),
        "diag": variances,
        "spherical": variances.sum(axis=1),
    }[kind]
    np.testing.assert_allclose(summary.moments.scatter, expected, atol=1e-8 * (1 + n))


@pytest.mark.parametrize("n_classes", [1, 3, 4, 5, 70])
def test_compiled_sums_equal_those_of_numpy_for_sorted_candidates(n_classes):
    rng = np.random.default_rng(2)
    n, owner = 1501, np.arange(n_classes)
    X = rng.normal(size=(n, D))
    pl = np.zeros((n, n_classes))
    for _ in range(2):
        pl[np.arange(n), rng.integers(n_classes, size=n)] = rng.uniform(0.1, 1.0, n)
    code = partial(candidate_codes, single=np.zeros(n_classes, dtype=bool), settled=False)
    rows = ArrayRows(X, pl, None).arrange(code)
    parameters = mixture("full", n_classes, seed=3)
    W, _ = passes.linear_form(parameters, X.mean(axis=0), "full")
    (slow, low), (quick, high) = (
        rows.reduce(passes.linear_pass, [W], X.mean(axis=0), "full", owner, fast)[0]
        for fast in (False, True)
    )
    np.testing.assert_allclose(quick, slow, rtol=1e-11, atol=1e-10)
    np.testing.assert_allclose(high, low, rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "d", "n_classes"), [(1, 4, 3), (192, 3, 6), (777, 9, 5)])
def test_compiled_sums_are_the_same_however_features_lie_in_memory(kind, n, d, n_classes):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, d)).astype(np.float32).astype(np.float64)
    owner = np.array([2, 0, 1, 1, 0, n_classes - 1])
    pl, w = draw(n, n_classes, 0.4)[1:]
    pl[:, :3] += 0.01  # without components of some classes, rows need another
    center = rng.normal(size=d)
    W, _ = passes.linear_form(mixture(kind, 6, d=d), center, kind)
    expected, criterion = passes.linear_pass((X, pl, w), [W], center, kind, owner, False)[0]
    by_column = np.asfortranarray(np.concatenate([X, X]))[:n]
    for form in (X, by_column, X.astype(np.float32), np.repeat(X, 2, axis=1)[:, ::2]):
        sums, found = passes.linear_pass((form, pl, w), [W], center, kind, owner, True)[0]
        np.testing.assert_allclose(sums, expected, rtol=1e-12, atol=1e-12 * n)
        assert found == pytest.approx(criterion, rel=1e-12)


def test_rows_that_only_fill_a_block_leave_no_trace_in_given_sums():
    rng = np.random.default_rng(0)
    X, given = rng.normal(size=(203, D)), rng.uniform(size=(203, 3))
    given[rng.uniform(size=given.shape) < 0.3] = 0.0
    given[5], given[202] = 0.0, 0.5  # no class is favored; the last row would be the one to repeat
    for kind in KINDS:
        phi = passes.feature_map(X, np.ones(D), kind)
        found = compiled_sums(X, given, np.ones(D), kind)
        np.testing.assert_allclose(found, phi @ given, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_classes_that_share_a_covariance_start_from_the_scatter_within_all_of_them(weighted):
    X, pl, w = draw(300, 3, 0.4)
    pl[::7] = 0.5  # rows that say nothing
    X32 = np.asfortranarray(X.astype(np.float32))  # as Parquet files are read
    rows = ArrayRows(X32, pl, w if weighted else None, chunk_rows=70)
    w = w if weighted else np.ones(300)
    X = X32.astype(np.float64)
    problem = SoftMixture(rows, take_census(rows, np.ones(3, dtype=bool)), "tied", np.arange(3))
    moments = problem.class_moments()
    favor = w[:, None] * (pl - pl.min(axis=1, keepdims=True)) / pl.max(axis=1, keepdims=True)
    means = favor.T @ X / favor.sum(axis=0)[:, None]
    gaps = X[:, None] - means
    np.testing.assert_allclose(moments.counts, favor.sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(moments.mean, means, rtol=1e-10)
    np.testing.assert_allclose(
        moments.scatter, np.einsum("nk,nki,nkj->ij", favor, gaps, gaps), rtol=1e-10, atol=1e-10
    )
    open_rows = (pl > 0).sum(axis=1) > 1
    gap = (X - problem.center)[open_rows]
    np.testing.assert_allclose(
        problem.scatter, gap.T @ (gap * w[open_rows, None]), rtol=1e-10, atol=1e-10
    )


def test_exp_and_log_of_compiled_loops_are_those_of_numpy():
    rng = np.random.default_rng(0)
    v = np.concatenate([-(10 ** rng.uniform(-17, 2.85, 4000)), [0.0, -708.0]])
    few = np.array([-708.8, -709.0, -745.0, -1e300, -np.inf])
    x = np.concatenate([10 ** rng.uniform(-307, 308, 2000), 1 + rng.normal(size=2000) * 1e-4])
    x = np.concatenate([x, [0.5**0.5, 2**0.5, 1.0, 5e-324, 3e-310]])
    exps, zeros, logs = (np.empty(len(each)) for each in (v, few, x))
    exp_and_log(v, x, exps, logs)
    exp_and_log(few, x, zeros, logs)
    np.testing.assert_allclose(exps, np.exp(v), rtol=5e-16 + 2e-16 * np.abs(v).max())
    near = v > -1.0
    np.testing.assert_allclose(exps[near], np.exp(v[near]), rtol=5e-16)
    np.testing.assert_array_equal(zeros, 0.0)
    np.testing.assert_allclose(logs, np.log(x), rtol=5e-15, atol=1e-19)


@numba.njit(fastmath={"contract", "reassoc", "nsz"})
def exp_and_log(v, x, exps, logs):  # with the liberties that the kernel takes
    for j in range(len(v)):
        exps[j] = _exp(v[j])
    for j in range(len(x)):
        logs[j] = _log(x[j])


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_gathered_by_their_candidates_only_where_it_pays(kind, monkeypatch):
    monkeypatch.setattr(passes, "FAST_WORK", 0)
    rng = np.random.default_rng(0)
    n, n_classes, d = 400, 10, 20
    X, pl = rng.normal(size=(n, d)), np.zeros((n, n_classes))
    owner, first = np.arange(n_classes), rng.integers(n_classes, size=n)
    for other in (0, rng.integers(1, n_classes, size=n)):
        pl[np.arange(n), (first + other) % n_classes] = rng.uniform(0.1, 1.0, n)
    rows = ArrayRows(X, pl, None, chunk_rows=150)
    problem = SoftMixture(rows, take_census(rows, owner >= 0), kind, owner)
    assert (problem.rows.order is None) == (kind != "full")
    parameters = mixture(kind, n_classes, d=d)
    found = problem.summarize([parameters])[0]
    r, criterion = slow_e_step(X, pl, np.ones(n), parameters, kind)
    np.testing.assert_allclose(found.criterion, criterion, rtol=1e-10)
    np.testing.assert_allclose(found.moments.counts, r.sum(axis=0), atol=1e-9)


def test_a_class_that_is_ruled_out_does_not_hide_the_others():
    parameters = Gaussians(np.array([0.5, 0.5]), np.array([[0.0], [60.0]]), np.ones((2, 1, 1)))
    columns = np.zeros((1, 1)), np.array([[0.0, 1.0]]), None
    W, _ = passes.linear_form(parameters, np.array([30.0]), "full")
    for fast in (False, True):
        args = [W], np.array([30.0]), "full", np.arange(2), fast
        ((sums, criterion),) = passes.linear_pass(columns, *args)
        np.testing.assert_allclose(sums[0], [0.0, 1.0])
        assert criterion == pytest.approx(np.log(0.5) - 0.5 * np.log(2 * np.pi) - 1800.0)


def test_tiny_plausibilities_do_not_underflow():
    parameters = Gaussians(np.array([0.5, 0.5]), np.array([[0.0], [1.0]]), np.ones((2, 1, 1)))
    columns = np.zeros((1, 1)), np.array([[1e-300, 2e-300]]), None
    W, _ = passes.linear_form(parameters, np.array([0.5]), "full")
    expected = np.array([1.0, 2 * np.exp(-0.5)])
    for fast in (False, True):
        args = [W], np.array([0.5]), "full", np.arange(2), fast
        ((sums, _),) = passes.linear_pass(columns, *args)
        np.testing.assert_allclose(sums[0], expected / expected.sum())


@pytest.mark.parametrize("kind", KINDS)
def test_log_joint_is_the_log_of_weight_times_density(kind, monkeypatch):
    parameters = mixture(kind, 3)
    X = draw(50, 3, 0.0)[0] - 4.0
    expected = np.column_stack(
        [
            np.log(pi) + multivariate_normal(m, S).logpdf(X)
            for pi, m, S in zip(
                parameters.weights, parameters.means, as_matrices(parameters, kind), strict=True
            )
        ]
    )
    for far in (np.inf, -1.0):
        monkeypatch.setattr(passes, "TOO_FAR", far)
        np.testing.assert_allclose(passes.log_joint(X, parameters, kind), expected, rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_merging_moments_is_taking_moments_of_the_union(kind):
    rng = np.random.default_rng(4)
    X, R = rng.normal(size=(30, D)) + 1e4, rng.uniform(size=(2, 30))

    def moments(rows):
        center = np.full((2, D), 1e4)
        sums = passes.centered_sums(X[rows], R[:, rows], center, kind)
        return about_mean(*sums, center, kind)

    whole = moments(slice(None))
    union = merge(moments(slice(0, 11)), moments(slice(11, 30)), kind)
    np.testing.assert_allclose(union.counts, R.sum(axis=1))
    np.testing.assert_allclose(union.mean, whole.mean, rtol=1e-13)
    np.testing.assert_allclose(union.scatter, whole.scatter, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_coordinates_lead_back_to_the_parameters(kind):
    parameters = mixture(kind, 3)
    chart = GaussianChart(kind, np.array([1.0, 10.0, 0.1, 3.0]))
    again = chart.restore(chart.flatten(parameters), parameters)
    for one, other in zip(again, parameters, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13)
    moved = chart.restore(chart.flatten(parameters) + 3.0, parameters)
    np.testing.assert_allclose(moved.weights.sum(), 1.0)
    matrices = as_matrices(moved, kind)
    assert (np.linalg.eigvalsh(matrices) > 0).all()
