"""Logistic regression for partial labels against a slow reference and against scikit-learn.

The reference is written from equations 3 to 7 of Grandvalet (2002) and knows no code of the
library: sums over rows are loops, first derivatives are complex steps, second ones differences of
them, and maxima those of a generic optimizer from many starts.
"""

import contextlib
import io
import threading
import warnings

import dask.array
import numpy as np
import pytest
import scipy.sparse
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from plausible.base import EmptyClassWarning
from plausible.engine import ArrayRows, DaskRows, StreamRows
from plausible.engine.gradient import climb
from plausible.engine.threads import one_blas_thread
from plausible.labels import Labels
from plausible.models import PartialLogisticRegression, partial_label_loss
from plausible.models.logistic.coordinates import make_coordinates
from plausible.models.logistic.criteria import CRITERIA
from plausible.models.logistic.likelihood import PartialLikelihood, hessian_pass, product_pass
from plausible.models.logistic.solvers import Solver, race_course

BETS = ["self_consistent", "minimum_entropy"]


# The reference.


def row_value(name, logits, plausibility):
    """One term of the criterion; logits may be complex, for derivatives."""
    top = max(logits, key=lambda logit: logit.real)
    log_f = logits - (top + np.log(sum(np.exp(logit - top) for logit in logits)))
    able = [k for k in range(len(logits)) if plausibility[k] > 0]
    joint = {k: log_f[k] + np.log(plausibility[k]) for k in able}
    highest = max(joint.values(), key=lambda value: value.real)
    support = highest + np.log(sum(np.exp(value - highest) for value in joint.values()))
    if name == "minimum_commitment":
        return support
    if name == "maximum_entropy":
        return sum(plausibility[k] * log_f[k] for k in able) / plausibility.sum()
    total = sum(np.exp(value - highest) for value in joint.values())
    g = {k: np.exp(joint[k] - highest) / total for k in able}
    return sum(g[k] * (log_f if name == "self_consistent" else joint)[k] for k in able)


def reference(name, beta, X, plausibility, weight=None, alpha=0.0, penalized=None):
    """The penalized criterion; beta is (K, D) with an intercept if D is one more than features."""
    total = 0.0
    for i in range(len(X)):
        x = np.append(X[i], 1.0)[: beta.shape[1]]
        total += (1.0 if weight is None else weight[i]) * row_value(name, beta @ x, plausibility[i])
    penalized = X.shape[1] if penalized is None else penalized
    return total - alpha / 2 * sum(b * b for b in beta[:, :penalized].ravel())


def slopes(function, point, step=1e-30):
    """Gradient by complex steps, exact to the last digits."""
    found = np.empty(point.size)
    for j in range(point.size):
        moved = point.astype(complex).ravel()
        moved[j] += 1j * step
        found[j] = function(moved.reshape(point.shape)).imag / step
    return found


def bends(function, point, step=1e-5):
    """Second derivatives by central differences of the gradient."""
    found = np.empty((point.size, point.size))
    for j, way in enumerate(np.eye(point.size)):
        way = step * way.reshape(point.shape)
        found[j] = (slopes(function, point + way) - slopes(function, point - way)) / (2 * step)
    return found


def many_rows(name, beta, X, plausibility, weight, alpha, penalized):
    """The reference with a loop over classes in place of one over rows, for the optimizer."""
    eta = X @ beta[:, : X.shape[1]].T + (beta[:, -1] if beta.shape[1] > X.shape[1] else 0)
    eta = eta - eta.real.max(axis=1, keepdims=True)
    f = np.exp(eta) / np.exp(eta).sum(axis=1, keepdims=True)
    g = plausibility * f
    support = g.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_pl = np.where(plausibility > 0, np.log(plausibility), 0.0)
    if name == "minimum_commitment":
        value = np.log(support)
    elif name == "maximum_entropy":
        value = (plausibility * np.log(f)).sum(axis=1) / plausibility.sum(axis=1)
    elif name == "self_consistent":
        value = (g * np.log(f)).sum(axis=1) / support
    else:
        value = (g * (np.log(f) + log_pl)).sum(axis=1) / support
    return weight @ value - alpha / 2 * (beta[:, :penalized] ** 2).sum()


def best_of_many(name, X, plausibility, weight, alpha, intercept, penalized, n_starts):
    """Highest value that a generic optimizer finds from many starts."""
    n_classes, n_columns = plausibility.shape[1], X.shape[1] + intercept
    rng = np.random.default_rng(0)

    def value(vector):
        beta = vector.reshape(n_classes, n_columns)
        return -many_rows(name, beta, X, plausibility, weight, alpha, penalized)

    found = []
    for _ in range(n_starts):
        start = rng.normal(scale=0.5, size=n_classes * n_columns)
        result = minimize(value, start, jac=lambda v: slopes(value, v), method="BFGS", tol=1e-9)
        found.append(-result.fun)
    return max(found)


def every_beta(model):
    """Coefficients (K, d + 1) of all classes, of which two have only a difference."""
    beta = np.column_stack([model.coef_, model.intercept_])
    return np.vstack([-beta, beta]) / 2 if len(model.classes_) == 2 else beta


# Problems.


def some_data(n_classes, n=40, d=2, shift=1.0, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=n)
    truth[:n_classes] = np.arange(n_classes)
    centers = rng.normal(scale=shift, size=(n_classes, d))
    return centers[truth] + rng.normal(size=(n, d)), truth


def some_labels(kind, truth, n_classes, seed=1):
    """Plausibilities (n, K) of one kind."""
    rng = np.random.default_rng(seed)
    pl = np.eye(n_classes)[truth]
    if kind == "sets":
        pl = np.maximum(pl, rng.random(pl.shape) < 0.3)
    elif kind == "degrees":
        pl = np.where(pl > 0, rng.uniform(0.6, 1, pl.shape), rng.uniform(0, 0.5, pl.shape))
    elif kind == "doubt":
        pl = np.where(pl > 0, 1.0, rng.uniform(0, 0.4, (len(pl), 1)))
    elif kind == "missing":
        pl[rng.random(len(pl)) < 0.4] = 1.0
    return pl


def fitted(X, plausibility, weight=None, **options):
    options = {"random_state": 0, "tol": 1e-9} | options
    model = PartialLogisticRegression(**options)
    return model.fit(X, Labels.from_plausibility(plausibility), weight)


# Values and derivatives.


@pytest.mark.parametrize("criterion", CRITERIA)
def test_loss_and_its_gradient_are_those_of_the_paper(criterion):
    rng = np.random.default_rng(0)
    logits = rng.normal(scale=3, size=(7, 4))
    pl = rng.random((7, 4)) * (rng.random((7, 4)) < 0.6)
    pl[np.arange(7), rng.integers(4, size=7)] = 1.0
    pl[0], pl[1] = 1.0, [0, 0, 0.3, 0]
    weight = rng.random(7)

    def value(scores):
        return sum(
            w * row_value(criterion, s, p) for w, s, p in zip(weight, scores, pl, strict=True)
        )

    found, gradient = partial_label_loss(criterion)(logits, pl, weight)
    assert found == pytest.approx(-value(logits), rel=1e-13)
    np.testing.assert_allclose(gradient.ravel(), -slopes(value, logits), atol=1e-13)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("gap", [1000.0, -1000.0, 1e8])
def test_labels_that_the_model_all_but_excludes(criterion, gap):
    """f is 0 in double precision for all candidates, and the paper's formulas still have values."""
    logits = np.array([[gap, 0.0, 1.0], [gap, 2.0, -gap], [0.0, gap, gap - 2]])
    pl = np.array([[0, 1, 1], [0, 1, 0.5], [1, 0, 1e-300]], dtype=float)
    value, gradient = partial_label_loss(criterion)(logits, pl)

    def negative(scores):
        return -sum(row_value(criterion, s, p) for s, p in zip(scores, pl, strict=True))

    assert value == pytest.approx(negative(logits), rel=1e-13)
    np.testing.assert_allclose(gradient.ravel(), slopes(negative, logits), rtol=1e-6, atol=1e-9)


def problem_of(criterion, intercept=True, alpha=0.7, sparse=False, present=None):
    X, truth = some_data(4, n=9, d=2)
    X[:, 1] += 3 * X[:, 0] + 5
    pl = some_labels("degrees", truth, 4)
    pl[0], pl[1] = [1, 1, 0, 0], 1.0
    weight = np.random.default_rng(5).random(9)
    if present is not None:
        pl[:, [k for k in range(4) if k not in present]] = 0.0
        pl[pl.sum(axis=1) == 0] = np.isin(np.arange(4), present)
    rows = ArrayRows(scipy.sparse.csr_array(X) if sparse else X, pl, weight, chunk_rows=4)
    penalty = np.append([alpha, alpha], [0.0] * intercept)
    n_learned = 4 if present is None else len(present)
    coordinates, total = make_coordinates(rows, n_learned, penalty)
    index = None if present is None else np.array(present)
    problem = PartialLikelihood(rows, criterion, index, penalty, total, 0.0, coordinates)
    learned = pl if present is None else pl[:, present]
    return problem, lambda beta: reference(criterion, beta, X, learned, weight, alpha)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize(
    ("sparse", "intercept", "present"),
    [(False, True, None), (True, False, None), (True, True, [0, 2, 3])],
)
def test_derivatives_in_beta(criterion, sparse, intercept, present):
    problem, value = problem_of(criterion, intercept, sparse=sparse, present=present)
    n_classes = 4 if present is None else 3
    beta = np.random.default_rng(2).normal(size=(n_classes, 2 + intercept))
    found, gradient = problem.fidelity(beta)
    assert found - problem.penalized(beta) == pytest.approx(value(beta), rel=1e-12)
    gradient = gradient - problem.penalty * beta
    np.testing.assert_allclose(gradient.ravel(), slopes(value, beta), atol=1e-12)
    exact = bends(value, beta) + np.diag(np.tile(problem.penalty, n_classes))
    hessian = problem.rows.reduce(hessian_pass, beta, criterion, problem.present)
    np.testing.assert_allclose(hessian.reshape(exact.shape), exact, atol=1e-7)
    way = np.random.default_rng(3).normal(size=beta.shape)
    product = problem.rows.reduce(product_pass, beta, way, criterion, problem.present)
    np.testing.assert_allclose(product.ravel(), exact @ way.ravel(), atol=1e-6)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize(("sparse", "renewed"), [(False, False), (True, False), (False, True)])
def test_derivatives_in_the_coordinates_of_the_optimizer(criterion, sparse, renewed):
    problem, value = problem_of(criterion, sparse=sparse)
    rng = np.random.default_rng(4)
    if renewed:
        problem = problem.renewed(rng.normal(size=(4, 3)))
    origin = problem.coordinates.restore(np.zeros(problem.coordinates.size))
    assert not origin.any()
    # The map to beta, entry by entry, so that the chain rule is not taken from the code.
    table = [problem.coordinates.restore(way).ravel() for way in np.eye(problem.coordinates.size)]
    table = np.array(table).T
    np.testing.assert_allclose(table.reshape(4, 3, -1).sum(axis=0), 0, atol=1e-12)
    point = rng.normal(scale=0.5, size=problem.coordinates.size)
    np.testing.assert_allclose(
        problem.coordinates.flatten((table @ point).reshape(4, 3)), point, atol=1e-10
    )

    def mean(u):
        return value((table @ u).reshape(4, 3)) / problem.weight

    found, gradient = problem.at(point)
    assert found == pytest.approx(mean(point), rel=1e-12)
    np.testing.assert_allclose(gradient, slopes(mean, point), atol=1e-11)
    exact, way = bends(mean, point), rng.normal(size=point.size)
    np.testing.assert_allclose(problem.hessian(point), exact, atol=1e-6)
    np.testing.assert_allclose(problem.hessian_product(point, way), exact @ way, atol=1e-5)


def test_hard_labels_by_one_sum_are_the_same_criterion():
    X, truth = some_data(3, n=12)
    pl = 0.5 * np.eye(3)[truth]
    beta = np.random.default_rng(1).normal(size=(3, 3))
    init = beta[:, :2], beta[:, 2]
    with pytest.warns(ConvergenceWarning):
        model = fitted(X, pl, init=init, max_iter=1)
    centered = beta - beta.mean(axis=0)
    expected = reference("minimum_commitment", centered, X, pl, alpha=1.0)
    assert model.history_[0] == pytest.approx(expected, rel=1e-12)


# What a fit stores.


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("kind", ["sets", "degrees", "missing"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_objective_is_the_criterion_less_the_penalty_of_all_classes(criterion, kind, n_classes):
    X, truth = some_data(n_classes)
    pl, weight = some_labels(kind, truth, n_classes), np.random.default_rng(0).random(len(X))
    model = fitted(X, pl, weight, criterion=criterion, alpha=0.3)
    f = model.predict_proba(X)
    terms = [row_value(criterion, np.log(f[i]), pl[i]) for i in range(len(X))]
    assert model.log_likelihood_ == pytest.approx(weight @ terms, rel=1e-11)
    shrunk = 0.3 / 2 * (every_beta(model)[:, :-1] ** 2).sum()
    if n_classes == 2:
        assert shrunk == pytest.approx(0.3 / 4 * (model.coef_**2).sum())
    assert model.objective_ == pytest.approx(weight @ terms - shrunk, rel=1e-11)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_objective_with_hard_labels_of_low_plausibility(criterion):
    X, truth = some_data(3)
    pl = 0.5 * np.eye(3)[truth]
    model = fitted(X, pl, criterion=criterion)
    f = model.predict_proba(X)
    terms = [row_value(criterion, np.log(f[i]), pl[i]) for i in range(len(X))]
    assert model.log_likelihood_ == pytest.approx(sum(terms), rel=1e-11)


# Maxima.


@pytest.mark.parametrize("kind", ["hard", "sets", "degrees", "doubt", "missing"])
@pytest.mark.parametrize(
    ("n_classes", "intercept", "penalize", "weighted", "solver"),
    [
        (2, True, False, False, "auto"),
        (2, True, True, True, "em"),
        (4, True, False, True, "lbfgs"),
        (4, True, True, False, "newton"),
        (4, False, False, False, "auto"),
        (4, True, False, False, "em"),
    ],
)
def test_minimum_commitment_reaches_the_best_of_many_starts(
    kind, n_classes, intercept, penalize, weighted, solver
):
    X, truth = some_data(n_classes, n=30)
    pl = some_labels(kind, truth, n_classes)
    weight = np.random.default_rng(3).exponential(size=30) if weighted else np.ones(30)
    options = {"fit_intercept": intercept, "penalize_intercept": penalize, "solver": solver}
    n_init = 3 if solver == "em" else 12
    model = fitted(X, pl, weight, alpha=0.5, n_init=n_init, tol=1e-8, **options)
    concave = kind in ("hard", "missing") or (n_classes == 2 and kind == "sets")
    best = best_of_many(
        *("minimum_commitment", X, pl, weight, 0.5, intercept, 2 + (intercept and penalize)),
        n_starts=1 if concave else 5,
    )
    assert model.objective_ == pytest.approx(best, abs=1e-6)
    assert model.converged_
    # The coefficients that are stored are those of that value.
    beta = every_beta(model)[:, : 2 + intercept]
    columns = 2 + (intercept and penalize)
    stored = reference("minimum_commitment", beta, X, pl, weight, 0.5, columns)
    assert stored == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize("kind", ["sets", "degrees", "missing"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_maximum_entropy_reaches_its_maximum(kind, n_classes):
    X, truth = some_data(n_classes, n=30)
    pl = some_labels(kind, truth, n_classes)
    model = fitted(X, pl, criterion="maximum_entropy", alpha=0.5)
    best = best_of_many("maximum_entropy", X, pl, np.ones(30), 0.5, True, 2, n_starts=2)
    assert model.objective_ == pytest.approx(best, abs=1e-8)


@pytest.mark.parametrize("criterion", BETS)
@pytest.mark.parametrize("kind", ["sets", "degrees", "missing"])
def test_bets_end_at_a_maximum_above_the_cautious_solution(criterion, kind):
    X, truth = some_data(3, n=25)
    pl = some_labels(kind, truth, 3)
    cautious = fitted(X, pl, alpha=0.5)
    bold = fitted(X, pl, criterion=criterion, alpha=0.5)

    def value(beta):
        return reference(criterion, beta, X, pl, alpha=0.5)

    start, end = every_beta(cautious), every_beta(bold)
    assert bold.history_[0] == pytest.approx(value(start), rel=1e-10)
    assert bold.objective_ == pytest.approx(value(end), rel=1e-10)
    assert value(end) > value(start) + 0.01
    np.testing.assert_allclose(slopes(value, end), 0, atol=1e-5)
    assert np.linalg.eigvalsh(bends(value, end)).max() < 1e-5


def test_unlabeled_rows_move_the_border_of_a_bet_to_the_gap():
    """Few labels off the gap, many unlabeled rows in two clusters."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal([-2, 0], 0.4, (60, 2)), rng.normal([2, 0], 0.4, (60, 2))])
    pl = np.ones((120, 2))
    pl[0], pl[60] = [1, 0], [0, 1]
    X[0], X[60] = [-2, -3], [0.5, 3]
    cautious, bold = fitted(X, pl), fitted(X, pl, criterion="self_consistent")
    truth = np.repeat([0, 1], 60)
    assert (bold.predict(X) == truth).mean() > (cautious.predict(X) == truth).mean()
    assert np.abs(bold.predict_proba(X) - 0.5).mean() > 0.45


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_semi_supervised_is_scikit_learn_on_the_labeled_rows(n_classes):
    X, truth = some_data(n_classes, n=80, d=3)
    y = np.where(np.arange(80) % 3 == 0, -1, truth)
    alpha = 0.4
    model = PartialLogisticRegression(alpha=alpha, tol=1e-10)
    model.fit(X, Labels.from_crisp(y, missing=-1))
    C = (2 if n_classes == 2 else 1) / alpha
    theirs = LogisticRegression(C=C, solver="newton-cg", tol=1e-12, max_iter=10000)
    theirs.fit(X[y >= 0], y[y >= 0])
    np.testing.assert_allclose(model.coef_, theirs.coef_, atol=1e-6)
    ours = model.predict_proba(X)
    np.testing.assert_allclose(ours, theirs.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("kind", ["sets", "degrees", "hard"])
def test_vacuous_rows_change_nothing(kind):
    X, truth = some_data(3)
    pl = some_labels(kind, truth, 3)
    far = np.random.default_rng(0).normal(50, 100, size=(70, 2))
    vacuous = np.repeat(np.random.default_rng(0).random((70, 1)), 3, axis=1)
    alone = fitted(X, pl)
    among = fitted(np.vstack([far[:30], X, far[30:]]), np.vstack([vacuous[:30], pl, vacuous[30:]]))
    np.testing.assert_allclose(among.coef_, alone.coef_, atol=1e-8)
    np.testing.assert_allclose(among.intercept_, alone.intercept_, atol=1e-8)
    assert among.objective_ == pytest.approx(alone.objective_ + np.log(vacuous[:, 0]).sum())


@pytest.mark.parametrize("kind", ["sets", "degrees"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_em_steps_never_lower_the_criterion(kind):
    X, truth = some_data(3)
    pl = some_labels(kind, truth, 3)
    rng = np.random.default_rng(0)
    init = rng.normal(size=(3, 2)), rng.normal(size=3)
    values = []
    for n_steps in range(1, 9):
        model = fitted(X, pl, solver="em", init=init, max_iter=n_steps)
        values.append(reference("minimum_commitment", every_beta(model), X, pl, alpha=1.0))
        assert model.history_[-1] == pytest.approx(values[-1], rel=1e-10)
    assert np.diff(values).min() >= -1e-9
    assert values[1] > values[0]


def test_em_and_gradients_agree_where_the_criterion_is_concave():
    X, truth = some_data(3, n=60)
    pl = some_labels("missing", truth, 3)
    rows, penalty = ArrayRows(X, pl, None), np.array([0.5, 0.5, 0.0])
    coordinates, total = make_coordinates(rows, 3, penalty)
    problem = PartialLikelihood(rows, "minimum_commitment", None, penalty, total, 0.0, coordinates)
    start = np.random.default_rng(0).normal(size=(3, 3))
    found = {
        name: Solver(name, 1e-9, 2000).run(problem, start).parameters
        for name in ("em", "lbfgs", "newton")
    }
    np.testing.assert_allclose(found["em"], found["newton"], atol=1e-6)
    np.testing.assert_allclose(found["lbfgs"], found["newton"], atol=1e-6)
    exact = slopes(lambda b: reference("minimum_commitment", b, X, pl, alpha=0.5), found["newton"])
    np.testing.assert_allclose(exact, 0, atol=1e-6)


def test_newton_by_conjugate_gradients_is_newton():
    """More than 500 coordinates: 130 features and 5 classes."""
    X, truth = some_data(5, n=60, d=130)
    pl = some_labels("missing", truth, 5)
    one, other = fitted(X, pl, solver="newton"), fitted(X, pl, solver="lbfgs")
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-6)
    beta = every_beta(one)
    f = one.predict_proba(X)
    left = np.where((pl == 1).all(axis=1, keepdims=True), f, pl)
    gradient = (left - f).T @ X - beta[:, :-1]
    np.testing.assert_allclose(gradient, 0, atol=1e-5)


# Invariances.


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("solver", ["auto", "lbfgs", "em"])
def test_weights_repeat_rows(criterion, solver):
    X, truth = some_data(3)
    pl = some_labels("doubt", truth, 3)
    times = np.random.default_rng(0).integers(0, 4, size=len(X))
    start = fitted(X, pl, times)
    options = {"criterion": criterion, "solver": solver, "init": (start.coef_, start.intercept_)}
    weighted = fitted(X, pl, times, **options)
    repeated = fitted(np.repeat(X, times, axis=0), np.repeat(pl, times, axis=0), **options)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-6)
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-10)
    unweighted = fitted(X, pl, **options)
    assert np.abs(unweighted.coef_ - repeated.coef_).max() > 1e-3


@pytest.mark.parametrize("criterion", CRITERIA)
def test_scales_of_plausibilities_do_not_matter(criterion):
    X, truth = some_data(3)
    pl = some_labels("doubt", truth, 3)
    scale = 10.0 ** np.random.default_rng(0).uniform(-280, 0, (len(X), 1))
    one, other = fitted(X, pl, criterion=criterion), fitted(X, pl * scale, criterion=criterion)
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-6)
    np.testing.assert_allclose(one.intercept_, other.intercept_, atol=1e-6)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_order_of_classes_and_rows_does_not_matter(criterion):
    X, truth = some_data(3, n=90, shift=1.5)
    pl = some_labels("doubt", truth, 3)
    one = fitted(X, pl, criterion=criterion)
    turn, order = [2, 0, 1], np.random.default_rng(0).permutation(90)
    turned = fitted(X, pl[:, turn], criterion=criterion)
    np.testing.assert_allclose(turned.coef_, one.coef_[turn], atol=1e-6)
    shuffled = fitted(X[order], pl[order], criterion=criterion)
    np.testing.assert_allclose(shuffled.coef_, one.coef_, atol=1e-6)
    assert np.abs(one.coef_ - one.coef_[turn]).max() > 0.1


@pytest.mark.parametrize("solver", ["newton", "lbfgs", "em"])
@pytest.mark.parametrize("criterion", ["minimum_commitment", "maximum_entropy"])
def test_affine_change_of_features_without_penalty(solver, criterion):
    X, truth = some_data(3, n=150, shift=0.6)
    pl = some_labels("sets", truth, 3)
    A, shift = np.array([[3.0, 0.2], [-40.0, 0.5]]), np.array([-7.0, 90.0])
    options = {"alpha": 0, "solver": solver, "criterion": criterion}
    one, other = fitted(X, pl, **options), fitted(X @ A + shift, pl, **options)
    assert one.objective_ == pytest.approx(other.objective_, abs=1e-8)
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X @ A + shift), atol=1e-5)
    np.testing.assert_allclose(one.coef_, other.coef_ @ A.T, atol=1e-4)


@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
@pytest.mark.parametrize(("scale", "offset"), [(1e6, 0.0), (1e-6, 0.0), (1.0, 1e6), (1e-3, 1e3)])
def test_scale_and_offset_of_features(solver, scale, offset):
    X, truth = some_data(3, n=150, shift=0.6)
    pl = some_labels("sets", truth, 3)
    one = fitted(X, pl, alpha=0.5, tol=1e-7)
    moved = scale * X + offset
    other = fitted(moved, pl, alpha=0.5 * scale**2, tol=1e-7, solver=solver)
    np.testing.assert_allclose(other.coef_ * scale, one.coef_, atol=1e-5)
    assert other.objective_ == pytest.approx(one.objective_, abs=1e-7)
    assert other.n_iter_ < 50


@pytest.mark.parametrize(("solver", "offset"), [("newton", 1e7), ("lbfgs", 1e8)])
@pytest.mark.parametrize("kind", ["hard", "sets"])
def test_features_with_many_digits_in_common(solver, offset, kind):
    X, truth = some_data(3, n=150, shift=0.6)
    pl = some_labels(kind, truth, 3)
    one, other = fitted(X, pl, tol=1e-7), fitted(X + offset, pl, tol=1e-7, solver=solver)
    np.testing.assert_allclose(other.coef_, one.coef_, atol=1e-5)
    assert other.objective_ == pytest.approx(one.objective_, abs=1e-5)
    assert other.n_iter_ < 50


@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
@pytest.mark.parametrize("offset", [10.0, 1e3, 1e6])
def test_penalized_intercept_is_the_slope_of_a_column_of_ones(solver, offset):
    X, truth = some_data(3, n=100)
    X, pl = X + offset, np.eye(3)[truth]
    one = fitted(X, pl, penalize_intercept=True, solver=solver, tol=1e-7)
    ones = np.column_stack([X, np.ones(100)])
    other = fitted(ones, pl, fit_intercept=False, tol=1e-7)
    assert one.objective_ == pytest.approx(other.objective_, abs=1e-6)


# Where the rows are.


@pytest.mark.parametrize(
    ("criterion", "solver"),
    [
        *((criterion, solver) for criterion in CRITERIA for solver in ("newton", "lbfgs")),
        ("minimum_commitment", "em"),
    ],
)
def test_sparse_is_dense(criterion, solver):
    X, truth = some_data(3, n=60, d=4)
    X[np.random.default_rng(0).random(X.shape) < 0.5] = 0.0
    pl, weight = some_labels("sets", truth, 3), np.random.default_rng(1).random(60)
    options = {"criterion": criterion, "solver": solver, "n_init": 1, "penalize_intercept": True}
    dense = fitted(X, pl, weight, **options)
    for kind in (scipy.sparse.csr_array, scipy.sparse.coo_matrix):
        sparse = fitted(kind(X), pl, weight, **options)
        np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-6)
        np.testing.assert_allclose(sparse.intercept_, dense.intercept_, atol=1e-6)
        np.testing.assert_allclose(sparse.predict_proba(kind(X)), dense.predict_proba(X), atol=1e-6)


def test_more_features_than_are_decorrelated():
    rng = np.random.default_rng(0)
    X = scipy.sparse.random_array((200, 1100), density=0.02, rng=rng, format="csr")
    y = (X @ rng.normal(size=1100) > 0).astype(int) + (X @ rng.normal(size=1100) > 0)
    model = PartialLogisticRegression(alpha=0.5).fit(X, y)
    theirs = LogisticRegression(C=2, tol=1e-8, max_iter=1000).fit(X, y)
    np.testing.assert_allclose(model.coef_, theirs.coef_, atol=1e-4)


@pytest.mark.parametrize("criterion", ["minimum_commitment", "maximum_entropy", BETS[1]])
@pytest.mark.parametrize("where", ["stream", "dask"])
def test_streams_and_clusters_are_memory(criterion, where):
    X, truth = some_data(3, n=200)
    pl, weight = some_labels("doubt", truth, 3), np.random.default_rng(1).random(200)
    pl[:50] = 1.0  # the first chunk says nothing
    weight[50:90] = 0.0
    options = {"criterion": criterion, "penalize_intercept": True, "n_init": 2}
    memory = fitted(X, pl, weight, **options)
    parts = [slice(start, start + 40) for start in range(0, 200, 40)]
    if where == "stream":
        rows = StreamRows([(X[part], pl[part], weight[part]) for part in parts])
    else:
        rows = DaskRows(
            dask.array.from_array(X, chunks=(40, 2)),
            dask.array.from_array(pl, chunks=(40, 3)),
            dask.array.from_array(weight, chunks=40),
        )
    there = PartialLogisticRegression(random_state=0, tol=1e-9, **options).fit(rows)
    np.testing.assert_allclose(there.coef_, memory.coef_, atol=1e-6)
    np.testing.assert_allclose(there.intercept_, memory.intercept_, atol=1e-6)
    assert there.objective_ == pytest.approx(memory.objective_, rel=1e-9)


def test_sparse_streams_are_memory():
    X, truth = some_data(3, n=60, d=4)
    pl = some_labels("doubt", truth, 3)
    parts = [slice(0, 25), slice(25, 60)]
    rows = StreamRows([(scipy.sparse.csr_array(X[part]), pl[part]) for part in parts])
    there = PartialLogisticRegression(random_state=0, tol=1e-9).fit(rows)
    np.testing.assert_allclose(there.coef_, fitted(X, pl).coef_, atol=1e-6)


def test_rows_in_many_chunks_and_a_race_on_few():
    """More rows than the race has and than a chunk holds."""
    X, truth = some_data(3, n=9000, d=30, shift=0.3)
    pl = some_labels("doubt", truth, 3)
    assert ArrayRows(X, pl, None).chunk_rows < 9000
    model = fitted(X, pl, tol=1e-7)
    f = model.predict_proba(X)
    left = pl * f / (pl * f).sum(axis=1, keepdims=True)
    gradient = np.column_stack([(left - f).T @ X - model.coef_, (left - f).sum(axis=0)])
    np.testing.assert_allclose(gradient / 9000, 0, atol=1e-6)
    assert model.log_likelihood_ == pytest.approx(np.log((pl * f).sum(axis=1)).sum(), rel=1e-10)


def test_a_race_on_few_rows_is_about_the_same_criterion():
    """Where all rows are alike, few of them have the mean that all have, penalty and all."""
    X, pl = np.tile([[0.5, -2.0]], (5000, 1)), np.tile([[1.0, 0.4, 0.0]], (5000, 1))
    rows, penalty = ArrayRows(X, pl, np.full(5000, 0.3)), np.array([40.0, 40.0, 7.0])
    coordinates, total = make_coordinates(rows, 3, penalty)
    problem = PartialLikelihood(rows, "minimum_commitment", None, penalty, total, -99, coordinates)
    few = race_course(problem, np.random.RandomState(0))
    assert few.rows.n_rows < 5000
    point = np.random.default_rng(0).normal(size=coordinates.size)
    beta = coordinates.restore(point)
    value = 1500 * row_value("minimum_commitment", beta @ [0.5, -2.0, 1.0], pl[0])
    value -= 99 + (penalty * beta**2).sum() / 2
    assert few.at(point)[0] == pytest.approx(value / 1500, rel=1e-10)
    np.testing.assert_allclose(few.at(point)[1], problem.at(point)[1], atol=1e-10)


@pytest.mark.parametrize("solver", ["auto", "lbfgs", "em"])
def test_single_precision(solver):
    X, truth = some_data(3, n=100)
    X32, pl = X.astype(np.float32), some_labels("doubt", truth, 3)
    model = fitted(X32, pl, solver=solver)
    double = fitted(X32.astype(np.float64), pl, solver=solver)
    assert model.coef_.dtype == model.intercept_.dtype == np.float32
    np.testing.assert_allclose(model.coef_, double.coef_, rtol=1e-6, atol=1e-6)
    # Sums are in double precision all the same.
    assert model.objective_ == pytest.approx(double.objective_, rel=1e-10)
    assert model.predict_proba(X32).dtype == np.float32


# Odd data.


@pytest.mark.parametrize("criterion", CRITERIA)
def test_classes_that_are_never_plausible_are_as_if_not_there(criterion):
    X, truth = some_data(3)
    pl = some_labels("doubt", truth, 3)
    without = fitted(X, pl, criterion=criterion)
    with pytest.warns(EmptyClassWarning, match=r"\[1\] never are"):
        model = fitted(X, np.insert(pl, 1, 0.0, axis=1), criterion=criterion)
    f = model.predict_proba(X)
    assert (f[:, 1] == 0).all()
    np.testing.assert_allclose(np.delete(f, 1, axis=1), without.predict_proba(X), atol=1e-7)
    assert model.objective_ == pytest.approx(without.objective_, rel=1e-9)
    assert not model.coef_[1].any()


def test_a_class_of_vacuous_rows_alone_counts_in_maximum_entropy_only():
    X, truth = some_data(2)
    pl = np.column_stack([np.eye(2)[truth], np.zeros(len(X))])
    pl[:10] = 1.0
    with pytest.warns(EmptyClassWarning):
        cautious = fitted(X, pl)
    assert (cautious.predict_proba(X)[:, 2] == 0).all()
    spread = fitted(X, pl, criterion="maximum_entropy", alpha=1e-3)
    # With an intercept free of penalty the mean of f is that of the targets.
    assert spread.predict_proba(X)[:, 2].mean() == pytest.approx(10 / 3 / len(X), abs=1e-6)


def test_two_classes_of_which_one_never_is_plausible():
    X, _ = some_data(2)
    with pytest.warns(EmptyClassWarning):
        model = fitted(X, np.tile([0.0, 1.0], (len(X), 1)))
    np.testing.assert_array_equal(model.predict_proba(X), np.tile([0.0, 1.0], (len(X), 1)))
    assert model.objective_ == 0


@pytest.mark.parametrize("criterion", CRITERIA)
def test_one_class(criterion):
    X, _ = some_data(2)
    model = PartialLogisticRegression(criterion).fit(X, np.full(len(X), "only"))
    assert (model.predict(X) == "only").all()
    np.testing.assert_array_equal(model.predict_proba(X), 1.0)
    assert model.objective_ == 0
    assert model.converged_


@pytest.mark.parametrize("kind", ["hard", "sets", "doubt"])
def test_more_features_than_rows(kind):
    X, truth = some_data(3, n=8, d=20)
    pl = some_labels(kind, truth, 3)
    model = fitted(X, pl, alpha=0.1)
    # Slopes of the best solution lie in the span of the rows.
    f = model.predict_proba(X)
    left = pl * f / (pl * f).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.coef_, (left - f).T @ X / 0.1, atol=1e-5)


@pytest.mark.parametrize("kind", ["hard", "sets"])
@pytest.mark.parametrize("alpha", [0.0, 0.5])
@pytest.mark.parametrize("value", [0.1, 1e6])
def test_a_constant_column_adds_nothing(kind, alpha, value):
    X, truth = some_data(3, n=150, shift=0.6)
    pl = some_labels(kind, truth, 3)
    one = fitted(X, pl, alpha=alpha, tol=1e-7)
    wide = np.insert(X, 1, value, axis=1)
    other = fitted(wide, pl, alpha=alpha, tol=1e-7)
    assert other.objective_ == pytest.approx(one.objective_, abs=1e-6)
    np.testing.assert_allclose(other.predict_proba(wide), one.predict_proba(X), atol=1e-5)
    np.testing.assert_allclose(other.coef_[:, [0, 2]], one.coef_, atol=1e-4)
    if alpha:
        np.testing.assert_allclose(other.coef_[:, 1], 0, atol=1e-6)


@pytest.mark.parametrize("kind", ["hard", "sets"])
@pytest.mark.parametrize("alpha", [0.0, 1e-6])
def test_a_column_given_twice_shares_its_slope(kind, alpha):
    X, truth = some_data(3, n=150, shift=0.6)
    pl = some_labels(kind, truth, 3)
    one = fitted(X, pl, alpha=alpha, tol=1e-7)
    other = fitted(np.column_stack([X, X[:, 0]]), pl, alpha=alpha, tol=1e-7)
    assert other.objective_ == pytest.approx(one.objective_, abs=1e-5)
    np.testing.assert_allclose(other.coef_[:, 0] + other.coef_[:, 2], one.coef_[:, 0], atol=1e-4)
    # Without a penalty any split is as good, but not one of slopes that are large for nothing.
    assert np.abs(other.coef_).max() < 100


def test_a_start_at_which_labels_are_all_but_excluded():
    X, truth = some_data(3)
    pl = some_labels("sets", truth, 3)
    init = 1000.0 * np.random.default_rng(0).normal(size=(3, 2)), np.zeros(3)
    for solver in ("newton", "lbfgs", "em"):
        model = fitted(X, pl, init=init, solver=solver, tol=1e-7)
        start = init[0] - init[0].mean(axis=0)
        beta = np.column_stack([start, np.zeros(3)])
        expected = reference("minimum_commitment", beta, X, pl, alpha=1.0)
        if solver != "em":
            assert model.history_[0] == pytest.approx(expected, rel=1e-10)
        best = fitted(X, pl, n_init=10).objective_
        assert model.objective_ > best - 2.0
        assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize("alpha", [1e-12, 1e12])
def test_very_small_and_very_large_penalties(alpha):
    X, truth = some_data(3, n=150, shift=0.6)
    pl = some_labels("sets", truth, 3)
    model = fitted(X, pl, alpha=alpha, tol=1e-8)
    if alpha < 1:
        free = fitted(X, pl, alpha=0, tol=1e-8)
        np.testing.assert_allclose(model.coef_, free.coef_, atol=1e-5)
    else:
        level = fitted(np.zeros((150, 1)), pl, tol=1e-8)
        assert model.objective_ == pytest.approx(level.objective_, abs=1e-6)
        np.testing.assert_allclose(
            model.predict_proba(X), level.predict_proba(np.zeros((150, 1))), atol=1e-5
        )


# Starts.


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_fit_that_starts_from_the_last_one_is_there_already(criterion, n_classes):
    X, truth = some_data(n_classes)
    pl = Labels.from_plausibility(some_labels("doubt", truth, n_classes))
    model = PartialLogisticRegression(criterion, warm_start=True, random_state=0).fit(X, pl)
    coef, objective = model.coef_.copy(), model.objective_
    model.fit(X, pl)
    assert model.n_iter_ == 0
    assert model.history_[0] == pytest.approx(objective, rel=1e-10)
    np.testing.assert_allclose(model.coef_, coef, atol=1e-12)
    given = PartialLogisticRegression(criterion, init=(model.coef_, model.intercept_)).fit(X, pl)
    assert given.n_iter_ == 0
    np.testing.assert_allclose(given.coef_, coef, atol=1e-12)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_history_begins_at_init(fit_intercept, n_classes):
    X, truth = some_data(n_classes)
    pl = some_labels("doubt", truth, n_classes)
    rng = np.random.default_rng(0)
    n_vectors = 1 if n_classes == 2 else n_classes
    init = rng.normal(size=(n_vectors, 2)), rng.normal(size=n_vectors) * fit_intercept
    model = fitted(X, pl, init=init, fit_intercept=fit_intercept)
    beta = np.column_stack(init)
    beta = np.vstack([-beta, beta]) / 2 if n_classes == 2 else beta - beta.mean(axis=0)
    expected = reference("minimum_commitment", beta, X, pl, alpha=1.0)
    assert model.history_[0] == pytest.approx(expected, rel=1e-12)
    assert model.n_iter_ > 0


def test_random_starts_leave_a_saddle():
    """Two classes always come together: zero is a saddle, where each keeps half."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(60, 1)), rng.normal(size=(60, 1)) * 0.2])
    X[:60] = np.where(X[:60] > 0, 4, -4) + 0.3 * X[:60]
    sets = Labels.from_sets([{0, 1}] * 60 + [{2}] * 60)
    zero = np.zeros((3, 1)), np.zeros(3)
    at_zero = PartialLogisticRegression(init=zero, alpha=0.1, solver="lbfgs")
    free = PartialLogisticRegression(alpha=0.1, random_state=0).fit(X, sets)
    assert free.objective_ > at_zero.fit(X, sets).objective_ + 5
    # Class 2 in the middle, the two others at the ends, in whatever order.
    ends = free.predict(np.array([[-4.0], [0.0], [4.0]]))
    assert ends[1] == 2
    assert {ends[0], ends[2]} == {0, 1}


# Interruption, threads and words.


def interrupt(monkeypatch, method, at_call):
    """Let Ctrl-C come at a call of a method of the problem; the calls are counted."""
    real, calls = getattr(PartialLikelihood, method), []

    def call(self, *args):
        calls.append(self.name)
        if len(calls) == at_call:
            raise KeyboardInterrupt
        return real(self, *args)

    monkeypatch.setattr(PartialLikelihood, method, call)
    return calls


@pytest.mark.parametrize(
    ("options", "at_call"),
    [
        ({"n_init": 1, "solver": "lbfgs"}, 5),
        ({"n_init": 5}, 3),  # in the race of starts
        ({"n_init": 1, "solver": "em"}, 4),  # in an M step
        ({"n_init": 1, "criterion": "self_consistent"}, 3),  # on the way to the first solution
    ],
)
def test_an_interrupted_fit_ends(monkeypatch, options, at_call):
    X, truth = some_data(3, n=100)
    pl = some_labels("sets", truth, 3)
    calls = interrupt(monkeypatch, "at", at_call)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with contextlib.suppress(KeyboardInterrupt):
            model = fitted(X, pl, **options)
            assert not model.converged_
            assert any("interrupted" in str(warning.message) for warning in caught)
    # What is left is tidying up: a call or two, not the whole fit.
    assert len(calls) <= at_call + 2


@pytest.mark.parametrize("criterion", ["self_consistent", "minimum_entropy"])
def test_a_fit_interrupted_on_the_way_to_its_first_solution_reports_its_own_criterion(
    monkeypatch, criterion
):
    """And not that of minimum commitment, from whose solution it would have begun."""
    X, truth = some_data(3, n=100)
    labels = Labels.from_plausibility(some_labels("sets", truth, 3))
    model = PartialLogisticRegression(
        criterion, n_init=1, random_state=0, solver="lbfgs", warm_start=True
    )
    with monkeypatch.context() as patch:
        interrupt(patch, "at", 12)
        with pytest.warns(ConvergenceWarning, match="interrupted"):
            model.fit(X, labels)
    reported = model.objective_
    assert len(model.history_) == model.n_iter_ + 1
    assert model.fit(X, labels).history_[0] == pytest.approx(reported, rel=1e-9)
    assert model.objective_ > reported


def test_a_fit_that_is_interrupted_while_coordinates_change_goes_on_from_there(monkeypatch):
    X, truth = some_data(3, n=400, d=6)
    model = PartialLogisticRegression(
        solver="lbfgs", n_init=1, random_state=0, alpha=1e-3, tol=0, max_iter=40
    )
    real, pl = PartialLikelihood.renewed, some_labels("doubt", truth, 3)

    def renewed(self, beta):
        interrupt(patch, "at", 1)
        return real(self, beta)

    with monkeypatch.context() as patch:
        patch.setattr(PartialLikelihood, "renewed", renewed)
        with pytest.warns(ConvergenceWarning, match="interrupted"):
            model.fit(X, pl)
    so_far, model.warm_start = model.objective_, True
    with pytest.warns(ConvergenceWarning, match="max_iter=40"):
        model.fit(X, pl)
    assert model.history_[0] == pytest.approx(so_far, rel=1e-9)


def blas_threads():
    with one_blas_thread() as n_threads:
        return n_threads


@threadpool_limits.wrap(limits=2, user_api="blas")
def test_blas_has_its_threads_again_after_an_error_in_a_climb():
    before = blas_threads()
    assert before == 2

    def criterion(x):
        with one_blas_thread() as lent, one_blas_thread() as nested:
            assert (lent, nested) == (before, 1)
        if x.any():
            raise RuntimeError("lost")
        return -1.0, np.ones_like(x)

    with pytest.raises(RuntimeError, match="lost"):
        climb(criterion, np.zeros(3))
    assert blas_threads() == before


@threadpool_limits.wrap(limits=2, user_api="blas")
def test_fits_in_threads_leave_warnings_and_blas_alone():
    X, truth = some_data(3, n=300, d=5)
    pl = some_labels("sets", truth, 3)
    alone = fitted(X, pl, solver="lbfgs")
    before, found = blas_threads(), []
    with warnings.catch_warnings():
        filters = list(warnings.filters)

        def work():
            found.extend(fitted(X, pl, solver="lbfgs").coef_ for _ in range(5))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        left = list(warnings.filters)
    assert len(found) == 20
    for coef in found:
        np.testing.assert_allclose(coef, alone.coef_, atol=1e-9)
    assert blas_threads() == before
    assert left == filters


@pytest.mark.parametrize("options", [{}, {"solver": "em"}, {"n_init": 1}, {"criterion": BETS[0]}])
def test_verbose_fits_print(options):
    X, truth = some_data(3)
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        fitted(X, some_labels("sets", truth, 3), verbose=1, **options)
    assert "PartialLogisticRegression: iteration" in said.getvalue()


@pytest.mark.parametrize("kind", ["sets", "hard"])
def test_max_iter_is_kept_and_told(kind):
    X, truth = some_data(3)
    for solver in ("newton", "lbfgs"):
        with pytest.warns(ConvergenceWarning, match="max_iter=1 "):
            model = fitted(X, some_labels(kind, truth, 3), solver=solver, max_iter=1)
        assert (model.n_iter_, model.converged_, len(model.history_)) == (1, False, 2)


def test_weights_whose_sum_overflows_are_not_called_features():
    X, truth = some_data(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        with pytest.raises(ValueError, match="weight"):
            fitted(X, np.eye(3)[truth], np.full(len(X), 1e308))
