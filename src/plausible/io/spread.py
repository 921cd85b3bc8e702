"""Rows of a table on the workers of a cluster: each reads its own part of the file.

The workers have to see the file under the same path. A worker that dies costs time only: its parts
are read again by another.
"""

import itertools
from dataclasses import replace
from typing import Any

import numpy as np

from plausible.engine import ClusterLostError, Rows
from plausible.io.streamed import Reader

PARTS_PER_WORKER = 4
PART_BYTES = 1 << 26  # of one part; a worker holds some of them while it computes
PROGRAM_BYTES = 400e6  # that a worker takes before it holds any row
SHARE_OF_MEMORY = 0.25  # of the rest, up to which rows are kept there: maps of them are as well


def spread_rows(reader: Reader, client: Any) -> Rows:
    """Rows on the workers of a client's cluster."""
    import dask

    from plausible.engine import DaskRows

    lazy: Any = dask  # which has no types
    workers = client.scheduler_info(n_workers=-1)["workers"]
    shared = sent(client, _without_table(reader))
    first = next(reader.chunks(0, min(reader.n_rows, 1)))[0]
    n_bytes = first.shape[1] * first.dtype.itemsize + reader.labels.n_classes * 8 + 1
    whole = reader.n_rows * n_bytes
    n_parts = max(len(workers) * PARTS_PER_WORKER, -(-whole // PART_BYTES), 1)
    bounds = np.unique(np.linspace(0, reader.n_rows, n_parts + 1).astype(np.int64)).tolist()
    read = lazy.delayed(read_part, pure=True)
    parts = [read(shared, start, stop) for start, stop in itertools.pairwise(bounds)]
    lengths = np.diff(bounds).tolist()
    rows = DaskRows.from_parts(parts, lengths, persist=fits(whole, workers))
    rows.classes, rows.feature_names = reader.classes, reader.feature_names
    return rows


def sent(client: Any, what: Any) -> Any:
    """Something that every worker will hold."""
    try:
        return client.scatter(what, broadcast=True)
    except TimeoutError as error:  # which says "No valid workers found"
        raise ClusterLostError(
            f"The scheduler at {client.scheduler.address} should have workers that take work, but "
            "has none, or all are paused, short of memory",
            "workers",
            "Start workers, larger ones if these ran out of memory",
        ) from error


def fits(n_bytes: int, workers: dict[str, Any]) -> bool:
    """Whether rows of this size can be kept by the workers; else each pass reads them again.

    Dask writes to disk from 60 % of a worker's memory on, which takes longer than to read again.
    """
    limits = [worker.get("memory_limit") or np.inf for worker in workers.values()]
    room = sum(max(limit - PROGRAM_BYTES, 0.0) for limit in limits)
    return bool(n_bytes <= SHARE_OF_MEMORY * room) if limits else True


def _without_table(reader: Reader) -> Reader:
    """The reader, which opens the table again where it comes to."""
    return replace(reader, opened=[])


def read_part(reader: Reader, start: int, stop: int) -> tuple[Any, Any, None, Any]:
    """Features, plausibilities, no weights, and which labels are probabilities, of some rows."""
    parts = list(reader.chunks(start, stop))
    return (
        np.concatenate([part[0] for part in parts]),
        np.concatenate([part[1].contour for part in parts]),
        None,
        np.concatenate([part[1].is_probability for part in parts]),
    )
