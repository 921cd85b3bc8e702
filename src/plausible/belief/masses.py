"""Making mass functions, and normalizing them."""

from collections.abc import Hashable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from plausible.belief.errors import TotalConflictError
from plausible.belief.forms import (
    MassesT,
    SparseMasses,
    add_up,
    check_unit_interval,
    check_values,
    repack,
    sparse_form,
    to_sparse,
    unpack,
)
from plausible.belief.sets import (
    FloatArray,
    IntArray,
    check_n_classes,
    check_sets,
    class_bits,
    encode_set,
    full_set,
)
from plausible.checks import as_floats, as_list, check_kind, check_option, name_rows
from plausible.errors import InputError

FEW_CLASSES = 24
ROWS_AT_ONCE = 1 << 14  # of few columns, these stay in a processor's cache
ON_CONFLICT = ("raise", "vacuous", "empty")
REPLACE_REMEDY = "replace such rows first with normalize(masses, on_conflict='vacuous')"
FALLBACK_REMEDY = "choose a fallback with {on_conflict} or 'empty'"


def masses_from_dicts(
    rows: Sequence[Mapping[Any, float]], classes: Sequence[Hashable]
) -> SparseMasses:
    """Masses written as dictionaries from sets of class names to masses, one for each row.

    Parameters
    ----------
    rows : sequence of mappings
        A key is a tuple or frozenset of class names; ``()`` is the empty set.
    classes : sequence of class names, in the order of the frame

    Examples
    --------
    >>> m = masses_from_dicts([{("a",): 0.7, ("a", "b"): 0.3}], classes=["a", "b"])
    >>> m.values, m.focal_sets
    (array([[0.7, 0.3]]), array([1, 3]))
    """
    if isinstance(rows, Mapping):
        raise InputError(
            "rows should be a sequence of mappings",
            "a single one was given",
            "write [mapping]",
            parameter="rows",
        )
    bits = class_bits(classes)
    mappings = as_list(rows, "rows", "mappings from sets to masses")
    for i, row in enumerate(mappings):
        check_kind(row, Mapping, f"row {i}", "write {set of names: mass} for each row")
    encoded = [
        [encode_set(members, bits, f"row {i}") for members in row] for i, row in enumerate(mappings)
    ]
    sets = np.unique([full_set(len(bits)), *chain.from_iterable(encoded)])
    values = np.zeros((len(mappings), len(sets)))
    for i, (row, masks) in enumerate(zip(mappings, encoded, strict=True)):
        masses = as_floats(list(row.values()), f"masses of row {i}")
        np.add.at(values[i], np.searchsorted(sets, masks), masses)
    return to_sparse(SparseMasses(values, sets, len(bits)))


def vacuous(n_classes: int) -> SparseMasses:
    """Mass function that says nothing: all its mass is on the whole frame.

    Examples
    --------
    >>> vacuous(2).to_dense()
    array([0., 0., 0., 1.])
    """
    return SparseMasses(np.ones(1), np.array([full_set(n_classes)]), n_classes)


def categorical(sets: ArrayLike, n_classes: int) -> SparseMasses:
    """Mass functions that are sure of one set each: "it is in A, and I know no more".

    Examples
    --------
    >>> categorical([1, 3], n_classes=2).to_dense()
    array([[0., 1., 0., 0.],
           [0., 0., 0., 1.]])
    """
    masks = check_sets(sets, n_classes)
    return add_up(np.ones((*masks.shape, 1)), masks[..., None], n_classes)


def bayesian(probabilities: ArrayLike) -> SparseMasses:
    """Mass functions on single classes: probabilities (..., K), each row summing to one.

    Examples
    --------
    >>> bayesian([0.2, 0.8]).to_dense()
    array([0. , 0.2, 0.8, 0. ])
    """
    values = check_probabilities(probabilities)
    n_classes = check_n_classes(values.shape[-1])
    return SparseMasses(values, 1 << np.arange(n_classes, dtype=np.int64), n_classes)


def check_probabilities(probabilities: ArrayLike) -> FloatArray:
    """Probabilities (..., K) as an array, each row summing to one."""
    values = np.atleast_1d(as_floats(probabilities, "probabilities"))
    if values.shape[-1] == 0:
        raise InputError(
            "probabilities should have a column for each class", "have none", "give at least one"
        )
    remedy = "divide each row by its sum, or by 100 if these are percentages"
    return check_values(values, "probabilities", remedy)


def consonant(contour: ArrayLike) -> SparseMasses:
    """Least committed mass functions with the given contour: plausibilities (..., K) in [0, 1].

    The focal sets of a row are nested: they hold the classes in order of plausibility. Where no
    class is fully plausible, the empty set takes the rest, ``1 - max``.

    Examples
    --------
    >>> m = consonant([0.3, 0.1, 1.0])
    >>> m.focal_sets, m.values.round(10)
    (array([4, 5, 7]), array([0.7, 0.2, 0.1]))
    """
    remedy = "divide each row by its maximum"
    plausibility = np.atleast_1d(check_unit_interval(contour, "contour", remedy))
    n_classes = check_n_classes(plausibility.shape[-1])
    order = np.argsort(-plausibility, axis=-1, kind="stable")
    ranked = np.take_along_axis(plausibility, order, axis=-1)
    steps = -np.diff(ranked, axis=-1, prepend=1.0, append=0.0)
    nested = np.cumsum(np.int64(1) << order, axis=-1)
    sets = np.concatenate([np.zeros((*nested.shape[:-1], 1), dtype=np.int64), nested], axis=-1)
    return add_up(steps, sets, n_classes)


def contour_of_bets(probabilities: ArrayLike) -> FloatArray:
    r"""Plausibilities (..., K) of the least committed mass functions with given bets (..., K).

    .. math:: pl_k = \sum_l \min(p_k, p_l)

    `consonant` makes the masses of them, and `pignistic` gives the bets back (D. Dubois, H. Prade,
    P. Smets, A definition of subjective possibility, International Journal of Approximate
    Reasoning 48 (2008) 352-364).

    Examples
    --------
    >>> contour_of_bets([0.6, 0.3, 0.1])
    array([1. , 0.7, 0.3])
    """
    bets = check_probabilities(probabilities)
    return least_committed(bets.reshape(-1, bets.shape[-1])).reshape(bets.shape)


def least_committed(bets: FloatArray) -> FloatArray:
    """`contour_of_bets` of rows (n, K) that are known to be probabilities."""
    plausible = np.empty(bets.shape[::-1])  # column after column, as sums and minima go
    for start in range(0, len(bets), ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        columns = np.ascontiguousarray(bets[rows].T)
        sums = _sums_of_minima(columns) if len(columns) <= FEW_CLASSES else _sums_by_rank(columns)
        best = columns.max(axis=0)
        for k, column in enumerate(columns):
            sums[k] += column == best  # whose sum may miss one by rounding
        np.minimum(sums, 1.0, out=plausible[:, rows])
    return plausible.T


def _sums_of_minima(columns: FloatArray) -> FloatArray:
    """The sums (K, n), pair by pair: quicker than sorting while classes are few."""
    sums, least = columns.copy(), np.empty_like(columns[0])
    for k in range(len(columns)):
        for other in range(k):
            np.minimum(columns[k], columns[other], out=least)
            sums[k] += least
            sums[other] += least
    return sums


def _sums_by_rank(columns: FloatArray) -> FloatArray:
    """The same from ranks: a class counts its own bet for all above it, and lower bets as such."""
    order = np.argsort(columns, axis=0, kind="stable")
    ranked = np.take_along_axis(columns, order, axis=0)
    at_own = np.arange(len(columns), 0, -1)[:, None] * ranked
    sums = np.empty_like(columns)
    np.put_along_axis(sums, order, at_own + np.cumsum(ranked, axis=0) - ranked, axis=0)
    return sums


def normalize(masses: MassesT, on_conflict: str = "raise") -> MassesT:
    """Take the mass away from the empty set and scale the rest back to one.

    Divides by the sum of the other masses, which stays accurate where ``1 - m(empty)`` does not.

    Parameters
    ----------
    masses : dense array (..., 2^K) or SparseMasses
    on_conflict : {"raise", "vacuous", "empty"}
        What to do with rows whose whole mass is on the empty set: raise `TotalConflictError`,
        answer "anything is possible", or leave them as they are.

    Examples
    --------
    >>> normalize([0.5, 0.2, 0.0, 0.3])
    array([0. , 0.4, 0. , 0.6])
    """
    values, sets, n_classes = unpack(masses)
    values, sets = normalize_columns(values, sets, n_classes, on_conflict)
    return repack(values, sets, n_classes, like=masses)


def normal_form(masses: ArrayLike | SparseMasses) -> SparseMasses:
    """Normalized sparse form, in which the empty set has no column."""
    values, sets, n_classes = unpack(masses)
    values, sets = normalize_columns(values, sets, n_classes, remedy=REPLACE_REMEDY)
    return sparse_form(SparseMasses(values, sets, n_classes))


def normalize_columns(
    values: FloatArray,
    sets: IntArray,
    n_classes: int,
    on_conflict: str = "raise",
    need: str = "Normalization needs some mass outside the empty set",
    remedy: str | tuple[str, ...] = FALLBACK_REMEDY,
) -> tuple[FloatArray, IntArray]:
    """Kernel of `normalize`; `need` and `remedy` go into the error."""
    check_option(on_conflict, ON_CONFLICT, "on_conflict")
    kept = np.where(sets == 0, 0.0, values)
    total = kept.sum(axis=-1, keepdims=True)
    conflict = total[..., 0] == 0.0
    if not conflict.any():
        return kept / total, sets
    if on_conflict == "raise":
        raise TotalConflictError(
            need,
            f"there is none in {name_rows(conflict)}",
            remedy,
            rows=np.argwhere(conflict),
            settings={"on_conflict": "vacuous"},
        )
    fallback = full_set(n_classes) if on_conflict == "vacuous" else 0
    kept = kept / np.where(total == 0.0, 1.0, total)
    if fallback not in sets:
        sets = np.append(sets, fallback)
        kept = np.concatenate([kept, np.zeros((*kept.shape[:-1], 1))], axis=-1)
    kept[conflict, np.flatnonzero(sets == fallback)] = 1.0
    return kept, sets
