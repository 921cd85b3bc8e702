"""Evidential calibration: against brute force, and by its laws."""

from itertools import combinations, product

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize, minimize_scalar
from scipy.sparse import csr_array
from scipy.special import expit, logit
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_blobs
from sklearn.dummy import DummyClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from plausible.belief import belief, contour, decide, plausibility, plausibility_probability
from plausible.labels import Labels
from plausible.models import EvidentialCalibratedClassifier, SoftNearestCentroid
from plausible.models.calibration import combine_pairs, log_plausibilities
from plausible.models.predictive import calibrate
from plausible.models.scoring import class_scores, content_folds, takes_labels

POINTS = np.array([-30.0, -2.0, 0.3, 0.9, 4.0])
IRIS = load_iris(return_X_y=True)


def draw(n, seed=0, apart=1.5):
    """Scores, hard contours and weights."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.normal(y * apart, 1.0), np.eye(2)[y], np.ones(n)


def doubted(truth, doubt):
    return np.where(truth == 1.0, 1.0, np.broadcast_to(doubt, (len(truth),))[:, None])


# -- One pair, against brute force -----------------------------------------------------------------


def reference_likelihood(a, b, score, known, weight, smoothing):
    """The criterion written out, row by row."""
    total = 0.0
    best = known.argmax(axis=1)
    favour = 1.0 - known.min(axis=1)
    for s, (first, second), w, k, f in zip(score, known, weight, best, favour, strict=True):
        t = a + b * s
        part = f / ((weight * favour)[best == k].sum() + 2.0) if smoothing else 0.0
        said = np.log(max(first * expit(-t) + second * expit(t), 1e-300))
        other = -np.logaddexp(0.0, t if k == 1 else -t)
        total += w * ((1.0 - part) * said + part * other)
    return total


def reference_masses(point, score, known, weight, smoothing=True):
    """Predictive masses by general optimisers and adaptive quadrature."""

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


def test_many_items_are_condensed_without_loss(monkeypatch):
    score, known, weight = draw(1500)
    score[:3] = [-40.0, 25.0, 1e3]  # outliers keep records of their own
    known = doubted(known, np.where(np.arange(1500) % 3, 0.0, 0.3))
    fast = calibrate(score, known, weight).masses(POINTS)
    monkeypatch.setattr("plausible.models.predictive.condense", lambda records, slope: records)
    np.testing.assert_allclose(fast, calibrate(score, known, weight).masses(POINTS), atol=1e-9)


@pytest.mark.parametrize("apart", [0.2, 1.5, 30.0])
def test_the_table_is_as_good_as_it_says(apart, monkeypatch):
    given = draw(80, apart=apart)
    points = np.concatenate([np.linspace(-5, apart + 5, 60), [-300.0, 300.0]])
    masses = calibrate(*given).masses(points)
    monkeypatch.setattr("plausible.models.predictive.TABLE_TOLERANCE", 1e-10)
    np.testing.assert_allclose(masses, calibrate(*given).masses(points), atol=3e-6)


# -- Pairs combined --------------------------------------------------------------------------------


def combination_by_enumeration(masses, pairs, n_classes):
    """All tuples of what the pairs say: first, second, or both; each excludes a class or none."""
    total = np.zeros(2**n_classes)
    for said in product(range(3), repeat=len(pairs)):
        left = set(range(n_classes))
        for (i, j), what in zip(pairs, said, strict=True):
            left -= ({j}, {i}, set())[what]
        column = sum(1 << k for k in left)
        total[column] += np.prod([masses[p][what] for p, what in enumerate(said)])
    return total[1:] / total[1:].sum()


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("scores", ["pairs", "classes"])
def test_masses_of_pairs_are_combined_by_dempsters_rule(n_classes, scores):
    X, y = make_blobs(60, centers=n_classes, cluster_std=4.0, random_state=1)
    model = EvidentialCalibratedClassifier(GaussianNB(), cv=3, scores=scores).fit(X, y)
    pairs = list(combinations(range(n_classes), 2))
    assert model.pairs_.tolist() == [list(pair) for pair in pairs]
    masses = model.predict_mass(X[:4])
    assert masses.focal_sets.tolist() == model.focal_sets_.tolist()
    for i, row in enumerate(masses.values):
        of_pairs = []
        for p, pair in enumerate(pairs):
            base = model.estimators_[p if scores == "pairs" else 0]
            columns = (0, 1) if scores == "pairs" else pair
            logs = np.log(np.maximum(base.predict_proba(X[[i]]), 1e-6))[0]
            difference = logs[[columns[1]]] - logs[[columns[0]]]
            of_pairs.append(model.calibrations_[p].masses(difference)[0])
        expected = combination_by_enumeration(of_pairs, pairs, n_classes)
        np.testing.assert_allclose(row, expected, atol=1e-12)
    np.testing.assert_allclose(model.predict_plausibility(X[:4]), contour(masses))
    np.testing.assert_allclose(model.predict_proba(X[:4]), plausibility_probability(masses))


def test_two_classes_are_one_calibration():
    X, y = IRIS[0][50:], IRIS[1][50:]
    model = EvidentialCalibratedClassifier(LinearSVC(), cv=4).fit(X, y)
    dense = model.predict_mass(X).to_dense()
    (calibration,), (base,) = model.calibrations_, model.estimators_
    np.testing.assert_allclose(
        dense[:, [1, 2, 3]], calibration.masses(base.decision_function(X)), atol=1e-12
    )
    tau = calibration.probability(base.decision_function(X))
    assert (belief(dense, sets=[2])[:, 0] <= tau + 1e-6).all()
    assert (plausibility(dense, sets=[2])[:, 0] >= tau - 1e-6).all()


def test_one_class_and_a_class_that_no_row_favours():
    X = np.arange(6.0)[:, None]
    model = EvidentialCalibratedClassifier().fit(X, ["a"] * 6)
    assert model.predict_mass(X).values.tolist() == [[1.0]] * 6
    labels = Labels.from_crisp(["a"] * 6, classes=["a", "b"])
    model = EvidentialCalibratedClassifier().fit(X, labels)
    assert set(model.predict(X)) == {"a"}
    masses = model.predict_mass(X).to_dense()
    # Laplace's rule: a has the most likely probability 7/8, and six items leave doubt.
    assert (masses[:, 1] < 7 / 8).all()
    assert (masses[:, 1] + masses[:, 3] > 7 / 8).all()


def test_renamed_classes_are_the_same_model():
    X, y = make_blobs(60, centers=3, cluster_std=3.0, random_state=0)
    for scores in ("pairs", "classes"):
        model = EvidentialCalibratedClassifier(GaussianNB(), scores=scores).fit(X, y)
        other = EvidentialCalibratedClassifier(GaussianNB(), scores=scores).fit(X, 2 - y)
        np.testing.assert_allclose(
            other.predict_plausibility(X), model.predict_plausibility(X)[:, ::-1], atol=1e-5
        )


def test_many_classes_have_probabilities_but_no_masses():
    pairs = np.array(list(combinations(range(21), 2)))
    masses = np.random.default_rng(0).dirichlet([1.0, 1.0, 1.0], (2, len(pairs)))
    found = np.exp(log_plausibilities(masses, pairs, 21))
    for k in range(21):
        factors = [m[:, pair.index(k)] + m[:, 2] for m, pair in by_pair(masses, pairs) if k in pair]
        np.testing.assert_allclose(found[:, k], np.prod(factors, axis=0))
    with pytest.raises(ValueError, match="at most K = 20 classes"):
        combine_pairs(masses, pairs, 21)


def by_pair(masses, pairs):
    return zip(masses.swapaxes(0, 1), pairs.tolist(), strict=True)


def test_fewer_rows_leave_more_doubt():
    X, y = make_blobs(400, centers=3, cluster_std=3.0, random_state=0)
    fresh = X[200:]
    on_all = []
    for n in (12, 60, 200):
        model = EvidentialCalibratedClassifier(GaussianNB(), scores="classes").fit(X[:n], y[:n])
        singletons = model.predict_mass(fresh).values[:, [0, 1, 3]]
        on_all.append(1.0 - singletons.sum(axis=1).mean())
    assert on_all[0] > 2 * on_all[1] > 2 * on_all[2]


# -- Classifiers and rows --------------------------------------------------------------------------


def test_a_frozen_classifier_is_calibrated_on_all_rows():
    X, y = IRIS[0][50:], IRIS[1][50:]
    base = make_pipeline(StandardScaler(), LinearSVC()).fit(X[::2], y[::2])
    model = EvidentialCalibratedClassifier(FrozenEstimator(base), cv="nonsense")
    model.fit(X[1::2], y[1::2])
    rest = base.decision_function(X[1::2]), np.eye(2)[y[1::2] - 1], np.ones(50)
    expected = calibrate(*rest).masses(base.decision_function(X))
    np.testing.assert_allclose(model.predict_mass(X).values, expected, atol=1e-12)
    with pytest.raises(ValueError, match="possible in 1 row"):
        model.fit(X[:3], [0, 1, 2])


def test_scores_for_calibration_come_from_classifiers_that_did_not_see_the_row():
    X, y = draw(40)[0][:, None], np.arange(40) % 2
    folds = KFold(4, shuffle=True, random_state=0)
    model = EvidentialCalibratedClassifier(KNeighborsClassifier(3), cv=folds).fit(X, y)
    score = np.empty(40)
    for train, test in folds.split(X):
        base = KNeighborsClassifier(3).fit(X[train], y[train])
        logs = np.log(np.maximum(base.predict_proba(X[test]), 1e-6))
        score[test] = logs[:, 1] - logs[:, 0]
    expected = calibrate(score, np.eye(2)[y], np.ones(40))
    assert np.isclose(model.calibrations_[0].slope, expected.slope)
    with pytest.raises(ValueError, match="tested twice"):
        EvidentialCalibratedClassifier(cv=ShuffleSplit(5, random_state=0)).fit(X, y)
    with pytest.raises(ValueError, match="cv should be a whole number of at least 2"):
        EvidentialCalibratedClassifier(cv=1).fit(X, y)


def test_folds_depend_on_what_rows_hold_only():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 2)).round(1), np.arange(50) % 3
    known, weight = np.eye(3)[y], np.ones(50)
    folds = content_folds(X, known, weight, 5)
    order = rng.permutation(50)
    np.testing.assert_array_equal(content_folds(X[order], known[order], weight, 5), folds[order])
    twice = np.repeat(np.arange(50), 2)
    again = content_folds(X[twice], known[twice], np.ones(100), 5)
    np.testing.assert_array_equal(again, folds[twice])
    sizes = [np.bincount(folds[y == k], minlength=5) for k in range(3)]
    assert np.ptp(sizes, axis=1).max() <= 3  # equal rows stay together
    assert content_folds(X[:7], known[:7], weight[:7], 5).max() == 1  # two rows of some class


def test_sparse_rows_are_passed_on():
    X, y = IRIS
    model = EvidentialCalibratedClassifier(LinearSVC(random_state=0), scores="classes").fit(X, y)
    other = EvidentialCalibratedClassifier(LinearSVC(random_state=0), scores="classes")
    other.fit(csr_array(X), y)
    # Sparse rows are dealt out to folds in another order.
    np.testing.assert_allclose(other.predict_proba(csr_array(X)), model.predict_proba(X), atol=0.1)
    with pytest.raises(TypeError, match="[Ss]parse"):
        EvidentialCalibratedClassifier().fit(csr_array(X), y)


def test_a_classifier_that_ignores_features_leaves_only_frequencies():
    X, y = np.arange(30.0)[:, None], np.repeat([0, 0, 1], 10)
    model = EvidentialCalibratedClassifier(DummyClassifier(), cv=5).fit(X, y)
    masses = model.predict_mass(X).to_dense()
    np.testing.assert_allclose(masses, np.tile(masses[:1], (30, 1)))
    assert masses[0, 1] < 2 / 3 < masses[0, 1] + masses[0, 3]


def test_estimators_of_ours_learn_from_degrees_and_others_from_their_margin():
    X, y = make_blobs(40, centers=2, cluster_std=4.0, random_state=0)
    doubt = np.linspace(0.0, 0.9, 40)
    labels = Labels.from_doubt(y, doubt)
    ours = EvidentialCalibratedClassifier(SoftNearestCentroid()).fit(X, labels)
    np.testing.assert_allclose(
        ours.estimators_[0].means_, SoftNearestCentroid().fit(X, labels).means_
    )
    peer = EvidentialCalibratedClassifier(GaussianNB()).fit(X, labels)
    weighted = GaussianNB().fit(X, y, sample_weight=1.0 - doubt)
    np.testing.assert_allclose(peer.estimators_[0].theta_, weighted.theta_)
    piped = make_pipeline(StandardScaler(), GaussianNB())
    piped = EvidentialCalibratedClassifier(piped).fit(X, labels)
    scaled = StandardScaler().fit_transform(X)
    np.testing.assert_allclose(
        piped.estimators_[0][-1].theta_,
        GaussianNB().fit(scaled, y, sample_weight=1.0 - doubt).theta_,
    )
    assert takes_labels(make_pipeline(StandardScaler(), SoftNearestCentroid()))
    assert not takes_labels(make_pipeline(StandardScaler(), GaussianNB()))


def test_sets_and_unknown_rows_count_only_where_they_say_something():
    X, y = make_blobs(45, centers=3, cluster_std=3.0, random_state=0)
    model = EvidentialCalibratedClassifier(GaussianNB()).fit(X, y)
    more = np.vstack([X, X[:5] + 1.0])
    labels = Labels.concatenate([Labels.from_crisp(y), Labels.unknown(5, range(3))])
    other = EvidentialCalibratedClassifier(GaussianNB()).fit(more, labels)
    for one, two in zip(model.estimators_, other.estimators_, strict=True):
        np.testing.assert_array_equal(one.theta_, two.theta_)
    np.testing.assert_allclose(other.predict_proba(X), model.predict_proba(X), atol=1e-5)


def test_sets_and_refusals():
    X, y = make_blobs(60, centers=3, cluster_std=3.0, random_state=0)
    model = EvidentialCalibratedClassifier(GaussianNB()).fit(X, y)
    masses = model.predict_mass(X)
    kept = model.predict_set(X)
    np.testing.assert_array_equal(kept, decide(masses, "interval_dominance").chosen)
    assert {1, 2, 3} >= set(kept.sum(axis=1)) > {1}
    refused = ~model.predict_set(X, "pignistic", reject=0.4).any(axis=1)
    np.testing.assert_array_equal(refused, decide(masses, reject=0.4).refused)
    right = model.predict(X) == y
    assert 0 < refused.sum() < 60
    assert right[~refused].mean() > right.mean()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scores": "both"}, "scores should be 'pairs' or 'classes', but 'both'"),
        (
            {"estimator": SVC(decision_function_shape="ovo"), "scores": "classes"},
            "one column for each of the 3 classes, but those of SVC are for pairs",
        ),
        ({"estimator": LinearSVC(C=100.0), "smoothing": False}, "no maximum; use smoothing"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        EvidentialCalibratedClassifier(**options).fit(*IRIS)


def test_scores_are_finite_and_unknown_classes_have_none():
    class Extreme:
        classes_ = np.array(["a", "b"])

        def predict_proba(self, X):
            return np.array([[1.0, 0.0], [0.25, 0.75]])

    scores = class_scores(Extreme(), np.zeros((2, 1)), np.array(["a", "b", "c"]))
    np.testing.assert_allclose(scores[:, 1] - scores[:, 0], [np.log(1e-6), np.log(3)])
    assert np.isnan(scores[:, 2]).all()
