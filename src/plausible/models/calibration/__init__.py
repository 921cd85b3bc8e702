"""Evidential calibration: mass functions from the scores of any classifier.

`classifier` is the estimator; `scores` asks a classifier about rows it has not seen, `predictive`
turns the score of a pair of classes into a mass function (`profile_compiled`: its inner loop).
"""

from plausible.models.calibration.classifier import (
    EvidentialCalibratedClassifier,
    cross_calibrated,
)

__all__ = ["EvidentialCalibratedClassifier", "cross_calibrated"]
