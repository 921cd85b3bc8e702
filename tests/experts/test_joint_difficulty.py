"""Difficulty of items from their features, learned with classes and people."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.preprocessing import PolynomialFeatures

from plausible.errors import InputError
from plausible.experts import Annotations, JointAnnotatorClassifier
from plausible.experts.feature_difficulty import RIDGE, SPREAD, USUAL
from plausible.experts.joint_input import crowd_in_memory
from plausible.models import DiscriminantClassifier

CLASSES = np.array(["m", "a", "z"])


def crowd(n=600, each=4, slope=2.5, seed=0, shift=-1.5):
    """Classes by the first two features, lots by the third, people of unequal skill."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    X = rng.normal(size=(n, 3))
    X[:, :2] += 1.5 * np.array([[0, 0], [1.5, 0], [0, 1.5]])[y]
    lots = expit(shift + slope * X[:, 2]) if slope else np.zeros(n)
    item = np.repeat(np.arange(n), each)
    who = np.concatenate([rng.permutation(7)[:each] for _ in range(n)])
    skill = np.linspace(0.7, 0.95, 7)[who]
    wrong = (y[item] + rng.integers(1, 3, size=len(item))) % 3
    said = np.where(rng.random(len(item)) < skill, y[item], wrong)
    by_lot = rng.random(len(item)) < lots[item]
    said = np.where(by_lot, rng.integers(3, size=len(item)), said)
    return X, y, lots, item, who, said


def test_difficulty_is_recovered_from_features():
    X, y, lots, item, who, said = crowd(1500)
    answers = Annotations.from_long(item, who, CLASSES[said])
    model = JointAnnotatorClassifier(model="one_coin", difficulty="features", max_iter=200)
    model.fit(X, answers)
    assert (np.diff(model.history_) >= -1e-9 * abs(model.history_[-1])).all()
    found = model.predict_difficulty(X)
    assert np.corrcoef(found, lots)[0, 1] > 0.98
    assert np.abs(found - lots).mean() < 0.06
    slopes = model.difficulty_.coef / model.difficulty_.scale
    assert slopes[2] == pytest.approx(2.5, abs=0.6)
    assert np.abs(slopes[:2]).max() < 0.3
    rates = model.reliability_.learned[:, 0]
    skill = np.linspace(0.7, 0.95, 7)[model.reliability_.annotators]
    assert rates == pytest.approx(skill, abs=0.08)
    plain = JointAnnotatorClassifier(model="one_coin").fit(X, answers)
    assert plain.reliability_.learned.mean() < rates.mean() - 0.1  # lots are blamed on people
    posterior = model.reliability_.posterior.argmax(axis=1)
    order = answers.classes  # items keep their order
    assert (order[posterior] == CLASSES[y]).mean() >= 0.99 * (
        order[plain.reliability_.posterior.argmax(axis=1)] == CLASSES[y]
    ).mean()


def test_where_all_items_are_alike_nothing_is_lost():
    X, _, _, item, who, said = crowd(400, slope=0.0, seed=1)
    X_test, y_test, *_ = crowd(2000, slope=0.0, seed=2)
    answers = Annotations.from_long(item, who, CLASSES[said])
    with_it = JointAnnotatorClassifier(difficulty="features", max_iter=100).fit(X, answers)
    without = JointAnnotatorClassifier(max_iter=100).fit(X, answers)
    assert with_it.predict_difficulty(X_test).mean() < 0.12
    right = [(one.predict(X_test) == CLASSES[y_test]).mean() for one in (with_it, without)]
    assert right[0] >= right[1] - 0.005
    np.testing.assert_array_equal(without.predict_difficulty(X_test), 0.0)


def loose_answers(n=40, seed=3):
    """Sets, doubts, an abstention; unequal numbers of answers."""
    X, y, _, item, who, said = crowd(n, seed=seed)
    rng = np.random.default_rng(seed)
    kept = rng.random(len(item)) < 0.8
    labels = [
        {CLASSES[k], CLASSES[rng.integers(3)]} if rng.random() < 0.3 else {CLASSES[k]} for k in said
    ]
    labels[3] = "cannot tell"
    doubt = np.where(rng.random(len(item)) < 0.5, 0.0, 0.5 * rng.random(len(item)))
    rows = np.flatnonzero(kept | (item < 3))
    answers = Annotations.from_long(
        item[rows], who[rows], [labels[k] for k in rows], doubt=doubt[rows], classes=CLASSES
    )
    return X[: len(answers.items)], answers, y[: len(answers.items)]


@pytest.mark.parametrize("model", ["one_coin", "class", "full"])
def test_the_criterion_is_that_of_its_formula_and_never_falls(model):
    X, answers, y = loose_answers()
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(X))
    gold = {answers.items[4]: CLASSES[y[4]]}
    joint = JointAnnotatorClassifier(
        DiscriminantClassifier(tol=1e-10, max_iter=5000), model, difficulty="features",
        dependence=0.7, tol=1e-9, max_iter=15,
    )  # fmt: skip
    with pytest.warns(match="should stop rising|stop"):
        joint.fit(X, answers, gold=gold, sample_weight=weight)
    history = joint.history_
    assert len(history) == 15
    assert (np.diff(history) >= -1e-8).all()
    share = joint.predict_difficulty(X)
    confusion, contours = joint.reliability_.confusion, answers.contours[answers.statement]
    order = np.argsort(answers.classes)
    chances = np.empty((len(X), 3))
    chances[:, order] = joint.classifier_.predict_proba(X)
    value = float(weight @ joint.classifier_.score_samples(X))
    for i in range(len(X)):
        product = np.ones(3)
        for a in np.flatnonzero(answers.item == i):
            d, s, e = answers.doubt[a], contours[a], share[i]
            usual = confusion[answers.annotator[a]] @ s
            product *= d + (1 - d) * (e * s.sum() / 3 + (1 - e) * usual)
        known = np.ones(3) if answers.items[i] not in gold else (answers.classes == CLASSES[y[i]])
        value += weight[i] * np.log((chances[i] * product**0.7 * known).sum())
    classifier = joint.classifier_
    value += classifier.history_[-1] - classifier.log_likelihood_
    at = joint.difficulty_
    value -= (RIDGE * at.coef @ at.coef + ((at.intercept - USUAL) / SPREAD) ** 2) / 2
    n_cells = {"one_coin": 1, "class": 3, "full": 3}[model]
    sure = n_cells * (1 + 1 / 3) / 2
    if model == "full":
        imagined = (np.eye(3) + 1 / 3) / 2
        value += (imagined * np.log(confusion)).sum()
    else:
        right = joint.reliability_.learned
        each = sure / n_cells
        value += (each * np.log(right) + (1 - each) * np.log((1 - right) / 2)).sum()
    assert history[-1] == pytest.approx(value, abs=1e-5)


def test_expected_lots_follow_from_their_definition():
    X, answers, _ = loose_answers(12)
    joint = JointAnnotatorClassifier(DiscriminantClassifier(), "full", difficulty="features")
    crowd_of = crowd_in_memory(joint, X, answers, None, None)
    rng = np.random.default_rng(1)
    confusion = rng.dirichlet(np.ones(3), size=(len(answers.annotators), 3))
    held = rng.dirichlet(np.ones(3), size=len(X)) * rng.random((len(X), 1))
    found = crowd_of.difficulty.lots(answers, held, confusion)
    share, contours = crowd_of.difficulty.share, answers.contours[answers.statement]
    for a in range(len(answers)):
        d, s, e = answers.doubt[a], contours[a], share[answers.item[a]]
        wanted = 0.0
        for k in range(3):
            by_lot = e * (d + (1 - d) * s.sum() / 3)
            usual = (1 - e) * (d + (1 - d) * confusion[answers.annotator[a], k] @ s)
            wanted += held[answers.item[a], k] * by_lot / (by_lot + usual)
        assert found[a] == pytest.approx(wanted, abs=1e-12)


@pytest.mark.long
def test_a_transformer_sees_what_is_not_linear():
    rng = np.random.default_rng(5)
    X, _, _, item, who, said = crowd(500, slope=0.0, seed=5)
    lots = expit(-3 + 2.5 * X[:, 2] ** 2)
    said = np.where(rng.random(len(item)) < lots[item], rng.integers(3, size=len(item)), said)
    answers = Annotations.from_long(item, who, CLASSES[said])
    squares = PolynomialFeatures(2, include_bias=False)
    joint = JointAnnotatorClassifier(model="one_coin", difficulty=squares, tol=1e-3, max_iter=200)
    found = joint.fit(X, answers).predict_difficulty(X)
    assert np.corrcoef(found, lots)[0, 1] > 0.9
    with pytest.raises(InputError, match="X should be numbers, from which difficulty"):
        JointAnnotatorClassifier(difficulty="features").fit(
            np.array([["a"]] * len(answers.items), dtype=object), answers
        )
    with pytest.raises(InputError, match="difficulty should be None"):
        JointAnnotatorClassifier(difficulty=3).fit(X, answers)
