"""Columns of any kind as numbers: against slow references, and as scikit-learn expects it."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from plausible.base import FeatureTable, NamedArray
from plausible.models import (
    FeaturePreparation,
    GaussianMixtureClassifier,
    PartialLogisticRegression,
)
from plausible.models.preparation.dates import AMBIGUOUS, days_of, way_of
from plausible.models.preparation.kinds import find_kind, says_id, tidy_column

N = 60


@parametrize_with_checks([FeaturePreparation(), FeaturePreparation(scale=False, full_rank=True)])
def test_scikit_learn_is_content(estimator, check):
    check(estimator)


def drawn(seed=0):
    """Numbers with gaps, categories with gaps and a rare name, days, truth values."""
    random = np.random.default_rng(seed)
    size = random.normal(size=N)
    size[random.random(N) < 0.2] = np.nan
    color = random.choice(np.array(["red", "blue", "green", None], dtype=object), N)
    color[3] = "mauve"
    days = [
        datetime.date(2024, 1, 1) + datetime.timedelta(int(k)) for k in random.integers(99, size=N)
    ]
    return {"size": size, "color": color, "day": days, "wild": random.random(N) < 0.3}


def reference(table, min_frequency=2):
    """The same by hand, cell by cell."""
    columns = []
    days = [(day - datetime.date(1970, 1, 1)).days for day in table["day"]]
    for values in (table["size"], days, table["wild"]):
        cells = np.array(values, dtype=float)
        middle = np.median(cells[~np.isnan(cells)])
        full = np.where(np.isnan(cells), middle, cells)
        columns.append((full - full.mean()) / full.std())
    gaps = np.isnan(np.array(table["size"], dtype=float)).astype(float)
    names = ["" if cell is None else cell for cell in table["color"]]
    frequent = sorted({name for name in names if names.count(name) >= min_frequency})
    coded = [[float(name == one) for name in names] for one in frequent]
    rare = [float(name not in frequent) for name in names]
    return np.column_stack([*columns, gaps, *coded, rare])


def test_columns_are_what_they_should_be_cell_by_cell():
    table = drawn()
    preparation = FeaturePreparation()
    found = preparation.fit_transform(FeatureTable(table))
    assert preparation.kinds_ == ["number", "category", "date", "number"]
    assert found == pytest.approx(reference(table), abs=1e-12)
    assert preparation.get_feature_names_out().tolist() == [
        "size", "day", "wild", "size missing", "color=missing", "color=blue", "color=green",
        "color=red", "color=others",
    ]  # fmt: skip


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_of_any_make_are_the_same(make):
    table = drawn()
    plain = {name: list(values) for name, values in table.items()}
    plain["size"] = [None if value != value else value for value in plain["size"]]
    whole = FeaturePreparation().fit_transform(FeatureTable(table))
    preparation = FeaturePreparation().fit(make(plain))
    assert preparation.transform(make(plain)) == pytest.approx(whole, abs=1e-12)
    assert preparation.feature_names_in_.tolist() == list(table)
    turned = make({name: plain[name] for name in reversed(plain)})
    with pytest.raises(ValueError, match="same order|another order"):
        preparation.transform(turned)


def test_whole_numbers_are_scaled_as_scikit_learn_does():
    X = np.random.default_rng(1).normal(3.0, 5.0, size=(50, 4))
    assert np.array_equal(
        FeaturePreparation().fit_transform(NamedArray(X, list("abcd"))),
        StandardScaler().fit_transform(X),
    )
    assert np.array_equal(FeaturePreparation(scale=False).fit_transform(X), X)


def test_full_rank_columns_do_not_add_up_and_say_as_much():
    table = FeatureTable(drawn())
    full = FeaturePreparation(full_rank=True).fit_transform(table)
    usual = FeaturePreparation().fit_transform(table)
    ones = np.ones((N, 1))
    assert np.linalg.matrix_rank(np.hstack([ones, full])) == full.shape[1] + 1
    assert np.linalg.matrix_rank(np.hstack([ones, usual])) == usual.shape[1]
    assert usual.shape[1] == full.shape[1] + 1
    # Each spans what the other does.
    for a, b in ((full, usual), (usual, full)):
        fitted = np.hstack([ones, a]) @ np.linalg.lstsq(np.hstack([ones, a]), b, rcond=None)[0]
        assert fitted == pytest.approx(b, abs=1e-9)


def test_names_that_were_not_seen_share_the_column_of_rare_ones_or_say_nothing():
    seen = {"color": ["red", "blue"] * 5 + ["mauve"]}
    rare = FeaturePreparation().fit(FeatureTable(seen))
    assert rare.transform(FeatureTable({"color": ["violet", "mauve"]})).tolist() == [[0, 0, 1]] * 2
    none = FeaturePreparation().fit(FeatureTable({"color": seen["color"][:-1]}))
    assert none.transform(FeatureTable({"color": ["violet", None]})).tolist() == [[0, 0]] * 2


def test_unseen_names_are_none_of_the_categories_in_full_rank():
    seen = FeatureTable({"color": ["red", "blue", "green"] * 4})
    preparation = FeaturePreparation(full_rank=True).fit(seen)
    known, unseen = preparation.transform(seen), preparation.transform(seen[:3])
    new = preparation.transform(FeatureTable({"color": ["violet"]}))
    assert np.unique(known, axis=0).tolist() == [[-1, -1], [0, 1], [1, 0]]
    assert new.tolist() == [unseen.mean(axis=0).tolist()] == [[0, 0]]  # amid all of them


def test_categories_are_never_thousands_of_columns():
    random = np.random.default_rng(2)
    city = [f"c{int(k)}" for k in random.integers(200, size=2000)]
    street = [f"s{k}" for k in range(2000)]
    table = FeatureTable({"city": city, "street": street})
    preparation = FeaturePreparation(max_categories=12).fit(table)
    assert preparation.transform(table).shape == (2000, 12)
    assert list(preparation.left_out_) == ["street"]
    assert "200 categories, a column for each, the 189 rarest share one" in preparation.explain()[0]
    with pytest.raises(ValueError, match="all are left out .*street: text that differs"):
        FeaturePreparation().fit(FeatureTable({"street": street}))


def test_what_is_said_about_a_column_counts():
    table = FeatureTable({"region": [1, 2, 3, 1, 2, 3], "nr": range(6), "x": [5.0] * 3 + [6.0] * 3})
    preparation = FeaturePreparation({"region": "category", "x": "left out"})
    assert preparation.fit(table).kinds_ == ["category", "left out", "left out"]
    assert preparation.left_out_ == {"nr": "it names the rows", "x": "as asked for"}
    kinds = {"nr": "number"}
    assert FeaturePreparation(kinds).fit(table).kinds_ == ["number"] * 3
    for kinds, words in (({"y": "number"}, "'y' is none"), ({"x": "word"}, "Values of kinds")):
        with pytest.raises(ValueError, match=words):
            FeaturePreparation(kinds).fit(table)


@pytest.mark.parametrize(
    ("cells", "way", "days"),
    [
        (["1970-01-02", "1970-02-01 12:00"], "year first", [1.0, 31.5]),
        (["02.01.1970", "31.12.1970"], "day first", [1.0, 364.0]),
        (["02/01/1970", "31/12/1970"], "day first", [1.0, 364.0]),
        (["01/02/1970", "12/31/1970"], "month first", [1.0, 364.0]),
        (["01/01/1970", "02/02/1970"], "day first", [0.0, 32.0]),
        (["1970-01-02T00:00:00+02:00"], "year first", [1.0 - 2 / 24]),
        (["01/02/1970", "03/04/1970"], AMBIGUOUS, None),
        (["31/12/1970", "12/31/1970"], None, None),
        (["1970-13-01"], None, None),
        (["red", "1970-01-01"], None, None),
    ],
)
def test_ways_of_writing_dates(cells, way, days):
    assert way_of(cells) == way
    if days is not None:
        assert [days_of(cell, way) for cell in cells] == days


def test_names_that_say_id_and_numbers_that_do_not_name_rows():
    ids = ["id", "ID", "photo_id", "PhotoID", "Nr", "Nr.", "item", "Unnamed: 0", "uuid", "index"]
    assert all(map(says_id, ids))
    assert not any(map(says_id, ["width", "acid", "idle", "humid", "paid", "order", "number"]))
    kinds = [
        find_kind(tidy_column(np.array(values)), "id").kind
        for values in (range(9), [1, 1, 2, 3, 4], [0.5, 1, 2, 3, 4], range(4))
    ]
    assert kinds == ["left out", "number", "number", "number"]


def test_a_grid_over_a_pipeline_takes_tables():
    table = FeatureTable(drawn(3))
    y = np.where(np.array(table["wild"]), "a", "b")
    model = make_pipeline(FeaturePreparation(), PartialLogisticRegression())
    grid = {"featurepreparation__max_categories": [2, 9]}
    search = GridSearchCV(model, grid, cv=3).fit(table, y)
    assert search.best_score_ == 1.0
    assert search.best_estimator_.feature_names_in_.tolist() == table.columns
    assert clone(model[0]).get_params() == model[0].get_params()


def test_models_refuse_tables_and_name_the_preparation():
    with pytest.raises(ValueError, match="column 'color' holds text .*FeaturePreparation"):
        GaussianMixtureClassifier().fit(
            FeatureTable({"size": [1.0, 2.0], "color": ["red", "blue"]}), ["a", "b"]
        )


def test_columns_of_one_name_are_refused():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame([[1.0, "red"], [2.0, "blue"]], columns=["size", "size"])
    with pytest.raises(ValueError, match="'size' is repeated.*rename one"):
        FeaturePreparation().fit(table)


@pytest.mark.parametrize(
    ("new", "words"),
    [
        (
            {"size": ["wide"], "day": ["2024-01-01"]},
            "'size' should hold numbers.*'wide' in 1 row .row 0",
        ),
        ({"size": [1.0], "day": ["soon"]}, "'day' should hold dates.*'soon'"),
        ({"size": [np.inf], "day": ["2024-01-01"]}, "'size' should hold finite"),
        ({"day": ["2024-01-01"], "size": [1.0]}, "has them in another order"),
        ({"size": [1.0]}, "lacks 'day'"),
    ],
)
def test_new_rows_that_do_not_fit_are_refused(new, words):
    table = FeatureTable(
        {"size": [1.0, 2.0, 4.0], "day": ["2024-01-01", "2024-01-05", "2024-02-01"]}
    )
    preparation = FeaturePreparation().fit(table)
    with pytest.raises(ValueError, match=words):
        preparation.transform(FeatureTable(new))
