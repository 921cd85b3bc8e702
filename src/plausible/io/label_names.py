"""How classes and sets of classes are written in tables.

==============  =========================================================================
cat             the class "cat"
3, 2.5, true    a number or truth value
"3", "a|b"      text in JSON's quotes, where it would be read as something else
cat|dog         the set of two classes; as the name of a column of masses also {cat,dog},
                m({cat,dog}), m_cat_dog beside m_cat and m_dog, and m_omega or m(omega) for all
                classes
==============  =========================================================================
"""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from plausible.tables import MISSING

WHOLE = re.compile(r"[+-]?(0|[1-9][0-9]{0,18})")
# Text such as 12e3 is rather a code: programs write numbers with a sign behind the letter.
NUMBER = re.compile(r"[+-]?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE][+-]))([eE][+-]?[0-9]+)?")
CALLED = re.compile(r"(?:m|mass|bba)\s*\((.*)\)", re.DOTALL)  # as m({cat,dog})
PREFIX = re.compile(r"(?:m|mass|bba)_(.+)", re.DOTALL)
GREEK = {"omega", "theta", "\u03c9", "\u03b8"}  # how the frame is called in papers
WHOLE_FRAME = GREEK | {"frame", "all", "any", "unknown", "ignorance"}
JOINTS = re.compile(r"\s*[_+&,/]\s*|\s+or\s+|\s+and\s+")
EMPTY = ("", "{}", "Ø", "ø", "∅", "empty", "emptyset")
TRUTH = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}


def write_name(name: Any) -> str:
    """A class as text that `read_name` reads as the same class."""
    if isinstance(name, bool):
        return "true" if name else "false"
    if not isinstance(name, str):
        return repr(name)
    special = "|" in name or '"' in name or name != name.strip() or not name.isprintable()
    if special or name in MISSING or read_name(name) != name:
        return json.dumps(name, ensure_ascii=not name.isprintable())
    return name


def read_name(text: str) -> Any:
    """The class that a text stands for: a number, a truth value, or text."""
    if text.startswith('"'):
        name, end = _unquote(text, 0)
        if end < len(text):
            raise ValueError(f"something follows the quote of {text[:40]!r}")
        return name
    if text in TRUTH:
        return TRUTH[text]
    if WHOLE.fullmatch(text) and abs(int(text)) < 2**63:
        return int(text)
    return float(text) if NUMBER.fullmatch(text) else text


def _unquote(text: str, at: int) -> tuple[str, int]:
    """The name in quotes that begins at a place, and where it ends."""
    try:
        name, end = json.JSONDecoder().raw_decode(text, at)
    except ValueError:
        raise ValueError(f"the quote of {text[at:][:40]!r} is not closed") from None
    return name, end


def write_set(names: Iterable[Any]) -> str:
    """A set of classes as text."""
    return "|".join(write_name(name) for name in names)


def split_set(text: str) -> list[str]:
    """The parts of a set that stand between bars, quotes kept."""
    parts, at = [], 0
    while at <= len(text):
        if text.startswith('"', at):
            _, end = _unquote(text, at)
            if end < len(text) and text[end] != "|":
                raise ValueError(f"a bar should follow {text[at:end][:40]!r}")
        else:
            end = text.find("|", at)
            end = len(text) if end < 0 else end
        parts.append(text[at:end].strip() if not text.startswith('"', at) else text[at:end])
        at = end + 1
    return parts


def read_set(name: str) -> list[str]:
    """The parts of a set that names a column of masses, as tables of R may write it.

    Examples
    --------
    >>> read_set("cat|dog"), read_set("{cat, dog}"), read_set("Ø")
    (['cat', 'dog'], ['cat', 'dog'], [])
    """
    if name in EMPTY:
        return []
    if is_braced(name):
        return [part.strip() for part in name[1:-1].split(",")]
    return split_set(name)


def is_braced(name: str) -> bool:
    """Whether a name of a column is a set in braces, or the empty set."""
    return (name.startswith("{") and name.endswith("}")) or (name in EMPTY and bool(name))


def named_sets(names: Sequence[str], are_masses: bool = False) -> list[str] | None:
    """Names of columns of masses with bars between classes; None if they do not tell of sets.

    If they surely `are_masses`, one that is called omega is that of all classes.

    Examples
    --------
    >>> named_sets(["m_cat", "m_dog", "m_cat_dog"]), named_sets(["m({a})", "m({a,b})"])
    (['cat', 'dog', 'cat|dog'], ['a', 'a|b'])
    >>> named_sets(["cat", "dog", "cat|dog"]), named_sets(["hot", "dog", "hot_dog"])
    (['cat', 'dog', 'cat|dog'], None)
    """
    called = [CALLED.fullmatch(name.strip()) for name in names]
    if all(called):
        inside = [found[1].strip() for found in called if found]
        braced = [name if "|" in name or is_braced(name) else f"{{{name}}}" for name in inside]
        sets = [read_set(name) for name in braced]
        is_frame = [name.casefold() in WHOLE_FRAME for name in inside]
        known = {
            part for members, is_all in zip(sets, is_frame, strict=True)
            if not is_all for part in members
        }  # fmt: skip
        if len(known) < 2:
            is_frame = [False] * len(sets)
        return [
            "|".join(sorted(known) if is_all else members)
            for members, is_all in zip(sets, is_frame, strict=True)
        ]
    if any("|" in name or is_braced(name) for name in names):
        return _with_frame(names)
    if are_masses and any(name.strip().casefold() in GREEK for name in names):
        return _with_frame(names)
    marked = [PREFIX.fullmatch(name.strip()) for name in names]
    bare = [found[1] for found in marked if found]
    if len(bare) < len(names):  # without a mark, hot_dog beside hot and dog may be a class
        return None
    parts = [_parts_among(name, bare) for name in bare]
    singles = [name for name, part in zip(bare, parts, strict=True) if not part]
    frames = [name for name in singles if name.casefold() in WHOLE_FRAME]
    singles = [name for name in singles if name not in frames]
    if not any(parts) and (not frames or len(singles) < 2):
        return None
    every = zip(bare, parts, strict=True)
    return ["|".join(singles if name in frames else part or [name]) for name, part in every]


def _with_frame(names: Sequence[str]) -> list[str]:
    """Names of sets; one that is called omega is that of all classes."""
    is_frame = [name.strip().casefold() in GREEK for name in names]
    known = dict.fromkeys(
        part for name, is_all in zip(names, is_frame, strict=True)
        if not is_all for part in read_set(name)
    )  # fmt: skip
    if len(known) < 2:
        return list(names)
    return [
        "|".join(known) if is_all else name for name, is_all in zip(names, is_frame, strict=True)
    ]


def may_be_sets(names: Sequence[str]) -> bool:
    """Whether columns without a mark may be sets: one is called omega, or as two others together.

    Examples
    --------
    >>> may_be_sets(["oak", "elm", "Omega"]), may_be_sets(["hot", "dog", "hot_dog"])
    (True, True)
    >>> may_be_sets(["oak", "elm", "unknown"])
    False
    """
    are_all = [name.strip().casefold() in GREEK for name in names]
    return any(are_all) or any(_parts_among(name, names) for name in names)


def tell_sets(names: Sequence[str], sets: Sequence[str]) -> list[str]:
    """A note on columns whose names were taken for sets."""
    changed = [pair for pair in zip(names, sets, strict=True) if pair[0] != pair[1]]
    if not changed:
        return []
    name, members = max(changed, key=lambda pair: pair[1].count("|"))
    return [f"columns were read as masses of sets: {name!r} is the mass of {members!r}"]


def _parts_among(name: str, others: Sequence[str]) -> list[str]:
    """Other names that a name is put together from; none if it is not."""
    parts = JOINTS.split(name)
    is_set = len(parts) > 1 and set(parts) <= set(others) and len(set(parts)) == len(parts)
    return parts if is_set else []


def read_names(texts: Sequence[str]) -> list[Any]:
    """Classes of one frame: numbers if all are numbers, truth values if all are, else text."""
    names = [read_name(text) for text in texts]
    kinds = {type(name) for name in names}
    if len(kinds) > 1 and not kinds <= {int, float}:
        return [
            name if isinstance(name, str) else text for name, text in zip(names, texts, strict=True)
        ]
    return names
