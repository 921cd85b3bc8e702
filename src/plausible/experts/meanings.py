"""What the cells of a column of answers mean: classes, sets of classes, "cannot tell".

Every different cell is looked at once, with the number of answers that it stands for, so that
notes can say how many answers they are about.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

from plausible.checks import guess, shown
from plausible.errors import InputError, Note
from plausible.experts.manners import Manner, Names, Read, is_known, read_cell, single
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
    TOGETHER,
    fold,
    parts_of,
    split_quoted,
)


def understand(cells: list[Any], counts: list[int], how: Manner) -> tuple[list[Names], list[Note]]:
    """What different cells mean, each of which stands in `counts` answers."""
    read = [read_cell(cell, how) for cell in cells]
    cells = [single(cell) for cell in cells]
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
    every = [one for cell in cells for one in (cell if isinstance(cell, frozenset) else [cell])]
    present = {"" if cell is None else canonical(cell) for cell in every}
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
    told = _tell_perhaps_compound(names, change, how)
    if not change:
        return said, told
    name = next(iter(change))
    note = Note(
        f"read as one of several classes: {quoted((name, names[name]) for name in change)}; "
        "{map} makes a class of it",
        map={name: name},
    )
    return replaced(said, change), [note, *told]


def _tell_perhaps_compound(
    names: Counter[Any], split: Mapping[Any, Any], how: Manner
) -> list[Note]:
    """A note on names that share a part with others, if some part is never answered alone."""
    if how.classes is not None:
        return []
    parts = {
        name: _pieces_of(name, EITHER)
        for name in names
        if isinstance(name, str) and name not in how.fixed and name not in split
    }
    parts = {name: pieces for name, pieces in parts.items() if len(pieces) > 1}
    alone = {fold(str(name)) for name in names if name not in parts}
    shared = Counter(fold(piece) for pieces in parts.values() for piece in set(pieces))
    found = [
        name
        for name, pieces in parts.items()
        if any(fold(piece) in alone or shared[fold(piece)] > 1 for piece in pieces)
    ]
    if not found:
        return []
    never = dict.fromkeys(p for name in found for p in parts[name] if fold(p) not in alone)
    single = [str(name) for name in names if name not in parts and name not in split]
    return [
        Note(
            f"{quoted((name, names[name]) for name in found)} "
            f"{'is a class of its' if len(found) == 1 else 'are classes of their'} own, since "
            f"{', '.join(map(repr, list(never)[:MOST]))} "
            f"{'is' if len(never) == 1 else 'are'} never answered alone; {{classes}} reads "
            f"{'it' if len(found) == 1 else 'them'} as one of several",
            classes=list(dict.fromkeys([*single, *never])),
        )
    ]


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
