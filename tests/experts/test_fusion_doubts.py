"""Doubts of sources: exact slopes, the likelihood by its definition, what few items teach."""

import numpy as np
import pytest

from plausible.belief import SparseMasses, contextual_discount, contour
from plausible.experts.fusion.doubts import (
    Said,
    criterion,
    descend,
    learn_doubts,
    log_likelihood,
    relaxed,
    shape_of_doubts,
)

WAYS = ["fit", "class", "contextual"]


def some(n=50, n_sources=3, n_classes=4, seed=0, reliable=(0.9, 0.7, 0.25)):
    """Contours of sources that are right in some of the items, with labels of all kinds."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(n_classes, size=n)
    contours = rng.uniform(0.0, 0.8, (n_sources, n, n_classes))
    for own, share in zip(contours, reliable, strict=False):
        says = np.where(rng.random(n) < share, codes, rng.integers(n_classes, size=n))
        own[np.arange(n), says] = 1.0
    contours[1, ::6] = 1.0  # says nothing
    known = np.where(np.eye(n_classes, dtype=bool)[codes], 1.0, rng.uniform(0, 0.5, (n, n_classes)))
    known[::7] = 1.0
    shares = np.arange(n) % 5 == 0
    known[shares] = rng.dirichlet(np.ones(n_classes), int(shares.sum()))
    return Said(contours, known, shares, rng.uniform(0.2, 2.0, n))


@pytest.mark.parametrize("way", WAYS)
def test_slopes_are_those_of_finite_differences(way):
    said = some()
    doubts = np.random.default_rng(1).uniform(0.05, 0.95, shape_of_doubts(said.contours, way))
    _, slopes = log_likelihood(doubts, said, way)
    for place in np.ndindex(doubts.shape):
        step = np.zeros_like(doubts)
        step[place] = 1e-4
        ends = [log_likelihood(doubts + k * step, said, way)[0] for k in (-2, -1, 1, 2)]
        slope = (ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]) / (12 * 1e-4)
        assert abs(slope - slopes[place]) < 1e-7 * max(1.0, abs(slope))
    odds = np.random.default_rng(2).normal(size=doubts.size)
    _, by_odds = descend(odds, said, way, 3.0)
    for place in range(odds.size):
        step = 1e-4 * np.eye(odds.size)[place]
        ends = [descend(odds + k * step, said, way, 3.0)[0] for k in (-2, -1, 1, 2)]
        slope = (ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]) / (12 * 1e-4)
        assert abs(slope - by_odds[place]) < 1e-7


@pytest.mark.parametrize("way", WAYS)
def test_the_likelihood_is_what_the_module_says(way):
    said = some()
    doubts = np.random.default_rng(1).uniform(0.05, 0.95, shape_of_doubts(said.contours, way))
    total = 0.0
    for i in range(len(said.weight)):
        product = np.ones(4)
        for s in range(3):
            own = said.contours[s, i]
            doubt = {"fit": lambda s=s: doubts[s], "contextual": lambda s=s: doubts[s]}.get(
                way, lambda s=s, own=own: doubts[s, own.argmax()]
            )()
            product *= own + doubt * (1.0 - own)
        bets = product / product.sum()
        known = said.known[i]
        value = np.log(known @ bets)
        if said.is_probability[i]:
            value = known / known.sum() @ np.log(bets)
        total += said.weight[i] * value
    assert log_likelihood(doubts, said, way)[0] == pytest.approx(total, abs=1e-10)
    imagined = 1.5 * np.log(doubts * (1 - doubts)).sum()
    assert criterion(doubts, said, way, 3.0) == pytest.approx(total + imagined, abs=1e-9)


def test_blocks_of_rows_change_nothing(monkeypatch):
    said = some()
    doubts = np.array([0.1, 0.4, 0.8])
    whole = log_likelihood(doubts, said, "fit")
    monkeypatch.setattr("plausible.experts.fusion.doubts.ENTRIES_AT_ONCE", 3 * 4 * 7)
    parts = log_likelihood(doubts, said, "fit")
    assert parts[0] == pytest.approx(whole[0], abs=1e-10)
    np.testing.assert_allclose(parts[1], whole[1], atol=1e-10)


def test_contextual_doubts_have_the_plausibilities_of_contextual_discounting():
    rng = np.random.default_rng(0)
    masses = SparseMasses(rng.dirichlet(np.ones(7), 20), np.arange(1, 8), 3)
    doubts = rng.uniform(size=3)
    expected = contour(contextual_discount(masses, doubts))
    found = relaxed(contour(masses)[None], doubts[None], "contextual")[0]
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("jointly", [True, False])
def test_learned_doubts_are_a_maximum(way, jointly):
    said = some(200)
    doubts = learn_doubts(said, way, 1.0, jointly)
    groups = [said] if jointly else [said.source(s) for s in range(3)]
    owns = [doubts] if jointly else [doubts[s : s + 1] for s in range(3)]
    rng = np.random.default_rng(3)
    for group, own in zip(groups, owns, strict=True):
        best = criterion(own, group, way, 1.0)
        for _ in range(50):
            other = np.clip(
                own + rng.normal(size=own.shape) * rng.choice([1e-3, 0.1]), 1e-9, 1 - 1e-9
            )
            assert criterion(other, group, way, 1.0) <= best + 1e-9
        for start in (0.02, 0.3, 0.98):
            assert criterion(np.full_like(own, start), group, way, 1.0) <= best
    order = doubts.reshape(3, -1).mean(axis=1)
    assert order[0] < order[1] < order[2]  # as reliable as they are


def test_weights_are_repetitions():
    said = some()
    times = np.random.default_rng(0).integers(1, 4, 50)
    often = said.rows(slice(None))._replace(weight=times.astype(float))
    rows = np.repeat(np.arange(50), times)
    repeated = Said(
        said.contours[:, rows], said.known[rows], said.is_probability[rows], np.ones(len(rows))
    )
    np.testing.assert_allclose(
        learn_doubts(often, "fit", 1.0, True), learn_doubts(repeated, "fit", 1.0, True), atol=1e-6
    )


def test_imagined_items_keep_few_from_deciding():
    contours = np.zeros((2, 3, 3))
    contours[0, np.arange(3), [0, 1, 2]] = 1.0  # always right
    contours[1, np.arange(3), [1, 2, 0]] = 1.0  # always wrong
    said = Said(contours, np.eye(3), np.zeros(3, bool), np.ones(3))
    few = learn_doubts(said, "fit", 1.0, False)
    assert 0.0 < few[0] < 0.2
    assert 0.7 < few[1] < 1.0
    more = learn_doubts(said, "fit", 20.0, False)
    assert few[0] < more[0] < more[1] < few[1]
    bare = learn_doubts(said, "fit", 0.0, False)
    np.testing.assert_allclose(bare, [0.0, 1.0], atol=1e-6)
