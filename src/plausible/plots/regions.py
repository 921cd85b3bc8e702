"""Decisions in the plane: which class is answered where, where none is, and where all is new."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.pipeline import Pipeline

from plausible.base import believe
from plausible.checks import check_number
from plausible.errors import InputError
from plausible.labels import Labels
from plausible.plots.canvas import (
    INK,
    REFUSED,
    Display,
    add_legend,
    cluster_colors,
    key,
    lighter,
    name_of,
)
from plausible.plots.plane import (
    axis_names,
    draw_points,
    labels_of_points,
    lattice,
    only_two_features,
)

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]

FAINT = "#a6a6a6"  # of hatches


@dataclass
class DecisionRegionDisplay(Display):
    """What a classifier decides at each point of the plane: a class, a set, or a refusal.

    Parameters
    ----------
    x, y : arrays (g,)
    chosen : bool array (g, g, K), with y along its first axis
        Classes that are answered; several for a set, none for a refusal.
    novel : bool array (g, g) or None
        Where an item would be unlike all that the classifier has seen.
    classes : array (K,)
    points : array (n, 2)
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
    >>> display = DecisionRegionDisplay.from_estimator(model, X, reject=0.1, grid_resolution=12)
    >>> display.share_refused > 0, display.decision[0, 0], display.decision[-1, -1]
    (True, np.int64(0), np.int64(1))
    """

    x: FloatArray
    y: FloatArray
    chosen: BoolArray
    novel: BoolArray | None
    classes: NDArray[Any]
    points: FloatArray
    labels: Labels | None = None
    feature_names: tuple[str, str] = ("", "")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: Any = None,
        *,
        rule: str = "pignistic",
        reject: float | None = None,
        loss: Any = None,
        novelty: float | None = None,
        grid_resolution: int = 150,
        margin: float = 0.15,
    ) -> Self:
        """Decisions of a fitted classifier of two features.

        Parameters
        ----------
        estimator : fitted classifier
        X : array-like (n, 2)
            Items, which are drawn and around which the plane is cut.
        y : Labels, or all that `as_labels` takes, optional
            Labels of the items.
        rule, reject, loss
            As for `plausible.belief.decide`; `loss` has a row for each class.
        novelty : float in [0, 1], optional
            Mark where `score_novelty` of the classifier is above ``1 - novelty``.
        grid_resolution : int, points along each axis
        margin : float, of the extent of the items
        """
        points = only_two_features(X)
        x, y_axis, places = lattice(points, grid_resolution, margin)
        beliefs = believe(estimator, places)
        options = {} if loss is None else {"loss": loss}
        decision = beliefs.decide(rule, reject=reject, **options)
        n_classes = len(beliefs.classes)
        n_acts = decision.chosen.shape[-1] - decision.offers_refusal
        if n_acts != n_classes:
            raise InputError(
                "loss should have an act for each class, which regions show",
                f"there are {n_acts} acts and {n_classes} classes",
                "draw decisions between classes",
                parameter="loss",
            )
        chosen = decision.chosen[:, :n_classes]
        if decision.offers_refusal:  # as in scores, an answer that may be a refusal is one
            chosen = chosen & ~decision.chosen[:, -1:]
        shape = len(y_axis), len(x)
        return cls(
            x,
            y_axis,
            chosen.reshape(*shape, n_classes),
            _where_new(estimator, places, novelty, shape),
            beliefs.classes,
            points,
            labels_of_points(y, len(points), beliefs.classes),
            axis_names(X),
        )

    @property
    def decision(self) -> NDArray[np.int64]:
        """Number (g, g) of the class that is answered; -1 for a refusal, -2 for several classes."""
        size = self.chosen.sum(axis=-1)
        single = self.chosen.argmax(axis=-1)
        return np.where(size == 0, -1, np.where(size > 1, -2, single))

    @property
    def share_refused(self) -> float:
        """Share of the places at which the classifier refuses."""
        return float((self.decision == -1).mean())

    @property
    def colors(self) -> FloatArray:
        """Colors (g, g, 3): those of the classes, mixed for sets; gray for refusals."""
        from matplotlib.colors import to_rgb

        size = self.chosen.sum(axis=-1, keepdims=True)
        mixed = self.chosen @ cluster_colors(len(self.classes)) / np.maximum(size, 1)
        pale = np.where(size > 1, lighter(mixed, 0.75), lighter(mixed, 0.6))
        return np.where(size > 0, pale, np.array(to_rgb(REFUSED)))

    def plot(self, ax: Any = None, *, legend: bool = True) -> Self:
        """Draw regions, their borders, hatches over refusals, sets and novelty, and the items.

        Parameters
        ----------
        ax : matplotlib axes, optional
        legend : bool
        """
        ax = self._open(ax, (5.6, 4.4))
        extent = (*_outer(self.x), *_outer(self.y))
        ax.imshow(self.colors, extent=extent, origin="lower", aspect="auto", zorder=0,
                  interpolation="nearest")  # fmt: skip
        decision = self.decision
        for k in np.unique(decision):
            if 0 < (decision == k).sum() < decision.size:
                ax.contour(self.x, self.y, decision == k, [0.5], colors=INK, linewidths=0.5)
        draw_points(ax, self.points, self.labels, self.classes.tolist())
        if self.labels is None:
            for name, color in zip(self.classes, cluster_colors(len(self.classes)), strict=True):
                ax.plot([], [], "s", color=lighter(color, 0.6), ms=8, label=key(name_of(name)))
        _hatch(ax, self, decision == -1, "////", "refused")
        _hatch(ax, self, decision == -2, "..", "several classes")
        if self.novel is not None:
            _hatch(ax, self, self.novel, "xxx", "new")
        ax.set_xlim(*_outer(self.x))
        ax.set_ylim(*_outer(self.y))
        ax.set_xlabel(self.feature_names[0])
        ax.set_ylabel(self.feature_names[1])
        if legend:
            add_legend(ax, loc="upper left", bbox_to_anchor=(1.0, 1.0))
        return self


def _where_new(
    estimator: Any, places: FloatArray, novelty: float | None, shape: tuple[int, int]
) -> BoolArray | None:
    """Where items would be new (g, g)."""
    if novelty is None:
        return None
    level = check_number(novelty, "novelty", 0.0, 1.0)
    if isinstance(estimator, Pipeline) and len(estimator) > 1:
        places, estimator = estimator[:-1].transform(places), estimator[-1]
    if not hasattr(estimator, "score_novelty"):
        raise InputError(
            "novelty should be asked of a classifier with score_novelty",
            f"{type(estimator).__name__} has none",
            "use GaussianMixtureClassifier or EvidentialNetworkClassifier, or leave it out",
            parameter="novelty",
        )
    return np.asarray(estimator.score_novelty(places) > 1.0 - level).reshape(shape)


def _outer(values: FloatArray) -> tuple[float, float]:
    """Where an image ends whose cells are around the values."""
    half = (values[1] - values[0]) / 2
    return float(values[0] - half), float(values[-1] + half)


def _hatch(
    ax: Any, display: DecisionRegionDisplay, where: BoolArray, hatch: str, name: str
) -> None:
    """Hatches over a part of the plane, with a key for the legend."""
    if not where.any():
        return
    from matplotlib.patches import Rectangle

    if where.all():
        (left, right), (low, high) = _outer(display.x), _outer(display.y)
        ax.fill_between([left, right], low, high, facecolor="none", hatch=hatch, edgecolor=FAINT,
                        lw=0.0, zorder=1)  # fmt: skip
    else:
        drawn = ax.contourf(display.x, display.y, where.astype(float), [0.5, 1.5], colors="none",
                            hatches=[hatch], zorder=1)  # fmt: skip
        drawn.set_edgecolor(FAINT)
        drawn.set_linewidth(0.0)
    face = REFUSED if name == "refused" else "none"
    corner = display.x[0], display.y[0]
    ax.add_patch(Rectangle(corner, 0.0, 0.0, fc=face, hatch=hatch, ec=FAINT, lw=0.0, label=name))
