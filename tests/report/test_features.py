"""The overview of the features, against slow computations; texts, gaps and odd tables."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array

from plausible.labels import Labels
from plausible.report import render, summarize

CLASSES = ["oak", "ash", "elm"]


def overview(X, **options):
    return summarize(X=X, **options)["features"]


def soft_labels(n, seed=0):
    rng = np.random.default_rng(seed)
    contour = rng.choice([0, 0.2, 0.6, 1], size=(n, 3))
    contour[contour.max(axis=1) == 0] = 1
    return Labels.from_plausibility(contour, CLASSES), contour


def slow_separation(values, contour):
    """Variance between the means of classes over the whole, one item at a time."""
    parts = []
    for x, row in zip(values, contour, strict=True):
        scaled = row / row.max()
        credit = scaled - scaled.min()
        weight = 1 - scaled.min()
        if np.isfinite(x) and weight > 0:
            parts += [(k, weight * c / credit.sum(), x) for k, c in enumerate(credit) if c > 0]
    total = sum(t for _, t, _ in parts)
    mean = sum(t * x for _, t, x in parts) / total
    whole = sum(t * (x - mean) ** 2 for _, t, x in parts)
    means = {}
    for k in {k for k, _, _ in parts}:
        weight = sum(t for j, t, _ in parts if j == k)
        means[k] = weight, sum(t * x for j, t, x in parts if j == k) / weight
    between = sum(weight * (m - mean) ** 2 for weight, m in means.values())
    return between / whole, [means[k][1] for k in range(3)]


def test_numbers_are_those_of_a_slow_computation():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3)) * [1, 1e6, 1e-3] + [0, -1e9, 5]
    X[rng.uniform(size=X.shape) < 0.1] = np.nan
    labels, contour = soft_labels(80)
    found = overview(X, labels=labels, feature_names=["a", "b", "c"])
    assert found["classes"] == CLASSES
    assert [row["feature"] for row in found["features"]] == ["a", "b", "c"]
    assert found["n_missing"] == np.isnan(X).sum()
    for row, column in zip(found["features"], X.T, strict=True):
        kept = column[~np.isnan(column)]
        assert row["missing"] == pytest.approx(np.isnan(column).mean())
        assert (row["low"], row["high"]) == (kept.min(), kept.max())
        assert row["median"] == np.median(kept)
        counts = np.histogram(kept, bins=16)[0]
        assert np.abs(np.cumsum(row["histogram"]) - np.cumsum(counts)).max() <= 1  # of edges
        separation, means = slow_separation(column, contour)
        assert row["separation"] == pytest.approx(separation, rel=1e-6)
        assert row["means"] == pytest.approx(means, rel=1e-9)


def test_a_feature_that_is_the_class_tells_all():
    y = np.array(CLASSES)[np.arange(30) % 3]
    X = np.column_stack([np.arange(30) % 3, np.arange(30) // 3, np.ones(30)])
    one, other, constant = overview(X, labels=y)["features"]
    assert one["separation"] == pytest.approx(1)
    assert other["separation"] == pytest.approx(0, abs=1e-12)
    assert (constant["kind"], constant["separation"]) == ("constant", None)


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        ([0.5, 1.5, np.nan], "number"),
        ([1, 2, 3], "whole number"),
        ([0, 1, 1], "0 or 1"),
        ([True, False, True], "0 or 1"),
        ([7, 7, None], "constant"),
        ([np.nan, np.nan, np.nan], "empty"),
        (["red", "", "red"], "text"),
        ([np.datetime64("2026-05-01"), np.datetime64("NaT"), np.datetime64("2026-05-02")], "text"),
    ],
)
def test_kinds_are_told(column, kind):
    (row,) = overview({"x": np.array(column)})["features"]
    assert row["kind"] == kind
    assert row["n_missing"] == {"empty": 3, "whole number": 0, "0 or 1": 0}.get(kind, 1)


def test_text_has_its_commonest_values():
    colors = ["red"] * 3 + ["blue"] * 2 + ["<b>"] + [None] + ["green"]
    summary = summarize(X={"color": np.array(colors, dtype=object)})
    (row,) = summary["features"]["features"]
    assert row["n_values"] == 4
    assert [(one["value"], one["count"]) for one in row["common"]] == [
        ("red", 3), ("blue", 2), ("<b>", 1),
    ]  # fmt: skip
    assert "text, 4 different values: <bdi>red</bdi> (3)" in render(summary)


@pytest.mark.parametrize("kind", ["pandas", "polars", "sparse", "lists", "mapping"])
def test_tables_of_every_kind_tell_the_same(kind):
    X = np.array([[1.5, 0.0], [2.5, 3.0], [0.5, 0.0]])
    names = ["length", "width"]
    table = {
        "pandas": lambda: pd.DataFrame(X, columns=names),
        "polars": lambda: pl.DataFrame(X, schema=names),
        "sparse": lambda: csr_array(X),
        "lists": X.tolist,
        "mapping": lambda: dict(zip(names, X.T, strict=True)),
    }[kind]()
    expected = overview(X, feature_names=names)
    options = {} if kind in ("pandas", "polars", "mapping") else {"feature_names": names}
    assert overview(table, **options) == expected


def test_pandas_gaps_are_gaps():
    frame = pd.DataFrame({"n": pd.array([1, None, 3], dtype="Int64"), "c": ["x", pd.NA, "y"]})
    numbers, text = overview(frame)["features"]
    assert (numbers["n_missing"], numbers["median"]) == (1, 2.0)
    assert (text["n_missing"], text["n_values"]) == (1, 2)


def test_of_many_features_the_telling_ones_are_listed():
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = rng.normal(size=(90, 300))
    X[:, [250, 17]] += 5 * y[:, None]
    summary = summarize(np.array(CLASSES)[y], X=X)
    rows = summary["features"]["features"]
    assert len(rows) == 40
    assert summary["features"]["n_features"] == 300
    best = sorted(rows, key=lambda row: -row["separation"])[:2]
    assert {row["feature"] for row in best} == {"feature 17", "feature 250"}
    assert "Of 300 features, the 40 that tell the classes apart best are listed." in render(summary)


def test_test_items_have_features_as_well():
    X = np.array([[1.0], [2.0]])
    found = summarize(X_test=X, y_test=["a", "b"])["features"]
    assert (found["about"], found["n_items"]) == ("test items", 2)
    assert found["features"][0]["separation"] == pytest.approx(1)


def test_extreme_numbers_break_nothing():
    X = np.array([[1e308, 1e-320], [-1e308, 0.0], [0.0, 2e-320]])
    rows = overview(X, labels=["a", "b", "a"])["features"]
    assert [sum(row["histogram"]) for row in rows] == [3, 3]


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="feature_names should be one name for each of the 2"):
        summarize(X=np.ones((3, 2)), feature_names=["a"])
    with pytest.raises(ValueError, match="labels should have one row for each of the 3 rows of X"):
        summarize(["a", "b"], X=np.ones((3, 2)))
