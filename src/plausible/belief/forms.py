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

from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar, final

import numpy as np
from numpy.typing import ArrayLike

from plausible.belief.errors import first_bad, name_rows
from plausible.belief.sets import FloatArray, IntArray, all_sets, check_dense, check_sets, full_set

SUM_TOLERANCE = 1e-5  # masses typed with six decimals, or held in float32, sum to one within this
NEGATIVE_TOLERANCE = 1e-9  # rounding of the caller's own arithmetic; set to zero


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
        values = np.asarray(self.values, dtype=np.float64)
        sets = check_sets(self.focal_sets, self.n_classes, "focal_sets")
        if sets.ndim != 1 or values.ndim < 1 or values.shape[-1] != len(sets):
            raise ValueError(
                "values should have one column for each focal set, but values have shape "
                f"{values.shape} and focal_sets {sets.shape}; give values (..., F) and F sets."
            )
        if len(np.unique(sets)) < len(sets):
            raise ValueError(
                "focal_sets should be distinct, but a set is listed twice; add up its columns."
            )
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "focal_sets", sets)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the values, focal sets last."""
        return self.values.shape

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: Any) -> "SparseMasses":
        """Select rows; the focal sets stay."""
        index = rows if isinstance(rows, tuple) else (rows,)
        return SparseMasses(
            self.values[(*index, ..., slice(None))], self.focal_sets, self.n_classes
        )

    def to_dense(self) -> FloatArray:
        """Return the masses as an array with one column for each of the 2^K sets."""
        check_dense(self.n_classes)
        dense = np.zeros((*self.shape[:-1], 1 << self.n_classes))
        dense[..., self.focal_sets] = self.values
        return dense


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
    values, sets, n_classes = unpack(masses)
    order = np.argsort(sets)
    return _drop_unused(values[..., order], sets[order], n_classes)


def to_dense(masses: ArrayLike | SparseMasses) -> FloatArray:
    """Dense form of masses, one column for each of the 2^K sets.

    Examples
    --------
    >>> to_dense(SparseMasses([0.7, 0.3], focal_sets=[1, 3], n_classes=2))
    array([0. , 0.7, 0. , 0.3])
    """
    checked = check_masses(masses)
    return checked.to_dense() if isinstance(checked, SparseMasses) else checked


def check_masses(masses: ArrayLike | SparseMasses, name: str = "masses") -> Masses:
    """Return masses as a float array or `SparseMasses`, refusing what is not a mass function."""
    if isinstance(masses, SparseMasses):
        return check_sparse(masses, name)
    values = np.asarray(masses, dtype=np.float64)
    n_sets = values.shape[-1] if values.ndim else 0
    if n_sets < 2 or n_sets & (n_sets - 1):
        raise ValueError(
            f"{name} in dense form should have 2^K columns, one for each set of classes, but have "
            f"shape {values.shape}; use bayesian() for probabilities, consonant() for "
            "plausibilities of classes, or SparseMasses for masses of chosen sets."
        )
    check_dense(n_sets.bit_length() - 1)
    return check_values(values, name)


def check_sparse(masses: SparseMasses, name: str = "masses") -> SparseMasses:
    """Refuse sparse masses that are not mass functions."""
    values = check_values(masses.values, name)
    return SparseMasses(values, masses.focal_sets, masses.n_classes)


def check_values(values: FloatArray, name: str) -> FloatArray:
    """Refuse values that are not mass functions; set rounding errors below zero to zero."""
    total = values.sum(axis=-1)
    if not np.isfinite(total).all():
        bad = ~np.isfinite(values)
        raise ValueError(
            f"{name} should be finite, but {name_rows(bad.any(axis=-1))} hold values such as "
            f"{first_bad(values, bad)}; where nothing is known, put all mass on the whole frame."
        )
    negative = values < 0.0
    if negative.any():
        bad = values < -NEGATIVE_TOLERANCE
        if bad.any():
            raise ValueError(
                f"{name} should not be negative, but {name_rows(bad.any(axis=-1))} hold values "
                f"such as {first_bad(values, bad)}; correct them."
            )
        values = np.where(negative, 0.0, values)
    wrong = np.abs(total - 1.0) > SUM_TOLERANCE
    if wrong.any():
        raise ValueError(
            f"Each row of {name} should sum to one, but {name_rows(wrong)} sum to values such as "
            f"{first_bad(np.atleast_1d(total), np.atleast_1d(wrong))}; divide each row by its sum, "
            "or give the missing mass to the whole frame."
        )
    return values


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


def repack(values: FloatArray, sets: IntArray, n_classes: int, like: MassesT) -> MassesT:
    """Add up the values that belong to one set, and answer in the form of `like`.

    `sets` gives the set of each column of `values`, or, with the shape of `values`, of each entry.
    """
    if isinstance(like, SparseMasses):
        return gather(values, sets, n_classes)
    return gather_dense(values, sets, n_classes)


def gather(values: FloatArray, sets: IntArray, n_classes: int) -> SparseMasses:
    """Sparse masses from values and the set that each belongs to; empty columns are dropped."""
    focal, position = np.unique(sets, return_inverse=True)
    if len(focal) == 0:  # no rows, with sets of their own
        focal = np.array([full_set(n_classes)])
    sums = sum_by_position(values, position.reshape(sets.shape), len(focal))
    return _drop_unused(sums, focal, n_classes)


def gather_dense(values: FloatArray, sets: IntArray, n_classes: int) -> FloatArray:
    """Dense masses from values and the set that each belongs to."""
    if np.array_equal(sets, all_sets(n_classes)):
        return values
    return sum_by_position(values, sets, 1 << n_classes)


def check_unit_interval(values: ArrayLike, name: str) -> FloatArray:
    """Return values as a float array of at least one axis, refusing those outside [0, 1]."""
    checked = np.atleast_1d(np.asarray(values, dtype=np.float64))
    bad = ~((checked >= 0.0) & (checked <= 1.0))  # also true for NaN
    if bad.any():
        raise ValueError(
            f"{name} should lie in [0, 1], but {name_rows(bad.any(axis=-1))} hold values such as "
            f"{first_bad(checked, bad)}; correct them, or divide each row by its maximum."
        )
    return checked


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


def _drop_unused(values: FloatArray, sets: IntArray, n_classes: int) -> SparseMasses:
    """Sparse masses without the columns in which no row has a mass; one at least is kept."""
    used = np.asarray(values.reshape(-1, len(sets)).any(axis=0))
    used[0] |= not used.any()  # without rows, nothing is used
    return SparseMasses(values[..., used], sets[used], n_classes)
