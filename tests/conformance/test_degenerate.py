"""Every estimator answers properly, or refuses clearly, on data at the edge of the possible."""

import os
from collections import Counter

import numpy as np
import pytest
from scipy.linalg import LinAlgWarning

from conformance import broken, broken_answers
from conformance.degenerate import CASES, Case, check_case, fit_labels
from conformance.register import ESTIMATORS, VARIANTS
from plausible.experts import Annotations, JointAnnotatorClassifier
from plausible.models import StochasticSupervisionClassifier


def fit_assessments(model, case: Case):
    """Labels as an expert's probabilities, NaN where they say nothing."""
    labels = case.labels
    p = labels.contour / labels.contour.sum(axis=1, keepdims=True)
    if labels.n_classes == 1:
        return model.fit(case.X, p[:, 0], sample_weight=case.weight)
    p[1::2] = 0.9 * p[1::2] + 0.1 / labels.n_classes  # the others may be sure
    p = np.where(labels.is_unknown[:, None], np.nan, p)
    names = labels.classes.tolist()
    return model.fit(case.X, p, sample_weight=case.weight, classes=names)


def fit_answers(model, case: Case):
    """Two annotators: the most plausible class, and that of the item before every third time."""
    labels = case.labels
    said = np.where(labels.is_unknown, -1, labels.contour.argmax(axis=1))
    other = np.where(np.arange(len(said)) % 3 == 0, np.roll(said, 1), said)
    names = [*labels.classes.tolist(), None]
    answers = [[names[one], names[two]] for one, two in zip(said, other, strict=True)]
    given = Annotations.from_answers(
        np.array(answers, dtype=object), classes=labels.classes.tolist(), missing=None
    )
    return model.fit(case.X, given)


ADAPTED = {
    "StochasticSupervisionClassifier": (
        lambda: StochasticSupervisionClassifier(random_state=0),
        fit_assessments,
    ),
    "StochasticSupervisionClassifier linear": (
        lambda: StochasticSupervisionClassifier("g3", saturated="certain", random_state=0),
        fit_assessments,
    ),
    "JointAnnotatorClassifier": (
        lambda: JointAnnotatorClassifier(max_iter=3),
        fit_answers,
    ),
}
MODELS = {name: (entry.make, fit_labels) for name, entry in ESTIMATORS.items()} | ADAPTED
# What scikit-learn's own estimator says of such data is its own.
FOREIGN = {
    "EvidentialCalibratedClassifier of scikit-learn": (LinAlgWarning, RuntimeWarning),
    "EvidentialFusionClassifier": (RuntimeWarning,),
    "EvidentialFusionClassifier contextual": (RuntimeWarning,),
    "ConformalClassifier split": (RuntimeWarning,),
    "SoftLabelClassifier": (RuntimeWarning,),
    "SoftLabelClassifier maximum_entropy": (LinAlgWarning, RuntimeWarning),
    "SoftVotingClassifier": (RuntimeWarning,),
    "SoftStackingClassifier": (RuntimeWarning,),
}


# A classifier for each pair of seventy classes, or covariances of their log odds, take long.
TOO_LONG = [
    (name, "seventy classes") for name in MODELS if "Calibrated" in name or "linear" in name
]
# Each estimator takes another third of the cases, unless there is time.
STEP = 1 if os.environ.get("HYPOTHESIS_PROFILE") == "long" else 3
TRIED = [
    (name, case)
    for turn, name in enumerate(MODELS, start=1)
    for place, case in enumerate(CASES)
    if (place + turn) % STEP == 0 and (name, case) not in TOO_LONG
]


@pytest.mark.parametrize(
    ("name", "case"),
    [pytest.param(*one, marks=[pytest.mark.long] * (one[0] in VARIANTS)) for one in TRIED],
)
def test_answers_or_refuses(name, case):
    make, fit = MODELS[name]
    check_case(make(), fit, CASES[case], FOREIGN.get(name, ()))


def test_there_are_enough_cases():
    tried = Counter(name for name, _ in TRIED)
    assert set(tried) == set(MODELS)
    assert min(tried.values()) >= 30
    assert {case for _, case in TRIED} == set(CASES)


@pytest.mark.parametrize(
    ("fault", "case", "message"),
    [
        (broken_answers.ForgetsToNormalize, "two classes", "probabilities sum to"),
        (broken_answers.PredictsByAnotherRule, "far from zero", "not the most probable"),
        (broken.ComplainsVaguely, "no weight at all, hard labels", "a refusal should say"),
        (broken.StumblesOverNothing, "nothing is known", "IndexError|out of bounds"),
    ],
)
def test_faults_are_found(fault, case, message):
    with pytest.raises((AssertionError, IndexError), match=message):
        check_case(fault(), fit_labels, CASES[case])
