"""A cluster that is lost: an error that says what, and nothing of the fit is lost with it."""

import contextlib
import os
import pickle
import signal
import sys
import time
import warnings
from functools import partial

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from plausible.engine import ArrayRows, ClusterLostError, DaskRows
from plausible.engine.cluster import Watch
from plausible.engine.placement import BLOCKS_IN_TASK, room, spread
from plausible.models import GaussianMixtureClassifier
from support.command import wait_until
from support.dask_cluster import Processes, quiet

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
cloudpickle = pytest.importorskip("cloudpickle")

cloudpickle.register_pickle_by_value(sys.modules[__name__])

PATIENCE = 3.0  # seconds without any progress; heartbeats come twice a second
SHORT = 0.6  # where nobody is there to send any
BLOCK = 60


@pytest.fixture(scope="module")
def processes(tmp_path_factory):
    processes = Processes(tmp_path_factory.mktemp("cluster"))
    yield processes
    processes.close()


@pytest.fixture
def client(processes):
    """A client of two workers; those that a test has killed are replaced."""
    processes.bury()
    processes.add_workers(2 - len(processes.workers))
    wait_until(processes.file.exists, "a scheduler")
    client = distributed.Client(scheduler_file=str(processes.file), set_as_default=True)
    client.wait_for_workers(2, timeout=60)
    with quiet():
        yield client
        with warnings.catch_warnings(), contextlib.suppress(Exception):
            warnings.simplefilter("ignore")
            client.close(timeout=1)


@pytest.fixture
def data():
    random = np.random.default_rng(5)
    y = np.array([2, 0, 1])[random.integers(3, size=8 * BLOCK)]
    X = random.normal(size=(len(y), 2)) + 1.5 * y[:, None] * [1, -1]
    plausibility = np.where(np.arange(3) == y[:, None], 1.0, random.uniform(0, 1, (len(y), 1)))
    return X, plausibility, random.uniform(0.5, 2.0, len(y))


def spread_out(data):
    return [da.from_array(column, chunks=(BLOCK, *column.shape[1:])) for column in data]


def process_at(client, address):
    return client.run(os.getpid, workers=[address])[address]


@contextlib.contextmanager
def stopped(pid):
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def total(columns):
    return (columns[0] * columns[2][:, None]).sum(axis=0)


def slow_total(columns, seconds):
    time.sleep(seconds)
    return total(columns)


def make(**settings):
    return GaussianMixtureClassifier(tol=0.0, max_iter=12, **settings)


def fitted(model, *data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(*data)


@pytest.mark.long
def test_a_worker_that_is_busy_is_waited_for(client, data):
    rows = DaskRows(*spread_out(data), timeout=PATIENCE)
    busy = rows.reduce(slow_total, PATIENCE / 3)  # four blocks in turn in each task
    np.testing.assert_allclose(busy, ArrayRows(*data).reduce(total))


@pytest.mark.long
def test_a_stopped_worker_ends_the_fit_and_nothing_is_lost(client, data, tmp_path):
    path = tmp_path / "fit.npz"
    whole = fitted(make(), *spread_out(data))  # now the workers have imported all that they need
    addresses = sorted(client.nthreads())
    pids = [process_at(client, address) for address in addresses]
    model = make(checkpoint=path)
    with contextlib.ExitStack() as stack, dask.config.set({"plausible.timeout": f"{PATIENCE} s"}):
        model.callback = lambda progress: (
            progress.iteration == 4 and (stack.enter_context(stopped(pids[1])) and False)
        )
        with pytest.raises(ClusterLostError, match="none has computed anything") as caught:
            model.fit(*spread_out(data))
        told = str(caught.value)
    assert caught.value.lost == "progress"
    assert f"not heard from: {addresses[1]} for " in told
    assert addresses[0] not in told
    assert caught.value.checkpoint == str(path)
    assert f"checkpoint={str(path)!r}, where iteration {caught.value.iteration} is kept" in told
    assert caught.value.iteration == 4
    kept = path.read_bytes()
    for X, y, weight in (data, spread_out(data)):  # in memory, and on a cluster that runs again
        path.write_bytes(kept)
        resumed = fitted(make(checkpoint=path), X, y, weight)
        assert resumed.n_iter_ == whole.n_iter_ == 12
        np.testing.assert_allclose(resumed.history_, whole.history_, rtol=1e-9)
        np.testing.assert_allclose(resumed.means_, whole.means_, rtol=1e-6)


@pytest.mark.long
def test_all_workers_are_gone_for_good(client, data, processes):
    rows = DaskRows(*spread_out(data))
    rows.reduce(total)
    rows._blocks.watch.timeout = SHORT
    processes.kill(*processes.workers)
    for groups in (rows._blocks._groups, []):
        rows._blocks._groups = groups  # also while blocks are looked for
        with pytest.raises(
            ClusterLostError, match="have workers, but had none for 0.6 s"
        ) as caught:
            rows.reduce(total)
        assert caught.value.lost == "workers"
    again = partial(DaskRows, *spread_out(data), persist=False, timeout=SHORT)
    for call in (rows.peek, lambda: again().n_rows):
        with pytest.raises(ClusterLostError, match="Start workers"):
            call()
    processes.add_workers(1)
    rows._blocks.watch.timeout = 60.0
    np.testing.assert_allclose(rows.reduce(total), ArrayRows(*data).reduce(total))


def test_rows_that_were_released_on_the_cluster(client, data):
    rows = DaskRows(*spread_out(data), timeout=PATIENCE)
    rows.reduce(total)
    client.cancel(rows._blocks._futures, force=True)
    with pytest.raises(ClusterLostError, match="were released there") as caught:
        rows.reduce(total)
    assert caught.value.lost == "rows"


def end_of_the_process(columns):
    os._exit(1)


def test_workers_that_die_of_a_task(client, data, processes):
    rows = DaskRows(*spread_out(column[:BLOCK] for column in data), timeout=5 * PATIENCE)
    rows.reduce(total)
    size = r"0.00288 MB of rows in 1 blocks of up to 0.00288 MB, on workers with .* [MG]B each"
    expected = rf"2 were killed one after another at the same task, .* \({size}\)"
    with pytest.raises(ClusterLostError, match=expected) as caught:
        rows.reduce(end_of_the_process)
    for worker in processes.workers:
        worker.wait()
    assert caught.value.lost == "memory"
    assert "smaller chunks, or stream the rows from files by StreamRows" in str(caught.value)


def test_the_scheduler_is_stopped_and_dies(client, data, processes):
    rows = DaskRows(*spread_out(data))
    rows.reduce(total)
    rows._blocks.watch.timeout = SHORT
    with stopped(processes.scheduler.pid):
        with pytest.raises(ClusterLostError, match="answer, but it was silent for 0.6 s") as caught:
            rows.reduce(total)
        assert caught.value.lost == "scheduler"
    processes.kill(processes.scheduler)
    for call in (partial(rows.reduce, total), rows.peek, partial(DaskRows, *spread_out(data))):
        with pytest.raises(ClusterLostError, match="the connection is lost") as caught:
            call()
    assert pickle.loads(pickle.dumps(caught.value)).lost == "scheduler"


class Paused:
    """A client of workers that say that they live, but compute nothing."""

    status = "running"

    def __init__(self, status):
        self.scheduler = self
        self.address, self.state = "tcp://here", status

    def identity(self):
        worker = {"last_seen": time.time(), "memory_limit": 230e6, "status": self.state}
        return {"workers": {"tcp://one": worker | {"metrics": {"task_counts": {"waiting": 3}}}}}

    def sync(self, call, callback_timeout):
        return call()


def test_workers_that_are_paused():
    watch = Watch(Paused("paused"), 0.2, "384 MB of rows in 48 blocks of up to 8 MB")
    expected = r"one paused, short of memory \(384 MB of rows in 48 .* workers with 230 MB each\)"
    with pytest.raises(ClusterLostError, match=expected) as caught:
        watch.ask(time.sleep, 2)
    assert caught.value.lost == "memory"
    with pytest.raises(ClusterLostError, match=r"\(1 worker; all still answer\)") as caught:
        Watch(Paused("running"), 0.2).ask(time.sleep, 2)
    assert caught.value.lost == "progress"


@pytest.mark.parametrize("timeout", [0, -1, "soon", float("nan"), [3]])
def test_a_timeout_that_is_none(data, timeout):
    with pytest.raises(ValueError, match="positive number of seconds, or a time like '5 minutes'"):
        DaskRows(*spread_out(data), timeout=timeout)


def test_the_timeout_comes_from_the_environment(data):
    given = dask.config.collect_env({"DASK_PLAUSIBLE__TIMEOUT": "3 minutes"})
    with dask.config.set(given, scheduler="threads"):
        assert DaskRows(*spread_out(data))._blocks.watch.timeout == 180
        assert DaskRows(*spread_out(data), timeout=7)._blocks.watch.timeout == 7
    with dask.config.set(scheduler="threads"):
        assert DaskRows(*spread_out(data))._blocks.watch.timeout == 600


# Where blocks are summed.


def test_each_block_is_in_one_task_that_fits_the_memory():
    random = np.random.default_rng(1)
    for _ in range(50):
        threads = {name: int(random.integers(1, 4)) for name in "abc"[: random.integers(1, 4)]}
        rooms = {name: float(random.uniform(20, 200)) for name in threads}
        sizes = random.integers(1, 20, size=random.integers(1, 90)).tolist()
        names = [*threads, "gone"]
        holders = [[names[random.integers(len(names))]] for _ in sizes]
        groups = spread(holders, sizes, threads, rooms)
        assert sorted(number for _, numbers in groups for number in numbers) == list(
            range(len(sizes))
        )
        for address, numbers in groups:
            assert 0 < len(numbers) <= BLOCKS_IN_TASK
            # The parts have nearly equal numbers of blocks, not of bytes.
            at_once = threads[address] * sum(sizes[number] for number in numbers)
            assert len(numbers) == 1 or at_once <= 3 * rooms[address] + 20 * threads[address]
    assert room({"memory_limit": 0}) == float("inf")


def test_less_room_makes_smaller_tasks():
    holders, sizes = [["a"]] * 12, [10] * 12
    lengths = [max(len(numbers) for _, numbers in spread(holders, sizes, {"a": 1}, {"a": space}))
               for space in (float("inf"), 60.0, 20.0, 5.0, -3.0)]  # fmt: skip
    assert lengths == [12, 6, 2, 1, 1]
