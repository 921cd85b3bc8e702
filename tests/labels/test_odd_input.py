"""Labels, features and scores that do not mean what they seem are refused, told or put right."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from plausible.base import RowOrderWarning
from plausible.belief import decide
from plausible.experts import Annotations
from plausible.labels import AlikeClassesWarning, Labels, as_labels
from plausible.metrics import soft_accuracy, soft_log_loss
from plausible.models import (
    FeaturePreparation,
    PartialLogisticRegression,
    SoftBaggingClassifier,
    SoftNearestCentroid,
)

X = np.array([[0.0], [1.0], [5.0], [6.0]])
SHARES = pd.DataFrame({"b": [0.1, 0.2], "a": [0.9, 0.8]})


@pytest.mark.parametrize(
    "make",
    [
        Labels.from_probability,
        Labels.from_plausibility,
        lambda table, classes: Labels(table, classes),
        lambda table, classes: as_labels(table, classes=classes),
        lambda table, classes: Labels.from_sets(table > 0.15, classes),
        lambda table, classes: Annotations.from_classes(table, "probability", classes).pool(
            doubt=0
        ),
    ],
)
@pytest.mark.parametrize("columns", [["b", "a"], [1, 0]])
def test_named_columns_are_put_into_the_order_of_the_classes(make, columns):
    table = SHARES.set_axis(columns, axis=1)
    found = make(table, sorted(columns))
    assert found.classes.tolist() == sorted(columns)
    expected = make(table[sorted(columns)], sorted(columns))
    np.testing.assert_array_equal(found.contour, expected.contour)
    others = make(SHARES.set_axis(["p_b", "p_a"], axis=1), ["b", "a"])  # by their places
    np.testing.assert_array_equal(others.contour, make(SHARES, ["b", "a"]).contour)


def test_a_prediction_in_another_order_than_its_classes_is_put_right():
    truth = Labels.from_crisp(["b", "a"])
    given = soft_log_loss(truth, SHARES, classes=["a", "b"])
    assert given == soft_log_loss(truth, SHARES[["a", "b"]], classes=["a", "b"])


@pytest.mark.parametrize(
    "use",
    [
        lambda classes: Labels.from_probability([[0.3, 0.7]], classes),
        lambda classes: Labels([[0.3, 0.7]], classes),
        lambda classes: Labels.from_sets([[True, False]], classes),
        lambda classes: Annotations.from_classes([[1, 2]], "count", classes),
        lambda classes: Annotations.from_long([1], [1], ["a"], classes=classes),
    ],
)
def test_a_set_of_classes_has_no_order(use):
    with pytest.raises(ValueError, match="classes should be a list, .* write sorted"):
        use({"a", "b"})


def test_lists_of_bits_are_no_sets_of_names():
    with pytest.raises(ValueError, match="rows repeat 0 and 1, .* dtype=bool"):
        Labels.from_sets([[0, 1, 0], [1, 1, 0]])
    assert Labels.from_sets([[0, 1], [1, 2]]).classes.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "names", [["cat", "cat ", "dog"], ["Cat", "cat"], ["cat", "dog", "cat|dog"]]
)
def test_classes_that_are_alike_are_told(names):
    with pytest.warns(AlikeClassesWarning, match="were read as different ones; write them alike"):
        Labels.from_crisp(names)
    assert len(Labels.from_crisp(names, classes=names).classes) == len(names)
    assert len(Labels.from_crisp(["a", "A", "b|c"]).classes) == 3  # letters, and no set


@pytest.mark.parametrize("labels", ["cat", {"cat", "dog"}, {"x": "cat"}, iter(["cat"])])
def test_labels_that_are_no_list_are_named(labels):
    with pytest.raises(ValueError, match="Hard labels should be a list, with a class for each"):
        Labels.from_crisp(labels)


def test_one_row_of_numbers_is_no_table():
    with pytest.raises(ValueError, match=r"there is one row of 2; write \[\[...\]\]"):
        Labels.from_probability([0.3, 0.7])


def test_masked_features_are_missing():
    masked = np.ma.array(X, mask=[[True], [False], [False], [False]])
    with pytest.raises(ValueError, match="contains NaN"):
        SoftNearestCentroid().fit(masked, ["a", "a", "b", "b"])
    plain = np.ma.array(X)
    assert SoftNearestCentroid().fit(plain, ["a", "a", "b", "b"]).predict(plain)[0] == "a"


@pytest.mark.parametrize("kind", ["M8[D]", "m8[s]", "M8[ns]"])
@pytest.mark.parametrize("wrap", [np.asarray, pd.DataFrame])
def test_dates_and_durations_are_not_counted_in_whatever_unit(kind, wrap):
    with pytest.raises(TypeError, match="X should hold numbers, but column 0 holds"):
        SoftNearestCentroid().fit(wrap(X.astype(int).astype(kind)), ["a", "a", "b", "b"])
    dates = pd.DataFrame({"u": X[:, 0], "at": X[:, 0].astype(int).astype("M8[D]")})
    prepared = make_pipeline(FeaturePreparation(), SoftNearestCentroid())
    model = SoftBaggingClassifier(prepared, 2, random_state=0).fit(dates, ["a", "a", "b", "b"])
    assert len(model.predict(dates)) == 4


def test_weights_in_another_order_are_told():
    frame, labels = pd.DataFrame(X, columns=["u"]), pd.Series(["a", "a", "b", "b"])
    weights = pd.Series([1.0, 2.0, 3.0, 4.0], index=[3, 2, 1, 0])
    for given in (frame, X):
        with pytest.warns(RowOrderWarning, match="of X and sample_weight|of y and sample_weight"):
            PartialLogisticRegression().fit(given, labels, sample_weight=weights)


def test_the_loss_of_refusing_is_not_in_percent():
    with pytest.raises(ValueError, match="reject should be at most 1, .* write 0.3"):
        decide([[0.6, 0.4]], kind="probability", reject=30)
    assert decide([[0.6, 0.4]], kind="probability", loss=[[0, 90], [90, 0]], reject=30).index == [
        -1
    ]


def test_answers_that_are_too_few_are_counted():
    with pytest.raises(ValueError, match="one for each of the 3 items, but there are 2"):
        soft_accuracy(Labels.from_crisp(["a", "b", "a"]), ["a", "b"])


@pytest.mark.parametrize("truth", [["A", "A", "B", "B"], Labels.from_crisp(["x", "y", "x", "y"])])
def test_a_score_on_other_classes_than_those_learned_is_told(truth):
    model = SoftNearestCentroid().fit(X, ["a", "a", "b", "b"])
    with pytest.warns(UserWarning, match="but none of .* is; are they spelled alike"):
        assert model.score(X, truth) == 0.0
    assert model.score(X, ["a", "a", "c", "c"]) == 0.5


def test_a_table_with_hidden_entries_is_refused():
    """The numbers below a mask are not what anybody said."""
    hidden = np.ma.array([[0.9, 0.1], [0.2, 0.8]], mask=[[True, True], [False, False]])
    with pytest.raises(ValueError, match="hidden"):
        as_labels(hidden)
    assert as_labels(hidden.filled(1.0)).is_unknown.tolist() == [True, False]
    assert as_labels(np.ma.array(hidden.data)).is_probability.all()


@pytest.mark.parametrize("make", [Labels.from_probability, Labels.from_plausibility, as_labels])
def test_a_column_named_after_a_class_is_not_read_as_another(make):
    table = pd.DataFrame({"yes": [0.7, 0.2], "no": [0.3, 0.8]})
    with pytest.raises(ValueError, match="'no' would be read from another column"):
        make(table, classes=["no", "maybe"])
    assert make(table, classes=["oak", "elm"]).contour[0].tolist() == [0.7, 0.3]
    assert make(table, classes=["no", "yes"]).contour[0].tolist() == [0.3, 0.7]


WHOLE_WITH_GAPS = {
    "Int64": lambda entries: pd.Series(entries, dtype="Int64"),
    "UInt16 array": lambda entries: pd.array(entries, dtype="UInt16"),
    "int64[pyarrow]": lambda entries: pd.Series(entries, dtype="int64[pyarrow]"),
    "polars": lambda entries: pytest.importorskip("polars").Series(entries),
}


@pytest.mark.parametrize("make", WHOLE_WITH_GAPS.values(), ids=WHOLE_WITH_GAPS)
def test_whole_numbers_with_gaps_are_classes_of_whole_numbers(make):
    labels = as_labels(make([7, None, 3, 40]))
    assert labels.classes.tolist() == [3, 7, 40]
    assert labels.classes.dtype.kind == "i"
    np.testing.assert_array_equal(labels.contour, [[0, 1, 0], [1, 1, 1], [1, 0, 0], [0, 0, 1]])


def test_large_whole_numbers_with_gaps_are_not_rounded():
    large = 2**60 + 1  # no float64
    assert as_labels(pd.Series([large, None, 2], dtype="Int64")).classes.tolist() == [2, large]
    with_gaps = pd.Series([2.5, np.nan, 2.0])
    with pytest.raises(ValueError, match="continuous"):
        as_labels(with_gaps)
