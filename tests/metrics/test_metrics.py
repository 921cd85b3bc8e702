import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import accuracy_score, brier_score_loss, log_loss, rand_score
from sklearn.naive_bayes import GaussianNB

from plausible.belief import Decision, bayesian, categorical, consonant, decide, discount, to_dense
from plausible.labels import Labels
from plausible.metrics import (
    SCORERS,
    c1_loss,
    c1_losses,
    co_membership,
    credal_nonspecificity,
    credal_rand_index,
    expected_calibration_error,
    generalized_log_likelihood,
    get_scorer,
    rejection_curve,
    set_coverage,
    set_imprecision,
    soft_accuracy,
    soft_brier_score,
    soft_log_loss,
    utility_discounted_accuracy,
)
from plausible.models import SoftNearestCentroid

CLASSES = ["a", "b", "c"]


@st.composite
def predictions(draw):
    """Hard truth, probabilities over three classes, and sample weights."""
    rng = np.random.default_rng(draw(st.integers(0, 9999)))
    n = draw(st.integers(3, 30))
    y = rng.integers(0, 3, size=n)
    y[:3] = 0, 1, 2
    return y, rng.dirichlet(np.ones(3), size=n), rng.random(n)


@given(predictions())
def test_hard_labels_give_the_classical_scores(case):
    y, p, weight = case
    truth = Labels.from_crisp(y)
    for w in (None, weight):
        assert soft_accuracy(truth, p.argmax(axis=1), w) == pytest.approx(
            accuracy_score(y, p.argmax(axis=1), sample_weight=w)
        )
        assert soft_log_loss(truth, p, w) == pytest.approx(log_loss(y, p, sample_weight=w))
        assert soft_brier_score(truth, p, w) == pytest.approx(
            brier_score_loss(y, p, sample_weight=w)
        )
    assert generalized_log_likelihood(truth, p) == pytest.approx(-len(y) * log_loss(y, p))
    assert c1_loss(truth, p) == pytest.approx(1 - p[np.arange(len(y)), y].mean())


@given(predictions(), st.integers(1, 12))
def test_calibration_error_by_definition(case, n_bins):
    y, p, _ = case
    confidence, right = p.max(axis=1), p.argmax(axis=1) == y
    expected = 0.0
    for low in np.arange(n_bins) / n_bins:
        inside = (confidence > low) & (confidence <= low + 1 / n_bins + 1e-15)
        if inside.any():
            expected += inside.mean() * abs(confidence[inside].mean() - right[inside].mean())
    assert expected_calibration_error(y, p, n_bins) == pytest.approx(expected, abs=1e-9)


@given(predictions())
def test_rows_that_say_nothing_do_not_count(case):
    y, p, _ = case
    truth = Labels.from_crisp(y)
    more = Labels.concatenate([truth, Labels.unknown(len(y), [0, 1, 2])])
    twice = np.concatenate([p, p[::-1]])
    for score in (soft_log_loss, soft_brier_score, expected_calibration_error):
        assert score(more, twice) == pytest.approx(score(truth, p))
    assert soft_accuracy(more, twice.argmax(axis=1)) == pytest.approx(
        soft_accuracy(truth, p.argmax(axis=1))
    )
    assert rejection_curve(more, twice).area == pytest.approx(rejection_curve(truth, p).area)
    np.testing.assert_allclose(c1_losses(more, twice)[len(y) :], 0, atol=1e-12)


@given(predictions(), st.floats(0.01, 1))
def test_scores_do_not_depend_on_the_scale_of_a_row(case, factor):
    y, p, doubt = case
    labels = Labels.from_doubt(y, doubt)
    scaled = Labels.from_plausibility(labels.contour * factor)
    for score in (soft_log_loss, soft_brier_score, expected_calibration_error):
        assert score(scaled, p) == pytest.approx(score(labels, p))
    assert soft_accuracy(scaled, y) == pytest.approx(soft_accuracy(labels, y)) == pytest.approx(1)


@given(predictions())
def test_doubt_is_a_sample_weight_for_accuracy(case):
    y, p, doubt = case
    answers = p.argmax(axis=1)
    assert soft_accuracy(Labels.from_doubt(y, doubt), answers) == pytest.approx(
        accuracy_score(y, answers, sample_weight=1 - doubt)
    )


@given(predictions(), st.permutations(range(3)))
def test_columns_follow_the_classes_that_are_said(case, order):
    y, p, _ = case
    order = list(order)
    for score in (soft_log_loss, soft_brier_score, c1_loss, expected_calibration_error):
        assert score(y, p[:, order], classes=order) == pytest.approx(score(y, p))


def test_masses_are_scored_by_their_bets():
    masses = discount(categorical([0b001, 0b010], 3), 0.3)
    bets = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1]])
    truth = Labels.from_sets([{0}, {1, 2}], classes=[0, 1, 2])
    assert soft_log_loss(truth, masses) == pytest.approx(soft_log_loss(truth, bets))
    np.testing.assert_allclose(c1_losses(truth, masses), [0.2, 0.1])


def test_c1_by_its_first_form():
    # Equation (10): 1 - sum over A of m(A) BetP(A), for the possibilistic label of table I.
    truth = Labels.from_masses([{("c",): 0.7, ("a", "c"): 0.2, ("a", "b", "c"): 0.1}], CLASSES)
    p = np.array([[0.5, 0.3, 0.2]])
    expected = 1 - (0.7 * 0.2 + 0.2 * 0.7 + 0.1 * 1.0)
    assert c1_loss(truth, p) == pytest.approx(expected)


def test_sets_as_truth():
    truth = Labels.from_sets([{"a", "b"}, {"c"}], classes=CLASSES)
    assert soft_accuracy(truth, ["b", "c"]) == 1.0
    assert soft_accuracy(truth, ["c", "c"]) == 0.5
    assert soft_log_loss(truth, [[0.3, 0.2, 0.5], [0, 0, 1]]) == pytest.approx(np.log(2) / 2)


def test_utilities_of_zaffalon_corani_and_maua():
    # u(1/|S|) for 1, 2, 3 and 4 classes, from u65(x) = 1.6 x - 0.6 x^2, u80(x) = 2.2 x - 1.2 x^2.
    for value, expected in ((0.5, [1, 1 / 2, 1 / 3, 1 / 4]), (0.65, None), (0.8, None)):
        for size in range(1, 5):
            x = 1 / size
            known = {0.65: 1.6 * x - 0.6 * x * x, 0.8: 2.2 * x - 1.2 * x * x}
            answer = np.arange(4)[None] < size
            got = utility_discounted_accuracy([0], answer, value, classes=range(4))
            assert got == pytest.approx(known[value] if expected is None else expected[size - 1])
            missed = utility_discounted_accuracy([3], answer, value, classes=range(4))
            assert missed == (got if size == 4 else 0)
    # Their argument on two classes: a vacuous and a random classifier have the same discounted
    # accuracy 0.5, and the vacuous one has utility 0.65 or 0.8, without variance.
    y = np.array([0, 1] * 10)
    vacuous, random = np.ones((20, 2), dtype=bool), np.array([0, 0, 1, 1] * 5)
    assert utility_discounted_accuracy(y, vacuous, 0.5) == soft_accuracy(y, random) == 0.5
    assert utility_discounted_accuracy(y, vacuous, 0.65) == pytest.approx(0.65)
    assert utility_discounted_accuracy(y, vacuous, 0.8) == pytest.approx(0.8)


def test_coverage_and_imprecision_of_sets():
    truth = Labels.from_sets([{"a"}, {"a", "b"}, {"c"}], CLASSES)
    answers = np.array([[1, 1, 0], [0, 1, 1], [1, 1, 0]], dtype=bool)
    assert set_coverage(truth, answers) == pytest.approx(2 / 3)
    assert set_imprecision(answers) == pytest.approx(0.5)
    assert set_imprecision(np.eye(3, dtype=bool)) == 0
    assert set_imprecision(np.ones((2, 3), dtype=bool)) == 1
    assert set_imprecision(np.zeros((2, 3), dtype=bool)) == 0  # refusals only
    refusing = decide([[0.9, 0.1], [0.5, 0.5]], kind="probability", reject=0.2)
    assert set_imprecision(refusing) == 0


def test_decisions_are_answers():
    p = np.array([[0.9, 0.05, 0.05], [0.4, 0.35, 0.25], [0.1, 0.1, 0.8]])
    refusing = decide(p, kind="probability", reject=0.5)
    assert isinstance(refusing, Decision)
    truth = Labels.from_crisp(["a", "a", "c"], CLASSES)
    assert soft_accuracy(truth, refusing) == pytest.approx(2 / 3)
    pl = decide(np.array([[1, 0.9, 0.0], [1, 0, 0]]), "interval_dominance", kind="plausibility")
    assert utility_discounted_accuracy(truth[:2], pl, 0.8) == pytest.approx(0.9)
    assert set_imprecision(pl) == pytest.approx(0.25)


@given(predictions())
def test_rejection_curves(case):
    y, p, _ = case
    curve = rejection_curve(y, p)
    assert curve.rejected[0] == 0
    assert curve.accuracy[0] == pytest.approx(accuracy_score(y, p.argmax(axis=1)))
    for share, accuracy, threshold in zip(
        curve.rejected, curve.accuracy, curve.threshold, strict=True
    ):
        kept = p.max(axis=1) >= threshold
        assert share == pytest.approx(1 - kept.mean(), abs=1e-9)
        assert accuracy == pytest.approx(accuracy_score(y[kept], p[kept].argmax(axis=1)))
    assert 0 <= curve.area <= 1
    perfect = np.eye(3)[y] * 0.9 + 0.1 / 3
    assert rejection_curve(y, perfect).area == pytest.approx(1)


@given(st.lists(st.integers(0, 3), min_size=2, max_size=12), st.integers(0, 999))
def test_credal_rand_index_is_the_rand_index_of_hard_partitions(first, seed):
    second = np.random.default_rng(seed).integers(0, 3, size=len(first))
    a, b = categorical(1 << np.array(first), 4), categorical(1 << second, 3)
    assert credal_rand_index(a, b) == pytest.approx(rand_score(first, second))


@given(st.integers(0, 999), st.integers(2, 20))
def test_a_credal_partition_agrees_with_itself(seed, n):
    rng = np.random.default_rng(seed)
    masses = rng.dirichlet(np.ones(8), size=n)
    other = rng.dirichlet(np.ones(8), size=n)
    assert credal_rand_index(masses, masses) == pytest.approx(1)
    assert credal_rand_index(masses, other) == pytest.approx(credal_rand_index(other, masses))
    assert 0 <= credal_rand_index(masses, other) < 1
    relabeled = masses[:, [0, 2, 1, 3, 4, 6, 5, 7]]  # clusters 0 and 1 exchanged
    assert credal_rand_index(masses, relabeled) == pytest.approx(1)


@given(st.integers(0, 999))
def test_co_membership_by_definition(seed):
    masses = np.random.default_rng(seed).dirichlet(np.ones(8), size=3)
    result = co_membership(masses)
    np.testing.assert_allclose(result.sum(axis=2), 1)
    for i in range(3):
        for j in range(3):
            expected = np.zeros(4)
            for a in range(8):
                for b in range(8):
                    if not a or not b:
                        relation = 0
                    elif a == b and a.bit_count() == 1:
                        relation = 1
                    else:
                        relation = 2 if a & b == 0 else 3
                    expected[relation] += masses[i, a] * masses[j, b]
            np.testing.assert_allclose(result[i, j], expected, atol=1e-12)


def test_labels_are_partitions_too():
    labels = Labels.from_sets([{"a"}, {"a"}, {"b"}, {"a", "b"}])
    assert credal_rand_index(labels, labels) == 1
    assert credal_rand_index(labels, labels.masses()) == 1
    assert credal_nonspecificity(labels) == 0.25


def test_nonspecificity_of_partitions():
    assert credal_nonspecificity(categorical([1, 2, 4], 3)) == 0
    assert credal_nonspecificity(categorical([7, 7], 3)) == 1
    assert credal_nonspecificity(categorical([0], 3)) == 1
    assert credal_nonspecificity(categorical([3], 4)) == 0.5
    assert credal_nonspecificity(categorical([1], 1)) == 0


def test_scorers_see_degrees_and_survive_pickling():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 1, (30, 2)), rng.normal(3, 1, (30, 2))])
    labels = Labels.from_doubt(np.repeat(["a", "b"], 30), rng.random(60))

    class WithSets(SoftNearestCentroid):
        def predict_set(self, X):
            return self.predict_proba(X) > 0.2

        def predict_mass(self, X):
            return bayesian(self.predict_proba(X))

    model = WithSets().fit(X, labels)
    p = model.predict_proba(X)
    expected = {
        "soft_accuracy": soft_accuracy(labels, model.predict(X)),
        "neg_soft_log_loss": -soft_log_loss(labels, p),
        "neg_soft_brier_score": -soft_brier_score(labels, p),
        "neg_calibration_error": -expected_calibration_error(labels, p),
        "neg_c1_loss": -c1_loss(labels, p),
        "u50": utility_discounted_accuracy(labels, p > 0.2, 0.5),
        "u65": utility_discounted_accuracy(labels, p > 0.2, 0.65),
        "u80": utility_discounted_accuracy(labels, p > 0.2, 0.8),
        "set_coverage": set_coverage(labels, p > 0.2),
        "neg_set_imprecision": -set_imprecision(p > 0.2),
        "rejection_area": rejection_curve(labels, p).area,
        "credal_rand_index": credal_rand_index(labels.masses(), bayesian(p)),
        "neg_credal_nonspecificity": 0.0,
    }
    assert set(expected) == set(SCORERS)
    for name, value in expected.items():
        scorer = pickle.loads(pickle.dumps(get_scorer(name)))
        assert scorer(model, X, labels) == pytest.approx(value)
    with pytest.raises(TypeError, match="'u65' needs an estimator with the method predict_set"):
        get_scorer("u65")(GaussianNB().fit(X, labels.crisp()), X, labels)
    with pytest.raises(ValueError, match="name should be 'soft_accuracy', .* did you mean"):
        get_scorer("soft_acuracy")


def test_plain_truth_is_read_on_all_classes():
    # A set that never named c does not hold c, and a missing label stays missing.
    assert soft_accuracy([{"a", "b"}, {"a"}], ["c", "a"]) == 0.5
    assert soft_accuracy(["a", None, None], ["a", "b", "b"]) == 1.0
    p = [[0.9, 0.1], [0.1, 0.9]]
    assert soft_log_loss(["a", None], p, classes="ab") == pytest.approx(-np.log(0.9))
    with pytest.raises(ValueError, match="'b' is repeated"):
        soft_log_loss(["a", "b"], p, classes=["b", "b"])


def test_data_frames_name_their_columns():
    pandas = pytest.importorskip("pandas")
    p = pandas.DataFrame({"b": [0.1, 0.9], "a": [0.9, 0.1]})
    assert soft_log_loss(["a", "b"], p) == pytest.approx(-np.log(0.9))


def test_a_class_that_only_one_side_knows():
    assert soft_accuracy(["a", "b"], ["a", "z"]) == 0.5
    seen = Labels.from_crisp(["a", "b", "z"])
    loss = soft_log_loss(seen, [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]], classes=["a", "b"])
    assert loss == pytest.approx(-np.log(np.finfo(float).eps) / 3)


def test_bad_input():
    with pytest.warns(UndefinedMetricWarning, match="No label says anything"):
        assert np.isnan(soft_accuracy(Labels.unknown(2, "ab"), ["a", "b"]))
    with pytest.warns(UndefinedMetricWarning, match="No label says anything"):
        expected_calibration_error(Labels.unknown(1, "ab"), [[0.5, 0.5]])
    calls = [
        (lambda: soft_accuracy(Labels.unknown(0, "ab"), []), "y_true is empty"),
        (lambda: credal_nonspecificity(np.eye(4)[1]), "one row of masses for each item"),
        (lambda: soft_accuracy(["a", "b"], ["a"]), "each of the 2 items, but there are 1;"),
        (lambda: soft_accuracy([], []), "at least one"),
        (lambda: soft_accuracy(["a", "b"], ["a", "b"], [1.0, -1.0]), "sample_weight should be"),
        (lambda: soft_log_loss(["a", "b"], [[1.0], [1.0]]), r"2 classes, but have shape \(2, 1\)"),
        (lambda: soft_log_loss(["a", "b"], [[0.5, 0.4], [0, 1]]), r"sum to one, .* \(row 0\)"),
        (lambda: expected_calibration_error(["a", "b"], np.eye(2), n_bins=0), "n_bins should be"),
        (lambda: utility_discounted_accuracy(["a"], [[True]], 0.2), "value_of_pair should be"),
        (lambda: set_imprecision([0.2, 0.8]), "bool array"),
        (lambda: set_imprecision([[True, False]], [-1.0]), "sample_weight should be"),
        (lambda: c1_loss(["a", "b"], np.eye(2), [0, 0]), "all weights are zero"),
        (lambda: soft_accuracy([0, 1], [0.0, np.inf]), "infinity"),
        (lambda: soft_accuracy(["a", "b"], np.eye(2)), "came as float64"),
        (lambda: rejection_curve(Labels.unknown(1, "ab"), [[0.5, 0.5]]), "label some items"),
        (lambda: credal_rand_index(np.eye(4), np.eye(4)[:3]), "but have 4 and 3"),
        (lambda: co_membership(np.eye(4), to_dense(consonant(np.eye(3)))), "but have 2 and 3"),
    ]
    for call, message in calls:
        with pytest.raises(ValueError, match=message):
            call()
