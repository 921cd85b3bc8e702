"""Threads: one core for each chunk, and BLAS kept from starting threads of its own."""

import os
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from threading import Lock, local
from typing import TypeVar

from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")


@cache
def _blas(with_scipy: bool) -> ThreadpoolController:
    """The BLAS libraries loaded so far; that of scipy comes with ``scipy.linalg``."""
    return ThreadpoolController().select(user_api="blas")


_HELD = Lock()


class _Lent(local):
    """What a holder leaves to the next caller in its thread."""

    n_threads = 1
    threads: ThreadPoolExecutor | None = None


_LENT = _Lent()


def _lose_threads() -> None:
    """In a process that was forked: its parent's threads are not there to work."""
    _LENT.threads = None


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_lose_threads)


@contextmanager
def one_blas_thread(lend: bool = False) -> Iterator[int]:
    """Keep BLAS to one thread; gives the number it was set to, which is ours to use.

    The limit is one for the whole process. Whoever comes while it is set leaves it alone and gets
    one thread: to restore a limit found then would keep BLAS on one thread for good.

    With `lend`, the next caller below in the same thread gets the number instead. A loop of many
    short passes so sets the limit once, starts threads once (see `working_threads`), and BLAS has
    no threads that spin between the passes, which on a busy machine cost far more than they gain.
    Other threads of the process share the limit.

    Examples
    --------
    >>> with one_blas_thread() as n_threads, one_blas_thread() as left:
    ...     left
    1
    """
    if not _HELD.acquire(blocking=False):
        n_threads = _LENT.n_threads
        _LENT.n_threads = n_threads if lend else 1
        try:
            yield n_threads
        finally:
            _LENT.n_threads = n_threads
        return
    try:
        blas = _blas("scipy.linalg" in sys.modules)
        n_threads = min((pool["num_threads"] for pool in blas.info()), default=1)
        with blas.limit(limits=1):
            if lend:
                _LENT.n_threads, _LENT.threads = n_threads, _new_threads(n_threads)
            yield n_threads
    finally:
        threads, _LENT.n_threads, _LENT.threads = _LENT.threads, 1, None
        try:
            if threads is not None:
                threads.shutdown()
        finally:  # Ctrl-C may come while it waits
            _HELD.release()


def _new_threads(n_threads: int) -> ThreadPoolExecutor:
    """Threads that start when there is work for them."""
    return ThreadPoolExecutor(n_threads, thread_name_prefix="plausible-sum")


@contextmanager
def working_threads(n_threads: int) -> Iterator[ThreadPoolExecutor]:
    """As many threads as `one_blas_thread` gave, for one pass, after which none of them works.

    Those of a loop that lends them stay for its next pass: to start and end them takes half a
    millisecond, a tenth of a short pass.

    Examples
    --------
    >>> with working_threads(2) as threads:
    ...     list(threads.map(abs, [3, -1, 2]))
    [3, 1, 2]
    """
    lent = _LENT.threads
    if lent is None:
        with _new_threads(n_threads) as threads:
            yield threads
        return
    try:
        yield lent
    except BaseException:  # of a pass that did not come to its end, some may still work
        _LENT.threads = _new_threads(n_threads)
        lent.shutdown(cancel_futures=True)
        raise


def in_order(
    function: Callable[[Item], Result], items: Iterable[Item], n_threads: int
) -> Generator[Result, None, None]:
    """``map(function, items)`` on several threads, with few items taken at a time.

    Close it when it is not run to its end: the threads are then gone.

    Examples
    --------
    >>> list(in_order(abs, [3, -1, 2], n_threads=2))
    [3, 1, 2]
    """
    if n_threads == 1:
        yield from map(function, items)
        return
    waiting: deque[Future[Result]] = deque()
    with working_threads(n_threads) as threads:
        try:
            for item in items:
                waiting.append(threads.submit(function, item))
                if len(waiting) > n_threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def read_ahead(items: Iterable[Item], depth: int) -> Generator[Item, None, None]:
    """The items, of which the next `depth` are read by a thread while one is being used.

    Close it when it is not run to its end: the thread and the iterator are then gone.

    Examples
    --------
    >>> list(read_ahead([3, 1, 2], depth=2))
    [3, 1, 2]
    """
    end = object()
    iterator = iter(items)
    try:
        with ThreadPoolExecutor(1, thread_name_prefix="plausible-read") as reader:
            ahead = deque(reader.submit(next, iterator, end) for _ in range(depth))
            try:
                while (item := ahead.popleft().result()) is not end:
                    ahead.append(reader.submit(next, iterator, end))
                    yield item  # type: ignore[misc]
            finally:
                for future in ahead:
                    future.cancel()
    finally:
        # Not left to the garbage collector: the traceback of an error may hold the iterator.
        if hasattr(iterator, "close"):
            iterator.close()
