"""Columns of names as codes: the names in their order, whatever way they are found."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plausible.tables import codes as room

letters = st.text(st.sampled_from("ab0é\0"), max_size=10)


@pytest.fixture(autouse=True)
def _few(monkeypatch):
    monkeypatch.setattr(room, "FEW", 0)


def slow(cells):
    names = list(dict.fromkeys(cell for cell in cells if cell is not None))
    return [-1 if cell is None else names.index(cell) for cell in cells], names


@given(st.sampled_from(["", "a", "photo_", "a long beginning, "]),
       st.lists(st.none() | letters, min_size=1), st.integers(0, 4), st.integers(1, 9))  # fmt: skip
def test_codes_are_those_of_a_slow_search(start, ends, skip, size):
    cells = [None if end is None else start + end for end in ends]
    padded = ["left out"] * skip
    parts = [padded + cells[k : k + size] for k in range(0, len(cells), size)]
    column = pa.chunked_array([pa.array(part, pa.string()).slice(skip) for part in parts])
    found = room.encode(column)
    expected, names = slow(cells)
    assert found.codes.tolist() == expected
    assert found.names.tolist() == [name.rstrip("\0") for name in names]  # as numpy does


@given(st.sampled_from(["", "photo_", "2024-", "a long beginning, 7"]),
       st.lists(st.text(st.sampled_from("0123456789"), min_size=1, max_size=9), min_size=1),
       st.booleans(), st.sampled_from([1, 4, 10**5]), st.integers(1, 9))  # fmt: skip
def test_names_that_differ_by_digits_are_counted_as_by_a_slow_search(
    start, ends, fill, room_, size
):
    cells = [start + (end.zfill(8) if fill else end) for end in ends]
    parts = [cells[k : k + size] for k in range(0, len(cells), size)]
    column = pa.chunked_array([*parts, pa.array([], pa.string())])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room, "ROOM", room_)
        found = room.encode(column)
    assert (found.codes.tolist(), found.names.tolist()) == slow(cells)


@given(st.lists(st.integers(-50, 50) | st.integers(-(2**63), 2**63 - 1), min_size=1))
def test_whole_numbers_are_counted_as_by_a_slow_search(numbers):
    for cells in (numbers, [number for number in numbers if abs(number) <= 50] or [0]):
        found = room.encode(pa.chunked_array([pa.array(cells, pa.int64())]))
        assert (found.codes.tolist(), found.names.tolist()) == slow(cells)


@pytest.mark.parametrize(
    ("cells", "is_counted"),
    [
        ([f"photo_{k}" for k in range(99)], True),
        ([f"photo_{k:04}" for k in range(99)], True),
        (["photo_1", "photo_01"], False),  # two names
        (["photo_1", "photo_"], False),
        (["photo_1", "photo_x"], False),
        (["photo_1", "photo_900000"], False),  # a table of that would be too large
        (["photo_1", None], False),
    ],
)
def test_which_names_are_counted(cells, is_counted):
    column = pa.array(cells, pa.string())
    assert (room.by_counting(column) is not None) == is_counted
    found = room.encode(column)
    assert (found.codes.tolist(), found.names.tolist()) == slow(cells)


def test_short_ends_are_numbers_and_long_ones_are_not():
    short = pa.array([f"photo_{k}" for k in range(70)] + [None, "photo_"])
    assert room.short_keys(short)[1].null_count == 1
    assert len(np.unique(room.short_keys(short)[1].drop_null())) == 71
    for odd in ("picture_1", "photo_123456789", "photo_\0", "photo_é", "phot"):
        column = pa.array([*short.to_pylist(), odd])
        assert room.short_keys(column)[1] is None
        assert room.encode(column).codes[-1] == 71
