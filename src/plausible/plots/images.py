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
from plausible.plots.canvas import Display, cluster_colors, load_pyplot, open_axes
from plausible.plots.partitions import partition_of

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
    def from_estimator(cls, estimator: Any, image: ArrayLike, depth: int | None = None) -> Self:
        """What a clustering made of the image that it was fitted on.

        Parameters
        ----------
        estimator : fitted clustering, such as `SECM`
        image : array (height, width) or (depth, height, width), with or without channels
        depth : int, optional
            Which slice of a volume to draw; by default the middle one.

        Examples
        --------
        >>> from plausible.cluster import ECM
        >>> image = np.array([[0.0, 0, 9], [0, 1, 9]])
        >>> model = ECM(2, random_state=0).fit(image.reshape(-1, 1))
        >>> PartitionImageDisplay.from_estimator(model, image).labels
        array([[0, 0, 1],
               [0, 0, 1]])
        """
        partition = partition_of(estimator)
        drawn = as_floats(image, "image")
        shape = drawn.shape
        if len(shape) > 2 and int(np.prod(shape[:-1])) == len(partition):
            shape = shape[:-1]  # the last axis is one of channels
        return cls.from_partition(partition, shape, drawn, depth)

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

    def plot(self, ax: Any = None) -> Self:
        """Draw the image, the clusters, and in how many clusters each pixel may be.

        Parameters
        ----------
        ax : array of two matplotlib axes, three with an image, optional
            On single axes, only the clusters are drawn.
        """
        n_panels = 2 if self.image is None else 3
        if ax is None:
            size = (3.2 * n_panels, 3.4)
            ax = load_pyplot().subplots(1, n_panels, figsize=size, layout="constrained")[1]
        self.axes_ = check_panels(ax, n_panels)
        self.ax_, self.figure_ = self.axes_[0], self.axes_[0].figure
        if len(self.axes_) == 1:
            self._draw_clusters(self.ax_)
        else:
            self._draw_clusters(self.axes_[-2])
            self._draw_sizes(self.axes_[-1])
        if len(self.axes_) == 3:
            self.ax_.imshow(self.image, cmap="gray", interpolation="nearest")
            self.ax_.set_title("image")
        for panel in self.axes_:
            panel.set_axis_off()
        return self

    def _draw_clusters(self, ax: Any) -> None:
        ax.imshow(np.clip(self.colors, 0, 1), interpolation="nearest")
        ax.set_title("clusters")

    def _draw_sizes(self, ax: Any) -> None:
        most = max(int(self.sizes.max()), 2)
        drawn = ax.imshow(
            self.sizes, cmap=size_colors(most), vmin=-0.5, vmax=most + 0.5, interpolation="nearest"
        )
        ax.set_title("clusters that may be (0: none)")
        self.figure_.colorbar(drawn, ax=ax, ticks=range(most + 1), shrink=0.7)


def check_panels(given: Any, n_panels: int) -> NDArray[Any]:
    """Axes for all panels, or for one."""
    panels = np.atleast_1d(np.asarray(given, dtype=object)).ravel()
    if len(panels) not in (1, n_panels):
        raise InputError(
            f"ax should be {n_panels} axes of matplotlib, or one for the clusters alone",
            f"{len(panels)} were given",
            f"write figure, ax = matplotlib.pyplot.subplots(1, {n_panels}), or leave it out",
            parameter="ax",
        )
    for panel in panels:
        open_axes(panel)
    return panels


def size_colors(most: int) -> Any:
    """Red for outliers, nearly white for sure pixels, the darker the more clusters there are."""
    from matplotlib.colors import ListedColormap

    grays = [str(level) for level in np.linspace(0.55, 0.0, most - 1)]
    return ListedColormap(["#c00000", "0.93", *grays])
