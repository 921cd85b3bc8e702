r"""Gaussian mixtures: their components as ellipses.

A component with the mean :math:`\mu` and the covariance :math:`\Sigma` of two features holds the
share `level` of its items within :math:`(x - \mu)^T \Sigma^{-1} (x - \mu) \le \chi^2_2(level)`. Of
more features two are drawn, which are Gaussian again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plausible.checks import as_floats, check_number
from plausible.errors import InputError
from plausible.labels import Labels
from plausible.plots.canvas import Display, add_legend, cluster_colors, key, lighter, name_of
from plausible.plots.plane import axis_names, draw_points, labels_of_points, two_features

FloatArray = NDArray[np.float64]


@dataclass
class MixtureDisplay(Display):
    """Components of a mixture as ellipses that hold a share of their items.

    Parameters
    ----------
    means : array (M, 2)
    covariances : array (M, 2, 2)
    weights : array (M,)
    owner : int array (M,)
        Number of the class of each component.
    classes : array (K,)
    level : float
        Share of the items of a component within its ellipse.
    points : array (n, 2) or None
    labels : Labels or None
    feature_names : two names

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure, after `plot`

    Examples
    --------
    >>> from plausible.models import GaussianMixtureClassifier
    >>> X = [[0.0, 0], [0, 1], [1, 0], [1, 1], [4, 4], [4, 5], [5, 4], [5, 5]]
    >>> model = GaussianMixtureClassifier("tied", random_state=0).fit(X, list("aaaabbbb"))
    >>> display = MixtureDisplay.from_estimator(model, X)
    >>> display.means, display.axes_of_ellipses()[0].round(2)  # widths and heights
    (array([[0.5, 0.5],
           [4.5, 4.5]]), array([[2.45, 2.45],
           [2.45, 2.45]]))
    """

    means: FloatArray
    covariances: FloatArray
    weights: FloatArray
    owner: NDArray[np.int64]
    classes: NDArray[Any]
    level: float = 0.95
    points: FloatArray | None = None
    labels: Labels | None = None
    feature_names: tuple[str, str] = ("", "")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike | None = None,
        y: Any = None,
        *,
        features: Sequence[int] = (0, 1),
        level: float = 0.95,
    ) -> Self:
        """A fitted mixture or discriminant analysis, also scikit-learn's `GaussianMixture`.

        Parameters
        ----------
        estimator : fitted estimator with `means_` and `covariances_`
        X : array-like (n, d), optional
            Items that are drawn as well.
        y : Labels, or all that `as_labels` takes, optional
            Labels of the items.
        features : two numbers of columns
        level : float in (0, 1)
            Share of the items of a component within its ellipse.
        """
        share = check_number(level, "level", 0.0, 1.0)
        if not hasattr(estimator, "means_") or not hasattr(estimator, "covariances_"):
            raise InputError(
                "estimator should be a fitted mixture with means_ and covariances_",
                f"{type(estimator).__name__} lacks one of them",
                "fit it first, or give a GaussianMixtureClassifier",
                parameter="estimator",
            )
        means = np.asarray(estimator.means_, dtype=np.float64)
        kept = np.isfinite(means).all(axis=1)
        tables = full_covariances(estimator.covariances_, *means.shape)
        pair = two_features(means, features)
        classes, owner = _owners(estimator, len(means))
        points = None if X is None else two_features(X, features)
        given = None if points is None else labels_of_points(y, len(points), classes)
        return cls(
            pair[kept],
            tables[kept][:, list(features)][:, :, list(features)],
            np.asarray(getattr(estimator, "weights_", np.full(len(means), 1 / len(means))))[kept],
            owner[kept],
            classes,
            share,
            points,
            given,
            axis_names(X, features),
        )

    def axes_of_ellipses(self) -> tuple[FloatArray, FloatArray]:
        """Widths and heights (M, 2) of the ellipses, and the angle (M,) of the width in degrees.

        Examples
        --------
        >>> one = MixtureDisplay(np.zeros((1, 2)), np.diag([4.0, 1.0])[None], np.ones(1),
        ...                      np.zeros(1, dtype=int), np.array(["a"]), level=0.5)
        >>> one.axes_of_ellipses()[0].round(3)
        array([[4.71 , 2.355]])
        """
        radius = np.sqrt(-2.0 * np.log1p(-self.level))  # chi squared with two degrees of freedom
        values, vectors = np.linalg.eigh(self.covariances)
        sizes = 2.0 * radius * np.sqrt(np.maximum(values[:, ::-1], 0.0))
        angle = np.degrees(np.arctan2(vectors[:, 1, 1], vectors[:, 0, 1]))
        return sizes, angle

    def plot(self, ax: Any = None, *, legend: bool = True) -> Self:
        """Draw an ellipse and a cross for each component in the color of its class, and the items.

        Parameters
        ----------
        ax : matplotlib axes, optional
        legend : bool
        """
        from matplotlib.patches import Ellipse

        ax = self._open(ax)
        colors = cluster_colors(len(self.classes))
        if self.points is not None:
            draw_points(ax, self.points, self.labels, self.classes.tolist())
        sizes, angles = self.axes_of_ellipses()
        for center, size, angle, k in zip(self.means, sizes, angles, self.owner, strict=True):
            ax.add_patch(
                Ellipse(center, *size, angle=angle, fc=(*lighter(colors[k], 0.5), 0.25),
                        ec=colors[k], lw=1.6, zorder=2)
            )  # fmt: skip
            ax.plot(*center, "+", color=colors[k], ms=9, mew=2.0, zorder=5)
        if self.labels is None:
            for k in np.unique(self.owner):
                name = key(name_of(self.classes[k]))
                ax.plot([], [], "+", color=colors[k], ms=9, mew=2.0, label=name)
        ax.autoscale_view()
        ax.set_xlabel(self.feature_names[0])
        ax.set_ylabel(self.feature_names[1])
        if legend:
            add_legend(ax)
        return self


def full_covariances(given: Any, n_components: int, n_features: int) -> FloatArray:
    """Covariances (M, d, d) of any of scikit-learn's shapes."""
    table = as_floats(given, "covariances_")
    shape = n_components, n_features, n_features
    if table.ndim == 3:
        return table
    if table.shape == (n_features, n_features) and (
        n_components != n_features or np.allclose(table, table.T, equal_nan=True)
    ):
        return np.broadcast_to(table, shape)
    if table.ndim == 1:
        table = np.repeat(table[:, None], n_features, axis=1)
    return table[:, :, None] * np.eye(n_features)


def _owners(estimator: Any, n_components: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Classes (K,), and the number of the class of each component."""
    if not hasattr(estimator, "classes_"):
        return np.arange(n_components), np.arange(n_components)
    classes = np.asarray(estimator.classes_)
    own = getattr(estimator, "component_classes_", classes)
    place = {name: k for k, name in enumerate(classes.tolist())}
    return classes, np.array([place[name] for name in np.asarray(own).tolist()])
