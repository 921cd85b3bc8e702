"""Rows of a table from one on: what is before is not read, and nothing is lost or moved."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from plausible.io.pieces import pieces
from plausible.tables import open_table

SIZES = (7, 4, 0, 11)  # rows of files, in groups of 3


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    for number, size in enumerate(SIZES):
        names = pa.array([f"{number}-{k}" for k in range(size)], pa.string())
        table = pa.table({"x": rng.normal(size=size), "name": names})
        pq.write_table(table, tmp_path / f"{number}.parquet", row_group_size=3)
    return tmp_path


def rows_from(table, first, columns):
    found = list(pieces(table, columns, 5, first))
    starts = [piece.start for piece in found]
    lengths = [piece.table.num_rows for piece in found]
    assert starts == (first + np.cumsum([0, *lengths])[: len(found)]).tolist()
    return [row for piece in found for row in piece.table.to_pylist()]


@pytest.mark.parametrize("name", ["", "3.parquet", "0.csv"])
def test_rows_from_one_on_are_those_of_the_whole_table(folder, name):
    if name == "0.csv":
        folder = folder.parent
        (folder / name).write_text("x,name\n" + "".join(f"{k / 4},n{k}\n" for k in range(9)))
    table = open_table(folder / name)
    for columns in (["name"], ["name", "x"]):
        whole = table.whole(columns).to_pylist()
        for first in range(len(whole) + 2):
            assert rows_from(table, first, columns) == whole[first:]


def test_groups_and_files_before_a_row_are_not_read(folder):
    begin = {0: 0, 2: 0, 3: 3, 6: 6, 7: 7, 10: 10, 11: 11, 13: 11, 14: 14, 21: 20, 22: 22}
    table = open_table(folder)
    for first, where in begin.items():
        start, batches = table.batches_from(["x"], first)
        assert start == where
        assert sum(batch.num_rows for batch in batches) == sum(SIZES) - where
