"""Memory of arrays that come and go: taken from the system once, and not for each of them.

glibc takes every array of more than 128 kB from the system and returns it, and each of its pages is
cleared when it is first written to, until a larger one has been freed: then it keeps arrays of that
size. Passes over rows in pieces would take up to twice as long.

Dask starts workers with glibc told to give freed memory back at once (``MALLOC_TRIM_THRESHOLD_``).
There no array that is freed changes it, and `memory_kept` does while a task runs. Dask leaves these
names in the environment of the process that started a local cluster, too, whose glibc was told
nothing: what counts is the environment in which a process began.
"""

import ctypes
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np

TRIM, MAP = -1, -3  # numbers of glibc's settings
TRIM_NAME, MAP_NAME = "MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"
BEGINNING = Path("/proc/self/environ")  # the environment as it was when this process began
LARGEST = 31 << 20  # bytes; 32 MB with what malloc adds are too many
KEPT, USUAL_MAP = 32 << 20, 128 << 10  # bytes; glibc itself goes up to so much where it may


@cache
def reuse_memory() -> None:
    """Let glibc keep the memory of arrays up to the largest size that it ever keeps, from now on.

    Examples
    --------
    >>> reuse_memory()
    """
    np.empty(LARGEST, np.uint8)  # freed at once; nothing is written to it


@cache
def _mallopt() -> Callable[[int, int], int] | None:
    """The function that changes settings of glibc; None elsewhere."""
    if sys.platform != "linux":
        return None
    return getattr(ctypes.CDLL(None), "mallopt", None)


@cache
def _told() -> tuple[int, int] | None:
    """What glibc was told to keep and to map, in bytes; None if it chooses itself."""
    try:
        given = BEGINNING.read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return None
    settings = dict(pair.split("=", 1) for pair in given if "=" in pair)
    trim, mapped = settings.get(TRIM_NAME, ""), settings.get(MAP_NAME, "")
    if not trim.isdigit():
        return None
    return int(trim), int(mapped) if mapped.isdigit() else USUAL_MAP


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
    mallopt, told = _mallopt(), _told()
    if mallopt is None or told is None:
        yield
        return
    trim, mapped = told
    mallopt(TRIM, KEPT)
    mallopt(MAP, KEPT)
    try:
        yield
    finally:
        mallopt(MAP, mapped)
        mallopt(TRIM, trim)
