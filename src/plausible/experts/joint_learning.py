"""The classifier inside `JointAnnotatorClassifier`: fitted again and again, and what it brings."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from plausible.engine import passed_on
from plausible.errors import InputError
from plausible.experts.answer_problem import TINY
from plausible.labels import Labels
from plausible.models import weighting

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

FINE = 1e-7  # tolerance of a classifier that needs no lowering


class Learned(NamedTuple):
    """A fitted classifier as L sees it.

    logs : log probabilities (n, K) of the classes, in the order of the answers' classes; empty
        where rows are not all in memory
    own : what is beside them in L: log densities of the features, and penalty or log prior
    """

    classifier: Any
    logs: FloatArray
    own: float


def go_on(
    classifier: Any, last: Any, X: Any, labels: Labels, weights: dict[str, Any], sharpness: float
) -> Any:
    """Fit from where the last classifier of this kind ended, if it can be told where to start.

    Its tolerance, if it has one, is divided by the sharpness.
    """
    given = classifier.get_params(deep=False)
    changes: dict[str, Any] = {}
    if hasattr(last, "component_classes_") and np.isfinite(last.means_).all():
        changes["init"] = _means_by_class(last)
    elif hasattr(last, "coef_") and not hasattr(last, "means_"):
        changes["init"] = rows_by_class(last)
    if is_rough(classifier):
        changes["tol"] = max(given["tol"] / sharpness, FINE)
    changes = {name: value for name, value in changes.items() if name in given}
    fitted = classifier.set_params(**changes).fit(X, labels, **weights)
    return fitted.set_params(**{name: given[name] for name in changes})


def _means_by_class(last: Any) -> dict[str, Any]:
    """Where a mixture ended, by class, as its `init` wants it."""
    parts = {"weights": last.weights_, "means": last.means_}
    shared = {"covariances": last.covariances_}
    if last._kind != "tied":
        parts, shared = parts | shared, {}
    whose, names = last.component_classes_, last.classes_.tolist()
    named = {name: {one: part[whose == one] for one in names} for name, part in parts.items()}
    return named | shared


def rows_by_class(last: Any) -> dict[Any, Any]:
    """Where a logistic regression ended, by class, as its `init` wants it."""
    coef, intercept = last.coef_, last.intercept_
    if len(coef) < len(last.classes_):  # one row for the odds of the second of two classes
        coef, intercept = np.vstack([-coef, coef]) / 2, np.append(-intercept, intercept) / 2
    return dict(zip(last.classes_.tolist(), zip(coef, intercept, strict=True), strict=True))


def is_rough(classifier: Any, sharpness: float = 1.0) -> bool:
    """Whether a classifier has a tolerance that can be lowered still."""
    tol = classifier.get_params(deep=False).get("tol")
    return isinstance(tol, int | float) and tol / sharpness > FINE


def penalty(classifier: Any) -> float:
    """What a classifier takes off its own likelihood: a penalty, or the log of a prior."""
    model = classifier[-1] if isinstance(classifier, Pipeline) else classifier
    if hasattr(model, "history_") and hasattr(model, "log_likelihood_"):
        return float(model.history_[-1]) - float(model.log_likelihood_)
    return 0.0


def log_density(classifier: Any, X: Any, weight: FloatArray) -> float:
    """Log density of the features, of a classifier that models them; 0 of others."""
    if hasattr(classifier, "score_samples"):
        return float(weight @ np.asarray(classifier.score_samples(X)))
    return 0.0


def weights_for(classifier: Any, weight: FloatArray) -> dict[str, Any]:
    """Sample weights as a parameter of the classifier's fit."""
    given = weighting(classifier, weight)
    if not given and (weight != 1.0).any():
        raise InputError(
            "classifier should take sample_weight in fit",
            f"{type(classifier).__name__} does not",
            "use one that does, such as PartialLogisticRegression, or give no weights",
            parameter="classifier",
        )
    return given


def fit_again(
    inner: Any, last: Any, X: Any, labels: Any, weights: dict[str, Any], sharpness: float
) -> Any:
    """A copy of the classifier, fitted to labels."""
    with passed_on():
        return go_on(clone(inner), last, X, labels, weights, sharpness)


def log_chances(classifier: Any, X: Any, order: IntArray) -> FloatArray:
    """Log probabilities (n, K) of the classes, which the classifier sorts in this `order`."""
    known = np.asarray(classifier.predict_proba(X), dtype=np.float64)
    logs = np.empty_like(known)
    logs[:, order] = np.log(np.maximum(known, TINY))
    return logs


def contour_labels(evidence: FloatArray, classes: NDArray[Any]) -> Labels:
    """What the answers say of the classes, from logs (n, K), as labels."""
    return Labels(np.exp(evidence - evidence.max(axis=1, keepdims=True)), classes.tolist())
