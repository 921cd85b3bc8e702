"""Memory of arrays on the workers of Dask, which is kept while a task runs.

Dask starts workers with glibc told to give freed memory back at once (``MALLOC_TRIM_THRESHOLD_``).
From then on glibc takes every array of more than 128 kB from the system and returns it, and each of
its pages is cleared when it is first written to: sums of short steps take twice as long.
"""

import ctypes
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

TRIM, MAP = -1, -3  # numbers of glibc's settings
TRIM_NAME, MAP_NAME = "MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"
KEPT, USUAL_MAP = 32 << 20, 128 << 10  # bytes; glibc itself goes up to so much where it may


@cache
def _mallopt() -> Callable[[int, int], int] | None:
    """The function that changes settings of glibc; None elsewhere."""
    if sys.platform != "linux":
        return None
    return getattr(ctypes.CDLL(None), "mallopt", None)


@contextmanager
def memory_kept() -> Iterator[None]:
    """Let arrays take the memory of those that are gone, where glibc was told otherwise.

    Afterwards settings are what they were, so that the next thing freed is given back.

    Examples
    --------
    >>> with memory_kept():
    ...     total = sum(range(4))
    >>> total
    6
    """
    mallopt, trim = _mallopt(), os.environ.get(TRIM_NAME, "")
    if mallopt is None or not trim.isdigit():
        yield
        return
    mapped = os.environ.get(MAP_NAME, "")
    mallopt(TRIM, KEPT)
    mallopt(MAP, KEPT)
    try:
        yield
    finally:
        mallopt(MAP, int(mapped) if mapped.isdigit() else USUAL_MAP)
        mallopt(TRIM, int(trim))
