"""Dask clusters of processes that may be killed."""

import contextlib
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ENVIRONMENT = {
    "PYTHONPATH": os.pathsep.join(sys.path),
    "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1",
}


@contextlib.contextmanager
def two_workers() -> Iterator[Any]:
    """A cluster on loopback, on ports that nobody else uses."""
    from distributed import LocalCluster, Status

    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", host="127.0.0.1"
    )
    try:
        yield cluster
    finally:
        try:
            cluster.close()
        except KeyError:  # a worker that was killed is taken off the list twice, now and then
            cluster.status = Status.closed


class Processes:
    """A scheduler and workers, as processes that nobody starts again."""

    def __init__(self, folder: Path) -> None:
        self.file, self.log = folder / "scheduler.json", open(folder / "log", "w")  # noqa: SIM115
        self.scheduler = self.start(
            "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show"
        )
        self.workers: list[subprocess.Popen[bytes]] = []

    def start(self, kind: str, *words: str) -> "subprocess.Popen[bytes]":
        """One process of the cluster."""
        command = [sys.executable, "-W", "ignore", "-m", f"distributed.cli.dask_{kind}", *words]
        return subprocess.Popen(
            [*command, "--scheduler-file", str(self.file)],
            stderr=self.log,
            stdout=self.log,
            env=os.environ | ENVIRONMENT,
        )

    def add_workers(self, number: int) -> None:
        """More workers, of one thread each."""
        words = "--no-nanny", "--no-dashboard", "--nthreads", "1", "--host", "127.0.0.1"
        self.workers += [self.start("worker", *words) for _ in range(number)]

    def everyone(self) -> "list[subprocess.Popen[bytes]]":
        """The scheduler and the workers."""
        return [self.scheduler, *self.workers]

    def kill(self, *processes: "subprocess.Popen[bytes]") -> None:
        """Kill some processes, and wait until they are gone."""
        for process in processes:
            process.kill()
            process.wait()
        self.bury()

    def bury(self) -> None:
        """Forget workers that are gone."""
        self.workers = [worker for worker in self.workers if worker.poll() is None]

    def close(self) -> None:
        """Kill all of them."""
        self.kill(*self.everyone())
        self.log.close()


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Without the log of a client that looks for its scheduler."""
    log = logging.getLogger("distributed")
    before = log.level
    log.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        log.setLevel(before)
