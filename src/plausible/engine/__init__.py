"""The rows that an estimator learns from, and the one loop that runs over them."""

from plausible.engine.loop import Progress, Result, maximise
from plausible.engine.rows import ArrayRows, Rows

__all__ = ["ArrayRows", "Progress", "Result", "Rows", "maximise"]
