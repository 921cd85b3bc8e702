"""Triangles, kinds, plausibilities and belief intervals: what is drawn is what labels say."""

import sys

import numpy as np
import pytest
from matplotlib import pyplot

from plausible.base import Beliefs
from plausible.belief import SparseMasses
from plausible.labels import Labels
from plausible.models import GaussianMixtureClassifier
from plausible.neighbors import EvidentialNeighborsClassifier
from plausible.plots import (
    BeliefIntervalDisplay,
    LabelKindsDisplay,
    LabelTriangleDisplay,
    PlausibilityDisplay,
)
from plots.drawn import CLASSES, in_legend, lengths, mixed_labels, texts, three_blobs, ticks


def kind_by_hand(labels, i):
    """What one label is, by its definition."""
    row = labels.contour[i] / max(labels.contour[i])
    if len(set(row)) == 1:
        return "nothing"
    if sum(row > 0) == 1:
        return "one class"
    if labels.is_probability[i]:
        return "probabilities"
    return "a set of classes" if set(row) == {0.0, 1.0} else "degrees"


def test_labels_lie_where_their_shares_say():
    labels, weights = mixed_labels()
    display = LabelTriangleDisplay.from_labels(labels, weights)
    assert display.weight.sum() == pytest.approx(weights.sum())
    corners = {"wren": (0, 0), "owl": (1, 0), "kite": (0.5, 0.75**0.5)}
    for name, corner in corners.items():
        (here,) = np.flatnonzero(np.hypot(*(display.points - corner).T) < 1e-9)
        sure = [w for row, w in zip(labels.contour, weights, strict=True)
                if row[CLASSES.index(name)] > 0 and (row > 0).sum() == 1]  # fmt: skip
        assert display.weight[here] == pytest.approx(sum(sure))
    (center,) = np.flatnonzero(np.hypot(*(display.points - [0.5, 0.75**0.5 / 3]).T) < 1e-9)
    assert display.weight[center] == pytest.approx(weights[labels.is_unknown].sum())
    by_hand = labels.contour / labels.contour.sum(axis=1, keepdims=True)
    places = np.array([corners[name] for name in labels.classes])
    rows = {tuple(np.round(point, 6)) for point in by_hand @ places}
    assert {tuple(np.round(point, 6)) for point in display.points} == rows


def test_the_triangle_is_drawn_with_its_corners_and_kinds():
    labels, weights = mixed_labels()
    display = LabelTriangleDisplay.from_labels(labels, weights).plot()
    assert texts(display.ax_) == CLASSES
    assert in_legend(display.ax_) == [
        "one class", "a set of classes", "degrees", "probabilities", "nothing",
    ]  # fmt: skip
    drawn = np.vstack([dots.get_offsets() for dots in display.ax_.collections])
    assert len(drawn) == len(display.points)
    areas = np.concatenate([dots.get_sizes() for dots in display.ax_.collections])
    assert areas.max() == pytest.approx(400)
    assert display.figure_ is display.ax_.figure


def test_a_classifier_of_three_classes_has_a_triangle():
    X, y = three_blobs()
    model = GaussianMixtureClassifier("tied").fit(X, y)
    display = LabelTriangleDisplay.from_estimator(model, X[:20])
    bets = model.predict_proba(X[:20])
    np.testing.assert_allclose(
        np.sort(display.shares.sum(axis=0)), np.sort(bets.sum(axis=0)), atol=1e-6
    )


def test_kinds_are_counted_by_weight():
    labels, weights = mixed_labels()
    display = LabelKindsDisplay.from_labels(labels, weights).plot()
    by_hand = dict.fromkeys(display.kinds, 0.0)
    for i, weight in enumerate(weights):
        by_hand[kind_by_hand(labels, i)] += weight
    np.testing.assert_allclose(display.count, list(by_hand.values()))
    np.testing.assert_allclose(lengths(display.ax_), np.array(display.count) / weights.sum())
    assert ticks(display.ax_.yaxis) == list(display.kinds)
    only = LabelKindsDisplay.from_labels(["a", "b", None, None]).plot()
    assert ticks(only.ax_.yaxis) == ["one class", "nothing"]
    assert [text.strip() for text in texts(only.ax_)] == ["2 (50 %)"] * 2


def test_plausibilities_are_bars_of_the_chosen_items():
    labels, _ = mixed_labels()
    names = [f"bird {i}" for i in range(len(labels))]
    display = PlausibilityDisplay.from_labels(labels, rows=[7, 31, 80], items=names).plot()
    np.testing.assert_allclose(lengths(display.ax_), labels.contour[[7, 31, 80]].ravel())
    assert ticks(display.ax_.yaxis) == 3 * CLASSES
    assert texts(display.ax_) == ["bird 7", "bird 31", "bird 80"]
    mask = np.arange(len(labels)) < 2
    assert PlausibilityDisplay.from_labels(labels, rows=mask).items == ["item 0", "item 1"]
    assert len(PlausibilityDisplay.from_labels(labels).items) == 8


def test_of_many_classes_the_most_plausible_are_drawn():
    rng = np.random.default_rng(3)
    contour = np.maximum(rng.uniform(0, 0.9, (4, 100)), np.eye(100)[[5, 17, 3, 99]])
    labels = Labels.from_plausibility(contour, classes=[f"c{k}" for k in range(100)])
    display = PlausibilityDisplay.from_labels(labels).plot(max_classes=3)
    for i in range(4):
        best = sorted(np.argsort(-contour[i])[:3])
        bars = display.ax_.patches[3 * i : 3 * i + 3]
        np.testing.assert_allclose([bar.get_width() for bar in bars], contour[i, best])
        assert ticks(display.ax_.yaxis)[3 * i : 3 * i + 3] == [f"c{k}" for k in best]
    assert texts(display.ax_)[0] == "item 0\n97 more"


def test_belief_intervals_of_masses_by_their_definition():
    rng = np.random.default_rng(4)
    sets = [1, 2, 4, 3, 6, 7]
    masses = SparseMasses(rng.dirichlet(np.ones(6), 5), sets, 3)
    beliefs = Beliefs.from_masses(masses, CLASSES)
    display = BeliefIntervalDisplay.from_beliefs(beliefs, rows=[4, 1]).plot()
    low, high, bet = np.zeros((3, 2, 3))
    for i, row in enumerate(masses.values[[4, 1]]):
        for mass, one in zip(row, sets, strict=True):
            members = [k for k in range(3) if one >> k & 1]
            for k in members:
                high[i, k] += mass
                bet[i, k] += mass / len(members)
                low[i, k] += mass * (len(members) == 1)
    np.testing.assert_allclose(lengths(display.ax_)[:12].reshape(2, 2, 3), [high, low], atol=1e-12)
    (ticks_of_bets,) = [one for one in display.ax_.lines if one.get_label() == "bet"]
    np.testing.assert_allclose(ticks_of_bets.get_xdata(), bet.ravel())
    assert in_legend(display.ax_) == ["bet", "belief", "plausibility"]
    labels = Labels.from_masses(masses, classes=CLASSES)
    again = BeliefIntervalDisplay.from_labels(labels, rows=[4, 1])
    np.testing.assert_allclose(again.belief, low, atol=1e-12)
    np.testing.assert_allclose(again.plausibility, high)


@pytest.mark.parametrize("n_classes", [3, 70])
def test_plausibilities_alone_give_nested_intervals(n_classes):
    contour = np.zeros((1, n_classes))
    contour[0, :3] = [0.5, 0.25, 0.0]
    labels = Labels.from_plausibility(contour, classes=[f"c{k}" for k in range(n_classes)])
    display = BeliefIntervalDisplay.from_labels(labels)
    np.testing.assert_allclose(display.plausibility[0, :3], [1.0, 0.5, 0.0])
    np.testing.assert_allclose(display.belief[0, :3], [0.5, 0.0, 0.0])
    np.testing.assert_allclose(display.probability[0, :3], [0.75, 0.25, 0.0])


def test_intervals_of_a_classifier_are_those_it_believes():
    X, y = three_blobs()
    model = EvidentialNeighborsClassifier(n_neighbors=4).fit(X, y)
    display = BeliefIntervalDisplay.from_estimator(model, X, rows=slice(3))
    np.testing.assert_allclose(display.plausibility, model.predict_plausibility(X[:3]))
    np.testing.assert_allclose(display.probability, model.predict_proba(X[:3]))
    assert (display.belief <= display.probability + 1e-12).all()
    bars = PlausibilityDisplay.from_estimator(model, X, rows=[0, 2])
    np.testing.assert_allclose(bars.plausibility, display.plausibility[[0, 2]])


def test_names_are_names_and_no_formulas():
    labels = Labels.from_crisp(["_hidden", "$x", "two\nlines"])
    display = LabelTriangleDisplay.from_labels(labels).plot()
    display.figure_.canvas.draw()
    assert texts(display.ax_) == [r"\$x", "_hidden", "two\\nlines"]


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(ValueError, match="three classes, but there are 2 classes.*Plausibility"):
        LabelTriangleDisplay.from_labels(["a", "b"])
    with pytest.raises(ValueError, match="at most 400 bars.*choose some rows"):
        PlausibilityDisplay.from_labels(np.tile(["a", "b"], 300), rows=slice(None)).plot()
    with pytest.raises(ValueError, match="name each of the 2 items"):
        PlausibilityDisplay.from_labels(["a", "b"], items=["one"])
    with pytest.raises(ValueError, match="numbers of rows below 2"):
        PlausibilityDisplay.from_labels(["a", "b"], rows=[2])
    with pytest.raises(TypeError, match="beliefs should be Beliefs"):
        BeliefIntervalDisplay.from_beliefs(["a"])
    with pytest.raises(ValueError, match="axes of matplotlib, but int was given"):
        LabelKindsDisplay.from_labels(["a", "b"]).plot(ax=3)
    with pytest.raises(ValueError, match="one non-negative number for each of the 2"):
        LabelKindsDisplay.from_labels(["a", "b"], sample_weight=[1.0])


def test_given_axes_are_drawn_on():
    figure, ax = pyplot.subplots()
    for display in (
        LabelTriangleDisplay.from_labels(["a", "b", "c"]),
        LabelKindsDisplay.from_labels(["a", "b"]),
        PlausibilityDisplay.from_labels(["a", "b"]),
        BeliefIntervalDisplay.from_labels(["a", "b"]),
    ):
        assert display.plot(ax=ax).ax_ is ax
        assert display.figure_ is figure


def test_numbers_need_no_matplotlib_and_pictures_say_how_to_get_it(monkeypatch):
    for name in ("matplotlib", "matplotlib.pyplot", "matplotlib.colors"):
        monkeypatch.setitem(sys.modules, name, None)
    display = LabelKindsDisplay.from_labels(["a", "b", None])
    assert display.count.tolist() == [2, 0, 0, 0, 1]
    with pytest.raises(ImportError, match=r'pip install "plausible\[plots\]"'):
        display.plot()
