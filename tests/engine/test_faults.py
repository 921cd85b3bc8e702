"""Fits on a cluster where something goes wrong: time is lost, nothing else."""

import contextlib
import os
import signal
import sys
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from plausible.engine import ClusterLostError, DaskRows
from plausible.engine.cluster import Watch
from plausible.io.spread import fits
from plausible.models import (
    DiscriminantClassifier,
    GaussianMixtureClassifier,
    PartialLogisticRegression,
)
from support.command import wait_until
from support.dask_cluster import Processes, quiet, two_workers

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
cloudpickle = pytest.importorskip("cloudpickle")

cloudpickle.register_pickle_by_value(sys.modules[__name__])

N_ITER = 10


@pytest.fixture(scope="module")
def data():
    random = np.random.default_rng(7)
    y = np.array([2, 0, 1])[random.integers(3, size=900)]
    X = random.normal(size=(len(y), 2)) + 1.5 * y[:, None] * [1, -1]
    plausibility = np.where(np.arange(3) == y[:, None], 1.0, random.uniform(0, 1, (len(y), 1)))
    plausibility[random.random(len(y)) < 0.2] = 1.0
    return X, plausibility, random.uniform(0.5, 2.0, len(y))


def cut(data, sizes):
    return [da.from_array(one, chunks=(sizes, *one.shape[1:])) for one in data]


def fitted(model, *data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(*data)


def mixture(**settings):
    return GaussianMixtureClassifier(tol=0.0, max_iter=N_ITER, accelerate=False, **settings)


def same(found, expected):
    assert found.n_iter_ == expected.n_iter_
    for name in ("weights_", "means_", "covariances_", "coef_", "intercept_"):
        if hasattr(expected, name):
            np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=1e-9)


MODELS = [
    mixture(),
    DiscriminantClassifier(tol=0.0, max_iter=N_ITER),
    # At its optimum, rounding decides which step is the last: it is stopped before.
    PartialLogisticRegression(max_iter=N_ITER // 2, tol=0.0, n_init=1, random_state=0),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_partitions_that_are_unequal_and_empty(data, model):
    with dask.config.set(scheduler="threads"):
        X, y, weight = cut(data, (1, 600, 3, 200, 96))
        gaps = da.from_array(np.isin(np.arange(900), np.arange(601, 604)), chunks=X.chunks[0])
        kept = [one[~gaps] for one in (X, y, weight)]  # the third is empty; no size is known
        found = fitted(model, *kept)
    left = np.r_[:601, 604:900]
    same(found, fitted(model.__class__(**model.get_params()), *(one[left] for one in data)))


@pytest.fixture(scope="module")
def client():
    with two_workers() as cluster, distributed.Client(cluster) as client:
        yield client


def test_tasks_that_are_forgotten_are_sent_again(client, monkeypatch):
    rows = DaskRows(da.from_array(np.arange(10.0), chunks=5))
    gather, lost = Watch.gather, []

    def lose_the_first(watch, futures):
        if not lost:
            lost.append(client.cancel(futures))
        return gather(watch, futures)

    monkeypatch.setattr(Watch, "gather", lose_the_first)
    assert rows.reduce(lambda columns: columns[0].sum()) == 45
    assert lost


def kill_one(client):
    """End one of the workers that are there; its nanny starts another."""
    with contextlib.suppress(OSError, IndexError, KeyError):
        address = sorted(client.nthreads())[0]
        os.kill(client.run(os.getpid, workers=[address])[address], signal.SIGKILL)


@pytest.mark.long
@pytest.mark.parametrize("persist", [True, False])
def test_several_workers_are_killed_in_the_middle_of_a_fit(data, client, persist):
    expected = fitted(mixture(), *data)
    killed = []

    def disturb(progress):
        if progress.iteration in (2, 5) and progress.iteration not in killed:
            killed.append(progress.iteration)
            kill_one(client)

    rows = DaskRows(*cut(data, 100), persist=persist)
    rows.classes = [0, 1, 2]
    found = fitted(mixture(callback=disturb), rows)
    assert killed == [2, 5]
    same(found, expected)
    client.wait_for_workers(2, timeout=60)


@pytest.mark.long
def test_a_scheduler_is_lost_and_another_cluster_goes_on(data, tmp_path):
    """The checkpoint of a fit whose scheduler has died is taken up by a cluster of another size."""
    path = tmp_path / "fit.npz"
    expected = fitted(mixture(), *data)
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    first = Processes(tmp_path / "first")
    second = Processes(tmp_path / "second")
    try:
        first.add_workers(2)
        second.add_workers(1)
        wait_until(first.file.exists, "a scheduler")
        with distributed.Client(scheduler_file=str(first.file)) as client, quiet():
            client.wait_for_workers(2, timeout=60)
            model = mixture(
                checkpoint=path,
                callback=lambda progress: (
                    progress.iteration == 4 and (first.kill(first.scheduler) or False)
                ),
            )
            with (
                dask.config.set({"plausible.timeout": "2 s"}),
                pytest.raises(ClusterLostError) as caught,
            ):
                model.fit(*cut(data, 100))
        assert caught.value.lost == "scheduler"
        assert caught.value.checkpoint == str(path)
        wait_until(second.file.exists, "a scheduler")
        with distributed.Client(scheduler_file=str(second.file)) as client:
            client.wait_for_workers(1, timeout=60)
            same(fitted(mixture(checkpoint=path), *cut(data, 250)), expected)
    finally:
        first.close()
        second.close()


def drawn(number):
    return np.random.default_rng(number).normal(size=(250_000, 8))


@pytest.mark.long
@pytest.mark.parametrize("persist", [True, False])
def test_workers_with_little_memory(persist):
    """480 MB of rows on two workers with 400 MB each: kept on their disks, or computed again."""
    blocks = [
        da.from_delayed(dask.delayed(drawn)(number), (250_000, 8), float) for number in range(30)
    ]
    expected = sum(drawn(number).sum(axis=0) for number in range(30))
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit="400 MB", host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
        ) as cluster,
        distributed.Client(cluster),
    ):  # fmt: skip
        rows = DaskRows(da.concatenate(blocks), persist=persist)
        for _ in range(2):
            found = rows.reduce(lambda columns: columns[0].sum(axis=0))
            np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_rows_are_kept_where_workers_have_room_for_them():
    gb = 10**9  # of which the program takes 0.4
    workers = {"a": {"memory_limit": gb}, "b": {"memory_limit": 3 * gb}, "c": {"memory_limit": 10}}
    assert fits(8 * gb // 10, workers)  # a quarter of 0.6 + 2.6 + 0
    assert not fits(8 * gb // 10 + 1, workers)
    assert fits(10**15, workers | {"d": {"memory_limit": 0}})  # no limit
    assert fits(1, {})
