"""Sets of classes that hold the class of a new item as often as was asked.

`classifier` is the estimator; `calibration` has the scores, and what a new item is compared with.
"""

from plausible.models.conformal.classifier import ConformalClassifier, CoverageWarning

__all__ = ["ConformalClassifier", "CoverageWarning"]
