"""Which blocks of rows are summed in one task, and at which worker of a cluster."""

import math
from typing import Any

import numpy as np

# A task costs the scheduler some milliseconds, however small; but all blocks of a task must be in
# the memory of its worker at once.
BLOCKS_IN_TASK = 16
FILL = 0.6  # of a worker's memory limit: beyond, dask writes rows to disk


def spread(
    holders: list[list[str]], sizes: list[int], threads: dict[str, int], rooms: dict[str, float]
) -> list[tuple[str, list[int]]]:
    """Which blocks are summed in one task, and at which worker.

    Parameters
    ----------
    holders, sizes : workers that hold a block, and its bytes; for each block
    threads, rooms : threads of a worker, and bytes that its tasks may take at once
    """
    at: dict[str, list[int]] = {address: [] for address in threads}
    fair = -(-len(holders) // sum(threads.values()))  # blocks for each thread

    def load(address: str) -> float:
        return len(at[address]) / threads[address]

    for number, held in enumerate(holders):
        chosen = min([address for address in held if address in at] or at, key=load)
        # A block is copied once to a worker that has less to do: every pass gains from it.
        at[chosen if load(chosen) < fair else min(at, key=load)].append(number)
    groups = []
    for address, numbers in at.items():
        needed = threads[address] * sum(sizes[number] for number in numbers)
        by_memory = math.ceil(needed / max(rooms[address], 1.0))
        n_tasks = max(threads[address], -(-len(numbers) // BLOCKS_IN_TASK), by_memory)
        parts = np.array_split(np.array(numbers, dtype=int), min(n_tasks, len(numbers)) or 1)
        groups += [(address, part.tolist()) for part in parts if len(part)]
    return groups


def room(worker: dict[str, Any]) -> float:
    """Bytes of rows that the tasks of a worker may take at once."""
    metrics, limit = worker.get("metrics", {}), worker.get("memory_limit")
    if not limit:
        return math.inf
    on_disk = metrics.get("spilled_bytes", {}).get("memory", 0)
    rows = metrics.get("managed_bytes", 0) - on_disk
    # Half, as work on rows takes as much as the rows.
    return (FILL * limit - (metrics.get("memory", 0) - rows)) / 2
