r"""Labels: where they lie in the triangle of three classes, and of what kinds they are.

A contour :math:`(pl_1, pl_2, pl_3)` is drawn at the point whose barycentric coordinates are
:math:`pl_k / \sum_l pl_l`: hard labels in the corners, sets of two classes in the middle of a side,
labels that say nothing in the center, doubted labels on the way from a corner to the center.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plausible.base import believe
from plausible.checks import counted
from plausible.errors import InputError
from plausible.labels import KINDS, as_labels, kinds_of
from plausible.metrics import read_weights
from plausible.plots.canvas import (
    INK,
    QUIET,
    Display,
    add_legend,
    cluster_colors,
    lighter,
    name_of,
    percent,
    tidy,
)

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])


@dataclass
class LabelTriangleDisplay(Display):
    """Labels on three classes as points of a triangle.

    Corners are hard labels, the center says nothing. Labels at one place are one dot, whose area is
    their weight.

    Parameters
    ----------
    shares : array (m, 3)
        Barycentric coordinates: plausibilities divided by their sum.
    weight : array (m,)
        Number of labels at each place, or the sum of their weights.
    kind : int array (m,)
        What kind of label it is: 0 one class, 1 a set, 2 degrees, 3 probabilities, 4 nothing.
    classes : array (3,)

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure, after `plot`

    Examples
    --------
    >>> from plausible.labels import Labels
    >>> labels = Labels.from_sets([{"owl"}, {"owl", "kite"}, {"owl"}, None, {"wren"}])
    >>> display = LabelTriangleDisplay.from_labels(labels)
    >>> display.shares.round(2), display.weight
    (array([[0.  , 0.  , 1.  ],
           [0.  , 1.  , 0.  ],
           [0.33, 0.33, 0.33],
           [0.5 , 0.5 , 0.  ]]), array([1., 2., 1., 1.]))
    """

    shares: FloatArray
    weight: FloatArray
    kind: IntArray
    classes: NDArray[Any]

    @classmethod
    def from_labels(cls, labels: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Labels on three classes.

        Parameters
        ----------
        labels : Labels, or all that `as_labels` takes
        sample_weight : array-like (n,), optional
        """
        given = as_labels(labels)
        if given.n_classes != 3:
            raise InputError(
                "A triangle should be of labels on three classes",
                f"there are {counted(given.n_classes, 'class', 'classes')}",
                "draw a PlausibilityDisplay",
                parameter="labels",
                value=given.n_classes,
            )
        weights = read_weights(sample_weight, len(given))
        kinds = kinds_of(given.scaled(), given.is_probability)
        shares = given.contour / given.contour.sum(axis=1, keepdims=True)
        keys = np.column_stack([shares.round(9), kinds])
        places, first, back = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        weight = np.bincount(back.ravel(), weights, len(places)).astype(np.float64)
        return cls(shares[first], weight, kinds[first], given.classes)

    @classmethod
    def from_estimator(cls, estimator: Any, X: ArrayLike) -> Self:
        """What a fitted classifier of three classes believes about items.

        Parameters
        ----------
        estimator : fitted classifier
        X : array-like (n, d)
        """
        return cls.from_labels(believe(estimator, X).labels())

    @property
    def points(self) -> FloatArray:
        """Where the labels are drawn (m, 2)."""
        return np.asarray(self.shares @ CORNERS)

    def plot(self, ax: Any = None, *, legend: bool = True, size: float = 400.0) -> Self:
        """Draw the triangle, its corners by name, and a dot for labels at each place.

        Parameters
        ----------
        ax : matplotlib axes, optional
        legend : bool
        size : float
            Area of the largest dot, in points.
        """
        ax = self._open(ax)
        draw_triangle(ax, self.classes)
        colors = kind_colors()
        areas = 18.0 + (size - 18.0) * self.weight / max(self.weight.max(initial=0.0), 1e-300)
        for k, kind in enumerate(KINDS):
            mine = self.kind == k
            if mine.any():
                ax.scatter(*self.points[mine].T, s=areas[mine], color=colors[k], alpha=0.75,
                           edgecolors="w", linewidths=0.6, zorder=2)  # fmt: skip
                ax.plot([], [], "o", color=colors[k], ms=6, label=kind)
        ax.set_aspect("equal")
        ax.set_axis_off()
        ax.margins(0.12)
        if legend:
            add_legend(ax, loc="upper left", bbox_to_anchor=(0.0, 1.0))
        return self


def kind_colors() -> FloatArray:
    """A color (5, 3) for each kind of label; gray for those that say nothing."""
    return np.vstack([cluster_colors(len(KINDS) - 1), np.full(3, 0.6)])


def draw_triangle(ax: Any, classes: NDArray[Any]) -> None:
    """The sides, the ways from the corners to the center, and the names of the corners."""
    ax.plot(*CORNERS[[0, 1, 2, 0]].T, "-", color=QUIET, lw=1.0, zorder=1)
    center = CORNERS.mean(axis=0)
    places = [("right", "top", -6), ("left", "top", -6), ("center", "bottom", 8)]
    for corner, name, (side, above, apart) in zip(CORNERS, classes, places, strict=True):
        ax.plot(*np.array([corner, center]).T, ":", color=QUIET, lw=0.8, zorder=1)
        ax.annotate(name_of(name), corner, ha=side, va=above, xytext=(0, apart),
                    textcoords="offset points", color=INK)  # fmt: skip


@dataclass
class LabelKindsDisplay(Display):
    """How many labels name one class, name a set, give degrees or probabilities, or say nothing.

    Parameters
    ----------
    kinds : tuple of str
    count : array
        Number of labels of each kind, or the sum of their weights.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure, after `plot`

    Examples
    --------
    >>> from plausible.labels import Labels
    >>> labels = Labels.from_sets([{"owl"}, {"owl", "kite"}, {"owl"}, None, {"wren"}])
    >>> LabelKindsDisplay.from_labels(labels).share
    array([0.6, 0.2, 0. , 0. , 0.2])
    """

    kinds: tuple[str, ...]
    count: FloatArray

    @classmethod
    def from_labels(cls, labels: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Labels of any kind.

        Parameters
        ----------
        labels : Labels, or all that `as_labels` takes
        sample_weight : array-like (n,), optional
        """
        given = as_labels(labels)
        weights = read_weights(sample_weight, len(given))
        kinds = kinds_of(given.scaled(), given.is_probability)
        return cls(KINDS, np.bincount(kinds, weights, minlength=len(KINDS)).astype(np.float64))

    @property
    def share(self) -> FloatArray:
        """Share of each kind."""
        return self.count / max(self.count.sum(), np.finfo(np.float64).tiny)

    def plot(self, ax: Any = None) -> Self:
        """Draw a bar for each kind that occurs, with its number and share.

        Parameters
        ----------
        ax : matplotlib axes, optional
        """
        here = np.flatnonzero(self.count)
        ax = self._open(ax, (5.0, 0.9 + 0.42 * max(len(here), 1)))
        colors = kind_colors()[here]
        places = np.arange(len(here))
        ax.barh(places, self.share[here], color=lighter(colors, 0.15), height=0.62)
        for y, k in zip(places, here, strict=True):
            words = f" {self.count[k]:,.6g} ({percent(self.share[k])})"
            ax.text(self.share[k], y, words, va="center", color=INK, fontsize="small")
        ax.set_yticks(places, [self.kinds[k] for k in here])
        ax.invert_yaxis()
        ax.set_xlim(0.0, 1.35 * max(self.share.max(), 1e-9))
        ax.set_xticks([tick for tick in ax.get_xticks() if 0 <= tick <= 1])
        ax.set_xlabel("share of the labels")
        tidy(ax)
        return self
