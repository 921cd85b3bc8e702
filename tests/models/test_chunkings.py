"""However rows are cut into chunks, a fit is the one in memory."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from plausible.base.training import training_rows as gather
from plausible.engine import StreamRows
from plausible.engine.rows import ArrayRows
from plausible.labels import Labels
from plausible.models import (
    DiscriminantClassifier,
    GaussianMixtureClassifier,
    PartialLogisticRegression,
)

pytestmark = pytest.mark.usefixtures("two_threads")

NAMES = np.array(["cow", "ant", "bee"])
RNG = np.random.default_rng(0)
CODES = RNG.integers(3, size=36)
X = RNG.normal(size=(36, 2)) + 2.0 * np.eye(3, 2)[CODES]
WEIGHT = RNG.uniform(0.5, 2.0, 36)
MISSING = RNG.uniform(size=36) < 0.4
MISSING[:6] = True  # a first chunk may say nothing at all
CONTOUR = np.where(RNG.uniform(size=(36, 3)) < 0.4, RNG.uniform(size=(36, 3)), 0.0)
CONTOUR[np.arange(36), CODES] = 1.0
SETS = [set(NAMES[row > 0].tolist()) for row in CONTOUR]
SETS = [names | {"bee"} if "bee" in names else names for names in SETS]


def blank(values, marker, dtype=None):
    found = [marker if gone else value for gone, value in zip(MISSING, values, strict=True)]
    return np.array(found, dtype=dtype)


KINDS = {
    "words": NAMES[CODES],
    "numbers": np.array([7, -2, 30])[CODES],
    "words and None": blank(NAMES[CODES].tolist(), None, object),
    "words and blanks": blank(NAMES[CODES].tolist(), ""),
    "words and NaN in a list": blank(NAMES[CODES].tolist(), np.nan, object).tolist(),
    "numbers and NaN": blank([7.0, -2.0, 30.0] @ np.eye(3)[CODES].T, np.nan),
    "a column of numbers": np.array([7, -2, 30])[CODES][:, None],
    "sets": SETS,
    "sets and None": blank(SETS, None, object).tolist(),
    "plausibilities": CONTOUR,
    "possible or not": CONTOUR > 0,
    "Labels": Labels.from_plausibility(CONTOUR, NAMES),
}
cuts = st.sets(st.integers(1, 35)).map(sorted)


def in_memory(kind):
    y = KINDS[kind]
    return np.ravel(y) if kind == "a column of numbers" else y


def chunks_of(kind, places):
    edges = [0, *places, len(X)]
    y = KINDS[kind]
    return [
        (X[first:last], y[first:last], WEIGHT[first:last])
        for first, last in itertools.pairwise(edges)
    ]


@given(places=cuts)
@pytest.mark.parametrize("kind", KINDS)
def test_labels_of_chunks_are_those_of_the_whole(kind, places):
    model = PartialLogisticRegression()
    whole = gather(model, X, in_memory(kind), WEIGHT)
    cut = gather(model, StreamRows(chunks_of(kind, places)), None, None)
    assert cut.classes.tolist() == whole.classes.tolist()
    found = [np.concatenate(column) for column in zip(*cut.rows.chunks(), strict=True)]
    for one, other in zip(found, whole.rows.columns, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("kind", ["words and None", "sets and None", "Labels"])
@pytest.mark.parametrize(
    "model", [DiscriminantClassifier(tol=1e-3), PartialLogisticRegression(n_init=1, tol=1e-4)]
)
def test_fits_are_those_in_memory(model, kind):
    model.set_params(random_state=0).fit(X, KINDS[kind], WEIGHT)
    for places in (list(range(1, 36)), [1, 6, 7, 20]):
        other = clone(model).fit(StreamRows(chunks_of(kind, places)))
        assert other.classes_.tolist() == model.classes_.tolist()
        np.testing.assert_allclose(other.predict_proba(X), model.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("seed", [0, 3, 19, 26, 27])
def test_ties_of_clusters_do_not_depend_on_chunks(seed):
    whole_numbers = np.random.default_rng(seed).integers(5, size=(40, 1)).astype(float)
    y = np.repeat(["ant", "bee"], 20)
    model = GaussianMixtureClassifier(n_components=2, max_iter=20, tol=0.1, random_state=0)
    means = model.fit(whole_numbers, y).means_
    for places in ([1], range(7, 40, 7)):
        edges = itertools.pairwise([0, *places, 40])
        rows = StreamRows([(whole_numbers[first:last], y[first:last]) for first, last in edges])
        np.testing.assert_allclose(clone(model).fit(rows).means_, means, atol=1e-9)


@pytest.mark.parametrize("size", [1, 3, 7])
def test_rows_of_arrays_in_chunks(size):
    y = KINDS["words and None"]
    rows = ArrayRows(X, y, WEIGHT, chunk_rows=size)
    found = gather(PartialLogisticRegression(), rows, None, None)
    whole = gather(PartialLogisticRegression(), X, y, WEIGHT)
    np.testing.assert_array_equal(found.rows.columns[1], whole.rows.columns[1])


@pytest.mark.parametrize("kind", ["words and None", "numbers and NaN", "sets and None", "Labels"])
def test_dask_collections(kind):
    dask = pytest.importorskip("dask.array")
    cut = dask.from_array(X, chunks=(7, 2))
    model = DiscriminantClassifier().fit(X, KINDS[kind], WEIGHT)
    asked = [KINDS[kind]]
    if kind in ("words and None", "numbers and NaN"):
        asked.append(dask.from_array(KINDS[kind], chunks=7))
    for y in asked:
        other = DiscriminantClassifier().fit(cut, y, dask.from_array(WEIGHT, chunks=7))
        assert other.classes_.tolist() == model.classes_.tolist()
        np.testing.assert_allclose(other.predict_proba(X), model.predict_proba(X), atol=1e-6)


def test_one_class_only():
    one = StreamRows([(X[:5], ["ant"] * 5), (X[5:], ["ant"] * 31)])
    assert PartialLogisticRegression().fit(one).classes_.tolist() == ["ant"]
    labels = Labels.from_crisp(["ant"] * 36)
    one = StreamRows([(X[:5], labels[:5]), (X[5:], labels[5:])])
    assert PartialLogisticRegression().fit(one).classes_.tolist() == ["ant"]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ((["ant"] * 3 + [None], ["ant"] * 4), "needs at least two classes .* 'ant'"),
        (([None] * 4, [None] * 4), "at least one class, but no item is labeled"),
        ((["ant"] * 4, [1, 2, 3, 4]), "all numbers or all strings"),
        (([1.0, 2.0, 3.0, 4.0], [0.5, 1.0, 1.5, 2.0]), "continuous"),
        (
            (Labels.from_crisp(["a", "b", "a", "b"]), Labels.from_crisp(["a", "c", "a", "c"])),
            r"classes \['a', 'b'\] in every chunk, but have \['a', 'c'\] in one",
        ),
    ],
)
def test_what_is_wrong_in_all_chunks_together_is_refused(columns, message):
    source = [(X[:4], columns[0]), (X[4:8], columns[1])]
    with pytest.raises(ValueError, match=message):
        PartialLogisticRegression().fit(StreamRows(source))
