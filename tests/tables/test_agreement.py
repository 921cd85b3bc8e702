"""One way in: the engine's streams and `read_table` mean the same by every file."""

import datetime
import gzip
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plausible.engine import StreamRows, read_any
from plausible.io import TableError, read_table, stream_table, write_table
from plausible.tables import open_table
from support.workbooks import workbook

ODD = {
    "plain.csv": b"x,w,name\n1,0.5,a\n2,1,b\n",
    "semicolons.csv": b"x;w;name\n1;0.5;a\n2;1;b\n",
    "decimal commas.csv": b"x;w;name\n1,5;0,5;a\n2;1;b\n",
    "thousands.csv": b'x,w,name\n"1,234.5",1,a\n2,1,b\n',
    "tabs.txt": b"x\tw\tname\n1\t0.5\ta\n2\t1\tb\n",
    "tabs.tsv": b"x\tw\tname\n1\t\ta, b\n2\t1\tb\n",
    "missing.csv": b"x,w,name\nNA,1,a\n2,,b\n nan ,N/A,\n",
    "late.csv": b"x,w,name\n" + b"1,1,a\n" * 500 + b"1.5,2,b\n",
    "truth.csv": b"x,w,name\ntrue,1,a\nFALSE,2,b\n",
    "percent.csv": b"x,w,name\n45 %,1,a\n5%,2,b\n",
    "blanks.csv": b"x,w,name\n\n 1 , 2,a\n\n2,1 ,b\n\n",
    "mark.csv": b"\xef\xbb\xbfx,w,name\n1,2,a\n2,1,b\n",
    "latin.csv": "x;w;name\n1;2;é\n2;1;ü\n".encode("latin-1"),
    "utf16.csv": "x;w;name\n1;2;é\n2;1;ü\n".encode("utf-16"),
    "packed.csv.gz": gzip.compress(b"x,w,name\n1,2,a\n2,1,b\n"),
    "quotes.csv": b'"x","w","name"\n"1","2","a ""q"", c"\n"2","1","two\nlines"\n',
    "ends.csv": b"x,w,name\r\n1,2,a\r\n2,1,b\r\n",
    "lines.jsonl": b'{"x": 1, "w": 2, "name": "a"}\n\n{"name": "b", "w": 1.5}\n',
    "list.json": b'[{"x": 1, "w": 2, "name": "a"},\n {"x": null, "w": 1.5, "name": "b"}]',
    "book.xlsx": workbook({"Data": [["x", "w", "name"], [1, 2.5, "a"], [None, 1, "b"]]}),
    "header only.csv": b"x,w,name\n",
}
BAD = {
    "ragged.csv": (b"x,w,name\n1,2,a\n3,4\n5,6,b\n", "row 2 on line 3 has 2 cells"),
    "cut.csv": (b"x,w,name\n1,2,a\n3,4\n", "(row 2 on line 3) ends after 2 cells with '3,4'"),
    "open quote.csv": (b'x,w,name\n1,2,"a\n3,4,b\n', "row 1 on line 2"),
    "twice.csv": (b"x,w,x\n1,2,3\n", "repeats 'x'"),
    "unnamed.csv": (b"x,,name\n1,2,3\n", "column 2"),
    "empty.csv": (b"", "empty"),
    "title.csv": (b"My data\nx,w,name\n1,2,a\n", "title"),
    "bars.csv": (b"x|w|name\n1|2|a\n", "'|'"),
    "mixed.csv": ("x,w,name\n1,2,é\n".encode() + b"2,1,\xe9\n", "row 2 on line 3"),
    "cut.csv.gz": (gzip.compress(b"x,w,name\n1,2,a\n" * 99)[:-9], "cut off"),
    "broken.jsonl": (b'{"x": 1}\n{"x": }\n', "row 2 on line 2"),
    "kinds.jsonl": (b'{"x": 1}\n{"x": "a"}\n', "row 2 on line 2"),
    "old.xls": (b"\xd0\xcf\x11\xe0" + bytes(99), ".xlsx"),
    "binary.csv": (b"x,w\0,name\n", "zero bytes"),
}


def write(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    return path


@pytest.fixture(params=[1 << 20, 8], ids=["kept", "streamed"])
def kept(request, monkeypatch):
    monkeypatch.setattr("plausible.tables.text.KEPT", request.param)
    if request.param == 8:
        monkeypatch.setattr("plausible.tables.csv_files.BLOCKS", (128, 1 << 20))


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize("name", ODD)
def test_the_same_numbers_names_and_gaps(tmp_path, name):
    path = write(tmp_path, name, ODD[name])
    table = read_table(path)
    expected = {column: table.column(column).to_pylist() for column in ("x", "w", "name")}
    for chunk_rows in (1, 3, None):
        source = read_any(path, ["x", "w"], "name", chunk_rows=chunk_rows)
        parts = list(source)
        X = np.concatenate([part[0] for part in parts] or [np.empty((0, 2))])
        y = [value for part in parts for value in part[1].tolist()]
        numbers = [[np.nan if v is None else float(v) for v in expected[c]] for c in ("x", "w")]
        np.testing.assert_array_equal(X, np.array(numbers).T.reshape(-1, 2))
        assert y == expected["name"]
    assert len(parts) == 0 or expected["name"]


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize("name", BAD)
def test_the_same_refusals(tmp_path, name):
    content, words = BAD[name]
    path = write(tmp_path, name, content)
    messages = []
    for read in (read_table, lambda p: list(stream_table(p)), lambda p: list(read_any(p, ["x"]))):
        with pytest.raises(TableError) as caught:
            read(path)
        messages.append(str(caught.value))
    assert words in messages[0]
    assert path.name in messages[0]
    assert len(set(messages)) == 1


def test_every_kind_of_table_is_summed(tmp_path):
    columns = {"a": np.arange(50) / 7, "b": np.arange(50) ** 2}
    total = [columns["a"].sum(), columns["b"].sum()]
    for ending in ("csv", "tsv", "csv.gz", "jsonl", "json", "parquet", "feather"):
        write_table(columns, tmp_path / f"x.{ending}")
        rows = StreamRows(read_any(tmp_path / f"x.{ending}", chunk_rows=7))
        np.testing.assert_allclose(rows.reduce(lambda chunk: chunk[0].sum(axis=0)), total)
    for source in (columns, pa.table(columns)):
        rows = StreamRows(read_any(source))
        np.testing.assert_allclose(rows.reduce(lambda chunk: chunk[0].sum(axis=0)), total)


days = st.dates(datetime.date(1700, 1, 1), datetime.date(2200, 1, 1))
moments = st.datetimes(datetime.datetime(1700, 1, 1), datetime.datetime(2200, 1, 1))
cells = st.one_of(
    st.lists(st.none() | st.integers(-(2**62), 2**62), min_size=1),
    st.lists(st.none() | st.floats(allow_nan=False), min_size=1),
    st.lists(st.none() | st.booleans(), min_size=1),
    st.lists(st.none() | days, min_size=1),
    st.lists(st.none() | moments, min_size=1),
    st.lists(
        st.none() | st.text(st.characters(codec="utf-8"), min_size=1).map("t{}".format), min_size=1
    ),
)
names = st.from_regex(r"[a-z][ a-z|,;\"]{0,5}", fullmatch=True)


@given(st.dictionaries(names, cells, min_size=1, max_size=4),
       st.sampled_from(["csv", "tsv.gz", "jsonl", "json", "parquet", "feather"]),
       st.integers(1, 5), st.sampled_from([1 << 20, 8]))  # fmt: skip
def test_any_format_in_any_chunks_is_the_table(columns, ending, chunk_rows, n_kept):
    n_rows = min(map(len, columns.values()))
    columns = {name: column[:n_rows] for name, column in columns.items()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("plausible.tables.text.KEPT", n_kept)
        patch.setattr("plausible.tables.json_files.KEPT", n_kept)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"table.{ending}"
            write_table(columns, path)
            opened = open_table(path)
            whole = opened.whole(opened.names)
            chunks = list(stream_table(path, chunk_rows))
            assert whole.to_pydict() == columns
            assert not any("column" in note for note in opened.notes)
            assert all(len(chunk) == chunk_rows for chunk in chunks[:-1])
            assert pa.concat_tables(chunks).to_pydict() == columns
            assert chunks[0].schema == whole.schema == stream_table(path).schema


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux")
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_memory_does_not_grow_with_the_file(tmp_path, ending):
    """Peak memory of passes in a process of its own, over a file and one five times as long."""
    code = """
import sys
import numpy as np
import plausible.tables.text
from plausible.engine import StreamRows, read_any
plausible.tables.text.KEPT = 1 << 20
rows = StreamRows(read_any(sys.argv[1]))
for _ in range(2):
    rows.reduce(lambda columns: columns[0].sum(axis=0))
with open("/proc/self/status") as file:
    print(next(line.split()[1] for line in file if line.startswith("VmHWM")))
"""
    peaks = []
    for n_rows in (200_000, 1_000_000):
        rng = np.random.default_rng(0)
        columns = {name: rng.normal(size=n_rows) for name in "abcdefgh"}
        path = tmp_path / f"{n_rows}.{ending}"
        write_table(columns, path)
        done = subprocess.run(
            [sys.executable, "-c", code, str(path)], capture_output=True, check=True
        )
        peaks.append(int(done.stdout))
    assert peaks[1] - peaks[0] < 25_000  # kilobytes; the rows between them take 51 MB as numbers
