"""Rows of dask collections: the same sums as in memory, on threads and on a cluster that fails."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from plausible.engine import ArrayRows, DaskRows
from plausible.engine.placement import BLOCKS_IN_TASK
from support.dask_cluster import two_workers

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")
distributed = pytest.importorskip("distributed")
cloudpickle = pytest.importorskip("cloudpickle")

# The workers cannot import this file.
cloudpickle.register_pickle_by_value(sys.modules[__name__])

N_ROWS = 1000
CENTER = np.array([0.5, -1.0, 2.0])
CODES = {
    "some": lambda columns: (10 * columns[1]).astype(int) - 2,
    "a whole block": lambda columns: np.where(columns[2] < 400, -1, columns[2] % 3),
}


def moments(columns, center):
    X, weight = columns[:2]
    weight = np.ones(len(X)) if weight is None else weight
    return weight.sum(), weight @ (X - center), [(X.T * weight) @ X]


def close(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-10)


@pytest.fixture(scope="module")
def data():
    random = np.random.default_rng(0)
    return random.normal(size=(N_ROWS, 3)), random.uniform(size=N_ROWS), np.arange(N_ROWS)


@pytest.fixture(scope="module")
def client():
    with two_workers() as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture(params=["threads", "cluster"])
def scheduler(request):
    if request.param == "cluster":
        yield request.getfixturevalue("client")
    else:
        with dask.config.set(scheduler="threads"):
            yield None


def split(data, size=130):
    return [da.from_array(column, chunks=(size, *column.shape[1:])) for column in data]


def frame(X, n_partitions):
    return dd.from_pandas(pd.DataFrame(X, columns=list("abc")), npartitions=n_partitions)


def columns_cut_in_two(data):
    X, weight, number = data
    return da.from_array(X, chunks=(130, 2)), da.from_array(weight, chunks=130), number


def rows_cut_differently(data):
    X, weight, number = data
    return (
        da.from_array(X, chunks=(130, 3)),
        da.from_array(weight, chunks=77),
        da.from_array(number, chunks=N_ROWS),
    )


def data_frames(data):
    X, weight, number = data
    series = dd.from_pandas(pd.Series(weight), npartitions=5)
    return frame(X, 5), series, dd.from_pandas(pd.Series(number), npartitions=5)


def data_frame_and_arrays(data):
    X, weight, number = data
    return frame(X, 5), da.from_array(weight, chunks=77), number


def array_and_data_frame(data):
    X, weight, number = data
    return (
        da.from_array(X, chunks=(77, 3)),
        dd.from_pandas(pd.Series(weight), npartitions=5),
        number,
    )


def unknown_after_a_filter(data):
    X, weight, number = split(data)
    return X[weight >= 0], weight[weight >= 0], number


FORMS = [
    split,
    columns_cut_in_two,
    rows_cut_differently,
    data_frames,
    data_frame_and_arrays,
    array_and_data_frame,
    unknown_after_a_filter,
]


@pytest.mark.parametrize("make", FORMS)
def test_the_form_of_the_collections_does_not_matter(data, make):
    with dask.config.set(scheduler="threads"):
        close(
            DaskRows(*make(data)).reduce(moments, CENTER), ArrayRows(*data).reduce(moments, CENTER)
        )


@pytest.mark.parametrize("make", [split, data_frame_and_arrays])
def test_the_sum_is_that_of_rows_in_memory(data, scheduler, make):
    rows = DaskRows(*make(data))
    assert (rows._blocks.client is None) == (scheduler is None)
    expected = ArrayRows(*data).reduce(moments, CENTER)
    for _ in range(2):
        close(rows.reduce(moments, CENTER), expected)
    assert rows.n_rows == N_ROWS
    found = [np.concatenate(parts) for parts in zip(*rows.chunks(), strict=True)]
    for one, other in zip(found, data, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.usefixtures("scheduler")
def test_a_column_that_is_not_there_and_labels_that_are_words(data):
    words = np.where(data[1] < 0.5, "no", "yes")
    series = dd.from_pandas(pd.Series(words), npartitions=5)
    rows = DaskRows(frame(data[0], 5), None, series)
    assert rows.reduce(lambda columns: (columns[2] == "no").sum()) == (data[1] < 0.5).sum()
    close(rows.reduce(moments, CENTER), ArrayRows(data[0], None).reduce(moments, CENTER))
    assert rows.sample(4, np.random.RandomState(0))[1] is None


@pytest.mark.parametrize("code", CODES.values(), ids=CODES)
@pytest.mark.usefixtures("scheduler")
def test_steps_are_those_of_rows_in_memory(data, code):
    def shift(columns):
        X, weight, number = columns
        assert len(X)  # an empty block has nothing to be mapped
        return X[:, :2] - weight[:, None], weight, number

    rows, memory = DaskRows(*split(data)), ArrayRows(*data)
    rows, memory = rows.arrange(code).map(shift), memory.arrange(code).map(shift)
    assert rows.n_rows == memory.n_rows < N_ROWS
    close(rows.reduce(moments, CENTER[:2]), memory.reduce(moments, CENTER[:2]))
    found = sorted(row for columns in rows.chunks() for row in columns[0].tolist())
    assert found == sorted(row for columns in memory.chunks() for row in columns[0].tolist())
    assert rows.sample(5, np.random.RandomState(0))[0].shape == (5, 2)


def test_steps_are_taken_once_for_each_block_and_not_before_they_are_needed(data):
    seen = []

    def noted(name):
        def step(columns):
            seen.append((name, len(columns[0])))
            return (columns[0] + 1.0, *columns[1:])

        return step

    whole = [("first", 250)] * 4
    with dask.config.set(scheduler="synchronous"):
        start = DaskRows(*split(data, 250))
        rows = start.map(noted("first"))
        rows.map(noted("second")).peek()
        assert seen == [("first", 250), ("second", 250)]  # the rows of one block
        seen.clear()
        begun = rows.made()
        assert seen == whole
        (one, other) = (begun.map(noted(name)) for name in ("one", "other"))
        for _ in range(2):
            close(
                one.reduce(moments, CENTER),
                ArrayRows(data[0] + 2.0, data[1]).reduce(moments, CENTER),
            )
        other.peek(), other.peek()
        assert seen == [*whole, *[("one", 250)] * 4, ("other", 250)]


@pytest.mark.usefixtures("scheduler")
def test_coarser_rows_are_summed_in_longer_chunks():
    X = np.arange(350_000.0)
    rows = DaskRows(da.from_array(X, chunks=350_000))
    both = rows, rows.coarser(3)
    (n_chunks, total), (n_longer, same) = (
        some.reduce(lambda columns: np.array([1.0, columns[0].sum()])) for some in both
    )
    assert (n_chunks, n_longer) == (8, 4)
    assert total == same == X.sum()


def test_columns_that_begin_anywhere_in_memory_are_aligned(data):
    raw = np.zeros(8 * N_ROWS + 1, np.uint8)
    odd = raw[1:].view(np.float64)
    odd[:] = data[1]
    assert not odd.flags.aligned
    parts = [dask.delayed(lambda: (odd, None))()]
    with dask.config.set(scheduler="threads"):
        rows = DaskRows.from_parts(parts, [N_ROWS])
        assert next(rows.chunks())[0].flags.aligned
        assert rows.reduce(lambda c: c[0].sum()) == pytest.approx(data[1].sum())


def test_arrange_puts_like_beside_like_in_each_block(data):
    code = CODES["some"]
    for columns in DaskRows(*split(data)).arrange(code).chunks():
        codes = code(columns)
        assert codes.min() >= 0
        assert (np.diff(codes) >= 0).all()
        assert len(set(codes.tolist())) > 1


@pytest.mark.parametrize("n_rows", [0, 30, 2 * N_ROWS])
@pytest.mark.usefixtures("scheduler")
def test_a_sample_is_that_of_rows_in_memory(data, n_rows):
    found = DaskRows(*split(data)).sample(n_rows, np.random.RandomState(3))
    expected = ArrayRows(*data).sample(n_rows, np.random.RandomState(3))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("n_rows", [7, 5000])
def test_a_sample_among_some_rows_is_that_of_rows_that_were_arranged(data, scheduler, code, n_rows):
    rows, random = DaskRows(*split(data)), np.random.RandomState
    arranged = rows.arrange(CODES[code])
    found = rows.sample_among(CODES[code], arranged.n_rows, n_rows, random(3))
    expected = arranged.sample(n_rows, random(3))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
    assert len(found[0]) == min(n_rows, int((CODES[code](data) >= 0).sum()))


@pytest.mark.usefixtures("scheduler")
def test_when_all_rows_are_left_out(data):
    rows = DaskRows(*split(data)).arrange(lambda columns: np.full(len(columns[0]), -1))
    assert rows.n_rows == 0
    assert list(rows.chunks()) == []
    with pytest.raises(ValueError, match="at least one row, but the rows are empty"):
        rows.reduce(moments, CENTER)


@pytest.mark.usefixtures("scheduler")
def test_an_error_of_a_summary_has_its_own_type(data):
    def fail(columns):
        raise FloatingPointError("row 12")

    rows = DaskRows(*split(data))
    with pytest.raises(FloatingPointError, match="row 12"):
        rows.reduce(fail)
    close(rows.reduce(moments, CENTER), ArrayRows(*data).reduce(moments, CENTER))


@pytest.mark.usefixtures("scheduler")
def test_rows_are_computed_once_unless_asked_otherwise(data, tmp_path):
    for persist, expected in [(True, 4), (False, 12)]:
        path = tmp_path / str(persist)

        def counted(block, path=path):
            with open(path, "a") as file:
                file.write("x")
            return block

        X = da.from_array(data[0], chunks=(250, 3)).map_blocks(counted, meta=np.empty((0, 3)))
        rows = DaskRows(X, None, persist=persist)
        for _ in range(3):
            close(rows.reduce(moments, CENTER), ArrayRows(data[0], None).reduce(moments, CENTER))
        assert len(path.read_text()) == expected


def test_few_tasks_each_where_its_blocks_lie(data, client):
    rows = DaskRows(*split(data, 25))  # 40 blocks
    for _ in range(5):  # a busy machine may give a task to another worker
        rows.reduce(moments, CENTER)
        groups = rows._blocks._groups or rows._blocks._group(rows._blocks._futures)
        assert sorted(number for _, numbers in groups for number in numbers) == list(range(40))
        assert max(len(numbers) for _, numbers in groups) <= BLOCKS_IN_TASK
        assert len(groups) <= 5
        holders = client.who_has(rows._blocks._futures)
        at_home = [
            address in holders[rows._blocks._futures[number].key]
            for address, numbers in groups
            for number in numbers
        ]
        if all(at_home):
            break
    assert all(at_home)


def moments_slow_at(columns, center, address):
    """Moments that take their time at one of the workers."""
    if distributed.get_worker().address == address:
        time.sleep(0.03)
    return moments(columns, center)


def test_a_slow_worker_is_waited_for(data, client):
    slow = min(client.nthreads())
    found = DaskRows(*split(data)).reduce(moments_slow_at, CENTER, slow)
    close(found, ArrayRows(*data).reduce(moments, CENTER))


def kill(client, address):
    os.kill(client.run(os.getpid, workers=[address])[address], signal.SIGKILL)


def third_of(columns):
    return columns[2] % 3 - 1


def test_rows_that_are_not_kept_are_made_with_each_sum(data):
    seen = []

    def doubled(columns):
        seen.append(len(columns[0]))
        return (columns[0] * 2.0, *columns[1:])

    with dask.config.set(scheduler="synchronous"):
        rows = DaskRows(*split(data, 250)).map(doubled).arrange(third_of)
        chosen = data[2] % 3 > 0
        expected = ArrayRows(2.0 * data[0][chosen], data[1][chosen]).reduce(moments, CENTER)
        unkept = rows.unkept()
        for n_sums in (1, 2):
            close(unkept.reduce(moments, CENTER), expected)
            assert seen == [250] * 4 * n_sums
        rows.made()
        seen.clear()
        close(rows.unkept().reduce(moments, CENTER), expected)
        assert not seen  # what was made before is used


def test_a_worker_that_is_killed_between_passes_costs_time_only(data, client):
    rows = DaskRows(*split(data)).map(lambda columns: (columns[0] * 2, *columns[1:]))
    expected = ArrayRows(2 * data[0], *data[1:]).reduce(moments, CENTER)
    close(rows.reduce(moments, CENTER), expected)
    dead = rows._blocks._groups[0][0]
    kill(client, dead)
    for _ in range(3):
        close(rows.reduce(moments, CENTER), expected)
    assert dead not in {address for address, _ in rows._blocks._groups}
    client.wait_for_workers(2, timeout=30)


def test_all_workers_may_be_killed(data, client):
    rows = DaskRows(*split(data))
    expected = ArrayRows(*data).reduce(moments, CENTER)
    close(rows.reduce(moments, CENTER), expected)
    for pid in client.run(os.getpid).values():
        os.kill(pid, signal.SIGKILL)
    for _ in range(2):
        rows._blocks._groups = []  # look for the blocks while there are no workers
        close(rows.reduce(moments, CENTER), expected)
    client.wait_for_workers(2, timeout=30)


def killed_once(columns, center, path):
    """A summary in which the worker that comes to row 500 first is killed."""
    if 500 in columns[2]:
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            pass
        else:
            os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(60)
    return moments(columns, center)


@pytest.mark.long
def test_a_worker_that_is_killed_during_a_pass_costs_time_only(data, client, tmp_path):
    rows = DaskRows(*split(data))
    path = str(tmp_path / "killed")
    expected = ArrayRows(*data).reduce(moments, CENTER)
    close(rows.reduce(killed_once, CENTER, path), expected)
    assert os.path.exists(path)
    close(rows.reduce(killed_once, CENTER, path), expected)
    client.wait_for_workers(2, timeout=30)


def test_blocks_that_do_not_fit(data):
    X, weight, _ = data
    with pytest.raises(ValueError, match=r"one length, but have \[1000, 999\] rows"):
        DaskRows(da.from_array(X, chunks=(100, 3)), da.from_array(weight[1:], chunks=100))
    shifted = da.from_array(weight, chunks=((99, 101, 800),))
    expected = r"Block \d should .* they have \[(334, 99|333, 101|333, 800)\] rows"
    with dask.config.set(scheduler="threads"), pytest.raises(ValueError, match=expected):
        DaskRows(frame(X, 3), shifted[shifted >= 0]).reduce(moments, CENTER)


def test_no_dask_collection(data):
    with pytest.raises(TypeError, match=r"but they are \['ndarray', 'NoneType'\]; use ArrayRows"):
        DaskRows(data[0], None)


def test_dask_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "dask", None)
    with pytest.raises(ImportError, match=r'pip install "plausible\[dask\]"'):
        DaskRows(np.ones(3))


def test_importing_the_engine_loads_neither_dask_nor_pyarrow():
    code = """
import sys, plausible.engine
loaded = [name for name in ("dask", "distributed", "pyarrow", "pandas") if name in sys.modules]
assert not loaded, loaded
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_long_sums_are_added_up_where_their_blocks_lie(data, client, monkeypatch):
    monkeypatch.setattr("plausible.engine.distributed.LONG_SUMS", 0)
    X, weight, number = data
    sizes = (100, 0, 250, 250, 1, 199, 200)  # an empty block, too
    rows = DaskRows(*(da.from_array(c, chunks=(sizes, *c.shape[1:])) for c in (X, weight, number)))
    each, came = rows._blocks.each, []

    def counted(*given):
        found = each(*given)
        came.append(sum(part is not None for part in found))
        return found

    monkeypatch.setattr(rows._blocks, "each", counted)
    expected = ArrayRows(X, weight).reduce(moments, CENTER)
    for _ in range(2):  # only after the first pass it is known how long they are
        close(rows.reduce(moments, CENTER), expected)
    assert came == [len(sizes) - 1, 2]
    close(rows.map(lambda columns: columns).reduce(moments, CENTER), expected)


def read_some(start, stop, marks):
    marks.append(start)
    random = np.random.default_rng(start)
    return random.normal(size=(stop - start, 3)), random.uniform(size=stop - start), None


@pytest.mark.parametrize("persist", [True, False])
def test_parts_are_read_once_a_pass_and_keep_their_lengths(persist):
    marks, bounds = [], [(0, 400), (400, 400), (400, 1000)]
    read = dask.delayed(read_some, pure=True)
    parts = [read(start, stop, dask.delayed(marks, traverse=False)) for start, stop in bounds]
    with dask.config.set(scheduler="synchronous"):
        rows = DaskRows.from_parts(parts, [stop - start for start, stop in bounds], persist=persist)
        mapped = rows.map(lambda columns: (columns[0] + 1.0, *columns[1:]))
        assert mapped.n_rows == rows.n_rows == 1000
        before = len(marks)
        found = mapped.reduce(moments, CENTER)
        assert len(marks) - before == (0 if persist else 3)
        X, weight = (
            np.concatenate(column)
            for column in zip(*(read_some(*one, [])[:2] for one in bounds), strict=True)
        )
        close(found, ArrayRows(X + 1.0, weight).reduce(moments, CENTER))
        kept = mapped.arrange(lambda columns: np.where(columns[1] < 0.5, 0, -1))
        assert kept.n_rows == (weight < 0.5).sum()
        with pytest.raises(ValueError, match="Part 1 should have the 7 rows"):
            DaskRows.from_parts(parts, [400, 7, 600], persist=False).reduce(moments, CENTER)
