r"""A calibration of scores that are not in memory, from sums over rows.

The likelihood of an item with standardized score z and odds :math:`e^\rho` said of it is a smooth
function of z and :math:`\rho`. Over a panel of scores in which log odds change by two it is a
polynomial to twelve digits, so that items of a panel can be shared out among its Chebyshev nodes
(see `predictive.condense`), chunk by chunk: what is left is a sum for each node, however many rows
there are. Where labels have many different doubts, :math:`\rho` is cut into panels as well.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.engine import Columns, Moments, Rows, one_blas_thread, take
from plausible.models.calibration.predictive import (
    PANEL_NODES,
    Calibration,
    concluded,
    favored_items,
    favors,
    inverse_curvature,
    items_of,
    make_records,
    maximize,
    nothing_known,
    refuse_separable,
)

FloatArray = NDArray[np.float64]

DOUBT_NODES = 14
HALF_DOUBT = 1.0  # of a panel of log odds that were said
FEW_DOUBTS = 64  # different ones, up to which each has sums of its own
WIDEST, NARROWEST = 0.5, 0.02  # half of a panel of scores
FEW_ROWS, MARGIN = 4096, 0.9  # rows whose slope is a first guess, and what it leaves of a panel
ROWS_AT_ONCE = 4096  # whose polynomials stay in a core's cache
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


def _moments_of(numbers: FloatArray) -> Moments:
    mean = float(numbers.mean()) if len(numbers) else 0.0
    gap = numbers - mean
    return Moments(len(numbers), mean, float(gap @ gap))


class Look(NamedTuple):
    """What a first pass finds.

    Where the scores of rows that count lie; items that favor each class, and doubts; the scores of
    items that are of each class, and of doubtful ones.
    """

    all: Moments
    favored: FloatArray
    doubts: Distinct
    spans: list[Span]


class Panels:
    """Sums of items times Chebyshev polynomials of their scores, by panel and what was said.

    Of hard items (2, nodes), of n0 and n1, under the name HARD; of others (nodes,) of v, or
    (nodes, doubt nodes) with polynomials of what was said.
    """

    def __init__(self, sums: dict[tuple[float, float], FloatArray]) -> None:
        self.sums = sums

    def __add__(self, other: "Panels") -> "Panels":
        sums = dict(self.sums)
        for key, found in other.sums.items():
            sums[key] = sums[key] + found if key in sums else found
        return Panels(sums)


# Sums over a chunk of scores (n,), plausibilities (n, 2) and weights.


def _look(columns: Columns) -> Look:
    score, contour, weight = columns[:3]
    assert score is not None
    assert contour is not None
    assert weight is not None
    given = favors(contour, weight)
    n0, n1, v, rho = items_of(given, weight, None)
    return Look(
        _moments_of(score[weight > 0.0]),
        favored_items(given),
        Distinct(rho[v > 0.0]),
        [Span(score[items > 0.0]) for items in (n0, n1, v)],
    )


def _panels(
    columns: Columns, mean: float, spread: float, half: float, total: Any, doubts: Any
) -> Panels:
    """Sums of a chunk; `half` of a panel is 0 where all scores are the same.

    `doubts` are all log odds that were said, if they are few, else None.
    """
    score, contour, weight = columns[:3]
    assert score is not None
    assert contour is not None
    assert weight is not None
    items = items_of(favors(contour, weight), weight, total)
    z = (score - mean) / spread
    panel = np.floor(z / (2.0 * half)) if half else np.zeros(len(z))
    said = np.floor(items.rho / (2.0 * HALF_DOUBT)) if doubts is None else items.rho
    said = np.where(items.v > 0.0, said, HARD)
    order = _order(panel, said, doubts)
    inside = np.clip((z - half * (2.0 * panel + 1.0)) / half if half else z, -1.0, 1.0)[order]
    panel, said, rho = panel[order], said[order], items.rho[order]
    counts = np.take(np.array(items[:3]), order, axis=1)
    sums: dict[tuple[float, float], FloatArray] = {}
    for start in range(0, len(z), ROWS_AT_ONCE):
        powers = chebyshev(inside[start : start + ROWS_AT_ONCE], PANEL_NODES if half else 1)
        for rows in _groups(panel, said, start, start + powers.shape[1]):
            at, words, own = panel[rows.start], said[rows.start], powers[:, _shifted(rows, start)]
            found = counts[:, rows] @ own.T
            _add_to(sums, (at, HARD), found[:2])
            if words == HARD:
                continue
            if doubts is None:
                beside = rho[rows] / HALF_DOUBT - (2.0 * words + 1.0)
                by_doubt = chebyshev(np.clip(beside, -1.0, 1.0), DOUBT_NODES)
                _add_to(sums, (at, words), (counts[2, rows] * own) @ by_doubt.T)
            else:
                _add_to(sums, (at, words), found[2])
    return Panels(sums)


def _add_to(sums: dict[tuple[float, float], FloatArray], key: Any, found: FloatArray) -> None:
    sums[key] = sums[key] + found if key in sums else found


def chebyshev(x: FloatArray, count: int) -> FloatArray:
    """The first Chebyshev polynomials (count, n) at points of [-1, 1]."""
    found = np.empty((count, len(x)))
    found[0] = 1.0
    if count > 1:
        found[1] = x
    twice = 2.0 * x
    for k in range(2, count):
        np.multiply(twice, found[k - 1], out=found[k])
        found[k] -= found[k - 2]
    return found


def _order(panel: FloatArray, said: FloatArray, doubts: FloatArray | None) -> NDArray[np.int64]:
    """Numbers of rows such that those with the same panel and words follow each other."""
    low, high = (panel.min(), panel.max()) if len(panel) else (0.0, 0.0)
    n_words = np.inf if doubts is None else len(doubts) + 1.0
    if not (high - low + 1.0) * n_words < 2**15:
        return np.lexsort((said, panel))
    words = np.searchsorted(doubts, said)  # type: ignore[arg-type]
    # Few codes are sorted by counting them.
    return np.argsort(((panel - low) * n_words + words).astype(np.int16), kind="stable")


def _groups(panel: FloatArray, said: FloatArray, start: int, stop: int) -> Iterator[slice]:
    """Rows with the same panel and words, among some that are in order."""
    changes = np.diff(panel[start:stop]) != 0.0
    changes |= said[start + 1 : stop] != said[start : stop - 1]
    ends = [*(np.flatnonzero(changes) + start + 1).tolist(), stop]
    return map(slice, [start, *ends[:-1]], ends)


def _shifted(rows: slice, by: int) -> slice:
    return slice(rows.start - by, rows.stop - by)


def _at_nodes(angle: FloatArray) -> FloatArray:
    """From sums of Chebyshev polynomials to shares of their nodes cos(angle), as in `lagrange`."""
    degree = np.arange(len(angle))
    factor = np.where(degree == 0, 1.0, 2.0) / len(angle)
    return factor[:, None] * np.cos(degree[:, None] * angle)


def as_records(panels: Panels, half: float, few: bool) -> FloatArray:
    """Records (5, R) at the nodes of all panels."""
    parts: list[FloatArray] = []
    to_nodes = _at_nodes(ANGLE) if half else np.ones((1, 1))
    for panel, said in sorted(panels.sums):
        sums = panels.sums[panel, said]
        z = half * (2.0 * panel + 1.0) + half * np.cos(ANGLE) if half else np.zeros(1)
        none = np.zeros(len(z))
        if said == HARD and few and parts and parts[-1][0, 0] == z[0]:
            parts[-1][1:3] = sums @ to_nodes  # beside those of which something was said
        elif said == HARD:
            parts.append(np.array([z, *(sums @ to_nodes), none, none]))
        elif few:
            parts.append(np.array([z, none, none, sums @ to_nodes, none + said]))
        else:
            rho = HALF_DOUBT * (2.0 * said + 1.0 + np.cos(DOUBT_ANGLE))
            both = [side.ravel() for side in np.meshgrid(z, rho, indexing="ij")]
            shared = to_nodes.T @ sums @ _at_nodes(DOUBT_ANGLE)
            none = np.zeros(shared.size)
            parts.append(np.array([both[0], none, none, shared.ravel(), both[1]]))
    records = np.hstack(parts) if parts else np.zeros((5, 0))
    return np.ascontiguousarray(records[:, records[1:4].any(axis=0)])


def _is_separable(spans: list[Span], theta: FloatArray, mean: float, spread: float) -> bool:
    """Whether the likelihood has no maximum, as `predictive` finds it from all records."""
    first, second, doubtful = spans
    ends = np.array([end for span in spans for end in (span.low, span.high)])
    ends = (ends[np.isfinite(ends)] - mean) / spread
    if np.isfinite(doubtful.low):
        return bool(np.abs(theta[0] + theta[1] * ends).max() >= STEEP)
    if not (np.isfinite(first.low) and np.isfinite(second.low)):
        return True
    apart = first.high <= second.low or second.high <= first.low
    return apart and bool(np.ptp(ends) > 0.0)


def _guess(columns: Columns, mean: float, spread: float, total: FloatArray | None) -> float:
    """Half of a panel for the slope that some rows have.

    It is only where to start: a panel that is too wide is seen, and one too narrow does no harm.
    """
    score, contour, weight = take(columns[:3], slice(0, FEW_ROWS))
    assert score is not None
    assert contour is not None
    assert weight is not None
    items = items_of(favors(contour, weight), weight, total)
    records = make_records((score - mean) / spread, items)
    if records.shape[1] == 0:
        return WIDEST
    theta, _ = maximize(records, thorough=False, tolerance=1e-6)
    return float(np.clip(MARGIN / max(abs(theta[1]), 1e-300), NARROWEST, WIDEST))


def calibrate_rows(parts: Iterable[Rows], smoothing: bool = True) -> list[Calibration]:
    """Fit calibrations to rows of scores (n,), plausibilities (n, 2) of two classes, weights.

    While the table of one is made, which sees no rows, sums are taken for the next.
    """
    with one_blas_thread() as n_threads:
        pass
    if n_threads == 1:
        return [_summed(rows, smoothing)() for rows in parts]
    pool = ThreadPoolExecutor(1, thread_name_prefix="plausible-table")
    try:
        made = [pool.submit(_summed(rows, smoothing)) for rows in parts]
        return [one.result() for one in made]
    finally:
        pool.shutdown(cancel_futures=True)


def _summed(rows: Rows, smoothing: bool) -> Callable[[], Calibration]:
    """What makes the calibration of some rows, without a further look at them."""
    look: Look = rows.reduce(_look)
    mean = look.all.mean
    spread = float(np.sqrt(look.all.squares / max(look.all.weight, 1)))
    is_spread = spread > 1e-12 * max(1.0, abs(mean))
    spread, half = (spread, WIDEST) if is_spread else (1.0, 0.0)
    total, doubts = look.favored if smoothing else None, look.doubts.numbers
    if half:
        half = _guess(rows.peek(), mean, spread, total)
    for _ in range(MOST_ROUNDS):
        panels: Panels = rows.reduce(_panels, mean, spread, half, total, doubts)
        records = as_records(panels, half, doubts is not None)
        if records.shape[1] == 0:
            return partial(nothing_known, mean)
        theta, _ = maximize(records, thorough=False)
        needed = min(1.0 / max(abs(theta[1]), 1e-300), WIDEST)
        if half <= 1.25 * needed:
            break
        half = needed  # panels were too wide for so steep a slope
    if not smoothing and _is_separable(look.spans, theta, mean, spread):
        refuse_separable()
    covariance = inverse_curvature(theta, records)
    return partial(concluded, theta, covariance, records, mean, spread)
