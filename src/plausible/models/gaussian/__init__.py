"""Gaussian classes under soft labels: mixtures and discriminant analysis.

From the top: `mixture` and `discriminant` are the estimators, `estimator` their base;
`soft_mixture` is the EM problem that they solve, `e_step` its sums over rows (`e_step_compiled` the
same, compiled), `parameters` its M step; `starts` and `priors` say where it begins and what it
knows beforehand; `shares` takes labels that are probabilities, and `unlabeled` says how much rows
without a label may weigh.
"""

from plausible.models.gaussian.discriminant import DiscriminantClassifier
from plausible.models.gaussian.estimator import SingularCovarianceWarning
from plausible.models.gaussian.mixture import GaussianMixtureClassifier
from plausible.models.gaussian.unlabeled import UnlabeledRowsWarning

__all__ = [
    "DiscriminantClassifier",
    "GaussianMixtureClassifier",
    "SingularCovarianceWarning",
    "UnlabeledRowsWarning",
]
