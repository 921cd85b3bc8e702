"""A Dask cluster of two processes whose workers may be killed."""

import contextlib
from collections.abc import Iterator
from typing import Any


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
