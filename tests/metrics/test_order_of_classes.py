"""Estimators sort classes and labels need not: a score never mixes them up."""

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score

from plausible import metrics
from plausible.base import Beliefs
from plausible.belief import consonant, decide
from plausible.errors import InputError
from plausible.labels import Labels
from plausible.models import (
    DiscriminantClassifier,
    GaussianMixtureClassifier,
    PartialLogisticRegression,
    SoftVotingClassifier,
)
from plausible.neighbors import EvidentialNeighborsClassifier

NAMES = ["small", "medium", "large"]
RNG = np.random.default_rng(0)
TRUTH = RNG.integers(3, size=120)
X = RNG.normal(size=(120, 2)) + 4 * np.eye(3, 2)[TRUTH]
LABELS = Labels.from_doubt(np.array(NAMES)[TRUTH], RNG.uniform(0, 0.4, 120), NAMES)
SORTED = LABELS.reorder(sorted(NAMES))
MODEL = DiscriminantClassifier().fit(X, LABELS)
P = MODEL.predict_proba(X)

SCORES = {
    "soft_log_loss": metrics.soft_log_loss,
    "soft_brier_score": metrics.soft_brier_score,
    "generalized_log_likelihood": metrics.generalized_log_likelihood,
    "expected_calibration_error": metrics.expected_calibration_error,
    "c1_loss": metrics.c1_loss,
    "c1_losses": lambda *a, **k: metrics.c1_losses(*a, **k).tolist(),
    "rejection_curve": lambda *a, **k: metrics.rejection_curve(*a, **k).area,
}
SET_SCORES = {
    "soft_accuracy": metrics.soft_accuracy,
    "utility": metrics.utility_discounted_accuracy,
    "set_coverage": metrics.set_coverage,
}


@pytest.mark.parametrize("name", SCORES)
def test_a_bare_array_is_refused_with_the_call_that_is_right(name):
    score = SCORES[name]
    with pytest.raises(InputError, match=r"\['small', 'medium', 'large'\].*classes=model.classes_"):
        score(LABELS, P)
    with pytest.raises(InputError, match="which column is which class"):
        score(LABELS, MODEL.predict_mass(X))
    right = score(SORTED, P)  # where there is one order only, an array is enough
    assert score(LABELS, P, classes=MODEL.classes_) == pytest.approx(right)
    turned = P[:, [MODEL.classes_.tolist().index(one) for one in NAMES]]
    assert score(LABELS, turned, classes=LABELS.classes) == pytest.approx(right)


@pytest.mark.parametrize("name", SCORES)
def test_predictions_that_know_their_classes_need_no_word(name):
    score, right = SCORES[name], SCORES[name](SORTED, P)
    pandas = pytest.importorskip("pandas")
    for prediction in (
        MODEL.believe(X),
        Beliefs.from_probability(P, MODEL.classes_),
        Labels.from_probability(P, MODEL.classes_.tolist()).reorder(["medium", "large", "small"]),
        pandas.DataFrame(P, columns=MODEL.classes_)[["medium", "small", "large"]],
    ):
        assert score(LABELS, prediction) == pytest.approx(right)
        assert score(SORTED, prediction) == pytest.approx(right)


@pytest.mark.parametrize("name", SET_SCORES)
def test_sets_and_decisions(name):
    score = SET_SCORES[name]
    sets, decision = MODEL.predict_set(X), MODEL.decide(X, rule="interval_dominance")
    right = score(SORTED, sets)
    with pytest.raises(InputError, match="which column is which class"):
        score(LABELS, sets)
    nameless = decide(MODEL.predict_mass(X), "interval_dominance")
    with pytest.raises(InputError, match="which column is which class"):
        score(LABELS, nameless)
    assert score(LABELS, sets, classes=MODEL.classes_) == pytest.approx(right)
    assert score(LABELS, decision) == pytest.approx(right)
    assert score(LABELS, MODEL.decide(X, reject=0.2)) == pytest.approx(
        score(SORTED, MODEL.decide(X, reject=0.2))
    )
    assert metrics.soft_accuracy(LABELS, MODEL.predict(X)) > 0.9  # names are names


def test_the_mix_up_would_have_been_large():
    turned = metrics.soft_log_loss(LABELS, P, classes=NAMES)
    assert turned > metrics.soft_log_loss(LABELS, MODEL.believe(X)) + 1


def test_scorers_know_the_order():
    scorer = metrics.get_scorer("neg_soft_log_loss")
    for labels in (LABELS, SORTED):
        found = cross_val_score(PartialLogisticRegression(), X, labels, scoring=scorer, cv=3)
        assert found.min() > -0.6


LOSS = {
    "small": {"small": 0.0, "medium": 1.0, "large": 30.0},
    "medium": {"small": 1.0, "medium": 0.0, "large": 9.0},
    "large": {"small": 2.0, "medium": 1.0, "large": 0.0},
}


@pytest.mark.parametrize("fit_to", [LABELS, SORTED], ids=["unsorted", "sorted"])
@pytest.mark.parametrize("kind", ["discriminant", "voting"])
def test_losses_are_given_by_name(fit_to, kind):
    model = DiscriminantClassifier()
    if kind == "voting":
        model = SoftVotingClassifier([("one", PartialLogisticRegression())])
    model.fit(X, fit_to)
    names = model.classes_.tolist()
    table = np.array([[LOSS[act][one] for one in names] for act in names])
    expected = model.believe(X).decide(loss=table).names()
    assert len(set(expected)) == 3
    assert model.decide(X, loss=LOSS).names() == expected
    assert model.believe(X).decide(loss=LOSS).names() == expected
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(LOSS).T.loc[NAMES, NAMES]
    assert model.decide(X, loss=frame).names() == expected
    np.testing.assert_array_equal(
        model.predict_set(X, loss=LOSS, rule="pignistic"),
        model.decide(X, loss=LOSS).chosen,
    )
    if fit_to is SORTED:
        assert model.decide(X, loss=table).names() == expected
    else:
        with pytest.raises(InputError, match=r"loss should say .* dict \{act: \{class: loss\}\}"):
            model.decide(X, loss=table)
    with pytest.raises(InputError, match="name all classes"):
        model.decide(X, loss={"small": {"small": 0}})


def test_other_acts_than_classes_stay_in_their_order():
    acts = {"treat": LOSS["small"], "wait": LOSS["large"]}
    found = MODEL.decide(X, loss=acts)
    bare = MODEL.believe(X).decide(
        loss=[[row[one] for one in MODEL.classes_.tolist()] for row in acts.values()]
    )
    assert found.names(list(acts)) == bare.names(list(acts))
    assert found.chosen.shape == (120, 2)


def test_components_of_each_class_are_given_by_name():
    counts = {"medium": 1, "large": 2, "small": 3}
    for labels in (LABELS, SORTED):
        model = GaussianMixtureClassifier("spherical", n_components=counts, prior="weak")
        found = model.fit(X, labels).component_classes_.tolist()
        assert found == ["large"] * 2 + ["medium"] + ["small"] * 3
    with pytest.raises(InputError, match="n_components should say which entry"):
        GaussianMixtureClassifier("spherical", n_components=[3, 1, 2]).fit(X, LABELS)
    assert (
        len(GaussianMixtureClassifier("spherical", [2, 2, 2], prior="weak").fit(X, LABELS).weights_)
        == 6
    )
    assert (
        len(GaussianMixtureClassifier("spherical", [3, 1, 2], prior="weak").fit(X, SORTED).weights_)
        == 6
    )
    with pytest.raises(InputError, match="name all of them"):
        GaussianMixtureClassifier(n_components={"small": 1}).fit(X, LABELS)


def test_rates_of_neighbors_are_given_by_name():
    rates = {"medium": 1.0, "large": 2.0, "small": 3.0}
    for labels in (LABELS, SORTED):
        model = EvidentialNeighborsClassifier(5, gamma=rates).fit(X, labels)
        assert model.gamma_.tolist() == [2.0, 1.0, 3.0]
    with pytest.raises(InputError, match="gamma should say which entry"):
        EvidentialNeighborsClassifier(5, gamma=[2.0, 1.0, 3.0]).fit(X, LABELS)


def test_what_is_known_of_new_items_needs_names_as_well():
    known = np.tile([1.0, 1.0, 0.0], (120, 1))
    with pytest.raises(InputError, match="labels of new items"):
        MODEL.predict(X, labels=known)
    answers = MODEL.predict(X, labels=Labels(known, NAMES))
    assert "large" not in answers
    sets = [{"small", "medium"}] * 120
    np.testing.assert_array_equal(MODEL.predict(X, labels=sets), answers)


def test_a_new_fit_forgets_the_order_of_the_last_one():
    model = DiscriminantClassifier().fit(X, LABELS)
    model.fit(X, SORTED)
    assert model.decide(X, loss=1 - np.eye(3)).names()[0] in NAMES


def test_masses_without_names_are_refused_and_with_names_taken():
    masses = consonant(P / P.max(axis=1, keepdims=True))
    right = metrics.soft_log_loss(SORTED, masses)
    assert metrics.soft_log_loss(LABELS, masses, classes=MODEL.classes_) == pytest.approx(right)


def test_a_true_table_without_names_is_not_matched_by_place():
    """Columns 0 and 1 are not the classes 1 and 2 of a prediction."""
    table = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]])
    for answers in (np.array([1, 2, 2]), np.array(["cat", "dog", "dog"])):
        classes = sorted(set(answers.tolist()))
        with pytest.raises(ValueError, match=r"they have no names.*from_probability\(y_true, cla"):
            metrics.soft_accuracy(table, answers)
        named = metrics.soft_accuracy(Labels.from_probability(table, classes), answers)
        assert named == metrics.soft_accuracy(table, answers == classes[1], classes=[0, 1]) < 1
