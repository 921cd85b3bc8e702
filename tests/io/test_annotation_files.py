"""Answers from files: layouts, tools, and errors that name rows."""

import io
import json
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plausible.experts import Annotations
from plausible.io import (
    TableError,
    read_annotations,
    read_doccano,
    read_label_studio,
    write_table,
)

LONG = """item,annotator,label,doubt
im1,ann,cat,0
im1,bob,cat|dog,0.2
im2,ann,none of these,0
im2,bob,,0.5
im2,cy,dog,
"""


def text(table):
    return io.StringIO(table)


def test_a_long_table_gives_what_its_columns_give():
    read = read_annotations(text(LONG))
    made = Annotations.from_long(
        ["im1", "im1", "im2", "im2", "im2"],
        ["ann", "bob", "ann", "bob", "cy"],
        ["cat", "cat|dog", "none of these", None, "dog"],
        doubt=[0, 0.2, 0, 0.5, 0],  # the last one as those of the others who said something
    )
    assert read.items.tolist() == ["im1", "im2"]
    assert read.annotators.tolist() == ["ann", "bob", "cy"]
    np.testing.assert_array_equal(read.pool(doubt=0.1).contour, made.pool(doubt=0.1).contour)
    np.testing.assert_array_equal(read.pool(doubt=0.1).conflict, made.pool(doubt=0.1).conflict)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow", "jsonl"])
def test_all_kinds_of_files_say_the_same(tmp_path, suffix):
    path = tmp_path / f"answers.{suffix}"
    write_table(text(LONG), path)
    read, direct = read_annotations(path), read_annotations(text(LONG))
    np.testing.assert_array_equal(read.pool(doubt=0.1).contour, direct.pool(doubt=0.1).contour)


ANSWERS = {
    "item": ["x", "x", "y", "y", "y"],
    "annotator": ["bob", "ann", "bob", "ann", "cy"],
    "label": ["dog", "cat", None, "cat|dog", "none of these"],
}
ORDER = ["cow", "none of these", "cat|dog", "cat", "dog"]  # other than that of the rows
CATEGORICAL = {
    "pandas": pd.DataFrame(ANSWERS).astype("category"),
    "pandas, with unused ones": pd.DataFrame(
        ANSWERS | {"label": pd.Categorical(ANSWERS["label"], ORDER, ordered=True)}
    ),
    "polars": pl.DataFrame(ANSWERS).with_columns(pl.all().cast(pl.Categorical)),
    "polars, with unused ones": pl.DataFrame(ANSWERS).with_columns(
        pl.col("item").cast(pl.Enum(["y", "z", "x"])), pl.col("label").cast(pl.Enum(ORDER))
    ),
}


@pytest.mark.parametrize("kind", CATEGORICAL)
@pytest.mark.parametrize("suffix", [None, "parquet", "arrow"])
def test_categories_are_read_like_text(tmp_path, kind, suffix):
    source = CATEGORICAL[kind]
    if suffix is not None:
        source = tmp_path / f"answers.{suffix}"
        write_categories(CATEGORICAL[kind], source)
    read, plain = read_annotations(source), read_annotations(ANSWERS)
    for name in ("items", "annotators", "classes", "item", "annotator"):
        np.testing.assert_array_equal(getattr(read, name), getattr(plain, name))
    np.testing.assert_array_equal(read.contours[read.statement], plain.contours[plain.statement])


def write_categories(frame, path):
    """Write as pandas and polars do, which keep categories."""
    kind = {".parquet": "parquet", ".arrow": "feather"}[path.suffix]
    if isinstance(frame, pd.DataFrame):
        getattr(frame, f"to_{kind}")(path)
    else:
        (frame.write_parquet if kind == "parquet" else frame.write_ipc)(path)


def test_a_wide_table_may_have_categories():
    wide = {"item": ["x", "y"], "ann": ["b", "a"], "bob": ["a", None]}
    plain = read_annotations(wide).votes()
    pandas = pd.DataFrame(wide).astype("category")
    polars = pl.DataFrame(wide).with_columns(pl.col("ann", "bob").cast(pl.Enum(["c", "b", "a"])))
    np.testing.assert_array_equal(read_annotations(pandas).votes(), plain)
    np.testing.assert_array_equal(read_annotations(polars).votes(), plain)


def test_columns_may_have_other_names():
    crowd = read_annotations(text("task,worker,label\n1,7,a\n1,8,b\n2,7,a\n"))
    other = read_annotations(
        text("picture;who;species\n1;7;a\n1;8;b\n2;7;a\n"),
        names={"item": "picture", "annotator": "who", "label": "species"},
    )
    np.testing.assert_array_equal(crowd.votes(), [[1, 1], [1, 0]])
    np.testing.assert_array_equal(other.votes(), crowd.votes())


def test_wide_tables_have_a_column_for_each_annotator_or_class():
    wide = read_annotations(text("item,ann,bob\nx,a,a|b\ny,,b\n"))
    assert len(wide) == 3
    assert wide.annotators.tolist() == ["ann", "bob"]
    np.testing.assert_allclose(wide.pool(doubt=0.5).scaled(), [[1, 0.5], [0.5, 1]])
    counts = read_annotations(text("item,cat,dog\nx,2,1\n"), kind="count")
    np.testing.assert_array_equal(counts.votes(), [[2, 1]])
    table = "item,annotator,plausibility:cat,plausibility:dog\nx,ann,1,0.3\nx,bob,0.5,1\n"
    contours = read_annotations(text(table), kind="plausibility")
    assert contours.classes.tolist() == ["cat", "dog"]
    np.testing.assert_allclose(contours.pool(doubt=0.0).scaled(), [[1, 0.6]])


def test_numbers_as_classes_are_the_same_in_all_columns():
    wide = read_annotations(text("item,a,b\n1,1,?\n2,2,1\n3,1|2,2\n"))
    assert wide.classes.tolist() == ["1", "2"]
    long = "item,annotator,label\n1,a,1|2\n2,a,1\n3,a,cannot tell\n"
    assert read_annotations(text(long), classes=[1, 2]).classes.tolist() == [1, 2]
    plain = read_annotations(text("item,annotator,label\n1,a,1\n2,a,2\n"), classes=["1", "2"])
    assert plain.classes.tolist() == ["1", "2"]


def test_leftover_columns_are_not_taken_for_annotators():
    with pytest.raises(TableError, match="layout="):
        read_annotations(text("item,ann,bob,doubt\n1,x,y,0.2\n"))


def test_label_studio_and_doccano(tmp_path):
    def task(number, *answers):
        return {
            "id": number,
            "annotations": [
                {
                    "completed_by": who,
                    "was_canceled": not names,
                    "result": [{"type": "choices", "value": {"choices": names}}] if names else [],
                }
                for who, names in answers
            ],
        }

    path = tmp_path / "studio.json"
    path.write_text(
        json.dumps([task(1, (5, ["a"]), ({"id": 6}, ["a", "b"])), task(2, (5, []), (6, ["b"]))])
    )
    studio = read_label_studio(path)
    np.testing.assert_allclose(studio.pool(doubt=0.5).scaled(), [[1, 0.5], [0.5, 1]])
    for who, lines in {"p": ["a", "b"], "q": ["a", "a"]}.items():
        rows = [json.dumps({"id": n, "label": [name]}) for n, name in enumerate(lines)]
        (tmp_path / f"{who}.jsonl").write_text("\n".join(rows))
    answers = read_doccano([tmp_path / "p.jsonl", tmp_path / "q.jsonl"])
    np.testing.assert_array_equal(answers.votes(), [[2, 0], [1, 1]])
    assert answers.annotators.tolist() == ["p", "q"]


@pytest.mark.parametrize(
    ("table", "options", "words"),
    [
        ("item,annotator,label\nx,,a\n", {}, r"'annotator'.*row 1 on line 2"),
        (LONG, {"classes": ["cat", "cow"]}, r"'cat\|dog'.*row 2 on line 3.*row 5"),
        (LONG.replace("0.2", "2"), {}, r"Doubt.*row 2 on line 3"),
        ("item,annotator,label\n", {}, "at least one row"),
        ("a,b\n1,2\n", {"layout": "long"}, "column 'item'"),
        ("item,cat\nx,1\n", {"layout": "classes"}, "kind="),
        ("item,cat\nx,lots\n", {"kind": "count"}, r"row 1 on line 2, column 'cat'"),
        ("item,cat\nx,1\n", {"names": {"itme": "item"}}, "did you mean 'item'"),
        ("item,cat\nx,1\n", {"names": {"item": "it"}}, "column 'it'"),
        ("item,cat\nx,1\n", {"kind": "count", "columns": ["dog"]}, "no 'dog'"),
        ("item,cat,dog\nx,0.5,0.1\n", {"kind": "probability"}, "sum to one.*row 1 on line 2"),
    ],
)
def test_errors_name_what_and_where(table, options, words):
    with pytest.raises(ValueError, match=words):
        read_annotations(text(table), **options)


many = settings(max_examples=5 * settings.default.max_examples)  # 10,000 in the long profile


@pytest.mark.parametrize("people", [["ann", "bob"], ["ann", "ann "], ["7", "+7"], ["7", "7.0"]])
@pytest.mark.parametrize("repeats", ["all", "last"])
def test_answers_given_again_are_found_while_names_are_read(people, repeats, monkeypatch):
    """Also where names turn out to be one, so that the search has to begin again."""
    rng = np.random.default_rng(0)
    item, who, said = (rng.integers(0, n, 60).tolist() for n in (25, 2, 3))
    rows = [f"im{a},{people[b]},{'abc'[k]}" for a, b, k in zip(item, who, said, strict=True)]
    content = "\n".join(["item,annotator,label", *rows]).encode()
    monkeypatch.setattr("plausible.tables.text.LARGE", 0)
    monkeypatch.setattr("plausible.experts.repeats.MANY", 0)
    found = []
    for is_compiled in (False, True):
        decide = partial(bool, is_compiled)
        monkeypatch.setattr("plausible.tables.csv_files.is_worth_compiling", decide)
        made = read_annotations(io.BytesIO(content), repeats=repeats)
        parts = made.items, made.annotators, made.item, made.annotator, made.statement
        found.append([part.tolist() for part in parts] + [made.notes])
    assert found[0] == found[1]
    assert len({*zip(item, who, strict=True)}) < 60


@many
@given(st.binary(max_size=200) | st.text(alphabet='item,annotator,label\n|"0.9;a\t', max_size=200))
def test_any_bytes_are_answers_or_a_clear_error(content):
    given_bytes = content if isinstance(content, bytes) else content.encode()
    try:
        read = read_annotations(io.BytesIO(given_bytes))
    except TableError:
        return
    assert isinstance(read, Annotations)


@many
@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["id", "annotations", "completed_by", "result"]), inner
            )
        ),
        max_leaves=12,
    )
)
def test_any_json_is_answers_or_a_clear_error(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("json") / "export.json"
    path.write_text(json.dumps(content))
    with pytest.raises(TableError):
        read_label_studio(path)
