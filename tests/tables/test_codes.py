"""Columns of names as codes: the names in their order, whatever way they are found."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plausible.tables import codes as room
from plausible.tables import few_names
from plausible.tables.number_codes import n_letters
from plausible.tables.numbered_names import numbered_names

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
       st.booleans(), st.sampled_from(["", ".png", " of the second series"]),
       st.integers(1, 9))  # fmt: skip
def test_names_of_all_lengths_are_those_of_a_slow_search(start, ends, fill, last, size):
    cells = [start + (end.zfill(9) if fill else end) + last for end in ends]
    parts = [cells[k : k + size] for k in range(0, len(cells), size)]
    column = pa.chunked_array([*parts, pa.array([], pa.string())])
    found = room.encode(column)
    assert (found.codes.tolist(), found.names.tolist()) == slow(cells)


@given(st.lists(st.integers(-50, 50) | st.integers(-(2**63), 2**63 - 1), min_size=1))
def test_whole_numbers_are_those_of_a_slow_search(numbers):
    for cells in (numbers, [number for number in numbers if abs(number) <= 50] or [0]):
        found = room.encode(pa.chunked_array([pa.array(cells, pa.int64())]))
        assert (found.codes.tolist(), found.names.tolist()) == slow(cells)


@given(st.lists(st.integers(0, 12) | st.integers(0, 40), min_size=20),
       st.sampled_from(["", "0", "+", " ", "x", "-"]), st.integers(0, 9))  # fmt: skip
def test_text_of_whole_numbers_is_counted_if_it_is_written_in_the_usual_way(numbers, mark, row):
    cells = [str(number) for number in numbers]
    cells[row] = mark + cells[row]
    column = pa.chunked_array([pa.array(cells[:7]), pa.array(cells[7:])])
    found = room.whole_numbers(column)
    if mark:
        assert found is None or (mark == "-" and cells[row] == "-0")
    else:
        assert (found[0].codes.tolist(), found[0].names.tolist()) == slow(numbers)
        assert found[1].to_pylist() == numbers


@pytest.mark.parametrize("cells", [["1", None] * 9, ["1", "900"] * 9, ["1", "2.0"] * 9])
def test_gaps_large_numbers_and_fractions_are_left_to_others(cells):
    assert room.whole_numbers(pa.chunked_array([pa.array(cells)])) is None


@pytest.mark.parametrize(
    ("cells", "n_words"),
    [
        ([f"photo_{k}" for k in range(99)], 1),  # the same four letters, and eight more
        ([f"{k:05}" for k in range(99)], 1),
        ([f"{k}_photo_x" for k in range(1000, 1999)], 2),
        ([f"img_{k:05}.png" for k in range(99)], 1),  # differ within eight letters
        ([f"{k:05}/photo/{k:05}" for k in range(99)], 3),
        ([f"picture number {k}" for k in range(99)], 4),  # three words, and the length
        (["photo_1", "photo_1\0"], 2),  # a length can only be told without zero bytes
        ([f"a name that is too long to be cut into words: {k}" for k in range(99)], None),
        (["few", "names"] * 50, None),
    ],
)
def test_how_many_words_tell_names_apart(cells, n_words):
    column = pa.chunked_array([pa.array(cells[:40]), pa.array(cells[40:], pa.string())])
    words = room.words_of(column)
    assert (words if words is None else len(words)) == n_words
    codes, names = room.distinct(column)
    assert (codes.tolist(), names.to_pylist()) == slow(cells)


def test_names_with_the_same_number_are_told_apart(monkeypatch):
    cells = [f"{k}_photo_x" for k in range(1000, 1999)]
    monkeypatch.setattr(room, "mixed", lambda words: words[0] & np.uint64(1))
    codes, names = room.distinct(pa.array(cells))
    assert (codes.tolist(), names.to_pylist()) == slow(cells)


@given(st.lists(st.integers(0, 5) | st.integers(0, 2**64 - 1), min_size=1), st.integers(1, 4))
def test_the_first_row_of_each_key(keys, size):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room, "BLOCK", size)
        patch.setattr(room, "_places", lambda keys, *_: (keys & np.uint64(1)).view(np.int64))
        found = room.first_rows(np.array(keys, np.uint64))
    assert found.tolist() == [keys.index(key) for key in keys]


def numbered(cells, size):
    """Codes and names of a column in chunks by the numbers of its names, or None."""
    chunks = [pa.array(["skip", *cells[k : k + size]])[1:] for k in range(0, len(cells), size)]
    found = numbered_names(pa.chunked_array([pa.array([], pa.string()), *chunks]))
    for task in [] if found is None else found.tasks()[::-1]:
        task()
    codes = None if found is None else found.encoded()
    return codes and (codes.codes.tolist(), [cells[row] for row in codes.first])


@given(st.lists(st.text(st.sampled_from("0129/:x\0\t"), max_size=3), min_size=2),
       st.sampled_from(["", "ab", "7_", "photo_", "photo_1", "a long beginning, "]),
       st.sampled_from(["", ".p", ".png", ", and a long end"]), st.booleans(),
       st.integers(1, 5))  # fmt: skip
def test_names_that_differ_by_a_number_have_the_codes_of_a_slow_search(ends, start, last, same, n):
    cells = [start + (end.rjust(3, "0") if same else end) + last for end in ends]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("plausible.tables.numbered_names.LOOK", 2)
        patch.setattr("plausible.tables.numbered_names.ROOM", 1000)
        patch.setattr("plausible.tables.number_codes.ROOM", 1000)
        patch.setattr("plausible.tables.numbered_names.TASK", 2)
        found = numbered(cells, n)
    assert found is None or found == slow(cells)


@pytest.mark.parametrize(
    ("cells", "is_numbered"),
    [
        (["img07.jp", "img11.jp", "img07.jp"], True),
        (["img_00007.png", "img_00004.png"], True),
        (["img_00007.png", "img_00004.jpg"], False),
        (["img_00007.png", "img_00004.png", "img_7.png"], False),
        (["1mg_00007.png", "img_00004.png"], False),
        (["0000000000000007.png", "0000000000000004.png"], True),
        (["img7", "img11", "img7"], True),
        (["photo_7", "photo_11", "photo_9"], True),
        (["photo_7", "Photo_11"], False),  # another head
        (["photo_7", "phot1_11"], False),
        (["photo_7", "photo7"], False),  # no number where others have it
        (["photo_7", "photo_"], False),
        (["photo_007", "photo_001"], True),
        (["photo_007", "photo_7"], False),  # a letter less, and one number
        (["p7", "p07", "p11"], False),
        (["p7", "px", "p11"], False),
        (["p7", "p:", "p11"], False),  # follows 9
        (["p7", "p/", "p11"], False),
        (["p7", "p7\0"], False),
        (["p7", "p\t"], False),  # is 9 in the lower half of its bits
        (["p123456", "p1234567", "p12345678"], False),  # nine letters, of which eight are a word
        (["pict_1", "pict_12345678"], False),  # more letters than a view holds
        (["p1", "p9000000"], False),  # too large for a table
        (["é1", "é2"], True),
        (["few", "names"], False),
        (["7", ""], False),
    ],
)
def test_which_names_are_numbered(cells, is_numbered):
    for size in (2, 9):
        found = numbered(cells, size)
        assert found == (slow(cells) if is_numbered else None)


@pytest.mark.parametrize("odd", [None, "photo_x", "photo_007", "another", "photo_99999999"])
def test_parts_of_a_column_share_their_names_and_keep_their_order(odd, monkeypatch):
    """Both halves have the same names, unsorted, and a cell of the last chunk may be odd."""
    monkeypatch.setattr("plausible.tables.numbered_names.TASK", 100)
    monkeypatch.setattr("plausible.tables.threads.MANY", 0)
    rng = np.random.default_rng(3)
    cells = [f"photo_{k}" for k in rng.integers(0, 300, 1000)]
    others = [f"{k}/8" for k in rng.integers(0, 5, 1000)]
    cells[990] = odd or cells[990]
    columns = {
        "item": pa.chunked_array([pa.array(cells[k : k + 70]) for k in range(0, 1000, 70)]),
        "gaps": pa.chunked_array([[None, *cells[1:500]], [*cells[500:999], None]]),
        "again": pa.chunked_array([cells[::-1]]),
        "few": pa.chunked_array([others]),
        "nothing": pa.chunked_array([pa.nulls(1000, pa.string())]),
    }
    found = room.distinct_all(columns)
    assert list(found) == list(columns)
    for name, column in columns.items():
        codes, names = found[name]
        assert (codes.tolist(), names.to_pylist()) == slow(column.to_pylist())


@given(st.lists(st.text(st.sampled_from("ab\0é"), max_size=6), min_size=1), st.integers(1, 9),
       st.integers(1, 30))  # fmt: skip
def test_few_names_are_those_of_a_slow_search(cells, size, most):
    """Names of up to four letters and longer ones, of which some come late."""
    chunks = [pa.array(["skip", *cells[k : k + size]])[1:] for k in range(0, len(cells), size)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(few_names, "MOST", most)
        found = few_names.encode_few(pa.chunked_array([pa.array([], pa.string()), *chunks]))
    if len(set(cells)) > most:
        assert found is None
    else:
        assert (found[0].tolist(), found[1].to_pylist()) == slow(cells)


def test_many_and_long_names_are_not_few():
    many = pa.array([f"{k}" for k in range(few_names.MOST + 1)])
    assert few_names.encode_few(many) is None
    codes, names = few_names.encode_few(many[1:])
    assert codes.tolist() == list(range(few_names.MOST))
    assert names.to_pylist() == many[1:].to_pylist()
    assert few_names.encode_few(pa.chunked_array([["a"], ["thirteen long"]])) is None
    assert few_names.encode_few(pa.array(["a", None])) is None


@given(st.lists(st.integers(-(10**17), 10**17) | st.integers(-12, 1002)))
def test_letters_of_numbers(numbers):
    expected = sum(len(str(number)) for number in numbers)
    assert n_letters(np.array(numbers, np.int64)) == expected
