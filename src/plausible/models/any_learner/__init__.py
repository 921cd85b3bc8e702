"""Any classifier of scikit-learn learns from labels with their degrees.

`classifier` is the estimator around another one; `candidates` repeats rows for the classes that
their labels leave, and weights them; `learning` fits, asks out of fold, and repeats both.
"""

from plausible.models.any_learner.classifier import SoftLabelClassifier

__all__ = ["SoftLabelClassifier"]
