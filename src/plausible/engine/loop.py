"""The loop: summarize the rows, solve for new parameters, until the criterion stops rising."""

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible.checks import (
    as_list,
    check_callable,
    check_number,
    check_path,
    check_text,
    check_whole,
    counted,
    shown,
)
from plausible.engine.ascent import Ascent, Chart, Statistics
from plausible.engine.checkpoint import check_folder, load_ascents, save_ascents
from plausible.engine.cluster import ClusterLostError
from plausible.engine.threads import one_blas_thread
from plausible.errors import InputError

CALM = 1e-3  # gain for one row below which steps may be extrapolated: before, paths still part
TIE = 1e-11  # part of a criterion that sums of the same rows in other chunks may differ by
PATIENCE = 5  # maps before a start may be dropped
OPTIMISM = 20  # a start is kept while this many more gains like its last would win


@dataclass(frozen=True)
class Progress:
    """Where a loop stands after an iteration.

    Attributes
    ----------
    iteration, criterion, gain : of the best start; `gain` is for one row
    seconds : since the loop began
    seconds_left : estimate until convergence, at most until `max_iter`; infinite while unknown
    n_starts : starts still running

    Examples
    --------
    >>> Progress(3, -12.5, 0.25, 1.0, 4.0, 1).seconds_left
    4.0
    """

    iteration: int
    criterion: float
    gain: float
    seconds: float
    seconds_left: float
    n_starts: int


Callback = Callable[[Progress], Any]


@dataclass(frozen=True)
class Result:
    """What a loop found.

    Attributes
    ----------
    parameters : of the best start
    history : array (n_iter + 1,)
        Criterion at the start and after each iteration, never falling; an iteration is one pass
        over the rows.
    n_iter, converged, interrupted : how the best start ended
    best_start : int
    criteria : array, one for each start
        Where the starts were when they ended or were dropped.

    Examples
    --------
    >>> history = np.array([-3.0, -1.0])
    >>> Result((2.0,), history, 1, True, False, 0, np.array([-1.0])).criterion
    -1.0
    """

    parameters: Any
    history: NDArray[np.float64]
    n_iter: int
    converged: bool
    interrupted: bool
    best_start: int
    criteria: NDArray[np.float64]

    @property
    def criterion(self) -> float:
        """The best value found."""
        return float(self.history[-1])


def maximize(
    summarize: Callable[[list[Any]], Sequence[Statistics]],
    solve: Callable[[Any], Any],
    starts: Sequence[Any],
    *,
    n_rows: float,
    tol: float = 1e-6,
    max_iter: int = 1000,
    chart: Chart | None = None,
    callback: Callback | None = None,
    checkpoint: str | Path | None = None,
    checkpoint_seconds: float = 60.0,
    settings: str = "",
    advice: str = "The steps and the criterion should be of one problem: check both.",
) -> Result:
    """Maximize a criterion from one or more starts.

    Parameters
    ----------
    summarize : function
        From a list of parameters to a list of statistics, each with a `criterion`: one pass over
        the rows serves all starts.
    solve : function
        From statistics to the next parameters, which have a criterion at least as high.
    starts : list of parameters
        They advance side by side; one that falls hopelessly behind is dropped.
    n_rows : float
        Rows, or their total weight: `tol` is a gain for one row.
    tol, max_iter : float, int
    chart : Chart, optional
        Coordinates for acceleration; none without.
    callback : function of Progress, optional
        Called after each iteration; a true answer stops the loop.
    checkpoint : path, optional
        The state is written there at the end and every `checkpoint_seconds`, and read from there
        when the file exists: the loop goes on as if it had not stopped. Parameters must be tuples
        of arrays.
    settings : str
        What a checkpoint must have in common with this call, in words.
    advice : str
        A sentence for the warning that an iteration has lowered the criterion.

    Returns
    -------
    Result

    Examples
    --------
    The largest value of -(x - 3)^2 by steps that halve the distance:

    >>> from collections import namedtuple
    >>> Point = namedtuple("Point", "x criterion")
    >>> result = maximize(
    ...     lambda points: [Point(x, -((x - 3) ** 2)) for x in points],
    ...     lambda point: (point.x + 3) / 2,
    ...     starts=[0.0],
    ...     n_rows=1,
    ... )
    >>> round(result.parameters, 2), result.converged
    (3.0, True)
    """
    starts = _check_arguments(summarize, solve, starts, callback, checkpoint)
    check_number(n_rows, "n_rows", 0.0)
    check_number(tol, "tol", 0.0)
    check_whole(max_iter, "max_iter", 0)
    check_number(checkpoint_seconds, "checkpoint_seconds", 0.0)
    check_text(settings, "settings", "the settings in words")
    _check_chart(chart)
    ascents = [Ascent(start, solve, tol * n_rows, chart, CALM * n_rows) for start in starts]
    with one_blas_thread(lend=True), _kept_if_lost(checkpoint, ascents, settings):
        if checkpoint is not None:
            check_folder(checkpoint)
            if Path(checkpoint).exists():
                load_ascents(checkpoint, ascents, settings)
                _check_same_problem(checkpoint, ascents, summarize)
        began = saved = time.perf_counter()
        passes, interrupted, failures = 0, False, dict[int, ValueError]()
        live, whole = _survivors(ascents, failures, max_iter), copied(ascents)
        try:
            while live:
                failures.update(_advance(live, ascents, summarize))
                passes, whole = passes + 1, copied(ascents)
                live = _survivors(ascents, failures, max_iter)
                now = time.perf_counter()
                if checkpoint is not None and now - saved > checkpoint_seconds:
                    save_ascents(checkpoint, ascents, settings)
                    saved = now
                if callback is not None and len(failures) < len(ascents):
                    report = progress(ascents, len(live), now - began, passes, n_rows, max_iter)
                    if callback(report):
                        break
        except KeyboardInterrupt:
            interrupted, ascents = True, whole
            if all(ascent.point is None for ascent in ascents):
                raise
    if checkpoint is not None and len(failures) < len(ascents):
        save_ascents(checkpoint, ascents, settings)
    if len(failures) == len(ascents):
        raise failures[0]
    return conclude(ascents, failures, interrupted, max_iter, advice)


def copied(ascents: list[Ascent]) -> list[Ascent]:
    """Where all starts stand, whole: Ctrl-C may come in the midst of a step."""
    return [replace(ascent, history=ascent.history.copy()) for ascent in ascents]


@contextmanager
def _kept_if_lost(
    checkpoint: str | Path | None, ascents: list[Ascent], settings: str
) -> Iterator[None]:
    """Keep the state when the cluster that holds the rows is lost, and say where it is."""
    try:
        yield
    except ClusterLostError as error:
        known = [ascent for ascent in ascents if ascent.point is not None]
        if checkpoint is not None and known:
            save_ascents(checkpoint, ascents, settings)
            error.checkpoint = str(checkpoint)
            error.iteration = max(known, key=lambda ascent: ascent.criterion).n_iter
        raise


def _check_arguments(
    summarize: Any, solve: Any, starts: Any, callback: Any, checkpoint: Any
) -> list[Any]:
    """Refuse what cannot be called, and a file that cannot be named; the starts as a list."""
    check_callable(summarize, "summarize", "a list of parameters")
    check_callable(solve, "solve", "statistics")
    if callback is not None:
        check_callable(callback, "callback", "a Progress")
    if checkpoint is not None:
        check_path(checkpoint, "checkpoint")
    listed = as_list(starts, "starts", "parameters")
    if not listed:
        raise InputError(
            "starts should be one or more parameters",
            "there are none",
            "give one",
            parameter="starts",
        )
    return listed


def _check_chart(chart: Any) -> None:
    """Refuse what lacks the methods of coordinates."""
    if chart is None:
        return
    for method in ("flatten", "restore"):
        check_callable(getattr(chart, method, None), f"chart.{method}", "parameters")


def _check_same_problem(
    checkpoint: str | Path,
    ascents: list[Ascent],
    summarize: Callable[[list[Any]], Sequence[Statistics]],
) -> None:
    """Refuse a checkpoint whose criterion is not that of these rows."""
    known = [ascent for ascent in ascents if ascent.point is not None]
    if not known:
        return
    for ascent, summary in zip(known, summarize([a.point for a in known]), strict=True):
        if not np.isclose(summary.criterion, ascent.criterion, rtol=1e-7, atol=0):
            raise InputError(
                f"The checkpoint {checkpoint} should have criterion {summary.criterion:.8g} on "
                "these rows",
                f"it has {ascent.criterion:.8g}",
                "use the data and settings it was written with, or delete it to start again",
            )


def _advance(
    live: list[Ascent],
    ascents: list[Ascent],
    summarize: Callable[[list[Any]], Sequence[Statistics]],
) -> dict[int, ValueError]:
    """One pass for all live starts; those that failed, by number."""
    failures = {}
    statistics = summarize([ascent.proposal for ascent in live])
    if not isinstance(statistics, Sequence) or len(statistics) != len(live):
        raise InputError(
            f"summarize should return statistics for each of {len(live)} parameters",
            f"returned {shown(statistics)}",
            "return a list as long as that which it is given",
            parameter="summarize",
            value=statistics,
        )
    for ascent, summary in zip(live, statistics, strict=True):
        try:
            ascent.tell(summary)
        except ValueError as error:
            failures[next(i for i, a in enumerate(ascents) if a is ascent)] = error
    return failures


def _survivors(
    ascents: list[Ascent], failures: dict[int, ValueError], max_iter: int
) -> list[Ascent]:
    """Starts that have not ended, failed or fallen hopelessly behind."""
    best = max(ascent.criterion for ascent in ascents)
    return [
        ascent
        for number, ascent in enumerate(ascents)
        if number not in failures
        and not (ascent.converged or ascent.ended)
        and ascent.n_iter < max_iter
        and (ascent.n_iter < PATIENCE or ascent.criterion + OPTIMISM * ascent.gain >= best)
    ]


def best_of(ascents: list[Ascent], failures: dict[int, ValueError]) -> int:
    """Number of the start with the highest criterion; of those that tie, the first.

    Last digits depend on the chunks of the rows, and must not tell between two ways to number the
    same clusters.
    """
    found = {i: ascent.criterion for i, ascent in enumerate(ascents) if i not in failures}
    most = max(found.values())
    least = most - TIE * abs(most) if np.isfinite(most) else most
    return next(i for i, criterion in found.items() if criterion >= least)


def progress(
    ascents: list[Ascent], n_live: int, seconds: float, passes: int, n_rows: float, max_iter: int
) -> Progress:
    """Where the best start stands, and how long it may still take."""
    best = max(ascents, key=lambda ascent: ascent.criterion)
    left = 0.0 if not n_live else min(best.steps_left, max_iter - best.n_iter) * seconds / passes
    gain = best.history[-1] - best.history[-2] if best.n_iter else np.inf
    return Progress(best.n_iter, best.criterion, gain / n_rows, seconds, left, n_live)


def conclude(
    ascents: list[Ascent],
    failures: dict[int, ValueError],
    interrupted: bool,
    max_iter: int,
    advice: str,
) -> Result:
    """The result of the best start, with a warning if it is not a maximum."""
    from sklearn.exceptions import ConvergenceWarning  # heavy, and rows do without

    from plausible.engine.warnings import InterruptedFitWarning

    number = best_of(ascents, failures)
    best = ascents[number]
    if interrupted:
        message = (
            f"The fit was interrupted after {counted(best.n_iter, 'iteration')}; the best "
            "parameters so far are kept, and fitting on from a checkpoint gives the rest."
        )
        warnings.warn(message, InterruptedFitWarning, stacklevel=4)
    elif best.ended and not best.converged:
        message = (
            f"An iteration should not lower the criterion, but one did, by {-best.gain:.3g} in "
            f"all; the parameters before it are kept. {advice}"
        )
        warnings.warn(message, ConvergenceWarning, stacklevel=4)
    elif not best.converged and best.n_iter >= max_iter:
        message = (
            f"The criterion should stop rising within max_iter={max_iter} iterations, but the last "
            f"one still gained {best.gain:.3g} in all; raise max_iter or tol, or use more starts."
        )
        warnings.warn(message, ConvergenceWarning, stacklevel=4)
    return Result(
        parameters=best.point,
        history=np.array(best.history),
        n_iter=best.n_iter,
        converged=best.converged,
        interrupted=interrupted,
        best_start=number,
        criteria=np.array([ascent.criterion for ascent in ascents]),
    )
