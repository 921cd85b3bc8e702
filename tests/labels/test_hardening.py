"""Tools of scikit-learn that take hard classes say so at that moment; all others stay silent."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_blobs
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.feature_selection import RFE, SelectKBest, SequentialFeatureSelector
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
    permutation_test_score,
    train_test_split,
    validation_curve,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.tree import DecisionTreeClassifier

import plausible.models
from plausible.labels import HardenedLabelsWarning, Labels
from plausible.labels.hardening import KEEPERS
from plausible.models import SoftNearestCentroid

X, CODES = make_blobs(60, centers=[[0, 0], [3, 0], [0, 3]], random_state=0)
NAMES = np.array(["cow", "ant", "bee"])


def make_labels(n_classes=3, unknown=False, names=True):
    """Hard labels, doubts and sets at once, and unknown rows if asked for; every row is known."""
    classes = NAMES[:n_classes] if names else np.array([7, 3, 5])[:n_classes]
    codes = CODES % n_classes
    contour = np.eye(n_classes)[codes]
    contour[1::3] = np.maximum(contour[1::3], np.linspace(0.1, 0.8, 20)[:, None])
    if n_classes > 2:
        contour[np.arange(2, 60, 3), (codes[2::3] + 1) % n_classes] = 1.0
    if unknown:
        contour[::4] = 1.0
    return Labels.from_plausibility(contour, classes)


def ours():
    return SoftNearestCentroid()


TOOLS = {
    "VotingClassifier": lambda: VotingClassifier([("a", ours()), ("b", GaussianNB())]),
    "BaggingClassifier": lambda: BaggingClassifier(ours(), n_estimators=2),
    "StackingClassifier": lambda: StackingClassifier([("a", ours())], GaussianNB(), cv=2),
    "CalibratedClassifierCV": lambda: CalibratedClassifierCV(GaussianNB(), cv=2, ensemble=True),
    "CalibratedClassifierCV at once": lambda: CalibratedClassifierCV(ours(), cv=2, ensemble=False),
    "OneVsRestClassifier": lambda: OneVsRestClassifier(ours()),
    "OneVsOneClassifier": lambda: OneVsOneClassifier(ours()),
    "OutputCodeClassifier": lambda: OutputCodeClassifier(ours(), random_state=0),
    "AdaBoostClassifier": lambda: AdaBoostClassifier(ours(), n_estimators=2),
    "RandomForestClassifier": lambda: RandomForestClassifier(2),
    "RFE": lambda: RFE(LogisticRegression()),
    "LogisticRegression": LogisticRegression,
}


def warnings_of(action):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        action()
    return [warning for warning in caught if warning.category is HardenedLabelsWarning]


@pytest.mark.parametrize("name", TOOLS)
def test_tools_that_harden_say_so_once_for_each_call(name):
    labels, tool = make_labels(), TOOLS[name]()
    for _ in range(2):
        (warning,) = warnings_of(lambda: tool.fit(X, labels))
        assert warning.filename == __file__  # the line of the user, not one of scikit-learn
        message = str(warning.message)
        assert f"{name.split()[0]} of scikit-learn" in message
        assert "40 rows (rows 1, 2, 4, 5, 7, ...)" in message
        assert "y.crisp()" in message


@pytest.mark.parametrize("name", TOOLS)
def test_tools_that_harden_are_silent_where_nothing_is_lost(name):
    TOOLS[name]().fit(X, Labels.from_crisp(NAMES[CODES]))
    TOOLS[name]().fit(X, make_labels().crisp())


@pytest.mark.parametrize("names", [True, False])
@pytest.mark.parametrize("name", TOOLS)
def test_unknown_rows_never_become_a_class(name, names):
    with pytest.raises(ValueError, match=r"15 rows \(rows 0, 4, .*class (''|-1).*drop") as error:
        TOOLS[name]().fit(X, make_labels(unknown=True, names=names))
    assert error.value.rows.tolist() == list(range(0, 60, 4))


@pytest.mark.parametrize("method", ["predict_proba", "predict_log_proba"])
def test_out_of_fold_probabilities_are_of_hard_classes(method):
    labels = make_labels()
    (warning,) = warnings_of(lambda: cross_val_predict(ours(), X, labels, cv=2, method=method))
    assert "cross_val_predict of scikit-learn" in str(warning.message)
    assert "cross_val_beliefs" in str(warning.message)
    with pytest.raises(ValueError, match="cross_val_predict .* class ''"):
        cross_val_predict(ours(), X, make_labels(unknown=True), cv=2, method=method)


def test_a_tuned_threshold_is_one_for_hard_classes():
    labels, tool = make_labels(2), TunedThresholdClassifierCV(ours(), cv=2)
    (warning,) = warnings_of(lambda: tool.fit(X, labels))
    assert "TunedThresholdClassifierCV" in str(warning.message)


def test_each_fold_of_a_tool_that_hardens_says_so_at_the_users_line():
    tool = VotingClassifier([("a", ours())])
    caught = warnings_of(lambda: cross_val_score(tool, X, make_labels(), cv=2))
    assert [warning.filename for warning in caught] == [__file__] * 2


def test_the_outermost_tool_is_named():
    nested = make_pipeline(StandardScaler(), BaggingClassifier(VotingClassifier([("a", ours())])))
    (warning,) = warnings_of(lambda: nested.fit(X, make_labels()))
    assert "BaggingClassifier" in str(warning.message)


def test_subclasses_and_partial_fits_count_like_what_they_are():
    class Mine(VotingClassifier):
        pass

    (warning,) = warnings_of(lambda: Mine([("a", ours())]).fit(X, make_labels()))
    assert "VotingClassifier of scikit-learn" in str(warning.message)
    model = SGDClassifier(random_state=0)
    caught = warnings_of(lambda: model.partial_fit(X, make_labels(), classes=sorted(NAMES)))
    assert len(caught) == 1


def test_the_warning_can_be_an_error_and_is_one_each_time():
    for _ in range(2):
        with pytest.raises(HardenedLabelsWarning):
            VotingClassifier([("a", ours())]).fit(X, make_labels())


def test_what_is_recommended_exists():
    assert not [name for name in KEEPERS.values() if not hasattr(plausible.models, name)]


# -- Silence: warnings are errors here -------------------------------------------------------------

SILENT = {
    "pipeline": lambda y: make_pipeline(SelectKBest(k=1), ours()).fit(X, y),
    "train_test_split": lambda y: train_test_split(X, y, stratify=y),
    "cross_val_score": lambda y: cross_val_score(ours(), X, y, cv=2),
    "cross_validate": lambda y: cross_validate(ours(), X, y, cv=2, scoring="accuracy"),
    "cross_val_predict of classes": lambda y: cross_val_predict(ours(), X, y, cv=2),
    "learning_curve": lambda y: learning_curve(ours(), X, y, cv=2, train_sizes=[20, 30]),
    "validation_curve": lambda y: validation_curve(
        make_pipeline(StandardScaler(), ours()),
        X, y, param_name="standardscaler__with_std", param_range=[True], cv=2,
    ),
    "permutation_test_score": lambda y: permutation_test_score(
        ours(), X, y, cv=2, n_permutations=2
    ),
    "SelectKBest": lambda y: SelectKBest(k=1).fit(X, y),
    "SequentialFeatureSelector": lambda y: SequentialFeatureSelector(
        ours(), n_features_to_select=1, cv=2
    ).fit(X, y),
    "GridSearchCV": lambda y: GridSearchCV(
        make_pipeline(StandardScaler(), ours()), {"standardscaler__with_std": [True, False]}, cv=2
    ).fit(X, y),
}  # fmt: skip


@pytest.mark.parametrize("unknown", [False, True])
@pytest.mark.parametrize("name", SILENT)
def test_tools_that_hand_labels_on_are_silent(name, unknown):
    SILENT[name](make_labels(unknown=unknown))


def test_grid_search_in_two_processes_is_silent():
    search = GridSearchCV(
        make_pipeline(StandardScaler(), ours()), {"standardscaler__with_std": [True]}, cv=2,
        n_jobs=2, error_score="raise",
    )  # fmt: skip
    assert not warnings_of(lambda: search.fit(X, make_labels(unknown=True)))


def test_a_fixed_threshold_leaves_labels_to_the_estimator():
    labels = make_labels(2)
    model = FixedThresholdClassifier(ours()).fit(X, labels)
    np.testing.assert_array_equal(model.estimator_.means_, ours().fit(X, labels).means_)


@pytest.mark.parametrize(
    "model", [LabelSpreading(), SelfTrainingClassifier(DecisionTreeClassifier(random_state=0))]
)
def test_semi_supervised_tools_take_unknown_rows_for_what_they_are(model):
    model.fit(X, make_labels(unknown=True, names=False))
    assert model.classes_.tolist() == [3, 5, 7]


def test_semi_supervised_tools_do_not_learn_that_a_name_is_missing():
    LabelSpreading().fit(X, make_labels())
    with pytest.raises(ValueError, match="LabelSpreading .* class ''"):
        LabelSpreading().fit(X, make_labels(unknown=True))
    shifted = make_labels(unknown=True).rename(dict(zip(NAMES, [-1, 0, 1], strict=True)))
    with pytest.raises(ValueError, match="LabelSpreading .* class -2"):
        LabelSpreading().fit(X, shifted)


def test_copies_of_labels_are_watched_like_labels():
    labels = pickle.loads(pickle.dumps(make_labels()))
    assert len(warnings_of(lambda: GaussianNB().fit(X, labels))) == 1


def test_arrays_are_silent():
    labels = make_labels(unknown=True)
    assert np.asarray(labels).tolist() == list(labels) == labels.crisp().tolist()
