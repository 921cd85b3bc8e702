r"""Numbers that are known only in part: precise, within an interval, fuzzy, or missing.

What is known about a number is a contour, the plausibility of each value x,

.. math:: pl(x) = \exp\Bigl(-\frac{(x - m)^2}{2 s^2}\Bigr) \, 1[low \le x \le high]

======================  ====================================================
a precise value         m = x, s = 0
an interval             s infinite; a bound may be infinite, too (censoring)
a fuzzy value           m and s, no bounds
a missing value         s infinite, no bounds: everything is plausible
======================  ====================================================

Reference: T. Denoeux, Maximum likelihood estimation from uncertain data in the belief function
framework, IEEE Transactions on Knowledge and Data Engineering 25 (2013) 119-130.
"""

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plausible.checks import as_array, as_floats, as_list, name_rows, shown
from plausible.errors import InputError

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
Shape = int | tuple[int, ...]


class UncertainValues:
    """What is known about n numbers, or about n rows of d numbers.

    Use the constructors that say what the numbers mean: `from_precise`, `from_intervals`,
    `from_fuzzy`, `missing`; `where` and `concatenate` mix kinds in one array.

    Parameters
    ----------
    mean, sd : array-like (n,) or (n, d)
        Center and width of the plausibility; `sd` is 0 for a precise value and infinite where no
        value is favored.
    low, high : array-like of the same shape
        Bounds, which may be infinite.

    Attributes
    ----------
    mean, sd, low, high : arrays of shape `shape`, read-only

    Examples
    --------
    >>> exact = UncertainValues.from_precise([1.5, 2.0])
    >>> rounded = UncertainValues.from_intervals([2.0, 3.0], [3.0, np.inf])
    >>> values = UncertainValues.concatenate([exact, rounded, UncertainValues.missing(1)])
    >>> values
    <UncertainValues (5,): 2 precise, 2 intervals, 0 fuzzy, 1 missing>
    >>> values.plausibility(2.5)
    array([0., 0., 1., 0., 1.])
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, mean: ArrayLike, sd: ArrayLike, low: ArrayLike, high: ArrayLike) -> None:
        parts = _same_shape({"mean": mean, "sd": sd, "low": low, "high": high})
        self._set(*_check_parts(*parts))

    def _set(self, mean: FloatArray, sd: FloatArray, low: FloatArray, high: FloatArray) -> None:
        """Keep checked parts; a precise value has itself as both bounds."""
        precise = (sd == 0) | (low == high)
        value = np.where(sd == 0, mean, low)
        self.mean = np.where(precise, value, mean)
        self.sd = np.where(precise, 0.0, sd)
        self.low, self.high = np.where(precise, value, low), np.where(precise, value, high)
        for part in (self.mean, self.sd, self.low, self.high):
            part.flags.writeable = False

    def as_rows(self) -> NDArray[Any]:
        """The same as an array with fields mean, sd, low and high, for streams and for Dask.

        Examples
        --------
        >>> UncertainValues.from_intervals([1.0], [np.inf]).as_rows()["high"]
        array([inf])
        """
        made = np.empty(self.shape, dtype=[(name, np.float64) for name in PARTS])
        for name in PARTS:
            made[name] = getattr(self, name)
        return made

    # Constructors: each says what the numbers mean.

    @classmethod
    def from_precise(cls, values: ArrayLike) -> Self:
        """Numbers that are known; NaN stands for a missing one.

        Examples
        --------
        >>> UncertainValues.from_precise([1.0, np.nan]).is_missing
        array([False,  True])
        """
        (x,) = _same_shape({"values": values})
        refuse(np.isinf(x), x, "Precise values should be finite", "give NaN for a missing value")
        gone = np.isnan(x)
        infinite = np.where(gone, np.inf, x)
        return cls._made(
            np.where(gone, 0.0, x), np.where(gone, np.inf, 0.0),
            np.where(gone, -np.inf, x), infinite,
        )  # fmt: skip

    @classmethod
    def from_intervals(cls, low: ArrayLike, high: ArrayLike) -> Self:
        """Numbers between two bounds: rounded, binned or censored ones.

        Parameters
        ----------
        low, high : array-like (n,) or (n, d), or one number for all
            Infinite where there is no bound: ``high=np.inf`` is a value beyond `low`. Equal bounds
            are a precise value.

        Examples
        --------
        Ages in full years, and a detection limit:

        >>> UncertainValues.from_intervals([30, 41], [31, 42]).plausibility(30.5)
        array([1., 0.])
        >>> UncertainValues.from_intervals([-np.inf], 0.05).is_interval
        array([ True])
        """
        a, b = _same_shape({"low": low, "high": high})
        return cls(np.zeros_like(a), np.full_like(a, np.inf), a, b)

    @classmethod
    def from_fuzzy(cls, mean: ArrayLike, sd: ArrayLike) -> Self:
        """Numbers of which values near `mean` are more plausible: exp(-(x - mean)^2 / 2 sd^2).

        It is the likelihood of x behind a measurement with normal errors of this deviation.

        Parameters
        ----------
        mean : array-like (n,) or (n, d)
        sd : array-like of the same shape, or one number for all
            Zero for a precise value, infinite for a missing one.

        Examples
        --------
        >>> UncertainValues.from_fuzzy([0.0, 5.0], 2.0).plausibility(2.0).round(3)
        array([0.607, 0.325])
        """
        center, spread = _same_shape({"mean": mean, "sd": sd})
        no_bound = np.full_like(center, np.inf)
        return cls(center, spread, -no_bound, no_bound)

    @classmethod
    def missing(cls, shape: Shape) -> Self:
        """Numbers of which nothing is known.

        Examples
        --------
        >>> UncertainValues.missing((2, 3)).is_missing.all()
        np.True_
        """
        try:
            gone = np.full(shape, np.nan)
        except Exception:  # whatever the caller's own class makes of it
            raise InputError(
                "shape should be a number of values, or (rows, columns)",
                f"{shown(shape)} was given",
                parameter="shape",
                value=shape,
            ) from None
        return cls.from_precise(gone)

    @classmethod
    def concatenate(cls, parts: Iterable[Any]) -> Self:
        """Values one after the other; arrays among them are precise, with NaN for missing.

        Examples
        --------
        >>> UncertainValues.concatenate([[1.0], UncertainValues.missing(2)]).shape
        (3,)
        """
        groups = [as_values(part) for part in as_list(parts, "parts", "UncertainValues")]
        if not groups or len({group.shape[1:] for group in groups}) > 1:
            shapes = [group.shape for group in groups]
            raise InputError(
                "concatenate needs one or more groups of values with equal numbers of columns",
                f"they have the shapes {shapes}" if groups else "none were given",
                parameter="parts",
            )
        return cls._made(*(np.concatenate([getattr(g, name) for g in groups]) for name in PARTS))

    def where(self, keep: ArrayLike, other: Any) -> Self:
        """These values where `keep` is true, and others elsewhere: kinds mixed in one array.

        Parameters
        ----------
        keep : bool array of shape `shape`, or one that broadcasts to it
        other : UncertainValues of the same shape, or precise values

        Examples
        --------
        A measurement below a detection limit of 0.1 is only known to be below it:

        >>> x = np.array([0.3, 0.04, 0.7])
        >>> below = UncertainValues.from_intervals(np.zeros(3), 0.1)
        >>> UncertainValues.from_precise(x).where(x > 0.1, below)
        <UncertainValues (3,): 2 precise, 1 interval, 0 fuzzy, 0 missing>
        """
        mask, rest = _check_mask(keep, self.shape), as_values(other)
        if rest.shape != self.shape:
            raise InputError(
                f"other should have the shape {self.shape}",
                f"has {rest.shape}",
                "give one value for each",
                parameter="other",
                value=rest.shape,
            )
        return self._made(
            *(np.where(mask, getattr(self, name), getattr(rest, name)) for name in PARTS)
        )

    # What is known.

    @property
    def shape(self) -> tuple[int, ...]:
        """(n,) or (n, d)."""
        return self.mean.shape

    @property
    def ndim(self) -> int:
        """One, or two for rows of features."""
        return self.mean.ndim

    @property
    def is_precise(self) -> BoolArray:
        """Values that are known."""
        return np.asarray(self.sd == 0)

    @property
    def is_missing(self) -> BoolArray:
        """Values of which nothing is known."""
        return np.isinf(self.sd) & ~self._is_bounded

    @property
    def is_interval(self) -> BoolArray:
        """Values with a bound, and none favored within."""
        return np.isinf(self.sd) & self._is_bounded

    @property
    def is_fuzzy(self) -> BoolArray:
        """Values of which some are more plausible than others."""
        return np.asarray((self.sd > 0) & np.isfinite(self.sd))

    @property
    def _is_bounded(self) -> BoolArray:
        return np.isfinite(self.low) | np.isfinite(self.high)

    def plausibility(self, x: ArrayLike) -> FloatArray:
        """Plausibility of values x, one for all or one for each.

        Examples
        --------
        >>> UncertainValues.from_intervals([0.0, 1.0], 2.0).plausibility([0.5, 0.5])
        array([1., 0.])
        """
        (value,) = _same_shape({"x": x}, self.shape)
        inside = (value >= self.low) & (value <= self.high)
        finite = self.is_fuzzy
        gap = np.where(finite, value - self.mean, 0.0) / np.where(finite, self.sd, 1.0)
        return np.where(inside, np.exp(-0.5 * gap**2), 0.0)

    def midpoints(self) -> FloatArray:
        """One number for each value: what people use who ignore the uncertainty.

        The value, the middle of an interval, its finite bound if the other is infinite, the mean of
        a fuzzy value; NaN for a missing one.

        Examples
        --------
        >>> UncertainValues.from_intervals([0, 3, -np.inf], [1, np.inf, np.inf]).midpoints()
        array([0.5, 3. , nan])
        """
        low = np.where(np.isfinite(self.low), self.low, self.high)
        high = np.where(np.isfinite(self.high), self.high, self.low)
        inside = np.clip(self.mean, self.low, self.high)
        with np.errstate(invalid="ignore"):
            middle = np.where(np.isinf(self.sd), low + 0.5 * (high - low), inside)
        return np.where(self.is_missing, np.nan, middle)

    def __len__(self) -> int:
        return len(self.mean)

    def __getitem__(self, index: Any) -> Self:
        """Select as from an array; a single value becomes an array of one."""
        try:
            return self._made(*(np.atleast_1d(getattr(self, name)[index]) for name in PARTS))
        except (IndexError, TypeError, ValueError) as error:
            raise IndexError(
                f"UncertainValues of shape {self.shape} should be indexed as an array of that "
                f"shape is, but {shown(index)} was given ({error})."
            ) from None

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        raise TypeError(
            "UncertainValues should not be read as plain numbers, but something did so; take "
            "values.midpoints() if the uncertainty may be forgotten, or a model that keeps it, "
            "such as plausible.models.UncertainGaussianMixture."
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, UncertainValues):
            return NotImplemented
        return self.shape == other.shape and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in PARTS
        )

    def __repr__(self) -> str:
        intervals = int(self.is_interval.sum())
        return (
            f"<UncertainValues {self.shape}: {int(self.is_precise.sum())} precise, "
            f"{intervals} {'interval' if intervals == 1 else 'intervals'}, "
            f"{int(self.is_fuzzy.sum())} fuzzy, {int(self.is_missing.sum())} missing>"
        )

    @classmethod
    def _made(cls, mean: FloatArray, sd: FloatArray, low: FloatArray, high: FloatArray) -> Self:
        """Values from parts that were checked before."""
        made = object.__new__(cls)
        made._set(mean, sd, low, high)
        return made


PARTS = ("mean", "sd", "low", "high")


def as_values(values: Any) -> UncertainValues:
    """Uncertain values as they are, and arrays as precise ones, with NaN for missing.

    Examples
    --------
    >>> as_values([1.0, float("nan")])
    <UncertainValues (2,): 1 precise, 0 intervals, 0 fuzzy, 1 missing>
    """
    if isinstance(values, UncertainValues):
        return values
    if getattr(getattr(values, "dtype", None), "names", None) == PARTS:
        return UncertainValues(*(values[name] for name in PARTS))
    return UncertainValues.from_precise(values)


def _same_shape(given: dict[str, Any], like: tuple[int, ...] | None = None) -> list[FloatArray]:
    """Numbers by name as float arrays of one shape, (n,) or (n, d)."""
    arrays = {name: as_floats(values, name) for name, values in given.items()}
    try:
        shape = np.broadcast_shapes(*(a.shape for a in arrays.values()), like or ())
    except ValueError:
        shape = ()
    if len(shape) not in (1, 2) or (like is not None and shape != like):
        sizes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        wanted = f"the shape {like}" if like is not None else "one shape, (n,) or (n, d)"
        raise InputError(
            f"Uncertain values should have {wanted}",
            f"have {sizes}",
            "give as many of each, or one number for all",
            value=shape,
        )
    return [np.array(np.broadcast_to(array, shape)) for array in arrays.values()]


def _check_parts(
    mean: FloatArray, sd: FloatArray, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Refuse parts that describe no set of numbers; where no value is favored the mean is 0."""
    favors = np.isfinite(sd)
    mean = np.where(favors, mean, 0.0)
    refuse(~np.isfinite(mean), mean, "Means of fuzzy values should be finite", MARK_MISSING)
    refuse(~(sd >= 0), sd, "sd should be 0 or more", "give 0 for a precise value")
    for name, bound in (("low", low), ("high", high)):
        refuse(np.isnan(bound), bound, f"{name} should be a number", "give an infinite bound")
    crossed = (low > high) | ((low == high) & np.isinf(low))
    refuse(crossed, low, "low should be at most high", "exchange them, or check the rows")
    away = (sd == 0) & ((mean < low) | (mean > high))
    refuse(away, mean, "A precise value should lie within its bounds", "widen them")
    return mean, sd, low, high


MARK_MISSING = "mark missing values with an infinite sd"


def refuse(bad: BoolArray, values: FloatArray, expected: str, remedy: str) -> None:
    """Refuse values, naming the first bad one and the rows."""
    if bad.any():
        raise InputError(
            expected,
            f"values such as {values[bad].flat[0]:.6g} were found in {name_rows(bad)}",
            remedy,
            rows=bad,
        )


def _check_mask(keep: Any, shape: tuple[int, ...]) -> BoolArray:
    """A truth value for each value."""
    mask = as_array(keep, "keep")
    if mask.dtype != bool or mask.ndim > len(shape):
        raise InputError(
            f"keep should be True or False for each of {shape} values",
            f"{shown(keep)} was given",
            "write a condition such as x > 0.1",
            parameter="keep",
            value=keep,
        )
    try:
        return np.broadcast_to(mask, shape)
    except ValueError:
        raise InputError(
            f"keep should have the shape {shape}",
            f"has {mask.shape}",
            "give one truth value for each",
            parameter="keep",
            value=mask.shape,
        ) from None
