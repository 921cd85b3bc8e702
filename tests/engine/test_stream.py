"""Rows that are read again at each pass: the same sums as in memory, and no thread left behind."""

import itertools
import os
import signal
import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from plausible.engine import ArrayRows, StreamRows
from plausible.engine import stream as module

N_ROWS = 5000
CENTER = np.array([0.5, -1.0, 2.0])


def moments(columns, center):
    X, weight = columns
    return weight.sum(), weight @ (X - center), [(X.T * weight) @ X]


def close(found, expected, rtol=1e-10):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=rtol, atol=1e-10)


@pytest.fixture
def data():
    random = np.random.default_rng(0)
    return random.normal(size=(N_ROWS, 3)), random.uniform(size=N_ROWS)


@pytest.fixture(params=[1, 3])
def n_threads(request):
    with threadpool_limits(request.param, "blas"):
        yield request.param


@pytest.fixture(autouse=True)
def no_thread_is_left_behind():
    before = set(threading.enumerate())
    yield
    assert set(threading.enumerate()) <= before


@pytest.fixture
def small_pieces(monkeypatch):
    """Pieces and tasks of a few rows, so that every chunk is cut."""
    monkeypatch.setattr(module, "LEAST_ROWS", 7)
    monkeypatch.setattr(module, "PIECE_BYTES", 400)
    monkeypatch.setattr(module, "TASK_BYTES", 3000)


def cut(columns, size):
    return [tuple(column[i : i + size] for column in columns) for i in range(0, N_ROWS, size)]


@pytest.mark.parametrize("size", [170, 1000, N_ROWS - 1, N_ROWS])
@pytest.mark.usefixtures("n_threads", "small_pieces")
def test_the_sum_is_that_of_rows_in_memory(data, size):
    rows = StreamRows(cut(data, size))
    expected = ArrayRows(*data, chunk_rows=N_ROWS).reduce(moments, CENTER)
    for _ in range(2):
        close(rows.reduce(moments, CENTER), expected)
    np.testing.assert_array_equal(np.concatenate([X for X, _ in rows.chunks()]), data[0])


@pytest.mark.usefixtures("small_pieces")
def test_the_same_bits_on_any_number_of_threads(data):
    rows, found = StreamRows(cut(data, 170)), []
    for n_threads in (1, 2, 5):
        with threadpool_limits(n_threads, "blas"):
            found.append(rows.reduce(moments, CENTER))
    for other in found[1:]:
        close(other, found[0], rtol=0)
        assert other[0] == found[0][0]


@pytest.mark.parametrize(
    "make",
    [list, tuple, lambda chunks: lambda: iter(chunks), lambda chunks: lambda: chunks],
    ids=["list", "tuple", "function", "function that returns a list"],
)
def test_what_may_be_a_source(data, make):
    rows = StreamRows(make(cut(data, 1000)))
    assert rows.n_rows == N_ROWS
    assert rows.reduce(lambda columns: len(columns[0])) == N_ROWS


def test_chunks_of_one_array_of_lists_and_of_no_rows():
    rows = StreamRows([np.zeros(0), [[1, 2]], np.array([3.0]), (np.array([4]),), np.zeros(0)])
    assert rows.reduce(lambda columns: columns[0].sum()) == 10
    assert rows.n_rows == 4
    assert [columns[0].tolist() for columns in rows.chunks()] == [[1, 2], [3], [4]]


class Counted:
    """A source that counts how often it was read."""

    def __init__(self, chunks):
        self.chunks, self.passes = chunks, 0

    def __iter__(self):
        self.passes += 1
        return iter(self.chunks)


def test_rows_are_counted_once_and_by_any_pass(data):
    source = Counted(cut(data, 1000))
    rows = StreamRows(source)
    assert [rows.n_rows, rows.n_rows] == [N_ROWS, N_ROWS]
    assert source.passes == 1
    kept = rows.arrange(lambda columns: np.where(columns[1] < 0.5, -1, 0))
    expected = int((data[1] >= 0.5).sum())
    assert kept.reduce(lambda columns: len(columns[0])) == expected
    assert kept.n_rows == expected
    assert source.passes == 2
    again = rows.arrange(lambda columns: np.where(columns[1] < 0.5, -1, 0))
    assert again.n_rows == expected
    assert source.passes == 3


def test_a_source_that_knows_its_length_is_not_read_for_it(data):
    source = Counted(cut(data, 1000))
    source.n_rows = N_ROWS
    assert StreamRows(source).n_rows == N_ROWS
    assert source.passes == 0
    source.n_rows = lambda: "not a number"
    assert StreamRows(source).n_rows == N_ROWS
    source.n_rows = N_ROWS + 1
    with pytest.raises(ValueError, match=f"same {N_ROWS + 1} rows .* but yielded {N_ROWS}"):
        StreamRows(source).reduce(lambda columns: 1)


STEPS = {
    "map": [("map", lambda columns: (columns[0] * 2, columns[1]))],
    "arrange": [("arrange", lambda columns: (columns[1] * 10).astype(int) - 2)],
    "map, arrange": [
        ("map", lambda columns: (columns[0] * 2, columns[1] - 0.5)),
        ("arrange", lambda columns: np.sign(columns[1]).astype(int)),
    ],
    "arrange, map, arrange, map, map": [
        ("arrange", lambda columns: (columns[1] * 10).astype(int) - 2),
        ("map", lambda columns: (columns[0] - columns[1][:, None], columns[1])),
        ("arrange", lambda columns: (columns[0][:, 0] > 0).astype(int) - 1),
        ("map", lambda columns: (columns[0] * 2, columns[1])),
        ("map", lambda columns: (columns[0] + 1, columns[1])),
    ],
}


@pytest.mark.parametrize("steps", STEPS.values(), ids=STEPS)
@pytest.mark.usefixtures("n_threads", "small_pieces")
def test_steps_are_those_of_rows_in_memory(data, steps):
    stream, memory = StreamRows(cut(data, 170)), ArrayRows(*data)
    for name, function in steps:
        stream, memory = getattr(stream, name)(function), getattr(memory, name)(function)
    close(stream.reduce(moments, CENTER), memory.reduce(moments, CENTER))
    found = sorted(row for X, _ in stream.chunks() for row in X.tolist())
    assert found == sorted(row for X, _ in memory.chunks() for row in X.tolist())
    assert stream.n_rows == memory.n_rows


def test_arrange_puts_like_beside_like_in_each_chunk():
    codes = [np.array([2, 0, -1, 2, 0]), np.array([-1, -1]), np.array([1, 0])]
    rows = StreamRows(codes).arrange(lambda columns: columns[0])
    assert [columns[0].tolist() for columns in rows.chunks()] == [[0, 0, 2, 2], [0, 1]]


def test_chunks_of_which_nothing_remains_are_not_seen_again():
    def positive(columns):
        assert len(columns[0])
        return (columns[0][columns[0] > 0],)

    def seen(columns):
        assert len(columns[0])
        return columns

    chunks = [np.array([-1, 2]), np.array([-3, -4]), np.array([5])]
    mapped = StreamRows(chunks).map(positive)
    arranged = StreamRows(chunks).arrange(lambda columns: columns[0])
    arranged = arranged.map(seen).arrange(lambda columns: columns[0])
    for rows in (mapped, arranged):
        assert rows.reduce(lambda columns: seen(columns)[0].sum()) == 7
        assert [columns[0].tolist() for columns in rows.chunks()] == [[2], [5]]
        assert rows.n_rows == 2


def test_when_all_rows_are_left_out(data):
    rows = StreamRows(cut(data, 1000)).arrange(lambda columns: np.full(len(columns[0]), -1))
    rows = rows.map(lambda columns: columns).arrange(lambda columns: columns[1])
    assert rows.n_rows == 0
    assert list(rows.chunks()) == []
    with pytest.raises(ValueError, match="at least one row, but the rows are empty"):
        rows.reduce(moments, CENTER)


@pytest.mark.parametrize("n_rows", [0, 1, 300, N_ROWS, 2 * N_ROWS])
@pytest.mark.usefixtures("small_pieces")
def test_a_sample_is_that_of_rows_in_memory(data, n_rows):
    found = StreamRows(cut(data, 170)).sample(n_rows, np.random.RandomState(3))
    expected = ArrayRows(*data).sample(n_rows, np.random.RandomState(3))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("n_rows", [3, 60, 2 * N_ROWS])
@pytest.mark.usefixtures("small_pieces")
def test_a_sample_of_rows_with_steps_sees_no_other_rows(data, n_rows):
    """Before, between and after rows are left out; what comes last is for the sample alone."""
    seen = []

    def doubled(columns):
        seen.append(len(columns[0]))
        return columns[0] * 2.0, *columns[1:]

    def some(columns):
        return np.where(columns[0][:, 0] > 0.2, 0, -1)

    def made(rows):
        return rows.map(lambda columns: columns).arrange(some).map(doubled)

    n_kept = int((data[0][:, 0] > 0.2).sum())
    rows = made(StreamRows(cut(data, 170))).counted(n_kept)
    found = rows.sample(n_rows, np.random.RandomState(3))
    assert sum(seen) == len(found[0]) == min(n_rows, n_kept)
    expected = made(ArrayRows(*data)).sample(n_rows, np.random.RandomState(3))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_rows_that_were_counted_elsewhere_are_not_counted_again(data):
    n_read = itertools.count()

    def source():
        next(n_read)
        return iter(cut(data, 170))

    rows = StreamRows(source).arrange(lambda columns: np.zeros(len(columns[0]), int))
    assert rows.counted(7).n_rows == 7
    assert next(n_read) == 0
    assert ArrayRows(*data).counted(N_ROWS).n_rows == N_ROWS


@pytest.mark.usefixtures("n_threads")
def test_few_chunks_are_read_ahead(n_threads):
    """Chunks read but not yet summed are bounded: memory does not grow with the source."""
    read, summed = itertools.count(1), itertools.count(1)
    state = {"read": 0, "summed": 0, "most": 0}

    def source():
        for _ in range(200):
            state["read"] = next(read)
            state["most"] = max(state["most"], state["read"] - state["summed"])
            yield np.ones(10)

    def count(columns):
        state["summed"] = next(summed)
        return 1

    assert StreamRows(source).reduce(count) == 200
    # Those ahead, the one being read, those waiting to be summed or added, the one in hand.
    assert state["most"] <= module.READ_AHEAD + 1 + (n_threads + 1) + 1


def test_reading_goes_on_while_chunks_are_summed():
    second_is_read = threading.Event()

    def source():
        yield np.ones(3)
        second_is_read.set()
        yield np.ones(3)

    def wait(columns):
        assert second_is_read.wait(timeout=10)
        return 1

    with threadpool_limits(1, "blas"):
        assert StreamRows(source).reduce(wait) == 2


class BrokenError(Exception):
    pass


@pytest.mark.parametrize("error", [BrokenError, KeyboardInterrupt, SystemExit])
@pytest.mark.usefixtures("n_threads")
def test_an_error_of_the_source_or_of_the_summary_reaches_the_caller(error):
    closed = []

    def source(broken):
        try:
            for i in range(100):
                if broken and i == 20:
                    raise error("while reading")
                yield np.full(3, i)
        finally:
            closed.append(True)

    def summary(columns):
        if columns[0][0] == 20:
            raise error("while summing")
        return 1

    def checked(columns):
        summary(columns)
        return columns

    for broken, message in [(True, "while reading"), (False, "while summing")]:
        rows = StreamRows(lambda broken=broken: source(broken))
        with pytest.raises(error, match=message) as caught:
            rows.reduce(summary)
        # The traceback is still held, and yet the source is closed and its thread gone.
        assert caught.value is not None
        assert closed.pop()
        assert not [thread for thread in threading.enumerate() if "plausible" in thread.name]
        with pytest.raises(error, match=message):
            rows.map(checked).n_rows  # noqa: B018
        closed.clear()


@pytest.fixture
def usual_interrupts():
    """Ctrl-C as an interpreter has it, whatever ran in this process before."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("usual_interrupts")
def test_an_interrupt_from_the_keyboard():
    closed = []

    def source():
        try:
            for i in range(100_000):
                if i == 20:
                    os.kill(os.getpid(), signal.SIGINT)
                yield np.full(3, i)
        finally:
            closed.append(True)

    with threadpool_limits(3, "blas"):
        with pytest.raises(KeyboardInterrupt) as caught:
            StreamRows(source).reduce(lambda columns: 1)
        assert caught.value is not None
        assert closed == [True]
        pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
        assert {pool["num_threads"] for pool in pools} == {3}


def test_a_pass_that_is_given_up_closes_the_source(data):
    closed = []

    def source():
        try:
            yield from cut(data, 100)
        finally:
            closed.append(True)

    rows = StreamRows(source)
    chunks = rows.chunks()
    next(chunks)
    chunks.close()
    assert closed == [True]
    assert not [thread for thread in threading.enumerate() if "plausible" in thread.name]
    assert rows.n_rows == N_ROWS  # what was read in part is not taken for the whole


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ((x for x in [np.ones(3)]), "a generator can be read only once; give a list"),
        (iter([np.ones(3)]), "list_iterator can be read only once"),
        (map(np.ones, [1, 2]), "map can be read only once"),
        (np.ones((3, 2)), "but is a ndarray; give \\[X\\]"),
        ("data.parquet", "but is a str"),
        (7, "but is a int"),
    ],
)
def test_what_may_not_be_a_source(source, message):
    with pytest.raises(TypeError, match=message):
        StreamRows(source)


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ((np.ones((2, 3)),), r"Chunk 1 \(from row 4\).*shapes \(n, 3\), \(n\), as .* \(n, 3\);"),
        ((np.ones((2, 4)), np.ones(2)), r"Chunk 1 \(from row 4\).*but they are \(n, 4\), \(n\)"),
        ((np.ones((2, 3)), None), r"Chunk 1 \(from row 4\).*but they are \(n, 3\), None"),
        ((np.ones((2, 3)), np.ones((2, 1))), r"Chunk 1 .*but they are \(n, 3\), \(n, 1\)"),
        ((np.ones((2, 3)), np.ones(1)), r"Chunk 1 \(from row 4\).*they have \[2, 1\] rows"),
        ((None, None), r"Chunk 1 \(from row 4\).*they have \[\] rows"),
        ((np.ones((2, 3)), "word"), r"Chunk 1 \(from row 4\).*its column 1 is a str"),
    ],
)
def test_chunks_that_do_not_fit_the_first(second, message):
    rows = StreamRows([(np.ones((4, 3)), np.ones(4)), second])
    with pytest.raises(ValueError, match=message):
        rows.reduce(lambda columns: 1)
    with pytest.raises(ValueError, match=message):
        list(rows.chunks())


def test_a_function_that_returns_the_same_iterator():
    iterator = iter([np.ones(3), np.ones(4)])
    rows = StreamRows(lambda: iterator)
    assert rows.reduce(lambda columns: len(columns[0])) == 7
    with pytest.raises(ValueError, match="its 7 rows at each pass, but yielded none"):
        rows.reduce(lambda columns: 1)


@pytest.mark.parametrize("change", [-1, 1])
def test_a_source_that_changes(change):
    chunks = [np.ones(5), np.ones(5)]
    rows = StreamRows(chunks)
    assert rows.n_rows == 10
    chunks[1] = np.ones(5 + change)
    for read in (lambda: rows.reduce(lambda columns: 1), lambda: list(rows.chunks())):
        with pytest.raises(ValueError, match=f"same 10 rows .* but yielded {10 + change}"):
            read()


def test_a_source_without_rows():
    rows = StreamRows([])
    assert rows.n_rows == 0
    with pytest.raises(ValueError, match="at least one row"):
        rows.reduce(lambda columns: 1)


def test_no_piece_of_a_large_chunk_is_small():
    X = np.zeros((100_003, 20), dtype=np.float32)
    sizes = [len(columns[0]) for columns in StreamRows([X]).chunks()]
    assert sum(sizes) == len(X)
    assert min(sizes) >= module.LEAST_ROWS
    assert max(sizes) * 80 <= module.PIECE_BYTES


def test_the_first_chunk_is_read_once_for_all_who_look_at_it_before_a_pass():
    begun = []

    def source():
        begun.append(1)
        for start in (0, 4, 8):
            yield np.arange(start, start + 4.0), None

    rows = StreamRows(source, scratch=False)
    later = rows.map(lambda columns: (columns[0] + 1, None))
    odd = later.arrange(lambda columns: np.where(columns[0] % 2 == 1, 0, -1))
    late = rows.arrange(lambda columns: np.where(columns[0] > 5, 0, -1))
    assert [rows.peek()[0].tolist() for _ in range(2)] == [[0, 1, 2, 3]] * 2
    assert later.peek()[0].tolist() == [1, 2, 3, 4]
    assert odd.peek()[0].tolist() == [1, 3]
    assert len(begun) == 1
    assert late.peek()[0].tolist() == [6, 7]  # of the second chunk
    assert rows.reduce(lambda columns: columns[0].sum()) == 66
    assert rows.peek()[0].tolist() == [0, 1, 2, 3]


def test_coarser_rows_come_in_longer_pieces_of_the_same_sums(monkeypatch):
    monkeypatch.setattr(module, "PIECE_BYTES", 400)
    monkeypatch.setattr(module, "CHUNK_BYTES", 400)
    monkeypatch.setattr(module, "LEAST_ROWS", 10)
    X = np.arange(400.0).reshape(200, 2)
    rows = StreamRows([(X,)])
    sizes = [[len(c[0]) for c in some.chunks()] for some in (rows, rows.coarser(4))]
    assert max(sizes[0]) * 3 < max(sizes[1])
    assert sum(sizes[0]) == sum(sizes[1]) == 200
    assert rows.coarser(4).reduce(lambda c: c[0].sum()) == X.sum()
