"""Scores against imprecise truth."""

from plausible.metrics.scores import soft_accuracy

__all__ = ["soft_accuracy"]
