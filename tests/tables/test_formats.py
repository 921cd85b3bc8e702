"""Files as people have them: the same table, with a note on what was assumed, or a refusal."""

import datetime
import gzip
import io
import json
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from plausible.io import TableError, read_table, write_table
from plausible.tables import open_table, stream_table
from support.workbooks import Fault, Percent, workbook

DAY = datetime.date(2024, 1, 31)
NOON = datetime.datetime(2024, 1, 31, 12, 30)


def named(name, content):
    file = io.BytesIO(content)
    file.name = name
    return file


def refused(source, *words):
    with pytest.raises(TableError) as caught:
        read_table(source)
    message = str(caught.value)
    assert all(word in message for word in words), message
    return message


def notes(source):
    table = open_table(source)
    table.schema(table.names)
    return "\n".join(table.notes)


# -- Encodings -------------------------------------------------------------------------------------

TEXT = "item,ort\n1,Zürich\n2,Genève\n"
PLACES = {"item": [1, 2], "ort": ["Zürich", "Genève"]}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1", "cp1252"])
@pytest.mark.parametrize("kept", [1 << 20, 4])
def test_encodings(encoding, kept, monkeypatch):
    monkeypatch.setattr("plausible.tables.text.KEPT", kept)
    monkeypatch.setattr("plausible.tables.text.PIECE", 3)  # letters are cut in two
    content = TEXT.encode(encoding)
    assert read_table(io.BytesIO(content)).to_pydict() == PLACES
    assert read_table(io.BytesIO(gzip.compress(content))).to_pydict() == PLACES
    said = notes(named("x.csv", content))
    if "utf-8" in encoding:
        assert said == ""
    elif encoding == "utf-16":
        assert said == "'x.csv' is in UTF-16"
    else:
        assert "'x.csv' is not in UTF-8; it was read as Windows-1252" in said
        assert "ü" in said


def test_encodings_of_both_byte_orders_and_of_json():
    for encoding, mark in (("utf-16-le", b"\xff\xfe"), ("utf-16-be", b"\xfe\xff")):
        assert read_table(io.BytesIO(mark + TEXT.encode(encoding))).to_pydict() == PLACES
        lines = '{"ort": "Zürich"}\n{"ort": "Genève"}\n'.encode(encoding)
        assert read_table(io.BytesIO(mark + lines)).column("ort").to_pylist() == PLACES["ort"]


def test_a_header_in_windows_1252():
    table = open_table(io.BytesIO("größe;n\n1;2\n".encode("cp1252")))
    assert table.names == ["größe", "n"]
    assert "'größe'" in table.notes[0]


# -- Headers and rows ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "lines",
    [
        ["Leaves of 2024", "item,a,b", "x,1,2", "y,3,4"],
        ["Leaves of 2024", "item;a;b", "x;1;2", "y;3;4"],
        ["Leaves of 2024,,", "item,a,b", "x,1,2", "y,3,4"],
        ["Leaves of 2024", "", "item\ta\tb", "x\t1\t2"],
        ["Leaves of 2024", "all of them", "item,a,b", "x,1,2", "y,3,4"],
    ],
)
def test_a_title_above_the_header(lines):
    file = io.StringIO("\n".join(lines) + "\n")
    refused(file, "'Leaves of 2024'", "below have 3 cells", "delete it")


def test_one_column_is_no_title():
    assert read_table(io.StringIO("a\n1\n2\n")).to_pydict() == {"a": [1, 2]}
    assert read_table(io.StringIO('"a"\n"1,5"\n"2"\n')).column_names == ["a"]


def test_bars_separate_no_cells():
    refused(io.StringIO("item|annotator|label\n1|ann|cat\n2|bob|dog\n"), "'|'", "with commas")
    assert read_table(io.StringIO("set\ncat|dog\ncat\n")).column("set").to_pylist() == [
        "cat|dog",
        "cat",
    ]


def test_the_mark_that_cuts_all_rows_alike():
    assert read_table(io.StringIO("name, first;age\nDoe, J;3\nRoe;4\n")).to_pydict() == {
        "name, first": ["Doe, J", "Roe"], "age": [3, 4]
    }  # fmt: skip
    assert notes(io.StringIO("a;b\n1;2\n")) == "the file object: semicolons separate its cells"
    assert notes(named("x.tsv", b"a\tb\n1\t2\n")) == ""
    assert "tabs separate" in notes(named("x.csv", b"a\tb\n1\t2\n"))


def test_blank_lines_and_line_ends():
    for end in ("\n", "\r\n", "\r"):
        file = io.BytesIO(end.join(["", "a,b", "", "1,x", "", "2,y", "", ""]).encode())
        assert read_table(file).to_pydict() == {"a": [1, 2], "b": ["x", "y"]}


def test_a_quote_that_is_never_closed_names_its_row(monkeypatch):
    for kept in (1 << 20, 4):
        monkeypatch.setattr("plausible.tables.text.KEPT", kept)
        message = refused(
            io.StringIO('a,b\n1,2\n3,"4\n5,6\n'), "opens in row 2 on line 3 is still open"
        )
        assert "has not" not in message


def test_long_rows_in_long_files(monkeypatch):
    monkeypatch.setattr("plausible.tables.text.KEPT", 4)
    monkeypatch.setattr("plausible.tables.csv_files.BLOCKS", (64, 512, 1 << 16))
    rows = [(k, "x" * (5 if k % 50 else 40 * k + 1)) for k in range(200)]
    file = io.StringIO("k,t\n" + "".join(f"{k},{text}\n" for k, text in rows))
    table = read_table(file)
    assert list(zip(table["k"].to_pylist(), table["t"].to_pylist(), strict=True)) == rows
    refused(io.StringIO("k,t\n1,x\n2,y\n3\n" + "4,z\n" * 99), "row 3 on line 4 has 1 cell)")


# -- JSON ------------------------------------------------------------------------------------------


def test_lists_of_records():
    rows = [{"a": 1, "b": "x"}, {"a": 2.5}, {"b": None, "c": True}]
    expected = {"a": [1.0, 2.5, None], "b": ["x", None, None], "c": [None, None, True]}
    for indent in (None, 2):
        content = json.dumps(rows, indent=indent).encode()
        for file in (named("x.json", content), io.BytesIO(content), named("x.jsonl", content)):
            assert read_table(file).to_pydict() == expected
    assert read_table(named("x.json", b'{"a": 1}\n{"a": 2}\n')).to_pydict() == {"a": [1, 2]}


def test_errors_of_lists():
    refused(io.StringIO('[\n{"a": 1},\n{"a": }\n]'), "row 2 on line 3")
    refused(io.StringIO('[{"a": 1},\n3]'), "row 2 on line 2 is of type int")
    refused(io.StringIO('[{"a": 1} {"a": 2}]'), "row 2", "neither ',' nor ']'")
    refused(io.StringIO('[{"a": 1}\n'), "row 2 on line 2")
    refused(io.StringIO('[{"a": 1}] x'), "more follows")
    refused(io.StringIO('[{"a": 1},\n\n{"a": [1]}]'), "list in row 2 on line 3")
    refused(io.StringIO("[]"), "empty")


def test_dates_in_json():
    table = read_table(io.StringIO('{"d": "2024-01-31", "t": "2024-01-31T12:30"}\n{"d": null}\n'))
    assert table.to_pydict() == {"d": [DAY, None], "t": [NOON, None]}


# -- Excel -----------------------------------------------------------------------------------------

ROWS = [
    ["item", "n", "size", "when", "at", "sure", "share", "code"],
    ["x", 1, 1.5, DAY, NOON, True, Percent(0.45), "007"],
    [None] * 8,
    ["y", 2, 2, None, NOON, False, 1, "8"],
    ["NA", None, Fault("#DIV/0!"), DAY, None, None, None, None],
]
CELLS = {
    "item": ["x", "y", None],
    "n": [1, 2, None],
    "size": [1.5, 2.0, None],
    "when": [DAY, None, DAY],
    "at": [NOON, NOON, None],
    "sure": [True, False, None],
    "share": [0.45, 1.0, None],
    "code": ["007", "8", None],
}


def test_sheets():
    table = read_table(io.BytesIO(workbook({"Data": ROWS})))
    assert table.to_pydict() == CELLS
    shifted = [[None], [], *([None, None, *row] for row in ROWS)]
    assert read_table(io.BytesIO(workbook({"Data": shifted}))).to_pydict() == CELLS


def test_a_page_of_notes_is_no_table():
    book = {"Read me": [["Please see the other sheet"], ["Thanks"]], "Data": [["a", "b"], [1, 2]]}
    table = open_table(io.BytesIO(workbook(book)))
    assert table.whole(table.names).to_pydict() == {"a": [1], "b": [2]}
    assert "'Data' was read" in table.notes[0]
    assert table.notes[0].endswith("#Read me'")
    assert "sheet 'Data'" in table.name
    alone = open_table(io.BytesIO(workbook({"one": [["a"], [1]], "two": [["b"], [2]]})))
    assert alone.names == ["a"]


def test_a_sheet_by_name(tmp_path):
    path = tmp_path / "book.xlsx"
    path.write_bytes(workbook({"empty": [], "one": [["a"], [1]], "two": [["b"], [2]]}))
    assert read_table(path).to_pydict() == {"a": [1]}
    assert read_table(f"{path}#two").to_pydict() == {"b": [2]}
    assert "several sheets ('one', 'two'); 'one' was read" in notes(path)
    assert "book.xlsx#two" in notes(path)
    assert notes(f"{path}#two") == ""
    refused(f"{path}#twoo", "sheet 'twoo'", "did you mean 'two'")
    with pytest.raises(FileNotFoundError, match="none.xlsx"):
        read_table(f"{tmp_path}/none.xlsx#two")
    (tmp_path / "a#b.csv").write_text("a\n1\n")
    assert read_table(tmp_path / "a#b.csv").to_pydict() == {"a": [1]}


def test_columns_of_several_types_in_sheets():
    rows = [["a", "b", "c"], [1, "1,5", "x"], ["two", "2,5", 3.0], [2.5, None, True]]
    table = open_table(io.BytesIO(workbook({"Data": rows})))
    assert table.whole(table.names).to_pydict() == {
        "a": ["1", "two", "2.5"], "b": ["1,5", "2,5", None], "c": ["x", "3", "true"]
    }  # fmt: skip
    assert "decimal comma" in table.notes[0]
    mixed = read_table(io.BytesIO(workbook({"Data": [["when"], [DAY], [NOON]]})))
    assert mixed.column("when").to_pylist() == [datetime.datetime(2024, 1, 31), NOON]


def test_errors_of_sheets(tmp_path):
    refused(io.BytesIO(workbook({"Data": []})), "empty")
    title = [["Leaves of 2024"], [], ["item", "a"], ["x", 1]]
    refused(
        io.BytesIO(workbook({"Data": title})), "'Leaves of 2024'", "row 1 of the sheet", "title"
    )
    refused(io.BytesIO(workbook({"Data": [["a", "a"], [1, 2]]})), "repeats 'a'")
    refused(io.BytesIO(workbook({"Data": [["a", None, "b"], [1, 2, 3]]})), "column 2")
    refused(io.BytesIO(workbook({"Data": ROWS})[:900]), "zip file")
    refused(named("x.xls", b"\xd0\xcf\x11\xe0" + bytes(600)), "Excel 97", ".xlsx")
    table = open_table(io.BytesIO(workbook({"Data": ROWS})))
    assert table.where([1, 2]) == "2 rows (row 1 on line 2, row 2 on line 4)"
    with pytest.raises(TableError, match=r"should end in .*\.csv"):
        write_table({"a": [1]}, tmp_path / "a.xlsx")


def test_excel_without_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(ImportError, match=r'python-calamine.*pip install "plausible\[excel\]"'):
        read_table(io.BytesIO(workbook({"Data": ROWS})))


# -- Folders of Parquet files ----------------------------------------------------------------------


def test_a_folder_is_one_table(tmp_path):
    columns = {"a": np.arange(10), "b": [f"t{k}" for k in range(10)]}
    whole = pa.table(columns)
    for number, part in enumerate((whole[:4], whole[4:5].select(["b", "a"]), whole[5:])):
        pyarrow.parquet.write_table(part, tmp_path / f"part-{number}.parquet")
    (tmp_path / "_SUCCESS").write_text("")
    (tmp_path / ".part-0.crc").write_text("")
    assert read_table(tmp_path).equals(whole)
    assert notes(tmp_path) == ""
    for size in (1, 3, 100):
        chunks = list(stream_table(str(tmp_path), size))
        assert pa.concat_tables(chunks).combine_chunks().equals(whole.combine_chunks())
    table = open_table(tmp_path)
    assert table.n_rows == 10
    assert table.places([4, 5, 6]) == [
        "row 4 of 'part-0.parquet'", "row 1 of 'part-1.parquet'", "row 1 of 'part-2.parquet'"
    ]  # fmt: skip
    (tmp_path / "README.txt").write_text("")
    assert notes(tmp_path).endswith("3 Parquet files were read, and left out: README.txt")


def test_folders_that_are_no_table(tmp_path):
    refused(tmp_path, "is empty", "Parquet")
    (tmp_path / "a.csv").write_text("a\n1\n")
    refused(tmp_path, "other files (a.csv)", "name a file in it")
    pyarrow.parquet.write_table(pa.table({"a": [1], "b": [2]}), tmp_path / "1.parquet")
    pyarrow.parquet.write_table(pa.table({"a": [1.5], "b": [2]}), tmp_path / "2.parquet")
    refused(tmp_path, "'a' is int64 in '1.parquet' and double in '2.parquet'")
    pyarrow.parquet.write_table(pa.table({"a": [1]}), tmp_path / "2.parquet")
    refused(tmp_path, "'1.parquet' has 'b' and '2.parquet' does not")
    (tmp_path / "2.parquet").unlink()
    (tmp_path / "year=2024").mkdir()
    refused(tmp_path, "folders in it (year=2024)")


# -- Codes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["csv", "jsonl", "json", "parquet", "feather"])
def test_columns_of_names_as_codes(tmp_path, ending):
    cells = ["b", None, "a", " b", "b", "é", "a" * 40]
    columns = {
        "s": cells,
        "n": [7, 7, None, 3, 3, 3, 1],
        "t": [True, False, None, True] * 1 + [True] * 3,
    }
    write_table(columns, tmp_path / f"x.{ending}")
    table = open_table(tmp_path / f"x.{ending}")
    found = table.encoded_all(["s", "n", "t"])
    for name, (codes, names) in found.items():
        assert [None if code < 0 else names[code] for code in codes] == columns[name]
        assert sorted(set(codes[codes >= 0])) == list(range(len(names)))
        assert list(dict.fromkeys(c for c in codes if c >= 0)) == list(range(len(names)))
    assert found["s"].names.dtype.kind == "U"
    assert found["n"].names.dtype.kind == "i"


def test_blank_names_are_missing():
    table = open_table(io.StringIO('k,s\n1,a\n2, NA \n3,"NA"\n4,""\n5,  \n6,a\n'))
    codes, names = table.encoded("s")
    assert codes.tolist() == [0, -1, 1, -1, -1, 0]
    assert names.tolist() == ["a", "NA"]
    assert table.column("s").to_pylist() == ["a", None, "NA", None, None, "a"]


def test_what_is_read_once_is_encoded_in_one_pass():
    table = open_table(pa.table({"a": ["x", "y"], "b": [1, 1]}).to_reader())
    found = table.encoded_all(["a", "b"])
    assert found["a"].names.tolist() == ["x", "y"]
    assert table.encoded("b").codes.tolist() == [0, 0]
