"""Gaussian classes under soft labels: mixtures and discriminant analysis.

From the top: `mixture` and `discriminant` are the estimators, `estimator` their base;
`soft_mixture` is the EM problem that they solve, `e_step` its sums over rows (`e_step_compiled` the
same, compiled), `parameters` its M step; `starts` and `priors` say where it begins and what it
knows beforehand.
"""

from plausible.models.gaussian.discriminant import DiscriminantClassifier
from plausible.models.gaussian.estimator import SingularCovarianceWarning
from plausible.models.gaussian.mixture import GaussianMixtureClassifier

__all__ = ["DiscriminantClassifier", "GaussianMixtureClassifier", "SingularCovarianceWarning"]
