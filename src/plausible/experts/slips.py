"""Names of classes that may be slips of the pen, free text, or ways to say nothing."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from numpy.typing import NDArray

from plausible.checks import shown
from plausible.errors import InputError, Note
from plausible.experts.words import (
    CANNOT_TELL,
    EITHER,
    PERHAPS_NOT_KNOWING,
    bare_name,
    fold,
    hedged_in,
    is_typo_of,
    numbered_in,
    parts_of,
    votes_in,
    word_key,
)

NUMERIC = re.compile(r"\s*[+-]?\d[\d.,]*\s*%?\s*")  # a number, a fraction or a share
MOST = 5  # names that a note lists
FREE_TEXT = 0.7  # classes for each answer, from which the column is free text
MANY_FRACTIONS = 8  # classes that are numbers with fractions
FEW_ANSWERS = 20  # below which such a share tells nothing
RARE, MANY_ANSWERS = 2, 200  # answers for a class, and for all together
MOST_COMPARED = 500  # names that are compared with each other
NO_ANSWER = {-9, -99, -999, 77, 88, 98, 99, 777, 888, 998, 999, 9999}  # as surveys code it
ONE_WORD = (
    {"yes", "y", "true", "t", "1", "ja", "j", "wahr", "oui", "vrai", "si", "sí", "sim", "vero",
     "verdadero", "verdadeiro", "tak", "prawda", "да", "истина", "是", "はい"},
    {"no", "n", "false", "f", "0", "nein", "falsch", "non", "faux", "falso", "não", "nao", "nee",
     "nie", "fałsz", "нет", "ложь", "否", "いいえ"},
)  # fmt: skip
IN_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
FREQUENT = 10  # times as many answers has the name that a typo was meant to be


def quoted(names: Iterable[tuple[Any, int]]) -> str:
    """``"'BLUES' (12 answers), 'blues ' (3)"``."""
    listed = list(names)
    told = [
        f"{shown(name, 40)} ({count if k else answers(count)})"
        for k, (name, count) in enumerate(listed[:MOST])
    ]
    more = f" and {len(listed) - MOST} more" if len(listed) > MOST else ""
    return ", ".join(told) + more


def first_few(names: Mapping[Any, Any]) -> dict[Any, Any]:
    """A mapping for an option, of a length that can be read."""
    return dict(list(names.items())[:MOST])


def answers(count: int) -> str:
    """``"1 answer"``, ``"3 answers"``."""
    return "1 answer" if count == 1 else f"{count} answers"


def is_free_text(n_classes: int, n_said: int) -> bool:
    """Whether nearly every answer is a class of its own."""
    return n_said >= FEW_ANSWERS and n_classes >= FREE_TEXT * n_said


def check_votes(cells: list[str]) -> None:
    """Refuse cells each of which counts votes of several classes."""
    counts = [votes_in(cell) for cell in cells]
    # All may have agreed on some items.
    if counts and min(counts) > 0 and max(counts) > 1 and not _are_numbered_names(cells):
        example = cells[counts.index(max(counts))]
        raise InputError(
            "An answer should name classes",
            f"{shown(example, 60)} was found, which looks like votes or shares of several classes",
            "write a column for each class with its number, which is read as kind 'count' or "
            "'probability'",
        )


def _are_numbered_names(cells: list[str]) -> bool:
    """Whether numbers before names belong to these: "2 stars|3 stars", but not "2 oak, 1 elm"."""
    named = [numbered_in(cell) for cell in cells]
    if not all(named):
        return False
    pairs = {(fold(name), number) for cell in named for number, name in cell}
    is_repeated = any(len({fold(name) for _, name in cell}) < len(cell) for cell in named)
    return is_repeated or len(pairs) == len({name for name, _ in pairs})


def tell_free_text(names: Counter[Any], n_said: int) -> list[Note]:
    """A note on answers of which nearly every one is a class of its own."""
    fractions = [name for name in names if isinstance(name, float) and name % 1]
    if len(fractions) >= MANY_FRACTIONS:
        return [
            Note(
                f"{len(fractions)} classes are numbers such as {fractions[0]:g}: is this a score? "
                "Classes are told apart, and have no order"
            )
        ]
    if not is_free_text(len(names), n_said):
        return []
    return [Note(f"{len(names):,} different classes in {n_said:,} answers: is this free text?")]


def tell_odd_names(names: Counter[Any], fixed: set[Any], separator: str) -> list[Note]:
    """Notes on classes that may be slips of the pen, ways to say nothing, or others in disguise."""
    texts = {name: count for name, count in names.items() if isinstance(name, str)}
    free = {name: count for name, count in texts.items() if name not in fixed}
    notes = [*_tell_codes(names, fixed), *_tell_yes_and_no(free, names)]
    notes += [*_tell_numbers_in_words(free, names), *_tell_same(free, names)]
    notes += _tell_few_numbers(free, names)
    hedged = _hedged(names, free, separator)
    if hedged:
        notes.append(
            Note(
                f"read as classes of their own: {quoted((n, free[n]) for n in hedged)}; {{map}} if "
                "they are others with a word on how sure somebody is",
                map=first_few(hedged),
            )
        )
    joined = _joined_by_blanks(free, separator)
    if joined:
        listed = quoted((n, free[n]) for n in joined)
        told = f"read as classes of their own: {listed}; {{map}} if one of several is meant"
        notes.append(Note(told, map=first_few(joined)))
    perhaps = {n: CANNOT_TELL for n in free if word_key(n) in PERHAPS_NOT_KNOWING}
    if perhaps and len(names) > len(perhaps) + 1:
        notes.append(
            Note(
                f"read as classes: {quoted((n, free[n]) for n in perhaps)}; {{map}} if that says "
                "nothing",
                map=first_few(perhaps),
            )
        )
    typos = {n: meant for n in free if n not in perhaps and (meant := _meant_by(n, texts))}
    if typos:
        listed = quoted((n, free[n]) for n in typos)
        notes.append(Note(f"rare names that may be typos: {listed}; {{map}}", map=first_few(typos)))
    total = sum(names.values())
    rare = [
        (n, c) for n, c in names.items()
        if c <= RARE and n not in typos and n not in perhaps and n not in fixed
        and total >= MANY_ANSWERS and c * FREQUENT * len(names) <= total
    ]  # fmt: skip
    if rare:
        example = {rare[0][0]: CANNOT_TELL}
        notes.append(
            Note(
                f"classes that hardly anybody named: {quoted(rare)}; {{map}} if they are none",
                map=example,
            )
        )
    return notes


def _joined_by_blanks(free: Mapping[str, int], separator: str) -> dict[str, str]:
    """Names that are made of others with nothing but blanks between these."""
    place = {fold(name): name for name in free}
    found = {}
    for name in free:
        parts = [fold(part) for part in name.split()]
        if len(parts) > 1 and len(set(parts)) == len(parts) and all(p in place for p in parts):
            found[name] = separator.join(place[part] for part in parts)
    return found


def _tell_few_numbers(free: Mapping[str, int], names: Counter[Any]) -> list[Note]:
    """A note on a few numbers among words, as a row of sums below answers has them."""
    numbers = {name: count for name, count in free.items() if NUMERIC.fullmatch(name)}
    n_words = len(names) - len(numbers)
    if not numbers or n_words < 2 or FREQUENT * sum(numbers.values()) > sum(names.values()):
        return []
    return [
        Note(
            f"read as classes: {quoted(numbers.items())}, though others are words; {{map}} if they "
            "are none",
            map=first_few(dict.fromkeys(numbers, CANNOT_TELL)),
        )
    ]


def _hedged(names: Counter[Any], free: Mapping[str, int], separator: str) -> dict[str, str]:
    """What names mean that are another class and a word on how sure somebody is."""
    place = {fold(str(name)): str(name) for name in names}
    hedged = {name: parts for name in free if (parts := hedged_in(name))}
    bare = Counter(fold(name) for name, is_denied in hedged.values() if not is_denied)
    for name, is_denied in hedged.values():  # "oak (60 %)" and "oak (90 %)", and never "oak" alone
        if not is_denied and bare[fold(name)] > 1:
            place.setdefault(fold(name), name)
    found = {name: parts for name, parts in hedged.items() if fold(parts[0]) in place}
    plain = [str(name) for name in names if name not in found]
    meant = {}
    for name, (alone, is_denied) in found.items():
        others = [other for other in plain if other != place[fold(alone)]]
        if not is_denied:
            meant[name] = place[fold(alone)]
        elif len(others) > 1:  # "spam" and "not spam" are two classes
            meant[name] = separator.join(others)
    return meant


def _tell_yes_and_no(free: Mapping[str, int], names: Counter[Any]) -> list[Note]:
    """A note on "yes" beside "y" or "1", which may be one class."""
    keys = {name: word_key(str(name)) for name in names}
    if not set(keys.values()) <= ONE_WORD[0] | ONE_WORD[1] or not any(
        len(key) > 1 or (key.isdigit() and free) for key in keys.values()
    ):
        return []
    change: dict[Any, Any] = {}
    for group in ONE_WORD:
        alike = sorted((n for n, key in keys.items() if key in group), key=lambda n: -names[n])
        change |= {n: alike[0] for n in alike[1:] if n in free}
    if not change:
        return []
    listed = quoted((n, names[n]) for n in keys)
    return [Note(f"read as {len(keys)} classes: {listed}; {{map}} if they are two", map=change)]


def _tell_numbers_in_words(free: Mapping[str, int], names: Counter[Any]) -> list[Note]:
    """A note on "one" beside "1", which may be one class."""
    numbers = {number_of(name) for name in names}
    meant = {name: IN_WORDS.index(fold(name)) for name in free if fold(name) in IN_WORDS}
    change = {name: str(number) for name, number in meant.items() if number in numbers}
    if not change:
        return []
    listed = quoted((name, free[name]) for name in change)
    told = f"read as classes beside the same numbers: {listed}; {{map}} if they are one"
    return [Note(told, map=first_few(change))]


def _tell_same(free: Mapping[str, int], names: Counter[Any]) -> list[Note]:
    """A note on names that are another one with a code or a mark, or with damaged letters."""
    place = {fold(str(name)): str(name) for name in names}
    meant = {name: place.get(bare_name(name), name) for name in free}
    change = {name: other for name, other in meant.items() if fold(other) != fold(name)}
    if not change:
        return []
    listed = quoted((name, free[name]) for name in change)
    told = f"read as classes of their own: {listed}; {{map}} if they are others with a code or mark"
    return [Note(told, map=first_few(change))]


def _tell_codes(names: Counter[Any], fixed: set[Any]) -> list[Note]:
    """A note on a number far from the others, such as 99, which often stands for no answer."""
    numbers = {name: number_of(name) for name in names if name not in fixed}
    codes = {name for name, number in numbers.items() if number in NO_ANSWER}
    others = [number for name, number in numbers.items() if name not in codes]
    if not codes or len(others) < 2 or None in others:
        return []
    if max(others) > 20 or min(others) < 0:  # type: ignore[operator,type-var]
        return []
    example = dict.fromkeys(codes, CANNOT_TELL)
    listed = quoted((name, names[name]) for name in sorted(codes, key=str))
    return [
        Note(
            f"read as a class: {listed}, though other classes are {min(others)} to "  # type: ignore[type-var]
            f"{max(others)}; {{map}} if it stands for no answer",  # type: ignore[type-var]
            map=first_few(example),
        )
    ]


def number_of(name: Any) -> int | None:
    """A name as a whole number, if it is one."""
    try:
        number = float(name)
    except (TypeError, ValueError, OverflowError):
        return None
    return int(number) if number.is_integer() else None


def _meant_by(name: str, texts: Mapping[str, int]) -> str | None:
    """The far more frequent name of which a name may be a typo."""
    if len(texts) > MOST_COMPARED:
        return None
    frequent = [other for other, count in texts.items() if count >= FREQUENT * texts[name]]
    return next((other for other in frequent if is_typo_of(name, other)), None)


def tell_only_class(name: Any, n_silent: int) -> Note:
    """A note on answers that say nothing, where all others name the same class."""
    return Note(
        f"the only class that is named is {name!r}, which {answers(n_silent)} that say nothing "
        "therefore mean as well; list all {classes}",
        classes=None,
    )


def check_spelled_alike(lists: list[NDArray[Any]]) -> None:
    """Refuse classes that differ by spelling alone, and names made of others, if no part has both.

    Together they would have been read as one class, or as a set; a part that has both was told.
    """
    together = list(dict.fromkeys(name for part in lists for name in part.tolist()))
    texts = [name for name in together if isinstance(name, str)]
    place: dict[str, list[str]] = {}
    for name in texts:
        place.setdefault(fold(name), []).append(name)
    for name in texts:
        pieces = [fold(piece) for piece in parts_of(name, EITHER)]
        others = [place[piece][0] for piece in pieces if piece in place]
        others = others if pieces and len(others) == len(pieces) else []
        others = others or [other for other in place[fold(name)] if other != name]
        if others and not any({name, *others} <= set(part.tolist()) for part in lists):
            raise InputError(
                "Parts should call classes alike",
                f"one has {name!r} and another {others[0]!r}",
                ("write them alike", "give all parts the same classes, in which both are"),
                value=name,
            )
