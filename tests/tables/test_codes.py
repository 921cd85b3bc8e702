"""Columns of names as codes: the names in the order of their first rows."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plausible.tables import codes
from plausible.tables.codes import Coded, encode, recode
from plausible.tables.columns import texts

letters = st.text(st.sampled_from("ab0é\0"), max_size=10)


def slow(cells):
    names = list(dict.fromkeys(cell for cell in cells if cell is not None))
    return [-1 if cell is None else names.index(cell) for cell in cells], names


def chunked(cells, size, skip, kind):
    """A column in chunks, each of them the end of a longer array."""
    parts = [[cells[0]] * skip + cells[k : k + size] for k in range(0, len(cells), size)]
    return pa.chunked_array([pa.array(part, kind).slice(skip) for part in parts])


@given(st.sampled_from(["", "a", "photo_", "a long beginning, "]),
       st.lists(st.none() | letters, min_size=1), st.integers(0, 4), st.integers(1, 9))  # fmt: skip
def test_codes_are_those_of_a_slow_search(start, ends, skip, size):
    cells = [None if end is None else start + end for end in ends]
    found = encode(chunked(cells, size, skip, pa.string()))
    expected, names = slow(cells)
    assert found.codes.tolist() == expected
    assert found.names.tolist() == [name.rstrip("\0") for name in names]  # as numpy does


@given(st.lists(st.integers(-50, 50) | st.integers(-(2**63), 2**63 - 1), min_size=1),
       st.integers(0, 4), st.integers(1, 9))  # fmt: skip
def test_whole_numbers_are_those_of_a_slow_search(numbers, skip, size):
    found = encode(chunked(numbers, size, skip, pa.int64()))
    assert (found.codes.tolist(), found.names.tolist()) == slow(numbers)


@given(st.lists(st.none() | st.integers(0, 9), min_size=1), st.data())
def test_cells_that_are_read_alike_become_one_name(cells, data):
    """Distinct cells are read as other values, of which some are missing, some are equal."""
    codes, known = slow(cells)
    read = data.draw(st.lists(st.none() | st.sampled_from("xyz"), min_size=len(known),
                              max_size=len(known)))  # fmt: skip
    coded = Coded(pa.array(codes).to_numpy(), pa.array(known, pa.int64()))
    found = recode(coded, pa.array(read, pa.string()))
    expected, names = slow([None if code < 0 else read[code] for code in codes])
    assert (found.codes.tolist(), found.names.tolist()) == (expected, names)


@given(st.lists(st.text("ab0 ", max_size=40), min_size=1), st.integers(0, 3))
def test_text_of_any_length_is_that_of_python(cells, skip):
    given_, skip = pa.array(cells), min(skip, len(cells))
    assert texts(given_.slice(skip)).tolist() == cells[skip:]
    assert texts(pa.chunked_array([given_.slice(skip), given_])).tolist() == cells[skip:] + cells


@given(
    st.lists(letters, min_size=1, max_size=40, unique=True)
    | st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-9, 99), min_size=1, max_size=40),
    st.lists(st.integers(0, 39), max_size=4), st.integers(0, 4), st.integers(1, 9),
    st.sampled_from([1, 16, 1 << 20]),
)  # fmt: skip
def test_columns_in_which_most_cells_come_once(cells, again, skip, size, n_ends):
    """Numbers of few cells come again, in truth or by their last bits."""
    cells = [*cells, *(cells[k % len(cells)] for k in again)]
    column = chunked(cells, size, skip, pa.int64() if isinstance(cells[0], int) else pa.string())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(codes, "LOOK", 1)
        patch.setattr(codes, "N_ENDS", n_ends)
        patch.setattr("plausible.tables.codes.SLICE", 7)
        found = codes._mostly_once(column)
    expected, names = slow(cells)
    assert found is None or (found.codes.tolist(), found.cells.to_pylist()) == (expected, names)
    assert found is not None or len(names) < len(cells) or any("\0" in str(cell) for cell in cells)
