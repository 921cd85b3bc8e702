"""Scorers for scikit-learn's model selection: ``cross_val_score(model, X, labels, scoring=...)``.

scikit-learn's own scorers see labels as hard ones; these see their degrees.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from numpy.typing import ArrayLike

from plausible.checks import check_option
from plausible.labels import as_labels
from plausible.metrics.partitions import credal_nonspecificity, credal_rand_index
from plausible.metrics.scores import (
    c1_loss,
    expected_calibration_error,
    soft_accuracy,
    soft_brier_score,
    soft_log_loss,
)
from plausible.metrics.sets import (
    rejection_curve,
    set_coverage,
    set_imprecision,
    utility_discounted_accuracy,
)
from plausible.metrics.truth import Classes


@dataclass(frozen=True)
class Scorer:
    """A score of a fitted estimator against labels: higher is better.

    Parameters
    ----------
    name : str
    metric : callable
        Called as ``metric(y, answer, sample_weight=..., classes=...)``.
    response : str
        Method of the estimator whose answer is scored.
    sign : int
        -1 for losses.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from plausible.labels import Labels
    >>> X = [[0.0], [0.2], [0.1], [1.0], [0.9], [1.1]]
    >>> y = Labels.from_crisp(["a", "a", "a", "b", "b", "b"])
    >>> cross_val_score(GaussianNB(), X, y, scoring=get_scorer("soft_accuracy"), cv=3)
    array([1., 1., 1.])
    """

    name: str
    metric: Callable[..., float]
    response: str
    sign: int = 1

    def __call__(
        self, estimator: Any, X: Any, y: Any, sample_weight: ArrayLike | None = None
    ) -> float:
        """Score the estimator's answers for X against the labels y."""
        response = getattr(estimator, self.response, None)
        if response is None:
            raise TypeError(
                f"The scorer {self.name!r} needs an estimator with the method {self.response}, but "
                f"{type(estimator).__name__} has none; choose another scorer."
            )
        classes = getattr(estimator, "classes_", None)
        return self.sign * self.metric(y, response(X), sample_weight=sample_weight, classes=classes)


def _imprecision(_: Any, answer: Any, sample_weight: Any, classes: Classes) -> float:
    return set_imprecision(answer, sample_weight)


def _rejection_area(y: Any, answer: Any, sample_weight: Any, classes: Classes) -> float:
    return rejection_curve(y, answer, sample_weight, classes).area


def _rand_index(y: Any, answer: Any, sample_weight: Any, classes: Classes) -> float:
    return credal_rand_index(as_labels(y), answer)


def _nonspecificity(_: Any, answer: Any, sample_weight: Any, classes: Classes) -> float:
    return credal_nonspecificity(answer)


SCORERS = {
    scorer.name: scorer
    for scorer in (
        Scorer("soft_accuracy", soft_accuracy, "predict"),
        Scorer("neg_soft_log_loss", soft_log_loss, "predict_proba", -1),
        Scorer("neg_soft_brier_score", soft_brier_score, "predict_proba", -1),
        Scorer("neg_calibration_error", expected_calibration_error, "predict_proba", -1),
        Scorer("neg_c1_loss", c1_loss, "predict_proba", -1),
        Scorer("u50", partial(utility_discounted_accuracy, value_of_pair=0.5), "predict_set"),
        Scorer("u65", partial(utility_discounted_accuracy, value_of_pair=0.65), "predict_set"),
        Scorer("u80", partial(utility_discounted_accuracy, value_of_pair=0.8), "predict_set"),
        Scorer("set_coverage", set_coverage, "predict_set"),
        Scorer("neg_set_imprecision", _imprecision, "predict_set", -1),
        Scorer("rejection_area", _rejection_area, "predict_proba"),
        Scorer("credal_rand_index", _rand_index, "predict_mass"),
        Scorer("neg_credal_nonspecificity", _nonspecificity, "predict_mass", -1),
    )
}
"""The scorers by name."""


def get_scorer(name: str) -> Scorer:
    """Scorer by its name, a key of `SCORERS`.

    Examples
    --------
    >>> get_scorer("soft_accuracy").response
    'predict'
    """
    check_option(name, list(SCORERS), "name")
    return SCORERS[name]
