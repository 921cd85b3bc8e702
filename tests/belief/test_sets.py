import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plausible.belief import (
    all_sets,
    cardinality,
    decode_sets,
    encode_sets,
    full_set,
    membership,
    sets_from_membership,
)

CLASSES = ["a", "b", "c", "d"]


@given(st.lists(st.sets(st.sampled_from(CLASSES))))
def test_names_survive_encoding_and_decoding(sets):
    masks = encode_sets(sets, CLASSES)
    assert [set(names) for names in decode_sets(masks, CLASSES)] == sets
    np.testing.assert_array_equal(cardinality(masks), [len(s) for s in sets])


@given(st.integers(1, 62).flatmap(lambda k: st.tuples(st.just(k), st.integers(0, 2**k - 1))))
def test_membership_inverts_on_frames_up_to_62_classes(case):
    n_classes, mask = case
    members = membership([mask], n_classes)
    assert members.sum() == mask.bit_count()
    assert sets_from_membership(members) == [mask]


def test_bits_follow_the_order_of_the_classes():
    assert encode_sets([{"a", "c"}], ["a", "b", "c"]) == [0b101]
    assert encode_sets([{"a", "c"}], ["c", "b", "a"]) == [0b101]
    assert encode_sets([{"a"}], ["b", "a"]) == [0b10]
    assert decode_sets(full_set(3), ["x", "y", "z"]) == [("x", "y", "z")]
    np.testing.assert_array_equal(all_sets(2), [0, 1, 2, 3])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: encode_sets([{"a"}, {"e"}], CLASSES), r"set 1 holds 'e'; correct it"),
        (lambda: encode_sets(["ab"], CLASSES), r"set 0 is 'ab'; write \{'ab'\} for a set"),
        (lambda: encode_sets([{"a"}], ["a", "a"]), "classes should be distinct"),
        (lambda: encode_sets([], range(63)), "1 to 62 classes, but 63 were given; group"),
        (lambda: encode_sets([], []), "1 to 62 classes, but 0 were given"),
        (lambda: decode_sets([16], CLASSES), "bit masks from 0 to 15 .* but 16 was given"),
        (lambda: decode_sets(["a"], CLASSES), "turn class names into bit masks with encode_sets"),
        (lambda: all_sets(21), "at most K = 20 classes, but the frame has 21; keep the masses"),
    ],
)
def test_bad_sets_are_refused_with_a_remedy(call, message):
    with pytest.raises(ValueError, match=message):
        call()
