"""Work on long columns in several threads.

numpy and pyarrow let go of Python's lock while they compute, so that threads need not wait for one
another as long as each step is about many rows.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

N_THREADS = min(os.cpu_count() or 1, 4)  # more would mostly wait for Python's lock


def at_once(tasks: Sequence[Callable[[], Any]]) -> list[Any]:
    """Results of tasks, in their order; whichever thread is free takes the next one.

    Examples
    --------
    >>> at_once([lambda: 1 + 1, lambda: "a" * 3])
    [2, 'aaa']
    """
    if len(tasks) < 2 or N_THREADS < 2:
        return [task() for task in tasks]
    with ThreadPoolExecutor(min(len(tasks), N_THREADS)) as threads:
        return list(threads.map(lambda task: task(), tasks))
