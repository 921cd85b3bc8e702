"""Features that tell labels too well, and numbers that only name something, are told."""

import pytest

from plausible.io import read_training, stream_training


def told_of(name, column, labels, read=read_training):
    """Notes on a feature beside another one that says nothing."""
    n = len(labels)
    known = {"item": list(range(n)), "label": labels}
    features = {"item": list(range(n)), "size": [k % 7 for k in range(n)], name: column}
    return [str(note) for note in read(known, features).notes if repr(name) in str(note)]


TREES = [("oak", "elm", "ash", "oak")[k % 4] for k in range(40)]


@pytest.mark.parametrize("read", [read_training, stream_training])
def test_a_feature_that_tells_a_class_without_exception_is_told(read):
    is_oak = [int(label == "oak") for label in TREES]
    (told,) = told_of("is_oak", is_oak, TREES, read)
    assert "'is_oak' tells 'oak' from all others in each of 40 labeled rows" in told
    assert "kinds={'is_oak': 'left out'}" in told
    (told,) = told_of(
        "sort", [7.0 + ["oak", "elm", "ash"].index(one) for one in TREES], TREES, read
    )
    assert "tells 'ash', 'elm', 'oak' from all others" in told
    assert not told_of("is_oak", [1 - is_oak[0], *is_oak[1:]], TREES, read)
    assert not told_of("is_oak", is_oak[:12], TREES[:12], read)  # which may be chance
    assert not told_of("is_oak", [0] * 39 + [1], ["oak"] * 39 + ["elm"], read)


@pytest.mark.parametrize(
    ("name", "is_code"),
    [
        ("zip", True), ("ZipCode", True), ("plz", True), ("area_code", True), ("shop_id", True),
        ("age", False), ("n_codes", False), ("count", False), ("gzip_ratio", False),
        ("number_of_ids", False), ("width", False),
    ],
)  # fmt: skip
@pytest.mark.parametrize("read", [read_training, stream_training])
def test_numbers_that_are_called_codes_are_told(name, is_code, read):
    told = told_of(name, [10115 + 3 * (k % 13) for k in range(40)], TREES, read)
    assert [f"kinds={{'{name}': 'category'}}" in note for note in told] == [True] * is_code
    assert not told_of(name, [k / 3 for k in range(40)], TREES, read)


@pytest.mark.parametrize("read", [read_training, stream_training])
def test_numbers_that_count_the_rows_are_told(read):
    for first in (0, 1):
        (told,) = told_of("sample", [first + k for k in range(40)], TREES, read)
        assert f"({first}, {first + 1}, {first + 2}, ...)" in told
        assert "kinds={'sample': 'left out'}" in told
    assert not told_of("year", [1990 + k for k in range(40)], TREES, read)
    assert not told_of("sample", [*range(39), 99], TREES, read)
    assert not told_of("sample", [k // 2 for k in range(40)], TREES, read)
