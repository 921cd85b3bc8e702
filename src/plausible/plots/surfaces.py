"""Masses and plausibilities over the plane."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plausible.belief import plausibility
from plausible.checks import as_floats, as_list, check_option, is_whole, shown
from plausible.errors import InputError
from plausible.plots.canvas import Display
from plausible.plots.plane import lattice

FloatArray = NDArray[np.float64]


def mask_of(clusters: Iterable[int], n_clusters: int) -> int:
    """Bit mask of a set of clusters, given by their numbers."""
    members = as_list(clusters, "clusters", "numbers of clusters")
    if not all(is_whole(k) and 0 <= k < n_clusters for k in members):
        raise InputError(
            f"clusters should be numbers from 0 to {n_clusters - 1}",
            f"are {shown(members)}",
            "write [0, 1] for either of the first two, [] for none of them",
            parameter="clusters",
            value=clusters,
        )
    return int(sum({1 << int(k) for k in members}))


@dataclass
class MassSurfaceDisplay(Display):
    """The mass of a set of clusters, or its plausibility, at each point of the plane.

    Parameters
    ----------
    x, y : arrays (g,), and values : array (g, g), with y along its first axis
    name : what is drawn
    points : array (n, 2), optional

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure, after `plot`

    Examples
    --------
    >>> from plausible.cluster import ECM
    >>> X = [[0.0, 0], [0, 1], [1, 0], [1, 1], [8, 8], [8, 9], [9, 8], [4.5, 4.5], [14, -4]]
    >>> model = ECM(2, outlier_distance=5, random_state=0).fit(X)
    >>> surface = MassSurfaceDisplay.from_estimator(model, X, clusters=[], grid_resolution=20)
    >>> surface.name, bool(surface.values.max() > 0.8)  # far away, all mass is on the empty set
    ('mass of none', True)
    """

    x: FloatArray
    y: FloatArray
    values: FloatArray
    name: str
    points: FloatArray | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        clusters: Sequence[int] = (0,),
        kind: str = "mass",
        grid_resolution: int = 100,
        margin: float = 0.15,
    ) -> Self:
        """What a clustering with two features believes about new points.

        Parameters
        ----------
        estimator : fitted clustering with `predict_mass`
        X : array-like (n, 2)
            Items, which are drawn and around which the plane is cut.
        clusters : numbers of the clusters in the set; none for the empty set
        kind : {"mass", "plausibility"}
        grid_resolution : int, points along each axis
        margin : float, of the extent of the items
        """
        check_option(kind, ("mass", "plausibility"), "kind")
        points = as_floats(X, "X")
        if points.ndim != 2 or points.shape[1] != 2 or not hasattr(estimator, "predict_mass"):
            raise InputError(
                "A surface should be of a clustering of two features that places new items",
                f"X has shape {points.shape}, and {type(estimator).__name__} came",
                "use ECM on two columns",
                parameter="X",
            )
        x, y, places = lattice(points, grid_resolution, margin)
        masses = estimator.predict_mass(places)
        mask = mask_of(clusters, masses.n_classes)
        if kind == "mass":
            values = masses.values[:, masses.focal_sets == mask].sum(axis=1)
        else:
            values = plausibility(masses, [mask])[:, 0]
        words = "{" + ", ".join(str(int(k)) for k in clusters) + "}" if mask else "none"
        return cls(x, y, values.reshape(len(y), len(x)), f"{kind} of {words}", points)

    def plot(self, ax: Any = None, *, colorbar: bool = True, cmap: str = "viridis") -> Self:
        """Draw the surface in colors with lines at every tenth, and the items as dots.

        Parameters
        ----------
        ax : matplotlib axes, optional
        colorbar : bool
        cmap : name of a color map
        """
        ax = self._open(ax)
        levels = np.linspace(0.0, 1.0, 11)
        filled = ax.contourf(self.x, self.y, np.clip(self.values, 0, 1), levels=levels, cmap=cmap)
        ax.contour(self.x, self.y, self.values, levels=levels[1:-1], colors="w", linewidths=0.4)
        if self.points is not None:
            ax.plot(*self.points.T, ".", color="w", ms=4, mec="k", mew=0.4)
        ax.set_title(self.name)
        if colorbar:
            ax.figure.colorbar(filled, ax=ax)
        return self
