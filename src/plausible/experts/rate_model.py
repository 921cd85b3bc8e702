r"""Annotators who are right at some rate, and err evenly: the likelihood without confusions.

Annotator r is right about items of class k with probability :math:`c`, and names each other class
with :math:`w = (1 - c) / (K - 1)`. A statement with plausibilities s, doubted by d, then has

.. math:: P(s \mid k, r) = d + (1 - d) \Big( w \sum_l s_l + (c - w) \, s_k \Big),

which depends on s only by its sum but for the classes that s leaves possible. So an answer is a
number for all classes (or, with a rate for each class, K numbers that all answers of one annotator
share), and one more for each class that it names: nothing has the size of answers times classes.
Items are gone through some at a time; only what is known of them, (n, K), is kept. With one rate
for all classes, those that no answer about an item names are alike but for the prior, and an E step
goes through the others only, however many classes there are.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from plausible.experts.annotations import Annotations
from plausible.experts.answer_problem import (
    FLOOR,
    TINY,
    AnswerProblem,
    AnswerStatistics,
    Expectation,
    FloatArray,
    IntArray,
    Parameters,
    speaking,
)
from plausible.experts.answer_sums import is_much_work, normalize
from plausible.experts.doubted_rates import DoubtedRates
from plausible.experts.kinds import different
from plausible.experts.statements import add_up, expand

FEW_ALIKE = 4  # answers of a group on average, below which they are gone through one by one
TILE = 1 << 18  # probabilities of items that are gone through at a time


class Counts(NamedTuple):
    """How often annotators were right and how often they answered: (R, 1), or (R, K) by class."""

    right: FloatArray
    total: FloatArray


class Groups(NamedTuple):
    """Answers alike but for the classes they name: who, sum of the plausibilities, doubt."""

    who: IntArray
    size: FloatArray
    doubt: FloatArray


class Named(NamedTuple):
    """What each kind of answer says of each class that it names: its group, class, plausibility."""

    group: IntArray
    column: IntArray
    value: FloatArray


class Tile(NamedTuple):
    """Some items, with their answers.

    rows : which items
    groups (G,) : the groups of their answers
    answers (t, G) : how many answers of each group, or the sum of the powers they are raised to
    people (R, G) : whose groups they are
    entries : which of the entries, that is, of the classes that answers name
    """

    rows: slice
    groups: IntArray
    answers: csr_array
    people: csr_array
    entries: slice


class Cells(NamedTuple):
    """Pairs of an item and a class that some answer names.

    item, column (C,) : the pairs, ordered by item
    of_entry (E,) : the pair of each entry
    all_named (n,) : items of which every class is named
    """

    item: IntArray
    column: IntArray
    of_entry: IntArray
    all_named: NDArray[np.bool_]


class RateModel(AnswerProblem):
    """One rate of being right for each annotator ("one_coin"), or one in each class ("class")."""

    def __init__(
        self,
        annotations: Annotations,
        model: str,
        smoothing: float,
        gold: FloatArray | None,
        prior: FloatArray | None = None,
    ) -> None:
        super().__init__(annotations, smoothing, gold, prior)
        self.n_cells = 1 if model == "one_coin" else self.n_classes
        answers = annotations.select(speaking(annotations))
        if (np.diff(answers.item) < 0).any():
            answers = answers.select(np.argsort(answers.item, kind="stable"))
        self.groups, group = _group_answers(answers)
        self.doubted = self._with_doubts(answers)
        self._name_classes(answers, group)
        is_sparse = self.n_cells == 1 and gold is None
        self.cells = self._find_cells() if is_sparse else None
        self._cut_tiles(answers, group)

    def _with_doubts(self, answers: Annotations) -> DoubtedRates | None:
        """Answers by pair, where a rate for each class meets doubts that are mostly different."""
        is_different = len(self.groups.who) * FEW_ALIKE > len(answers)
        if self.n_cells == 1 or not is_different or not self.groups.doubt.any():
            return None
        return DoubtedRates(answers) if is_much_work(len(answers), self.n_classes) else None

    def _name_classes(self, answers: Annotations, group: IntArray) -> None:
        """What kinds of answers say of the classes they name, and where answers do so."""
        rows = answers.facts.rows
        kinds, kind = different(group * rows.shape[0] + answers.statement)
        of_kind, statement = np.divmod(kinds, rows.shape[0])
        which, place = expand(statement, rows.indptr)
        self.named = Named(of_kind[which], rows.indices[place].astype(np.int64), rows.data[place])
        counts = np.diff(rows.indptr)[statement]
        answer, self.entry = expand(kind, np.concatenate([[0], np.cumsum(counts)]))
        self.entry_item = answers.item[answer]
        self.entry_power = None if answers._power is None else answers._power[answer]
        # Place of item and class in a table of the items of the same tile.
        in_tile = self.entry_item % self._tile_rows()
        self.cell = in_tile * self.n_classes + self.named.column[self.entry]

    def _find_cells(self) -> Cells:
        """Pairs of items and classes that are named."""
        key = self.entry_item * self.n_classes + self.named.column[self.entry]
        pairs, of_entry = np.unique(key, return_inverse=True)
        item, column = np.divmod(pairs, self.n_classes)
        all_named = np.bincount(item, minlength=self.n_items) == self.n_classes
        return Cells(item, column, of_entry.ravel(), all_named)

    def _tile_rows(self) -> int:
        return max(TILE // self.n_classes, 1)

    def _cut_tiles(self, said: Annotations, group: IntArray) -> None:
        item, power = said.item, said._power
        edges = [*range(0, self.n_items, self._tile_rows()), self.n_items]
        first, first_entry = np.searchsorted(item, edges), np.searchsorted(self.entry_item, edges)
        del self.entry_item
        self.tiles = []
        for t, (start, stop) in enumerate(pairwise(edges)):
            mine = slice(first[t], first[t + 1])
            groups, place = np.unique(group[mine], return_inverse=True)
            each, row = np.ones(len(place)) if power is None else power[mine], item[mine] - start
            answers = csr_array((each, (row, place.ravel())), shape=(stop - start, len(groups)))
            whose = self.groups.who[groups], np.arange(len(groups))
            people = csr_array(
                (np.ones(len(groups)), whose), shape=(self.n_annotators, len(groups))
            )
            entries = slice(first_entry[t], first_entry[t + 1])
            self.tiles.append(Tile(slice(start, stop), groups, answers, people, entries))

    def _rates(self, learned: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Probability of the right answer, and of each wrong one."""
        wrong = (1 - learned) / max(self.n_classes - 1, 1)
        return np.maximum(learned, FLOOR), np.maximum(wrong, FLOOR)

    def _of_groups(self, learned: FloatArray, groups: IntArray) -> tuple[FloatArray, FloatArray]:
        """P of classes that are not named, (G, 1) or (G, K), and the part of the right answer."""
        sure, wrong = self._rates(learned)
        who = self.groups.who[groups]
        size, doubt = self.groups.size[groups, None], self.groups.doubt[groups, None]
        base = doubt + (1 - doubt) * wrong[who] * size
        return base, sure[who] * doubt / base

    def _of_named(self, learned: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What classes that are named have more than others: of log P, of the right answer."""
        group, column, value = self.named
        who, size, doubt = (part[group] for part in self.groups)
        cell = who, column if self.n_cells > 1 else np.zeros_like(column)
        sure, wrong = (rate[cell] for rate in self._rates(learned))
        base = doubt + (1 - doubt) * wrong * size
        chance = np.maximum(base + (1 - doubt) * (sure - wrong) * value, TINY)
        right = sure * (doubt + (1 - doubt) * value) / chance
        return np.log(chance / base), right - sure * doubt / base

    def _table(self, tile: Tile, of_groups: FloatArray, of_named: FloatArray) -> FloatArray:
        """Sums (t, K) over the answers about items: of their groups, and of classes they name."""
        n_rows = tile.rows.stop - tile.rows.start
        values = of_named[self.entry[tile.entries]]
        if self.entry_power is not None:
            values = values * self.entry_power[tile.entries]
        table = add_up(self.cell[tile.entries], values, n_rows * self.n_classes)
        table = table.reshape(n_rows, self.n_classes)
        table += tile.answers @ of_groups
        return table

    def evidence(self, point: Parameters) -> FloatArray:
        """Log likelihood (n, K) of the answers about each item, by class."""
        if self.doubted is not None:
            return self.doubted.evidence(*self._rates(point.learned))
        found = np.empty((self.n_items, self.n_classes))
        of_named = self._of_named(point.learned)[0]
        for tile in self.tiles:
            of_groups = np.log(self._of_groups(point.learned, tile.groups)[0])
            found[tile.rows] = self._table(tile, of_groups, of_named)
        return found

    def vote_shares(self) -> FloatArray:
        """Shares (n, K) of the classes among the answers about each item; zeros without any."""
        found = np.empty((self.n_items, self.n_classes))
        _, size, doubt = self.groups
        whole = doubt * self.n_classes + (1 - doubt) * size
        of_named = (1 - doubt)[self.named.group] * self.named.value / whole[self.named.group]
        of_groups = (doubt / whole)[:, None]
        for tile in self.tiles:
            table = self._table(tile, of_groups[tile.groups], of_named)
            table /= np.maximum(table.sum(axis=1, keepdims=True), FLOOR)
            found[tile.rows] = table
        return found

    def expected(self, posterior: FloatArray, learned: FloatArray) -> Counts:
        """How often annotators are right and answer, at probabilities (n, K) of classes."""
        if self.doubted is not None:
            return Counts(*self.doubted.expected(posterior, *self._rates(learned)))
        counter = Counter(self, learned)
        for tile in self.tiles:
            counter.add(tile, posterior[tile.rows])
        return counter.counts()

    def _expect(self, point: Parameters) -> tuple[Expectation, FloatArray]:
        prior = np.log(np.maximum(point.prior, TINY))
        if self.doubted is not None:
            found = self.doubted.expect(*self._rates(point.learned), prior, self.gold)
            counts = Counts(found.right, found.total)
            return Expectation(point, found.posterior, counts, found.log_likelihood), found.in_all
        posterior = np.empty((self.n_items, self.n_classes))
        of_named = self._of_named(point.learned)[0]
        counter = Counter(self, point.learned)
        shares, log_likelihood = np.zeros(self.n_classes), 0.0
        for tile in self.tiles:
            of_groups = np.log(self._of_groups(point.learned, tile.groups)[0])
            known = None if self.gold is None else self.gold[tile.rows]
            table, totals = normalize(self._table(tile, of_groups, of_named), prior, known)
            posterior[tile.rows] = table
            counter.add(tile, table)
            shares += table.sum(axis=0)
            log_likelihood += float(totals.sum())
        return Expectation(point, posterior, counter.counts(), log_likelihood), shares

    def _summary(self, point: Parameters) -> AnswerStatistics:
        if self.cells is None:
            return super()._summary(point)
        counts, shares, log_likelihood = self._expect_named(self.cells, point)
        criterion = log_likelihood + self.log_prior(point.learned)
        return AnswerStatistics(counts, shares / self.n_items, criterion)

    def _expect_named(self, cells: Cells, point: Parameters) -> tuple[Counts, FloatArray, float]:
        """The E step by way of the named classes: counts, shares (K,) in all, log likelihood."""
        n_cells, prior = len(cells.item), point.prior[cells.column]
        more = self._of_named(point.learned)[0][self.entry]
        if self.entry_power is not None:
            more *= self.entry_power
        scores = add_up(cells.of_entry, more, n_cells)
        top = np.where(cells.all_named, -np.inf, 0.0)
        np.maximum.at(top, cells.item, scores)
        powers = prior * np.exp(scores - top[cells.item])
        rest = point.prior.sum() - add_up(cells.item, prior, self.n_items)
        unnamed = np.where(cells.all_named, 0.0, np.maximum(rest, 0.0)) * np.exp(-top)
        whole = unnamed + add_up(cells.item, powers, self.n_items)
        powers /= whole[cells.item]
        log_likelihood = float((top + np.log(whole)).sum())
        counter = Counter(self, point.learned)
        for tile in self.tiles:
            counter.add_groups(tile, np.ones((tile.rows.stop - tile.rows.start, 1)))
            base = self._of_groups(point.learned, tile.groups)[0]
            log_likelihood += float((tile.answers @ np.log(base)).sum())
        counter.held = powers[cells.of_entry]
        flat = np.where(cells.all_named, 0.0, np.exp(-top) / whole)
        left = flat.sum() - add_up(cells.column, flat[cells.item], self.n_classes)
        shares = point.prior * left + add_up(cells.column, powers, self.n_classes)
        return counter.counts(), shares, log_likelihood

    def expect(self, point: Parameters) -> Expectation:
        """The E step at a point, with the posterior of all items."""
        if self.last is None or self.last.point is not point:
            self.last = None  # before the next one takes as much memory
            self.last = self._expect(point)[0]
        return self.last

    def log_prior(self, learned: FloatArray) -> float:
        """Log density of the imagined answers, up to a constant."""
        if not self.smoothing:
            return 0.0
        right, total = (number / self.n_cells for number in self.imagined())
        sure, wrong = self._rates(learned)
        return float((right * np.log(sure) + (total - right) * np.log(wrong)).sum())

    def tally(self, counts: Counts) -> tuple[FloatArray, FloatArray]:
        """How often each annotator (R,) is expected to be right, and how often they answered."""
        return counts.right.sum(axis=1), counts.total.sum(axis=1)

    def _learn(self, counts: Counts) -> FloatArray:
        right, total = (
            count + number / self.n_cells
            for count, number in zip(counts, self.imagined(), strict=True)
        )
        rate = np.full(total.shape, 1 / self.n_classes)
        np.divide(right, total, out=rate, where=total > 0)
        return np.clip(rate, 0.0, 1.0)

    def first_counts(self, posterior: FloatArray) -> Counts:
        """Expected answers at first, when everybody is half right."""
        half_right = (1 + 1 / self.n_classes) / 2
        return self.expected(posterior, np.full((self.n_annotators, self.n_cells), half_right))

    def begin(self, counts: Counts, believe: bool) -> FloatArray:
        """Rates of being right at first."""
        half_right = (1 + 1 / self.n_classes) / 2
        if believe:
            unreached = counts.total.sum(axis=1) <= 0
            counts.right[unreached], counts.total[unreached] = half_right, 1.0
        return self._learn(counts)


def _group_answers(answers: Annotations) -> tuple[Groups, IntArray]:
    """Answers of one annotator, size and doubt together, and the group (A,) of each."""
    sizes, size = np.unique(answers.facts.size, return_inverse=True)
    group = answers.annotator * len(sizes) + size.ravel()[answers.statement]
    levels = np.zeros(1)
    if answers.doubt is not None:
        levels, level = np.unique(answers.doubt, return_inverse=True)
        group = group * len(levels) + level.ravel()
    groups, group = different(group)
    rest, level = np.divmod(groups, len(levels))
    return Groups(rest // len(sizes), sizes[rest % len(sizes)], levels[level]), group


class Counter:
    """Adds up expected answers, tile by tile."""

    def __init__(self, model: RateModel, learned: FloatArray) -> None:
        self.model, self.learned = model, learned
        shape = model.n_annotators, model.n_cells
        self.right, self.total = np.zeros(shape), np.zeros(shape)
        self.is_doubted = bool(model.groups.doubt.any())
        self.held = np.zeros(len(model.entry))  # by each class that an answer names

    def add(self, tile: Tile, posterior: FloatArray) -> None:
        """Take the (weighted) probabilities (t, K) of the classes of some items."""
        self.held[tile.entries] = posterior.ravel()[self.model.cell[tile.entries]]
        several = self.model.n_cells > 1
        self.add_groups(tile, posterior if several else posterior.sum(axis=1, keepdims=True))

    def add_groups(self, tile: Tile, by_cell: FloatArray) -> None:
        """Take probabilities (t, 1) or (t, K), for the groups of answers only."""
        held = tile.answers.T @ by_cell
        self.total += tile.people @ held
        if self.is_doubted:
            meant = self.model._of_groups(self.learned, tile.groups)[1]
            self.right += tile.people @ (meant * held)

    def counts(self) -> Counts:
        """How often annotators were right, and how often they answered."""
        group, column, _ = self.model.named
        n_annotators, n_cells = self.right.shape
        more = self.model._of_named(self.learned)[1]
        power = self.model.entry_power
        held = self.held if power is None else self.held * power
        more *= add_up(self.model.entry, held, len(group))
        cell = self.model.groups.who[group] * n_cells + (column if n_cells > 1 else 0)
        named = add_up(cell, more, n_annotators * n_cells).reshape(n_annotators, n_cells)
        return Counts(self.right + named, self.total)


def confusions(rate: FloatArray, n_classes: int) -> FloatArray:
    """Confusions (R, K, K) from probabilities (R, 1) or (R, K) of being right, errors even.

    Examples
    --------
    >>> confusions(np.array([[0.8]]), 3).round(2)
    array([[[0.8, 0.1, 0.1],
            [0.1, 0.8, 0.1],
            [0.1, 0.1, 0.8]]])
    """
    every = np.arange(n_classes)
    wide = np.broadcast_to(rate, (len(rate), n_classes))
    wrong = (1 - wide) / max(n_classes - 1, 1)
    confusion = np.repeat(wrong[:, :, None], n_classes, axis=2)
    confusion[:, every, every] = wide
    return np.maximum(confusion, FLOOR)
