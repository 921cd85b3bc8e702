"""Clusters of Dask, by their addresses."""

import argparse
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from plausible.errors import InputError

TIMEOUT = 10  # seconds to wait for a scheduler
REMEDIES = {
    "scheduler": "name one that runs with --cluster",
    "workers": "start workers, larger ones if these ran out of memory",
    "progress": "replace these workers, or set DASK_PLAUSIBLE__TIMEOUT=1h if they were only slow",
    "memory": "use larger or more workers, or leave --cluster out",
    "rows": "let nobody restart the cluster or cancel its tasks",
}


def add_cluster(parser: argparse.ArgumentParser, what: str) -> None:
    """Where the work is done."""
    parser.add_argument(
        "--cluster", metavar="ADDRESS",
        help=f"scheduler of a Dask cluster whose workers {what}, such as tcp://10.0.0.1:8786",
    )  # fmt: skip


def check_answers(address: str | None) -> None:
    """Refuse an address at which nothing answers, before hours of reading are spent."""
    if address is None:
        return
    place = urlsplit(address if "://" in address else f"tcp://{address}")
    try:
        host, port = place.hostname, place.port
    except ValueError:  # which dask explains
        return
    if host is None or port is None or place.scheme not in ("tcp", "tls"):
        return
    try:
        socket.create_connection((host, port), TIMEOUT).close()
    except OSError as error:
        raise _unanswered(address) from error


def _unanswered(address: str) -> ConnectionError:
    return ConnectionError(
        f"A Dask scheduler should answer at {address!r}, but none did within {TIMEOUT} seconds;"
        " start one with 'dask scheduler', and check the address that it prints."
    )


@contextmanager
def connected(address: str | None) -> Iterator[Any]:
    """A client of a cluster; None without an address."""
    if address is None:
        yield None
        return
    try:
        import distributed
    except ImportError as error:
        raise ImportError(
            '--cluster needs dask, which is not installed; run pip install "plausible[dask]".'
        ) from error
    library: Any = distributed  # which has no types
    try:
        client = library.Client(address, timeout=TIMEOUT)
    except (OSError, TimeoutError, ValueError) as error:
        raise _unanswered(address) from error
    with client:
        try:
            yield client
        except BaseException as error:
            told = _told(error, client.status, address)
            if told is None:
                raise
            raise ConnectionError(told) from error


def _told(error: BaseException, status: str, address: str) -> str | None:
    """What was lost of a cluster, and what to do, in words of the command; None of other errors."""
    from plausible.engine import ClusterLostError

    again = "and run this command again"
    if isinstance(error, ClusterLostError):
        if error.checkpoint is not None:
            again += f" with --resume, which goes on from iteration {error.iteration}"
        return f"{error.what}; {REMEDIES[error.lost]}, {again}."
    if type(error).__name__ == "KilledWorker":
        found = "workers were killed one after another at the same task, as happens for memory"
        return f"Workers at {address} should go on, but {found}; {REMEDIES['memory']}, {again}."
    is_of_dask = isinstance(error, Exception) or type(error).__name__ == "CancelledError"
    if status == "running" or isinstance(error, InputError) or not is_of_dask:
        return None
    found = "the connection is lost"
    return (
        f"The scheduler at {address} should answer, but {found}; {REMEDIES['scheduler']}, {again}."
    )
