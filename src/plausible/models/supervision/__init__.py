"""Stochastic supervision: classes learned from an expert's probabilities alone.

`classifier` is the estimator, `assessed` its answers, `comparison` the nested family side by side;
`em_problem` is what it solves, with `parameters` and `beta` in its M step, and `starts`;
`assessments` reads what the expert said, `weak_points` warns, `class_weights` lowers costs.
"""

from plausible.models.supervision.classifier import StochasticSupervisionClassifier
from plausible.models.supervision.comparison import (
    ComparedModel,
    Comparison,
    compare_models,
    log_density,
)
from plausible.models.supervision.weak_points import SupervisionWarning

__all__ = [
    "ComparedModel",
    "Comparison",
    "StochasticSupervisionClassifier",
    "SupervisionWarning",
    "compare_models",
    "log_density",
]
