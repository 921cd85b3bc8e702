"""Plain CSV in compiled loops: what Arrow reads, whatever the text goes on with."""

import contextlib
import io
import mmap
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from plausible.tables import TableError, csv_files, open_table, plain_cells
from plausible.tables import text as text_room

LONG = "a name of more than sixteen letters, number "
cells = (
    st.integers(0, 120).map(str)
    | st.sampled_from(["007", "+5", " 5", "-0", "1.5", "12e3", "", "NA", " ", " NA ", "null"])
    | st.sampled_from(["a", "A", "exactly8", "ninebytes", "\u00e9t\u00e9", "\u732b", "a\0", "\0"])
    | st.integers(0, 9).map(lambda k: LONG.replace(",", ";") + str(k))
)
fractions = st.floats(allow_nan=False).map(repr) | st.sampled_from(["1.50", ".5", "-0.0", "2.e3"])
wholes = st.integers(-99, 99).map(str) | st.integers(10**17, 10**20).map(str)
quoted = cells.map(lambda cell: f'"{cell}"') | st.sampled_from(['"a, b"', '""', '"NA"', '"7"'])
ODD = [
    b'"', b'x,"y",z\n', b"\r", b"a,b\n", b"a,b,c,d\n", b"\n", b"\xe9", b"\xc5\xbe,\xe9,4\n",
    b'"two\nlines, one cell",b,3\n', b'"never closed,b,3\n', b"a,b",
    b'"a""b",c,d\n', b'a"b,"c"d,e\n', b'="001",c,d\n', b'x,"y"\r,z\n',
]  # fmt: skip


@contextlib.contextmanager
def reading(is_long, is_compiled, few=4):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_room, "LARGE", 0 if is_long else 1 << 40)
        patch.setattr(text_room, "LOOK", 16)
        patch.setattr(csv_files, "is_worth_compiling", lambda: is_compiled)
        patch.setattr("plausible.tables.threads.MANY", 0)
        patch.setattr(plain_cells, "FEW", few)
        yield


def read(content, **how):
    """All that can be asked about a file, or why it is refused."""
    with reading(**how):
        try:
            table = open_table(io.BytesIO(content))
        except TableError as error:
            return str(error)
        coded = [table.encoded(name) for name in table.names]
        names = [[(type(name), name) for name in it.names.tolist()] for it in coded]
        as_text = [table.column(name, typed=False).to_pylist() for name in table.names]
        values = table.whole(table.names).to_pydict()
        return [it.codes.tolist() for it in coded], names, as_text, values, table.notes


def no_numbers(kinds):
    raise pa.ArrowInvalid


def is_plain(content):
    return plain_cells.read_plain(content, 0, ",", 3, no_numbers) is not None


@given(
    st.lists(st.tuples(cells, cells | quoted, cells | quoted), min_size=1, max_size=12)
    | st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=12)
    | st.lists(st.tuples(cells, fractions, wholes | fractions), min_size=1, max_size=12)
    | st.lists(st.tuples(fractions, fractions | cells, wholes), min_size=1, max_size=12),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.sampled_from([b"", b"\xef\xbb\xbf", b"sep=,\n"]),
    st.sampled_from([b"", *ODD]),
    st.sampled_from([-1, 0, 4]),
)
@example([("7", "b", "1")] * 3, "\r\n", True, b"", b"7,b\r,1\r\n", -1)
@example([("7", "b", "1")] * 3, "\r\n", True, b"", b"7,b,1\n", -1)
@example([("a", "b", "é")] * 9, "\n", False, b"", b"", -1)
@example([("a", "b", "c")] * 9, "\n", True, b"", b"x,y,caf\xe9\n", -1)
def test_what_arrow_reads(rows, end, is_ended, start, late, few):
    """Text that begins plainly is read at once; if it goes on otherwise, that is discarded."""
    lines = ["item,who,k", *(",".join(row) for row in rows)]
    content = start + (end.join(lines) + end * is_ended).encode() + late
    expected = read(content, is_long=False, is_compiled=False)
    assert read(content, is_long=True, is_compiled=False) == expected
    assert read(content, is_long=True, is_compiled=True, few=few) == expected


@pytest.mark.parametrize(
    ("late", "plain"),
    [
        (b"21,z,3\n", True),
        ("21,\u017ebl,3".encode(), True),
        (b"21,NA,3\n22,,4\n23, ,5\n", True),
        (b'21,"z, y",3\n22,"",4\n23,x,"5"', True),
        (b'21,"z""y",3\n', False),
        (b'21,z"y",3\n', False),
        (b'21,"z"y,3\n', False),
        (b'21,"z\ny",3\n', False),
        (b'21,z,"3\n', False),
        (b"21,caf\xe9,3\n", False),
        (b"21,b\n", False),
        (b"21,b,3,4\n", False),
        (b"\n21,b,3\n", False),
        (b"21,b,3\r\n", False),
        (b"21,b\r,3\n", False),
    ],
)
def test_which_text_is_plain(late, plain):
    content = b"item,who,k\n" + b"".join(b"%d,b%d,%d\n" % (k, k % 3, 7 - k) for k in range(20))
    assert is_plain(content + late) is plain


@pytest.mark.parametrize(
    ("late", "is_kept"),
    [
        (b"21,NA,3\n", True),
        ("21,\u017ebl,3\n".encode(), True),
        (b'21,"two\nlines, one cell",3\n', False),
        (b'21,"NA",3\n', False),
        (b"21,caf\xe9,3\n", False),
        (b"21,b\n", None),
    ],
)
def test_what_is_parsed_while_text_is_surveyed_may_be_discarded(late, is_kept, monkeypatch):
    found, read_ahead = [], csv_files.CsvSource._read_ahead
    monkeypatch.setattr(
        csv_files.CsvSource,
        "_read_ahead",
        lambda table: found.append(read_ahead(table)) or found[0],
    )
    content = b"item,who,k\n" + b"1,b,2\n" * 20 + late
    expected = read(content, is_long=False, is_compiled=False)
    assert read(content, is_long=True, is_compiled=False) == expected
    assert [columns is not None for columns in found] == [bool(is_kept)]
    assert isinstance(expected, str) == (is_kept is None)


@pytest.mark.parametrize("shift", range(64))
def test_quotes_at_any_place_of_64_letters(shift):
    """Also where quotes open in one part of 64 letters, and close in another."""
    begin = b"item,who,k\n" + b"x" * shift + b",b,1\n" + b"y" * 60
    assert is_plain(begin + b',"a, b",3\n')
    assert is_plain(begin + b',"' + b"a, " * 50 + b'",3\n')
    assert not is_plain(begin + b',"a, b"c,3\n')
    assert not is_plain(begin + b',"a"",b",3\n')
    assert not is_plain(begin + b'"a, b",3\n')
    assert not is_plain(begin + b',"' + b"a, " * 50 + b",3\n")


def test_lines_that_end_with_returns_are_plain():
    assert is_plain(b"item,who,k\r\n" + b"1,b,2\r\n" * 9)


def kinds_of_columns(content):
    with reading(is_long=True, is_compiled=True):
        columns = open_table(io.BytesIO(content))._columns.values()
    return [type(column).__name__ for column in columns]


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize(
    ("late", "made"),
    [
        ("1.50,77", "NN"), ("NA,", "NN"), ("-0.5,-5", "NN"), ("Nan,-0", "NN"), (",0", "NN"),
        ("00.5,78", "TN"), ("-01.5,78", "TN"), (" 1.5,78", "TN"), ("-inf,78", "TN"),
        ("1e18,78", "TN"), ("\t00,78", "TN"),
        ("1.5,078", "NT"), ("1.5,0x7", "NT"), ("1.5,-0X7", "NT"), ("1.5,+07", "NT"),
        ("1.5,78.5", "TT"), ("?,78", "TT"), ("1.5,9223372036854775808", "TT"), ('"1.5",7', "TT"),
    ],
)  # fmt: skip
def test_columns_of_plain_numbers_are_left_to_arrow(late, made, end):
    """Where codes are no use; a cell that Arrow would read as another number comes as text."""
    rng = np.random.default_rng(0)
    rows = [f"b{k % 5},{v!r},{k}" for k, v in enumerate(rng.normal(size=99).tolist())]
    content = end.join([b"a,b,c", *(row.encode() for row in rows), f"b1,{late}".encode()]) + end
    called = {"N": "NumberColumn", "T": "TextColumn"}
    assert kinds_of_columns(content) == ["CodedColumn", *(called[letter] for letter in made)]
    expected = read(content, is_long=False, is_compiled=False)
    assert read(content, is_long=True, is_compiled=True) == expected


@pytest.mark.parametrize("late", ["7e3", "1.5"])
def test_codes_such_as_12e3_are_names_only_if_all_cells_are(late):
    rows = [f"b{k % 5},{k}e3,{k % 3}" for k in range(99)]
    content = "\n".join(["a,b,c", *rows, f"b1,{late},2"]).encode()
    expected = read(content, is_long=False, is_compiled=False)
    assert read(content, is_long=True, is_compiled=True) == expected


def test_columns_whose_cells_come_again_are_in_codes():
    rng = np.random.default_rng(0)
    n = 5000
    once, often = rng.permutation(n), rng.integers(0, n // 5, n)
    rows = [f"x{a},x{b},{a},{b},{b / 100}" for a, b in zip(once, often, strict=True)]
    content = "\n".join(["a,b,c,d,e", *rows]).encode()
    made = ["TextColumn", "CodedColumn", "NumberColumn", "CodedColumn", "NumberColumn"]
    assert kinds_of_columns(content) == made


def test_more_cells_than_a_table_has_places_at_first(monkeypatch):
    """Parts of several threads, unsorted, and names of all lengths."""
    monkeypatch.setattr(plain_cells, "N_THREADS", 3)
    monkeypatch.setattr("plausible.tables.threads.MANY", 0)
    rng = np.random.default_rng(1)
    numbers = rng.integers(0, 5 * plain_cells.N_PLACES, 6 * plain_cells.N_PLACES)
    names = ["x" * (k % 37) + str(k) for k in numbers.tolist()]
    content = "\n".join(["item,who,k", *(f"{name},b,{k % 3}" for k, name in enumerate(names))])
    items, who, k = plain_cells.read_plain(content.encode(), 0, ",", 3, no_numbers)
    assert items.cells.to_pylist() == list(dict.fromkeys(names))
    assert items.cells.take(items.codes).to_pylist() == names
    assert who.cells.to_pylist() == ["b"]
    assert k.codes.tolist() == [k % 3 for k in range(len(names))]


def test_long_cells_with_the_same_numbers_are_told_apart():
    """Third words are chosen such that second words that differ are mixed into one number."""
    odd, mask = 0x9E3779B97F4A7C15, 2**64 - 1
    second = [0x1111111111111111, 0x7777777777777777]
    mixed = [((word ^ (word >> 32)) * odd) & mask for word in second]
    third = [5, (5 + mixed[0] - mixed[1]) & mask]
    parts = [np.array([42, a, b], np.uint64).tobytes() for a, b in zip(second, third, strict=True)]
    text = np.frombuffer(b",".join([*parts, parts[0], b"\0" * 16]), np.uint8)
    ends = np.array([-1, 24, 49, 74], np.int32)
    codes, first = np.empty(3, np.int64), np.empty(4, np.int64)
    table = np.zeros((8, plain_cells.WIDTH), np.uint64)
    where = text.ctypes.data, ends.ctypes.data, 4, 0
    assert plain_cells._encode(where, 0, codes, table.ravel(), first, 0) == (3, 2)
    assert codes.tolist() == [0, 1, 0]
    assert first[:2].tolist() == [0, 1]
    assert (table[table[:, 3] > 0, :2] == table[table[:, 3] > 0][0, :2]).all()  # as was intended


@pytest.mark.parametrize("behind", [0, 14, 15, 100])
@pytest.mark.parametrize("is_ended", [True, False])
def test_nothing_is_read_behind_the_last_page(behind, is_ended):
    """Text that ends `behind` bytes before the end of a page of memory is read where it lies."""
    with mmap.mmap(-1, 2 * mmap.PAGESIZE) as memory:
        size = mmap.PAGESIZE - behind
        memory[:size] = b"a" * (size - 1) + (b"\n" if is_ended else b"b")
        given = memoryview(memory)[:size]
        text = plain_cells._readable(given)
        is_copied = not np.shares_memory(text, np.frombuffer(given, np.uint8))
        assert text.tobytes() == bytes(given) + b"\n" * (not is_ended)
        assert is_copied is (behind < 15 or not is_ended)
        del text, given


def test_a_first_file_is_not_worth_the_import_of_numba(monkeypatch):
    monkeypatch.setattr(plain_cells, "_n_files", 0)
    monkeypatch.delitem(sys.modules, "numba")
    assert not plain_cells.is_worth_compiling()
    assert plain_cells.is_worth_compiling()
    monkeypatch.setattr(plain_cells, "_n_files", 0)
    monkeypatch.setitem(sys.modules, "numba", None)
    assert plain_cells.is_worth_compiling()
