"""Blocks of rows in the memory of a cluster: what runs where they lie, and in how many tasks."""

import pickle
import sys
from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

from plausible.engine.alignment import import_dask
from plausible.engine.allocation import memory_kept
from plausible.engine.cluster import ClusterLostError, Watch
from plausible.engine.placement import room, spread
from plausible.engine.rows import Columns
from plausible.engine.sums import total
from plausible.engine.threads import one_blas_thread


def active_client() -> Any:
    """The client of the cluster that dask uses at present, or None."""
    chosen = import_dask().config.get("scheduler", None)
    distributed = sys.modules.get("distributed")
    if distributed is None or chosen not in (None, "dask.distributed", "distributed"):
        return None
    try:
        return distributed.default_client()
    except ValueError:
        return None


def _apply(function: Callable[..., Any], own: list[Any], *blocks: Columns) -> list[Any]:
    with one_blas_thread(), memory_kept():
        return [function(columns, *args) for columns, args in zip(blocks, own, strict=True)]


def pack(function: Callable[..., Any], own: list[Any]) -> Any:
    """A call of `_apply` as one object, in which dask does not look for collections.

    For a cluster it is pickled here, also by value where need be, and unpickled by the task: so
    what a worker cannot import is an error of that task.
    """
    call = partial(_apply, function, own)
    if active_client() is None:
        return call
    import cloudpickle

    return cloudpickle.dumps(call)


def _unpack(call: Any) -> Callable[..., list[Any]]:
    return pickle.loads(call) if isinstance(call, bytes) else call


def _apply_to_one(call: Any, block: Columns) -> Any:
    return _unpack(call)(block)[0]


def _apply_to_many(call: Any, add_up: bool, *blocks: Columns) -> tuple[str, list[Any]]:
    """Where this task runs, and what it finds for its blocks; one sum, and None for the others."""
    from distributed import get_worker

    found = _unpack(call)(*blocks)
    there = [one for one in found if one is not None]
    if add_up and there:
        found = [total(there)] + [None] * (len(found) - 1)
    return get_worker().address, found


def _task_at(address: str, *arguments: Any) -> Any:
    """A delayed call of `_apply_to_many` at a worker, or at another if that one is lost."""
    dask = import_dask()
    with dask.annotate(workers=[address], allow_other_workers=True):
        return dask.delayed(_apply_to_many, pure=False)(*arguments)


class Blocks:
    """Blocks of columns, kept in the memory of the cluster, or of this process if there is none."""

    def __init__(self, delayed: list[Any], persist: bool, watch: Watch) -> None:
        self.watch, self.client, self.persist = watch, watch.client, persist
        with watch.explained():
            self.delayed = list(import_dask().persist(*delayed)) if persist else delayed
        self._groups: list[tuple[str, list[int]]] = []
        self._last: list[Any] = []  # tasks of the last pass, whose results are known

    def derive(self, function: Callable[..., Columns], argument: Any) -> "Blocks":
        """Blocks whose columns are a function of these."""
        apply, call = self.delayed_apply(), pack(function, [(argument,)])
        derived = [apply(call, block) for block in self.delayed]
        return Blocks(derived, self.persist, self.watch)

    def each(
        self, function: Callable[..., Any], own: list[Any] | None = None, add_up: bool = False
    ) -> list[Any]:
        """``function(columns, *arguments)`` for each block, in the order of blocks.

        `own` holds a tuple of arguments for each block. With `add_up`, results that are not None
        may come as sums over several blocks, in the place of one of them.
        """
        own = [()] * len(self.delayed) if own is None else own
        if self.client is not None and self.persist:
            return self._each_there(function, own, add_up)
        apply = self.delayed_apply()
        tasks = [
            apply(pack(function, [arguments]), block)
            for block, arguments in zip(self.delayed, own, strict=True)
        ]
        return self.compute(tasks)

    def compute(self, tasks: list[Any]) -> list[Any]:
        """What delayed tasks give, on the cluster if there is one."""
        if self.client is None:
            with one_blas_thread():
                return list(import_dask().compute(*tasks))
        with self.watch.explained():
            futures = self.client.compute(tasks)
        return self.watch.gather(futures)

    def delayed_apply(self) -> Any:
        """A function of a packed call and a block, delayed."""
        return import_dask().delayed(_apply_to_one, pure=False)

    def _each_there(self, function: Callable[..., Any], own: list[Any], add_up: bool) -> list[Any]:
        """The same on a cluster; sent once more where the tasks were lost, but not their blocks."""
        try:
            return self._send(function, own, add_up)
        except ClusterLostError as error:
            # Dask may forget tasks that it is given in the moment in which a worker is lost.
            if error.lost != "rows" or any(future.cancelled() for future in self._futures):
                raise
        self._groups = []
        return self._send(function, own, add_up)

    def _send(self, function: Callable[..., Any], own: list[Any], add_up: bool) -> list[Any]:
        """What few tasks find, each for several blocks that lie together."""
        futures = self._futures
        groups = self._groups or self._group(futures)
        with self.watch.explained():
            tasks = self.client.compute(  # in one message for all workers
                [
                    _task_at(
                        address,
                        pack(function, [own[number] for number in numbers]),
                        add_up,
                        *(futures[number] for number in numbers),
                    )
                    for address, numbers in groups
                ]
            )
            # To release them takes a message, behind which that of new tasks would wait for 10 ms.
            self._last = tasks
        results: list[Any] = [None] * len(futures)
        moved = False
        for (address, numbers), (found_at, found) in zip(
            groups, self.watch.gather(tasks), strict=True
        ):
            moved |= found_at != address
            for number, result in zip(numbers, found, strict=True):
                results[number] = result
        # After a worker was lost, its blocks lie elsewhere.
        self._groups = [] if moved else groups
        return results

    @cached_property
    def _futures(self) -> list[Any]:
        futures_of: Any = sys.modules["distributed"].futures_of
        return [futures_of(block)[0] for block in self.delayed]

    def _group(self, futures: list[Any]) -> list[tuple[str, list[int]]]:
        """Which blocks are summed in one task, and at which worker."""
        ask, keys = self.watch.ask, [future.key for future in futures]
        ask(sys.modules["distributed"].wait, futures, futures=futures)
        # All may have been lost at the same time, and are being started again.
        ask(self.client.wait_for_workers, 1)
        workers = self.watch.see_workers()
        holders, sizes = ask(self.client.who_has, futures), ask(self.client.nbytes, keys, False)
        return spread(
            [list(holders.get(key, ())) for key in keys],
            [max(sizes[key], 0) for key in keys],
            {address: worker["nthreads"] for address, worker in workers.items()},
            {address: room(worker) for address, worker in workers.items()},
        )
