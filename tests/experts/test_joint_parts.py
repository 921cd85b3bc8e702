"""Rows and answers in parts, against all of them at once."""

import numpy as np
import pytest

from plausible.errors import InputError
from plausible.experts import AnnotationParts, Annotations, Dependence, JointAnnotatorClassifier
from plausible.models import BeliefTreeClassifier, DiscriminantClassifier, PartialLogisticRegression

CLASSES = np.array(["m", "a", "z"])


def parts_of(n=120, seed=0):
    """Features and answers of unequal parts; nobody speaks in all of them."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    X = rng.normal(size=(n, 2)) + 2 * np.array([[0, 0], [1, 0], [0, 1]])[y]
    edges = [0, 30, 95, n]
    chunks, answers = [], []
    for number in range(3):
        rows = np.arange(edges[number], edges[number + 1])
        item = np.repeat(rows, 4)
        people = rng.permutation(6)[:5] if number else np.arange(6)
        who = np.concatenate([rng.permutation(people)[:4] for _ in rows])
        wrong = (y[item] + rng.integers(1, 3, size=len(item))) % 3
        said = np.where(rng.random(len(item)) < 0.55 + 0.06 * who, y[item], wrong)
        labels = [
            {CLASSES[k], CLASSES[rng.integers(3)]} if rng.random() < 0.2 else {CLASSES[k]}
            for k in said
        ]
        doubt = np.where(rng.random(len(item)) < 0.5, 0.0, 0.4)
        chunks.append(X[rows])
        answers.append(
            Annotations.from_long(
                [f"i{k}" for k in item], [f"p{k}" for k in who], labels, doubt=doubt,
                classes=CLASSES,
            )
        )  # fmt: skip
    return chunks, answers, y


def fits(classifier, model, dependence, gold):
    chunks, answers, _ = parts_of()
    settings = {"dependence": dependence, "tol": 1e-5, "max_iter": 100}
    whole = JointAnnotatorClassifier(classifier, model, **settings).fit(
        np.concatenate(chunks), Annotations.concatenate(answers), gold=gold
    )
    parted = JointAnnotatorClassifier(classifier, model, **settings).fit(
        lambda: iter(chunks), AnnotationParts(lambda: iter(answers)), gold=gold
    )
    return whole, parted, chunks


@pytest.mark.parametrize(
    ("classifier", "model", "dependence", "gold"),
    [
        pytest.param(
            PartialLogisticRegression(tol=1e-10, max_iter=5000), "full", "none", None,
            marks=pytest.mark.long,
        ),
        (PartialLogisticRegression(tol=1e-10, max_iter=5000), "class", "auto", {"i3": "z"}),
        (DiscriminantClassifier(tol=1e-10, max_iter=5000), "one_coin", 0.6, {"i99": "a"}),
        (
            DiscriminantClassifier(tol=1e-10, max_iter=5000), "shrunk",
            Dependence(0.3, copies=(("p1", "p2"),)), None,
        ),
    ],
)  # fmt: skip
def test_parts_give_the_same_parameters_as_memory(classifier, model, dependence, gold):
    whole, parted, chunks = fits(classifier, model, dependence, gold)
    assert parted.n_iter_ == whole.n_iter_
    assert (np.diff(parted.history_) >= -1e-8).all()
    np.testing.assert_allclose(parted.history_, whole.history_, rtol=1e-8)
    place = [
        parted.reliability_.annotators.tolist().index(name)
        for name in whole.reliability_.annotators.tolist()
    ]
    np.testing.assert_allclose(
        parted.reliability_.learned[place], whole.reliability_.learned, atol=1e-6
    )
    for name in ("accuracy", "n_answers", "low", "high"):
        np.testing.assert_allclose(
            getattr(parted.reliability_, name)[place], getattr(whole.reliability_, name), atol=1e-6
        )
    X = np.concatenate(chunks)
    np.testing.assert_allclose(parted.predict_proba(X), whole.predict_proba(X), atol=1e-6)
    for name in ("coef_", "means_"):
        if hasattr(whole.classifier_, name):
            np.testing.assert_allclose(
                getattr(parted.classifier_, name), getattr(whole.classifier_, name), atol=1e-6
            )
    assert parted.classes_.tolist() == whole.classes_.tolist() == ["a", "m", "z"]


def test_what_needs_all_rows_is_refused():
    chunks, answers, _ = parts_of()
    parts = AnnotationParts(answers)
    with pytest.raises(InputError, match="difficulty should be of rows and answers in memory"):
        JointAnnotatorClassifier(difficulty="features").fit(chunks, parts)
    with pytest.raises(InputError, match="dependence should be of rows"):
        JointAnnotatorClassifier(dependence="fit").fit(chunks, parts)
    with pytest.raises(InputError, match="sample_weight should be of rows"):
        JointAnnotatorClassifier().fit(chunks, parts, sample_weight=np.ones(120))
    with pytest.raises(InputError, match="Part 1 of X should have a row for each of the 65 items"):
        JointAnnotatorClassifier().fit([chunks[0], chunks[2], chunks[1]], parts)
    with pytest.raises(InputError, match="there is no such part"):
        JointAnnotatorClassifier().fit(chunks[:2], parts)
    with pytest.raises(InputError, match="classifier should learn from streams"):
        JointAnnotatorClassifier(BeliefTreeClassifier()).fit(chunks, parts)
    with pytest.raises(InputError, match="as many parts as the answers"):
        JointAnnotatorClassifier().fit([*chunks, chunks[0]], parts)
