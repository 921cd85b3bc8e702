"""Climbing by gradients: maxima that are known, ends that are honest, coordinates that change."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_info, threadpool_limits

from plausible.engine.gradient import climb, steadied
from plausible.engine.threads import one_blas_thread

RNG = np.random.default_rng(0)
ROOT = RNG.normal(size=(6, 6))
CURVES = ROOT @ ROOT.T + 0.1 * np.eye(6)
PEAK = RNG.normal(size=6)


def hill(x):
    """A concave quadratic with its maximum, 2, at PEAK."""
    gap = x - PEAK
    return 2.0 - 0.5 * float(gap @ CURVES @ gap), -CURVES @ gap


def banana(x):
    """Rosenbrock's valley turned over: one maximum, 0, at ones, along a bent ridge."""
    a, b = x
    value = -((1 - a) ** 2) - 100 * (b - a**2) ** 2
    return value, np.array([2 * (1 - a) + 400 * a * (b - a**2), -200 * (b - a**2)])


def banana_hessian(x):
    a, b = x
    return -np.array([[2 - 400 * (b - 3 * a**2), -400 * a], [-400 * a, 200.0]])


def valley(x):
    """The same for many coordinates, two by two, each pair less bent than the one before."""
    parts = [banana(pair) for pair in x.reshape(-1, 2)]
    weight = np.arange(1, len(parts) + 1)
    slopes = np.array([part[1] for part in parts]) * weight[:, None]
    return float(sum(weight * [part[0] for part in parts])), slopes.ravel()


METHODS = {
    "lbfgs": {},
    "newton": {"hessian": banana_hessian},
    "conjugate gradients": {"hessian_product": lambda x, way: banana_hessian(x) @ way},
}


@pytest.mark.parametrize("method", METHODS)
def test_the_top_of_a_bent_ridge_is_found(method):
    result = climb(banana, np.array([-1.2, 1.0]), tol=1e-9, **METHODS[method])
    np.testing.assert_allclose(result.parameters, 1.0, atol=1e-6)
    assert result.converged
    assert (np.diff(result.history) >= 0).all()
    assert len(result.history) == result.n_iter + 1
    assert result.criterion == pytest.approx(0.0, abs=1e-12)


def test_a_saddle_is_left_by_second_derivatives():
    def saddle(x):
        return float(x[0] ** 2 - x[0] ** 4 - x[1] ** 2), np.array(
            [2 * x[0] - 4 * x[0] ** 3, -2 * x[1]]
        )

    def hessian(x):
        return np.diag([2 - 12 * x[0] ** 2, -2.0])

    # The gradient alone leads down the valley to zero, which is no maximum.
    result = climb(saddle, np.array([1e-6, 1.0]), hessian=hessian)
    assert abs(result.parameters[0]) == pytest.approx(np.sqrt(0.5), abs=1e-6)


def test_renewed_coordinates_lead_to_the_same_top_in_fewer_iterations():
    scale = np.logspace(-2, 2, 30)
    peak = np.linspace(-1, 1, 30)

    def stretched(x):
        return -float((scale * (x - peak) ** 2).sum()), -2 * scale * (x - peak)

    calls = []

    def renew(x):
        calls.append(x)
        root = np.sqrt(scale)
        value_and_slope = lambda u: (lambda v, g: (v, g / root))(*stretched(u / root))  # noqa: E731
        return value_and_slope, x * root, lambda u: u / root

    plain = climb(stretched, np.zeros(30), tol=1e-8, max_iter=2000)
    renewed = climb(stretched, np.zeros(30), tol=1e-8, max_iter=2000, renew=renew)
    assert calls
    np.testing.assert_allclose(renewed.parameters, peak, atol=1e-6)
    assert renewed.n_iter < plain.n_iter / 2


@pytest.mark.parametrize("n_left", range(4))
def test_a_climb_that_is_stopped_while_coordinates_change_keeps_its_best_point(n_left):
    """The criterion at the parameters is the one of the history, whichever coordinates they had."""
    scale, renewed, n_calls = np.logspace(0, 3, 40), [], []

    def height(x):
        z = scale * (x - 1)
        return -float(np.log1p(z * z).sum()), -2 * scale * z / (1 + z * z)

    def criterion(x):
        n_calls.extend(renewed)
        if len(n_calls) > n_left:
            raise KeyboardInterrupt
        return height(x)

    def renew(x):
        renewed.append(1)
        bent = lambda u: (lambda v, g: (v, g * 7))(*criterion(7 * u))  # noqa: E731
        return bent, x / 7, lambda u: 7 * u

    with pytest.warns(ConvergenceWarning, match="interrupted"):
        result = climb(criterion, np.zeros(40), renew=renew)
    assert height(result.parameters)[0] == pytest.approx(result.criterion, rel=1e-12)


def test_coordinates_in_which_the_criterion_has_no_value_are_not_taken():
    def renew(x):
        return lambda u: (np.nan, u), 3 * x, lambda u: u / 3

    calls = {"renew": renew, "max_iter": 60}
    with pytest.warns(ConvergenceWarning, match="max_iter=60"):
        result = climb(valley, np.full(20, -1.0), tol=0, **calls)
    assert valley(result.parameters)[0] == pytest.approx(result.criterion, rel=1e-12)
    assert result.criterion > result.history[20]


def test_a_climb_that_is_cut_short_says_so_and_keeps_the_best():
    with pytest.warns(ConvergenceWarning, match="max_iter=3 iterations, but is"):
        result = climb(banana, np.array([-1.2, 1.0]), max_iter=3)
    assert not result.converged
    assert result.n_iter == 3
    assert result.criterion == pytest.approx(banana(result.parameters)[0])
    assert result.criterion > banana(np.array([-1.2, 1.0]))[0]


def test_a_start_at_the_top_takes_no_step():
    result = climb(hill, PEAK)
    assert result.converged
    assert result.n_iter == 0
    assert result.criterion == pytest.approx(2.0)


def test_a_callback_sees_each_iteration_and_may_stop():
    seen = []

    def stop_at_four(progress):
        seen.append(progress.criterion)
        return progress.iteration == 4

    result = climb(banana, np.array([-1.2, 1.0]), callback=stop_at_four)
    assert result.n_iter == 4
    assert not result.converged
    assert seen == result.history[1:].tolist()


def test_an_interrupted_climb_keeps_the_best_so_far():
    calls = 0

    def impatient(x):
        nonlocal calls
        calls += 1
        if calls > 5:
            raise KeyboardInterrupt
        return banana(x)

    with pytest.warns(ConvergenceWarning, match="interrupted"):
        result = climb(impatient, np.array([-1.2, 1.0]))
    assert result.interrupted
    assert result.criterion > banana(np.array([-1.2, 1.0]))[0]


def test_a_start_without_a_value_is_refused():
    with pytest.raises(ValueError, match="finite at the start, but it is nan"):
        climb(lambda x: (np.nan, x), np.zeros(2))


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_blas_gets_its_threads_back_also_after_an_error():
    def fail(x):
        assert set(blas_threads()) == {1}
        raise RuntimeError("no")

    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with pytest.raises(RuntimeError):
            climb(fail, np.zeros(2))
        assert blas_threads() == before


def test_threads_are_lent_to_the_next_caller_only():
    with threadpool_limits(2, user_api="blas"), one_blas_thread(lend=True) as mine:
        assert mine == 2
        for _ in range(2):
            with one_blas_thread() as lent, one_blas_thread() as left:
                assert (lent, left) == (2, 1)
        with one_blas_thread(lend=True) as lent, one_blas_thread() as passed_on:
            assert (lent, passed_on) == (2, 2)
    with one_blas_thread() as mine, one_blas_thread() as left:
        assert left == 1


def test_last_digits_of_sums_do_not_change_a_steady_climb():
    def valley(x):
        value, gradient = banana(x)
        return value / 100, gradient / 100

    def shaken(x):  # as sums of the same rows in other chunks are
        value, gradient = valley(x)
        return value * (1 + 2e-16), gradient * (1 + 2e-16 * RNG.choice([-1, 1], size=2))

    start = np.array([-1.2, 1.0])
    first, second = (climb(one, start, tol=1e-5, steady=True) for one in (valley, shaken))
    assert (first.parameters == second.parameters).all()
    assert (first.history == second.history).all()
    assert first.converged


def test_a_steady_climb_ends_where_its_tolerance_says():
    found = climb(banana, np.array([-1.2, 1.0]), tol=1e-6, steady=True)  # gains far below a grain
    assert np.linalg.norm(banana(found.parameters)[1]) <= 1e-6
    np.testing.assert_allclose(found.parameters, 1.0, atol=1e-6)


def test_a_climb_without_a_tolerance_keeps_all_digits():
    value, gradient = steadied(banana, 0.0)(np.array([0.1, 0.3]))
    assert (value, *gradient) == (banana([0.1, 0.3])[0], *banana([0.1, 0.3])[1])


@pytest.mark.parametrize("at_call", range(2, 40))
def test_a_climb_that_is_stopped_in_the_midst_of_an_iteration_reports_its_best_point(at_call):
    """Line searches find better points before an iteration ends; the history knows of them."""
    n_calls = []

    def criterion(x):
        n_calls.append(x)
        if len(n_calls) == at_call + 1:
            raise KeyboardInterrupt
        return valley(x)

    with pytest.warns(ConvergenceWarning, match="interrupted"):
        result = climb(criterion, np.full(6, -1.0))
    assert valley(result.parameters)[0] == pytest.approx(result.criterion, rel=1e-12)
    assert len(result.history) == result.n_iter + 1
