"""Tables of any make: the same cells, the same types, and errors that name rows and lines."""

import gzip
import io
import os
import re
import subprocess
import sys
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plausible.io import TableError, read_table, stream_table, write_table
from plausible.tables import open_table

COLUMNS = {
    "item": ["007", "x", None, 'quo"te, |bar|\nline'],
    "whole": [1, None, -3, 2**53 + 1],
    "real": [0.1, 1e300, None, -2.5],
    "sure": [True, False, None, True],
}
ENDINGS = ["csv", "csv.gz", "tsv", "jsonl", "ndjson.gz", "json", "parquet", "feather", "arrow"]


def text(*lines: str) -> io.StringIO:
    return io.StringIO("\n".join(lines) + "\n")


def refused(source, *words):
    with pytest.raises(TableError) as caught:
        read_table(source)
    message = str(caught.value)
    assert all(word in message for word in words), message
    return message


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_is_written_is_read(tmp_path, ending):
    path = tmp_path / f"table.{ending}"
    write_table(COLUMNS, path)
    table = read_table(path)
    assert table.to_pydict() == COLUMNS
    assert table.schema.types == [pa.string(), pa.int64(), pa.float64(), pa.bool_()]
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("ending", ENDINGS)
def test_files_file_objects_and_names_do_not_matter(tmp_path, ending):
    path = tmp_path / f"table.{ending}"
    write_table(COLUMNS, path)
    content = path.read_bytes()
    for name in ("strange", "table.dat", "table"):
        (tmp_path / name).write_bytes(content)
    sources = [tmp_path / "strange", str(tmp_path / "table.dat"), io.BytesIO(content)]
    for source in sources:
        assert read_table(source).to_pydict() == COLUMNS
    with open(tmp_path / "table", "rb") as file:
        assert read_table(file).to_pydict() == COLUMNS


@pytest.mark.parametrize(
    "ending", ["csv", *(pytest.param(one, marks=pytest.mark.long) for one in ("jsonl", "parquet"))]
)
def test_standard_input(tmp_path, ending):
    path = tmp_path / f"table.{ending}"
    write_table(COLUMNS, path)
    code = "from plausible.io import read_table; print(read_table('-').to_pydict())"
    done = subprocess.run(
        [sys.executable, "-c", code], input=path.read_bytes(), capture_output=True, check=True
    )
    assert done.stdout.decode().strip() == str(COLUMNS)


@pytest.mark.parametrize("frames", [pd, pl], ids=["pandas", "polars"])
def test_data_frames(frames):
    table = read_table(frames.DataFrame(COLUMNS))
    assert table.column("item").to_pylist() == COLUMNS["item"]
    assert table.column("real").to_pylist() == COLUMNS["real"]


def test_an_index_of_pandas_is_no_column_unless_asked_for(tmp_path):
    frame = pd.DataFrame({"a": [1, 2]}, index=pd.Index([7, 8], name="item"))
    path = tmp_path / "frame.parquet"
    frame.to_parquet(path)
    for source in (frame, path):
        assert read_table(source).column_names == ["a"]
        assert read_table(source, ["item"]).to_pydict() == {"item": [7, 8]}


def test_frames_of_other_makes_are_taken_by_protocol():
    class Frame:
        def __init__(self, table):
            self.table = table

        def __arrow_c_stream__(self, requested_schema=None):
            return self.table.__arrow_c_stream__(requested_schema)

    class Old:
        def __init__(self, table):
            self.table = table

        def __dataframe__(self, nan_as_null=False, allow_copy=True):
            return self.table.__dataframe__(nan_as_null, allow_copy)

    table = pa.table({"a": [1, None], "b": ["x", "y"]})
    for frame in (Frame(table), Old(table), table, table.to_batches()[0], table.to_reader()):
        assert read_table(frame).to_pydict() == table.to_pydict()


def test_categories_views_and_nan_become_text_and_gaps():
    table = pa.table(
        {
            "a": pa.array(["x", None, "x"]).dictionary_encode(),
            "b": pa.array(["x", "NA", ""], pa.string_view()),
            "c": pa.array([np.nan, 1.0, None], pa.float32()),
        }
    )
    read = read_table(table)
    assert read.to_pydict() == {"a": ["x", None, "x"], "b": ["x", "NA", ""], "c": [None, 1.0, None]}
    assert read.schema.types == [pa.string(), pa.string(), pa.float32()]


@pytest.mark.parametrize("values", [pa.string(), pa.large_string(), pa.string_view(), pa.int16()])
@pytest.mark.parametrize("index", [pa.uint8(), pa.int64()])
def test_categories_are_their_values(values, index):
    names = pa.array([3, 1, 2], pa.int16()) if values == pa.int16() else pa.array(["c", "a", None])
    codes = pa.array([1, None, 0, 1, 2], index)
    column = pa.DictionaryArray.from_arrays(codes, names.cast(values))
    read = read_table(pa.table({"a": column.slice(1)}))
    expected = [None, 3, 1, 2] if values == pa.int16() else [None, "c", "a", None]
    assert read.to_pydict() == {"a": expected}
    assert read.schema.types == [values if values == pa.int16() else pa.string()]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", "2"], [1, 2]),
        (["1", "2.5"], [1.0, 2.5]),
        (["1", "x"], ["1", "x"]),
        (["true", "False"], [True, False]),
        (["true", "1"], ["true", "1"]),
        (["007", "8"], ["007", "8"]),
        (["0x1F", "3"], ["0x1F", "3"]),
        (["12345678901234567890", "1"], ["12345678901234567890", "1"]),
        (["0", "-0.5"], [0.0, -0.5]),
        (["NA", "1"], [None, 1]),
        (["nan", "N/A"], [None, None]),
        ([" 1", "2 "], [1, 2]),
        ([" NA ", "1"], [None, 1]),
        (['"NA"', "NA"], ["NA", None]),
        (['""', "x"], [None, "x"]),
        (["inf", "1"], [float("inf"), 1.0]),
        (["1e3", ".5"], [1000.0, 0.5]),
        (["None", "x"], ["None", "x"]),
    ],
)
def test_types_of_text(cells, expected):
    lines = ["k,v", *(f"r,{cell}" for cell in cells)]
    assert read_table(text(*lines)).column("v").to_pylist() == expected


def test_separators_and_marks_of_encoding():
    for mark in ",;\t":
        lines = f"a{mark}b\r\n1{mark}x y\r\n".encode()
        assert read_table(io.BytesIO(lines)).to_pydict() == {"a": [1], "b": ["x y"]}
        assert read_table(io.BytesIO(b"\xef\xbb\xbf" + lines)).column_names == ["a", "b"]


def test_types_are_those_of_the_whole_column(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("a,b\n" + "1,true\n" * 400_000 + "2.5,x\n")
    chunks = list(stream_table(path, chunk_rows=70_000))
    assert chunks[0].schema.types == [pa.float64(), pa.string()]
    assert [len(chunk) for chunk in chunks] == [70_000] * 5 + [50_001]
    assert pa.concat_tables(chunks).equals(read_table(path))


def test_a_stream_can_be_read_again():
    stream = stream_table(text("a", "1", "2", "3"), chunk_rows=2)
    assert [c.to_pydict() for c in stream] == [c.to_pydict() for c in stream]
    together = [(x.to_pydict(), y.to_pydict()) for x, y in zip(stream, stream, strict=True)]
    assert all(first == second for first, second in together)


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "arrow"])
def test_streams_need_little_memory(tmp_path, ending, monkeypatch):
    monkeypatch.setattr("plausible.tables.text.KEPT", 1 << 20)
    path = tmp_path / f"long.{ending}"
    write_table({"a": np.arange(500_000) / 7, "b": np.arange(500_000)}, path)
    pool = pa.default_memory_pool()
    before, most, total = pool.bytes_allocated(), 0, 0.0
    for chunk in stream_table(path, chunk_rows=5000):
        total += chunk.column("a").to_numpy().sum()
        most = max(most, pool.bytes_allocated() - before)
    assert total == pytest.approx(500_000 * 499_999 / 14)
    assert most < 6e6  # all rows take 8 MB as numbers, and 18 MB as text


def test_text_of_twice_the_length_is_kept_where_all_of_it_is_needed(tmp_path, monkeypatch):
    path = tmp_path / "answers.csv"
    path.write_text("item,annotator,label\nx,ann,cat\ny,bob,dog\n")
    monkeypatch.setattr("plausible.tables.text.KEPT", path.stat().st_size // 2 + 1)
    long, kept = open_table(path), open_table(path, whole=True)
    assert (long.is_kept, kept.is_kept) == (False, True)
    assert long.whole(long.names).equals(kept.whole(kept.names))


@pytest.mark.long
def test_streams_of_json_lines_need_little_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("plausible.tables.json_files.KEPT", 1 << 18)
    path = tmp_path / "long.jsonl"
    write_table({"a": np.arange(60_000) / 7, "b": np.arange(60_000)}, path)
    tracemalloc.start()
    n_rows = sum(len(chunk) for chunk in stream_table(path, chunk_rows=5000))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert n_rows == 60_000
    assert most < 10e6  # all rows take 17 MB as objects of Python


def test_long_rows(tmp_path):
    names = [f"feature_{number}" for number in range(150_000)]
    path = tmp_path / "wide.csv"
    path.write_text("\n".join([",".join(names), ",".join("1" for _ in names)] * 1) + "\n")
    assert read_table(path, names[-1]).to_pydict() == {names[-1]: [1]}


def test_rows_that_are_longer_than_those_before():
    lines = ["a,b", *["1,x"] * 300_000, f"2,{'y' * 3_000_000}"]
    table = read_table(text(*lines))
    assert table.num_rows == 300_001
    assert len(table.column("b")[-1].as_py()) == 3_000_000


# -- Errors ----------------------------------------------------------------------------------------


def test_rows_with_too_few_and_too_many_cells():
    source = text("a,b", "1,2", "", "3", '"x', 'y",4', "5,6,7")
    refused(source, "2 cells", "2 rows do not", "row 2 on line 4 has 1 cell,",
            "row 4 on line 7 has 3 cells)")  # fmt: skip


def test_a_quote_that_is_not_closed():
    refused(text("a,b", "1,2", '3,"4', "5,6"), "row 2 on line 3", "closed")
    refused(text("a,b", '3,"4' + "x" * 3_000_000, "5,6"), "row 1 on line 2", "closed")
    assert read_table(text("a,b", '1,5" pipe', "2,x")).column("b").to_pylist() == ['5" pipe', "x"]


def test_text_that_is_not_utf8():
    mixed = "a,b\n1,ü\n".encode() + "2,é\n".encode("latin-1")
    refused(io.BytesIO(mixed), "UTF-8", "row 2 on line 3")
    refused(io.BytesIO(b"a,b\n1,x\n2,\x81\n"), "UTF-8", "row 2 on line 3")
    refused(io.BytesIO(b"a,\x81\n1,x\n"), "UTF-8", "header (line 1)")
    refused(io.BytesIO("a,b\n1,2\n".encode("utf-16-le")), "UTF-16", "BOM")
    refused(io.BytesIO("a,b\n1,2\n".encode("utf-16")[:-1]), "UTF-16")


def test_headers():
    refused(text("a,b,a", "1,2,3"), "line 1", "'a'", "rename")
    refused(text(",a", "0,1"), "column 1", "index=False")
    refused(io.StringIO(""), "empty")
    assert read_table(io.StringIO("a,b")).num_rows == 0


def test_json_lines():
    table = read_table(text('{"a": 1}', "", '{"b": "x", "a": 2.5}', '{"a": NaN}'))
    assert table.to_pydict() == {"a": [1.0, 2.5, None], "b": [None, "x", None]}
    refused(text('{"a": 1}', "", '{"a": }'), "row 2 on line 3")
    refused(text('{"a": 1}', '{"a": "x"}'), "'a'", "int in row 1 and text in row 2 on line 2;")
    refused(text('{"a": 1}', '{"a": [1]}'), "list", "row 2 on line 2", "a|b")
    refused(text('{"a": 1, "a": 2}'), "twice", "row 1")
    refused(text('{"a": 123456789012345678901}'), "18 digits", "row 1")
    refused(text('{"a": "\\ud800"}'), "surrogate", "row 1")
    with pytest.raises(TableError, match="row 2 on line 2 is of type int"):
        read_table(_named("x.jsonl", b'{"a": 1}\n3\n'))


def _named(name, content):
    file = io.BytesIO(content)
    file.name = name
    return file


@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv.gz", "jsonl.gz"])
def test_files_that_are_cut_off(tmp_path, ending):
    path = tmp_path / f"table.{ending}"
    write_table({"a": np.arange(100_000), "b": np.arange(100_000) / 7}, path)
    content = path.read_bytes()
    for size in (0, 1, 3, 10, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:size])
        if size or ending in ("parquet", "arrow"):
            refused(path, path.name)


def test_the_row_up_to_which_a_damaged_file_could_be_read(tmp_path):
    path = tmp_path / "table.parquet"
    table = pa.table({"a": np.random.default_rng(0).normal(size=100_000)})
    pyarrow.parquet.write_table(table, path, row_group_size=20_000, use_dictionary=False)
    content = bytearray(path.read_bytes())
    start = pyarrow.parquet.ParquetFile(path).metadata.row_group(3).column(0).data_page_offset
    content[start : start + 20] = bytes(20)
    path.write_bytes(content)
    message = refused(path, "after row", "table.parquet")
    assert 40_000 <= int(re.search(r"after row (\d+)", message)[1]) <= 60_000


def test_what_is_no_table(tmp_path):
    refused(io.BytesIO(b"PK\x03\x04..."), "zip file", "CSV")
    (tmp_path / "a.parquet").write_text("a,b\n1,2\n")
    refused(tmp_path / "a.parquet", "Parquet", "begin")
    with pytest.raises(FileNotFoundError, match="holds a.parquet"):
        read_table(tmp_path / "b.csv")
    with pytest.raises(TypeError, match="int came"):
        read_table(3)


def test_columns_that_are_not_there():
    with pytest.raises(TableError, match="a column 'lenght', .*; did you mean 'length'"):
        read_table({"length": [1]}, ["lenght"])
    with pytest.raises(TableError, match="twice"):
        read_table({"a": [1]}, ["a", "a"])
    with pytest.raises(TableError, match="none"):
        read_table({"a": [1]}, [])


def test_tables_that_do_not_hold_together():
    for table in ({"a": [1, 2], "b": [1]}, {"a": [1, "x"]}, pd.DataFrame({"a": [1, "x"]})):
        with pytest.raises(TableError, match="one type and length"):
            read_table(table)
    with pytest.raises(TableError, match="different names"):
        read_table(pa.table([[1], [2]], names=["a", "a"]))
    with pytest.raises(ValueError, match="chunk_rows"):
        stream_table({"a": [1]}, chunk_rows=0)


def test_a_reader_is_read_once():
    stream = stream_table(pa.table({"a": [1]}).to_reader())
    assert len(list(stream)) == 1
    with pytest.raises(TableError, match="once only"):
        list(stream)


# -- Writing ---------------------------------------------------------------------------------------


def test_a_file_becomes_another_in_chunks(tmp_path):
    write_table(COLUMNS, tmp_path / "a.csv")
    write_table(tmp_path / "a.csv", tmp_path / "a.parquet")
    write_table(stream_table(tmp_path / "a.parquet", 1), tmp_path / "b.jsonl")
    assert read_table(tmp_path / "b.jsonl").to_pydict() == COLUMNS


@pytest.mark.parametrize("ending", ENDINGS)
def test_one_column_with_gaps(tmp_path, ending):
    for cells in ([1.5, None, 2.0], [None, None], ["x", None], []):
        write_table({"a": cells}, tmp_path / f"a.{ending}")
        if cells or "json" not in ending:  # without rows, JSON lines have no names
            assert read_table(tmp_path / f"a.{ending}").to_pydict() == {"a": cells}


def test_equal_tables_give_equal_files(tmp_path):
    for ending in ENDINGS:
        write_table(COLUMNS, tmp_path / f"1.{ending}")
        write_table(COLUMNS, tmp_path / f"2.{ending}")
        assert (tmp_path / f"1.{ending}").read_bytes() == (tmp_path / f"2.{ending}").read_bytes()
    assert gzip.decompress((tmp_path / "1.csv.gz").read_bytes())


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_nothing_half_written(tmp_path, ending, error):
    path = tmp_path / f"a.{ending}"
    path.write_bytes(b"before")

    def batches():
        yield pa.record_batch({"a": [1, 2]})
        raise error("in the middle")

    reader = pa.RecordBatchReader.from_batches(pa.schema([("a", pa.int64())]), batches())
    with pytest.raises((TableError, KeyboardInterrupt), match="in the middle"):
        write_table(reader, path)
    assert path.read_bytes() == b"before"
    assert os.listdir(tmp_path) == [path.name]


def test_names_that_say_nothing(tmp_path):
    with pytest.raises(TableError, match=r"did you mean '\.parquet'"):
        write_table(COLUMNS, tmp_path / "a.parkuet")
    with pytest.raises(TableError, match="should end in"):
        write_table(COLUMNS, tmp_path / "a.parquet.gz")
    with pytest.raises(FileNotFoundError, match="create the folder"):
        write_table(COLUMNS, tmp_path / "none" / "a.csv")
    with pytest.raises(TableError, match="'a' has several values in a cell"):
        write_table({"a": [[1, 2]], "b": [1]}, tmp_path / "a.csv")
    assert os.listdir(tmp_path) == []


cells = st.one_of(
    st.lists(st.none() | st.integers(-(2**62), 2**62)),
    st.lists(st.none() | st.floats(allow_nan=False)),
    st.lists(st.none() | st.booleans()),
    st.lists(
        st.none() | st.text(st.characters(exclude_categories=["Cs"]), min_size=1).map("t{}".format)
    ),
)


@given(st.dictionaries(st.from_regex(r"[a-z][ a-z|,\"]{0,5}", fullmatch=True), cells, min_size=1),
       st.sampled_from(ENDINGS))  # fmt: skip
def test_round_trips(tmp_path_factory, columns, ending):
    n_rows = min(map(len, columns.values()))
    columns = {name: column[:n_rows] for name, column in columns.items()}
    path = tmp_path_factory.mktemp("round") / f"table.{ending}"
    write_table(columns, path)
    if n_rows or "json" not in ending:  # without rows, JSON lines have no names
        assert read_table(path).to_pydict() == columns
