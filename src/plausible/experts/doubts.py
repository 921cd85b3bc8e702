r"""Doubts of those who answered, from whatever scale they were asked on.

.. math:: \delta = 1 - \text{confidence}

Numbers in [0, 1] and percentages have a meaning of their own. Words, and ratings such as 1 to 5,
have one only if somebody says it: ``words={"high": 0.05, "low": 0.5}`` is the doubt of each.
"""

import itertools
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.checks import as_list, check_kind, check_number, check_option, name_rows, shown
from plausible.errors import InputError, Note
from plausible.experts.tables import Codes, canonical, is_gone
from plausible.experts.words import fold

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
MEANINGS = ("doubt", "confidence")
DECIMAL_COMMA = re.compile(r"[0-9]+,[0-9]+")
GRADE = re.compile(r"^\d+(?!\d)|\d+$")  # of "4 - high", "3/5" and "level 2"
PERCENT = re.compile(r"([+-]?\d+(?:[.,]\d+)?)\s*%")
LARGEST_RATING = 10  # of whole numbers from 0 or 1; larger ones up to 100 are percentages
A_FEW = 0.05  # of percentages may lie below 1
BEFORE_GOLD = (0.2, 0.4, 0.7)  # doubts of the surest of some words, the middle and the last
USUAL = {
    "very low": 0.8, "not at": 0.8, "at all": 0.8, "certain": 0.02, "very sure": 0.02,
    "very high": 0.02, "very": 0.02, "sure": 0.05, "high": 0.05, "yes": 0.05, "true": 0.05,
    "confident": 0.05, "fairly sure": 0.2, "medium": 0.2, "moderate": 0.2, "mid": 0.2,
    "fairly": 0.2, "quite": 0.2, "somewhat": 0.3, "somewhat sure": 0.3, "slightly": 0.5, "low": 0.5,
    "unsure": 0.5, "not": 0.5, "uncertain": 0.5, "not sure": 0.5, "no": 0.5, "false": 0.5,
    "guess": 0.8, "guessing": 0.8,
}  # fmt: skip  # what a message suggests; nothing is read by it


class Doubts(NamedTuple):
    """Doubts (A,), NaN where they are not known, and notes on how they were read."""

    values: FloatArray
    notes: list[Note]


class Scale(NamedTuple):
    """By what plain numbers of a column are to be divided, 1 or 100, and notes on it."""

    divisor: float
    notes: list[Note]


class Parsed(NamedTuple):
    """Different cells of a column: which of them are to be read as numbers, which as words.

    numbers, is_percent : of cells; NaN of those that are none
    by_word : doubt of each word, NaN of others
    """

    numbers: FloatArray
    is_percent: NDArray[np.bool_]
    by_word: FloatArray
    is_number: NDArray[np.bool_]


def read_doubts(
    column: Codes,
    meaning: str,
    words: Mapping[Any, float] | None = None,
    name: str | None = None,
    scale: Scale | None = None,
) -> Doubts:
    """Doubts from a column of doubts or of confidences.

    Without `scale`, that of numbers is judged from this column.
    """
    check_option(meaning, MEANINGS, "meaning")
    name = meaning if name is None else name
    if meaning == "doubt" and not words and column.names.dtype.kind == "f":
        return Doubts(_check_range(column.names, column, meaning), [])
    parsed = _parsed(column, meaning, words, name)
    numbers, is_percent, by_word, rest = parsed
    scale = _with_words(_judged(parsed, meaning, name), parsed, name) if scale is None else scale
    if is_percent.any():
        numbers[is_percent] /= 100
    numbers = np.where(rest, numbers, np.nan)
    numbers[~is_percent] /= scale.divisor
    values = _check_range(numbers, column, meaning)
    values = values if meaning == "doubt" else 1 - values
    if np.isnan(by_word).all():
        return Doubts(values, scale.notes)
    said = by_word.take(column.codes)
    return Doubts(np.where(np.isnan(said), values, said), scale.notes)


def scale_of(
    cells: NDArray[Any],
    meaning: str,
    words: Mapping[Any, float] | None = None,
    name: str | None = None,
) -> Scale:
    """The scale of a column, judged by its different cells, of which none is missing."""
    name = meaning if name is None else name
    parsed = _parsed(Codes(np.arange(len(cells)), cells), meaning, words, name)
    return _with_words(_judged(parsed, meaning, name), parsed, name)


def _with_words(scale: Scale, parsed: Parsed, name: str) -> Scale:
    """The same, with a note on words if there are any."""
    if np.isnan(parsed.by_word).all():
        return scale
    told = Note(f"{name!r} was read by the doubt of each word")
    return scale._replace(notes=[*scale.notes, told])


def _parsed(column: Codes, meaning: str, words: Mapping[Any, float] | None, name: str) -> Parsed:
    """Numbers and words in the cells of a column; words whose doubt was not said are refused."""
    present = np.bincount(column.codes, minlength=len(column.names)) > 0
    if not words and column.names.dtype.kind == "f":
        numbers = column.names.copy()
        never = np.zeros(len(numbers), dtype=bool)
        return Parsed(numbers, never, np.full(len(numbers), np.nan), present & ~np.isnan(numbers))
    cells = [None if is_gone(cell) else cell for cell in column.names.tolist()]
    given = _check_words(words)
    by_word = np.full(len(cells), np.nan)
    if given:
        by_word[:] = [_word_doubt(cell, given) for cell in cells]
    numbers, is_percent = as_numbers(cells)
    there = np.array([cell is not None for cell in cells], dtype=bool)
    rest = present & np.isnan(by_word) & there
    strange = rest & np.isnan(numbers)
    if strange.any():
        _refuse_words([cells[k] for k in np.flatnonzero(strange)], cells, meaning, name, given)
    return Parsed(numbers, is_percent, by_word, rest)


def doubts_in_order(words: Any) -> dict[Any, float]:
    """A doubt for each of some words of certainty, the surest first.

    On real answers about pictures, three words were right beyond luck in 0.8, 0.6 and 0.3 of the
    cases; other numbers of words lie between these. Known classes show better:
    `calibrate_words`, for which only the order counts.

    Examples
    --------
    >>> doubts = doubts_in_order(["sure", "rather", "guess"])
    >>> {word: round(doubt, 2) for word, doubt in doubts.items()}
    {'sure': 0.2, 'rather': 0.4, 'guess': 0.7}
    """
    listed = as_list(words, "order", "words")
    if not listed or len({fold(canonical(word)) for word in listed}) < len(listed):
        raise InputError(
            "order should be different words of certainty, the surest first",
            f"{shown(listed)} was given",
            "write ['sure', 'rather', 'guess']",
            parameter="order",
            value=words,
        )
    places = np.linspace(0.0, 1.0, len(listed)) if len(listed) > 1 else np.array([0.5])
    found = np.interp(places, [0.0, 0.5, 1.0], BEFORE_GOLD).tolist()
    return dict(zip(listed, found, strict=True))


def _check_range(numbers: FloatArray, column: Codes, meaning: str) -> FloatArray:
    """Numbers (A,) of the cells, NaN where they are not known, if none is outside of [0, 1]."""
    bad = is_outside(numbers)
    if bad.any():
        _refuse_numbers(bad[column.codes], column.names.tolist()[int(np.argmax(bad))], meaning)
    return np.asarray(numbers, dtype=np.float64).take(column.codes)


def is_outside(numbers: FloatArray) -> NDArray[np.bool_]:
    """Which numbers are outside of [0, 1]; those that are not known are not."""
    bad: NDArray[np.bool_] = numbers < 0
    bad |= numbers > 1
    return bad


def _check_words(words: Any) -> dict[str, float]:
    """The doubt of each word, by its folded text."""
    if words is None:
        return {}
    check_kind(words, Mapping, "words", "write {'high': 0.05, 'low': 0.5}, the doubt of each")
    return {
        fold(canonical(word)): check_number(doubt, f"words[{word!r}]", 0.0, 1.0)
        for word, doubt in words.items()
    }


def _word_doubt(cell: Any, words: Mapping[str, float]) -> float:
    """The doubt that was given for a word or a rating; NaN if none was."""
    return words.get(fold(canonical(cell)), np.nan) if cell is not None else np.nan


def as_numbers(cells: list[Any]) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Cells as numbers, NaN where they are none, and which are percentages."""
    numbers = np.full(len(cells), np.nan)
    is_percent = np.zeros(len(cells), dtype=bool)
    for k, cell in enumerate(cells):
        if cell is None or isinstance(cell, bool):
            continue
        try:
            numbers[k] = float(cell)
            continue
        except (TypeError, ValueError):
            text = canonical(cell)
        text = text.replace(",", ".") if DECIMAL_COMMA.fullmatch(text) else text
        found = PERCENT.fullmatch(text)
        try:
            numbers[k] = float(found.group(1).replace(",", ".") if found else text)
        except ValueError:
            continue
        is_percent[k] = found is not None
    return numbers, is_percent


def _judged(parsed: Parsed, meaning: str, name: str) -> Scale:
    """The scale of plain numbers; ratings, which may mean anything, are refused."""
    rest = parsed.is_number
    known = parsed.numbers[rest & ~parsed.is_percent]
    if meaning == "doubt" or not rest.any():
        return Scale(1.0, [])
    if not known.size:
        return Scale(1.0, [Note(f"{name!r} was read as percent: doubt = 1 - confidence")])
    if (known == np.round(known)).all() and known.min() >= 0 and known.max() <= LARGEST_RATING:
        ratings = sorted({int(value) for value in known})
        raise InputError(
            f"Confidence ({name!r}) should be a number from 0 to 1, or in percent",
            f"it holds the ratings {', '.join(map(str, ratings))}",
            "say how far an answer is doubted that has each: {words}",
            parameter="confidence",
            value=ratings,
            settings={"words": _doubts_of_ratings(ratings)},
        )
    if not (1 < known.max() <= 100):
        return Scale(1.0, [Note(f"{name!r} was read as confidence: doubt = 1 - confidence")])
    known = np.unique(known)
    fractions = (known > 0) & (known < 1)
    if fractions.sum() > A_FEW * known.size:
        raise InputError(
            f"Confidence ({name!r}) should be on one scale",
            f"it holds {known[fractions][0]:g}, as from 0 to 1, beside {known.max():g}, as in "
            "percent",
            "write all from 0 to 1, or percentages with their sign, 90%",
            parameter="confidence",
            value=float(known.max()),
        )
    if known.min() < 0:
        return Scale(1.0, [Note(f"{name!r} was read as confidence: doubt = 1 - confidence")])
    words = f"{name!r} was read as percent, from {known.min():g} to {known.max():g}"
    return Scale(100.0, [Note(f"{words}: doubt = 1 - confidence / 100")])


def _doubts_of_ratings(ratings: list[int]) -> dict[str, float]:
    """Doubts that a message suggests: from 0.05 for the highest rating to 0.8 for the lowest."""
    if len(ratings) == 1:
        return {str(ratings[0]): 0.2}
    low, high = ratings[0], ratings[-1]
    return {str(r): round(0.05 + 0.75 * (high - r) / (high - low), 2) for r in ratings}


def _likely_doubts(words: list[str], meaning: str) -> dict[str, float]:
    """Doubts that a message suggests: by known words, or by numbers that begin or end all words."""
    numbers = [GRADE.search(word) for word in words]
    grades = [int(found[0]) for found in numbers if found is not None]
    if len(set(grades)) == len(words) > 1:
        by_grade = _doubts_of_ratings(sorted(grades))
        doubts, most = [by_grade[str(grade)] for grade in grades], 0.85
    else:
        doubts, most = [_usual(fold(word)) for word in words], 0.55
    if meaning == "doubt":  # much of it, where confidence would be high
        doubts = [max(round(most - doubt, 2), 0.02) for doubt in doubts]
    return dict(zip(words, doubts, strict=True))


def _usual(word: str) -> float:
    """The doubt of a known word, or of the first known one in a phrase; 0.2 if there is none."""
    parts = re.findall(r"\w+", word)
    phrases = [*map(" ".join, itertools.pairwise(parts)), *parts]
    return next((USUAL[one] for one in (word, *phrases) if one in USUAL), 0.2)


def _refuse_words(
    strange: list[Any], cells: list[Any], meaning: str, name: str, given: Mapping[str, float]
) -> None:
    """Refuse words whose doubt was not said."""
    texts = [canonical(cell) for cell in cells if cell is not None]
    wanted = {text: given[fold(text)] for text in texts if fold(text) in given}
    wanted |= _likely_doubts([canonical(cell) for cell in strange], meaning)
    if len(wanted) > 12:
        wanted = dict(list(wanted.items())[:3])
    raise InputError(
        f"{meaning.capitalize()} ({name!r}) should be a number from 0 to 1, or in percent",
        f"it holds {', '.join(shown(cell, 30) for cell in strange[:5])}",
        "say how far an answer is doubted that has each: {words}",
        parameter=meaning,
        value=strange[0],
        settings={"words": wanted},
    )


def _refuse_numbers(bad: NDArray[np.bool_], example: Any, meaning: str) -> None:
    """Refuse numbers outside of [0, 1]."""
    sure, nothing = ("0", "1") if meaning == "doubt" else ("1", "0")
    raise InputError(
        f"{meaning.capitalize()} should lie in [0, 1]",
        f"does not in {name_rows(bad)}, with {shown(example)}",
        f"write {sure} for a sure answer and {nothing} for one that says nothing, or 20% for 0.2",
        parameter=meaning,
        value=example,
        rows=bad,
    )
