"""Items found by hashes of their names."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plausible.io.compact import Keys
from plausible.io.lookup import Lookup, hash_names


def trimmed(texts):
    return pa.compute.utf8_trim_whitespace(pa.array(texts, pa.string())).to_pylist()


@given(st.lists(st.text(max_size=12), max_size=30), st.lists(st.text(max_size=12), max_size=30))
def test_places_are_those_of_a_dictionary(known, asked):
    known = list(
        dict.fromkeys(pa.compute.utf8_trim_whitespace(pa.array(known, pa.string())).to_pylist())
    )
    asked = pa.compute.utf8_trim_whitespace(pa.array(asked, pa.string())).to_pylist()
    place = {name: row for row, name in enumerate(known)}
    lookup = Lookup(pa.array(known, pa.string()))
    found = lookup.places(pa.array(asked, pa.string()))
    assert found.tolist() == [place.get(name, -1) for name in asked]


def test_no_two_of_a_million_numbers_collide():
    numbers = np.random.default_rng(0).permutation(1_000_000)
    keys = hash_names(pa.array(numbers))
    assert len(np.unique(keys)) == len(keys)
    assert not len(Lookup(pa.array(numbers)).repeated())


@pytest.mark.parametrize("width", [1, 2, 3])
def test_all_short_words_differ(width):
    letters = np.array([chr(code) for code in range(33, 127)])
    words = letters
    for _ in range(width - 1):
        words = np.char.add(words[:, None], letters[None, :]).ravel()
    keys = hash_names(pa.array(words[:200_000].tolist()))
    assert len(np.unique(keys)) == len(keys)


@pytest.mark.parametrize(
    "column",
    [
        pa.array([7, 12, None]),
        pa.array([7.0, 12.0, None]),
        pa.array([" 7", "12 ", None]),
        pa.array(["7", "12", ""]).dictionary_encode(),
        pa.chunked_array([["7"], ["12", None]]),
        pa.array(["x", "7", "12", None])[1:],
        pa.array(["7", "12", None], pa.large_string()),
    ],
)
def test_equal_as_text_is_equal(column):
    assert hash_names(column).tolist() == hash_names(pa.array(["7", "12", ""])).tolist()


def test_fractions_are_not_cut_off():
    keys = hash_names(pa.array([1.5, 1.25, 1.0]))
    assert len(set(keys.tolist())) == 3
    assert keys[2] == hash_names(pa.array([1]))[0]


def test_repeated_items_are_named_from_their_second_place():
    lookup = Lookup(pa.array(["b", "a", "c", "a", "b", "a"]))
    assert lookup.repeated().tolist() == [3, 4, 5]


@pytest.mark.parametrize("known", [["7", "x", "-3", "007", "12"], [7, 99, -3, 5, 12]])
def test_numbers_are_found_by_their_digits(known):
    lookup = Lookup(pa.array(known))
    numbers = [12, 8, -3, 7, 0]
    for column in (
        pa.array(numbers),
        pa.array([str(n) for n in numbers]),
        pa.chunked_array([numbers]),
    ):
        assert lookup.places(column).tolist() == [4, -1, 2, 0, -1]


def test_nothing_is_known_and_nothing_is_asked():
    empty = pa.array([], pa.string())
    assert Lookup(empty).places(pa.array(["a"])).tolist() == [-1]
    assert Lookup(empty).places(pa.array([1])).tolist() == [-1]
    assert Lookup(pa.array(["a"])).places(empty).tolist() == []


def test_names_that_turn_out_to_be_text_are_found_as_those_that_were_numbers(monkeypatch):
    monkeypatch.setattr("plausible.io.compact.FIRST", 2)
    monkeypatch.setattr("plausible.io.compact.PIECE_ROWS", 2)
    for parts in ([[7, 3, 5], [2, 9]], [[7, 3, 5], ["x", "2"], ["y"]], [["b"], ["a", "c"]]):
        keys = Keys()
        for part in parts:
            keys.add(np.array(part))
        names = [str(name) for part in parts for name in part]
        lookup = keys.lookup()
        assert lookup.places(pa.array(names)).tolist() == list(range(len(names)))
        assert lookup.places(pa.array(["4", "z"])).tolist() == [-1, -1]


@pytest.mark.parametrize("start", [0, -5, 2**31 - 4, 2**31, 2**40, -(2**33)])
def test_numbers_are_found_however_long_they_are(start):
    known = start + np.array([3, 0, 2, 1])
    lookup = Lookup(pa.array(known))
    assert lookup.places(pa.array(known)).tolist() == [0, 1, 2, 3]
    others = np.concatenate([known + 2**32, known - 2**32, [start + 4, start - 1]])
    assert lookup.places(pa.array(others)).tolist() == [-1] * 10
