"""Features: exact numbers, or an error that names cells."""

import io
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from plausible.io import TableError, read_features, write_table


def text(*lines: str) -> io.StringIO:
    return io.StringIO("\n".join(lines) + "\n")


@given(arrays(np.float64, st.tuples(st.integers(1, 5), st.integers(1, 3)),
              elements=st.floats(allow_nan=False, allow_infinity=False)),
       st.sampled_from(["csv", "jsonl", "parquet", "feather"]))  # fmt: skip
def test_numbers_keep_every_bit(tmp_path_factory, X, ending):
    path = tmp_path_factory.mktemp("X") / f"X.{ending}"
    write_table({f"x{j}": X[:, j] for j in range(X.shape[1])}, path)
    features = read_features(path)
    assert features.X.tobytes() == X.tobytes()
    assert features.names == [f"x{j}" for j in range(X.shape[1])]
    assert features.ids is None


def test_categories_hold_numbers_or_names():
    columns = {"name": ["b", "a", "c"], "u": [1.5, 2.0, 3.0], "v": [7, 7, 5]}
    pandas = pd.DataFrame(columns).astype({"name": "category", "v": "category"})
    polars = pl.DataFrame(columns).with_columns(pl.col("name").cast(pl.Enum(["a", "c", "b"])))
    words = polars.with_columns(pl.col("v").cast(pl.String).cast(pl.Categorical))
    for frame in (pandas, polars, words):
        features = read_features(frame, id="name")
        np.testing.assert_array_equal(features.X, [[1.5, 7], [2, 7], [3, 5]])
        assert features.ids.tolist() == columns["name"]
        with pytest.raises(TableError, match=r"row 1, column 'name' holds 'b'"):
            read_features(frame)


def test_numbers_of_all_kinds():
    table = pa.table(
        {
            "a": [True, False],
            "b": pa.array([1, 2], pa.int8()),
            "c": pa.array([0.5, 1], pa.float32()),
        }
    )
    assert read_features(table).X.tolist() == [[1, 1, 0.5], [0, 2, 1]]
    assert read_features(text("a,b", "01, 2 ", "+1,1e3")).X.tolist() == [[1, 2], [1, 1000]]
    frame = pd.DataFrame({"a": [1, 2]}, index=[7, 8])
    assert read_features(frame).X.tolist() == [[1.0], [2.0]]


def test_names_of_rows():
    source = ["item,a", "007,1", "x,2"]
    features = read_features(text(*source), id="item")
    assert features.ids.tolist() == ["007", "x"]
    assert features.names == ["a"]
    assert read_features({"i": [5, 6], "a": [1, 2]}, id="i").ids.tolist() == [5, 6]
    for rows, words in [
        (["item,a", "x,1", ",2"], "is empty in 1 row (row 2 on line 3)"),
        (
            ["item,a", "x,1", "y,2", "x,3"],
            "repeats 'x' and perhaps others in 2 rows (row 1 on line 2",
        ),
    ]:
        with pytest.raises(TableError, match=re.escape(words)):
            read_features(text(*rows), id="item")
    with pytest.raises(TableError, match="should have a column 'id'"):
        read_features(text(*source), id="id")
    with pytest.raises(TableError, match="beside the id"):
        read_features(text("item", "x"), id="item")


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (["a,b", "1,2", "x,3"], "1 cell is not (row 2 on line 3, column 'a' holds 'x')"),
        (
            ["a,b", "1,", "NA,3"],
            "2 cells are empty (row 1 on line 2, column 'b', row 2 on line 3, column 'a')",
        ),
        (["a,b", "1,inf"], "1 cell is infinite (row 1 on line 2, column 'b' holds inf)"),
        (["a,b", "1,1e999"], "1 cell is infinite"),
        (["a,b", *["x,y"] * 9], "18 cells are not (row 1 on line 2"),
        (["a,b"], "at least one row"),
    ],
)
def test_cells_that_are_no_numbers(rows, words):
    with pytest.raises(TableError, match=re.escape(words)):
        read_features(text(*rows))


def test_types_that_are_no_numbers():
    with pytest.raises(TableError, match="column 'b' holds '2020-01-01 00:00:00'"):
        read_features(pd.DataFrame({"a": [1.0], "b": pd.to_datetime(["2020-01-01"])}))


def test_the_first_places_are_named_in_order():
    rows = ["a", *["1"] * 70_000, "x", *["1"] * 70_000, "y"]
    with pytest.raises(TableError, match="row 70001 on line 70002.*row 140002 on line 140003"):
        read_features(text(*rows))
