"""Fusion of classifiers: what each believes, as far as it can be relied on, combined.

`classifier` is the estimator; `sources` are its classifiers and their columns, `beliefs` what they
say of items, `doubts` how far they are trusted, `combination` the rules.
"""

from plausible.experts.fusion.classifier import EvidentialFusionClassifier

__all__ = ["EvidentialFusionClassifier"]
