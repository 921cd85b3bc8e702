"""What the labels of all rows say, counted before a fit, and which rows matter to it."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.engine import Columns
from plausible.models.logistic.criteria import FloatArray
from plausible.models.logistic.likelihood import LEAST_SHARE
from plausible.short_rows import row_max, row_min, row_sum


class LabelCensus(NamedTuple):
    """What the labels of some rows say, in numbers; additive.

    n_idle, n_unknown, n_soft : rows of weight zero; without information; neither that nor hard
        nor probabilities
    support, informed : rows that find each class plausible, among all and among informative ones
    unknown, hard : weighted log plausibilities, constants of the criterion
    weight, focus : weight of informative rows, and with sums of squared shares of the classes
    """

    n_idle: int
    n_unknown: int
    n_soft: int
    support: FloatArray
    informed: FloatArray
    unknown: float
    hard: float
    weight: float
    focus: float


def census_pass(columns: Columns) -> LabelCensus:
    """Count the kinds of labels in a chunk."""
    _, plausibility, weight, marks = (*columns, None)[:4]
    assert plausibility is not None
    peak, possible = row_max(plausibility), plausibility > 0
    idle = np.zeros(len(peak), dtype=bool) if weight is None else weight == 0
    hard = ~idle & (row_sum(possible) == 1)
    known = np.zeros(len(peak), dtype=bool) if marks is None else np.asarray(marks)
    unknown = ~idle & ~hard & ~known & (row_min(plausibility) == peak)
    ones = np.ones(len(peak)) if weight is None else weight
    logs = np.log(peak) * ones
    shares = plausibility / row_sum(plausibility)[:, None]
    focus = ones * np.where(known, 1.0, row_sum(shares**2))
    return LabelCensus(
        n_idle=int(idle.sum()),
        n_unknown=int(unknown.sum()),
        n_soft=int((~(idle | hard | unknown | known)).sum()),
        support=_count_by_class(possible, ~idle),
        informed=_count_by_class(possible, ~(idle | unknown)),
        unknown=float(logs[unknown].sum()),
        hard=float(logs[hard].sum()),
        weight=float(ones[~unknown].sum()),
        focus=float(focus[~unknown].sum()),
    )


def _count_by_class(possible: NDArray[np.bool_], rows: NDArray[np.bool_]) -> FloatArray:
    """For how many of some rows each class is possible."""
    if possible.all():
        return np.full(possible.shape[1], float(rows.sum()))
    return rows.astype(np.float64) @ possible


def curvature_at_zero(census: LabelCensus, n_classes: int, is_concave: bool) -> float:
    """Mean curvature of a row where all classes are alike; see `likelihood.mean_curvature`."""
    known = 1.0 if is_concave else census.focus / census.weight
    return max(known - 1.0 / n_classes, LEAST_SHARE) / max(n_classes - 1, 1)


def kept(columns: Columns, unknown_too: bool) -> NDArray[np.int8]:
    """0 for rows that matter to a criterion, -1 for the others."""
    _, plausibility, weight, shares = (*columns, None)[:4]
    assert plausibility is not None
    matter = np.ones(len(plausibility), dtype=bool) if weight is None else weight > 0
    if not unknown_too:
        says = row_max(plausibility) > row_min(plausibility)
        matter &= says if shares is None else says | shares
    return np.where(matter, 0, -1).astype(np.int8)
