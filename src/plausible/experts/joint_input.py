"""What is given to `JointAnnotatorClassifier.fit`, checked and put together."""

import warnings
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import KFold

from plausible.base import check_weights, count_rows
from plausible.engine import passed_on
from plausible.errors import InputError
from plausible.experts.annotations import Annotations
from plausible.experts.dependence import Dependence, exponents
from plausible.experts.feature_difficulty import FeatureDifficulty
from plausible.experts.joint_crowd import CrowdInMemory, CrowdInParts, once
from plausible.experts.judged_pairs import truth_of
from plausible.experts.known_classes import gold_logs
from plausible.experts.parted_reliability import PartedProblem, own_rates, refuse_what_needs_all
from plausible.experts.parts import AnnotationParts
from plausible.experts.pooling import counted_once, who_err_together
from plausible.experts.reliability_fit import pose
from plausible.models import PartialLogisticRegression

N_FOLDS = 5
DOUBT = 0.3  # of everybody, where people are not known yet
LEAST_ITEMS, LEAST_PEOPLE = 50, 4  # from which a classifier can tell who errs together


def crowd_in_memory(
    wanted: Any, X: Any, y: Annotations, gold: Any, sample_weight: ArrayLike | None
) -> CrowdInMemory:
    """Rows and answers that are all in memory, as an estimator of these parameters wants them."""
    check_answers(X, y)
    weight = check_weights(sample_weight, len(y.items))
    if not weight.any():
        raise InputError(
            "sample_weight should be positive for some item",
            "is 0 for all",
            "give weights",
            parameter="sample_weight",
        )
    together, known = wanted.dependence, gold_logs(y, gold)
    if isinstance(together, str) and together == "fit":
        together = y.dependence(gold=gold)
        if known is None:
            together = _by_features(wanted, X, y, together)
    y = once(y, together)
    difficulty = None
    if wanted.difficulty is not None:
        by_itself = isinstance(wanted.difficulty, str)
        difficulty = FeatureDifficulty.of_rows(X, None if by_itself else wanted.difficulty)
    posed = partial(pose, model=wanted.model, smoothing=wanted.smoothing, gold=known)
    power, order = exponents(together, y), np.argsort(y.classes)
    return CrowdInMemory(X, y, posed, weight, power, order, difficulty)


def _by_features(wanted: Any, X: Any, y: Annotations, found: Dependence) -> Dependence:
    """How far people err together, with the groups that features tell."""
    if len(y.items) < LEAST_ITEMS or len(y.annotators) < LEAST_PEOPLE:
        return found
    chances = _cross_fitted(wanted, X, counted_once(y, Dependence(0.0, copies=found.copies)))
    told = who_err_together(y, truth_of(y, None, chances))
    return replace(found, groups=told.groups, group_shared=told.group_shared)


def _cross_fitted(wanted: Any, X: Any, y: Annotations) -> NDArray[Any]:
    """Probabilities (n, K) of the classes of items, by a classifier that learned from others."""
    inner = PartialLogisticRegression() if wanted.classifier is None else wanted.classifier
    labels, order = y.pool(doubt=DOUBT, on_conflict="unknown"), np.argsort(y.classes)
    found = np.empty((len(y.items), y.n_classes))
    folds = KFold(N_FOLDS, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a class that is missing in a fold, or a rough fit
        for learned, out in folds.split(found):
            with passed_on():
                model = clone(inner).fit(_rows(X, learned), labels[learned])
            found[np.ix_(out, order)] = model.predict_proba(_rows(X, out))
    return found


def _rows(X: Any, rows: NDArray[np.int64]) -> Any:
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return X[rows] if hasattr(X, "shape") else [X[row] for row in rows.tolist()]


def crowd_in_parts(
    wanted: Any, X: Any, y: AnnotationParts, gold: Any, sample_weight: Any
) -> CrowdInParts:
    """The same of what is read part by part."""
    _refuse_of_parts(wanted, sample_weight)
    inner = wanted.classifier
    if inner is not None and not getattr(inner, "_learns_from_rows", False):
        raise InputError(
            "classifier should learn from streams, where answers are in parts",
            f"{type(inner).__name__} does not",
            "use one that does, such as PartialLogisticRegression or GaussianMixtureClassifier",
            parameter="classifier",
        )
    refuse_what_needs_all(wanted.model, gold, 0)
    if not y.is_local:
        raise InputError(
            "y should be parts that this process reads, beside those of X",
            "they lie with Dask",
            "give a function that yields Annotations to AnnotationParts",
            parameter="y",
        )
    prepare = partial(once, dependence=wanted.dependence)
    center = own_rates(y, gold, prepare) if wanted.model == "shrunk" else None
    problem = PartedProblem(y, wanted.model, wanted.smoothing, gold, None, center, prepare)
    return CrowdInParts(X, y, problem, wanted.dependence, np.argsort(y.classes))


def _refuse_of_parts(wanted: Any, sample_weight: Any) -> None:
    """Refuse what cannot be had of parts."""
    is_fitted = isinstance(wanted.dependence, str) and wanted.dependence == "fit"
    asked = {
        "sample_weight": (sample_weight, sample_weight is not None, "leave it out"),
        "difficulty": (wanted.difficulty, wanted.difficulty is not None, "leave it out"),
        "dependence": (wanted.dependence, is_fitted, "give what `dependence` found of a part"),
    }
    for name, (value, is_asked, remedy) in asked.items():
        if is_asked:
            raise InputError(
                f"{name} should be of rows and answers in memory",
                "these are in parts",
                remedy,
                parameter=name,
                value=value,
            )


def check_answers(X: Any, y: Any) -> None:
    """Refuse what is not the answers about the rows of X."""
    if not isinstance(y, Annotations):
        raise InputError(
            "y should be Annotations",
            f"is {type(y).__name__}",
            "make them with Annotations.from_answers, or fit the classifier itself on labels",
            parameter="y",
        )
    n_rows = count_rows(X)
    if n_rows != len(y.items):
        raise InputError(
            f"X should have a row for each of the {len(y.items)} items of the answers, in the "
            "order of their `items`",
            f"has {n_rows}",
            "select and order the rows",
            parameter="X",
        )
