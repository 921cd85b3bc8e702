"""Pictures as Display objects: what is drawn is computed first, and can be looked at.

matplotlib is loaded when something is drawn (``pip install "plausible[plots]"``).
"""

from plausible.plots.images import PartitionImageDisplay
from plausible.plots.partitions import CredalPartitionDisplay
from plausible.plots.shepard import ShepardDisplay
from plausible.plots.surfaces import MassSurfaceDisplay

__all__ = [
    "CredalPartitionDisplay",
    "MassSurfaceDisplay",
    "PartitionImageDisplay",
    "ShepardDisplay",
]
