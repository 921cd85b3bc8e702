"""Credal partitions of points in the plane."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import ConvexHull, QhullError

from plausible.base import CredalPartition
from plausible.checks import check_kind
from plausible.errors import InputError
from plausible.plots.canvas import INK, Display, cluster_colors, key, name_of
from plausible.plots.plane import two_features

FloatArray = NDArray[np.float64]


def hull(points: FloatArray) -> FloatArray:
    """Corners of the convex hull, the first one again at the end; all points if there are few."""
    try:
        corners = points[ConvexHull(points).vertices]
    except (QhullError, ValueError):  # fewer than three, or on a line
        corners = points[np.lexsort(points.T[::-1])][[0, -1]] if len(points) else points
    return np.vstack([corners, corners[:1]])


def partition_of(estimator: Any) -> CredalPartition:
    """What a fitted clustering found."""
    partition = getattr(estimator, "partition_", None)
    if not isinstance(partition, CredalPartition):
        raise InputError(
            "estimator should be a fitted clustering with partition_",
            f"{type(estimator).__name__} has none",
            "fit it first, on items in memory",
            parameter="estimator",
        )
    return partition


@dataclass
class CredalPartitionDisplay(Display):
    """Points with their clusters: what is sure, what is possible, and what belongs nowhere.

    Parameters
    ----------
    points : array (n, 2)
    partition : CredalPartition of the points
    centers : array (c, 2), optional

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure, after `plot`

    Examples
    --------
    >>> from plausible.cluster import ECM
    >>> X = [[0.0, 0], [0, 1], [1, 0], [1, 1], [8, 8], [8, 9], [9, 8], [4.5, 4.5], [14, -4]]
    >>> model = ECM(2, outlier_distance=5, random_state=0).fit(X)
    >>> display = CredalPartitionDisplay.from_estimator(model, X)
    >>> display.n_outliers
    1
    """

    points: FloatArray
    partition: CredalPartition
    centers: FloatArray | None = None

    @classmethod
    def from_estimator(cls, estimator: Any, X: ArrayLike, features: Sequence[int] = (0, 1)) -> Self:
        """What a fitted clustering found about the items it was fitted on.

        Parameters
        ----------
        estimator : clustering with `partition_`
        X : array-like (n, d), the items in their order
        features : two numbers of columns
        """
        partition = partition_of(estimator)
        centers = getattr(estimator, "cluster_centers_", None)
        chosen = None if centers is None else two_features(centers, features)
        return cls.from_partition(partition, X, features, chosen)

    @classmethod
    def from_partition(
        cls,
        partition: CredalPartition,
        X: ArrayLike,
        features: Sequence[int] = (0, 1),
        centers: FloatArray | None = None,
    ) -> Self:
        """A partition and the items that it is of."""
        check_kind(partition, CredalPartition, "partition", "give partition_ of a clustering")
        points = two_features(X, features)
        if len(points) != len(partition):
            raise InputError(
                f"X should hold the {len(partition)} items of the partition",
                f"has {len(points)} rows",
                "give the items that were clustered, in their order",
                parameter="X",
            )
        return cls(points, partition, centers)

    @property
    def n_outliers(self) -> int:
        """Items that belong nowhere."""
        return int(self.partition.outliers().sum())

    def plot(self, ax: Any = None, *, hulls: bool = True, legend: bool = True) -> Self:
        """Draw points, hulls of lower (full lines) and upper approximations (dashed), outliers.

        Parameters
        ----------
        ax : matplotlib axes, optional
        hulls, legend : bool
        """
        ax = self._open(ax)
        lower, upper = self.partition.rough()
        colors = cluster_colors(self.partition.n_clusters)
        doubtful = upper.sum(axis=1) > 1
        bets = self.partition.fuzzy() @ colors
        for k, color in enumerate(colors):
            inside = self.points[lower[:, k]]
            name = key(f"cluster {name_of(self.partition.classes[k])}")
            ax.plot(*inside.T, "o", color=color, ms=4, label=name)
            if hulls and len(inside):
                ax.plot(*hull(inside).T, "-", color=color, lw=1.2)
            if hulls and upper[:, k].any():
                ax.plot(*hull(self.points[upper[:, k]]).T, "--", color=color, lw=1.0, alpha=0.7)
        if doubtful.any():
            between = self.points[doubtful]
            ax.scatter(*between.T, marker="s", s=22, facecolors="none", edgecolors=bets[doubtful])
            ax.plot([], [], "s", mfc="none", color=INK, ms=4, label="between clusters")
        if self.n_outliers:
            ax.plot(*self.points[self.partition.outliers()].T, "x", color="k", label="outlier")
        if self.centers is not None:
            ax.plot(*self.centers.T, "*", color="k", mfc="w", ms=11, label="center")
        if legend:
            ax.legend(frameon=False, fontsize="small", loc="best")
        return self
