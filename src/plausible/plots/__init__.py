"""Pictures as Display objects: what is drawn is computed first, and can be looked at.

matplotlib is loaded when something is drawn (``pip install "plausible[plots]"``).
"""

from plausible.plots.criterion import CriterionDisplay
from plausible.plots.curves import CalibrationDisplay, RejectionDisplay, SetSizeDisplay
from plausible.plots.experts import AgreementDisplay, ConflictDisplay, ReliabilityDisplay
from plausible.plots.images import PartitionImageDisplay
from plausible.plots.items import BeliefIntervalDisplay, PlausibilityDisplay
from plausible.plots.labels import LabelKindsDisplay, LabelTriangleDisplay
from plausible.plots.matrices import ConfusionDisplay
from plausible.plots.mixtures import MixtureDisplay
from plausible.plots.partitions import CredalPartitionDisplay
from plausible.plots.regions import DecisionRegionDisplay
from plausible.plots.shepard import ShepardDisplay
from plausible.plots.surfaces import MassSurfaceDisplay

__all__ = [
    "AgreementDisplay",
    "BeliefIntervalDisplay",
    "CalibrationDisplay",
    "ConflictDisplay",
    "ConfusionDisplay",
    "CredalPartitionDisplay",
    "CriterionDisplay",
    "DecisionRegionDisplay",
    "LabelKindsDisplay",
    "LabelTriangleDisplay",
    "MassSurfaceDisplay",
    "MixtureDisplay",
    "PartitionImageDisplay",
    "PlausibilityDisplay",
    "RejectionDisplay",
    "ReliabilityDisplay",
    "SetSizeDisplay",
    "ShepardDisplay",
]
