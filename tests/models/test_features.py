"""Features that cannot be used: the column is named, and what to do about it."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from plausible.models import (
    DiscriminantClassifier,
    EvidentialCalibratedClassifier,
    GaussianMixtureClassifier,
    PartialLogisticRegression,
    SoftNearestCentroid,
)

Y = np.array(["cow", "ant", "bee"] * 4)
GOOD = np.random.default_rng(0).normal(size=(12, 2))
MODELS = (
    DiscriminantClassifier,
    GaussianMixtureClassifier,
    PartialLogisticRegression,
    SoftNearestCentroid,
    EvidentialCalibratedClassifier,
)


def frame(**columns):
    return pd.DataFrame({"length": GOOD[:, 0], **columns})


BAD = {
    "text": (
        frame(color=["red", "blue"] * 6),
        r"column 'color' holds text such as '(red|blue)' .*OneHotEncoder",
    ),
    "categories": (
        frame(color=pd.Categorical(["red", "blue"] * 6)),
        r"column 'color' holds text such as '(red|blue)' .*OneHotEncoder",
    ),
    "polars": (
        pl.DataFrame({"length": GOOD[:, 0], "color": ["red"] * 12}),
        r"column 'color' holds text such as '(red|blue)' .*OneHotEncoder",
    ),
    "lists": ([[1.0, "red"]] * 12, "column 1 holds text such as '(red|blue)' .*OneHotEncoder"),
    "sets": (frame(kinds=[{1}] * 12), r"column 'kinds' holds \{1\} .*encode it"),
    "missing": (frame(width=pd.array([1, None] * 6, dtype=object)), "column 'width' has missing"),
    "repeated names": (
        pd.DataFrame(GOOD, columns=["length", "length"]),
        "columns of different names, but 'length' is repeated .*rename one",
    ),
    "ragged": ([[1.0, 2.0]] * 11 + [[1.0]], "rows of equal length, but is a list of 12"),
    "huge": ([[1.0, 10**400]] * 12, "hold numbers, but column 1 holds"),
    "empty": (pd.DataFrame(), "rows and columns, but is an empty data frame"),
}


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("model", MODELS[:-1])
def test_the_column_is_named_with_a_remedy(model, kind):
    X, message = BAD[kind]
    with pytest.raises((ValueError, TypeError), match=f"(?s)X should .*{message}"):
        model().fit(X, Y)
    with pytest.raises((ValueError, TypeError), match=f"(?s)X should .*{message}|feature names"):
        model().fit(GOOD, Y).predict(X)


@pytest.mark.parametrize("kind", ["text", "categories", "repeated names", "lists"])
def test_a_calibrated_classifier_says_the_same(kind):
    X, message = BAD[kind]
    model = EvidentialCalibratedClassifier(SoftNearestCentroid(), cv=2)
    with pytest.raises((ValueError, TypeError), match=f"(?s)X should .*{message}"):
        model.fit(X, Y)
