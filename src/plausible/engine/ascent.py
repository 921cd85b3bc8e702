r"""One ascent: from a start to a maximum by EM maps, with extrapolation where they are slow.

An EM map F raises the criterion, but on hard problems by less and less. SQUAREM (Varadhan and
Roland 2008) looks at two maps in a row, :math:`r = F(\theta) - \theta` and
:math:`v = F(F(\theta)) - F(\theta) - r`, and jumps to

.. math:: \theta - 2 \alpha r + \alpha^2 v, \qquad \alpha = -|r| / |v|,

in coordinates without constraints. Every summary gives the criterion where it was taken, so a jump
that does not rise above the last point is seen at once, and the plain map takes its place. Jumps
begin only when plain maps would need many more steps, and convergence is judged on plain maps.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from plausible.checks import shown
from plausible.errors import InputError

FloatArray = NDArray[np.float64]


class Chart(Protocol):
    """Coordinates in which parameters may be extrapolated."""

    def flatten(self, parameters: Any) -> FloatArray:
        """Coordinates of the parameters, in one vector."""

    def restore(self, vector: FloatArray, like: Any) -> Any:
        """The parameters with these coordinates; `like` gives the shapes."""


class Statistics(Protocol):
    """What a summary returns, as far as the loop is concerned."""

    @property
    def criterion(self) -> float:
        """Value of the criterion at the parameters that were summarized."""


FIRST_MAPS = 8  # plain maps before the first jump: early ones find the way, not the rate
FEW_STEPS = 10  # jumps do not pay when plain maps are this near to their end
PAUSE = 2  # plain maps after a jump that failed; twice as many after the next one
LONGEST = 32.0  # length of the first jumps at most, in plain steps
STRICT = 0.4  # after jumps, an ascent stops at this part of the tolerance, to end no lower


@dataclass
class Ascent:
    """A trajectory that says which parameters to summarize next, and is told the result.

    Attributes
    ----------
    proposal : parameters to summarize next
    point : the best parameters so far, None before the first summary
    previous : the point before, if a plain map led from it to `point`
    fallback : the plain map in the place of which a jump is proposed, None without a jump
    calm : jumps only after a plain map gained less than this
    history : criterion at the start and after each summary, never falling
    gain : rise of the last plain map
    steps_left : estimate of the plain maps still needed
    longest : length of the next jump at most
    pause : plain maps before the next jump
    n_jumps : jumps that succeeded
    n_failures : jumps that failed since the last success
    converged : whether a plain map gained less than the tolerance
    ended : whether a plain map did not rise at all
    """

    proposal: Any
    solve: Callable[[Any], Any]
    tolerance: float
    chart: Chart | None = None
    calm: float = np.inf
    point: Any = None
    previous: Any = None
    fallback: Any = None
    history: list[float] = field(default_factory=list)
    gain: float = np.inf
    steps_left: float = np.inf
    longest: float = LONGEST
    pause: int = FIRST_MAPS
    n_jumps: int = 0
    n_failures: int = 0
    converged: bool = False
    ended: bool = False

    @property
    def criterion(self) -> float:
        """The best value so far."""
        return self.history[-1] if self.history else -np.inf

    @property
    def n_iter(self) -> int:
        """Maps so far: summaries after the first."""
        return max(len(self.history) - 1, 0)

    def tell(self, statistics: Statistics) -> None:
        """Take the summary at `proposal`, and make the next proposal or stop."""
        value = _check_criterion(statistics)
        jumped = self.fallback is not None
        if not self.history:
            _check_start(value)
        elif not value > self.criterion:
            self._stay(value, jumped)
            return
        gain = value - self.criterion
        enough = self.tolerance * (STRICT if self.n_jumps else 1.0)
        converged = gain < enough and not jumped
        # It may fail, and must then leave everything as it was.
        mapped = None if converged else self.solve(statistics)
        if jumped:
            self.n_jumps, self.n_failures = self.n_jumps + 1, 0
        else:
            self.gain, self.converged = gain, converged
        self.history.append(value)
        self.previous = None if jumped else self.point
        self.point = self.proposal
        if mapped is not None:
            self._propose(mapped)

    def _stay(self, value: float, jumped: bool) -> None:
        """No rise: give up a jump for the plain map; a plain map without rise is the end."""
        fall = self.criterion - value
        self.history.append(self.criterion)
        if jumped:
            self.proposal, self.fallback, self.previous = self.fallback, None, None
            self.pause = PAUSE << self.n_failures
            self.n_failures += 1
            self.longest = max(self.longest / 2, 1.0)
        else:
            # Near the end, what a solution adds to the estimates may weigh more than the gain.
            self.ended, self.converged = True, self._is_slight(fall, self.tolerance)
            self.gain = -fall if np.isfinite(fall) else -np.inf

    def _is_slight(self, fall: float, tolerance: float) -> bool:
        return fall <= max(tolerance, 1e-3 * self.calm)

    def reopen(self, tolerance: float) -> None:
        """Take back convergence: what was near enough for one tolerance may not be for a smaller.

        The last map is proposed again, to be judged by the new tolerance and to go on from.
        """
        if self.ended:
            self.converged = self._is_slight(-self.gain, tolerance)
        elif self.converged:
            self.converged = False
            self.proposal, self.point, self.previous = self.point, self.previous, None
            self.history.pop()

    def _propose(self, mapped: Any) -> None:
        """Propose the plain map, or a jump if it pays."""
        self.proposal, self.fallback = mapped, None
        self.pause = max(self.pause - 1, 0)
        if self.chart is None or self.previous is None:
            return
        old, here, there = map(self.chart.flatten, (self.previous, self.point, mapped))
        step, next_step = here - old, there - here
        self.steps_left = _steps_to_go(self.gain, self.tolerance, step, next_step)
        near_end = self.steps_left < FEW_STEPS and not self.n_jumps
        if self.pause or near_end or self.gain > self.calm:
            return
        change = next_step - step
        length = float(np.linalg.norm(step)) / max(float(np.linalg.norm(change)), 1e-300)
        if length <= 1.01:
            return
        if length >= self.longest:
            length, self.longest = self.longest, 4 * self.longest
        else:
            self.longest = max(self.longest, length)
        jump = self._restore(old + 2 * length * step + length**2 * change)
        if jump is not None:
            self.proposal, self.fallback = jump, mapped

    def _restore(self, vector: FloatArray) -> Any:
        """Parameters with these coordinates, None if they are beyond what numbers can hold."""
        assert self.chart is not None
        if not np.isfinite(vector).all():
            return None
        with np.errstate(all="ignore"):
            try:
                parameters = self.chart.restore(vector, self.point)
                return parameters if np.isfinite(self.chart.flatten(parameters)).all() else None
            except ValueError:
                return None


def _check_criterion(statistics: Any) -> float:
    """The criterion in a summary, refusing a summary without."""
    value = getattr(statistics, "criterion", None)
    try:
        return float(value)  # type: ignore[arg-type]
    except Exception:
        raise InputError(
            "Statistics should have a number as their criterion",
            f"{shown(statistics)} has none",
            "give them an attribute criterion",
            value=statistics,
        ) from None


def _check_start(value: float) -> None:
    """Refuse a start at which the criterion has no value."""
    if not np.isfinite(value):
        raise InputError(
            "The criterion should be finite at the start",
            f"it is {value}",
            "check the scale of the data and the start",
        )


def _steps_to_go(gain: float, tolerance: float, step: FloatArray, next_step: FloatArray) -> float:
    """How many plain maps until gains fall below the tolerance.

    Near a maximum steps shrink by a constant rate, and gains by its square.
    """
    if gain <= tolerance:
        return 0.0
    if not tolerance > 0:
        return np.inf
    first, second = float(np.linalg.norm(step)), float(np.linalg.norm(next_step))
    if second >= first or not first > 0:
        return np.inf
    return float(np.log(gain / tolerance) / (-2 * np.log(max(second / first, 1e-300))))
