"""Evidential neural networks: prototypes that speak for classes."""

from plausible.models.network.classifier import EvidentialNetworkClassifier

__all__ = ["EvidentialNetworkClassifier"]
