import numpy as np
import pytest
from scipy.special import logsumexp

from plausible.experts import Annotations, answer_sums, fit_reliability
from plausible.experts.answer_sums import SparseSums
from plausible.experts.compiled_answers import CompiledSums
from plausible.experts.reliability_fit import pose


def draw(n_items, n_kinds, n_answers, n_classes, seed):
    random = np.random.default_rng(seed)
    item, kind = random.integers(n_items, size=n_answers), random.integers(n_kinds, size=n_answers)
    logs = np.log(random.dirichlet(np.ones(n_classes), size=n_kinds))
    prior = np.log(random.dirichlet(np.ones(n_classes)))
    return item, kind, logs, prior, random


def by_loops(item, kind, logs, scores, n_kinds):
    """The E step, answer by answer."""
    scores = scores.copy()
    for i, u in zip(item, kind, strict=True):
        scores[i] += logs[u]
    totals = logsumexp(scores, axis=1)
    posterior = np.exp(scores - totals[:, None])
    held = np.zeros((n_kinds, scores.shape[1]))
    for i, u in zip(item, kind, strict=True):
        held[u] += posterior[i]
    return posterior, held, posterior.sum(axis=0), totals.sum()


@pytest.mark.parametrize("way", [SparseSums, CompiledSums])
@pytest.mark.parametrize("with_known", [False, True])
@pytest.mark.parametrize(
    ("n_items", "n_kinds", "n_answers", "n_classes"),
    [(7, 3, 20, 2), (30, 5, 400, 3), (9, 4, 0, 3), (500, 6, 300, 11), (3, 2, 100, 1)],
)
def test_e_steps_equal_a_loop_over_answers(way, with_known, n_items, n_kinds, n_answers, n_classes):
    item, kind, logs, prior, random = draw(n_items, n_kinds, n_answers, n_classes, seed=n_items)
    known = None
    start = np.tile(prior, (n_items, 1))
    if with_known:  # some classes are excluded, none of them everywhere
        known = np.where(random.random((n_items, n_classes)) < 0.3, -np.inf, -0.5)
        known[:, 0] = -0.1
        start = start + known
    sums = way(item, kind, n_items, n_kinds)
    found = sums.expect(logs, prior, known)
    for ours, wanted in zip(found, by_loops(item, kind, logs, start, n_kinds), strict=True):
        np.testing.assert_allclose(ours, wanted, rtol=1e-12, atol=1e-12)


def test_compiled_tiles_and_blocks_do_not_change_sums(monkeypatch):
    monkeypatch.setattr("plausible.experts.compiled_answers.TILE", 12)
    item, kind, logs, prior, _ = draw(101, 3, 1500, 4, seed=0)
    compiled, sparse = CompiledSums(item, kind, 101, 3), SparseSums(item, kind, 101, 3)
    assert len(compiled.blocks) == 8
    for ours, wanted in zip(
        compiled.expect(logs, prior, None), sparse.expect(logs, prior, None), strict=True
    ):
        np.testing.assert_allclose(ours, wanted, rtol=1e-12)
    values = np.random.default_rng(1).normal(size=(4, 101)).T  # not contiguous
    np.testing.assert_allclose(compiled.of_kinds(values), sparse.of_kinds(values), rtol=1e-12)
    np.testing.assert_allclose(compiled.of_items(logs), sparse.of_items(logs), rtol=1e-12)


@pytest.mark.parametrize("model", ["one_coin", "class", "full"])
def test_compiled_fits_equal_sparse_ones(model, monkeypatch):
    random = np.random.default_rng(0)
    y = random.integers(3, size=60)
    answers = np.where(random.random((60, 5)) < 0.7, y[:, None], random.integers(3, size=(60, 5)))
    rows = [[int(one) for one in row] for row in answers]
    rows[3][2] = {0, 1}  # a set and an abstention among them
    rows[8][0] = None
    given = Annotations.from_answers(rows, classes=[0, 1, 2])
    gold = {given.items[0]: int(y[0])}
    slow = fit_reliability(given, model, gold=gold)
    monkeypatch.setattr(answer_sums, "FAST_WORK", 0)
    fast = fit_reliability(given, model, gold=gold)
    np.testing.assert_allclose(fast.posterior, slow.posterior, atol=1e-8)
    np.testing.assert_allclose(fast.confusion, slow.confusion, atol=1e-7)
    assert fast.log_likelihood == pytest.approx(slow.log_likelihood, rel=1e-10)


def doubted(has_sets, has_power, seed=3):
    """Sets, doubts of nearly nothing and others, hundreds of answers about one item."""
    rng = np.random.default_rng(seed)
    n_answers, classes = 900, [2, 0, 1, 4, 3]
    item, who = rng.integers(60, size=n_answers), rng.integers(6, size=n_answers)
    item[:300] = 5
    labels = [
        {int(a), int(b)} if has_sets and rng.random() < 0.3 else int(a)
        for a, b in rng.integers(5, size=(n_answers, 2))
    ]
    doubt = np.where(rng.random(n_answers) < 0.2, 0.0, rng.uniform(0, 1e-3, n_answers))
    doubt[600:] = rng.uniform(0, 1, n_answers - 600)
    answers = Annotations.from_long(item, who, labels, doubt=doubt, classes=classes)
    if has_power:
        answers = answers._with(_power=np.where(rng.random(n_answers) < 0.5, 1.0, 0.4))
    return answers, rng


@pytest.mark.parametrize("model", ["full", "class"])
@pytest.mark.parametrize(
    ("has_gold", "has_sets", "has_power"),
    [(False, True, False), (True, True, True), (True, False, False), (False, False, True)],
)
def test_doubts_by_products_are_those_by_logarithms(
    model, has_gold, has_sets, has_power, monkeypatch
):
    answers, rng = doubted(has_sets, has_power)
    gold = None
    if has_gold:  # against the answers
        gold = np.where(rng.random((len(answers.items), 5)) < 0.3, -np.inf, 0.0)
        gold[:, 2] = 0.0
    weighted = rng.dirichlet(np.ones(5), len(answers.items)) * rng.random((60, 1))
    found = []
    for work in (10**9, 0):
        monkeypatch.setattr(answer_sums, "FAST_WORK", work)
        problem = pose(answers, model, 1.0, gold)
        point = problem.solve(problem.summarize([problem.start()])[0])
        (_, posterior, counts, log_likelihood), in_all = problem._expect(point)
        others = problem.evidence(point), problem.vote_shares()
        counts = problem.tally(counts), problem.tally(problem.expected(weighted, point.learned))
        learned = problem.solve(problem.summarize([point])[0])
        found.append((posterior, log_likelihood, in_all, *others, *counts, *learned))
    for slow, fast in zip(*found, strict=True):
        np.testing.assert_allclose(fast, slow, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("model", ["full", "class", "shrunk"])
def test_fits_with_different_doubts_end_at_the_same_point(model, monkeypatch):
    answers, _ = doubted(has_sets=True, has_power=False, seed=4)
    slow = fit_reliability(answers, model, max_iter=2000)
    monkeypatch.setattr(answer_sums, "FAST_WORK", 0)
    fast = fit_reliability(answers, model, max_iter=2000)
    assert fast.n_iter == slow.n_iter
    np.testing.assert_allclose(fast.posterior, slow.posterior, atol=1e-10)
    np.testing.assert_allclose(fast.learned, slow.learned, atol=1e-10)
    np.testing.assert_allclose(fast.low, slow.low, atol=1e-10)
