"""Several classifiers as one, learned from labels with their degrees.

`voting`, `bagging` and `stacking` take the place of scikit-learn's tools of these names, which see
hard classes only; `cross_fitting` asks classifiers about rows they have not seen. `members` is what
they share.
"""

from plausible.models.ensemble.bagging import SoftBaggingClassifier
from plausible.models.ensemble.cross_fitting import cross_val_beliefs
from plausible.models.ensemble.stacking import SoftStackingClassifier
from plausible.models.ensemble.voting import SoftVotingClassifier

__all__ = [
    "SoftBaggingClassifier",
    "SoftStackingClassifier",
    "SoftVotingClassifier",
    "cross_val_beliefs",
]
