"""Clusters of Dask, by their addresses."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

TIMEOUT = 10  # seconds to wait for a scheduler


def add_cluster(parser: argparse.ArgumentParser, what: str) -> None:
    """Where the work is done."""
    parser.add_argument(
        "--cluster", metavar="ADDRESS",
        help=f"scheduler of a Dask cluster whose workers {what}, such as tcp://10.0.0.1:8786",
    )  # fmt: skip


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
        raise ConnectionError(
            f"A Dask scheduler should answer at {address!r}, but none did within {TIMEOUT} seconds;"
            " start one with 'dask scheduler', and check the address that it prints."
        ) from error
    with client:
        yield client
