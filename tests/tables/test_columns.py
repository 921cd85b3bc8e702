"""Columns of every Arrow type as names: numbers, truth values and text, or a clear refusal."""

import decimal

import pyarrow as pa
import pytest

from plausible.io import TableError, read_features, read_known, read_training
from plausible.tables.columns import plain

WHOLE = pa.array([3, 1, 2], pa.int64())
NAMES = {
    "short decimals": (pa.array(list(map(decimal.Decimal, (3, 1, 2))), pa.decimal128(9, 0)),
                       [3, 1, 2]),
    "long decimals": (pa.array([decimal.Decimal(10**30 + k) for k in (3, 1, 2)],
                               pa.decimal128(38, 0)),
                      [str(10**30 + k) for k in (3, 1, 2)]),
    "fractions": (pa.array([decimal.Decimal("1.50"), None], pa.decimal256(40, 2)), [1.5, None]),
    "days": (WHOLE.cast(pa.int32()).cast(pa.date32()), ["1970-01-04", "1970-01-02", "1970-01-03"]),
    "moments": (WHOLE.cast(pa.timestamp("s")).cast(pa.timestamp("ns")),
                [f"1970-01-01 00:00:0{k}" for k in (3, 1, 2)]),
    "moments in a zone": (WHOLE.cast(pa.timestamp("ms", "UTC")),
                          [f"1970-01-01 00:00:00.00{k}Z" for k in (3, 1, 2)]),
    "times": (WHOLE.cast(pa.int32()).cast(pa.time32("s")), [f"00:00:0{k}" for k in (3, 1, 2)]),
}  # fmt: skip


@pytest.mark.parametrize("kind", NAMES)
def test_names_in_other_types(kind):
    column, expected = NAMES[kind]
    assert plain(column).to_pylist() == expected
    if None not in expected:
        table = pa.table({"item": column, "a": [1.0, 2.0, 3.0]})
        assert read_features(table, id="item").ids.tolist() == expected


NOT_NAMES = {
    "durations": WHOLE.cast(pa.duration("s")),
    "bytes": pa.array([b"c", b"a", b"b"]),
    "lists": pa.array([[3], [1], [2]]),
    "structures": pa.array([{"a": 3}, {"a": 1}, {"a": 2}]),
    "an unknown zone": WHOLE.cast(pa.timestamp("s")).cast(pa.timestamp("s", "Mars/Olympus")),
    "days of no calendar": pa.array([2**31 - k for k in (3, 1, 2)], pa.int32()).cast(pa.date32()),
}


@pytest.mark.parametrize("kind", NOT_NAMES)
@pytest.mark.parametrize("role", ["item", "annotator", "label"])
def test_columns_that_name_nothing(kind, role):
    columns = {"item": ["x", "y", "z"], "annotator": ["a", "b", "a"], "label": ["u", "v", "w"]}
    column = NOT_NAMES[kind]
    with pytest.raises(TableError, match=f"'{role}' of .* should hold text or numbers, but holds"):
        read_known(pa.table(columns | {role: column}))
    with pytest.raises(TableError, match="should hold text or numbers"):
        read_features(pa.table({"id": column, "a": [1.0, 2.0, 3.0]}), id="id")


def test_dates_match_their_text():
    days = NAMES["days"][0]
    found = read_training(
        {"item": ["1970-01-03", "1970-01-04"], "label": ["oak", "ash"]},
        pa.table({"item": days, "a": [1.0, 2.0, 3.0]}),
    )
    assert found.rows.tolist() == [2, 0]


def test_types_that_wrap_others():
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([1, 3], pa.int32()), pa.array(["b", "a"]))
    truth = pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1, 0, 1], pa.int8()))
    table = pa.table({"label": runs, "item": ["x", "y", "z"]})
    assert read_known(table).labels.classes.tolist() == ["a", "b"]
    assert read_features(pa.table({"a": truth})).X[:, 0].tolist() == [1.0, 0.0, 1.0]


@pytest.mark.parametrize("size", [1e151, -1e308])
def test_features_too_large_to_compute_with(size):
    with pytest.raises(TableError, match="at most 1e\\+150 .*row 2, column 'a'"):
        read_training({"label": ["u", "v", "w"]}, {"a": [1.0, size, 2.0]})
    assert read_features({"a": [size]}).X.item() == size


def test_more_counts_than_memory_holds():
    with pytest.raises(TableError, match="at most 100,000,000 answers"):
        read_known({"u": [1e16, 1.0], "v": [2.0, 0.0]}, kind="count")
