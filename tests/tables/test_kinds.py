"""Kinds of text: what each cell rules out, in any order and however the rows are cut."""

import datetime
import io
import math

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from plausible.tables import open_table, read_table
from plausible.tables.kinds import TEXT, Typing, as_kind, type_of

DAY, NOON = datetime.date(2024, 1, 31), datetime.datetime(2024, 1, 31, 12, 30)
UTC = NOON.replace(tzinfo=datetime.UTC)

# Cells of a file with semicolons, their values, and a word of the note (none: nothing is assumed).
CASES = [
    (["1,5", "2"], [1.5, 2.0], "decimal commas: '1,5' was read as 1.5"),
    (["-0,25", "1.234,5"], [-0.25, 1234.5], "decimal commas"),
    (["1.234.567", "0,5"], [1234567.0, 0.5], "decimal commas"),
    (["1\xa0234,5", "7"], [1234.5, 7.0], "decimal commas"),
    (["6,1e-05", "1,5E+3", "7", "2e-06"], [6.1e-05, 1500.0, 7.0, 2e-06], "decimal commas"),
    ([",5", "-,25", "Inf"], [0.5, -0.25, float("inf")], "5' was read as "),
    (["1.234e5", "0,5"], ["1.234e5", "0,5"], ""),
    (["1,234.5", "7"], [1234.5, 7.0], "thousands"),
    (["1,234,567", "7"], [1234567.0, 7.0], "thousands"),
    (["1 234", "5"], [1234.0, 5.0], "thousands separators: '1 234' was read as 1234"),
    (["1'234", "5.5"], [1234.0, 5.5], "thousands"),
    (["\N{MINUS SIGN}2.76", "3"], [-2.76, 3.0], "minus signs as in print: '\N{MINUS SIGN}2.76"),
    (["3", "-1", "\N{MINUS SIGN}5"], [3.0, -1.0, -5.0], "minus signs as in print"),
    (["1e\N{MINUS SIGN}5", "-2"], [1e-05, -2.0], "minus signs as in print"),
    (["\N{MINUS SIGN}2,5", "7,25"], [-2.5, 7.25], "decimal commas"),
    (["\N{MINUS SIGN}1,234.5", "7"], [-1234.5, 7.0], "thousands"),
    (["\N{MINUS SIGN}1 234", "7"], [-1234.0, 7.0], "thousands"),
    (["\N{MINUS SIGN}4 %", "5%"], [-0.04, 0.05], "percent signs"),
    (["\N{MINUS SIGN}", "3"], ["\N{MINUS SIGN}", "3"], ""),
    (["1,234", "5,678"], ["1,234", "5,678"], "comma may be decimal or separate thousands"),
    (["1,234", "5.678"], ["1,234", "5.678"], "comma may be decimal"),
    (["45 %", "12,5%"], [0.45, 0.125], "percent signs"),
    (["45 %", "50"], ["45 %", "50"], ""),
    (["1,234 %", "5 %"], ["1,234 %", "5 %"], ""),
    (["2024-01-31", ""], [DAY, None], ""),
    (["2024-02-30", "2024-01-31"], ["2024-02-30", "2024-01-31"], ""),
    (["2024/1/31", "NA"], [DAY, None], "dates: '2024/1/31' was read as 2024-01-31"),
    (["31.01.2024", "31.1.2024"], [DAY, DAY], "dates, day first"),
    (["31/01/2024", "01/02/2024"], [DAY, datetime.date(2024, 2, 1)], "dates, day first"),
    (["01/31/2024", "01/02/2024"], [DAY, datetime.date(2024, 1, 2)], "dates, month first"),
    (["01-02-2024", "05/06/2024"], ["01-02-2024", "05/06/2024"], "day may be the first number"),
    (["31/01/2024", "01/31/2024"], ["31/01/2024", "01/31/2024"], ""),
    (["31.02.2024", "01.03.2024"], ["31.02.2024", "01.03.2024"], ""),
    (["2024-01-31 12:30", "2024-01-31T12:30:00.000"], [NOON, NOON], ""),
    (["31.01.2024 12:30", "31.1.2024 12:30:00"], [NOON, NOON], "dates, day first"),
    (["2024-01-31T12:30Z", "2024-01-31 13:30:00+01:00"], [UTC, UTC], ""),
    (["2024-01-31", "2024-01-31 12:30"], ["2024-01-31", "2024-01-31 12:30"], ""),
    (["20240131", "20240201"], [20240131, 20240201], ""),
    (["00001", "2"], ["00001", "2"], ""),
    (["-01", "2"], ["-01", "2"], ""),
    (["00,5", "1,5"], ["00,5", "1,5"], ""),
    (["1e3", ".5"], [1000.0, 0.5], ""),
    (["+5", "-3"], [5.0, -3.0], ""),
    (["1.", "2"], [1.0, 2.0], ""),
    (["0", "-0.5"], [0.0, -0.5], ""),
    (["TRUE", "false"], [True, False], ""),
    (["yes", "no"], ["yes", "no"], ""),
    (["1" * 20, "2"], ["1" * 20, "2"], ""),
    (["1" * 19, "2"], [int("1" * 19), 2], ""),
    ([" 1 ", "\t2", " NA "], [1, 2, None], ""),
    ([" ", "x"], [None, "x"], ""),
    (["5 kg", "6 kg"], ["5 kg", "6 kg"], ""),
    (["€ 5", "€ 6"], ["€ 5", "€ 6"], ""),
]  # fmt: skip


def read(cells, delimiter=";"):
    quoted = [f'"{cell}"' if delimiter in cell else cell for cell in cells]
    lines = [f"k{delimiter}v", *(f"r{delimiter}{cell}" for cell in quoted)]
    table = open_table(io.StringIO("\n".join(lines) + "\n"))
    column = table.column("v")
    return column.to_pylist(), "\n".join(note for note in table.notes if "column" in note), table


@pytest.mark.parametrize(("cells", "expected", "note"), CASES)
def test_cells_and_what_is_said_of_them(cells, expected, note):
    for order in (slice(None), slice(None, None, -1)):
        found, said, _ = read(cells[order])
        assert found == expected[order]
        assert [type(value) for value in found] == [type(value) for value in expected[order]]
        assert note in said
        assert bool(said) == bool(note)


@pytest.mark.parametrize(("cells", "expected", "note"), CASES)
def test_long_files_have_the_kinds_of_short_ones(monkeypatch, cells, expected, note):
    """A stream learns from blocks, a short file from the whole column."""
    cells = [cells[0]] * 90 + cells + [cells[-1]] * 90
    whole, said, _ = read(cells)
    monkeypatch.setattr("plausible.tables.text.KEPT", 64)
    monkeypatch.setattr("plausible.tables.csv_files.BLOCKS", (64, 1 << 20))
    streamed, also_said, table = read(cells)
    assert not table.is_kept
    assert (streamed, also_said) == (whole, said)
    assert streamed == [expected[0]] * 90 + expected + [expected[-1]] * 90


def test_a_comma_between_cells_is_no_decimal_comma():
    found, said, _ = read(["1,5", "2"], ",")
    assert found == ["1,5", "2"]
    assert "decimal comma, or a list" in said


def test_points_in_a_file_with_decimal_commas():
    """1.234 beside 1,5 may be one thousand: it is never taken for one and a quarter."""
    file = "a;b;c\n1.234;1,5;1.5\n5.678;2,25;3\n"
    table = read_table(io.StringIO(file))
    assert table.to_pydict() == {"a": ["1.234", "5.678"], "b": [1.5, 2.25], "c": [1.5, 3.0]}
    opened = open_table(io.StringIO(file))
    assert opened.column("a").to_pylist() == ["1.234", "5.678"]
    assert any("'1.234', in which the point may be decimal" in note for note in opened.notes)
    assert read(["1.234", "5.678"])[0] == [1.234, 5.678]


def test_powers_of_ten_in_a_file_with_decimal_commas():
    table = read_table(io.StringIO("a;b\n5e-05;1,5\n0;2,25\n"))
    assert table.to_pydict() == {"a": [5e-05, 0.0], "b": [1.5, 2.25]}


def test_what_many_columns_have_is_told_once():
    opened = open_table(io.StringIO("a;b;c;d;e\n1,5;1,25;1,234;2,5;5,678\n2;3;4,567;7;8,901\n"))
    read_table(opened)
    commas, doubt = opened.notes[1:]
    assert commas.endswith("3 columns ('a', 'b', 'd') have decimal commas: '1,5' was read as 1.5")
    assert "2 columns ('c', 'e') have cells such as '1,234'" in doubt
    assert doubt.endswith("They were read as text")


def test_names_stay_as_they_are_written():
    """Dates and decimal commas are values; as names of items they keep their spelling."""
    for cells in (["31.01.2024", "01.02.2024"], ["1,5", "2,5"], ["45 %", "7 %"], ["007", "8"]):
        _, _, table = read(cells)
        assert table.named("v").to_pylist() == cells
        codes, names = table.encoded("v")
        assert names[codes].tolist() == cells
    assert read(["7", "8"])[2].encoded("v").names.tolist() == [7, 8]


WORDS = """
    1 25 007 1.5 0.25 1,5 1.234 1,234 1,234.5 1.234,5 12.345,678 45% 3,5% 1e5 true FALSE 2024-01-31
    6,1e-05 ,5 2024-02-31 31.12.2024 01/02/2024 13/02/2024 02/13/2024 NA x +5 -3 inf
    1234567890123456789 0x1F
"""
words = st.sampled_from(WORDS.split())


@given(st.lists(words, min_size=1, max_size=12), st.data())
def test_order_and_cuts_do_not_matter(cells, data):
    def kind(parts):
        typing = Typing()
        for part in parts:
            typing.add(pa.array([None if cell == "NA" else cell for cell in part], pa.string()))
        return typing.resolve(";", lambda: True)[0]

    shuffled = data.draw(st.permutations(cells))
    cut = data.draw(st.integers(0, len(cells)))
    whole = kind([cells])
    assert kind([shuffled[:cut], shuffled[cut:]]) == whole
    assert kind([[cell] for cell in cells]) == whole
    if whole not in (TEXT, "null"):
        column = pa.array([None if cell == "NA" else cell for cell in cells], pa.string())
        values = as_kind(column, whole)
        assert values.type == type_of(whole)
        assert values.is_null().to_pylist() == column.is_null().to_pylist()


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_numbers_are_the_same_with_points_and_with_commas(numbers):
    texts = [repr(number) for number in numbers]
    found, _, _ = read(texts)
    assert found == numbers
    plain = [f"{number:.17f}".replace(".", ",") for number in numbers if abs(number) < 1e15]
    expected = [float(f"{number:.17f}") for number in numbers if abs(number) < 1e15]
    if plain:
        assert read(plain)[0] == expected
        assert all(math.isfinite(value) for value in expected)


FORMS = [
    "{y}-01-{d:02}", "{y}-01-{d:02} 12:30", "{y}-01-{d:02}T01:30:{s:02}", "{y}/1/{d:02}",
    "{y}-01-{d:02} 12:30:{s:02}.5", "{y}-01-{d:02} 12:30:{s:02}.1234567", "{y}-01-{d:02}T12:30Z",
    "{s:02}.{d:02}.2024 9:30", "{s:02}/{d:02}/2024", " {y}-01-{d:02}",
]  # fmt: skip
fields = {
    "y": st.sampled_from([1500, 1999, 2024, 2300]),
    "d": st.sampled_from([1, 2, 12, 13, 31, 32]),
    "s": st.sampled_from([0, 2, 12, 13, 61]),
}
one_form = st.sampled_from(FORMS).flatmap(
    lambda form: st.lists(st.none() | st.builds(form.format, **fields), max_size=8)
)
odd = st.sampled_from(["1", "x", "", *(form.format(y=2024, d=1, s=2) for form in FORMS)])


@given(one_form, st.lists(odd, max_size=1))
@example(["2024-01-31 12:30"], ["2024-01-31"])
def test_dates_of_one_form_are_those_of_a_look_at_each(cells, late):
    column = pa.chunked_array([pa.array([*cells[k:], *late], pa.string()) for k in (0, 1)])
    found = {}
    for is_slow in (False, True):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("plausible.tables.kinds.N_SAMPLE", 1)
            if is_slow:
                patch.setattr("plausible.tables.kinds.DATES", frozenset())
            typing = Typing()
            values = typing.add(column)
        found[is_slow] = typing.possible, typing.n_cells, typing.is_code, typing.example
        kind = typing.resolve(";", bool)[0]
        if values is not None and kind not in (TEXT, "int", "float"):
            assert values.to_pylist() == as_kind(column, kind).to_pylist()
    assert found[False] == found[True]
