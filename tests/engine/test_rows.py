"""Rows in memory: sums do not depend on how the rows are cut, stored or shared out."""

import pickle
import threading
from typing import NamedTuple

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from plausible.engine import rows as rows_module
from plausible.engine.rows import ArrayRows, Rows, order_by
from plausible.engine.sums import total
from plausible.engine.threads import in_order, one_blas_thread

N_ROWS = 57


class Moments(NamedTuple):
    weight: float
    mean: np.ndarray
    square: list


def moments(columns, center):
    X, weight = columns
    weight = np.ones(len(X)) if weight is None else weight
    centered = X - center
    return Moments(weight.sum(), weight @ centered, [(weight * centered.T) @ centered])


def slow_moments(X, weight, center):
    """The same in plain loops."""
    d = len(X[0])
    mean, square = [0.0] * d, [[0.0] * d for _ in range(d)]
    for row, w in zip(X.tolist(), weight.tolist(), strict=True):
        for i in range(d):
            mean[i] += w * (row[i] - center[i])
            for j in range(d):
                square[i][j] += w * (row[i] - center[i]) * (row[j] - center[j])
    return Moments(sum(weight.tolist()), mean, [square])


def close(found, expected, rtol=1e-10):
    np.testing.assert_allclose(found.weight, expected.weight, rtol=rtol)
    np.testing.assert_allclose(found.mean, expected.mean, rtol=rtol, atol=1e-10)
    np.testing.assert_allclose(found.square, expected.square, rtol=rtol, atol=1e-10)


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


@pytest.fixture
def data():
    random = np.random.default_rng(0)
    return random.normal(size=(N_ROWS, 3)), random.uniform(size=N_ROWS)


CENTER = np.array([0.5, -1.0, 2.0])


@pytest.mark.parametrize("chunk_rows", [*range(1, N_ROWS + 2), None])
def test_the_sum_does_not_depend_on_the_chunks(data, chunk_rows):
    rows = ArrayRows(*data, chunk_rows=chunk_rows)
    close(rows.reduce(moments, CENTER), slow_moments(*data, CENTER))
    np.testing.assert_array_equal(np.concatenate([X for X, _ in rows.chunks()]), data[0])


def fortran(X, tmp_path):
    return np.asfortranarray(X)


def mapped(X, tmp_path):
    np.save(tmp_path / "X.npy", X)
    return np.load(tmp_path / "X.npy", mmap_mode="r")


def strided(X, tmp_path):
    wide = np.full((2 * len(X), 2 * X.shape[1]), np.nan)
    wide[::2, ::2] = X
    return wide[::2, ::2]


@pytest.mark.parametrize("store", [fortran, mapped, strided])
def test_the_sum_does_not_depend_on_how_rows_are_stored(data, tmp_path, store):
    X, weight = data
    rows = ArrayRows(store(X, tmp_path), weight, chunk_rows=10)
    close(rows.reduce(moments, CENTER), slow_moments(X, weight, CENTER))


def test_float32_rows_stay_float32(data):
    X = data[0].astype(np.float32)
    rows = ArrayRows(X, None, chunk_rows=10)
    assert {columns[0].dtype for columns in rows.chunks()} == {np.dtype(np.float32)}
    close(rows.reduce(moments, CENTER), slow_moments(X, np.ones(N_ROWS), CENTER))


def test_the_same_bits_on_any_number_of_threads(data):
    X, weight = np.tile(data[0], (100, 1)), np.tile(data[1], 100)
    rows = ArrayRows(X, weight, chunk_rows=100)
    found = []
    for n_threads in (1, 2, 5):
        with threadpool_limits(n_threads, "blas"):
            found.append(rows.reduce(moments, CENTER))
    for other in found[1:]:
        assert other.weight == found[0].weight
        np.testing.assert_array_equal(other.mean, found[0].mean)
        np.testing.assert_array_equal(other.square, found[0].square)


@pytest.mark.parametrize(("n_threads", "expected"), [(1, 1), (3, 3)])
def test_as_many_threads_as_blas_is_set_to(data, n_threads, expected):
    barrier = threading.Barrier(expected)

    def meet(columns):
        barrier.wait(timeout=10)  # passes only if so many threads sum at the same time
        assert set(blas_threads()) == {1}
        return 1

    with threadpool_limits(n_threads, "blas"):
        assert ArrayRows(*data, chunk_rows=N_ROWS // 3).reduce(meet) == 3
        assert set(blas_threads()) == {n_threads}


def test_sums_that_overlap_leave_blas_as_it_was(data):
    inside, outside = threading.Event(), threading.Event()
    rows = ArrayRows(*data, chunk_rows=30)

    def first(columns):
        inside.set()
        assert outside.wait(timeout=10)
        return 1

    def second(columns):
        return 1

    with threadpool_limits(3, "blas"):
        # The one that came first leaves first, while the other still sums.
        with one_blas_thread():
            thread = threading.Thread(target=rows.reduce, args=(first,))
            thread.start()
            assert inside.wait(timeout=10)
        outside.set()
        thread.join()
        assert set(blas_threads()) == {3}
        assert rows.reduce(second) == 2
        assert set(blas_threads()) == {3}


def test_arrange_puts_like_beside_like_and_drops_negative_codes():
    codes = np.array([2, 0, -1, 1, 0, 2, -7, 1, 0])
    rows = ArrayRows(np.arange(9), codes, chunk_rows=2).arrange(lambda columns: columns[1])
    assert rows.n_rows == 7
    found = [np.concatenate(column).tolist() for column in zip(*rows.chunks(), strict=True)]
    assert found == [[1, 4, 8, 3, 7, 0, 5], [0, 0, 0, 1, 1, 2, 2]]
    again = rows.arrange(lambda columns: columns[0] % 2 - (columns[0] == 3))
    assert np.concatenate([columns[0] for columns in again.chunks()]).tolist() == [
        4, 8, 3, 0, 1, 7, 5,
    ]  # fmt: skip


@pytest.mark.parametrize("codes", [[], [0], [3, 3, 3], [-1, -1], [5, -1, 2, 2, -3, 0]])
def test_order_by_is_a_stable_sort_of_what_is_not_negative(codes):
    index = order_by(np.array(codes, dtype=int))
    expected = sorted((i for i, c in enumerate(codes) if c >= 0), key=lambda i: codes[i])
    assert (list(range(len(codes))) if index is None else index.tolist()) == expected


def test_rows_that_are_all_left_out_stay_rows(data):
    rows = ArrayRows(*data, chunk_rows=10).arrange(lambda columns: np.full(len(columns[0]), -1))
    rows = rows.map(lambda columns: (columns[0][:, :2], columns[1])).arrange(lambda c: c[1])
    assert rows.n_rows == 0
    assert rows.sample(5, np.random.RandomState(0))[0].shape == (0, 2)
    with pytest.raises(ValueError, match="at least one row, but the rows are empty"):
        rows.reduce(moments, CENTER[:2])


def test_rows_may_be_arranged_twice():
    values = np.arange(12.0)
    rows = ArrayRows(values, chunk_rows=5)
    by_third = rows.arrange(lambda columns: columns[0] % 3 - 1)  # without 0, 3, 6, 9
    assert [*np.concatenate([c[0] for c in by_third.chunks()])] == [1, 4, 7, 10, 2, 5, 8, 11]
    twice = by_third.arrange(lambda columns: np.where(columns[0] > 4, columns[0], -1))
    found = np.concatenate([columns[0] for columns in twice.chunks()])
    assert found.tolist() == [5, 7, 8, 10, 11]


def test_map_then_sum_is_sum_of_the_mapped(data):
    X, weight = data
    rows = ArrayRows(X, weight, chunk_rows=10).map(lambda columns: (2 * columns[0] - 1, columns[1]))
    close(rows.reduce(moments, CENTER), slow_moments(2 * X - 1, weight, CENTER))


@pytest.mark.parametrize("arranged", [False, True])
@pytest.mark.parametrize("n_rows", [0, 1, 20, N_ROWS, 1000])
def test_a_sample_is_rows_without_repetition_in_their_order(data, n_rows, arranged):
    rows = ArrayRows(np.arange(N_ROWS), None, chunk_rows=8)
    if arranged:
        rows = rows.arrange(lambda columns: -columns[0] + N_ROWS)
    found, missing = rows.sample(n_rows, np.random.RandomState(0))
    assert missing is None
    steps = np.diff(found)
    assert len(found) == min(n_rows, N_ROWS)
    assert (steps < 0).all() if arranged else (steps > 0).all()
    # The general way, by reading all chunks, draws the same rows.
    slow, _ = Rows.sample(rows, n_rows, np.random.RandomState(0))
    np.testing.assert_array_equal(slow, found)


def test_each_row_is_as_likely_to_be_drawn():
    rows, random = ArrayRows(np.arange(10), chunk_rows=3), np.random.RandomState(0)
    drawn = np.concatenate([rows.sample(3, random)[0] for _ in range(2000)])
    share = np.bincount(drawn, minlength=10) / 2000
    np.testing.assert_allclose(share, 0.3, atol=0.05)  # about five standard deviations


@pytest.mark.parametrize("random", [np.random.RandomState(0), np.random.default_rng(0)])
def test_each_of_many_rows_is_as_likely_to_be_drawn(monkeypatch, random):
    """Where a random order of all rows would take too long."""
    monkeypatch.setattr(rows_module, "MANY_ROWS", 20)
    found = [rows_module.draw(40, 3, random) for _ in range(4000)]
    assert all(len(set(one.tolist())) == 3 for one in found)
    assert all((np.diff(one) > 0).all() for one in found)
    share = np.bincount(np.concatenate(found), minlength=40) / 4000
    np.testing.assert_allclose(share, 3 / 40, atol=0.02)  # about five standard deviations
    together = np.mean([{5, 31} <= set(one.tolist()) for one in found])
    assert together == pytest.approx(3 * 2 / (40 * 39), abs=0.005)
    assert len(rows_module.draw(40, 0, random)) == 0


def test_a_summary_may_return_its_rows_or_its_parameters():
    X, shift = np.arange(12.0), np.ones(3)
    rows = ArrayRows(X, chunk_rows=3)
    assert rows.reduce(lambda columns, s: columns[0], shift).tolist() == [18, 22, 26]
    assert rows.reduce(lambda columns, s: (s, 1), shift)[0].tolist() == [4, 4, 4]
    assert X.tolist() == list(range(12))
    assert shift.tolist() == [1, 1, 1]


def test_an_error_of_a_summary_has_its_own_type(data):
    def fail(columns):
        raise FloatingPointError("row 12")

    with pytest.raises(FloatingPointError, match="row 12"):
        ArrayRows(*data, chunk_rows=5).reduce(fail)
    assert set(blas_threads()) != {0}


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([], "at least one row"),
        ([(1, 2), (1,)], "the same parts, but one has 2 and another 1"),
        ([np.zeros(3), np.zeros(2)], r"\(3,\) met \(2,\)"),
    ],
)
def test_statistics_that_do_not_add_up(parts, message):
    with pytest.raises(ValueError, match=message):
        total(parts)


@pytest.mark.parametrize(
    ("columns", "message"),
    [((np.zeros(3), np.zeros(4)), r"\[3, 4\] rows"), ((None,), r"\[\] rows")],
)
def test_columns_of_different_lengths(columns, message):
    with pytest.raises(ValueError, match=message):
        ArrayRows(*columns)


def test_in_order_takes_few_items_at_a_time():
    taken, done = [], []

    def items():
        for i in range(50):
            taken.append(i)
            assert len(taken) - len(done) <= 4
            yield i

    for result in in_order(lambda i: i * i, items(), n_threads=3):
        done.append(result)
    assert done == [i * i for i in range(50)]


def test_map_copies_what_it_changes_alone():
    X, y = np.arange(40.0).reshape(20, 2), np.arange(20)
    rows = ArrayRows(X, y, None, chunk_rows=6)
    mapped = rows.map(lambda columns: (columns[0], columns[1] + 1, columns[2]))
    assert np.shares_memory(mapped.columns[0], X)
    np.testing.assert_array_equal(mapped.columns[0], X)
    np.testing.assert_array_equal(mapped.columns[1], y + 1)
    assert mapped.columns[2] is None
    some = ArrayRows(X, y, order=np.array([7, 3, 11, 3]), chunk_rows=3)
    np.testing.assert_array_equal(some.map(lambda columns: columns).columns[0], X[[7, 3, 11, 3]])
    swapped = rows.map(lambda columns: (columns[1], columns[0])).columns
    np.testing.assert_array_equal(swapped[0], y)
    np.testing.assert_array_equal(swapped[1], X)
    partly = rows.map(lambda columns: (columns[0] if columns[1][0] else -columns[0],)).columns[0]
    np.testing.assert_array_equal(partly, np.where(np.arange(20)[:, None] < 6, -X, X))


def test_a_map_copies_no_column_whose_type_came_through_a_connection():
    """Another object of the same dtype makes `np.asarray` give another array of the same memory."""
    X = pickle.loads(pickle.dumps(np.random.default_rng(0).random((5000, 3))))
    rows = ArrayRows(X, X[:, :1] + 1, chunk_rows=700)
    checked = rows.map(lambda columns: tuple(np.asarray(c, dtype=np.float64) for c in columns))
    assert np.shares_memory(checked.columns[0], X)
    first = rows.map(lambda columns: (np.broadcast_to(columns[0][:1], columns[0].shape),))
    np.testing.assert_array_equal(first.columns[0], X[np.arange(5000) // 700 * 700])


def test_map_does_not_copy_columns_that_change_places():
    X, table = np.arange(40.0).reshape(20, 2), np.arange(60.0).reshape(20, 3)
    rows = ArrayRows(X, table, None, chunk_rows=6)
    swapped = rows.map(lambda columns: (columns[1], columns[0] + 1, columns[0]))
    assert swapped.columns[0] is table
    assert swapped.columns[2] is X
    np.testing.assert_array_equal(swapped.columns[1], X + 1)
    # At times one, at times the other: then it is copied.
    mixed = rows.map(lambda columns: (columns[0] if columns[0][0, 0] < 20 else -columns[0],))
    expected = np.where(np.arange(20)[:, None] < 12, X, -X)
    np.testing.assert_array_equal(mixed.columns[0], expected)


@pytest.mark.parametrize(("n", "n_chunks"), [(900, 1), (2500, 4), (6500, 8), (11_000, 12)])
def test_chunks_are_of_one_length_and_as_many_as_threads_can_share(n, n_chunks, monkeypatch):
    monkeypatch.setattr(rows_module, "CHUNK_BYTES", 8000)  # a thousand numbers
    rows = ArrayRows(np.arange(float(n)))
    sizes = [len(columns[0]) for columns in rows.chunks()]
    assert len(sizes) == n_chunks
    assert max(sizes) - min(sizes) < n_chunks
    longer = [len(columns[0]) for columns in rows.coarser(3).chunks()]
    assert len(longer) < n_chunks or n_chunks == 1
    assert max(longer) - min(longer) < n_chunks
    assert sum(longer) == sum(sizes) == n
