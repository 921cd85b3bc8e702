"""Answers that somebody gave more than once about the same item."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.checks import check_option
from plausible.errors import Note
from plausible.experts.tables import Codes

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
REPEATS = ("all", "once", "first", "last")
MANY = 50_000  # answers for which a thread is worth its start
BLOCK = 1 << 15  # answers that are looked at at a time, so that they stay in the cache
N_ENDS = 1 << 20  # of the numbers of pairs, by which most that come once are told


class Repeated(NamedTuple):
    """Answers that are kept (None for all), and notes on what was found and done."""

    kept: IntArray | None
    notes: list[Note]


class Again(NamedTuple):
    """Answers of people who answered several times about an item, and which belong together.

    rows (m,) : of the answers
    group (m,) : from 0 for each item and person, in no order
    """

    rows: IntArray
    group: IntArray


class Search:
    """A search for people who answered again, which goes on meanwhile if there are many answers.

    Examples
    --------
    >>> item, annotator = np.array([0, 1, 0]), np.array([2, 2, 2])
    >>> search = Search(item, annotator)
    >>> search.is_about(item, annotator), search.is_about(item, annotator[::-1])
    (True, False)
    >>> search.found().rows
    array([0, 2])
    """

    def __init__(self, item: IntArray, annotator: IntArray) -> None:
        self._about = item, annotator
        self.found: Callable[[], Again] = partial(find_repeats, item, annotator)
        if len(item) >= MANY:
            thread = ThreadPoolExecutor(1)
            self.found = thread.submit(self.found).result
            thread.shutdown(wait=False)

    def is_about(self, item: IntArray, annotator: IntArray) -> bool:
        """Whether these very columns are searched."""
        return self._about[0] is item and self._about[1] is annotator


def begin_search(item: Codes, annotator: Codes) -> Search:
    """A search for people who answered again: the one that was begun, if it is about the same."""
    begun: Search | None = item.search
    if begun is not None and begun.is_about(item.codes, annotator.codes):
        return begun
    return Search(item.codes, annotator.codes)


def find_repeats(item: IntArray, annotator: IntArray) -> Again:
    """Answers of people who answered several times about an item.

    Examples
    --------
    >>> find_repeats(np.array([0, 1, 0, 0]), np.array([2, 2, 2, 1]))
    Again(rows=array([0, 2]), group=array([0, 0]))
    """
    pairs = _pair_numbers(item, annotator)
    twice = _repeated(pairs)
    # Answers whose last bits are of a pair that comes again.
    may_repeat = np.zeros(N_ENDS, dtype=bool)
    may_repeat[twice & (N_ENDS - 1)] = True
    several = _places_in(pairs, may_repeat) if len(twice) else np.zeros(0, np.int64)
    group = _number_repeats(pairs[several])
    return Again(several[group >= 0], group[group >= 0])


def _places_in(pairs: NDArray[Any], may_repeat: NDArray[np.bool_]) -> IntArray:
    """Rows whose last bits are in a table."""
    return np.concatenate(
        [
            np.flatnonzero(may_repeat.take(pairs[start : start + BLOCK] & (N_ENDS - 1))) + start
            for start in range(0, len(pairs), BLOCK)
        ]
    )


def settle_repeats(
    again: Again, statement: IntArray, doubt: FloatArray | None, repeats: str
) -> Repeated:
    """Which answers count, where a person answered several times about an item."""
    check_option(repeats, REPEATS, "repeats")
    several, group = again
    if not len(several):
        return Repeated(None, [])
    first_said, n_equal, n_changed = _compared(again, statement, doubt)
    if repeats == "all":
        return Repeated(None, tell_repeats(n_equal, n_changed, repeats))
    chosen = {
        "once": first_said,
        "first": np.unique(group, return_index=True)[1],
        "last": len(group) - 1 - np.unique(group[::-1], return_index=True)[1],
    }[repeats]
    is_kept = np.ones(len(statement), dtype=bool)
    is_kept[several] = False
    is_kept[several[chosen]] = True
    return Repeated(np.flatnonzero(is_kept), tell_repeats(n_equal, n_changed, repeats))


def count_repeats(
    item: IntArray, annotator: IntArray, statement: IntArray, doubt: FloatArray | None
) -> tuple[int, int]:
    """How many answers repeat an earlier one, and how often a person changed an answer."""
    again = find_repeats(item, annotator)
    return _compared(again, statement, doubt)[1:] if len(again.rows) else (0, 0)


def _compared(
    again: Again, statement: IntArray, doubt: FloatArray | None
) -> tuple[IntArray, int, int]:
    """The first of equal answers, how many repeat it, and how often a person changed an answer."""
    several, group = again
    said = _same_answers(group, statement[several], None if doubt is None else doubt[several])
    first_said = np.unique(said, return_index=True)[1]
    n_changed = int((np.bincount(group[first_said]) > 1).sum())
    return first_said, len(several) - len(first_said), n_changed


def _pair_numbers(item: IntArray, annotator: IntArray) -> NDArray[Any]:
    """A number for the item and the person of each answer."""
    n_items, n_people = int(item.max(initial=0)) + 1, int(annotator.max(initial=0)) + 1
    # Short numbers are sorted in half the time.
    whole: Any = np.int32 if n_items * n_people < np.iinfo(np.int32).max else np.int64
    pairs: NDArray[Any] = np.empty(len(item), whole)
    for start in range(0, len(item), BLOCK):
        part = slice(start, start + BLOCK)
        pairs[part] = item[part] * n_people + annotator[part]
    return pairs


def _repeated(numbers: NDArray[Any]) -> NDArray[Any]:
    """Numbers that come again, in order."""
    numbers = np.sort(numbers)
    return numbers[1:].take(np.flatnonzero(numbers[1:] == numbers[:-1]))


def _number_repeats(numbers: NDArray[Any]) -> IntArray:
    """For each number that comes more than once its rank among these, else -1.

    Examples
    --------
    >>> _number_repeats(np.array([7, 3, 9, 7, 9, 5]))
    array([ 0, -1,  1,  0,  1, -1])
    """
    order = np.argsort(numbers)
    in_order = numbers[order]
    is_new = np.append(True, in_order[1:] != in_order[:-1])
    is_repeated = np.bincount(np.cumsum(is_new) - 1) > 1
    rank = np.where(is_repeated, np.cumsum(is_repeated) - 1, -1)
    found = np.empty(len(numbers), dtype=np.int64)
    found[order] = rank[np.cumsum(is_new) - 1]
    return found


def _same_answers(group: IntArray, statement: IntArray, doubt: FloatArray | None) -> IntArray:
    """A number for each different answer: by whom, about what, what it says, how far doubted."""
    said = group * (int(statement.max()) + 1) + statement
    if doubt is None:
        return said
    _, doubted = np.unique(doubt, return_inverse=True)
    _, said = np.unique(said, return_inverse=True)
    return np.asarray(said * (int(doubted.max()) + 1) + doubted, dtype=np.int64)


def tell_repeats(n_equal: int, n_changed: int, repeats: str) -> list[Note]:
    """Notes on answers given twice, with what was done about them."""
    notes = []
    if n_equal:
        counts = "1 answer repeats" if n_equal == 1 else f"{n_equal} answers repeat"
        done = "counted again each time; {repeats} counts them once"
        if repeats != "all":
            done = "counted once"
        notes.append(
            Note(f"{counts} an earlier one, by the same person about the same item: {done}",
                 repeats="once")
        )  # fmt: skip
    if n_changed:
        counts = "Once, a person" if n_changed == 1 else f"{n_changed} times, a person"
        done = "all of these count; {repeats} keeps the last one"
        if repeats in ("first", "last"):
            done = f"the {repeats} one was kept"
        notes.append(
            Note(f"{counts} gave different answers about the same item: {done}", repeats="last")
        )
    return notes
