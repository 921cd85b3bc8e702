r"""A calibration of scores that are not in memory, from sums over rows.

The likelihood of an item with standardized score z and odds :math:`e^\rho` said of it is a smooth
function of z and :math:`\rho`. Over a panel of scores in which log odds change by two it is a
polynomial to twelve digits, so that items of a panel can be shared out among its Chebyshev nodes
(see `predictive.condense`), chunk by chunk: what is left is a sum for each node, however many rows
there are. Where labels have many different doubts, :math:`\rho` is cut into panels as well.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.engine import Columns, Rows
from plausible.models.calibration.predictive import (
    PANEL_NODES,
    Calibration,
    concluded,
    favored_items,
    inverse_curvature,
    lagrange,
    make_records,
    maximize,
    nothing_known,
    refuse_separable,
)

FloatArray = NDArray[np.float64]

DOUBT_NODES = 14
HALF_DOUBT = 1.0  # of a panel of log odds that were said
FEW_DOUBTS = 64  # different ones, up to which each has sums of its own
WIDEST = 0.5  # half of the widest panel of scores
MOST_ROUNDS = 12
HARD = float(np.finfo(np.float64).max)  # in place of what was said, of items with hard labels
STEEP = 30.0  # log odds beyond which a maximum is none

ANGLE = (np.arange(PANEL_NODES) + 0.5) * np.pi / PANEL_NODES
DOUBT_ANGLE = (np.arange(DOUBT_NODES) + 0.5) * np.pi / DOUBT_NODES


class Distinct:
    """The different ones among some numbers; None when there are too many."""

    def __init__(self, numbers: FloatArray | None) -> None:
        found = None if numbers is None else np.unique(numbers)
        self.numbers = None if found is None or len(found) > FEW_DOUBTS else found

    def __add__(self, other: "Distinct") -> "Distinct":
        if self.numbers is None or other.numbers is None:
            return Distinct(None)
        return Distinct(np.concatenate([self.numbers, other.numbers]))


class Span:
    """The least and the largest of some numbers."""

    def __init__(self, numbers: Any) -> None:
        self.low = float(np.min(numbers, initial=np.inf))
        self.high = float(np.max(numbers, initial=-np.inf))

    def __add__(self, other: "Span") -> "Span":
        both = Span([])
        both.low, both.high = min(self.low, other.low), max(self.high, other.high)
        return both


class First(NamedTuple):
    """Rows that count, the sum of their scores, items that favor each class, and doubts."""

    n_rows: int
    score: float
    favored: FloatArray
    doubts: Distinct


class Second(NamedTuple):
    """Squares about the mean, and scores of items that are or may be of each class."""

    squares: float
    first: Span
    second: Span
    doubtful: Span


class Panels:
    """Sums (3, nodes) of n0, n1 and v, by panel of scores and what was said."""

    def __init__(self, sums: dict[tuple[float, float], FloatArray]) -> None:
        self.sums = sums

    def __add__(self, other: "Panels") -> "Panels":
        sums = dict(self.sums)
        for key, found in other.sums.items():
            sums[key] = sums[key] + found if key in sums else found
        return Panels(sums)


# Sums over a chunk of scores (n,), plausibilities (n, 2) and weights.


def _records(columns: Columns, total: FloatArray | None = None) -> FloatArray:
    score, contour, weight = columns[:3]
    return make_records(score, contour, weight, total)  # type: ignore[arg-type]


def _first(columns: Columns) -> First:
    score, contour, weight = columns[:3]
    assert score is not None
    assert contour is not None
    assert weight is not None
    counted = weight > 0.0
    records = _records(columns)
    doubts = Distinct(records[4, records[3] > 0.0])
    favored = favored_items(contour, weight)
    return First(int(counted.sum()), float(score[counted].sum()), favored, doubts)


def _second(columns: Columns, mean: float) -> Second:
    score, _, weight = columns[:3]
    assert score is not None
    assert weight is not None
    z, n0, n1, v, _ = _records(columns)
    squares = float(np.square(score[weight > 0.0] - mean).sum())
    return Second(squares, Span(z[n0 > 0]), Span(z[n1 > 0]), Span(z[v > 0]))


def _panels(
    columns: Columns, mean: float, spread: float, half: float, total: Any, few: bool
) -> Panels:
    """Sums of a chunk; `half` of a panel is 0 where all scores are the same."""
    score, contour, weight = columns[:3]
    assert score is not None
    z, n0, n1, v, rho = _records(((score - mean) / spread, contour, weight), total)
    panel = np.floor(z / (2.0 * half)) if half else np.zeros(len(z))
    inside = (z - half * (2.0 * panel + 1.0)) / half if half else 0.0 * z
    shares = lagrange(np.clip(inside, -1.0, 1.0), ANGLE) if half else np.ones((len(z), 1))
    sums: dict[tuple[float, float], FloatArray] = {}
    for rows in _groups(panel):
        sums[panel[rows[0]], HARD] = np.array([n0[rows], n1[rows]]) @ shares[rows]
    soft = np.flatnonzero(v > 0.0)
    said = rho if few else np.floor(rho / (2.0 * HALF_DOUBT))
    for group in _groups(panel[soft] + 1j * said[soft]):
        rows = soft[group]
        key = panel[rows[0]], said[rows[0]]
        if few:
            sums[key] = v[rows] @ shares[rows]
        else:
            at = rho[rows] / HALF_DOUBT - (2.0 * key[1] + 1.0)
            by_doubt = lagrange(np.clip(at, -1.0, 1.0), DOUBT_ANGLE)
            sums[key] = (v[rows, None] * shares[rows]).T @ by_doubt
    return Panels(sums)


def _groups(keys: NDArray[Any]) -> list[NDArray[np.int64]]:
    """Numbers of rows with the same key, group by group."""
    order = np.argsort(keys, kind="stable")
    ends = np.flatnonzero(np.diff(keys[order])) + 1
    return np.split(order, ends) if len(keys) else []


def as_records(panels: Panels, half: float, few: bool) -> FloatArray:
    """Records (5, R) at the nodes of all panels."""
    parts = []
    for panel, said in sorted(panels.sums):
        sums = panels.sums[panel, said]
        z = half * (2.0 * panel + 1.0) + half * np.cos(ANGLE) if half else np.zeros(1)
        none = np.zeros(len(z))
        if said == HARD:
            parts.append(np.array([z, *sums, none, none]))
        elif few:
            parts.append(np.array([z, none, none, sums, none + said]))
        else:
            rho = HALF_DOUBT * (2.0 * said + 1.0 + np.cos(DOUBT_ANGLE))
            both = [side.ravel() for side in np.meshgrid(z, rho, indexing="ij")]
            none = np.zeros(sums.size)
            parts.append(np.array([both[0], none, none, sums.ravel(), both[1]]))
    records = np.hstack(parts) if parts else np.zeros((5, 0))
    return np.ascontiguousarray(records[:, records[1:4].any(axis=0)])


def _is_separable(found: Second, theta: FloatArray, mean: float, spread: float) -> bool:
    """Whether the likelihood has no maximum, as `predictive` finds it from all records."""
    spans = found.first, found.second, found.doubtful
    ends = np.array([end for span in spans for end in (span.low, span.high)])
    ends = (ends[np.isfinite(ends)] - mean) / spread
    if np.isfinite(found.doubtful.low):
        return bool(np.abs(theta[0] + theta[1] * ends).max() >= STEEP)
    first, second = found.first, found.second
    if not (np.isfinite(first.low) and np.isfinite(second.low)):
        return True
    apart = first.high <= second.low or second.high <= first.low
    return apart and bool(np.ptp(ends) > 0.0)


def calibrate_rows(rows: Rows, smoothing: bool = True) -> Calibration:
    """Fit a calibration to rows of scores (n,), plausibilities (n, 2) of two classes, weights."""
    first: First = rows.reduce(_first)
    mean = first.score / first.n_rows if first.n_rows else 0.0
    second: Second = rows.reduce(_second, mean)
    spread = float(np.sqrt(second.squares / max(first.n_rows, 1)))
    is_spread = spread > 1e-12 * max(1.0, abs(mean))
    spread, half = (spread, WIDEST) if is_spread else (1.0, 0.0)
    total, few = first.favored if smoothing else None, first.doubts.numbers is not None
    for _ in range(MOST_ROUNDS):
        panels: Panels = rows.reduce(_panels, mean, spread, half, total, few)
        records = as_records(panels, half, few)
        if records.shape[1] == 0:
            return nothing_known(mean)
        theta, _ = maximize(records, thorough=False)
        needed = min(1.0 / max(abs(theta[1]), 1e-300), WIDEST)
        if half <= 1.25 * needed:
            break
        half = needed  # panels were too wide for so steep a slope
    if not smoothing and _is_separable(second, theta, mean, spread):
        refuse_separable()
    return concluded(theta, inverse_curvature(theta, records), records, mean, spread)
