"""Waiting for a cluster, but not for ever.

A pass is waited for as long as the cluster gets on: a task ends, rows move, or a worker that
computes sends its heartbeat, however slow it is. Where none of this happens for `timeout` seconds
(a scheduler or all workers are gone, workers are stopped, paused or wait for those that are), the
pass ends with a `ClusterLostError`.
"""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from contextvars import copy_context
from typing import Any

from plausible.checks import counted

# Dask itself gives the work of a silent worker to others after worker-ttl, five minutes, for which
# it looks every five minutes: that should come first.
TIMEOUT = 600.0
MORE_MEMORY = (
    "Use larger or more workers, or smaller chunks, or stream the rows from files by StreamRows"
)
LOOK = 5.0  # seconds between two looks at a cluster that is waited for


class ClusterLostError(RuntimeError):
    """A cluster that does not finish a pass: its scheduler, its workers or their rows are lost.

    Attributes
    ----------
    lost : "scheduler", "workers", "progress", "memory" or "rows"
    checkpoint : path of the state of the fit, None if it is kept nowhere
    iteration : of that state

    Examples
    --------
    >>> print(ClusterLostError("There should be workers, but none is left", remedy="Start some"))
    There should be workers, but none is left. Start some, and fit again; with a checkpoint, a fit
    goes on where it stopped.
    """

    def __init__(self, what: str, lost: str = "progress", remedy: str = "Use another cluster"):
        super().__init__(what, lost, remedy)
        self.what, self.lost, self.remedy = what, lost, remedy
        self.checkpoint: str | None = None
        self.iteration: int | None = None

    def __str__(self) -> str:
        if self.checkpoint is None:
            rest = "and fit again; with a checkpoint, a fit goes on where it stopped."
        else:
            rest = (
                f"and fit again with checkpoint={self.checkpoint!r}, where iteration "
                f"{self.iteration} is kept: the fit goes on from there, on a cluster or in memory."
            )
        return f"{self.what}. {self.remedy}, {rest}"


def as_megabytes(n_bytes: float) -> str:
    """Memory in words."""
    return f"{n_bytes / 1e6:.3g} MB" if n_bytes < 1e9 else f"{n_bytes / 1e9:.3g} GB"


def _signs_of_life(workers: dict[str, Any]) -> list[Any]:
    """What changes while workers get on: heartbeats of those that compute, data of the others."""
    signs = []
    for address, worker in sorted(workers.items()):
        metrics = worker.get("metrics", {})
        counts = metrics.get("task_counts", {})
        computes = counts.get("executing", 0) + counts.get("long-running", 0) > 0
        moved = metrics.get("transfer", {}).get("incoming_count_total")
        heard = worker["last_seen"] if computes else None
        signs.append((address, heard, counts.get("memory"), moved))
    return signs


class Watch:
    """Asks a cluster, and gives up when it does not get on.

    Parameters
    ----------
    client : distributed.Client, or None for this process, which is never given up
    timeout : seconds without any progress
    rows : what the workers should hold, in words
    """

    def __init__(self, client: Any, timeout: float, rows: str = "rows") -> None:
        self.client, self.timeout, self.rows = client, timeout, rows
        self.workers: dict[str, Any] = {}
        self._limits: set[float] = set()
        self._heard: dict[str, float] = {}
        self._last_seen: dict[str, float] = {}
        if not self._look() and client.status != "running":
            raise self._lost(False)

    def ask(self, call: Callable[..., Any], *arguments: Any, futures: Any = (), **more: Any) -> Any:
        """The answer of a call that waits for the cluster, and for `futures` in particular."""
        if self.client is None:
            return call(*arguments, **more)
        with self.explained():
            return self._wait(_in_a_thread(call, *arguments, **more), futures)

    def gather(self, futures: list[Any]) -> list[Any]:
        """What the futures of a cluster hold."""
        return self.ask(self.client.gather, futures, futures=futures)

    def see_workers(self) -> dict[str, Any]:
        """What the scheduler knows of each worker; there is at least one."""
        end = time.monotonic() + self.timeout
        while not (answers := self._look()) or not self.workers:
            if time.monotonic() > end or self.client.status != "running":
                raise self._lost(answers)
            time.sleep(0.05)
        return self.workers

    def _wait(self, answer: "Future[Any]", futures: Any) -> Any:
        moved = time.monotonic()
        before: Any = None
        while not wait([answer], min(LOOK, self.timeout / 4)).done:
            answers = self._look()
            now = time.monotonic()
            done = sum(future.status in ("finished", "error") for future in futures)
            signs = done, _signs_of_life(self.workers) if answers else before and before[1]
            if before is not None and signs != before:
                moved = now
            before = signs
            if now - moved > self.timeout and not answer.done():
                raise self._lost(answers)
        return answer.result()

    def _look(self) -> bool:
        """See the workers; whether the scheduler has answered."""
        if self.client is None:
            return True
        try:
            found = self.client.sync(
                self.client.scheduler.identity, callback_timeout=min(LOOK, self.timeout / 4)
            )
        except Exception:  # of whatever kind: it has not answered
            return False
        self.workers, now = found["workers"], time.monotonic()
        for address, worker in self.workers.items():
            self._limits.add(worker["memory_limit"] or 0)
            if self._last_seen.get(address) != worker["last_seen"]:
                self._last_seen[address], self._heard[address] = worker["last_seen"], now
        return True

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Errors of a cluster that has failed, in words of ours; errors of tasks as they are."""
        try:
            yield
        except BaseException as error:
            distributed: Any = sys.modules.get("distributed")
            was_canceled = type(error).__name__.endswith("CancelledError")  # there are three
            is_ours = isinstance(error, ClusterLostError)
            if self.client is None or is_ours or not (isinstance(error, Exception) or was_canceled):
                raise
            if isinstance(error, distributed.KilledWorker):
                raise self._killed(error) from error
            if self.client.status != "running":
                raise self._lost(False) from error
            if was_canceled:
                raise ClusterLostError(
                    f"The rows should stay on the cluster, but were released there ({error})",
                    "rows",
                    "Do not restart the cluster or cancel its tasks",
                ) from error
            raise

    def _lost(self, answers: bool) -> ClusterLostError:
        """What is lost, after a time without progress."""
        place = getattr(getattr(self.client, "scheduler", None), "address", "the cluster")
        if not answers:
            closed = self.client.status != "running"
            how = "the connection is lost" if closed else f"it was silent for {self.timeout:g} s"
            return ClusterLostError(
                f"The scheduler at {place} should answer, but {how}",
                "scheduler",
                "Connect to a cluster that runs",
            )
        if not self.workers:
            return ClusterLostError(
                f"The scheduler at {place} should have workers, but had none for {self.timeout:g} "
                f"s ({self._burden()})",
                "workers",
                "Start workers, larger ones if these ran out of memory, or connect to "
                "another cluster",
            )
        told = (
            f"The workers at {place} should compute, but for {self.timeout:g} s none has computed "
        )
        paused = [a for a, worker in self.workers.items() if worker.get("status") == "paused"]
        if paused:
            told += f"anything: {', '.join(paused)} paused, short of memory ({self._burden()})"
            return ClusterLostError(told, "memory", MORE_MEMORY)
        now = time.monotonic()
        silence = {address: now - self._heard[address] for address in self.workers}
        silent = [f"{a} for {s:.0f} s" for a, s in silence.items() if s > self.timeout / 2]
        who = f"not heard from: {', '.join(silent)}" if silent else "all still answer"
        return ClusterLostError(
            f"{told}anything ({counted(len(self.workers), 'worker')}; {who})",
            "progress",
            "Fix or replace them, or raise DaskRows(..., timeout=) if they were only slow",
        )

    def _burden(self) -> str:
        """What the workers have to hold, and in how much memory, in words."""
        limits = " or ".join(map(as_megabytes, sorted(self._limits)))
        return self.rows + (f", on workers with {limits} each" if limits else "")

    def _killed(self, error: Any) -> ClusterLostError:
        return ClusterLostError(
            f"Workers should hold the rows of a task and work on them, but "
            f"{error.allowed_failures + 1} were killed one after another at the same task, as "
            f"happens where memory is too small ({self._burden()})",
            "memory",
            MORE_MEMORY,
        )


def _in_a_thread(call: Callable[..., Any], *arguments: Any, **more: Any) -> "Future[Any]":
    """The answer to come of a call that may never return; the process may end before it does."""
    answer: Future[Any] = Future()
    context = copy_context()

    def work() -> None:
        try:
            answer.set_result(context.run(call, *arguments, **more))
        except BaseException as error:
            answer.set_exception(error)

    threading.Thread(target=work, name="plausible-cluster", daemon=True).start()
    return answer
