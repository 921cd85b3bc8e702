"""How a cell of answers is read: as classes, a set of classes, "cannot tell", or none of these."""

import re
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

from plausible.checks import check_kind
from plausible.experts.tables import canonical
from plausible.experts.words import (
    NOT_AMONG,
    fold,
    from_json,
    says_nothing,
    split_quoted,
    word_key,
)

BRACED = re.compile(r"\{\s*([^{}:\"']+?)\s*\}")
PARTED = re.compile(r"[,;|]")
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


def read_cell(cell: Any, how: Manner) -> Read:
    """The names in a cell as it stands."""
    if isinstance(cell, frozenset):
        return _read_set(cell, how)
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


def _read_set(cell: frozenset[Any], how: Manner) -> Read:
    """The names in a set, changed as the caller says; a word of not knowing, alone, is no class."""
    names: list[Any] = []
    way = ""
    for name in cell:
        text = "" if name is None else canonical(name)
        key = next((key for key in (text, fold(text)) if key in how.changes), None)
        meant = (name,) if key is None else how.changes[key]
        if meant is None:
            return Read(None, "map")
        names += meant
        way = way if key is None else "map"
    if not way and _leaves_all_open(names, how):
        return Read(None, "word")
    only = canonical(names[0]) if len(cell) == len(names) == 1 and not way else ""
    is_free = only and isinstance(names[0], str) and not is_known(only, how)
    if is_free and word_key(only) in NOT_AMONG:
        return Read((), "none")
    return Read(tuple(dict.fromkeys(names)), way)


def _leaves_all_open(names: Sequence[Any], how: Manner) -> bool:
    """Whether one of the names in a set says that it may be any class: "oak or not sure"."""
    free = [canonical(name) for name in names if isinstance(name, str) and name not in how.fixed]
    return any(says_nothing(name) and not is_known(name, how) for name in free)


def single(cell: Any) -> Any:
    """A cell, or the only name of a set of one."""
    return next(iter(cell)) if isinstance(cell, frozenset) and len(cell) == 1 else cell


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
    if listed is None and (braced := BRACED.fullmatch(text)):  # as papers write sets
        listed = [part.strip() for part in PARTED.split(braced[1])]
    if listed is not None:
        is_open = len(listed) > 1 and _leaves_all_open(listed, how)
        return Read(None if is_open else tuple(listed) or None, "word" if is_open else "json")
    names: list[Any] = []
    for part, is_quoted in parts:
        if is_quoted:
            how.fixed.add(part)
        changed = None if is_quoted else how.changes.get(part, how.changes.get(fold(part)))
        if changed is None and not is_quoted and _leaves_all_open([part], how):
            return Read(None, "word")
        names += [part] if changed is None else list(changed)
    return Read(tuple(names), "")
