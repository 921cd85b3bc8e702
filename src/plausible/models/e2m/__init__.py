"""Maximum likelihood from uncertain data: E2M, families of laws, and uncertain values.

From the top: `estimator` is the algorithm for any family, `problem` what the engine climbs;
`classes`, `poisson` and `continuous` are families with exact steps, `family` what a family states;
`points` turns uncertain values into sums for families that state a density alone; `truncated` has
moments of normal variables within bounds; `information` says how sure an estimate is, `differences`
and `coordinates` are what that and the M step are made of; `values` is the container. `mixture` is
the classifier, `uncertain_rows` its E step, `rectangles` moments of several bounded features.
"""

from plausible.models.e2m.classes import Bernoulli, Categorical
from plausible.models.e2m.continuous import Exponential, Normal
from plausible.models.e2m.estimator import E2M
from plausible.models.e2m.family import Family
from plausible.models.e2m.information import InformationWarning
from plausible.models.e2m.mixture import UncertainGaussianMixture
from plausible.models.e2m.poisson import Poisson
from plausible.models.e2m.uncertain_rows import Imputed
from plausible.models.e2m.values import UncertainValues

__all__ = [
    "E2M",
    "Bernoulli",
    "Categorical",
    "Exponential",
    "Family",
    "Imputed",
    "InformationWarning",
    "Normal",
    "Poisson",
    "UncertainGaussianMixture",
    "UncertainValues",
]
