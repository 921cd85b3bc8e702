"""Logistic regression for partial labels, and what its coefficients say as evidence.

`regression` is the estimator; `criteria` are what it may maximize, `likelihood` their sums over
rows, `coordinates` those in which `solvers` climb; `evidence` reads a fitted model.
"""

from plausible.models.logistic.criteria import partial_label_loss
from plausible.models.logistic.evidence import Evidence, weights_of_evidence
from plausible.models.logistic.regression import PartialLogisticRegression

__all__ = ["Evidence", "PartialLogisticRegression", "partial_label_loss", "weights_of_evidence"]
