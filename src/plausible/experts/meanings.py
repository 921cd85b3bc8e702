"""What the cells of a column of answers mean: classes, sets of classes, "cannot tell".

Every different cell is looked at once, with the number of answers that it stands for, so that
notes can say how many answers they are about.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

from plausible.checks import check_kind, guess, shown
from plausible.errors import InputError, Note
from plausible.experts.slips import (
    MOST,
    answers,
    check_votes,
    first_few,
    number_of,
    quoted,
    tell_free_text,
    tell_odd_names,
)
from plausible.experts.tables import canonical
from plausible.experts.words import (
    CANNOT_TELL,
    EITHER,
    NONE_OF_THESE,
    NOT_AMONG,
    TOGETHER,
    fold,
    from_json,
    parts_of,
    says_nothing,
    split_quoted,
    word_key,
)

Names = tuple[Any, ...] | None  # classes that an answer leaves possible; None for all


class Manner(NamedTuple):
    """How cells are read.

    classes : those that are given, or None
    separator : between the classes of a set
    abstain, none : cells that mean "cannot tell" and "none of these"
    changes : what cells mean by the wish of the caller, by `canonical` and by folded text
    fixed : names that are taken as they are, whatever else they may look like
    """

    classes: list[Any] | None
    separator: str
    abstain: list[Any]
    none: list[Any]
    changes: dict[str, Names]
    fixed: set[Any]

    @property
    def bar(self) -> str:
        """What separates classes in options: "|" where cells hold single classes."""
        return self.separator.replace("\0", "|")


class Read(NamedTuple):
    """The names in a cell, and how they were found: "", "blank", "word", "none", "json", "map"."""

    names: Names
    way: str


def manner(
    classes: Sequence[Hashable] | None,
    separator: str,
    abstain: list[Any],
    none: list[Any],
    changes: Mapping[Any, Any] | None,
) -> Manner:
    """How cells are read, from the options of the caller."""
    known = None if classes is None else list(classes)
    found = Manner(known, separator, abstain, none, {}, set(known or ()))
    if changes is not None:
        check_kind(changes, Mapping, "map", "write {'not sure': 'cannot tell'}")
    for cell, meant in (changes or {}).items():
        key = "" if cell is None else canonical(cell)
        if canonical(meant) == key and key:
            found.fixed.add(cell if not isinstance(cell, str) else key)
            found.changes[key] = (cell if not isinstance(cell, str) else key,)
        else:
            found.changes[key] = _target_of(meant, found)
    return found


def _target_of(meant: Any, how: Manner) -> Names:
    """What the caller says that a cell means: a class, a set, or one of the words for none."""
    if meant is None:
        return None
    if isinstance(meant, (set, frozenset, list, tuple)):
        return tuple(meant)
    if not isinstance(meant, str):
        return (meant,)
    text = meant.strip()
    if text in how.fixed:
        return (text,)
    if text in how.abstain or says_nothing(text):
        return None
    if text in how.none or word_key(text) in NOT_AMONG:
        return ()
    return tuple(name for name, _ in split_quoted(text, how.bar))


def understand(cells: list[Any], counts: list[int], how: Manner) -> tuple[list[Names], list[Note]]:
    """What different cells mean, each of which stands in `counts` answers."""
    read = [_read_cell(cell, how) for cell in cells]
    unread = [cell for cell, one in zip(cells, read, strict=True) if one.way == ""]
    check_votes([cell for cell in unread if isinstance(cell, str) and not is_known(cell, how)])
    said = alike([one.names for one in read], how.classes)
    notes = [*_tell_words(cells, counts, read, how), *_tell_unused(cells, how)]
    said, merged = _merge_spellings(cells, counts, said, how)
    said, joined = _split_compounds(counts, said, how)
    said, minus = _settle_minus_one(counts, said, how)
    names = _count_names(said, counts)
    odd = [*tell_free_text(names, sum(counts)), *tell_odd_names(names, how.fixed, how.bar)]
    odd = odd if how.classes is None else []
    return said, [*notes, *merged, *joined, *minus, *odd]


def _read_cell(cell: Any, how: Manner) -> Read:
    """The names in a cell as it stands."""
    if isinstance(cell, frozenset):
        return Read(tuple(cell), "")
    text = "" if cell is None else canonical(cell)
    for key in (text, fold(text)):
        if key in how.changes:
            return Read(how.changes[key], "map")
    if cell is None:
        return Read(None, "blank")
    if cell in how.abstain or text in how.abstain:
        return Read(None, "blank" if not text else "word")
    if cell in how.none or text in how.none:
        return Read((), "none")
    if not isinstance(cell, str):
        return Read((cell,), "")
    return Read((text,), "") if is_known(text, how) else read_text(text, how)


def is_known(text: str, how: Manner) -> bool:
    """Whether a text is one of the classes that were given."""
    return how.classes is not None and any(canonical(name) == text for name in how.classes)


def read_text(text: str, how: Manner) -> Read:
    """The names in a text."""
    parts = split_quoted(text, how.separator)
    is_name = any(is_quoted for _, is_quoted in parts)
    if says_nothing(text) and not is_name:
        return Read(None, "word")
    if word_key(text) in NOT_AMONG and not is_name:
        return Read((), "none")
    listed = from_json(text)
    if listed is not None:
        return Read(tuple(listed) or None, "json")
    names = []
    for part, is_quoted in parts:
        if is_quoted:
            how.fixed.add(part)
        changed = None if is_quoted else how.changes.get(part, how.changes.get(fold(part)))
        names += [part] if changed is None else list(changed)
    return Read(tuple(names), "")


def alike(said: list[Names], classes: list[Any] | None) -> list[Names]:
    """Names as they stand in `classes`, or all of one type: 1 and "1" are one class."""
    found = {name for names in said if names is not None for name in names}
    if classes is not None:
        place = {canonical(name): name for name in classes}
        change = {name: place.get(canonical(name), name) for name in found}
    elif len({isinstance(name, str) for name in found}) > 1:
        numbers = {canonical(name): name for name in found if not isinstance(name, str)}
        texts = [name for name in found if isinstance(name, str)]
        if all(name in numbers for name in texts):
            change = {name: numbers.get(name, name) for name in found}
        else:
            change = {name: canonical(name) for name in found}
    else:
        return said
    return replaced(said, change)


def replaced(said: list[Names], change: Mapping[Any, Any]) -> list[Names]:
    """Names after some were changed into others, or into tuples of others."""
    made: list[Names] = []
    for names in said:
        if names is None or not any(name in change for name in names):
            made.append(names)
            continue
        found: list[Any] = []
        for name in names:
            new = change.get(name, name)
            found += list(new) if isinstance(new, tuple) else [new]
        made.append(tuple(dict.fromkeys(found)))
    return made


def _count_names(said: list[Names], counts: list[int]) -> Counter[Any]:
    """How many answers name each class, alone or in a set."""
    found: Counter[Any] = Counter()
    for names, count in zip(said, counts, strict=True):
        for name in names or ():
            found[name] += count
    return found


# -- What is told about words ----------------------------------------------------------------------


def _tell_words(cells: list[Any], counts: list[int], read: list[Read], how: Manner) -> list[Note]:
    """Notes on cells that say nothing, that say "none of these", and on lists of JSON."""
    plain = {"word": CANNOT_TELL, "none": NONE_OF_THESE}
    found: dict[str, list[tuple[Any, int]]] = defaultdict(list)
    for cell, count, one in zip(cells, counts, read, strict=True):
        if count and (one.way == "blank" or cell != plain.get(one.way)):
            several = one.way != "json" or (one.names is not None and len(one.names) > 1)
            if several:
                found[one.way].append((cell, count))
    notes = []
    if found["blank"]:
        n_blank = sum(count for _, count in found["blank"])
        notes.append(Note(f"read as 'cannot tell': {answers(n_blank)} left empty"))
    for way, meaning in (("word", "'cannot tell'"), ("none", "'none of these'")):
        if found[way]:
            keep = {canonical(cell): canonical(cell) for cell, _ in found[way]}
            notes.append(
                Note(
                    f"read as {meaning}: {quoted(found[way])}; {{map}} makes a class of it",
                    map=dict(list(keep.items())[:1]),
                )
            )
    if found["json"]:
        n_lists = sum(count for _, count in found["json"])
        example = found["json"][0][0]
        notes.append(
            Note(
                f"read as one of several classes: {answers(n_lists)} with a list such as "
                f"{shown(example, 60)}"
            )
        )
    return notes


def _tell_unused(cells: list[Any], how: Manner) -> list[Note]:
    """A note on changes that were asked for, but of cells that never occur."""
    present = {"" if cell is None else canonical(cell) for cell in cells}
    for cell in list(present):
        present |= {fold(cell), *(part for part, _ in split_quoted(cell, how.separator))}
    present |= {fold(cell) for cell in present}
    lost = [key for key in how.changes if key not in present]
    if not lost:
        return []
    hint = guess(lost[0], sorted(present)).rstrip("?")
    return [Note(f"map: no answer is {', '.join(map(repr, lost[:MOST]))}{hint and hint + '?'}")]


# -- Names that differ by their spelling alone -----------------------------------------------------


def _merge_spellings(
    cells: list[Any], counts: list[int], said: list[Names], how: Manner
) -> tuple[list[Names], list[Note]]:
    """One name for all its spellings: that of the given classes, or the most frequent one."""
    names = _count_names(said, counts)
    groups: dict[str, list[str]] = defaultdict(list)
    for name in names:
        if isinstance(name, str):
            groups[fold(name)].append(name)
    given = defaultdict(list)
    for name in how.classes or ():
        given[fold(str(name))].append(name)
    change: dict[Any, Any] = {}
    for key, spellings in groups.items():
        free = [name for name in spellings if name not in how.fixed]
        if len(given.get(key, ())) == 1:
            change |= dict.fromkeys(free, given[key][0])
        elif len(free) > 1 and not given.get(key):
            best = min(free, key=lambda name: (-names[name], name != name.lower(), name))
            change |= dict.fromkeys(free, best)
    change = {name: new for name, new in change.items() if name != new}
    _check_letters(change, names)
    said = replaced(said, change)
    return said, _tell_spellings(cells, counts, said)


def _check_letters(change: dict[Any, Any], names: Counter[Any]) -> None:
    """Refuse single letters that differ by case: y and Y are one answer, a and A two letters."""
    for name, new in change.items():
        if isinstance(new, str) and len(name) == len(new) == 1 and names[new]:
            raise InputError(
                "Answers should be spelled alike",
                f"both {new!r} ({answers(names[new])}) and {name!r} ({names[name]}) were found",
                ("say {map} if they are one class", "list all in {classes} to keep them apart"),
                value=name,
                settings={"map": {name: new}, "classes": None},
            )


def _tell_spellings(cells: list[Any], counts: list[int], said: list[Names]) -> list[Note]:
    """A note on names that came in several spellings."""
    spelled: dict[Any, Counter[str]] = defaultdict(Counter)
    for cell, count, names in zip(cells, counts, said, strict=True):
        is_name = isinstance(cell, str) and names is not None and len(names) == 1 and count
        if is_name and fold(cell) == fold(canonical((names or ("",))[0])):
            spelled[(names or ("",))[0]][cell] += count
    several = [group.most_common() for group in spelled.values() if len(group) > 1]
    if not several:
        return []
    listed = "; ".join(quoted(group) for group in several[:MOST])
    more = f"; and {len(several) - MOST} more" if len(several) > MOST else ""
    return [
        Note(
            f"read as one class, since only case, blanks or hyphens differ: {listed}{more}; list "
            "both in {classes} to keep them apart",
            classes=None,
        )
    ]


# -- Names made of others --------------------------------------------------------------------------


def _split_compounds(
    counts: list[int], said: list[Names], how: Manner
) -> tuple[list[Names], list[Note]]:
    """Sets where a name is made of others by "or" or "/"; other compounds are refused."""
    names = _count_names(said, counts)
    place = {fold(str(name)): name for name in [*names, *(how.classes or ())]}
    change: dict[Any, tuple[Any, ...]] = {}
    unclear: dict[Any, tuple[Any, ...]] = {}
    for name in names:
        if not isinstance(name, str) or name in how.fixed:
            continue
        for pattern, found in ((EITHER, change), (TOGETHER, unclear)):
            pieces = [fold(piece) for piece in _pieces_of(name, pattern)]
            if pieces and all(piece in place and place[piece] != name for piece in pieces):
                found[name] = tuple(dict.fromkeys(place[piece] for piece in pieces))
                break
    if unclear:
        name = next(iter(unclear))
        targets = {one: how.bar.join(map(str, unclear[one])) for one in unclear}
        raise InputError(
            "Answers should name one class, or several as in 'a|b' if one of them is right",
            f"{quoted((name, names[name]) for name in unclear)} "
            f"{'joins' if len(unclear) == 1 else 'join'} other classes",
            ("say {map} if either may be right", "map it onto itself to keep it a class"),
            value=name,
            settings={"map": first_few(targets)},
        )
    if not change:
        return said, []
    name = next(iter(change))
    note = Note(
        f"read as one of several classes: {quoted((name, names[name]) for name in change)}; "
        "{map} makes a class of it",
        map={name: name},
    )
    return replaced(said, change), [note]


def _pieces_of(name: str, pattern: Any) -> list[str]:
    """Parts of a name that are joined by a pattern, or by commas before the last "or"."""
    pieces = parts_of(name, pattern)
    if pattern is EITHER and pieces:
        pieces = [part for piece in pieces for part in parts_of(piece, TOGETHER) or [piece]]
    return [piece for piece in pieces if piece]


# -- A label of -1 ---------------------------------------------------------------------------------


def _settle_minus_one(
    counts: list[int], said: list[Names], how: Manner
) -> tuple[list[Names], list[Note]]:
    """-1 beside classes that count from 0 or 1 says nothing; as one of two classes, it is one."""
    names = _count_names(said, counts)
    numbers = {name: number_of(name) for name in names}
    minus = [name for name, number in numbers.items() if number == -1]
    if not minus or how.classes is not None or minus[0] in how.fixed:
        return said, []
    others = sorted(number for number in numbers.values() if number is not None and number != -1)
    if None in numbers.values() or (others and others[0] < 0):
        return said, []
    count, name = names[minus[0]], minus[0]
    told = f"-1 was answered {'once' if count == 1 else f'{count} times'}"
    if others in ([], [1]):
        return said, [
            Note(f"{told}: read as a class; {{map}} if it says nothing", map={name: CANNOT_TELL})
        ]
    if others in ([0], [0, 1]):
        raise InputError(
            "Answers of -1 should be known to be a class or no answer at all",
            f"{told} beside {' and '.join(map(str, others))}",
            ("say {map} if it says nothing", "list it in {classes}"),
            value=name,
            settings={"map": {name: CANNOT_TELL}, "classes": [-1, *others]},
        )
    kept = [
        None if names_of is not None and name in names_of and len(names_of) == 1 else names_of
        for names_of in said
    ]
    note = Note(
        f"{told}, beside {others[0]} to {others[-1]}: read as 'cannot tell'; {{map}} makes a class "
        "of it",
        map={name: name},
    )
    return kept, [note]
