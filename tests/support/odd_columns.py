"""Columns of every type that Arrow has, and text that tries readers and terminals."""

import datetime
import decimal
import json

import pyarrow as pa

CONTROLS = [
    "\x1b[31mred\x1b[0m", "\x9b31m", "a\u202eb", "\u2066x", "\u200f", "\x00", "a\x00b", "\x07",
    "a\nb", "a\r", "a\tb", "\x7f", "\u2028", "\x85", "\x1b]0;title\x07", "\ufeff", "\U000e0041",
]  # fmt: skip
WORDS = [
    "", " ", " a ", "é", "e\u0301", "日本", "🦄", "|", "a|b", "a||b", '"', '"a', '"a"', '"a"|b',
    "'", "a,b", "a;b", "=1+1", "NaN", "inf", "-inf", "None", "null", "NA", "true", "False", "0",
    "1", "2", "-1", "0.5", "01", "1e999", "9" * 30, "0x10", "1_000", "1,5", "<b>&amp;</b>", "item",
    "label", "annotator", "set", "doubt", "plausibility:x", "mass:a|b", "mass:", "probability:",
    ":", "../x", "x" * 3000, "none of these", "cannot tell", "?", "{}", "[1]", "ash", "elm", "oak",
    "conflict", "anyone", "0.1", "t1", "\\x1b", "%s", "{0}", "{name}",
]  # fmt: skip
NUMBERS = [
    0, 1, -1, 0.5, 2, 1e308, -1e308, 1e-320, float("nan"), float("inf"), -float("inf"), 2**53 + 1,
    2**63 - 1, -(2**63), 1e16, 3, 0.1, 100, -0.0, 1.0000001,
]  # fmt: skip
JSON_VALUES = [
    None, True, False, 0, 1, -1, 2, 0.5, 10**30, 1e300, "", "a", "ash", "\x1b[31m", "\u202e", [],
    {}, [1], ["a"], ["a", "a"], [["a"]], [None], ["ash", 1], {"a": 1}, {"id": 1}, [{}], [{"a": []}],
    float("nan"), float("inf"), "9" * 30, "NaN", "null", "\ud800",
]  # fmt: skip
ZONES = [None, "UTC", "Europe/Berlin", "+05:30", "Mars/Olympus", "\x1b[31m"]
UNITS = ["s", "ms", "us", "ns"]


def odd_text(random):
    """Text that somebody might have put somewhere."""
    return random.choice(CONTROLS if random.random() < 0.4 else WORDS)


def odd_json(random):
    """A value of JSON, perhaps one of another shape."""
    return random.choice(JSON_VALUES) if random.random() < 0.9 else odd_text(random)


def wholes(random, n, low=-3, high=9):
    return [random.randint(low, high) for _ in range(n)]


def texts(random, n):
    few = [odd_text(random) for _ in range(3)] if random.random() < 0.5 else ["a", "b", "c"]
    return [random.choice(few) for _ in range(n)]


def decimals(random, n):
    digits, scale = random.choice([(5, 2), (18, 0), (38, 10), (38, 38), (76, 5), (4, -2)])
    cells = [decimal.Decimal(w).scaleb(-scale) for w in wholes(random, n)]
    make = pa.decimal128 if digits <= 38 else pa.decimal256
    return pa.array(cells, make(digits, scale))


def moments(random, n, make):
    """Times of a type; some lie where no calendar of Python's reaches."""
    wide = random.random() < 0.3
    cells = [random.choice([2**62, -(2**62), 0]) if wide else w for w in wholes(random, n, 0, 99)]
    return pa.array(cells, pa.int64()).cast(make)


def categories(random, n):
    values = random.choice([
        pa.array(["ash", "elm", None]), pa.array([1, 2, 3]), pa.array([1.5, None, 2.0]),
        pa.array(["\x1b[31m", "b", "b"]), pa.array([b"a", b"\xff", b""]),
        pa.array([True, False, None]), pa.array([datetime.date(2020, 1, 1)] * 3),
        pa.array([decimal.Decimal("1.5"), decimal.Decimal("2.5"), None]),
    ])  # fmt: skip
    return pa.DictionaryArray.from_arrays(pa.array(wholes(random, n, 0, 2), pa.int8()), values)


def runs(random, n):
    values = pa.array(texts(random, 1) if n else [])
    return pa.RunEndEncodedArray.from_arrays(pa.array([n] if n else [], pa.int32()), values)


def unions(random, n):
    kinds = pa.array(wholes(random, n, 0, 1), pa.int8())
    return pa.UnionArray.from_sparse(kinds, [pa.array(range(n)), pa.array(["x"] * n)])


def extended(random, n):
    """Types that Arrow tells apart from what they are stored as."""
    made = [
        (pa.uuid(), pa.array([bytes([w % 250]) * 16 for w in wholes(random, n)], pa.binary(16))),
        (pa.json_(), pa.array([json.dumps({"a": w}) for w in wholes(random, n)], pa.string())),
        (pa.bool8(), pa.array([w % 2 for w in wholes(random, n)], pa.int8())),
    ]
    return pa.ExtensionArray.from_storage(*random.choice(made))


def floats(random, n, make):
    cells = [float(random.choice(NUMBERS)) for _ in range(n)]
    return pa.array(cells, pa.float64()).cast(make, safe=False)


def nested(random, n):
    few = [[1, 2], [], None, [3]]
    kinds = [
        lambda: pa.array([random.choice(few) for _ in range(n)], pa.list_(pa.int64())),
        lambda: pa.array([["a", "\x1b[31m"]] * n, pa.large_list(pa.string())),
        lambda: pa.array([[1.0, None]] * n, pa.list_(pa.float32(), 2)),
        lambda: pa.array([{"a": 1, "\x1b[31m": "x"}] * n,
                         pa.struct([("a", pa.int8()), ("\x1b[31m", pa.string())])),
        lambda: pa.array([[("k", 1)], []] * n, pa.map_(pa.string(), pa.int64()))[:n],
        lambda: pa.array([[{"a": [1]}]] * n,
                         pa.list_(pa.struct([("a", pa.list_(pa.int64()))]))),
        lambda: pa.array([[1], None] * n, pa.list_view(pa.int16()))[:n],
    ]  # fmt: skip
    return random.choice(kinds)()


def raw_bytes(random, n):
    cells = [random.choice([b"", b"a", b"\xff\x00", b"\x1b[31m", None]) for _ in range(n)]
    kind = random.choice([pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(2)])
    return pa.array([b"ab"] * n if kind == pa.binary(2) else cells, kind)


COLUMNS = {
    "decimal": decimals,
    "duration": lambda r, n: moments(r, n, pa.duration(r.choice(UNITS))),
    "timestamp": lambda r, n: moments(r, n, pa.timestamp(r.choice(UNITS), r.choice(ZONES))),
    "date": lambda r, n: pa.array(wholes(r, n, 0, 2**31 - 1), pa.int32()).cast(pa.date32()),
    "day": lambda r, n: pa.array(wholes(r, n, 18000, 18009), pa.int32()).cast(pa.date32()),
    "date64": lambda r, n: pa.array([86400000 * w for w in wholes(r, n)]).cast(pa.date64()),
    "time": lambda r, n: pa.array(wholes(r, n, 0, 9), pa.int32()).cast(pa.time32("s")),
    "time64": lambda r, n: pa.array(wholes(r, n, 0, 9), pa.int64()).cast(pa.time64("ns")),
    "interval": lambda r, n: pa.array([(1, 2, w) for w in wholes(r, n)],
                                      pa.month_day_nano_interval()),
    "binary": raw_bytes,
    "nested": nested,
    "categories": categories,
    "runs": runs,
    "union": unions,
    "extension": extended,
    "null": lambda r, n: pa.nulls(n),
    "text": lambda r, n: pa.array(texts(r, n), pa.string()),
    "large text": lambda r, n: pa.array(texts(r, n), pa.large_string()),
    "text view": lambda r, n: pa.array(texts(r, n), pa.string_view()),
    "half": lambda r, n: floats(r, n, pa.float16()),
    "float": lambda r, n: floats(r, n, pa.float32()),
    "double": lambda r, n: floats(r, n, pa.float64()),
    "unsigned": lambda r, n: pa.array([r.choice([2**64 - 1, 0, 1, 2**63]) for _ in range(n)],
                                      pa.uint64()),
    "whole": lambda r, n: pa.array(wholes(r, n), pa.int8()),
    "truth": lambda r, n: pa.array([r.random() < 0.5 for _ in range(n)]),
    "share": lambda r, n: pa.array([r.random() for _ in range(n)]),
}  # fmt: skip


def odd_column(random, n_rows):
    """A column of a type that may not suit, with or without gaps."""
    kind = random.choice(list(COLUMNS))
    column = COLUMNS[kind](random, n_rows)
    return with_gaps(random, column) if random.random() < 0.3 else column


def with_gaps(random, column):
    """Some cells left empty, or all, if the type can be chosen from."""
    share = random.choice([0.2, 0.7, 1.0])
    places = [None if random.random() < share else row for row in range(len(column))]
    try:
        return column.take(pa.array(places, pa.int64()))
    except pa.ArrowNotImplementedError:
        return column
