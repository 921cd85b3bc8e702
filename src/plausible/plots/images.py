"""Credal partitions of the pixels of an image."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plausible.base import CredalPartition
from plausible.belief import cardinality
from plausible.checks import as_floats, as_list, check_kind, is_whole
from plausible.errors import InputError
from plausible.plots.canvas import Display, cluster_colors, load_pyplot

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass
class PartitionImageDisplay(Display):
    """An image with the clusters of its pixels, and how many clusters each may belong to.

    Parameters
    ----------
    bets : array (height, width, c)
    sizes : int array (height, width)
        Clusters in the set of largest mass: 0 for outliers, 1 for sure pixels, 2 and more for
        doubtful ones.
    image : array (height, width) or (height, width, 3), optional

    Attributes
    ----------
    ax_, axes_, figure_ : matplotlib axes (the first, and all) and figure, after `plot`

    Examples
    --------
    >>> from plausible.cluster import SECM
    >>> image = np.array([[0.0, 0, 0, 0, 9, 9], [0, 8, 0, 0, 9, 9], [0, 0, 0, 0, 9, 9]])
    >>> model = SECM(2, weights=image.shape, random_state=0).fit(image)
    >>> display = PartitionImageDisplay.from_partition(model.partition_, image.shape, image)
    >>> display.labels
    array([[0, 0, 0, 0, 1, 1],
           [0, 0, 0, 0, 1, 1],
           [0, 0, 0, 0, 1, 1]])
    """

    bets: FloatArray
    sizes: IntArray
    image: FloatArray | None = None

    @classmethod
    def from_partition(
        cls,
        partition: CredalPartition,
        shape: Sequence[int],
        image: ArrayLike | None = None,
        depth: int | None = None,
    ) -> Self:
        """A partition of the pixels of an image, in the order of ``image.ravel()``.

        Parameters
        ----------
        partition : CredalPartition
        shape : (height, width), or (depth, height, width)
        image : array of that shape, with or without channels, optional
        depth : int, optional
            Which slice of a volume to draw; by default the middle one.
        """
        check_kind(partition, CredalPartition, "partition", "give partition_ of a clustering")
        sizes = as_list(shape, "shape", "sizes")
        whole = len(sizes) in (2, 3) and all(is_whole(one) and one > 0 for one in sizes)
        if not whole or int(np.prod(sizes)) != len(partition):
            raise InputError(
                f"shape should be that of an image or volume with {len(partition)} pixels",
                f"is {tuple(sizes)}",
                "give (height, width), or (depth, height, width)",
                parameter="shape",
                value=shape,
            )
        bets = partition.fuzzy().reshape(*sizes, partition.n_clusters)
        counts = cardinality(partition.credal()).reshape(sizes)
        drawn = None if image is None else as_floats(image, "image")
        if len(sizes) == 3:
            level = sizes[0] // 2 if depth is None else depth
            bets, counts = bets[level], counts[level]
            drawn = None if drawn is None else drawn[level]
        return cls(bets, counts, drawn)

    @property
    def labels(self) -> IntArray:
        """Cluster (height, width) with the best bet, -1 for outliers."""
        return np.where(self.sizes == 0, -1, self.bets.argmax(axis=-1))

    @property
    def colors(self) -> FloatArray:
        """Colors (height, width, 3): those of clusters mixed as the bets are; outliers black."""
        mixed = self.bets @ cluster_colors(self.bets.shape[-1])
        return np.where((self.sizes == 0)[..., None], 0.0, mixed)

    def plot(self, axes: Any = None) -> Self:
        """Draw the image, the clusters, and in how many clusters each pixel may be.

        Parameters
        ----------
        axes : array of two matplotlib axes, three with an image, optional
        """
        n_panels = 2 if self.image is None else 3
        if axes is None:
            size = (3.2 * n_panels, 3.4)
            _, axes = load_pyplot().subplots(1, n_panels, figsize=size, layout="constrained")
        self.axes_ = axes
        self.ax_, self.figure_ = axes[0], axes[0].figure
        if self.image is not None:
            axes[0].imshow(self.image, cmap="gray", interpolation="nearest")
            axes[0].set_title("image")
        axes[-2].imshow(np.clip(self.colors, 0, 1), interpolation="nearest")
        axes[-2].set_title("clusters")
        most = max(int(self.sizes.max()), 2)
        drawn = axes[-1].imshow(
            self.sizes, cmap=size_colors(most), vmin=-0.5, vmax=most + 0.5, interpolation="nearest"
        )
        axes[-1].set_title("clusters that may be (0: none)")
        self.figure_.colorbar(drawn, ax=axes[-1], ticks=range(most + 1), shrink=0.7)
        for ax in axes:
            ax.set_axis_off()
        return self


def size_colors(most: int) -> Any:
    """Red for outliers, nearly white for sure pixels, the darker the more clusters there are."""
    from matplotlib.colors import ListedColormap

    grays = [str(level) for level in np.linspace(0.55, 0.0, most - 1)]
    return ListedColormap(["#c00000", "0.93", *grays])
