"""The plane of two features: what is drawn in it, and the places around items."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible.base import names_of_columns
from plausible.checks import as_floats, as_list, check_number, check_whole, is_whole
from plausible.errors import InputError
from plausible.labels import Labels, as_labels
from plausible.plots.canvas import QUIET, cluster_colors, key, name_of

FloatArray = NDArray[np.float64]

MOST_PLACES = 2000  # along each axis


def two_features(X: Any, features: Sequence[int]) -> FloatArray:
    """The two features (n, 2) that are drawn."""
    table = as_floats(X, "X")
    chosen = as_list(features, "features", "numbers of columns")
    fits = table.ndim == 2 and len(chosen) == 2 and all(map(is_whole, chosen))
    fits = fits and min(chosen) >= 0 and max(chosen) < table.shape[1]
    if not fits:
        raise InputError(
            "features should be the numbers of two columns of X",
            f"are {chosen}, and X has shape {table.shape}",
            "give (0, 1) for the first two",
            parameter="features",
            value=features,
        )
    return table[:, chosen]


def only_two_features(X: Any) -> FloatArray:
    """Items (n, 2) that are in the plane."""
    points = as_floats(X, "X")
    if points.ndim != 2 or points.shape[1] != 2 or not len(points):
        raise InputError(
            "X should have two features, which span the plane",
            f"has shape {points.shape}",
            "fit the model to two columns, and give these",
            parameter="X",
            value=points.shape,
        )
    if not np.isfinite(points).all():
        raise InputError(
            "X should be finite to be drawn",
            "it holds NaN or infinity",
            "leave out these items",
            parameter="X",
        )
    return points


def axis_names(X: Any, features: Sequence[int] = (0, 1)) -> tuple[str, str]:
    """Names of two features, where X knows them."""
    names = names_of_columns(X)
    if names is None:
        return "", ""
    return name_of(names[features[0]]), name_of(names[features[1]])


def lattice(
    points: FloatArray, resolution: int, margin: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Coordinates (g,) and (g,) around points, and all places (g * g, 2), y along the rows."""
    check_whole(resolution, "grid_resolution", 2, MOST_PLACES)
    margin = check_number(margin, "margin", 0.0)
    low, high = points.min(axis=0), points.max(axis=0)
    edge = margin * np.where(high > low, high - low, 1.0)
    x, y = (np.linspace(a - e, b + e, resolution) for a, b, e in zip(low, high, edge, strict=True))
    return x, y, np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)


def labels_of_points(y: Any, n_points: int, classes: NDArray[Any]) -> Labels | None:
    """Labels of the points on the classes of a model."""
    if y is None:
        return None
    labels = as_labels(y)
    if set(labels.classes.tolist()) <= set(classes.tolist()):
        labels = labels.reorder(classes.tolist())
    if len(labels) != n_points:
        raise InputError(
            f"y should have a label for each of the {n_points} rows of X",
            f"has {len(labels)}",
            "give the labels of these items",
            parameter="y",
        )
    return labels


def draw_points(ax: Any, points: FloatArray, labels: Labels | None, classes: Sequence[Any]) -> None:
    """Items as dots in the mixed colors of the classes that their labels leave; gray if none."""
    if labels is None:
        ax.plot(*points.T, ".", color=QUIET, ms=5, mec="w", mew=0.4, zorder=3)
        return
    known = ~labels.is_unknown | (labels.n_classes == 1)
    shares = labels.contour / labels.contour.sum(axis=1, keepdims=True)
    colors = np.clip(shares @ cluster_colors(labels.n_classes), 0.0, 1.0)
    if not known.all():
        ax.scatter(*points[~known].T, s=16, facecolors="w", edgecolors=QUIET, linewidths=0.8,
                   zorder=3, label="no label")  # fmt: skip
    ax.scatter(*points[known].T, s=20, c=colors[known], edgecolors="w", linewidths=0.5, zorder=4)
    for name, color in zip(classes, cluster_colors(len(classes)), strict=True):
        ax.plot([], [], "o", color=color, ms=5, label=key(name_of(name)))
