"""Threads that a loop holds for all of its passes."""

import os
import signal
import threading
import time
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, nullcontext
from functools import partial
from itertools import count

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from plausible.engine import ArrayRows, StreamRows, in_order, maximize, one_blas_thread

Point = namedtuple("Point", "x criterion")
BOTH_AT_WORK = 10.0  # seconds until a test fails where a thread is alone


def of_sums() -> set[str]:
    """Names of the threads alive that sum."""
    names = {thread.name for thread in threading.enumerate()}
    return {name for name in names if name.startswith("plausible-sum")}


def sources():
    columns = np.arange(80.0)
    parts = np.split(columns, 8)
    return [ArrayRows(columns, chunk_rows=10), StreamRows(lambda: iter(parts))]


def workers_of_a_pass(rows):
    """The threads that sum, of which neither does all."""
    meet, seen = threading.Barrier(2, timeout=BOTH_AT_WORK), []

    def where(columns):
        meet.wait()
        seen.append(threading.get_ident())
        return 0.0

    rows.reduce(where)
    return set(seen)


@pytest.mark.parametrize("rows", sources(), ids=["array", "stream"])
def test_threads_that_are_lent_stay_for_the_next_pass(rows):
    with threadpool_limits(2, user_api="blas"):
        with one_blas_thread(lend=True):
            first, second = workers_of_a_pass(rows), workers_of_a_pass(rows)
            assert len(of_sums()) == 2
        assert not of_sums()
        assert first == second
        assert len(first) == 2
        assert threading.get_ident() not in first
        workers_of_a_pass(rows)
        assert not of_sums()


def test_the_loop_starts_threads_once():
    rows, seen = ArrayRows(np.arange(80.0), chunk_rows=10), []

    def summarize(points):
        seen.append(workers_of_a_pass(rows))
        return [Point(x, -((x - 3) ** 2)) for x in points]

    with threadpool_limits(2, user_api="blas"):
        maximize(summarize, lambda point: (point.x + 3) / 2, [0.0], n_rows=1)
    assert len(seen) > 5
    assert all(one == seen[0] for one in seen)
    assert not of_sums()


@pytest.mark.parametrize("held", [partial(one_blas_thread, lend=True), nullcontext])
def test_when_a_pass_fails_no_thread_goes_on_with_it(held):
    rows = ArrayRows(np.arange(800.0), chunk_rows=10)
    with threadpool_limits(2, user_api="blas"), held():
        for _ in range(2):
            began, ended, slow_one = count(), [], threading.Event()

            def slow_or_bad(columns, began=began, ended=ended, slow_one=slow_one):
                if next(began) == 0:
                    assert slow_one.wait(BOTH_AT_WORK)
                    raise RuntimeError("a sum that fails")
                slow_one.set()
                time.sleep(0.05)
                ended.append(columns)
                return 0.0

            with pytest.raises(RuntimeError, match="a sum that fails"):
                rows.reduce(slow_or_bad)
            n_ended = len(ended)
            time.sleep(0.15)
            assert 0 < len(ended) == n_ended < 79
            assert rows.reduce(lambda columns: columns[0].sum()) == 800 * 799 / 2


def test_items_that_are_not_taken_are_not_worked_on():
    done = []
    with threadpool_limits(2, user_api="blas"), one_blas_thread(lend=True):
        for _ in range(2):
            done.clear()
            with one_blas_thread() as n_threads:
                results = in_order(lambda item: done.append(item) or item, range(50), n_threads)
                with closing(results):
                    assert next(results) == 0
                n_done = len(done)
                assert n_done < 50
                time.sleep(0.05)
                assert len(done) == n_done


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_process_forked_inside_a_loop_has_threads_of_its_own():
    rows = ArrayRows(np.arange(80.0), chunk_rows=10)

    def all_of_them():
        return rows.reduce(lambda columns: columns[0].sum())

    with threadpool_limits(2, user_api="blas"), one_blas_thread(lend=True):
        assert all_of_them() == 79 * 40
        child = os.fork()
        if not child:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(int(BOTH_AT_WORK))  # which ends a process that waits for nobody
            os._exit(0 if all_of_them() == 79 * 40 else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert all_of_them() == 79 * 40


def test_a_second_interruption_does_not_keep_the_limit(monkeypatch):
    def interrupted(*args, **options):
        raise KeyboardInterrupt

    with threadpool_limits(2, user_api="blas"):
        with (
            monkeypatch.context() as patch,
            pytest.raises(KeyboardInterrupt),
            one_blas_thread(lend=True),
        ):
            patch.setattr(ThreadPoolExecutor, "shutdown", interrupted)
        with one_blas_thread() as n_threads:
            assert n_threads == 2
