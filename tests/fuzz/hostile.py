"""Values that no careful caller gives, and every careless one does.

`VALUES` are given in the place of an argument; `TWISTS` make the argument itself hostile. Each is a
function, because generators can be used once only.
"""

from collections import OrderedDict, UserList
from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse as sp

from plausible.belief import SparseMasses
from plausible.experts import Annotations
from plausible.labels import Labels
from plausible.models import SoftNearestCentroid


class NoArray:
    """What breaks when numpy looks at it."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        raise RuntimeError("this cannot become an array")


class Uncomparable:
    """What breaks when it is compared, and has no hash."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("this cannot be compared")


class Plain:
    """A class that takes no arguments."""


class Subarray(np.ndarray):
    """An array of a class of the caller's own."""


def _frame(**columns: Any) -> pd.DataFrame:
    return pd.DataFrame(columns)


def _two_names() -> pd.DataFrame:
    return pd.DataFrame(np.arange(48.0).reshape(24, 2), columns=["a", "a"])


def _levels() -> pd.DataFrame:
    names = pd.MultiIndex.from_tuples([("a", 1), ("a", 2)])
    return pd.DataFrame(np.arange(48.0).reshape(24, 2), columns=names)


def _dates() -> np.ndarray:
    return np.arange(24).astype("datetime64[D]")


VALUES: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "True": lambda: True,
    "-1": lambda: -1,
    "0": lambda: 0,
    "2": lambda: 2,
    "0.5": lambda: 0.5,
    "-1e300": lambda: -1e300,
    "1e-320": lambda: 1e-320,
    "nan": lambda: float("nan"),
    "inf": lambda: float("inf"),
    "10**30": lambda: 10**30,
    "complex": lambda: 1 + 2j,
    "numpy float32 nan": lambda: np.float32("nan"),
    "numpy int8": lambda: np.int8(-5),
    "numpy bool": lambda: np.bool_(True),
    "empty text": lambda: "",
    "text": lambda: "no such thing",
    "nul": lambda: "a\0b",
    "letter": lambda: "a",
    "surrogate": lambda: "\ud800",
    "bytes": lambda: b"bytes",
    "bytearray": lambda: bytearray(b"bytes"),
    "numpy text": lambda: np.str_("a"),
    "tuple": lambda: (1, 2),
    "empty tuple": lambda: (),
    "empty list": lambda: [],
    "list of list": lambda: [[]],
    "list of None": lambda: [None] * 24,
    "list of text": lambda: ["a", "b"],
    "mixed list": lambda: ["a", 1, None, 2.5],
    "ragged": lambda: [[1.0, 2.0], [3.0]],
    "deeply ragged": lambda: [[1.0, [2.0, {3}]], 4.0],
    "list of objects": lambda: [object(), object()],
    "list of dicts": lambda: [{"a": 1.0}, {"b": "c"}],
    "list of unhashable": lambda: [[{"a"}], [["b"]]],
    "list of uncomparable": lambda: [Uncomparable(), Uncomparable()],
    "set": lambda: {1, 2},
    "set of mixed": lambda: {"a", 1, None},
    "frozenset": lambda: frozenset({"a"}),
    "empty dict": dict,
    "dict": lambda: {"a": 1.0, "b": [2.0]},
    "dict of mixed": lambda: {1: None, "b": {}, None: 2},
    "ordered dict": lambda: OrderedDict(a=1),
    "user list": lambda: UserList([1.0, 2.0]),
    "generator": lambda: (k for k in range(3)),
    "iterator of text": lambda: iter("abc"),
    "range": lambda: range(24),
    "slice": lambda: slice(None),
    "ellipsis": lambda: ...,
    "lambda": lambda: lambda: 1,
    "lambda of anything": lambda: lambda *given, **named: None,
    "class": lambda: Plain,
    "class of ours": lambda: SoftNearestCentroid,
    "unfitted estimator": SoftNearestCentroid,
    "object": object,
    "module": lambda: np,
    "exception": lambda: ValueError("given"),
    "no array": NoArray,
    "list of no array": lambda: [NoArray(), NoArray()],
    "uncomparable": Uncomparable,
    "Decimal": lambda: Decimal("0.5"),
    "Decimal nan": lambda: Decimal("nan"),
    "Decimals": lambda: [Decimal("0.5")] * 24,
    "Fraction": lambda: Fraction(1, 2),
    "Fractions": lambda: [Fraction(1, 2)] * 24,
    "date": lambda: date(2020, 1, 1),
    "datetime64": lambda: np.datetime64("2020-01-01"),
    "timedelta64": lambda: np.timedelta64(3, "D"),
    "timedelta": lambda: timedelta(days=3),
    "dates": _dates,
    "durations": lambda: _dates() - _dates()[0],
    "Path": lambda: Path("missing"),
    "Path of csv": lambda: Path("missing.csv"),
    "missing parquet": lambda: "missing/missing.parquet",
    "csv file": lambda: "features.csv",
    "parquet file": lambda: Path("known.parquet"),
    "numpy file": lambda: "X.npy",
    "model file": lambda: "model.skops",
    "json file": lambda: "studio.json",
    "folder": lambda: Path(),
    "root": lambda: "/",
    "long path": lambda: "x" * 5000 + ".csv",
    "0-d array": lambda: np.array(3.0),
    "0-d object": lambda: np.array(None, dtype=object),
    "empty array": lambda: np.empty(0),
    "empty table": lambda: np.empty((0, 2)),
    "no columns": lambda: np.empty((24, 0)),
    "3-d array": lambda: np.ones((2, 3, 4)),
    "zeros": lambda: np.zeros((24, 2)),
    "numbers": lambda: np.arange(24.0),
    "many ints": lambda: np.arange(24),
    "nans": lambda: np.full((24, 2), np.nan),
    "infinities": lambda: np.full((24, 2), np.inf),
    "complex array": lambda: np.ones((24, 2), dtype=complex),
    "text array": lambda: np.array([["a", "b"]] * 24),
    "bytes array": lambda: np.array([b"a", b"b"]),
    "object array": lambda: np.array([1, "a", None, {2}], dtype=object),
    "array of sets": lambda: np.array([{1}, {2}], dtype=object),
    "record array": lambda: np.zeros(24, dtype=[("a", float), ("b", int)]),
    "void array": lambda: np.zeros(3, dtype="V4"),
    "float16": lambda: np.ones((24, 2), dtype=np.float16),
    "long double": lambda: np.ones((24, 2), dtype=np.longdouble),
    "huge unsigned": lambda: np.full(24, 2**63, dtype=np.uint64),
    "huge ints": lambda: [10**30] * 24,
    "masked": lambda: np.ma.masked_array(np.ones((24, 2)), mask=np.eye(24, 2)),
    "matrix": lambda: sp.csr_array(np.eye(24, 2)).todense(),
    "sparse": lambda: sp.csr_matrix(np.eye(24, 2)),
    "sparse array": lambda: sp.coo_array(np.eye(24, 2)),
    "memoryview": lambda: memoryview(b"abcdef"),
    "series": lambda: pd.Series(np.arange(24.0)),
    "series of categories": lambda: pd.Series(["a", "b", None] * 8, dtype="category"),
    "series of text": lambda: pd.Series(["a", "b", "c"] * 8),
    "nullable series": lambda: pd.Series([1, None, 3] * 8, dtype="Int64"),
    "index": lambda: pd.Index(["a", "b"]),
    "NaT": lambda: pd.NaT,
    "NA": lambda: pd.NA,
    "timestamp": lambda: pd.Timestamp("2020-01-01"),
    "frame of text": lambda: _frame(a=["x"] * 24, b=np.arange(24.0)),
    "frame of categories": lambda: _frame(a=pd.Categorical(["x", "y"] * 12), b=np.arange(24.0)),
    "frame of dates": lambda: _frame(a=_dates(), b=np.arange(24.0)),
    "frame of durations": lambda: _frame(a=_dates() - _dates()[0], b=np.arange(24.0)),
    "nullable frame": lambda: _frame(
        a=pd.array([1, None] * 12, dtype="Int64"), b=pd.array([True, None] * 12, dtype="boolean")
    ),
    "frame of objects": lambda: _frame(a=[{1}] * 24, b=[None] * 24),
    "frame of one name": _two_names,
    "frame of levels": _levels,
    "empty frame": pd.DataFrame,
    "frame of number names": lambda: pd.DataFrame(np.ones((24, 2)), columns=[1.5, "a"]),
    "polars frame": lambda: pl.DataFrame({"a": np.arange(24.0), "b": np.arange(24.0)}),
    "polars text": lambda: pl.DataFrame({"a": ["x"] * 24, "b": ["y"] * 24}),
    "polars lists": lambda: pl.DataFrame({"a": [[1, 2]] * 24}),
    "polars lazy": lambda: pl.DataFrame({"a": [1.0] * 24}).lazy(),
    "polars series": lambda: pl.Series(["a", None] * 12),
    "polars categories": lambda: pl.Series(["a", "b"] * 12, dtype=pl.Categorical),
    "Labels": lambda: Labels.from_crisp(["x", "y", "z"] * 8),
    "no Labels": lambda: Labels.unknown(0, ["x", "y"]),
    "Labels of numbers": lambda: Labels.from_crisp([3, 1, 2] * 8),
    "SparseMasses": lambda: SparseMasses(np.full((24, 2), 0.5), [1, 7], 3),
    "one mass function": lambda: SparseMasses([0.5, 0.5], [1, 7], 3),
    "Annotations": lambda: Annotations.from_answers([["x", "y"], ["x", "x"]]),
}


def _cut(value: Any) -> Any:
    return value[:-1]


def _as_objects(value: Any) -> Any:
    made = np.empty(np.shape(value), dtype=object)
    made[...] = np.asarray(value)
    return made


def _with_last(last: Any) -> Callable[[Any], Any]:
    def twist(value: Any) -> Any:
        made = _as_objects(value)
        made.flat[-1] = last
        return made

    return twist


def _named(value: Any, names: list[Any]) -> pd.DataFrame:
    table = np.asarray(value).reshape(len(value), -1)
    return pd.DataFrame(table, columns=[names[k % len(names)] for k in range(table.shape[1])])


def _read_only(value: Any) -> Any:
    made = np.array(value)
    made.flags.writeable = False
    return made


def _to_list(value: Any) -> Any:
    return np.asarray(value).tolist()


TWISTS: dict[str, Callable[[Any], Any]] = {
    "one row short": _cut,
    "twice": lambda value: np.concatenate([np.asarray(value)] * 2),
    "doubled list": lambda value: list(value) * 2,
    "reversed": lambda value: value[::-1],
    "as list": _to_list,
    "as tuple": lambda value: tuple(_to_list(value)),
    "as generator": lambda value: (row for row in value),
    "as set": lambda value: set(_to_list(value)),
    "as dict": lambda value: dict(enumerate(value)),
    "as objects": _as_objects,
    "as text": lambda value: np.asarray(value).astype(str),
    "as one text": str,
    "as bytes": lambda value: np.asarray(value).astype(str).astype("S"),
    "as complex": lambda value: np.asarray(value) + 0j,
    "as ints": lambda value: np.asarray(value).astype(int),
    "as bools": lambda value: np.asarray(value).astype(bool),
    "as float32": lambda value: np.asarray(value).astype(np.float32),
    "as dates": lambda value: np.asarray(value).astype(int).astype("datetime64[D]"),
    "as durations": lambda value: np.asarray(value).astype(int).astype("timedelta64[D]"),
    "as Decimals": lambda value: np.vectorize(Decimal, otypes=[object])(np.asarray(value)),
    "as Fractions": lambda value: np.vectorize(Fraction, otypes=[object])(np.asarray(value)),
    "as subclass": lambda value: np.asarray(value).view(Subarray),
    "as masked": lambda value: np.ma.masked_invalid(np.asarray(value, dtype=float)),
    "as sparse": lambda value: sp.csr_array(np.asarray(value)),
    "as series": lambda value: pd.Series(list(value)),
    "as categories": lambda value: pd.Series(pd.Categorical(_to_list(value))),
    "as nullable": lambda value: pd.Series(_to_list(value)).convert_dtypes(),
    "as frame": lambda value: _named(value, [f"n{k}" for k in range(99)]),
    "as frame of one name": lambda value: _named(value, ["a"]),
    "as frame of mixed names": lambda value: _named(value, ["a", 1, None]),
    "as frame of text": lambda value: _named(value, list("abcd")).astype(str),
    "as frame of categories": lambda value: _named(value, list("abcd")).astype("category"),
    "as polars": lambda value: pl.DataFrame(np.asarray(value)),
    "transposed": lambda value: np.asarray(value).T,
    "flat": lambda value: np.asarray(value).ravel(),
    "deeper": lambda value: np.asarray(value)[..., None],
    "in a list": lambda value: [value],
    "read-only": _read_only,
    "negative": lambda value: -np.asarray(value),
    "thousandfold": lambda value: 1000 * np.asarray(value),
    "with nan": _with_last(float("nan")),
    "with None": _with_last(None),
    "with NA": _with_last(pd.NA),
    "with text": _with_last("text"),
    "with a set": _with_last({1}),
    "with a list": lambda value: [*list(value)[:-1], [1, [2]]],
    "with an object": _with_last(object()),
    "with a Decimal": _with_last(Decimal(1)),
    "with a huge int": _with_last(10**400),
    "with complex": _with_last(1j),
    "with bool": _with_last(True),
}
