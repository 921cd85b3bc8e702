"""Any classifier of scikit-learn learns from labels with their degrees.

`classifier` is the estimator around another one; `candidates` repeats rows for the classes that
their labels leave, and weights them; `learning` fits, asks out of fold, and repeats both.
`losses` are the same criteria for networks of any library of arrays, `objectives` for xgboost and
LightGBM.
"""

from plausible.models.any_learner.candidates import left_by_labels
from plausible.models.any_learner.classifier import SoftLabelClassifier
from plausible.models.any_learner.losses import soft_label_gradient, soft_label_loss
from plausible.models.any_learner.objectives import lightgbm_objective, xgboost_objective

__all__ = [
    "SoftLabelClassifier",
    "left_by_labels",
    "lightgbm_objective",
    "soft_label_gradient",
    "soft_label_loss",
    "xgboost_objective",
]
