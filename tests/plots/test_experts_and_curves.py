"""Experts, confusions and curves: what is drawn is what the rooms below compute."""

from itertools import combinations

import numpy as np
import pytest
from matplotlib import pyplot

from plausible.belief import decide
from plausible.experts import Annotations
from plausible.labels import Labels
from plausible.metrics import expected_calibration_error, rejection_curve, soft_accuracy
from plausible.models import GaussianMixtureClassifier
from plausible.neighbors import EvidentialNeighborsClassifier
from plausible.plots import (
    AgreementDisplay,
    CalibrationDisplay,
    ConflictDisplay,
    ConfusionDisplay,
    RejectionDisplay,
    ReliabilityDisplay,
    SetSizeDisplay,
)
from plots.drawn import (
    CLASSES,
    heights,
    in_legend,
    line,
    mixed_labels,
    texts,
    three_blobs,
    ticks,
)


@pytest.fixture(scope="module")
def answers():
    """Four people of unlike skill, who leave items out."""
    rng = np.random.default_rng(2)
    truth = rng.integers(3, size=60)
    said = np.where(rng.uniform(size=(60, 4)) < [0.95, 0.8, 0.6, 0.4], truth[:, None],
                    rng.integers(3, size=(60, 4)))  # fmt: skip
    table = np.array(CLASSES, dtype=object)[said]
    table[rng.uniform(size=(60, 4)) < 0.2] = None
    return Annotations.from_answers(table, annotators=["dee", "cy", "bo", "al"])


@pytest.fixture(scope="module")
def fitted():
    X, y = three_blobs(90)
    labels = Labels.from_doubt(y, np.arange(90) % 4 / 4, classes=CLASSES)
    return EvidentialNeighborsClassifier(n_neighbors=5).fit(X, labels), X + 0.3, labels


def test_conflict_is_that_of_pooling(answers):
    labels = answers.pool(doubt=0.2)
    display = ConflictDisplay.from_annotations(answers, 10, doubt=0.2).plot()
    np.testing.assert_array_equal(display.conflict, labels.conflict)
    for k, bar in enumerate(display.ax_.patches):
        low, high = k / 10, (k + 1) / 10
        inside = [c for c in labels.conflict if low <= c < high or (k == 9 and c == 1.0)]
        assert bar.get_height() == len(inside)
        assert bar.get_x() == pytest.approx(low)
    mean = labels.conflict.mean()
    assert in_legend(display.ax_) == [f"mean {mean:.2f}"]
    np.testing.assert_allclose(line(display.ax_, f"mean {mean:.2f}")[:, 0], mean)


def test_agreement_of_two_is_counted_item_by_item(answers):
    display = AgreementDisplay.from_annotations(answers).plot()
    said = {}
    for i, r, s in zip(answers.item, answers.annotator, answers.statement, strict=True):
        said[answers.annotators[r], i] = s
    names = display.annotators.tolist()
    assert sorted(names) == ["al", "bo", "cy", "dee"]
    for (a, one), (b, two) in combinations(enumerate(names), 2):
        both = [i for i in range(60) if (one, i) in said and (two, i) in said]
        same = sum(said[one, i] == said[two, i] for i in both)
        assert display.common[a, b] == len(both)
        assert display.values[a, b] == pytest.approx(same / len(both))
    assert np.isnan(np.diag(display.values)).all()
    assert texts(display.ax_)[0] == f"{display.values[0, 1]:.2f}"
    assert ticks(display.ax_.yaxis) == names
    assert f"alpha of all {answers.agreement().alpha:.2f}" in display.ax_.get_title()
    kappa = AgreementDisplay.from_annotations(answers, "kappa")
    off = ~np.eye(4, dtype=bool)
    assert (kappa.values[off] < display.values[off]).all()
    assert len(AgreementDisplay.from_annotations(answers, max_annotators=2).annotators) == 2


def test_reliabilities_stand_in_order_with_their_intervals(answers):
    found = answers.reliability()
    display = ReliabilityDisplay.from_annotations(answers).plot()
    order = sorted(range(4), key=lambda r: -found.accuracy[r])
    np.testing.assert_allclose(line(display.ax_, "right")[:, 0], found.accuracy[order])
    wide, narrow = (
        np.array([path.vertices[:, 0] for path in lines.get_paths()])
        for lines in display.ax_.collections
    )
    np.testing.assert_allclose(wide, np.column_stack([found.low, found.high])[order])
    near = np.column_stack([found.agreement_low, found.agreement_high])[order]
    np.testing.assert_allclose(narrow, near)
    assert (wide[:, 0] <= narrow[:, 0]).all()
    names = [f"{found.annotators[r]} ({found.n_answers[r]:.0f})" for r in order]
    assert ticks(display.ax_.yaxis) == names
    np.testing.assert_allclose(line(display.ax_, "a guess")[:, 0], 1 / 3)


def test_of_many_annotators_the_best_and_the_worst_are_drawn(answers):
    display = ReliabilityDisplay.from_annotations(answers)
    display.plot(max_annotators=3)
    drawn = line(display.ax_, "right")[:, 0]
    np.testing.assert_allclose(drawn, display.accuracy[[0, 2, 3]])
    assert texts(display.ax_) == ["1 more"]


def test_own_doubts_do_not_make_people_more_reliable():
    table = [["a", "a", "b"], ["b", "b", "a"], ["c", "c", "c"], ["a", "b", "a"]] * 5
    sure = Annotations.from_answers(table)
    doubting = Annotations.from_answers(table, doubt=np.full((20, 3), 0.4))
    one, two = (ReliabilityDisplay.from_annotations(said) for said in (sure, doubting))
    np.testing.assert_allclose(one.accuracy, two.accuracy)


def test_confusions_of_annotators(answers):
    found = answers.reliability("full")
    display = ConfusionDisplay.from_reliability(found, "bo").plot()
    place = found.annotators.tolist().index("bo")
    np.testing.assert_allclose(display.matrix, found.confusion[place])
    np.testing.assert_allclose(display.ax_.images[0].get_array(), found.confusion[place])
    assert display.ax_.get_title() == "bo"
    everybody = ConfusionDisplay.from_reliability(found)
    by_hand = sum(n * c for n, c in zip(found.n_answers, found.confusion, strict=True))
    np.testing.assert_allclose(everybody.matrix, by_hand / found.n_answers.sum())
    np.testing.assert_allclose(everybody.matrix.sum(axis=1), 1.0)


def test_confusions_of_a_classifier_count_what_labels_say(fitted):
    model, X, labels = fitted
    display = ConfusionDisplay.from_estimator(model, X, labels).plot()
    answered = model.predict(X)
    by_hand = np.zeros((3, 3))
    for contour, answer in zip(labels.contour.tolist(), answered.tolist(), strict=True):
        doubt = min(contour)
        by_hand[contour.index(1.0), CLASSES.index(answer)] += 1 - doubt
    np.testing.assert_allclose(display.matrix, by_hand)
    assert ticks(display.ax_.xaxis) == ticks(display.ax_.yaxis) == CLASSES
    assert display.ax_.get_ylabel() == "true class"
    shares = ConfusionDisplay.from_estimator(model, X, labels, normalize="true")
    np.testing.assert_allclose(shares.matrix, by_hand / by_hand.sum(axis=1, keepdims=True))


def test_of_many_classes_those_confused_most_are_drawn():
    names = [f"c{k}" for k in range(20)]
    truth = [*names, "c7", "c7", "c12"]
    answered = [*names, "c3", "c3", "c7"]
    display = ConfusionDisplay.from_predictions(truth, answered).plot(max_classes=3)
    assert ticks(display.ax_.xaxis) == ["c12", "c3", "c7"]  # classes are sorted
    assert display.ax_.get_title() == "3 of 20 classes"


def test_calibration_is_drawn_with_its_diagonal_and_error():
    labels, weights = mixed_labels()
    p = np.random.default_rng(7).dirichlet([1, 1, 1], len(labels))
    options = {"sample_weight": weights, "classes": CLASSES}
    display = CalibrationDisplay.from_predictions(labels, p, n_bins=5, name="a", **options).plot()
    error = expected_calibration_error(labels, p, 5, weights, CLASSES)
    label = f"a, error {error:.3f}"
    assert in_legend(display.ax_) == ["perfect", label]
    points = line(display.ax_, label)
    np.testing.assert_array_equal(points, np.c_[display.curve.confidence, display.curve.right])
    np.testing.assert_array_equal(display.ax_.collections[0].get_offsets(), points)
    np.testing.assert_array_equal(line(display.ax_, "perfect"), [[0, 0], [1, 1]])
    again = CalibrationDisplay.from_predictions(labels, p, name="b", **options)
    again.plot(display.ax_)
    assert len(in_legend(display.ax_)) == 3
    colors = {one.get_color() if isinstance(one.get_color(), str) else tuple(one.get_color())
              for one in display.ax_.lines}  # fmt: skip
    assert len(colors) == 3


def test_calibrated_answers_lie_on_the_diagonal():
    rng = np.random.default_rng(0)
    p = rng.dirichlet([1, 1, 1], 4000)
    truth = np.array(CLASSES)[[rng.choice(3, p=row) for row in p]]
    curve = CalibrationDisplay.from_predictions(truth, p, classes=CLASSES).curve
    heavy = curve.weight > 200
    assert np.abs(curve.confidence - curve.right)[heavy].max() < 0.06


def test_rejection_is_drawn_so_that_its_area_is_seen(fitted):
    model, X, labels = fitted
    display = RejectionDisplay.from_estimator(model, X, labels).plot(reject=0.2)
    curve = rejection_curve(labels, model.believe(X))
    (drawn,) = [one for one in display.ax_.lines if one.get_drawstyle() == "steps-post"]
    x, y = drawn.get_data()
    assert np.diff(x) @ y[:-1] == pytest.approx(curve.area)
    assert y[0] == pytest.approx(soft_accuracy(labels, model.predict(X)))
    kept = ~model.decide(X, reject=0.2).refused
    weight = 1 - labels.contour.min(axis=1)
    at = display.at(0.2)
    assert at[0] == pytest.approx(1 - weight[kept].sum() / weight.sum())
    assert at[1] == pytest.approx(soft_accuracy(labels[kept], model.predict(X[kept])))
    np.testing.assert_array_equal(line(display.ax_, in_legend(display.ax_)[1]), [at])
    assert in_legend(display.ax_)[0] == f"EvidentialNeighborsClassifier, area {curve.area:.3f}"
    assert display.at(1.0) == (0.0, pytest.approx(y[0]))


def test_nothing_is_marked_where_all_is_refused():
    display = RejectionDisplay.from_predictions(["a", "b"], [[0.6, 0.4], [0.7, 0.3]])
    assert display.at(0.1) is None
    assert len(display.plot(reject=0.1).ax_.lines) == 1


def test_sizes_of_sets_are_bars_of_what_holds(fitted):
    model, X, labels = fitted
    sets = model.predict_set(X)
    display = SetSizeDisplay.from_estimator(model, X, labels).plot()
    size = sets.sum(axis=1)
    last = size.max()
    share = [(size == k).mean() for k in range(1, last + 1)]
    n = len(share)
    np.testing.assert_allclose(heights(display.ax_)[:n], share)
    own = 1 - labels.contour.min(axis=1)
    truth = labels.contour.argmax(axis=1)
    order = [CLASSES.index(name) for name in model.classes_]
    holds = sets[np.arange(len(X)), np.argsort(order)[truth]]
    for k in range(1, last + 1):
        mine = size == k
        part = (own * holds)[mine].sum() / own[mine].sum() if own[mine].sum() else 0.0
        assert heights(display.ax_)[n + k - 1] == pytest.approx(share[k - 1] * part)
    assert f"mean size {size.mean():.2f}" in display.ax_.get_title()


def test_refusals_are_a_bar_of_their_own():
    p = [[0.9, 0.1, 0.0], [0.4, 0.4, 0.2], [0.2, 0.1, 0.7]]
    decision = decide(p, kind="probability", reject=0.35, classes=["a", "b", "c"])
    display = SetSizeDisplay.from_predictions(["a", "b", "a"], decision).plot()
    assert ticks(display.ax_.xaxis) == ["refused", "1"]
    np.testing.assert_allclose(heights(display.ax_), [1 / 3, 2 / 3, 0.0, 1 / 3])
    assert "50 %" in texts(display.ax_)


def test_what_cannot_be_drawn_is_refused(answers, fitted):
    with pytest.raises(ValueError, match="know the conflict among their sources"):
        ConflictDisplay.from_labels(Labels.from_crisp(["a", "b"]))
    with pytest.raises(TypeError, match="annotations should be Annotations"):
        ConflictDisplay.from_annotations([["a"]])
    with pytest.raises(ValueError, match="'share' or 'kappa'"):
        AgreementDisplay.from_annotations(answers, "alpha")
    with pytest.raises(ValueError, match="hard answers about one item, but no two have"):
        AgreementDisplay.from_annotations(Annotations.from_long([1, 2], ["x", "y"], ["a", "b"]))
    with pytest.raises(TypeError, match="reliability should be Reliability"):
        ReliabilityDisplay.from_reliability(answers)
    with pytest.raises(ValueError, match="'zoe' was given; name one of .*'dee'"):
        ConfusionDisplay.from_reliability(answers.reliability(), "zoe")
    with pytest.raises(ValueError, match="fitted classifier.*lacks one of them"):
        CalibrationDisplay.from_estimator(object(), [[0.0]], ["a"])
    with pytest.raises(ValueError, match="not fitted|fit"):
        RejectionDisplay.from_estimator(GaussianMixtureClassifier(), [[0.0]], ["a"])
    with pytest.raises(ValueError, match="which column is which class"):
        CalibrationDisplay.from_predictions(Labels.unknown(1, CLASSES), [[0.2, 0.3, 0.5]])
    model, X, labels = fitted
    with pytest.raises(ValueError, match="a row for each of the 90 items"):
        RejectionDisplay.from_estimator(model, X[:5], labels)
    with pytest.raises(ValueError, match="reject should be"):
        RejectionDisplay.from_estimator(model, X, labels).at(2.0)


def test_given_axes_are_drawn_on(answers, fitted):
    model, X, labels = fitted
    figure, ax = pyplot.subplots()
    for display in (
        ConflictDisplay.from_annotations(answers),
        AgreementDisplay.from_annotations(answers),
        ReliabilityDisplay.from_annotations(answers),
        ConfusionDisplay.from_estimator(model, X, labels),
        CalibrationDisplay.from_estimator(model, X, labels),
        RejectionDisplay.from_estimator(model, X, labels),
        SetSizeDisplay.from_estimator(model, X, labels),
    ):
        assert display.plot(ax=ax).ax_ is ax
        assert display.figure_ is figure
