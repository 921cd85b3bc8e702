"""Names of features and of classes travel with rows that are not in memory, and are checked."""

import dask.array
import dask.dataframe
import numpy as np
import pandas as pd
import pytest

from plausible.cluster import ECM
from plausible.engine import DaskRows, StreamRows, read_any
from plausible.io import stream_training
from plausible.labels import Labels
from plausible.models import (
    DiscriminantClassifier,
    EvidentialCalibratedClassifier,
    GaussianMixtureClassifier,
    PartialLogisticRegression,
    StochasticSupervisionClassifier,
    score_rows,
)
from plausible.neighbors import EvidentialNeighborsClassifier

N = 60
RNG = np.random.default_rng(0)
TRUTH = RNG.integers(3, size=N)
FRAME = pd.DataFrame(RNG.normal(size=(N, 2)) + 2 * np.eye(3, 2)[TRUTH], columns=["long", "wide"])
TURNED = FRAME[["wide", "long"]]
CLASSES = ["cow", "ant", "bee"]
Y = np.array(CLASSES)[TRUTH]


def in_parts(table):
    return dask.dataframe.from_pandas(table, npartitions=3)


def rows_of(frame):
    return StreamRows(read_any(frame.assign(y=Y), labels="y"))


FITS = {
    "a Dask data frame": lambda model: model.fit(in_parts(FRAME), in_parts(pd.Series(Y))),
    "rows of a Dask data frame": lambda model: model.fit(
        DaskRows(in_parts(FRAME), np.eye(3)[np.unique(CLASSES).searchsorted(Y)])
    ),
    "a stream of a table": lambda model: model.fit(rows_of(FRAME)),
    "features beside labels": lambda model: model.fit(
        stream_training({"item": range(N), "label": Y}, FRAME.assign(item=range(N))).stream()
    ),
}
CASES = [
    *(
        (where, make)
        for where in FITS
        for make in (DiscriminantClassifier, EvidentialNeighborsClassifier)
    ),
    ("a stream of a table", lambda: EvidentialCalibratedClassifier(DiscriminantClassifier(), cv=2)),
]
ASKED = {
    "a data frame": TURNED,
    "a Dask data frame": in_parts(TURNED),
    "a stream": StreamRows(read_any(TURNED)),
}


@pytest.mark.parametrize(("where", "make"), CASES)
def test_features_in_another_order_are_never_mixed_up(where, make):
    model = FITS[where](make())
    assert model.feature_names_in_.tolist() == ["long", "wide"]
    in_memory = make().fit(FRAME, Y).predict(FRAME)
    for asked in ASKED.values():
        with pytest.raises(ValueError, match="order"):
            model.predict(asked)
    if where == "rows of a Dask data frame":  # whose classes have no names
        in_memory = np.unique(CLASSES).searchsorted(in_memory)
    assert (model.predict(StreamRows(read_any(FRAME))) == in_memory).all()
    assert (
        model.predict(in_parts(TURNED)[list(model.feature_names_in_)]).compute() == in_memory
    ).all()


@pytest.mark.parametrize("rows", [TURNED, in_parts(TURNED), rows_of(TURNED)])
def test_scores_are_not_of_features_in_another_order(rows):
    model = PartialLogisticRegression().fit(FRAME, Y)
    given = {} if isinstance(rows, StreamRows) else {"y": Y}
    with pytest.raises(ValueError, match="order"):
        score_rows(model, rows, **given)


def test_names_of_an_earlier_fit_are_forgotten():
    model = GaussianMixtureClassifier().fit(FRAME, Y).fit(StreamRows([(FRAME.to_numpy(), Y)]))
    assert not hasattr(model, "feature_names_in_")


def test_clusters_of_dask_know_their_features():
    model = ECM(2, random_state=0).fit(in_parts(FRAME))
    assert model.feature_names_in_.tolist() == ["long", "wide"]
    with pytest.raises(ValueError, match="order"):
        model.predict_partition(TURNED)


P = (0.2 + 3 * np.eye(3)[TRUTH] + RNG.random((N, 3))) / 4.1
P /= P.sum(axis=1, keepdims=True)
KNOWN = Labels.from_sets(
    [{"ant"} if t == 1 else set(CLASSES) for t in TRUTH], ["bee", "cow", "ant"]
)


@pytest.mark.parametrize(
    "assessed",
    [
        Labels.from_probability(P, CLASSES),
        in_parts(pd.DataFrame(P, columns=CLASSES)),
        in_parts(pd.DataFrame(P, columns=CLASSES)[["bee", "cow", "ant"]]),
    ],
)
@pytest.mark.parametrize(
    "labels", [None, KNOWN, in_parts(pd.DataFrame(KNOWN.contour, columns=KNOWN.classes))]
)
def test_assessments_and_labels_on_dask_are_of_the_classes_that_they_name(assessed, labels):
    known = None if labels is None else KNOWN
    expected = StochasticSupervisionClassifier().fit(
        FRAME, Labels.from_probability(P, CLASSES), labels=known
    )
    found = StochasticSupervisionClassifier().fit(in_parts(FRAME), assessed, labels=labels)
    assert found.classes_.tolist() == ["ant", "bee", "cow"]
    np.testing.assert_allclose(found.means_, expected.means_, atol=1e-9)
    np.testing.assert_allclose(found.predict_proba(FRAME), expected.predict_proba(FRAME), atol=1e-9)


def test_assessments_on_dask_of_other_classes_are_refused():
    table = in_parts(pd.DataFrame(P, columns=CLASSES))
    with pytest.raises(ValueError, match="should be the classes"):
        StochasticSupervisionClassifier().fit(in_parts(FRAME), table, classes=["x", "y", "z"])


def test_sets_in_memory_beside_assessments_on_dask():
    P_here = dask.array.from_array(P, chunks=(20, 3))
    sets = [{"ant"} if t == 1 else set(CLASSES) for t in TRUTH]
    expected = StochasticSupervisionClassifier().fit(FRAME, P, labels=sets, classes=CLASSES)
    found = StochasticSupervisionClassifier().fit(
        in_parts(FRAME), P_here, labels=sets, classes=CLASSES
    )
    np.testing.assert_allclose(found.means_, expected.means_, atol=1e-9)


def test_names_of_classes_beside_assessments_elsewhere_may_be_an_array():
    names, X = np.array(CLASSES), FRAME.to_numpy()
    expected = StochasticSupervisionClassifier().fit(X, P, classes=names)
    collections = (dask.array.from_array(part, chunks=(20, -1)) for part in (X, P))
    for given in ((StreamRows([(X[:20], P[:20]), (X[20:], P[20:])]),), collections):
        found = StochasticSupervisionClassifier().fit(*given, classes=names)
        assert found.classes_.tolist() == ["ant", "bee", "cow"]
        np.testing.assert_allclose(found.means_, expected.means_, atol=1e-9)
