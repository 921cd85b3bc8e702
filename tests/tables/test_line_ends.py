"""Separators at the end of lines: no column if nothing follows, else a refusal."""

import io

import pytest

from plausible.io import read_annotations
from plausible.tables import TableError, open_table, read_table
from plausible.tables import text as text_room

WIDE = [("7", "ann", "oak"), ("007", "bob", ""), ("9", "", "elm")] * 9  # more than a first look
PLAIN = [["item", "who", "said"], *map(list, WIDE)]


def written(mark, in_header, in_rows, last=""):
    lines = [
        mark.join([*row, *[""] * (in_rows if k else in_header)]) for k, row in enumerate(PLAIN)
    ]
    return "\n".join([*lines[:-1], lines[-1] + last]) + "\n"


@pytest.fixture(params=["kept", "in pieces"])
def opened(request, monkeypatch):
    """Opens a table, as text that is parsed once, or again at each pass."""
    if request.param == "in pieces":
        monkeypatch.setattr(text_room, "KEPT", 0)
    return lambda text: open_table(io.StringIO(text))


@pytest.mark.parametrize("mark", [",", ";", "\t"])
@pytest.mark.parametrize(("in_header", "in_rows"), [(0, 1), (1, 1), (1, 0), (2, 2), (1, 3)])
def test_nothing_at_the_end_of_lines_is_no_column(opened, mark, in_header, in_rows):
    table, plain = opened(written(mark, in_header, in_rows)), opened(written(mark, 0, 0))
    assert table.names == plain.names
    assert table.whole(table.names).equals(plain.whole(plain.names))
    for name in table.names:
        assert table.encoded(name).names.tolist() == plain.encoded(name).names.tolist()
    told = set(table.notes) - set(plain.notes)
    assert [note.partition("end of lines")[2] for note in told] == [
        " makes no column, since nothing follows it"
    ]


@pytest.mark.parametrize(
    ("in_header", "message"),
    [(0, "nothing behind them, but row 27 on line 28 has 'x' there; name the column"),
     (1, "nothing behind them, but row 27 on line 28 has 'x' there; name the column")],
)  # fmt: skip
def test_something_in_a_column_without_a_name_is_refused(opened, in_header, message):
    with pytest.raises(TableError, match=message):
        opened(written(",", in_header, 1, last="x"))


def test_something_in_the_first_rows_is_refused_as_well():
    with pytest.raises(TableError, match=r"1 column has none \(column 3\); name each"):
        read_table(io.StringIO("item,label,\na,b,\nc,d,x\n"))
    with pytest.raises(TableError, match=r"row 1 on line 2 has 3 cells, row 2 on line 3"):
        read_table(io.StringIO("item,label\na,b,\nc,d,x\n"))
    with pytest.raises(TableError, match="should have 2 cells.*row 2 on line 3 has 3 cells"):
        read_table(io.StringIO("item,label\na,b\nc,d,\n"))


def test_answers_with_row_names_and_commas_at_the_end():
    found = read_annotations(io.StringIO(",item,who,label,\n1,a,ann,x,\n2,a,bob,y,\n"),
                             names={"annotator": "who"})  # fmt: skip
    assert found.annotators.tolist() == ["ann", "bob"]
    with pytest.raises(TableError, match="only the names of its columns"):
        read_annotations(io.StringIO("item,annotator,label,\n"))
