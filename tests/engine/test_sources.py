"""Files as sources: what was written is read, in any chunks, and what cannot be read is named."""

import sys
import threading
from functools import partial

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from plausible.engine import (
    StreamRows,
    read_any,
    read_arrow,
    read_csv,
    read_npy,
    read_parquet,
    sources,
)
from plausible.tables import TableError

pa = pytest.importorskip("pyarrow")
csv = pytest.importorskip("pyarrow.csv")
feather = pytest.importorskip("pyarrow.feather")
parquet = pytest.importorskip("pyarrow.parquet")

N_ROWS = 1000


def write_parquet(table, path):
    parquet.write_table(table, path, row_group_size=300)


def write_arrow(table, path):
    feather.write_feather(table, path, chunksize=300)


def write_arrow_uncompressed(table, path):
    feather.write_feather(table, path, chunksize=N_ROWS, compression="uncompressed")


FORMATS = {
    "parquet": (write_parquet, read_parquet),
    "arrow": (write_arrow, read_arrow),
    "arrow, uncompressed": (write_arrow_uncompressed, read_arrow),
    "csv": (csv.write_csv, read_csv),
}


@pytest.fixture(params=FORMATS.values(), ids=FORMATS)
def file_format(request):
    return request.param


@pytest.fixture(scope="module")
def columns():
    random = np.random.default_rng(0)
    return {
        "a": random.normal(size=N_ROWS),
        "p1": random.uniform(size=N_ROWS),
        "b": random.normal(size=N_ROWS).astype(np.float32),
        "w": random.integers(1, 5, N_ROWS),
        "p0": random.uniform(size=N_ROWS),
        "c": random.integers(-9, 9, N_ROWS),
        "name": random.choice(["yes", "no", "perhaps"], N_ROWS),
        "f": random.integers(0, 2, N_ROWS).astype(bool),
    }


@pytest.fixture
def written(columns, file_format, tmp_path):
    write, read = file_format
    path = tmp_path / "data.file"
    write(pa.table(columns), path)
    return path, read


def joined(source):
    return [
        None if parts[0] is None else np.concatenate(parts) for parts in zip(*source, strict=True)
    ]


@pytest.mark.parametrize("chunk_rows", [7, 300, N_ROWS, None])
def test_what_was_written_is_read(columns, written, chunk_rows):
    path, read = written
    source = read(path, ["c", "a", "f", "b"], ["p0", "p1"], "w", chunk_rows=chunk_rows)
    X, P, weight = joined(source)
    expected = np.column_stack([columns[name].astype(float) for name in "cafb"])
    np.testing.assert_allclose(X, expected, rtol=1e-6 if read is read_csv else 0)
    np.testing.assert_array_equal(P, np.column_stack([columns["p0"], columns["p1"]]))
    np.testing.assert_array_equal(weight, columns["w"])
    assert [X.dtype, P.dtype, weight.dtype] == [np.float64] * 3
    sizes = [len(chunk[0]) for chunk in source]  # a second pass
    assert sum(sizes) == N_ROWS
    assert max(sizes) <= (chunk_rows or N_ROWS)


def test_labels_in_one_column_and_all_others_as_features(columns, written):
    path, read = written
    X, y, weight = joined(read(path, labels="name", weight="w"))
    np.testing.assert_array_equal(y, columns["name"])
    others = [name for name in columns if name not in ("name", "w")]
    assert X.shape == (N_ROWS, len(others))
    np.testing.assert_array_equal(X[:, others.index("p1")], columns["p1"])
    np.testing.assert_array_equal(weight, columns["w"])
    X, y, weight = joined(read(path, ["a"], labels="c"))
    np.testing.assert_array_equal(y, columns["c"])
    assert weight is None


def test_sums_over_a_file(columns, written):
    path, read = written
    rows = StreamRows(read(path, ["a", "c"], chunk_rows=64))
    found = rows.reduce(lambda chunk: chunk[0].sum(axis=0))
    np.testing.assert_allclose(found, [columns["a"].sum(), columns["c"].sum()], rtol=1e-10)
    assert rows.n_rows == N_ROWS


@pytest.mark.parametrize("name", ["parquet", "arrow"])
def test_float32_stays_and_mixtures_become_float64(columns, tmp_path, name):
    write, read = FORMATS[name]
    path = tmp_path / "data.file"
    write(pa.table({"b": columns["b"], "e": columns["b"] * 2, "a": columns["a"]}), path)
    assert {X.dtype for X, _, _ in read(path, ["b", "e"])} == {np.dtype(np.float32)}
    assert {X.dtype for X, _, _ in read(path, ["b", "a"])} == {np.dtype(np.float64)}
    np.testing.assert_array_equal(joined(read(path, ["e", "b"]))[0][:, 1], columns["b"])


def test_nulls_become_nan(tmp_path, file_format):
    write, read = file_format
    table = pa.table(
        {
            "x": pa.array([1.5, None, 3.0]),
            "i": pa.array([None, 2, 3]),
            "f": pa.array([True, False, None]),
            "none": pa.array([None, None, None], pa.float64()),
        }
    )
    write(table, tmp_path / "data.file")
    X, _, _ = joined(read(tmp_path / "data.file"))
    nan = np.nan
    np.testing.assert_array_equal(X, [[1.5, nan, 1, nan], [nan, 2, 0, nan], [3, 3, nan, nan]])


def test_labels_of_a_dictionary_type(tmp_path):
    table = pa.table({"x": [1.0, 2.0, 3.0], "y": pa.array(["b", "a", "b"]).dictionary_encode()})
    write_parquet(table, tmp_path / "data.parquet")
    assert joined(read_parquet(tmp_path / "data.parquet", labels="y"))[1].tolist() == list("bab")


def test_decimals_are_numbers(tmp_path):
    table = pa.table({"x": pa.array([1, 2, None]).cast(pa.decimal128(21, 2))})
    write_parquet(table, tmp_path / "data.parquet")
    X, _, _ = joined(read_parquet(tmp_path / "data.parquet"))
    np.testing.assert_array_equal(X, [[1], [2], [np.nan]])


@pytest.fixture(params=[None, 64], ids=["kept", "streamed"])
def kept(request, monkeypatch):
    """Short files are parsed once; here also as if they were long ones."""
    if request.param is not None:
        monkeypatch.setattr("plausible.tables.text.KEPT", request.param)
        monkeypatch.setattr("plausible.tables.csv_files.BLOCKS", (200, 1 << 20))


@pytest.mark.parametrize("end", ["", "7.5"])
@pytest.mark.usefixtures("kept")
def test_csv_numbers_that_look_whole_at_first(tmp_path, end):
    """The first block may not show the type."""
    path = tmp_path / "data.csv"
    path.write_text("a,b\n" + "1,2\n" * 100 + f"{end},3\n")
    X, _, _ = joined(read_csv(path))
    assert X[:-1].tolist() == [[1, 2]] * 100
    np.testing.assert_array_equal(X[-1], [float(end or "nan"), 3])


@pytest.mark.usefixtures("kept")
def test_csv_with_a_word_among_numbers(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a,b\n" + "1,2\n" * 100 + "1,word\n")
    with pytest.raises(ValueError, match="'b' of 'data.csv' .* 'word' in row 101 on line 102;"):
        read_csv(path)
    assert joined(read_csv(path, ["a"], "b"))[1].tolist() == ["2"] * 100 + ["word"]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            {"features": ["a", "z"]},
            "'data.file' should have a column 'z', .* are 'a', 'p1'",
        ),
        ({"labels": "z"}, "column 'z', .* its columns are 'a', 'p1'"),
        ({"labels": ["p0", "nam"]}, "column 'nam', .*; did you mean 'name'"),
        ({"features": ["a"], "weight": "z"}, "column 'z', .* columns are 'a', 'p1'"),
        (
            {"features": ["a", "name"]},
            "'name' of 'data.file' should be numeric, .* in row 1",
        ),
        ({}, "Column 'name' of 'data.file' should be numeric.*features=\\['a', 'p1', 'b'\\]"),
        ({"features": ["a"], "labels": ["p0", "name"]}, "Column 'name' .* should be numeric"),
        ({"features": ["a"], "weight": "name"}, "Column 'name' .* should be numeric"),
        ({"features": ["a", "c"], "labels": "c"}, "neither labels nor .* but c came twice"),
        ({"features": ["a", "a"]}, "named once, but a came twice"),
        ({"features": []}, "but there are none; its columns are 'a', 'p1'"),
        ({"features": ["a"], "chunk_rows": 0}, "at least 1, but 0"),
    ],
)
def test_columns_that_cannot_be_used(written, asked, message):
    path, read = written
    with pytest.raises(ValueError, match=message):
        read(path, **asked)


@pytest.mark.parametrize("read", [read_parquet, read_arrow, read_csv, read_npy])
def test_a_file_that_is_not_there(tmp_path, read):
    (tmp_path / "date.parquet").write_text("")
    with pytest.raises(FileNotFoundError, match="'.*data.parquet' should .* holds date.parquet"):
        read(tmp_path / "data.parquet")
    with pytest.raises(FileNotFoundError, match="folder is empty or does not exist"):
        read(tmp_path / "nowhere" / "data.parquet")
    with pytest.raises((FileNotFoundError, ValueError), match="should be a (file|table)"):
        read(tmp_path)


@pytest.mark.parametrize("read", [read_parquet, read_arrow, read_csv])
def test_pyarrow_is_not_installed(tmp_path, monkeypatch, read):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r'pip install "plausible\[io\]"'):
        read(tmp_path / "data")


def test_a_file_that_grows_between_passes(tmp_path):
    path = tmp_path / "data.parquet"
    write_parquet(pa.table({"x": np.arange(10.0)}), path)
    rows = StreamRows(read_parquet(path))
    write_parquet(pa.table({"x": np.arange(12.0)}), path)
    with pytest.raises(ValueError, match="same 10 rows .* but yielded 12"):
        rows.reduce(lambda columns: columns[0].sum())


def write_groups(path, columns, lengths):
    table, start = pa.table(columns), 0
    with parquet.ParquetWriter(path, table.schema) as writer:
        for length in lengths:
            writer.write_table(table.slice(start, length))
            start += length


@pytest.fixture
def in_groups(columns, tmp_path):
    path = tmp_path / "data.parquet"
    write_groups(path, columns, [300, 1, 450, 249])
    return path


@pytest.fixture
def each_alone(monkeypatch):
    """Groups are not so short that several are read together, for a table of so many columns."""

    def set_bytes(n_columns):
        monkeypatch.setattr(sources, "GROUP_BYTES", 500 * 8 * n_columns)

    return set_bytes


def of_groups(source):
    """What the openers of a source read, the last first, as any thread may."""
    given = source.openers()
    opened = [read() for _, read in given[::-1]][::-1]
    assert [len(X) for X, _, _ in opened] == [n_rows for n_rows, _ in given]
    return joined(opened)


@pytest.mark.parametrize("labels", [["p0", "p1"], "name"])
def test_groups_of_a_file_are_read_in_any_order(in_groups, labels, each_alone):
    each_alone(7)
    source = read_parquet(in_groups, ["c", "a", "f", "b"], labels, "w")
    assert len(source.openers()) == 4
    for one, other in zip(of_groups(source), joined(source), strict=True):
        np.testing.assert_array_equal(one, other)


def test_short_groups_are_read_together(columns, tmp_path, monkeypatch):
    path = tmp_path / "data.parquet"
    write_groups(path, columns, [3] * 200 + [0, 150, 0, 250])
    monkeypatch.setattr(sources, "GROUP_BYTES", 8 * 400)
    source = read_parquet(path, ["a"])
    assert [n_rows for n_rows, _ in source.openers()] == [99] * 6 + [6, 150, 250]
    np.testing.assert_array_equal(of_groups(source)[0][:, 0], columns["a"])
    lengths = [len(X) for X, *_ in read_parquet(path, ["a"], chunk_rows=70)]
    assert max(lengths) == 70  # a short first group does not make short chunks
    assert len(lengths) < 20


def test_groups_of_a_folder(columns, tmp_path, each_alone):
    each_alone(3)
    half = N_ROWS // 2
    for number in range(2):
        some = {name: column[number * half :][:half] for name, column in columns.items()}
        write_groups(tmp_path / f"{number}.parquet", some, [200, 300])
    X, weight = np.column_stack([columns["c"], columns["a"]]), columns["w"]
    source = read_parquet(tmp_path, ["c", "a"], weight="w")
    assert len(source.openers()) == 4
    found = StreamRows(source).reduce(lambda c: c[2] @ c[0])
    np.testing.assert_allclose(found, weight @ X, rtol=1e-12)
    parquet.write_table(pa.table(columns).slice(0, 450), tmp_path / "2.parquet")
    assert len(read_parquet(tmp_path, ["c", "a"]).openers()) == 5
    parquet.write_table(pa.table(columns), tmp_path / "3.parquet")  # a long group
    assert read_parquet(tmp_path, ["c", "a"]).openers() is None


def test_sums_over_groups_are_those_of_chunks(in_groups, each_alone):
    each_alone(6)

    def moments(columns):
        X, y, w = columns
        return np.column_stack([X, y]).T @ (X * w[:, None])

    wanted = ["c", "a", "b"], ["p0", "p1"], "w"
    found = []
    for n_threads in (1, 3):
        with threadpool_limits(n_threads, "blas"):
            rows = StreamRows(read_parquet(in_groups, *wanted))
            found += [rows.reduce(moments), rows.kept().reduce(moments)]
    for one in found[1:]:
        np.testing.assert_array_equal(one, found[0])  # to the last digit
    plain = StreamRows(read_parquet(in_groups, *wanted, chunk_rows=70)).reduce(moments)
    np.testing.assert_allclose(found[0], plain, rtol=1e-12)
    in_order = np.concatenate([c[0] for c in rows.chunks()])
    np.testing.assert_array_equal(in_order, joined(read_parquet(in_groups, *wanted))[0])
    assert rows.n_rows == N_ROWS


def test_groups_are_read_by_the_threads_that_sum(in_groups, each_alone):
    each_alone(1)
    readers, source = set(), read_parquet(in_groups, ["a"])
    both = threading.Barrier(2, timeout=60)  # each waits until another one reads as well
    whole = source.openers()

    def watched(read):
        readers.add(threading.current_thread())
        both.wait()
        return read()

    source.openers = lambda: [(n, partial(watched, read)) for n, read in whole]
    with threadpool_limits(2, "blas"):
        assert StreamRows(source).reduce(lambda c: len(c[0])) == N_ROWS
    assert len(readers) == 2


@pytest.mark.parametrize(("group_rows", "chunk_rows"), [(N_ROWS, None), (100, 100)])
def test_one_group_or_chunks_of_a_wanted_length_are_read_one_after_another(
    columns, tmp_path, group_rows, chunk_rows
):
    path = tmp_path / "data.parquet"
    parquet.write_table(pa.table(columns), path, row_group_size=group_rows)
    assert read_parquet(path, ["a"], chunk_rows=chunk_rows).openers() is None


def test_long_groups_and_file_objects_are_read_one_after_another(in_groups, monkeypatch):
    with open(in_groups, "rb") as file:
        assert read_any(file, ["a"]).openers() is None
    monkeypatch.setattr(sources, "GROUP_BYTES", 450 * 8 - 1)
    assert read_parquet(in_groups, ["a"]).openers() is None


def test_groups_that_change_between_passes(columns, in_groups, each_alone):
    each_alone(1)
    source = read_parquet(in_groups, ["a"])
    write_groups(in_groups, columns, [300, 1, 450])
    with pytest.raises(ValueError, match="same 1000 rows .* but yielded 751"):
        StreamRows(source).reduce(lambda c: len(c[0]))
    source.openers = lambda: [(N_ROWS, lambda: (np.zeros((3, 1)), None, None))]
    with pytest.raises(ValueError, match="Chunk 0 .* the 1000 rows that were told, but it has 3"):
        StreamRows(source).reduce(lambda c: len(c[0]))


def test_the_row_from_which_a_group_is_damaged(columns, in_groups, each_alone):
    each_alone(1)
    content = bytearray(in_groups.read_bytes())
    group = parquet.ParquetFile(in_groups).metadata.row_group(2)
    start = group.column(0).dictionary_page_offset or group.column(0).data_page_offset
    content[start : start + 20] = bytes(20)
    in_groups.write_bytes(content)
    rows = StreamRows(read_parquet(in_groups, ["a"]))
    with pytest.raises(TableError, match=r"'data.parquet' .* cannot be read after row 301 "):
        rows.reduce(lambda c: len(c[0]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy(tmp_path, dtype, order):
    random = np.random.default_rng(0)
    X = np.array(100 * random.normal(size=(N_ROWS, 3)), dtype=dtype, order=order)
    P, weight = random.uniform(size=(N_ROWS, 2)), random.uniform(size=N_ROWS)
    paths = [tmp_path / folder / "data.npy" for folder in ("X", "P", "weight")]
    for path, array in zip(paths, (X, P, weight), strict=True):
        path.parent.mkdir()
        np.save(path, array)
    source = read_npy(*paths, chunk_rows=70)
    assert source.n_rows == N_ROWS
    for found, array in zip(joined(source), (X, P, weight), strict=True):
        np.testing.assert_array_equal(found, array)
    assert {chunk[0].dtype for chunk in source} == {
        np.dtype(np.float32 if dtype == np.float32 else np.float64)
    }
    assert joined(read_npy(paths[0]))[1:] == [None, None]


def test_npy_files_that_do_not_fit(tmp_path):
    for name, array in {
        "X": np.ones((3, 2)), "y": np.ones(4), "one": np.array(1.0), "words": np.array([["a"]]),
    }.items():  # fmt: skip
        np.save(tmp_path / f"{name}.npy", array)
    X, y, one, words = (tmp_path / f"{name}.npy" for name in ("X", "y", "one", "words"))
    with pytest.raises(ValueError, match=r"one number of rows, but have \[3, 4\] rows"):
        read_npy(X, y)
    with pytest.raises(ValueError, match="one.npy should hold one entry for each row"):
        read_npy(X, weight=one)
    with pytest.raises(ValueError, match=r"y.npy should .* matrix .* shape \(4,\)"):
        read_npy(y)
    with pytest.raises(ValueError, match="words.npy should .* matrix of numbers.*type <U1"):
        read_npy(words)
