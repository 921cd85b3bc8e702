"""Predictive masses of one calibrated score: against brute force, and by their laws."""

from contextlib import nullcontext

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit, logit
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from plausible.engine import in_order
from plausible.models.calibration import profile_compiled
from plausible.models.calibration.predictive import calibrate

POINTS = np.array([-30.0, -2.0, 0.3, 0.9, 4.0])


def draw(n, seed=0, apart=1.5):
    """Scores, hard contours and weights."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.normal(y * apart, 1.0), np.eye(2)[y], np.ones(n)


def doubted(truth, doubt):
    return np.where(truth == 1.0, 1.0, np.broadcast_to(doubt, (len(truth),))[:, None])


def reference_likelihood(a, b, score, known, weight, smoothing):
    """The criterion written out, row by row."""
    total = 0.0
    best = known.argmax(axis=1)
    favor = 1.0 - known.min(axis=1)
    for s, (first, second), w, k, f in zip(score, known, weight, best, favor, strict=True):
        t = a + b * s
        part = f / ((weight * favor)[best == k].sum() + 2.0) if smoothing else 0.0
        said = np.log(max(first * expit(-t) + second * expit(t), 1e-300))
        other = -np.logaddexp(0.0, t if k == 1 else -t)
        total += w * ((1.0 - part) * said + part * other)
    return total


def reference_masses(point, score, known, weight, smoothing=True):
    """Predictive masses by general optimizers and adaptive quadrature."""

    def fall(theta):
        return -reference_likelihood(*theta, score, known, weight, smoothing)

    found = minimize(fall, [0.0, 0.5], method="BFGS", options={"gtol": 1e-8})
    best = expit(found.x[0] + found.x[1] * point)

    def relative(probability):
        level = logit(probability)
        profile = minimize_scalar(
            lambda b: fall([level - b * point, b]), bracket=(found.x[1] - 1, found.x[1] + 1)
        )
        return np.exp(found.fun - profile.fun)

    below = quad(relative, 0.0, best, epsabs=1e-6)[0]
    above = quad(relative, best, 1.0, epsabs=1e-6)[0]
    return np.array([1.0 - best - above, best - below, above + below])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # scipy's bracketing far from the maximum
@pytest.mark.parametrize("kind", ["hard", "weighted", "not smoothed", "doubtful"])
def test_masses_are_those_of_brute_force(kind):
    score, known, weight = draw(9, seed=4, apart=0.8)
    if kind == "weighted":
        weight = np.linspace(0.3, 2.0, len(weight))
    if kind == "doubtful":
        known = doubted(known, np.linspace(0.0, 0.15, len(known)))
    smoothing = kind != "not smoothed"
    calibration = calibrate(score, known, weight, smoothing)
    points = np.array([-1.5, 0.6])
    expected = [reference_masses(s, score, known, weight, smoothing) for s in points]
    np.testing.assert_allclose(calibration.masses(points), expected, atol=2e-5)


def test_without_scores_the_integral_has_a_closed_form():
    # All scores equal: pl(tau) is a binomial likelihood relative to its maximum.
    known = np.eye(2)[[0, 0, 1, 1, 1, 1]]
    calibration = calibrate(np.full(6, 7.0), known, np.ones(6), smoothing=False)
    best = 4 / 6
    height = best**4 * (1 - best) ** 2
    below = (best**5 / 5 - 2 * best**6 / 6 + best**7 / 7) / height
    above = (1 / 5 - 2 / 6 + 1 / 7) / height - below
    expected = [1 - best - above, best - below, above + below]
    np.testing.assert_allclose(calibration.masses(np.array([7.0]))[0], expected, atol=1e-8)
    np.testing.assert_array_equal(calibration.masses(np.array([8.0]))[0], [0.0, 0.0, 1.0])


def test_the_most_likely_probability_is_platts():
    score, known, weight = draw(200)
    calibration = calibrate(score, known, weight)
    columns = score[:, None], known.argmax(axis=1)
    peer = CalibratedClassifierCV(FrozenEstimator(Identity().fit(*columns)))
    peer.fit(*columns)
    np.testing.assert_allclose(
        calibration.probability(POINTS), peer.predict_proba(POINTS[:, None])[:, 1], atol=1e-5
    )


class Identity(LogisticRegression):
    """A classifier whose decision function is the feature itself."""

    def decision_function(self, X):
        return np.asarray(X)[:, 0]


def test_belief_and_plausibility_bracket_platts_probability():
    for apart in (0.0, 1.5, 8.0):
        calibration = calibrate(*draw(30, apart=apart))
        masses, tau = calibration.masses(POINTS), calibration.probability(POINTS)
        assert (masses >= 0.0).all()
        assert (masses[:, 1] <= tau + 1e-6).all()
        assert (masses[:, 1] + masses[:, 2] >= tau - 1e-6).all()


def test_more_data_leave_less_mass_on_both_until_platts_probability_is_left():
    score, known, weight = draw(20)
    both = []
    for times in (0.25, 1, 4, 16, 64, 1e6):
        calibration = calibrate(score, known, times * weight, smoothing=False)
        masses = calibration.masses(POINTS)
        both.append(masses[:, 2])
    assert (np.diff(both, axis=0) <= 1e-6).all()
    assert (both[0] > 5 * both[3]).all()
    np.testing.assert_allclose(masses[:, 1], calibration.probability(POINTS), atol=1e-3)


def test_the_width_shrinks_as_one_over_the_root_of_the_number_of_items():
    # For many items pl is normal: its integral is tau' sd sqrt(2 pi).
    score, known, weight = draw(50_000)
    calibration = calibrate(score, known, weight)
    t = calibration.intercept + calibration.slope * score
    design = np.column_stack([np.ones(len(score)), score])
    information = design.T @ (design * (expit(t) * expit(-t))[:, None])
    at = np.array([1.0, 0.9])
    deviation = np.sqrt(at @ np.linalg.inv(information) @ at)
    tau = calibration.probability(np.array([0.9]))[0]
    expected = tau * (1 - tau) * deviation * np.sqrt(2 * np.pi)
    np.testing.assert_allclose(calibration.masses(np.array([0.9]))[0, 2], expected, rtol=1e-3)


def test_far_away_scores_are_as_plausible_on_the_wrong_side_as_no_slope_at_all():
    score, known, weight = draw(12, apart=0.7)
    calibration = calibrate(score, known, weight, smoothing=False)
    best = reference_likelihood(
        calibration.intercept, calibration.slope, score, known, weight, smoothing=False
    )
    flat = np.exp(12 * np.log(0.5) - best)
    masses = calibration.masses(np.array([-1e7, 1e7, 1e300]))
    expected = [[1 - flat, 0, flat], [0, 1 - flat, flat], [0, 1 - flat, flat]]
    np.testing.assert_allclose(masses, expected, atol=2e-5)
    turned = calibrate(-score, known, weight, smoothing=False).masses(np.array([1e7, -1e7]))
    np.testing.assert_allclose(turned, expected[:2], atol=2e-5)


def test_a_contour_with_two_peaks_counts_by_the_intervals_that_its_cuts_span():
    rng = np.random.default_rng(4)
    score, second = rng.normal(size=6).round(2), rng.integers(2, size=6)
    known = doubted(np.eye(2)[second], rng.uniform(0.02, 0.3, 6).round(2))
    level, slope = np.linspace(-25, 25, 1001)[:, None], np.linspace(-40, 40, 1201)
    likelihood = np.zeros((1001, 1201))
    for s, (first, other) in zip(score, known, strict=True):
        p = expit(level + slope * (s - 1.0))
        likelihood += np.log(first * (1 - p) + other * p)
    profile = likelihood.max(axis=1)
    peak = profile.argmax()
    spanned = np.exp(profile - profile[peak])
    assert (np.diff(spanned[: peak + 1]) < -1e-3).any() or (np.diff(spanned[peak:]) > 1e-3).any()
    spanned[: peak + 1] = np.maximum.accumulate(spanned[: peak + 1])
    spanned[peak:] = np.maximum.accumulate(spanned[peak:][::-1])[::-1]
    both = np.trapezoid(spanned, expit(level[:, 0]))
    found = calibrate(score, known, np.ones(6), smoothing=False).masses(np.array([1.0]))
    assert abs(found[0, 2] - both) < 5e-3


def test_swapped_classes_swap_masses_and_reflected_scores_do_too():
    score, known, weight = draw(25)
    known = doubted(known, np.linspace(0.0, 0.6, 25))
    masses = calibrate(score, known, weight).masses(POINTS)
    swapped = calibrate(score, known[:, ::-1], weight).masses(POINTS)
    np.testing.assert_allclose(swapped, masses[:, [1, 0, 2]], atol=1e-5)
    reflected = calibrate(-score, known, weight).masses(-POINTS)
    np.testing.assert_allclose(reflected, masses, atol=1e-5)


def test_units_of_scores_do_not_matter():
    score, known, weight = draw(25)
    masses = calibrate(score, known, weight).masses(POINTS)
    other = calibrate(1e4 * score - 3e5, known, weight).masses(1e4 * POINTS - 3e5)
    np.testing.assert_allclose(other, masses, atol=1e-6)


@pytest.mark.parametrize("gap", [1e-9, 0.1, 10.0, 1e6])
def test_separable_scores_give_finite_answers_that_leave_doubt(gap):
    score = np.array([-2.0, -1.0, -0.5, 0.5, 1.0, 2.0]) + np.repeat([0.0, gap], 3)
    known = np.eye(2)[np.repeat([0, 1], 3)]
    masses = calibrate(score, known, np.ones(6)).masses(np.append(score, [score[2] + gap / 2]))
    assert np.isfinite(masses).all()
    np.testing.assert_allclose(masses.sum(axis=1), 1.0)
    assert (masses[3:6, 1] > masses[3:6, 0]).all()
    assert (masses[:, 2] > 0.05).all()
    with pytest.raises(ValueError, match="scores of the two classes should overlap.*smoothing"):
        calibrate(score, known, np.ones(6), smoothing=False)


def test_labels_that_say_nothing_change_nothing():
    score, known, weight = draw(20)
    masses = calibrate(score, known, weight).masses(POINTS)
    more = np.append(score, [5.0, -3.0]), np.vstack([known, np.full((2, 2), 0.4)]), np.ones(22)
    np.testing.assert_allclose(calibrate(*more).masses(POINTS), masses, atol=2e-6)
    nothing = calibrate(score, np.ones((20, 2)), weight).masses(POINTS)
    np.testing.assert_array_equal(nothing, np.tile([0.0, 0.0, 1.0], (5, 1)))


def test_doubt_leaves_more_mass_on_both():
    score, known, weight = draw(40)
    both = [
        calibrate(score, doubted(known, doubt), weight).masses(POINTS[1:4])[:, 2]
        for doubt in (0.0, 0.2, 0.5, 0.8)
    ]
    assert (np.diff(both, axis=0) > 0.0).all()


@pytest.mark.parametrize("outlier", [None, 1e3])
def test_many_items_are_condensed_without_loss(outlier, monkeypatch):
    score, known, weight = draw(1500, apart=1.5 if outlier else 6.0)
    if outlier:
        score[:3] = [-40.0, 25.0, outlier]  # these keep records of their own
        known = doubted(known, np.where(np.arange(1500) % 3, 0.0, 0.3))
    fast = calibrate(score, known, weight).masses(POINTS)
    monkeypatch.setattr(
        "plausible.models.calibration.predictive.condense", lambda records, slope: records
    )
    np.testing.assert_allclose(fast, calibrate(score, known, weight).masses(POINTS), atol=1e-9)


@pytest.mark.parametrize("apart", [0.2, 1.5, 30.0])
def test_the_table_is_as_good_as_it_says(apart, monkeypatch):
    given = draw(80, apart=apart)
    points = np.concatenate([np.linspace(-5, apart + 5, 60), [-300.0, 300.0]])
    masses = calibrate(*given).masses(points)
    monkeypatch.setattr("plausible.models.calibration.predictive.TABLE_TOLERANCE", 1e-10)
    np.testing.assert_allclose(masses, calibrate(*given).masses(points), atol=3e-6)


def test_threads_share_the_points_of_a_table_and_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=60)
    contour = np.where(np.eye(2)[y] > 0, 1.0, rng.choice([0.0, 0.2, 0.6], (60, 1)))
    given = rng.normal(size=60) + 1.5 * y, contour, rng.uniform(0.5, 2.0, 60)
    used = []

    def parts_of(function, items, n_threads):
        used.append(n_threads)
        return in_order(function, items, n_threads)

    tables = []
    for n_threads in (1, 3):
        monkeypatch.setattr(profile_compiled, "one_blas_thread", lambda n=n_threads: nullcontext(n))
        monkeypatch.setattr(profile_compiled, "in_order", parts_of)
        monkeypatch.setattr(profile_compiled, "MUCH_WORK", 0)
        tables.append(calibrate(*given).table)
    np.testing.assert_array_equal(tables[0].c, tables[1].c)
    np.testing.assert_array_equal(tables[0].x, tables[1].x)
    assert {1, 3} == set(used)
