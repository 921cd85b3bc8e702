"""Sets of classes as bit masks.

A frame is an ordered sequence of K classes. A set of classes is an integer whose bit k says
whether class k is in it: on the frame (a, b, c), ``0b101 = 5`` is {a, c}, 0 is the empty set and
``2**K - 1 = 7`` the whole frame. In dense form, column A of an array of masses belongs to set A.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plausible.checks import (
    as_array,
    as_floats,
    as_list,
    check_ordered,
    guess,
    is_whole,
    shown,
)
from plausible.errors import InputError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

QUOTES = "'\""

MAX_CLASSES = 62
"""Largest frame: a set of classes must fit a signed 64-bit integer."""

MAX_DENSE_CLASSES = 20
"""Largest frame in dense form: one row of masses then takes 8 MB."""


def full_set(n_classes: int) -> int:
    """Bit mask of the whole frame.

    Examples
    --------
    >>> full_set(3)
    7
    """
    return (1 << check_n_classes(n_classes)) - 1


def all_sets(n_classes: int) -> IntArray:
    """Every set of the frame, the empty set first, in the column order of the dense form.

    Examples
    --------
    >>> all_sets(2)
    array([0, 1, 2, 3])
    """
    return np.arange(1 << check_dense(n_classes), dtype=np.int64)


def cardinality(sets: ArrayLike) -> IntArray:
    """Count the classes in each set.

    Examples
    --------
    >>> cardinality([0, 1, 5, 7])
    array([0, 1, 2, 3])
    """
    return np.bitwise_count(check_sets(sets, MAX_CLASSES)).astype(np.int64)


def membership(sets: ArrayLike, n_classes: int) -> BoolArray:
    """Say which classes are in each set: a boolean array with one more axis, over classes.

    Examples
    --------
    >>> membership([1, 5], n_classes=3)
    array([[ True, False, False],
           [ True, False,  True]])
    """
    bits = check_sets(sets, n_classes)[..., None] >> np.arange(n_classes)
    return (bits & 1).astype(bool)


def sets_from_membership(members: ArrayLike) -> IntArray:
    """Bit masks of sets given as a boolean array over classes; the inverse of `membership`.

    Examples
    --------
    >>> sets_from_membership([[True, False, False], [True, False, True]])
    array([1, 5])
    """
    member = as_array(members, "members")
    if member.ndim == 0 or member.dtype.kind not in "biufO":
        raise InputError(
            "members should be True or False for each class",
            f"{shown(members)} was given",
            "turn class names into sets with encode_sets",
            parameter="members",
            value=members,
        )
    member = as_floats(member, "members") != 0 if member.dtype != bool else member
    check_n_classes(member.shape[-1])
    return member @ (1 << np.arange(member.shape[-1], dtype=np.int64))


def encode_sets(sets: Iterable[Iterable[Hashable]], classes: Sequence[Hashable]) -> IntArray:
    """Bit masks of sets of class names.

    Parameters
    ----------
    sets : iterable of collections of class names
    classes : sequence of distinct class names, in the order of the frame

    Examples
    --------
    >>> encode_sets([{"a"}, {"a", "c"}, set()], classes=["a", "b", "c"])
    array([1, 5, 0])
    """
    bits = class_bits(classes)
    rows = as_list(sets, "sets", "sets of class names")
    masks = [encode_set(members, bits, f"set {row}") for row, members in enumerate(rows)]
    return np.array(masks, dtype=np.int64)


def class_bits(classes: Sequence[Hashable]) -> dict[Hashable, int]:
    """Bit of each class, refusing a frame with repeated classes."""
    names = class_names(classes)
    check_n_classes(len(names))
    bits = {name: 1 << k for k, name in enumerate(names)}
    if len(bits) < len(names):
        raise InputError(
            "classes should be distinct",
            f"{shown(names)} repeats one",
            "name each class once",
            parameter="classes",
            value=names,
        )
    return bits


def class_names(classes: Sequence[Hashable]) -> list[Hashable]:
    """The names of classes, each of which can be looked up; a text is a class for each letter."""
    check_ordered(classes)
    names = list(classes) if isinstance(classes, str) else as_list(classes, "classes", "names")
    if not all(map(can_be_looked_up, names)):
        raise InputError(
            "classes should be a list of names, text or numbers",
            f"{shown(classes)} was given",
            "name each class by one text or number",
            parameter="classes",
            value=classes,
        )
    return names


def can_be_looked_up(name: object) -> bool:
    """Whether a name has a hash, as keys of a dictionary must."""
    try:
        hash(name)
    except Exception:  # TypeError, or whatever the caller's own class raises
        return False
    return True


def encode_set(members: Iterable[Hashable], bits: Mapping[Hashable, int], where: str) -> int:
    """Bit mask of one set of class names; `where` names it in errors."""
    if isinstance(members, str) or not isinstance(members, Iterable):
        raise InputError(
            "A set should be a collection of class names",
            f"{where} is {shown(members)}",
            f"write {{{shown(members)}}} for a set of one class",
            value=members,
        )
    given = as_list(members, where, "class names")
    if not all(map(can_be_looked_up, given)):
        raise InputError(
            "A set should be a collection of class names",
            f"{where} is {shown(given)}",
            "write each name as text or a number",
            value=given,
        )
    names = set(given)
    unknown = sorted(repr(name) for name in names if name not in bits)
    if unknown:
        raise ValueError(
            f"Sets should hold classes of the frame {list(bits)}, but {where} holds "
            f"{', '.join(unknown)}; correct it, or add the class to the frame"
            f"{guess(unknown[0].strip(QUOTES), list(bits)) or '.'}"
        )
    return sum(bits[name] for name in names)


def decode_sets(sets: ArrayLike, classes: Sequence[Hashable]) -> list[tuple[Hashable, ...]]:
    """Class names in each set, in the order of the frame; the inverse of `encode_sets`.

    Examples
    --------
    >>> decode_sets([1, 5, 0], classes=["a", "b", "c"])
    [('a',), ('a', 'c'), ()]
    """
    names = class_names(classes)
    masks = check_set_list(sets, len(names))
    return [
        tuple(name for name, inside in zip(names, row, strict=True) if inside)
        for row in membership(masks, len(names))
    ]


def check_n_classes(n_classes: int) -> int:
    """Return the size of a frame, refusing one that is empty or too large for bit masks."""
    if not is_whole(n_classes) or not 1 <= n_classes <= MAX_CLASSES:
        raise InputError(
            f"A frame should have 1 to {MAX_CLASSES} classes",
            f"{shown(n_classes)} were given",
            "group classes into a coarser frame",
            value=n_classes,
        )
    return int(n_classes)


def check_dense(n_classes: int) -> int:
    """Return the size of a frame, refusing one with too many sets for one column each."""
    if check_n_classes(n_classes) > MAX_DENSE_CLASSES:
        raise InputError(
            "Dense form has one column for each of the 2^K sets and should have at most K = "
            f"{MAX_DENSE_CLASSES} classes",
            f"the frame has {n_classes}",
            "keep the masses in sparse form (SparseMasses), and name the sets that you want "
            "with {sets}",
            settings={"sets": None},
        )
    return int(n_classes)


def check_sets(sets: ArrayLike, n_classes: int, name: str = "sets") -> IntArray:
    """Return bit masks as an integer array, refusing those that are not sets of the frame."""
    frame = full_set(n_classes)
    try:
        given = np.asarray(sets)
    except Exception:  # ragged lists, and whatever the caller's own class raises
        given = np.asarray("names")
    if given.size and given.dtype.kind not in "iu":
        raise InputError(
            f"{name} should be bit masks (integers)",
            f"came as {given.dtype}",
            "turn class names into bit masks with encode_sets",
            parameter=name,
        )
    given = given if given.size else given.astype(np.int64)
    outside = (given < 0) | (given > frame)
    if outside.any():
        raise InputError(
            f"{name} should be bit masks from 0 to {frame} on a frame of {n_classes} classes",
            f"{given[outside].flat[0]} was given",
            "bit k stands for class k",
            parameter=name,
        )
    return given.astype(np.int64)


def check_set_list(sets: ArrayLike, n_classes: int, name: str = "sets") -> IntArray:
    """`check_sets` for a plain list of sets, or a single one."""
    masks = np.atleast_1d(check_sets(sets, n_classes, name))
    if masks.ndim > 1:
        raise InputError(
            f"{name} should be a list of bit masks",
            f"has shape {masks.shape}",
            "flatten it",
            parameter=name,
            value=masks.shape,
        )
    return masks
