"""A classifier writes one method, a clustering one, and every kind of answer follows."""

import inspect
from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from base.toys import SomebodyElses, ToyClusters, ToyMasses
from plausible.base import BeliefClassifier, EvidenceClassifier, RowOrderWarning, takes_labels
from plausible.belief import belief, contour, decide, dempster, pignistic
from plausible.experts import Annotations, EvidentialFusionClassifier, JointAnnotatorClassifier
from plausible.labels import Labels
from plausible.models import (
    BeliefTreeClassifier,
    DiscriminantClassifier,
    EvidentialCalibratedClassifier,
    GaussianMixtureClassifier,
    PartialLogisticRegression,
    SoftLabelClassifier,
    SoftNearestCentroid,
    StochasticSupervisionClassifier,
)
from plausible.neighbors import EvidentialNeighborsClassifier

RANDOM = np.random.default_rng(0)
NAMES = ["oak", "ash", "elm"]  # not sorted
CODES = np.arange(90) % 3
X = RANDOM.normal(size=(90, 2)) + 2 * np.array([[0, 0], [1, 0], [0, 1]])[CODES]
DOUBTS = RANDOM.uniform(0, 0.6, 90)
LABELS = Labels.from_doubt([NAMES[k] for k in CODES], DOUBTS, classes=NAMES)
ANSWERS = Annotations.from_answers(
    np.array(NAMES)[np.column_stack([CODES, np.roll(CODES, 1), CODES])], classes=NAMES
)
SHARES = LABELS.contour / LABELS.contour.sum(axis=1, keepdims=True)
CLASSIFIERS = {
    "toy": (ToyMasses, LABELS),
    "centroid": (SoftNearestCentroid, LABELS),
    "mixture": (GaussianMixtureClassifier, LABELS),
    "discriminant": (DiscriminantClassifier, LABELS),
    "logistic": (PartialLogisticRegression, LABELS),
    "calibrated": (EvidentialCalibratedClassifier, LABELS),
    "supervision": (StochasticSupervisionClassifier, SHARES),
    "joint": (JointAnnotatorClassifier, ANSWERS),
}


@pytest.fixture(params=CLASSIFIERS, scope="module")
def model(request):
    make, y = CLASSIFIERS[request.param]
    return make().fit(X, y)


def test_every_kind_of_answer_tells_the_same_story(model):
    bets, plausible = model.predict_proba(X), model.predict_plausibility(X)
    masses, sets = model.predict_mass(X), model.predict_set(X)
    singles = 1 << np.arange(3)
    np.testing.assert_allclose(masses.values.sum(axis=1), 1.0)
    np.testing.assert_allclose(plausible, contour(masses), atol=1e-12)
    np.testing.assert_allclose(bets, pignistic(masses), atol=1e-10)
    assert (belief(masses, singles) <= bets + 1e-10).all()
    assert (bets <= plausible + 1e-10).all()
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), bets, atol=1e-12)
    best = model.classes_.searchsorted(model.predict(X))
    np.testing.assert_array_equal(best, bets.argmax(axis=1))
    assert sets[np.arange(len(X)), best].all()
    np.testing.assert_array_equal(sets, decide(masses, "interval_dominance").chosen)


def test_refusals_rise_with_what_they_save(model):
    refused = [model.decide(X, reject=cost).refused for cost in (0.6, 0.4, 0.2, 0.05, 0.0)]
    for fewer, more in pairwise(refused):
        assert (more >= fewer).all()
    assert refused[-1].sum() > refused[0].sum()
    answered = model.decide(X, reject=0.3)
    names = answered.names()
    assert [n for n in names if n is not None] == model.predict(X)[~answered.refused].tolist()
    np.testing.assert_array_equal(
        model.predict_set(X, rule="pignistic", reject=0.3).any(axis=1), ~answered.refused
    )


def test_losses_move_decisions(model):
    free = model.decide(X).index
    names = model.classes_.tolist()
    loss = {k: dict.fromkeys(names, 100 if k == names[1] else 1) | {k: 0} for k in names}
    dear = model.decide(X, loss=loss).index
    assert (dear == 1).sum() < (free == 1).sum()


def test_one_pass_serves_every_answer(model, monkeypatch):
    one = "_masses" if hasattr(model, "_masses") else "_log_evidence"
    owner = model if hasattr(model, one) else model.classifier_
    calls = []
    real = getattr(owner, one)
    monkeypatch.setattr(owner, one, lambda data: calls.append(1) or real(data), raising=True)
    found = model.believe(X)
    _ = found.probability, found.contour, found.masses(), found.sets, found.predicted
    _ = found.decide(reject=0.2), found.belief
    assert len(calls) == 1


def test_what_is_known_of_new_items_is_combined_by_dempsters_rule(model):
    classes = model.classes_.tolist()
    known = Labels.from_doubt([classes[k] for k in CODES[::-1]], 0.3, classes=classes)
    told = model.predict_mass(X, labels=known)
    if isinstance(model, ToyMasses | EvidentialCalibratedClassifier):
        expected = pignistic(dempster(model.predict_mass(X), known.masses()))
    else:
        expected = model.predict_proba(X) * known.contour
        expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(pignistic(told), expected, atol=1e-10)
    sure = Labels.from_crisp([classes[k] for k in CODES], classes=classes)
    if not isinstance(model, ToyMasses):
        assert model.predict(X, labels=sure).tolist() == sure.crisp().tolist()
    with pytest.raises(ValueError, match="one row for each of the 90 rows of X, but have 3"):
        model.predict(X, labels=sure[:3])


def test_labels_of_new_items_may_have_their_classes_in_any_order(model):
    classes = model.classes_.tolist()
    doubt = np.linspace(0.0, 0.9, len(X))
    known = Labels.from_doubt([classes[k] for k in CODES[::-1]], doubt, classes=classes)
    turned = known.reorder([*classes[1:], classes[0]])
    expected = model.predict_proba(X, labels=known)
    np.testing.assert_allclose(model.predict_proba(X, labels=turned), expected, atol=1e-12)


def test_labels_that_contradict_the_model_are_refused_with_their_rows():
    labels = Labels.from_crisp(["a", "b", "a", "b"], classes=["a", "b", "c"])
    with pytest.warns(Warning, match="never are"):
        model = GaussianMixtureClassifier("tied").fit([[0.0], [1.0], [0.2], [1.1]], labels)
    known = Labels.from_crisp(["a", "c"], classes=["a", "b", "c"])
    with pytest.raises(ValueError, match=r"contradict it in 1 row \(row 1\); discount them"):
        model.predict_proba([[0.0], [1.0]], labels=known)


def test_signatures_are_the_same_everywhere():
    for name in ("predict_proba", "predict_plausibility", "predict_mass", "predict_set", "decide"):
        expected = inspect.signature(getattr(BeliefClassifier, name))
        for make, _ in CLASSIFIERS.values():
            assert inspect.signature(getattr(make, name)) == expected


def test_a_subclass_without_its_method_says_so():
    class Empty(EvidenceClassifier):
        def fit(self):
            self.classes_, self.n_features_in_ = np.array([0, 1]), 1
            return self

    with pytest.raises(NotImplementedError):
        Empty().fit().predict([[1.0]])


# -- Tags -----------------------------------------------------------------------------------------


def test_whether_an_estimator_takes_labels_is_its_tag():
    ours = [make() for make, _ in CLASSIFIERS.values() if make is not JointAnnotatorClassifier]
    for estimator in (*ours, SomebodyElses(), make_pipeline(StandardScaler(), SomebodyElses())):
        assert takes_labels(estimator), estimator
    assert takes_labels(GridSearchCV(make_pipeline(StandardScaler(), ToyMasses()), {}))
    for estimator in (
        GaussianNB(),
        make_pipeline(StandardScaler(), GaussianNB()),
        GridSearchCV(LogisticRegression(), {"C": [1]}),
        CalibratedClassifierCV(GaussianMixtureClassifier()),  # hardens y before it hands it on
        "no estimator",
    ):
        assert not takes_labels(estimator), estimator


def test_somebody_elses_estimator_is_at_home_in_ours():
    calibrated = EvidentialCalibratedClassifier(SomebodyElses(), cv=3).fit(X, LABELS)
    hardened = EvidentialCalibratedClassifier(SomebodyElses(), cv=3).fit(X, LABELS.crisp())
    assert not np.allclose(calibrated.predict_proba(X), hardened.predict_proba(X))
    joint = JointAnnotatorClassifier(SomebodyElses(), "one_coin", max_iter=200).fit(X, ANSWERS)
    assert joint.reliability_.accuracy[1] < joint.reliability_.accuracy[[0, 2]].min()
    assert joint.decide(X, reject=0.3).names()[0] in {*NAMES, None}


# -- Clusterings ----------------------------------------------------------------------------------

POINTS = np.vstack([RANDOM.normal(size=(40, 2)), RANDOM.normal(size=(41, 2)) + 8])


def test_a_toy_clustering_gives_every_kind_of_answer():
    found = ToyClusters(random_state=0).fit(POINTS)
    assert found.labels_.shape == (81,)
    assert found.masses_.shape == (81, 4)
    assert found.focal_sets_.tolist() == [1, 2, 3, 0]
    assert len(set(found.labels_[:40])) == len(set(found.labels_[40:])) == 1
    assert found.labels_[0] != found.labels_[40]
    np.testing.assert_array_equal(found.predict(POINTS), found.labels_)
    np.testing.assert_allclose(found.predict_mass(POINTS).values, found.masses_)
    np.testing.assert_array_equal(clone(found).fit_predict(POINTS), found.labels_)
    np.testing.assert_allclose(found.predict_proba(POINTS).sum(axis=1), 1.0)
    assert (found.predict_plausibility(POINTS) <= 1).all()
    far = found.predict_partition([[1e3, -1e3]])
    assert far.outliers().all()
    assert far.hard().tolist() == [-1]


def test_the_best_of_several_starts_is_kept():
    single = [ToyClusters(1, seed).fit(POINTS).objective_ for seed in range(6)]
    many = ToyClusters(20, 0).fit(POINTS)
    assert many.objective_ <= min(single) + 1e-9
    near = cdist(POINTS, many.centers_).min(axis=1).sum()
    assert near == pytest.approx(many.objective_)


def test_a_clustering_that_cannot_place_new_items_has_no_predict():
    class Fixed(ToyClusters):
        _masses = property()  # hasattr is false

        def _cluster(self, X, random):
            twin = ToyClusters(1, 0)
            return ToyClusters._cluster(twin, X, random)

    found = Fixed().fit(POINTS)
    assert len(found.labels_) == 81
    for name in ("predict", "predict_mass", "predict_proba", "predict_plausibility"):
        assert not hasattr(found, name)


@pytest.mark.parametrize(
    "model",
    [
        PartialLogisticRegression(),
        SoftNearestCentroid(),
        BeliefTreeClassifier(),
        EvidentialNeighborsClassifier(),
        SoftLabelClassifier(LogisticRegression()),
        EvidentialFusionClassifier([("one", LogisticRegression())], calibrate="none", discount=0.1),
    ],
    ids=lambda model: type(model).__name__,
)
def test_rows_of_data_frames_in_another_order_are_told(model):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame({"size": [0.0, 1, 2, 10, 11, 12]}, index=list("abcdef"))
    y = pandas.Series(["s"] * 3 + ["l"] * 3, index=X.index)
    model = clone(model)
    model.fit(X, y)  # warnings are errors
    with pytest.warns(RowOrderWarning, match=r"give y\.loc\[X\.index\]"):
        model.fit(X, y[::-1])
    model.fit(X, y.reset_index(drop=True))  # other names say nothing
    assert model.fit(X, y[::-1].loc[X.index]).predict(X).tolist() == y.tolist()
