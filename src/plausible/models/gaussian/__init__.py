"""Gaussian classes under soft labels: mixtures and discriminant analysis.

From the top: `mixture` and `discriminant` are the estimators, `estimator` their base;
`soft_mixture` is the EM problem that they solve, `e_step` its sums over rows (`e_step_compiled` the
same, compiled), `parameters` its M step; `starts` and `priors` say where it begins and what it
knows beforehand; `patterns` and `scattered` integrate over missing features; `shares` takes labels
that are probabilities, `unlabeled` says how much rows without a label may weigh, and `weak_points`
what rests on too little.
"""

from plausible.models.gaussian.discriminant import DiscriminantClassifier
from plausible.models.gaussian.estimator import GaussianClassifier
from plausible.models.gaussian.mixture import GaussianMixtureClassifier
from plausible.models.gaussian.unlabeled import UnlabeledRowsWarning
from plausible.models.gaussian.weak_points import SingularCovarianceWarning

# isort: split
# For families that build on Gaussians; not part of the public interface.
from plausible.models.gaussian.mixture import component_counts as component_counts
from plausible.models.gaussian.parameters import KINDS as KINDS
from plausible.models.gaussian.parameters import FloatArray as FloatArray
from plausible.models.gaussian.parameters import Gaussians as Gaussians
from plausible.models.gaussian.parameters import Moments as Moments
from plausible.models.gaussian.parameters import Prior as Prior
from plausible.models.gaussian.parameters import cholesky as cholesky
from plausible.models.gaussian.parameters import precisions as precisions
from plausible.models.gaussian.patterns import Part as Part
from plausible.models.gaussian.patterns import filled_rows as filled_rows
from plausible.models.gaussian.patterns import parts_of as parts_of
from plausible.models.gaussian.priors import make_prior as make_prior
from plausible.models.gaussian.scattered import Conditional as Conditional
from plausible.models.gaussian.scattered import ScatteredPart as ScatteredPart
from plausible.models.gaussian.scattered import without_shares as without_shares
from plausible.models.gaussian.soft_mixture import SoftMixture as SoftMixture

__all__ = [
    "DiscriminantClassifier",
    "GaussianClassifier",
    "GaussianMixtureClassifier",
    "SingularCovarianceWarning",
    "UnlabeledRowsWarning",
]
