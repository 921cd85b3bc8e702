import numpy as np
import pytest

from plausible.short_rows import PART_BYTES, row_all, row_any, row_max, row_min, row_sum, rows_alike


def layouts(table):
    wide = np.zeros((len(table), 2 * table.shape[1]), table.dtype)
    wide[:, ::2] = table
    return table, np.asfortranarray(table), wide[:, ::2], table[::-1][::-1]


@pytest.mark.parametrize("n_columns", [1, 2, 3, 7, 16, 17])
def test_as_numpy_in_every_layout(n_columns):
    rng = np.random.default_rng(n_columns)
    given = rng.normal(size=(PART_BYTES // (8 * n_columns) + 5, n_columns))  # more than one part
    given[rng.random(given.shape) < 0.2] = 0.0
    given[3, -1], given[5, 0] = np.nan, np.inf
    for table in layouts(given):
        np.testing.assert_array_equal(row_max(table), table.max(axis=1))
        np.testing.assert_array_equal(row_min(table), table.min(axis=1))
        np.testing.assert_allclose(row_sum(table), table.sum(axis=1), rtol=1e-13, atol=1e-13)
        np.testing.assert_array_equal(row_any(table), table.any(axis=1))
        np.testing.assert_array_equal(row_all(table), table.all(axis=1))
    given[::3], given[::4] = given[::3, :1], np.arange(n_columns)
    for table in layouts(given):
        np.testing.assert_array_equal(rows_alike(table), (table == table[:, :1]).all(axis=1))
    for table in layouts(given > 0.3):
        assert row_sum(table).dtype == np.int64
        np.testing.assert_array_equal(row_sum(table), table.sum(axis=1))
        np.testing.assert_array_equal(row_any(table), table.any(axis=1))
        np.testing.assert_array_equal(row_all(table), table.all(axis=1))


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.uint8, np.int64, object])
def test_types_as_numpy(dtype):
    table = np.array([[100, 100, 100], [1, 2, 3]]).astype(dtype)
    for ours, theirs in ((row_sum, table.sum), (row_max, table.max), (row_min, table.min)):
        assert ours(table).dtype == theirs(axis=1).dtype
        assert ours(table).tolist() == theirs(axis=1).tolist()


def test_none_at_all():
    assert row_any(np.zeros((2, 0))).tolist() == [False, False]
    assert row_all(np.zeros((2, 0))).tolist() == [True, True]
    assert row_sum(np.zeros((2, 0), bool)).tolist() == [0, 0]
    assert row_max(np.zeros((0, 3))).shape == (0,)
    assert rows_alike(np.zeros((0, 3))).shape == (0,)
