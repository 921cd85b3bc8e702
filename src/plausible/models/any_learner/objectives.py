r"""Objectives of soft and partial labels for gradient boosting of other libraries.

The gradient of a loss of `any_learner.losses` with respect to the margins (logits) of an item, and
as its curvature the diagonal :math:`f_k (1 - f_k)` of the cross-entropy, times the factor that the
library itself takes: 2 in xgboost, K / (K - 1) in LightGBM. It is an upper bound for minimum
commitment, whose own curvature :math:`f_k (1 - f_k) - g_k (1 - g_k)` may be negative; a step with
it is one of the EM algorithm. Items that say nothing have neither gradient nor curvature there.

Hard labels give the library's own multi-class objective. Neither library is imported here.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plausible.base import check_weights
from plausible.checks import as_floats, check_option
from plausible.errors import InputError
from plausible.labels import Labels, as_labels
from plausible.models.any_learner.losses import log_total, soft_label_gradient
from plausible.models.logistic.criteria import CRITERIA

FloatArray = NDArray[np.float64]

LEAST_CURVATURE = 1e-6  # as in xgboost, which divides by sums of them


def gradient_and_curvature(
    margins: FloatArray, labels: Labels, criterion: str, factor: float
) -> tuple[FloatArray, FloatArray]:
    """Gradients and curvatures (n, K) of the loss of each item."""
    gradient = soft_label_gradient(margins, labels, criterion, reduction="none")
    model = np.exp(margins - log_total(np, margins))
    curvature = np.maximum(factor * model * (1.0 - model), LEAST_CURVATURE)
    if criterion == "minimum_commitment":
        curvature[labels.is_unknown & ~labels.is_probability & ~labels.is_hard] = 0.0
    return gradient, curvature


class Objective:
    """A function of margins for one library, which knows the labels of the training rows."""

    def __init__(self, y: Any, criterion: str, library: str) -> None:
        check_option(criterion, CRITERIA, "criterion")
        self.labels = as_labels(y)
        self.criterion = criterion
        self.library = library
        n_classes = self.labels.n_classes
        self.factor = 2.0 if library == "xgboost" else n_classes / max(n_classes - 1.0, 1.0)

    def __call__(
        self, first: Any, second: Any, sample_weight: ArrayLike | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Gradient and curvature, (n, K), for the native and the scikit-learn interface.

        The former gives (margins, data set), the latter (y, margins) or (y, margins, weights).
        """
        margins = first if hasattr(second, "get_label") else second
        if hasattr(second, "get_weight"):
            given = second.get_weight()
            sample_weight = given if given is not None and np.size(given) else None
        margins = as_floats(margins, "margins")
        if margins.shape != self.labels.contour.shape:
            raise InputError(
                f"{self.library} should ask about all {len(self.labels)} rows and "
                f"{self.labels.n_classes} classes of the labels",
                f"asks about margins of shape {margins.shape}",
                "give the objective the labels of its training rows, in their order, and the "
                "library num_class",
            )
        found = gradient_and_curvature(margins, self.labels, self.criterion, self.factor)
        if sample_weight is None:
            return found
        weight = check_weights(sample_weight, len(margins))[:, None]
        return found[0] * weight, found[1] * weight


def xgboost_objective(y: Any, criterion: str = "minimum_commitment") -> Objective:
    """An objective with which xgboost learns from soft and partial labels.

    Parameters
    ----------
    y : Labels, or all that `as_labels` takes
        Of the training rows in their order. Columns of margins are classes in the order of
        ``labels.classes``.
    criterion : "minimum_commitment", "maximum_entropy", "self_consistent" or "minimum_entropy"
        As in `PartialLogisticRegression`.

    Returns
    -------
    function for ``xgboost.train(obj=)``, or ``XGBClassifier(objective=)``
        Margins are logits: take their softmax for probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> from plausible.labels import Labels
    >>> labels = Labels.from_sets([{"a"}, {"a", "b"}, {"c"}])
    >>> gradient, curvature = xgboost_objective(labels)(None, np.zeros((3, 3)))
    >>> gradient[1].round(3), curvature[1].round(3)
    (array([-0.167, -0.167,  0.333]), array([0.444, 0.444, 0.444]))

    With xgboost installed::

        settings = {"num_class": 3, "disable_default_eval_metric": True}
        booster = xgboost.train(settings, xgboost.DMatrix(X), 100, obj=xgboost_objective(labels))
        probability = softmax(booster.predict(xgboost.DMatrix(X_new), output_margin=True), axis=1)
    """
    return Objective(y, criterion, "xgboost")


def lightgbm_objective(y: Any, criterion: str = "minimum_commitment") -> Objective:
    """An objective with which LightGBM learns from soft and partial labels.

    Parameters
    ----------
    y, criterion
        As for `xgboost_objective`.

    Returns
    -------
    function for ``lightgbm.train({"objective": ...})``, or ``LGBMClassifier(objective=)``
        Raw scores are logits: take their softmax for probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> gradient, curvature = lightgbm_objective(["a", "b", "c"])(None, np.zeros((3, 3)))
    >>> gradient[0].round(3), curvature[0].round(3)
    (array([-0.667,  0.333,  0.333]), array([0.333, 0.333, 0.333]))

    With LightGBM installed::

        settings = {"num_class": 3, "objective": lightgbm_objective(labels)}
        booster = lightgbm.train(settings, lightgbm.Dataset(X, labels.contour.argmax(axis=1)))
        probability = softmax(booster.predict(X_new), axis=1)
    """
    return Objective(y, criterion, "LightGBM")
