r"""Assessments: an expert's probability of each class, on the scale of log odds.

.. math:: w_j = \log (z_j / z_J), \qquad j = 1, \dots, J - 1

The last class is the reference; with two classes w > 0 speaks for the first. A row of NaN is an
item that was not assessed. Probabilities of 0 (or below 1e-9) have no log odds: they are
raised to a small one ("clip"), or the row becomes a label that excludes these classes for certain
("certain").
"""

from collections.abc import Sequence, Sized
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.base import check_weights, log_normalized
from plausible.checks import as_floats, as_list, check_option, example, found, name_rows
from plausible.errors import InputError
from plausible.labels import Labels, as_labels
from plausible.short_rows import row_all, row_any, row_max, row_sum

FloatArray = NDArray[np.float64]

SCALES = ("probability", "log_odds")
CLIP = 0.005  # an assessment of 0 is read as this, one of 1 as the rest
NEARLY_ZERO = 1e-9  # assessments below are as good as 0
ROUGH = 0.02  # by which the sum of rounded probabilities may miss one


class Assessments(NamedTuple):
    """Log odds (n, J - 1), NaN where there are none; classes (n, J) that are not excluded."""

    log_odds: FloatArray
    possible: NDArray[np.bool_] | None

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.log_odds.shape[1] + 1


def read_assessments(
    Z: Any, scale: str = "probability", saturated: str | float = "clip"
) -> Assessments:
    """Log odds from assessments as users give them.

    Parameters
    ----------
    Z : array-like, or Labels of probabilities
        On the scale of probability (n,), of the first of two classes, or (n, J); of log odds
        (n,) or (n, J - 1). NaN where an item was not assessed.
    scale : "probability" or "log_odds"
    saturated : "clip", "certain" or a probability to clip at

    Examples
    --------
    >>> read_assessments([0.5, 0.9, 1.0]).log_odds.round(2).ravel()
    array([0.  , 2.2 , 5.29])
    >>> read_assessments([[0.2, 0.2, 0.6], [0.5, 0.5, 0.0]], saturated="certain").possible
    array([[ True,  True,  True],
           [ True,  True, False]])
    """
    check_option(scale, SCALES, "scale")
    clip = check_saturated(saturated)
    if isinstance(Z, Labels):
        return _from_probabilities(probabilities_of(Z), clip)
    values = as_floats(Z, "Assessments")
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim not in (1, 2) or values.shape[-1:] == (0,):
        raise InputError(
            "Assessments should be one number for each item, or one for each class in rows",
            f"have shape {np.shape(Z)}",
            "give (n,) or (n, J)",
        )
    if scale == "probability":
        return _from_probabilities(values, clip)
    return _from_log_odds(values if values.ndim == 2 else values[:, None], clip)


def check_saturated(saturated: str | float) -> float | None:
    """Where to clip, None for "certain"."""
    if isinstance(saturated, str):
        check_option(saturated, ("clip", "certain"), "saturated")
        return CLIP if saturated == "clip" else None
    if not isinstance(saturated, (int, float)) or not 0 < saturated < 0.1:
        raise InputError(
            "saturated should be 'clip', 'certain' or a probability between 0 and 0.1",
            f"{saturated!r} was given",
            parameter="saturated",
            value=saturated,
        )
    return float(saturated)


def probabilities_of(labels: Labels) -> FloatArray:
    """Probabilities (n, J) of labels, NaN in rows that say nothing."""
    contour = labels.contour.copy()
    contour[labels.is_unknown & row_all(contour > 1 / labels.n_classes + ROUGH)] = np.nan
    bad = np.abs(row_sum(contour) - 1) > ROUGH
    if bad.any():
        raise InputError(
            "Labels that are assessments should be probabilities",
            f"plausibilities do not sum to one in {name_rows(bad)}",
            "make them with Labels.from_probability, and give sets and doubts as {labels}",
            parameter="assessments",
            rows=bad,
            settings={"labels": None},
        )
    return contour


def _from_probabilities(values: FloatArray, clip: float | None) -> Assessments:
    """Log odds of probabilities (n,) of the first class, or (n, J)."""
    outside = (values < 0) | (values > 1)
    if outside.any():
        rows = outside if values.ndim == 1 else row_any(outside)
        raise InputError(
            "Assessments should be probabilities in [0, 1]",
            f"{found(values, outside, rows)}",
            ("divide percentages by 100", "say {scale}"),
            value=example(values, outside),
            rows=rows,
            settings={"scale": "log_odds"},
        )
    table = values if values.ndim == 2 else np.stack([values, 1 - values], axis=1)
    check_table(table)
    with np.errstate(divide="ignore"):
        logs = np.log(table)
        if values.ndim == 1:
            logs[:, 1] = np.log1p(-values)  # exact for small probabilities
    zero = table < NEARLY_ZERO
    possible = None
    if zero.any():
        rows = row_any(zero)
        if clip is None:
            possible = ~zero
            logs[rows] = np.nan
        else:
            logs[rows] = np.log(_raise_zeros(table[rows], clip))
    return Assessments(logs[:, :-1] - logs[:, -1:], possible)


def check_table(table: FloatArray) -> None:
    """Refuse rows that are partly missing, or do not sum to one."""
    if table.shape[1] < 2:
        raise InputError(
            "Assessments should be of at least two classes",
            "there is one",
        )
    missing = np.isnan(table)
    partly = row_any(missing) & ~row_all(missing)
    if partly.any():
        raise InputError(
            "A row of assessments should be whole, or NaN for an item that was not assessed",
            f"some classes are missing in {name_rows(partly)}",
            "fill them in",
            rows=partly,
        )
    off = np.abs(row_sum(table) - 1) > ROUGH
    if off.any():
        raise InputError(
            "Assessments should sum to one over the classes",
            f"do not in {name_rows(off)}",
            "divide each row by its sum",
            rows=off,
        )


def _raise_zeros(table: FloatArray, clip: float) -> FloatArray:
    """Zeros raised to `clip`, at the cost of the other classes."""
    zero = table < NEARLY_ZERO
    n_zero = row_sum(zero)[:, None]
    low = np.minimum(clip, 0.5 / table.shape[1])
    rest = table * ((1 - n_zero * low) / row_sum(table)[:, None])
    return np.where(zero, low, rest)


def _from_log_odds(values: FloatArray, clip: float | None) -> Assessments:
    """Log odds (n, J - 1) with infinite ones clipped, or turned into certain labels."""
    infinite = np.isinf(values)
    missing = np.isnan(values)
    partly = (row_any(missing) & ~row_all(missing)) | (row_sum(values == np.inf) > 1)
    if partly.any():
        raise InputError(
            "A row of log odds should be whole, with at most one plus infinity, or NaN for an "
            "item that was not assessed",
            f"is not in {name_rows(partly)}",
            "correct these rows",
            rows=partly,
        )
    if not infinite.any():
        return Assessments(values, None)
    rows = row_any(infinite)
    extended = np.column_stack([values[rows], np.zeros(rows.sum())])
    top = row_max(extended)[:, None]
    odds = np.where(
        top == np.inf, extended == np.inf, np.exp(extended - np.where(top < np.inf, top, 0))
    )
    table = odds / row_sum(odds)[:, None]
    log_odds, possible = values.copy(), np.ones((len(values), values.shape[1] + 1), dtype=bool)
    log_odds[rows], found_possible = _from_probabilities(table, clip)
    if found_possible is None:
        return Assessments(log_odds, None)
    possible[rows] = found_possible
    return Assessments(log_odds, possible)


def reorder(given: Assessments, order: NDArray[np.int64]) -> Assessments:
    """The same with classes in another order, whose last one is then the reference."""
    if (order == np.arange(len(order))).all():
        return given
    extended = np.column_stack([given.log_odds, np.zeros(len(given.log_odds))])[:, order]
    possible = None if given.possible is None else given.possible[:, order]
    return Assessments(extended[:, :-1] - extended[:, -1:], possible)


def log_probabilities(log_odds: FloatArray) -> FloatArray:
    """Log probabilities (n, J) of the classes."""
    extended = np.column_stack([log_odds, np.zeros(len(log_odds))])
    return log_normalized(extended)  # NaN stays NaN


def jacobian(log_odds: FloatArray) -> FloatArray:
    """What turns log densities (n,) of the probability of two classes into those of log odds."""
    if log_odds.shape[1] > 1:
        return np.zeros(len(log_odds))
    change = row_sum(log_probabilities(log_odds))
    return np.where(np.isnan(change), 0.0, change)


def _statistics_of(log_odds: FloatArray, family: str) -> FloatArray:
    """What the density of a family is quadratic in: log odds, or log z and log(1 - z) for Beta."""
    return log_probabilities(log_odds) if family == "beta" else log_odds


@dataclass(frozen=True)
class Reader:
    """From columns as users give them to those that the EM problem reads."""

    scale: str
    saturated: str | float
    family: str
    names: list[Any]

    def __call__(self, columns: Any) -> Any:
        """(features, assessments, weights, labels) as (features and assessments, pl, weights)."""
        X: Any
        Z: Any
        X, Z, weight, labels = (*columns, None, None)[:4]
        order = np.argsort(np.array(self.names))
        ordered = np.array(self.names)[order].tolist()
        if isinstance(Z, Labels):
            Z = as_labels(Z, classes=self.names)
        elif (columns_of := names_of(Z)) is not None and self.scale == "probability":
            if set(columns_of) != set(self.names):
                raise InputError(
                    f"Columns of assessments should be the classes {self.names}",
                    f"are {columns_of}",
                    "rename them, or give an array",
                )
            Z = np.column_stack([np.asarray(Z[name]) for name in self.names])
        given = reorder(read_assessments(Z, self.scale, self.saturated), order)
        if given.n_classes != len(self.names):
            raise InputError(
                f"Assessments should be of {len(self.names)} classes in all rows",
                f"are of {given.n_classes} in some",
                "give the same columns everywhere",
            )
        joint = np.hstack([as_floats(X, "features"), _statistics_of(given.log_odds, self.family)])
        plausibility = None if given.possible is None else given.possible.astype(np.float64)
        if labels is not None:
            contour = as_labels(as_labels(labels, classes=self.names), classes=ordered).contour
            plausibility = contour if plausibility is None else plausibility * contour
            lost = row_max(plausibility) == 0
            if lost.any():
                raise InputError(
                    "Labels and assessments that are certain should leave a class",
                    f"contradict each other in {name_rows(lost)}",
                    ("correct them", "use {saturated}"),
                    rows=lost,
                    settings={"saturated": "clip"},
                )
        weight = None if weight is None else check_weights(np.ravel(weight), len(joint))
        return joint, plausibility, weight


def names_of(Z: Any) -> list[Any] | None:
    """Names of the columns of a data frame with several, unless they are mere numbers."""
    names = as_list(getattr(Z, "columns", ()), "columns", "names")
    return names if len(names) > 1 and any(isinstance(name, str) for name in names) else None


def check_names(classes: Sequence[Any] | None, n_classes: int) -> list[Any]:
    """Names of the classes in the order in which they were given."""
    names = Labels.unknown(1, range(n_classes) if classes is None else classes).classes.tolist()
    if len(set(names)) != n_classes or len(names) != n_classes:
        raise InputError(
            f"classes should be {n_classes} different names, one for each class that is assessed",
            f"{names} were given",
            "for two classes name the one first whose probability it is",
            parameter="classes",
        )
    return names


def check_rows(n_rows: int, given: Any, name: str) -> None:
    """Refuse what does not have one row for each item."""
    shape = getattr(given, "shape", None)
    if not isinstance(shape, tuple):
        shape = (len(given),) if isinstance(given, Sized) else ()
    length = shape[0] if shape else 1
    if length != n_rows:
        raise InputError(
            f"X and {name} should have the same length",
            f"X has {n_rows} rows and {name} {length}",
            "check the order of the arguments and missing rows",
        )
