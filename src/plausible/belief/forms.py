"""Mass functions in two forms, and the door through which every function takes them.

A mass function on a frame of K classes gives a mass m(A) >= 0 to sets of classes, and the masses
sum to one. m(empty set) > 0 is allowed everywhere: it is the part of belief that the frame cannot
hold (conflict between sources, or a class that nobody listed).

Dense form
    A float array (..., 2^K); column A holds the mass of the set with bit mask A.
Sparse form
    `SparseMasses`: an array (..., F) and the F focal sets, for frames of up to 62 classes.

Functions answer in the form that they were given. The leading axes are rows, one mass function
each, and broadcast.
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar, final

import numpy as np
from numpy.typing import ArrayLike

from plausible.belief.sets import (
    FloatArray,
    IntArray,
    all_sets,
    check_dense,
    check_n_classes,
    check_sets,
    decode_sets,
    full_set,
)
from plausible.checks import as_floats, as_list, example, found
from plausible.errors import InputError

SUM_TOLERANCE = 1e-5  # masses typed with six decimals, or held in float32, sum to one within this
ROUNDING = 1e-9  # what the caller's own arithmetic may have left below zero or above one
MAX_ENTRIES = 1 << 30  # 8 GB of masses
SUM_REMEDY = (
    "divide each row by its sum (by 100 if these are percentages), give the mass that is missing "
    "to the whole frame, or use consonant() if these are plausibilities of classes"
)
MASSES_REMEDY = (
    "use bayesian() for probabilities, consonant() for plausibilities of classes, or SparseMasses "
    "for masses of chosen sets"
)


@final
@dataclass(frozen=True, eq=False)
class SparseMasses:
    """Mass functions that share a short list of focal sets.

    Parameters
    ----------
    values : array-like (..., F)
        Masses; each row sums to one.
    focal_sets : array-like (F,)
        Bit masks of the focal sets, each listed once.
    n_classes : int
        Size of the frame, at most 62.

    Examples
    --------
    >>> m = SparseMasses([[0.7, 0.3], [0.2, 0.8]], focal_sets=[1, 7], n_classes=3)
    >>> m.to_dense()
    array([[0. , 0.7, 0. , 0. , 0. , 0. , 0. , 0.3],
           [0. , 0.2, 0. , 0. , 0. , 0. , 0. , 0.8]])
    >>> m[1].values
    array([0.2, 0.8])
    """

    values: FloatArray
    focal_sets: IntArray
    n_classes: int

    def __post_init__(self) -> None:
        values = as_floats(self.values, "values")
        sets = check_sets(self.focal_sets, self.n_classes, "focal_sets")
        if sets.ndim != 1 or values.ndim < 1 or not 0 < values.shape[-1] == len(sets):
            raise InputError(
                "values should have one column for each focal set, at least one",
                f"values have shape {values.shape} and focal_sets {sets.shape}",
                "give values (..., F) and F sets",
                parameter="values",
                value=values.shape,
            )
        if len(np.unique(sets)) < len(sets):
            raise InputError(
                "focal_sets should be distinct",
                "a set is listed twice",
                "add up its columns",
                parameter="focal_sets",
            )
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "focal_sets", sets)
        object.__setattr__(self, "n_classes", check_n_classes(self.n_classes))

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the values, focal sets last."""
        return self.values.shape

    def __len__(self) -> int:
        if self.values.ndim == 1:
            raise TypeError("A single mass function has no rows; use len(masses.focal_sets).")
        return len(self.values)

    def __iter__(self) -> Iterator["SparseMasses"]:
        return (self[row] for row in range(len(self)))

    def __getitem__(self, rows: Any) -> "SparseMasses":
        """Select rows, as in an array of the leading axes; the focal sets stay."""
        chosen = np.arange(int(np.prod(self.shape[:-1]))).reshape(self.shape[:-1])[rows]
        values = self.values.reshape(-1, self.shape[-1])[chosen]
        return SparseMasses(values, self.focal_sets, self.n_classes)

    def to_dense(self) -> FloatArray:
        """Return the masses as an array with one column for each of the 2^K sets."""
        dense = np.zeros((*self.shape[:-1], 1 << check_dense(self.n_classes)))
        dense[..., self.focal_sets] = self.values
        return dense

    def to_dicts(self, classes: Sequence[Hashable]) -> list[dict[tuple[Hashable, ...], float]]:
        """Return each row as a dictionary from sets of class names to masses, largest first.

        Examples
        --------
        >>> SparseMasses([[0.3, 0.7]], focal_sets=[3, 1], n_classes=2).to_dicts(["a", "b"])
        [{('a',): 0.7, ('a', 'b'): 0.3}]
        """
        names = decode_sets(self.focal_sets, classes)
        rows = self.values.reshape(-1, self.shape[-1])
        orders = [np.argsort(-row, kind="stable")[: np.count_nonzero(row)] for row in rows]
        return [
            {names[column]: float(row[column]) for column in order}
            for row, order in zip(rows, orders, strict=True)
        ]


Masses: TypeAlias = FloatArray | SparseMasses
MassesT = TypeVar("MassesT", FloatArray, SparseMasses)


def to_sparse(masses: ArrayLike | SparseMasses) -> SparseMasses:
    """Sparse form of masses: only the sets to which some row gives a mass are kept.

    Examples
    --------
    >>> to_sparse([[0.0, 0.7, 0.0, 0.3], [0.0, 0.0, 0.0, 1.0]])
    SparseMasses(values=array([[0.7, 0.3],
           [0. , 1. ]]), focal_sets=array([1, 3]), n_classes=2)
    """
    return sparse_form(check_masses(masses))


def to_dense(masses: ArrayLike | SparseMasses) -> FloatArray:
    """Dense form of masses, one column for each of the 2^K sets; always a new array.

    Examples
    --------
    >>> to_dense(SparseMasses([0.7, 0.3], focal_sets=[1, 3], n_classes=2))
    array([0. , 0.7, 0. , 0.3])
    """
    checked = check_masses(masses)
    return checked.to_dense() if isinstance(checked, SparseMasses) else checked.copy()


def concatenate(parts: Sequence[ArrayLike | SparseMasses]) -> SparseMasses:
    """Rows of several groups of masses on one frame, one after the other.

    Examples
    --------
    >>> from plausible.belief import bayesian, vacuous
    >>> concatenate([bayesian([[0.2, 0.8]]), vacuous(2)[None]]).values
    array([[0.2, 0.8, 0. ],
           [0. , 0. , 1. ]])
    """
    groups = [to_sparse(part) for part in as_list(parts, "parts", "groups of masses")]
    sizes = {group.n_classes for group in groups}
    if len(sizes) != 1 or any(group.values.ndim != 2 for group in groups):
        raise InputError(
            "parts should be masses (rows, sets) on one frame",
            f"have {sorted(sizes)} classes and shapes {[group.shape for group in groups]}",
            "refine or coarsen them first, and write masses[None] for a single mass function",
            parameter="parts",
        )
    sets = np.unique(np.concatenate([group.focal_sets for group in groups]))
    values = np.zeros((sum(len(group) for group in groups), len(sets)))
    start = 0
    for group in groups:
        rows = slice(start, start := start + len(group))
        values[rows, np.searchsorted(sets, group.focal_sets)] = group.values
    return SparseMasses(values, sets, groups[0].n_classes)


# ---------------------------------------------------------------------------------------------
# The door: every function unpacks what it was given and repacks its answer in the same form.


def knows_its_masses(given: Any) -> bool:
    """Whether something has masses of its own: Labels, Beliefs, a credal partition."""
    return callable(getattr(given, "masses", None))


def check_masses(masses: ArrayLike | SparseMasses, name: str = "masses") -> Masses:
    """Return masses as a float array or `SparseMasses`, refusing what is not a mass function."""
    if knows_its_masses(masses):
        masses = masses.masses()  # type: ignore[union-attr]
    if isinstance(masses, SparseMasses):
        values = check_values(masses.values, name)
        return SparseMasses(values, masses.focal_sets, masses.n_classes)
    if isinstance(masses, (list, tuple)) and any(isinstance(m, SparseMasses) for m in masses):
        raise InputError(
            f"{name} should be one array or SparseMasses",
            "a list of SparseMasses was given",
            "pass sources one by one, rule(*sources), or use combine(sources) or "
            "concatenate(parts)",
            parameter=name,
        )
    if hasattr(masses, "offers_refusal"):
        raise InputError(
            f"{name} should be what is believed",
            "a Decision was given, which is decided already",
            "give what it was decided from, such as model.believe(X)",
            parameter=name,
        )
    values = as_floats(masses, name)
    check_every_set(values, f"{name} in dense form", MASSES_REMEDY)
    return check_values(values, name)


def dense_width(masses: Masses) -> int:
    """Columns of an array; 0 for SparseMasses, which know their sets."""
    return 0 if isinstance(masses, SparseMasses) else masses.shape[-1]


def are_degrees(n_columns: int, n_classes: int) -> str:
    """What to do where an array, read as masses of all sets, has a column for each class instead.

    An array of K columns, K a power of two, can be probabilities of K classes as well as masses of
    the sets of fewer. Where another number of classes is said beside it, this shows.
    """
    if n_columns != n_classes:
        return ""
    return (
        f"use bayesian(array) if these are probabilities of {n_classes} classes, and "
        "consonant(array) if they are plausibilities"
    )


def check_every_set(values: FloatArray, name: str, remedy: str) -> None:
    """Refuse an array that does not have one column for each set of a frame."""
    n_sets = values.shape[-1] if values.ndim else 0
    if n_sets < 2 or n_sets & (n_sets - 1):
        raise InputError(
            f"{name} should have 2^K columns, one for each set of classes",
            f"the shape is {values.shape}",
            f"{remedy}",
            parameter=name,
            value=values.shape,
        )
    check_dense(n_sets.bit_length() - 1)


def check_values(
    values: FloatArray,
    name: str,
    remedy: str = SUM_REMEDY,
) -> FloatArray:
    """Refuse values that are not mass functions; make good for small rounding errors."""
    with np.errstate(over="ignore", invalid="ignore"):
        # A product is faster than a sum over few columns.
        total = np.asarray(values @ np.ones(values.shape[-1]))[..., None]
    if not np.isfinite(total).all():
        _check_finite(values, name)
    if values.min(initial=0.0) < 0.0:
        bad = values < -ROUNDING
        if bad.any():
            raise InputError(
                f"{name} should not be negative",
                f"{found(values, bad, bad.any(axis=-1))}",
                "correct the values",
                parameter=name,
                value=example(values, bad),
                rows=bad.any(axis=-1),
            )
        values = np.maximum(values, 0.0)
    off = np.abs(total - 1.0)
    wrong = (off > SUM_TOLERANCE)[..., 0]
    if wrong.any():
        raise InputError(
            f"Each row of {name} should sum to one",
            f"{found(total[..., 0], wrong, wrong)}",
            f"{remedy}",
            value=example(total[..., 0], wrong),
            rows=wrong,
        )
    # What is slightly off is made exact, or products of many sources would drift away from one.
    return np.where(off > ROUNDING, values / total, values) if (off > ROUNDING).any() else values


def unpack(
    masses: ArrayLike | SparseMasses, name: str = "masses"
) -> tuple[FloatArray, IntArray, int]:
    """Check masses in either form and return (values, focal sets, number of classes)."""
    return columns(check_masses(masses, name))


def columns(masses: Masses) -> tuple[FloatArray, IntArray, int]:
    """`unpack` masses that were checked before."""
    if isinstance(masses, SparseMasses):
        return masses.values, masses.focal_sets, masses.n_classes
    n_classes = masses.shape[-1].bit_length() - 1
    return masses, all_sets(n_classes), n_classes


def sparse_form(masses: Masses) -> SparseMasses:
    """`to_sparse` for masses that were checked before."""
    values, sets, n_classes = columns(masses)
    order = np.argsort(sets)
    return _drop_unused(values[..., order], sets[order], n_classes)


def repack(values: FloatArray, sets: IntArray, n_classes: int, like: MassesT) -> MassesT:
    """Add up the values that belong to one set, and answer in the form of `like`.

    `sets` gives the set of each column of `values`, or, with the shape of `values`, of each entry.
    """
    if isinstance(like, SparseMasses) or knows_its_masses(like):
        return add_up(values, sets, n_classes)  # type: ignore[return-value]
    return add_up_dense(values, sets, n_classes)


def add_up(values: FloatArray, sets: IntArray, n_classes: int) -> SparseMasses:
    """Sparse masses from values and the set that each belongs to; empty columns are dropped."""
    focal, position = np.unique(sets, return_inverse=True)
    if len(focal) == 0:  # no rows, with sets of their own
        focal = np.array([full_set(n_classes)])
    n_rows = int(np.prod(values.shape[:-1]))
    if n_rows * len(focal) > MAX_ENTRIES:
        raise InputError(
            f"Sparse masses should have at most {MAX_ENTRIES:.0e} entries",
            f"{n_rows} rows with {len(focal)} different focal sets make {n_rows * len(focal):.1e}",
            "work on fewer rows at a time",
        )
    sums = sum_by_position(values, position.reshape(sets.shape), len(focal))
    return _drop_unused(sums, focal, n_classes)


def add_up_dense(values: FloatArray, sets: IntArray, n_classes: int) -> FloatArray:
    """Dense masses from values and the set that each belongs to; always a new array."""
    if np.array_equal(sets, all_sets(n_classes)):
        return values.copy()
    return sum_by_position(values, sets, 1 << n_classes)


def sum_by_position(values: FloatArray, position: IntArray, n_columns: int) -> FloatArray:
    """Add up, in each row, the values that share a position: (..., n_columns).

    `position` gives the column to add to, for each column of `values` or for each entry.
    """
    lead = values.shape[:-1]
    rows = values.reshape(-1, values.shape[-1])
    if position.ndim > 1:
        position = position.reshape(rows.shape)
    cell = np.arange(len(rows))[:, None] * n_columns + position
    sums = np.bincount(cell.ravel(), weights=rows.ravel(), minlength=len(rows) * n_columns)
    return np.asarray(sums, dtype=np.float64).reshape(*lead, n_columns)


def check_unit_interval(
    values: ArrayLike, name: str, remedy: str = "correct the values", last_axis_is_row: bool = True
) -> FloatArray:
    """Return values as a float array, refusing those outside [0, 1] by more than rounding.

    The last axis lies within a row, unless there is one value for each row.
    """
    given = as_floats(values, name)
    bad = ~((given >= -ROUNDING) & (given <= 1.0 + ROUNDING))  # also true for NaN
    if bad.any():
        rows = np.atleast_1d(bad).any(axis=-1) if last_axis_is_row else bad
        raise InputError(
            f"{name} should lie in [0, 1]",
            f"{found(given, bad, rows)}",
            f"{remedy}",
            parameter=name,
            value=example(given, bad),
            rows=rows,
        )
    return np.clip(given, 0.0, 1.0)


def _check_finite(values: FloatArray, name: str) -> None:
    bad = ~np.isfinite(values)
    if bad.any():
        raise InputError(
            f"{name} should be finite",
            f"{found(values, bad, bad.any(axis=-1))}",
            "where nothing is known, put all mass on the whole frame",
            parameter=name,
            value=example(values, bad),
            rows=bad.any(axis=-1),
        )


def _drop_unused(values: FloatArray, sets: IntArray, n_classes: int) -> SparseMasses:
    """Sparse masses without the columns in which no row has a mass; one at least is kept."""
    used = np.asarray(values.reshape(-1, len(sets)).any(axis=0))
    used[-1] |= not used.any()  # without rows, nothing is used
    return SparseMasses(values[..., used], sets[used], n_classes)
