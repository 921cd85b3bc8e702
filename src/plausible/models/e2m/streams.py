"""E2M of rows that are not in memory: the same sums, taken over chunks where they lie.

The first column of the rows is what is known of the values (labels, numbers, or the array that
`UncertainValues.as_rows` makes), the third their weights. A family that states a density alone
needs all points at once, so its rows are brought into memory.
"""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible.base import check_room, check_weights, fill, is_dask, training_rows
from plausible.engine import Columns, DaskRows, Rows, remembering
from plausible.errors import InputError
from plausible.labels import Labels
from plausible.models.e2m.classes import Bernoulli, Categorical, read_table
from plausible.models.e2m.coordinates import Params
from plausible.models.e2m.family import (
    ExponentialFamily,
    information_sums,
    louis_information,
    step_sums,
)
from plausible.models.e2m.points import refuse_all_missing
from plausible.models.e2m.problem import StatedSteps, Summary, differenced_information
from plausible.models.e2m.values import UncertainValues, as_values

FloatArray = NDArray[np.float64]
Data = tuple[Any, FloatArray]


class StreamedSteps:
    """A family that states its E and M steps, and rows that are read again at each pass."""

    def __init__(self, family: Any, rows: Rows, read: Any) -> None:
        self.family, self.rows, self.read = family, rows, read
        self.bounds = getattr(family, "bounds", {})
        self.classes = read.keywords.get("classes")
        self._weight: float | None = None
        self.summarize = remembering(self._summarize)

    @property
    def total_weight(self) -> float:
        """Weight of all rows, which every pass adds up."""
        if self._weight is None:
            self._total(_nothing)
        assert self._weight is not None
        return self._weight

    def _total(self, function: Any, *given: Any) -> Any:
        """Sum over rows of function(data, weight, ...)."""
        summary = partial(_of_chunk, read=self.read, function=function)
        found, weight = self.rows.reduce(summary, *given)
        if not weight > 0:
            raise InputError(
                "At least one row should have a positive sample weight",
                "all weights are zero",
                "give weights above zero to the rows that should count",
            )
        self._weight = float(weight)
        return found

    def start(self) -> Params:
        """Parameters to start from; a family of one's own sees the first rows only."""
        if isinstance(self.family, ExponentialFamily):
            return dict(self.family.start_by(self._total))
        made = getattr(self.family, "start_from", None)
        return {} if made is None else dict(made(*self.read(self.rows.peek())))

    def _summarize(self, starts: list[Params]) -> list[Summary]:
        """Log likelihood and mean of the expected statistics, for each set of parameters."""
        sums = self._total(_sum_steps, self.family, starts)
        return [
            Summary(
                -np.inf if np.isnan(criterion) else float(criterion),
                statistics / self.total_weight,
                params,
            )
            for (criterion, statistics), params in zip(sums, starts, strict=True)
        ]

    def solve(self, summary: Summary) -> Params:
        """The M step."""
        return dict(self.family.m_step(summary.statistics, summary.params))

    chart = StatedSteps.chart

    def log_likelihoods(self, params: Params) -> FloatArray:
        """Log likelihood (n,) of each row."""
        parts: _Parts = self._total(_row_logs, self.family, params)
        return np.concatenate(parts.arrays)

    def information(self, params: Params) -> FloatArray:
        """Observed information (p, p) of the free parameters."""
        if isinstance(self.family, ExponentialFamily):
            sums = self._total(_sum_information, self.family, params)
            return louis_information(self.family, sums, params)
        return differenced_information(self, params)


class _Parts:
    """Arrays of chunks; what is added comes behind."""

    def __init__(self, arrays: list[FloatArray]) -> None:
        self.arrays = arrays

    def __add__(self, other: "_Parts") -> "_Parts":
        return _Parts(self.arrays + other.arrays)


# Sums over one chunk, which run where it lies.


def _of_chunk(columns: Columns, *given: Any, read: Any, function: Any) -> Any:
    data, weight = read(columns)
    return function(data, weight, *given), float(weight.sum())


def _nothing(data: Any, weight: FloatArray) -> int:
    return 0


def _sum_steps(data: Any, weight: FloatArray, family: Any, starts: list[Params]) -> Any:
    return [step_sums(family, data, weight, params) for params in starts]


def _row_logs(data: Any, weight: FloatArray, family: Any, params: Params) -> _Parts:
    return _Parts([np.asarray(family.e_step(data, params)[0], dtype=np.float64)])


def _sum_information(data: Any, weight: FloatArray, family: Any, params: Params) -> Any:
    return information_sums(family, data, weight, params)


# What chunks hold.


def _read_labels(columns: Columns, family: Any, classes: NDArray[Any]) -> Data:
    """Labels of a chunk (no features, contour, weight, marks)."""
    if not isinstance(family, Categorical | Bernoulli):
        return _as_read(family, *_labels_of(columns, classes))
    # They were checked when they came, and need not be labels for families of classes.
    _, contour, given, *marks = columns
    assert contour is not None
    weight = np.ones(len(contour)) if given is None else np.asarray(given)
    contours, weight = read_table(contour, classes, weight, marks[0] if marks else None)
    return family.in_order(contours), weight


def _labels_of(columns: Columns, classes: NDArray[Any]) -> tuple[Labels, FloatArray]:
    _, contour, given, *marks = columns
    assert contour is not None
    labels = Labels(contour, classes, is_probability=marks[0] if marks else None)
    return labels, np.array(check_weights(given, len(labels)))


def _read_values(columns: Columns, family: Any) -> Data:
    """Values of a chunk."""
    values, weight = _values_of(columns)
    return _as_read(family, values, weight)


def _values_of(columns: Columns) -> tuple[UncertainValues, FloatArray]:
    given, _, weight, *_ = (*columns, None, None)
    assert given is not None
    values = as_values(given)
    return values, np.array(
        check_weights(None if weight is None else np.ravel(weight), len(values))
    )


def _count_missing(columns: Columns) -> NDArray[np.int64]:
    """How many values are missing, and how many there are."""
    missing = _values_of(columns)[0].is_missing
    return np.array([missing.sum(), missing.size])


def _as_read(family: Any, data: Any, weight: FloatArray) -> Data:
    read = getattr(family, "read", None)
    return (data, weight) if read is None else read(data, weight)


def _beside(columns: Columns) -> Columns:
    """Labels as second column, behind features that are not looked at: a table of labels, or 0."""
    given, _, weight, *marks = (*columns, None, None)[: max(3, len(columns))]
    assert given is not None
    is_table = np.ndim(given) == 2 and given.dtype in (np.float32, np.float64)
    return given if is_table else np.zeros((len(given), 1)), given, weight, *marks


def _labels_alone(columns: Columns) -> Columns:
    """The columns without features."""
    return None, *columns[1:]


def pose_elsewhere(estimator: Any, X: Any, sample_weight: Any, in_memory: Any) -> Any:
    """The problem of rows or of a Dask collection; `in_memory` poses that of data in memory."""
    family, rows, classes = estimator.family, _as_rows(X, sample_weight), None
    first: Any = rows.peek()[0]
    if isinstance(family, Categorical | Bernoulli) or rows.classes is not None:
        rows, classes = _label_rows(type(estimator)(family), rows, family)
        read = partial(_read_labels, family=family, classes=classes)
    elif np.ndim(first) != 1:
        raise InputError(
            "Values should be one for each row, (n,)",
            f"the first column of the rows has shape {np.shape(first)}",
            "fit the columns one by one, or use UncertainGaussianMixture",
        )
    else:
        rows = rows.kept()
        refuse_all_missing(*rows.reduce(_count_missing))
        read = partial(_read_values, family=family)
    if callable(getattr(family, "e_step", None)) and callable(getattr(family, "m_step", None)):
        if estimator.n_bootstrap:
            raise InputError(
                "n_bootstrap should be 0 for rows that are not in memory",
                f"is {estimator.n_bootstrap}",
                "leave it out: standard errors come from the observed information",
                parameter="n_bootstrap",
                value=estimator.n_bootstrap,
            )
        return StreamedSteps(family, rows, read)
    check_room(rows, f"E2M of {type(family).__name__}, which states a density alone,")
    columns = fill(rows)
    data = _values_of(columns) if classes is None else _labels_of(columns, classes)
    return in_memory(family, *data)


def _as_rows(X: Any, sample_weight: Any) -> Rows:
    if is_dask(X):
        return DaskRows(X, None, sample_weight)
    if sample_weight is not None:
        raise InputError(
            "Rows should hold weights as their third column",
            "sample_weight was given beside them",
            "put them into the rows",
        )
    rows: Rows = X
    return rows


def _label_rows(estimator: Any, rows: Rows, family: Any) -> tuple[Rows, NDArray[Any]]:
    """Rows of contours, and the classes; zeros and ones are both classes of a Bernoulli law."""
    beside = rows.map(_beside)
    beside.classes = rows.classes
    found, classes = training_rows(estimator, beside, None, None, with_shares=True, once=True)
    found = found.map(_labels_alone).kept()
    if isinstance(family, Bernoulli) and classes.tolist() in ([0], [1]):
        place = int(classes[0])
        return found.map(partial(_as_one_of_two, place=place)), np.array([0, 1])
    return found, classes


def _as_one_of_two(columns: Columns, place: int) -> Columns:
    """The contours (n, 1) of one class as that of two."""
    X, contour, *further = columns
    assert contour is not None
    both = np.zeros((len(contour), 2))
    both[:, place] = contour[:, 0]
    return X, both, *further
