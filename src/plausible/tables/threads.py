"""Work on long columns in several threads.

numpy and pyarrow let go of Python's lock while they compute, so that threads need not wait for one
another as long as each step is about many rows.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

MANY = 50_000  # rows from which threads are worth their start
N_THREADS = min(os.cpu_count() or 1, 4)  # more would mostly wait for Python's lock


def at_once(tasks: Sequence[Callable[[], Any]], n_rows: int) -> list[Any]:
    """Results of tasks on so many rows, in order; whichever thread is free takes the next one.

    Examples
    --------
    >>> at_once([lambda: 1 + 1, lambda: "a" * 3], n_rows=100_000)
    [2, 'aaa']
    """
    if len(tasks) < 2 or N_THREADS < 2 or n_rows < MANY:
        return [task() for task in tasks]
    with ThreadPoolExecutor(min(len(tasks), N_THREADS)) as threads:
        return list(threads.map(lambda task: task(), tasks))
