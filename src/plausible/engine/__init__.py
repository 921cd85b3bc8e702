"""The rows that an estimator learns from, and the one loop that runs over them."""

from plausible.engine.rows import ArrayRows, Rows
from plausible.engine.stream import StreamRows

__all__ = ["ArrayRows", "Rows", "StreamRows"]
