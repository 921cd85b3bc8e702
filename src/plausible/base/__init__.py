"""What every estimator shares: what fit does first, kinds of answer, beliefs, warnings."""

from plausible.base.beliefs import Beliefs, believe
from plausible.base.evidence import EvidenceClassifier
from plausible.base.training import (
    Training,
    check_labels_and_weights,
    check_weights,
    gather,
    is_dask,
)
from plausible.base.warnings import EmptyClassWarning

__all__ = [
    "Beliefs",
    "EmptyClassWarning",
    "EvidenceClassifier",
    "Training",
    "believe",
    "check_labels_and_weights",
    "check_weights",
    "gather",
    "is_dask",
]
