"""Whatever bytes come, only clear errors: never a traceback of another library, never half a file.

A few hundred cases for each test by default, 10,000 with HYPOTHESIS_PROFILE=long.
"""

import functools
import io
import os
import re
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from plausible.io import (
    ModelFileError,
    TableError,
    load,
    read_features,
    read_labels,
    read_table,
    save,
    stream_table,
    write_table,
)
from plausible.io.model_files import MAGIC
from plausible.models import DiscriminantClassifier
from support.files import sealed

many = settings(max_examples=5 * settings.default.max_examples)

PIECES = [
    b"a", b"b", b"label", b"set", b"doubt", b"plausibility:a", b"mass:a|b", b"1", b"0.5", b"-2e3",
    b"NA", b"true", b"x|y", b'"', b'""', b",", b";", b"\t", b"\n", b"\r\n", b"\r", b" ", b"\xff",
    b"\x00", b"\xef\xbb\xbf", b"{", b"}", b'{"a": 1}', b'{"a": "x"}', b"[", b"null", b"\xc3\xa9",
    b"99999999999999999999", b"\xed\xa0\x80", b"1e999", b"007", b":",
]  # fmt: skip
text = st.lists(st.sampled_from(PIECES), max_size=40).map(b"".join) | st.binary(max_size=60)
tables = st.builds(
    lambda names, rows, end: b"\n".join(b",".join(r) for r in [names, *rows]) + end,
    st.lists(st.sampled_from(PIECES[:7]), min_size=1, max_size=3, unique=True),
    st.lists(st.lists(st.sampled_from(PIECES), min_size=1, max_size=3), max_size=8),
    st.sampled_from([b"", b"\n"]),
)


def named(content, name=None):
    """A file in memory."""
    file = io.BytesIO(content)
    if name is not None:
        file.name = name
    return file


def attempt(read, content, name=None):
    """What a reader gives, or its clear error: with the name of the source, and a remedy."""
    try:
        return read(named(content, name))
    except TableError as error:
        message = str(error)
        assert name is None or name in message, message
        assert re.search(r"[;:?] ", message), message
        assert len(message) < 2000
        return None


@many
@given(text | tables, st.sampled_from([None, "x.csv", "x.tsv", "x.jsonl", "x.csv.gz"]))
@example(b'a,b\n1,"2\n', None)
@example(b"a\n\n\n", "x.csv")
@example(b'"', "x.csv")
@example(b"\r", "x.csv")
def test_text(content, name):
    table = attempt(read_table, content, name)
    chunks = attempt(lambda file: list(stream_table(file, 2)), content, name)
    if table is not None and table.num_rows:
        assert pa.concat_tables(chunks).equals(table)
    features = attempt(read_features, content, name)
    if features is not None:
        assert np.isfinite(features.X).all()
        assert len(features.X) == table.num_rows
    labels = attempt(read_labels, content, name)
    if labels is not None and table is not None:  # other columns may be faulty
        assert len(labels) == table.num_rows


@many
@given(st.lists(st.lists(st.sampled_from([b"1", b"2.5", b"x", b"", b'"q\nr"', b'"a,b"']),
                         min_size=1, max_size=4), min_size=1, max_size=6),
       st.sampled_from([b"\n", b"\r\n"]))  # fmt: skip
def test_rows_of_the_wrong_length_are_named_with_their_lines(rows, end):
    content = end.join([b"a,b", *(b",".join(row) for row in rows)]) + end
    bad, line, number = [], 2, 0
    for row in rows:
        is_blank = row == [b""]
        number += not is_blank
        if not is_blank and len(row) != 2:
            bad.append((f"row {number} on line {line}", f"{len(row)} cell"))
        line += 1 + b",".join(row).count(b"\n")
    there = [row for row in rows if row != [b""]]
    are_alike = len({len(row) for row in there}) == 1 and len(there[0]) > 2
    is_end = are_alike and not any(any(row[2:]) for row in there)  # separators that say nothing
    if not bad or is_end:
        assert read_table(io.BytesIO(content)).num_rows == number
        return
    with pytest.raises(TableError) as caught:
        read_table(io.BytesIO(content))
    assert all(words in str(caught.value) for place in bad[:5] for words in place)


@functools.cache
def binary(ending: str) -> bytes:
    rng = np.random.default_rng(0)
    columns = {
        "a": rng.normal(size=300),
        "b": rng.integers(5, size=300),
        "c": [f"text {i % 7}" if i % 5 else None for i in range(300)],
        "d": rng.uniform(size=300) < 0.5,
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"table.{ending}"
        write_table(columns, path)
        return path.read_bytes()


@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv.gz"])
def test_files_that_are_cut_off_anywhere(ending):
    content = binary(ending)

    @many
    @given(st.integers(1, len(content) - 1))
    def check(size):
        assert attempt(read_table, content[:size], f"x.{ending}") is None

    check()


@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv.gz"])
def test_files_with_other_bytes(ending):
    content = binary(ending)
    places = st.integers(0, len(content) - 1)

    @many
    @given(st.dictionaries(places, st.integers(0, 255), min_size=1, max_size=4))
    def check(changes):
        altered = bytearray(content)
        for at, value in changes.items():
            altered[at] = value
        table = attempt(read_table, bytes(altered), "x.csv" if "csv" in ending else f"x.{ending}")
        if table is not None:
            table.to_pydict()

    check()


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_names_of_columns_that_are_no_text(ending):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"x.{ending}"
        write_table({"a column": [1.5, 2.5]}, path)
        content = path.read_bytes().replace(b"a column", b"a \x80olumn")
    with pytest.raises(TableError, match=rf"x\.{ending}.*cannot be read.*write or download it"):
        read_table(named(content, f"x.{ending}"))


@functools.cache
def model() -> bytes:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 2)) + np.repeat([[0, 0], [3, 3]], 10, axis=0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        save(DiscriminantClassifier().fit(X, ["a"] * 10 + ["b"] * 10), path)
        return path.read_bytes()


def loaded(content: bytes):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        path.write_bytes(content)
        try:
            made, message = load(path), ""
        except ModelFileError as error:
            made, message = None, str(error)
        assert os.listdir(folder) == ["model"]
        assert made is not None or "'model' should" in message
        return made


@many
@given(st.data())
def test_altered_model_files(data):
    content = model()
    at = data.draw(st.integers(0, len(content) - 1))
    kind = data.draw(st.sampled_from(["cut", "byte", "insert", "drop", "append"]))
    piece = data.draw(st.binary(min_size=1, max_size=5))
    altered = {
        "cut": content[:at],
        "byte": content[:at] + bytes([content[at] ^ (piece[0] or 1)]) + content[at + 1 :],
        "insert": content[:at] + piece + content[at:],
        "drop": content[:at] + content[at + len(piece) :],
        "append": content + piece,
    }[kind]
    assert altered == content or loaded(altered) is None


@many
@given(st.data())
def test_altered_model_files_with_a_checksum_that_fits(data):
    _, about, body = model().split(b"\n", 2)
    changed = bytearray(body)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(body) - 1))
        changed[at] = data.draw(st.integers(0, 255))
    loaded(sealed(about, bytes(changed)))  # a model, or a clear error


@many
@given(st.binary(max_size=100))
def test_what_is_no_model_at_all(content):
    assert loaded(content) is None
    assert loaded(MAGIC + content) is None
    assert loaded(sealed(b"{}", content)) is None
    assert loaded(sealed(b'{"versions": {}, "type": "str"}', content)) is None
