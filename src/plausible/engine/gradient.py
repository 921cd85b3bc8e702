"""Climbing by gradients: L-BFGS and trust-region Newton steps, with the loop's progress and result.

The criterion is a sum over rows, so one call of it is one pass. scipy takes the steps; what is here
watches them: history, progress, interruption, and an end when rounding hides all further gain.

The last digits of a sum depend on the chunks in which the rows came. Long climbs of L-BFGS make
large differences of them, so that `steadied` leaves out digits that hardly matter to a step.
"""

import math
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from plausible.checks import counted
from plausible.engine.loop import Callback, Progress, Result
from plausible.engine.threads import one_blas_thread
from plausible.errors import InputError

FloatArray = NDArray[np.float64]
Criterion = Callable[[FloatArray], tuple[float, FloatArray]]
Restore = Callable[[FloatArray], Any]
Renewal = Callable[[Any], tuple[Criterion, FloatArray, Restore]]

MEMORY = 10  # pairs of steps and gradients that L-BFGS keeps
PHASE = 20  # iterations of L-BFGS before coordinates are renewed; twice as many before the next
ROUNDING = 1e-15  # gains below this part of the criterion cannot be told from rounding
FLAT = 1e-5  # a gradient below which steps may fail for rounding alone
STALLED = 3  # so many iterations in a row without a gain that shows are then the end
GRAIN = 1e-4  # digits below this part of `tol` matter to no step
FINEST = 1e-11  # of a value, whose digits matter longest: sums of it agree to some 1e-16
STUCK = 30  # so many elsewhere, and another method takes over


def steadied(criterion: Criterion, tol: float) -> Criterion:
    """The criterion without the digits of sums that depend on the order of the rows.

    Gradients are rounded to about a ten-thousandth of the norm `tol` at which a climb ends, and
    values to a gain as small as the last ones. Sums of the same rows, which differ in their last
    digits, then give the same numbers, but for one in a million, and climbs are the same to the
    last bit.

    Examples
    --------
    >>> value, gradient = steadied(lambda x: (x.sum(), x), 1e-5)(np.array([0.1 + 0.2, 1.0]))
    >>> value == steadied(lambda x: (x.sum(), x), 1e-5)(np.array([0.3, 1.0]))[0]
    True
    >>> bool(abs(gradient - [0.3, 1.0]).max() < 1e-9)
    True
    """
    fine, finest = _grain(GRAIN * tol), _grain(min(0.1 * tol**2, FINEST))

    def rounded(point: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = criterion(point)
        return float(_to_grain(value, finest)), _to_grain(gradient, fine)

    return rounded


def _grain(size: float) -> float:
    """The power of two below a size; 0 for 0."""
    return 2.0 ** math.floor(math.log2(size)) if size > 0 else 0.0


def _to_grain(values: Any, grain: float) -> Any:
    """Multiples of a grain; what is not finite stays so."""
    return values if grain == 0 else np.rint(values / grain) * grain


def _is_finite(value: float, gradient: FloatArray) -> bool:
    return bool(np.isfinite(value) and np.isfinite(gradient).all())


def _itself(point: FloatArray) -> FloatArray:
    return point


class Watch:
    """The criterion with its sign turned, and a record of the best point."""

    def __init__(
        self,
        criterion: Criterion,
        restore: Restore,
        callback: Callback | None,
        tol: float,
        max_iter: int,
    ) -> None:
        self.criterion, self.restore, self.callback = criterion, restore, callback
        self.tol, self.max_iter = tol, max_iter
        self.best, self.value, self.slope = np.empty(0), -np.inf, np.inf
        self.last: tuple[FloatArray, float, FloatArray] | None = None
        self.history: list[float] = []
        self.n_stalled = 0
        self.stopped = ""
        self.began = time.perf_counter()

    @property
    def n_iter(self) -> int:
        """Iterations so far."""
        return max(len(self.history) - 1, 0)

    def __call__(self, point: FloatArray) -> tuple[float, FloatArray]:
        """What scipy minimizes."""
        if self.last is not None and np.array_equal(self.last[0], point):
            return self.last[1:]
        value, gradient = self.criterion(point)
        if not _is_finite(value, gradient):
            if not self.history:
                raise InputError(
                    "The criterion should be finite at the start",
                    f"it is {value}",
                    "check the scale of the data and the start",
                )
            return np.inf, np.zeros_like(gradient)  # too far: the step is shortened
        if value > self.value or not len(self.best):
            best, slope = point.copy(), float(np.linalg.norm(gradient))
            self.best, self.value, self.slope = best, value, slope
        if not self.history:
            self.history.append(value)
        self.last = point.copy(), -value, -gradient
        return self.last[1:]

    def parameters(self) -> Any:
        """The best so far."""
        return self.restore(self.best)

    def move(self, criterion: Criterion, point: FloatArray, restore: Restore) -> None:
        """Go on in other coordinates, in which the best point is another."""
        value, gradient = criterion(point)
        if not _is_finite(value, gradient):
            return
        last, slope = (point.copy(), -value, -gradient), float(np.linalg.norm(gradient))
        # At once: a signal in between would leave the old point to be read in new coordinates.
        self.criterion, self.restore, self.best, self.value = criterion, restore, last[0], value
        self.slope, self.last = slope, last

    def after(self, intermediate_result: Any) -> None:
        """Take note of an iteration; ask scipy to stop where nothing more can be gained."""
        value = max(self.value, self.history[-1])
        gain = value - self.history[-1]
        self.history.append(value)
        self.n_stalled = self.n_stalled + 1 if gain <= ROUNDING * abs(value) else 0
        if self.slope <= self.tol or (self.n_stalled >= STALLED and self.slope <= FLAT):
            self.stopped = "maximum"
        elif self.callback is not None and self.callback(self.progress(gain)):
            self.stopped = "callback"
        elif self.n_iter >= self.max_iter:
            self.stopped = "max_iter"
        if self.stopped or self.n_stalled >= STUCK:
            raise StopIteration

    def note_unfinished(self) -> None:
        """Take note of an iteration that was cut short after it had found a better point."""
        if self.value > self.history[-1]:
            self.history.append(self.value)

    def progress(self, gain: float, n_starts: int = 1) -> Progress:
        """Where the climb stands; how long it may take is not known."""
        seconds = time.perf_counter() - self.began
        return Progress(self.n_iter, self.history[-1], gain, seconds, np.inf, n_starts)


def climb(
    criterion: Criterion,
    start: FloatArray,
    *,
    restore: Restore | None = None,
    tol: float = 1e-7,
    max_iter: int = 1000,
    hessian: Callable[[FloatArray], FloatArray] | None = None,
    hessian_product: Callable[[FloatArray, FloatArray], FloatArray] | None = None,
    renew: Renewal | None = None,
    steady: bool = False,
    callback: Callback | None = None,
    inner: bool = False,
    advice: str = "raise max_iter or tol",
) -> Result:
    """Maximize a smooth criterion from one start.

    Parameters
    ----------
    criterion : function of a vector
        Gives the value and the gradient; a mean over rows, so that `tol` does not depend on their
        number.
    start : array (p,)
    restore : function of a vector, optional
        Gives the parameters that it stands for; without it, they are the vector.
    tol : float
        Norm of the gradient at which the climb ends.
    max_iter : int
    hessian : function of a vector, optional
        Gives the matrix of second derivatives: Newton steps in a trust region, by Cholesky factors.
    hessian_product : function of a vector and a direction, optional
        The same by conjugate gradients. Without either, and after they fail, L-BFGS.
    renew : function of the parameters, optional
        Gives the criterion in coordinates that suit these parameters better, their point in them,
        and what restores parameters from such points. Called after 20 iterations of L-BFGS, and
        after twice as many each time.
    steady : bool
        Whether steps of L-BFGS should not depend on last digits of the criterion: see `steadied`.
    callback : function of Progress, optional
        Called after each iteration; a true answer stops the climb.
    inner : bool
        Whether the climb is a part of a larger fit: it does not warn of an early end, and passes an
        interruption on.
    advice : str
        What to do where the climb ends early, for the warning.

    Returns
    -------
    Result

    Examples
    --------
    >>> result = climb(lambda x: (-float(((x - 3) ** 2).sum()), 6 - 2 * x), np.zeros(2))
    >>> result.parameters.round(6), result.converged
    (array([3., 3.]), True)
    """
    watched = steadied(criterion, tol) if steady else criterion
    watch = Watch(watched, restore or _itself, callback, tol, max_iter)
    interrupted = False
    try:
        with one_blas_thread(lend=True):
            watch(start)
            if watch.slope > tol and (hessian is not None or hessian_product is not None):
                newton(watch, hessian, hessian_product)
                if renew is not None and watch.stopped in ("", "maximum"):
                    # A model that has become sure is flat in the old coordinates, not in new ones.
                    watch.move(*renew(watch.parameters()))
                    watch.stopped = ""
            if watch.slope > tol and not watch.stopped:
                _quasi_newton(watch, renew)
            if steady and watch.slope > tol and not watch.stopped:
                # The last gains are in the digits left out.
                watch.move(criterion, watch.best, watch.restore)
                _quasi_newton(watch, renew)
    except KeyboardInterrupt:
        interrupted = True
        if inner or not watch.history:
            raise
        watch.note_unfinished()
    return conclude(watch, interrupted, not inner, advice)


def newton(
    watch: Watch,
    hessian: Callable[[FloatArray], FloatArray] | None,
    hessian_product: Callable[[FloatArray, FloatArray], FloatArray] | None,
) -> None:
    """Newton steps from the best point so far."""
    second: dict[str, Any] = {}
    if hessian is not None:
        method, second["hess"] = "trust-exact", lambda point: -hessian(point)
    elif hessian_product is not None:
        method, second["hessp"] = "trust-ncg", lambda point, way: -hessian_product(point, way)
    try:
        _take_steps(watch, method, {"maxiter": watch.max_iter, "gtol": watch.tol}, second)
    except (np.linalg.LinAlgError, ValueError, UnboundLocalError):
        # Second derivatives that are rounding only: scipy is lost, and L-BFGS takes over.
        return


def _quasi_newton(watch: Watch, renew: Renewal | None) -> None:
    """L-BFGS from the best point so far, in phases if coordinates can be renewed."""
    phase = PHASE if renew is not None else watch.max_iter
    while not watch.stopped:
        before, value, watch.n_stalled = watch.n_iter, watch.value, 0
        n_left = watch.max_iter - watch.n_iter
        # The end is watched for: scipy looks at the largest entry of the gradient only.
        options = {"maxiter": min(phase, n_left), "maxcor": MEMORY, "ftol": 0.0, "gtol": 0.0}
        _take_steps(watch, "L-BFGS-B", options | {"maxfun": 20 * watch.max_iter}, {})
        ended = watch.stopped or watch.n_iter == before or watch.slope <= watch.tol
        idle = watch.slope <= FLAT and watch.value - value <= STALLED * ROUNDING * abs(value)
        if renew is None or ended or idle:
            return
        watch.move(*renew(watch.parameters()))
        phase *= 2


def _take_steps(watch: Watch, method: str, options: dict[str, Any], second: dict[str, Any]) -> None:
    """Let scipy run; what it finds is in the watch."""
    with np.errstate(all="ignore"):  # trial steps may go too far, and are taken back
        minimize(
            watch,
            watch.best.copy(),
            jac=True,
            method=method,
            callback=watch.after,
            options=options,
            **second,
        )


def conclude(watch: Watch, interrupted: bool, warn: bool, advice: str) -> Result:
    """The result, with a warning if it is not a maximum."""
    from sklearn.exceptions import ConvergenceWarning  # heavy, and rows do without

    from plausible.engine.warnings import InterruptedFitWarning

    # A line search that finds nothing better in the last digits has found a maximum too.
    cut_short = interrupted or watch.stopped in ("callback", "max_iter")
    converged = watch.slope <= (watch.tol if cut_short else max(watch.tol, FLAT))
    if interrupted:
        message = (
            f"The fit was interrupted after {counted(watch.n_iter, 'iteration')}; the best so far "
            "is kept."
        )
        warnings.warn(message, InterruptedFitWarning, stacklevel=4)
    elif warn and not converged and watch.stopped != "callback":
        message = (
            f"The gradient should fall below tol={watch.tol:g} within max_iter={watch.max_iter} "
            f"iterations, but is {watch.slope:.3g} after {watch.n_iter}; {advice}."
        )
        warnings.warn(message, ConvergenceWarning, stacklevel=4)
    if watch.callback is not None and watch.stopped != "callback":
        watch.callback(watch.progress(0.0, n_starts=0))
    return Result(
        parameters=watch.parameters(),
        history=np.array(watch.history),
        n_iter=watch.n_iter,
        converged=bool(converged),
        interrupted=interrupted,
        best_start=0,
        criteria=np.array([watch.history[-1]]),
    )
