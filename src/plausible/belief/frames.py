r"""Moving mass functions between frames.

A refining splits each class k of a coarse frame into a set ``parts[k]`` of classes of a finer one.
Product frames are refinings too: on the frame of pairs (i, j), class i of the first frame becomes
the cylinder {(i, 0), (i, 1), ...}. Class (i, j, ...) of a product frame of a given shape has the
number ``numpy.ravel_multi_index((i, j, ...), shape)``.
"""

from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import ArrayLike

from plausible.belief.forms import MassesT, repack, unpack
from plausible.belief.sets import (
    IntArray,
    check_n_classes,
    check_set_list,
    full_set,
    membership,
    sets_from_membership,
)
from plausible.checks import as_array, check_flag, shown
from plausible.errors import InputError


def refine(masses: MassesT, parts: ArrayLike, n_classes: int) -> MassesT:
    """Carry masses to a finer frame: each class becomes the set of its parts.

    Parameters
    ----------
    masses : dense array (..., 2^K) or SparseMasses, on the coarse frame
    parts : array-like (K,) of bit masks on the fine frame
        ``parts[k]`` holds the classes that class k splits into. Together they cover the fine
        frame, and none overlaps another.
    n_classes : int
        Size of the fine frame.

    Examples
    --------
    Class 0 stays, class 1 splits into two:

    >>> refine([0.0, 0.7, 0.1, 0.2], parts=[0b001, 0b110], n_classes=3)
    array([0. , 0.7, 0. , 0. , 0. , 0. , 0.1, 0.2])
    """
    values, sets, n_coarse = unpack(masses)
    split = _check_parts(parts, n_coarse, n_classes)
    finer = sets_from_membership(membership(sets, n_coarse) @ membership(split, n_classes))
    return repack(values, finer, n_classes, like=masses)


def coarsen(masses: MassesT, parts: ArrayLike, inner: bool = False) -> MassesT:
    """Carry masses to a coarser frame, whose class k stands for the set ``parts[k]``.

    Parameters
    ----------
    masses : dense array (..., 2^K) or SparseMasses, on the fine frame
    parts : array-like of bit masks on the fine frame
        They cover it, and none overlaps another.
    inner : bool
        By default a set becomes all the parts that it touches (outer reduction, which loses
        certainty but never the truth); with `inner` only those that it fills.

    Examples
    --------
    >>> coarsen([0.0, 0.5, 0.0, 0.0, 0.3, 0.0, 0.0, 0.2], parts=[0b001, 0b110])
    array([0. , 0.5, 0.3, 0.2])
    """
    values, sets, n_classes = unpack(masses)
    split = _check_parts(parts, None, n_classes)
    common = sets[:, None] & split
    kept = common == split if check_flag(inner, "inner") else common != 0
    return repack(values, sets_from_membership(kept), len(split), like=masses)


def vacuous_extension(
    masses: MassesT, shape: Sequence[int], axis: int | Sequence[int] = 0
) -> MassesT:
    """Carry masses to a product frame, saying nothing of the other factors.

    Parameters
    ----------
    masses : dense array (..., 2^K) or SparseMasses
    shape : sequence of int
        Sizes of the factors of the product frame.
    axis : int or sequence of int
        Factor, or factors, that the masses speak of.

    Examples
    --------
    >>> m = vacuous_extension([0.0, 0.7, 0.0, 0.3], shape=(2, 2), axis=0)
    >>> {s: float(m[s]) for s in m.nonzero()[0].tolist()}
    {3: 0.7, 15: 0.3}
    """
    own = cylinders(shape, axis)
    n_classes = unpack(masses)[2]
    if len(own) != n_classes:
        raise InputError(
            f"The factor that the masses speak of should have their {n_classes} classes",
            f"axis {shown(axis)} of shape {shown(shape)} has {len(own)}",
            "check shape and axis",
            value=axis,
        )
    return refine(masses, own, prod(_check_shape(shape)))


def marginalize(masses: MassesT, shape: Sequence[int], axis: int | Sequence[int] = 0) -> MassesT:
    """Project masses on a product frame to one factor, or to several.

    Parameters as for `vacuous_extension`, which this undoes.

    Examples
    --------
    >>> m = vacuous_extension([0.0, 0.7, 0.0, 0.3], shape=(2, 2), axis=0)
    >>> marginalize(m, shape=(2, 2), axis=0)
    array([0. , 0.7, 0. , 0.3])
    >>> marginalize(m, shape=(2, 2), axis=1)
    array([0., 0., 0., 1.])
    """
    n_classes = unpack(masses)[2]
    sizes = _check_shape(shape)
    if prod(sizes) != n_classes:
        raise InputError(
            f"shape should multiply to the {n_classes} classes of the product frame",
            f"{tuple(sizes)} makes {prod(sizes)}",
            "give the sizes of all factors",
            parameter="shape",
        )
    return coarsen(masses, cylinders(sizes, axis))


def cylinders(shape: Sequence[int], axis: int | Sequence[int] = 0) -> IntArray:
    """Bit masks, on the product frame, of the classes of some of its factors.

    Examples
    --------
    >>> cylinders((2, 3), axis=0)
    array([ 7, 56])
    """
    sizes = _check_shape(shape)
    check_n_classes(prod(sizes))
    kept = np.atleast_1d(as_array(axis, "axis")).tolist()
    are_whole = kept and all(type(a) is int for a in kept)
    if not are_whole or len({a % len(sizes) for a in kept if -len(sizes) <= a < len(sizes)}) < len(
        kept
    ):
        raise InputError(
            f"axis should name different factors of the shape {tuple(sizes)}, counted from 0",
            f"{shown(axis)} was given",
            parameter="axis",
            value=axis,
        )
    places = np.indices(sizes).reshape(len(sizes), -1)
    own = np.ravel_multi_index(tuple(places[a] for a in kept), tuple(sizes[a] for a in kept))
    n_own = prod(sizes[a] for a in kept)
    return sets_from_membership(own == np.arange(n_own)[:, None])


def _check_shape(shape: Sequence[int]) -> list[int]:
    """Sizes of the factors of a product frame."""
    sizes = np.atleast_1d(as_array(shape, "shape"))
    if sizes.ndim != 1 or not sizes.size:
        raise InputError(
            "shape should be the sizes of the factors",
            f"{shown(shape)} was given",
            "write (2, 3) for two and three classes",
            parameter="shape",
            value=shape,
        )
    return [check_n_classes(size) for size in sizes.tolist()]


def with_unknown(masses: MassesT) -> MassesT:
    """Add a last class "unknown, none of the others" to the frame.

    Mass on the empty set ("none of these") goes to the new class, mass on the whole frame ("no
    idea") to the whole new frame; every other set stays as it is.

    Examples
    --------
    >>> with_unknown([0.2, 0.5, 0.0, 0.3])
    array([0. , 0.5, 0. , 0. , 0.2, 0. , 0. , 0.3])
    """
    values, sets, n_classes = unpack(masses)
    unknown = 1 << n_classes
    opened = np.where(sets == full_set(n_classes), sets | unknown, sets)
    return repack(values, np.where(sets == 0, unknown, opened), n_classes + 1, like=masses)


def _check_parts(parts: ArrayLike, n_parts: int | None, n_classes: int) -> IntArray:
    """Check that parts make a partition of the frame, into `n_parts` if that is given."""
    split = check_set_list(parts, n_classes, "parts")
    covered = membership(split, n_classes).sum(axis=0) == 1
    if len(split) != (n_parts or len(split)) or not covered.all() or (split == 0).any():
        raise InputError(
            f"parts should be {f'{n_parts} ' if n_parts else ''}non-empty sets that cover each "
            f"of the {n_classes} classes of the fine frame once",
            f"{split.tolist()} was given",
            "give each class to one part",
            parameter="parts",
        )
    return split
