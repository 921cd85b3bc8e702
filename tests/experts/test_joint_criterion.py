"""What the joint classifier maximizes: known by an independent sum, rising, weighted by items."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from plausible.experts import Annotations, JointAnnotatorClassifier
from plausible.labels import Labels
from plausible.models import (
    DiscriminantClassifier,
    GaussianMixtureClassifier,
    PartialLogisticRegression,
)

CLASSES = ["c", "a", "b"]  # its order is not its own inverse: [1, 2, 0] and [2, 0, 1]
SKILL = [0.9, 0.7, 0.6]
MODELS = ["one_coin", "class", "full"]


def draw(seed=0, n=60):
    """Features, classes of unequal shares, and cells (n, 3) with sets and abstentions, doubts."""
    random = np.random.default_rng(seed)
    y = random.choice(3, size=n, p=[0.55, 0.3, 0.15])
    X = random.normal(size=(n, 2)) + 1.5 * np.array([[0, 0], [1, 0], [0, 1.3]])[y]
    cells = np.empty((n, 3), dtype=object)
    for i, r in np.ndindex(n, 3):
        said = {CLASSES[y[i] if random.random() < SKILL[r] else random.integers(3)]}
        if random.random() < 0.15:
            said.add(CLASSES[random.integers(3)])
        cells[i, r] = "cannot tell" if random.random() < 0.05 else said
    doubt = random.choice([0.0, 0.1, 0.4], size=cells.shape, p=[0.7, 0.2, 0.1])
    return X, y, cells, doubt


def answers_of(cells, doubt, repeats=None, classes=CLASSES):
    """Answers, those of items that are repeated once for each repetition."""
    repeats = np.ones(len(cells), dtype=int) if repeats is None else repeats
    rows = np.repeat(np.arange(len(cells)), repeats)
    return Annotations.from_answers(cells[rows], classes=classes, doubt=doubt[rows])


def log_density(classifier, X):
    """Log density (n,) of the features under Gaussian classes, by scipy."""
    covariances = np.broadcast_to(classifier.covariances_, (3, 2, 2))
    parts = zip(classifier.weights_, classifier.means_, covariances, strict=True)
    return np.log(sum(w * multivariate_normal(m, c).pdf(X) for w, m, c in parts))


def by_hand(joint, X, cells, doubt, weight, smoothing):
    """The criterion from the fitted parts, answer by answer."""
    confusion, found = joint.reliability_.confusion, joint.classifier_
    chances = dict(zip(joint.classes_, found.predict_proba(X).T, strict=True))
    total = 0.0
    for i, w in enumerate(weight):
        whole = 0.0
        for k, name in enumerate(CLASSES):
            product = chances[name][i]
            for r in range(3):
                cell, d = cells[i, r], doubt[i, r]
                said = set(CLASSES) if cell == "cannot tell" else cell
                product *= d + (1 - d) * sum(confusion[r, k, CLASSES.index(c)] for c in said)
            whole += product
        total += w * np.log(whole)
    imagined = smoothing * (np.eye(3) + 1 / 3) / 2 / (3 if joint.model == "one_coin" else 1)
    total += (imagined * np.log(confusion)).sum()
    if isinstance(found, PartialLogisticRegression):
        return total - found.alpha / 2 * (found.coef_**2).sum()
    own = found.history_[-1] - found.log_likelihood_  # of the prior, if there is one
    return total + weight @ log_density(found, X) + own


INNER = {
    "logistic": PartialLogisticRegression(alpha=2.5, random_state=0),
    "rough logistic": PartialLogisticRegression(alpha=0.5, tol=1e-2, random_state=0),
    "linear": DiscriminantClassifier(),
    "mixture": GaussianMixtureClassifier(),
    "mixture with a prior": GaussianMixtureClassifier(prior="weak"),
}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", INNER)
def test_the_history_is_the_criterion_and_never_falls(name, model):
    X, _, cells, doubt = draw()
    weight = np.random.default_rng(1).choice([0.5, 1.0, 2.5], size=len(X))
    joint = JointAnnotatorClassifier(INNER[name], model, smoothing=0.7)
    joint.fit(X, answers_of(cells, doubt), sample_weight=weight)
    wanted = by_hand(joint, X, cells, doubt, weight, 0.7)
    assert joint.history_[-1] == pytest.approx(wanted, rel=1e-9)
    assert np.diff(joint.history_).min() >= -1e-12 * abs(wanted)
    assert joint.reliability_.log_likelihood != joint.history_[-1]


@pytest.mark.parametrize("model", ["class", "full"])
@pytest.mark.parametrize("name", ["rough logistic", "mixture with a prior"])
def test_what_has_converged_can_hardly_rise(name, model):
    X, _, cells, doubt = draw(2)
    answers = answers_of(cells, doubt)
    found = JointAnnotatorClassifier(INNER[name], model).fit(X, answers)
    assert found.converged_
    far = JointAnnotatorClassifier(INNER[name], model, tol=1e-8, max_iter=500).fit(X, answers)
    assert far.history_[-1] - found.history_[-1] < 3 * found.tol * len(X)
    assert np.diff(far.history_).min() >= -1e-12 * abs(far.history_[-1])


@pytest.mark.parametrize(("seed", "alpha"), [(10, 10.0), (34, 1.0)])
def test_penalties_that_pull_against_the_answers_do_not_stop_the_fit(seed, alpha):
    """The ridge lowers the likelihood of the answers while the criterion still rises."""
    X, _, cells, doubt = draw(seed)
    answers = answers_of(cells, doubt)
    inner = PartialLogisticRegression(alpha=alpha, random_state=0)
    found = JointAnnotatorClassifier(inner, "full", tol=1e-5).fit(X, answers)
    assert np.diff(found.history_).min() >= -1e-12 * abs(found.history_[-1])
    far = JointAnnotatorClassifier(inner, "full", tol=1e-8, max_iter=500).fit(X, answers)
    assert far.history_[-1] - found.history_[-1] < 3 * found.tol * len(X)
    # In the end, the classifier is the one that is learned from what the answers say.
    alone = clone(inner).fit(X, Labels(far.reliability_.evidence, CLASSES))
    np.testing.assert_allclose(far.predict_proba(X), alone.predict_proba(X), atol=1e-3)


class Erratic(PartialLogisticRegression):
    """Forgets half of what it learned, at every other fit."""

    fits = 0

    def fit(self, X, y=None, sample_weight=None):
        super().fit(X, y, sample_weight)
        Erratic.fits += 1
        if Erratic.fits % 2 == 0:
            self.coef_ = self.coef_ / 2
            self.history_ = self.history_[:1]
        return self


def test_a_worse_classifier_is_not_kept():
    X, _, cells, doubt = draw(3)
    answers = answers_of(cells, doubt)
    Erratic.fits = 0
    erratic = JointAnnotatorClassifier(Erratic(random_state=0), "full", tol=1e-7, max_iter=200)
    erratic.fit(X, answers)
    assert np.diff(erratic.history_).min() >= -1e-10
    sound = JointAnnotatorClassifier(
        PartialLogisticRegression(random_state=0), "full", tol=1e-7, max_iter=200
    ).fit(X, answers)
    assert erratic.history_[-1] == pytest.approx(sound.history_[-1], abs=0.01)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", ["logistic", "mixture with a prior"])
def test_whole_weights_are_repetitions_and_zero_weights_absence(name, model):
    X, y, cells, doubt = draw(4)
    # Absent items may hold what would change everything.
    weight = np.random.default_rng(5).choice([0, 1, 3], size=len(X), p=[0.3, 0.4, 0.3])
    X[weight == 0] += 3.0
    options = {"model": model, "tol": 1e-6, "max_iter": 300}
    weighted = JointAnnotatorClassifier(INNER[name], **options)
    weighted.fit(X, answers_of(cells, doubt), sample_weight=weight)
    rows = np.repeat(np.arange(len(X)), weight)
    repeated = JointAnnotatorClassifier(INNER[name], **options)
    repeated.fit(X[rows], answers_of(cells, doubt, weight))
    assert weighted.history_[-1] == pytest.approx(repeated.history_[-1], abs=1e-3)
    one, other = weighted.reliability_, repeated.reliability_
    for part in ("n_answers", "accuracy", "learned", "low", "high", "prior"):
        np.testing.assert_allclose(getattr(one, part), getattr(other, part), atol=2e-3)
    assert one.log_likelihood == pytest.approx(other.log_likelihood, abs=0.01)
    np.testing.assert_allclose(one.posterior[rows], other.posterior, atol=2e-3)
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=2e-3)
    names = np.array(CLASSES)[y]
    assert weighted.score(X, names, weight) == pytest.approx(repeated.score(X[rows], names[rows]))


def test_weights_of_one_are_none_and_pass_through_pipelines():
    X, _, cells, doubt = draw(6)
    answers = answers_of(cells, doubt)
    inner = make_pipeline(StandardScaler(), DiscriminantClassifier())
    plain = JointAnnotatorClassifier(inner, "one_coin").fit(X, answers)
    ones = JointAnnotatorClassifier(inner, "one_coin").fit(X, answers, sample_weight=np.ones(60))
    np.testing.assert_allclose(plain.history_, ones.history_, rtol=1e-12)
    weight = np.linspace(0.1, 3, 60)
    other = JointAnnotatorClassifier(inner, "one_coin").fit(X, answers, sample_weight=weight)
    assert np.abs(other.predict_proba(X) - plain.predict_proba(X)).max() > 1e-3


class Unweighted(PartialLogisticRegression):
    def fit(self, X, y):
        return super().fit(X, y)


@pytest.mark.parametrize(
    ("inner", "weight", "words"),
    [
        (Unweighted(), np.arange(60.0), "Unweighted does not; use one that does"),
        (None, np.ones(59), "each of the 60 rows"),
        (None, -np.ones(60), "non-negative"),
        (None, np.zeros(60), "0 for all"),
    ],
)
def test_weights_that_cannot_be_used_are_refused(inner, weight, words):
    X, _, cells, doubt = draw(6)
    with pytest.raises(ValueError, match=words):
        JointAnnotatorClassifier(inner).fit(X, answers_of(cells, doubt), sample_weight=weight)


@pytest.mark.parametrize(
    ("name", "model", "with_gold"),
    [("logistic", "full", False), ("logistic", "one_coin", True), ("linear", "class", True)],
)
def test_the_order_of_the_classes_does_not_matter(name, model, with_gold):
    X, y, cells, doubt = draw(7)
    gold = {3: CLASSES[y[3]], 11: CLASSES[y[11]]} if with_gold else None
    joint = JointAnnotatorClassifier(INNER[name], model, tol=1e-6, max_iter=200)
    expected = None
    for classes in (CLASSES, sorted(CLASSES)):
        joint.fit(X, answers_of(cells, doubt, classes=classes), gold=gold)
        assert joint.classes_.tolist() == sorted(CLASSES)
        place = [classes.index(k) for k in sorted(CLASSES)]
        told = (
            joint.predict_proba(X),
            joint.reliability_.posterior[:, place],
            joint.reliability_.confusion[:, place][:, :, place],
            joint.history_[-1],
        )
        expected = told if expected is None else expected
        for ours, wanted in zip(told, expected, strict=True):
            np.testing.assert_allclose(ours, wanted, atol=5e-3)
        names = np.array(CLASSES)[y]
        assert joint.score(X, names) > 0.65
        assert (
            np.array(classes)[joint.reliability_.posterior.argmax(axis=1)] == names
        ).mean() > 0.8


@pytest.mark.parametrize("model", ["one_coin", "full"])
def test_people_who_err_together_weigh_less_against_features(model):
    rng = np.random.default_rng(4)
    y = rng.integers(3, size=240)
    X = rng.normal(size=(240, 2)) + 2.5 * np.eye(3, 2)[y]
    fooled = np.where(rng.random(240) < 0.25, (y + 1) % 3, y)  # everybody at once
    said = np.where(rng.random((240, 5)) < 0.1, rng.integers(3, size=(240, 5)), fooled[:, None])
    names = np.array(["m", "z", "b"])
    answers = Annotations.from_answers(names[said], names.tolist())
    alone = JointAnnotatorClassifier(model=model).fit(X, answers)
    same = JointAnnotatorClassifier(model=model, dependence=1.0).fit(X, answers)
    np.testing.assert_allclose(alone.history_, same.history_, rtol=1e-9)
    fair = JointAnnotatorClassifier(model=model, dependence="auto").fit(X, answers)
    assert np.diff(fair.history_).min() >= -1e-6 * abs(fair.history_[-1])
    third = JointAnnotatorClassifier(model=model, dependence=1 / 3).fit(X, answers)
    np.testing.assert_allclose(
        third.history_, fair.history_, rtol=1e-7
    )  # five answers are worth 5/3
    losses = [
        -np.log(np.maximum(one.reliability_.posterior[np.arange(240), y], 1e-12)).mean()
        for one in (fair, alone)
    ]
    assert losses[0] < 0.7 * losses[1]
    with pytest.raises(ValueError, match="dependence"):
        JointAnnotatorClassifier(dependence="always").fit(X, answers)


def test_copies_count_as_one_person_where_dependence_is_fitted():
    rng = np.random.default_rng(5)
    y = rng.integers(3, size=200)
    X = rng.normal(size=(200, 2)) + 1.5 * np.eye(3, 2)[y]
    said = np.where(rng.random((200, 5)) < 0.7, y[:, None], rng.integers(3, size=(200, 5)))
    names, copied = np.array(CLASSES), np.hstack([said, said[:, [1, 1]]])
    fits = [
        JointAnnotatorClassifier(model="one_coin", dependence="fit").fit(
            X, Annotations.from_answers(names[cells])
        )
        for cells in (said, copied)
    ]
    once, several = (model.predict_proba(X) for model in fits)
    np.testing.assert_allclose(several, once, atol=1e-8)
    plain = JointAnnotatorClassifier(model="one_coin", dependence="auto")
    np.testing.assert_allclose(
        plain.fit(X, Annotations.from_answers(names[said])).predict_proba(X), once, atol=1e-8
    )
