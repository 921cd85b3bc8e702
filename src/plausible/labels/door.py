"""The one door through which every estimator takes y."""

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plausible.checks import as_floats, as_list
from plausible.errors import InputError
from plausible.labels.container import Labels
from plausible.labels.masses import masses_with_unknown
from plausible.labels.odd_classes import in_order_of
from plausible.labels.parsing import check_classes, names_or_numbers
from plausible.short_rows import row_all, row_max, row_sum

MISSING = (None, "")  # None also stands for NaN
SUM_TOLERANCE = 1e-6  # of probabilities
NEARLY = 0.02  # probabilities that were rounded to two digits sum to one within this


def as_labels(
    y: Labels | ArrayLike | Sequence[Any], classes: Sequence[Hashable] | None = None
) -> Labels:
    """Turn whatever an estimator was given as y into `Labels`.

    Parameters
    ----------
    y : Labels, or
        hard labels (n,), in which None, NaN and "" stand for "not labeled" (for -1, say so with
        ``Labels.from_crisp(y, missing=-1)``);
        a list of sets of class names; a bool array (n, K) of possible classes;
        or a number array or data frame (n, K): probabilities if all rows sum to one (or are
        rows of ones: unknown), else plausibilities, whose highest one in a row is as a rule 1.
        `Labels.from_probability` and `Labels.from_plausibility` say what is meant.
    classes : sequence, optional
        Order of the classes; by default sorted, or the columns of a data frame.

    Examples
    --------
    >>> as_labels(["a", "b", None]).contour
    array([[1., 0.],
           [0., 1.],
           [1., 1.]])
    >>> as_labels([{1}, {1, 2}, {3}]).contour
    array([[1., 0., 0.],
           [1., 1., 0.],
           [0., 0., 1.]])
    >>> as_labels([[1.0, 0.2], [0.4, 1.0]], classes=["a", "b"]).crisp()
    array(['a', 'b'], dtype='<U1')
    >>> as_labels([[0.7, 0.3], [0.0, 1.0]]).is_probability     # of hard rows there is no need
    array([ True, False])
    """
    if isinstance(y, Labels):
        if classes is None or y.classes.tolist() == check_classes(classes).tolist():
            return y
        return y.reorder(check_classes(classes).tolist())
    if y is None:
        raise InputError(
            "Labels are needed",
            "y is None",
            "give Labels.unknown(n, classes) if nothing is known",
        )
    if hasattr(y, "annotators") and hasattr(y, "pool"):
        raise InputError(
            "y should be labels, one for each row of X",
            "it holds the answers of several people",
            "pool them with y.pool(), or learn from all of them with "
            "plausible.experts.JointAnnotatorClassifier",
            parameter="y",
        )
    if hasattr(y, "toarray"):
        raise InputError(
            "Labels should be a dense array",
            "a sparse matrix was given",
            "use y.toarray(), or Labels.from_sets",
        )
    if holds_sets(y):
        return Labels.from_sets(y, classes)
    if hasattr(y, "columns") and classes is None:
        names = as_list(y.columns, "columns", "class names")
        classes = names if len(names) > 1 else None
    if np.ma.is_masked(y) and np.ndim(y) > 1:  # one column is refused with the hard labels
        raise InputError(
            "Every entry of a table y should be known",
            "some are hidden, as it is a masked array",
            "write y.filled(1.0) in rows that are unknown, where every class is plausible",
            parameter="y",
        )
    table = _as_table(in_order_of(y, classes))
    if table.ndim == 0:
        raise InputError(
            "y should be hard labels (n,), a list of sets, or an array (n, K)",
            f"{type(y).__name__} was given",
            "make a list of it",
            parameter="y",
        )
    if table.ndim == 2 and table.shape[1] > 1:
        if table.dtype.kind == "U" or (table.dtype.kind == "O" and _begins_with_text(table)):
            raise InputError(
                "A table y should hold plausibilities",
                f"holds names such as {table[0, 0]!r}",
                "read answers with plausible.io.read_known(y), which pools them"
                if hasattr(y, "columns")
                else "write sets as {...}, with curly brackets",
            )
        if table.dtype == bool:
            return Labels.from_sets(table, classes)
        return _labels_of_table(as_floats(table, "y"), classes)
    return Labels.from_crisp(_as_hard(y, table), classes, missing=MISSING)


def _begins_with_text(table: NDArray[Any]) -> bool:
    return bool(table.size) and isinstance(table[0, 0], str)


def _labels_of_table(
    table: NDArray[np.float64], classes: Sequence[Hashable] | None, shares: bool | None = None
) -> Labels:
    """Labels of numbers (n, K); `shares` says whether they are probabilities, None to look."""
    if shares is None:
        shares = holds_shares(row_sums(table))
    if not shares:
        return Labels.from_plausibility(table, classes)
    names = names_or_numbers(classes, table)
    unknown = row_all(table == 1.0)
    if not unknown.any():
        return Labels.from_probability(table, names)
    known = Labels.from_probability(np.where(unknown[:, None], 1 / table.shape[1], table), names)
    contour = np.where(unknown[:, None], 1.0, known.contour)
    masses = None
    if known.has_masses:
        masses = masses_with_unknown(known.masses(), unknown)
    return Labels(contour, names, masses, is_probability=~unknown)


class RowSums(NamedTuple):
    """How many rows of a table sum to one, nearly so, or to something else; additive.

    Hard rows and rows of ones are not counted: they are the same in all readings.
    """

    to_one: int
    nearly: int
    otherwise: int


def row_sums(table: NDArray[Any]) -> RowSums:
    """Count the rows (n, K) by their sums.

    Examples
    --------
    >>> row_sums(np.array([[0.5, 0.5], [1.0, 1.0], [1.0, 0.0], [0.33, 0.66], [0.1, 0.2]]))
    RowSums(to_one=1, nearly=1, otherwise=1)
    """
    numbers = as_floats(table, "y")
    if numbers.shape[1] < 2:
        return RowSums(0, 0, 0)
    high, total = row_max(numbers), row_sum(numbers)
    neutral = (high == 1.0) & ((total == 1.0) | (total == numbers.shape[1]))
    off = np.abs(total - 1.0)
    to_one, nearly = off <= SUM_TOLERANCE, (off <= NEARLY) & (high < 1.0)
    n_to_one, n_nearly = int((to_one & ~neutral).sum()), int((nearly & ~to_one).sum())
    return RowSums(n_to_one, n_nearly, len(numbers) - int(neutral.sum()) - n_to_one - n_nearly)


def holds_shares(sums: RowSums) -> bool:
    """Whether the numbers of a table are probabilities; rounded ones are refused.

    So is a table of which most rows sum to one, and some do not.
    """
    if sums.to_one > sums.otherwise > 0:
        raise InputError(
            "All rows of y should sum to one if they are probabilities",
            f"{sums.to_one} of them do and {sums.otherwise} do not",
            "correct those with abs(P.sum(axis=1) - 1) > 1e-6 (a row of ones if nothing is known), "
            "or give Labels.from_plausibility(P) if they are plausibilities",
            parameter="y",
        )
    if sums.otherwise or not (sums.to_one or sums.nearly):
        return False
    if sums.nearly:
        raise InputError(
            "Rows of y should sum to one if they are probabilities",
            f"{sums.nearly} of them sum to nearly one only",
            "give Labels.from_probability(P / P.sum(axis=1, keepdims=True)), or "
            "Labels.from_plausibility(P) if they are plausibilities",
            parameter="y",
        )
    return True


def holds_sets(y: Any) -> bool:
    """Whether y is a list, array or column of sets, some of which may be None."""
    is_column = hasattr(y, "to_list") or (isinstance(y, np.ndarray) and y.dtype == object)
    if not (is_column or isinstance(y, (list, tuple))):
        return False
    if np.ndim(y) == 0 if isinstance(y, np.ndarray) else isinstance(y, type):
        return False
    first = next((row for row in y if row is not None), None)
    return isinstance(first, (set, frozenset))


def _as_table(y: Any) -> NDArray[Any]:
    try:
        return np.asarray(y)
    except Exception:  # ragged rows, and whatever the caller's own class raises
        raise InputError(
            "y should be hard labels (n,), a list of sets, or an array (n, K)",
            "its rows have unequal lengths",
            "write sets as {...}, with curly brackets",
            parameter="y",
        ) from None


def _as_hard(y: Any, table: NDArray[Any]) -> Any:
    """One-dimensional hard labels, with scikit-learn's own warnings and refusals."""
    from sklearn.utils import column_or_1d
    from sklearn.utils.multiclass import type_of_target

    if table.ndim == 2:
        table = y = column_or_1d(table, warn=True)
    if table.dtype.kind == "f":
        if np.isinf(table).any():
            raise ValueError("Input y contains infinity; labels should be classes.")
        kind = type_of_target(table[~np.isnan(table)])
        if kind == "continuous":
            raise _continuous(table)
    return y


def _continuous(table: NDArray[np.float64]) -> InputError:
    """The error of numbers that are no classes, in which scikit-learn looks for its own words."""
    are_shares = np.nanmin(table) >= 0.0 and np.nanmax(table) <= 1.0
    fraction = table[np.isfinite(table) & (table % 1 != 0)][0]
    return InputError(
        "Hard labels should be classes",
        f"are numbers such as {fraction:.4g} (Unknown label type: continuous)",
        "give Labels.from_probability(np.column_stack([1 - y, y])) if each is the probability of "
        "the second of two classes"
        if are_shares
        else "cut them into classes, as with np.digitize, or take a regressor",
        parameter="y",
    )
