"""Data frames of all kinds mean the same at every door: features, labels and answers."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

from plausible.base import RowOrderWarning
from plausible.belief import contour
from plausible.experts import Annotations
from plausible.io import read_annotations, read_table, read_training, stream_training
from plausible.labels import Labels
from plausible.metrics import soft_log_loss
from plausible.models import DiscriminantClassifier, SoftNearestCentroid
from plausible.models.preparation.kinds import tidy_column

N = 12
X = pd.DataFrame(np.random.default_rng(0).integers(9, size=(N, 2)), columns=["u", "v"])
Y = ["b", "a"] * 6
SPARSE = pd.SparseDtype(float, 0.0)
SAID = {"item": ["x", "x", "y"], "annotator": ["ann", "bob", "ann"], "label": ["c", "d", None]}
FRAMES = {
    "object": lambda frame: frame.astype(object),
    "category": lambda frame: frame.astype("category"),
    "string": lambda frame: frame.astype("string"),
    "pyarrow": lambda frame: frame.astype("string[pyarrow]"),
    "polars": lambda frame: pl.DataFrame(
        {name: frame[name].astype(object).where(frame[name].notna(), None) for name in frame},
    ),
}


@pytest.mark.parametrize("kind", ["Int64", "Float64", "int64[pyarrow]", SPARSE, "polars"])
def test_features_of_all_kinds_are_numbers(kind):
    given = pl.DataFrame(X.to_dict("list")) if kind == "polars" else X.astype(kind)
    model = SoftNearestCentroid().fit(given, Y)
    assert model.feature_names_in_.tolist() == ["u", "v"]
    np.testing.assert_array_equal(model.predict(given), SoftNearestCentroid().fit(X, Y).predict(X))
    assert len(DiscriminantClassifier().fit(given, Y).predict(given)) == N


@pytest.mark.parametrize("kind", FRAMES.values(), ids=list(FRAMES))
def test_answers_of_all_kinds_are_read_alike(kind):
    frame = kind(pd.DataFrame(SAID))
    expected = Annotations.from_long(*SAID.values())
    for found in (Annotations.from_long(*(frame[n] for n in SAID)), read_annotations(frame)):
        assert found.to_table() == expected.to_table()
        assert found.notes == expected.notes


@pytest.mark.parametrize("kind", FRAMES.values(), ids=list(FRAMES))
def test_a_table_of_answers_names_people_and_items(kind):
    wide = pd.DataFrame({"ann": ["c", "d", None], "bob": ["c", None, "d"]}, index=["x", "y", "z"])
    found = Annotations.from_answers(kind(wide))
    assert found.annotators.tolist() == ["ann", "bob"]
    assert found.items.tolist() == (["x", "y", "z"] if hasattr(kind(wide), "index") else [0, 1, 2])
    with pytest.raises(ValueError, match="should be 2 different names, but 'ann' comes more than"):
        Annotations.from_answers(wide.set_axis(["ann", "ann"], axis=1))


@pytest.mark.parametrize("label", [None, np.nan, pd.NA])
def test_a_label_that_is_missing_is_said_by_none(label):
    labels = ["a", label, "b"]
    with pytest.raises(ValueError, match="say missing=None if"):
        Labels.from_crisp(labels)
    assert Labels.from_crisp(labels, missing=None).is_unknown.tolist() == [False, True, False]


@pytest.mark.parametrize(
    "use",
    [
        Labels.from_sets,
        Labels.from_plausibility,
        Labels.from_probability,
        lambda table: Annotations.from_answers(table),
        lambda table: Annotations.from_classes(table, "count"),
        lambda table: soft_log_loss(Labels.from_crisp([0, 1]), table),
        lambda table: SoftNearestCentroid().fit([[0.0], [1.0]], table),
        contour,
    ],
)
def test_sparse_matrices_are_refused_with_the_remedy(use):
    with pytest.raises(ValueError, match="dense array, but a sparse matrix .*toarray"):
        use(csr_array([[1, 0], [0, 1]]))


def test_sparse_columns_are_read_as_any_other():
    table = X.astype(SPARSE).assign(name=pd.Series(Y, dtype="category"))
    assert read_table(table).to_pydict() == X.astype(float).assign(name=Y).to_dict("list")


@pytest.mark.parametrize("names", [[("p", "u"), ("p", "v")], [3, 5], [1, 0], [0, 1]])
def test_columns_without_text_keep_their_order(names):
    columns = pd.MultiIndex.from_tuples(names) if isinstance(names[0], tuple) else names
    given = X.set_axis(columns, axis=1)
    model = SoftNearestCentroid().fit(given, Y)
    assert len(model.predict(given)) == len(model.predict(X.to_numpy())) == N
    with pytest.raises(ValueError, match="but has them in another order"):
        model.predict(given.iloc[:, ::-1])


def test_columns_of_one_name_are_told():
    frame = pd.DataFrame([["x", "c", "d"]], columns=["item", "label", "label"])
    with pytest.raises(ValueError, match="different names, but 'label' come twice; rename"):
        read_annotations(frame)


def test_labels_in_another_order_than_features_are_told():
    labels = pd.DataFrame({"label": Y})
    turned = X.sample(frac=1.0, random_state=1)
    with pytest.warns(RowOrderWarning, match="Rows of features and labels should have the same"):
        read_training(labels, turned)
    found = read_training(labels.loc[turned.index], turned)
    assert np.asarray(found.labels).tolist() == labels.loc[turned.index, "label"].tolist()


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_durations_are_seconds(unit):
    took = pa.array([1500, None, 250], pa.duration(unit))
    seconds = np.array([1500, np.nan, 250]) / {"s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9}[unit]
    features = pa.table({"size": [1.0, 2.0, 4.0], "took": took})
    found = read_training({"label": ["a", "b", "a"]}, features, kinds="any")
    np.testing.assert_allclose(found.X["took"], seconds, rtol=1e-15)
    assert "the Table: column 'took' has durations, read as seconds" in found.notes
    frame = pd.DataFrame({"took": took.to_pandas()})
    values = tidy_column(frame["took"].to_numpy()).numbers
    np.testing.assert_allclose(values, seconds, rtol=1e-15)
    with pytest.raises(TypeError, match="column 'took' holds durations.* into seconds"):
        SoftNearestCentroid().fit(frame.assign(size=1.0), ["a", "b", "a"])


def test_nested_columns_are_left_out_with_the_remedy():
    nested = {f"list {k}": pa.array([[1.0, 2.0]] * 3) for k in range(6)}
    features = pa.table({"size": [1.0, 2.0, 4.0], "at": [{"x": 1}] * 3, **nested})
    found = read_training({"label": ["a", "b", "a"]}, features, kinds="any")
    (told,) = (note for note in found.notes if "7 columns left out" in note)
    assert "at (it holds records: write a column for each of their fields)" in told
    for name in nested:
        assert f"{name} (it holds lists: write a column for each of their entries)" in told


@pytest.mark.parametrize("read", [read_training, stream_training])
def test_options_that_nobody_knows_are_refused(read):
    labels, features = {"item": ["x", "y"], "label": ["a", "b"]}, {"item": ["x", "y"], "u": [1, 2]}
    with pytest.raises(ValueError, match="colums came; did you mean 'columns'; correct its name"):
        read(labels, features, colums=["u"])


@pytest.mark.parametrize("table", [[("x", "a"), ("y", "b")], np.eye(2)])
def test_rows_without_names_are_no_table(table):
    with pytest.raises(TypeError, match=r"came; name its columns, as in \{name: \[...\]\}"):
        read_table(table)
