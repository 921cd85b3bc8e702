"""Curves that tell whether confidence is deserved, what refusing gains, and whether sets hold."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plausible.base import believe
from plausible.belief import Decision
from plausible.checks import check_number
from plausible.metrics import (
    CalibrationCurve,
    RejectionCurve,
    SetSizes,
    calibration_curve,
    rejection_curve,
    set_sizes,
)
from plausible.plots.canvas import (
    INK,
    QUIET,
    Display,
    add_legend,
    cluster_colors,
    key,
    lighter,
    name_of,
    percent,
    tidy,
)

FloatArray = NDArray[np.float64]


class CurveDisplay(Display):
    """A curve of how right probabilities are, with a name for the legend."""

    from_predictions: Any  # what a curve is made of, each has its own

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: ArrayLike, y: Any, *, name: str | None = None, **options: Any
    ) -> Self:
        """A fitted classifier against labels of any kind.

        Parameters
        ----------
        estimator : fitted classifier
        X : array-like (n, d)
        y : Labels, or all that `as_labels` takes
        name : str, optional
            By default that of the class.
        **options : of `from_predictions`
        """
        name = type(estimator).__name__ if name is None else name
        return cls.from_predictions(y, believe(estimator, X), name=name, **options)


@dataclass
class CalibrationDisplay(CurveDisplay):
    """Share of right answers against confidence; on the diagonal, 0.9 is really 0.9.

    Below the diagonal a model is too sure, above it not sure enough.

    Parameters
    ----------
    curve : CalibrationCurve
    name : str, optional

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure, after `plot`

    Examples
    --------
    >>> from plausible.labels import Labels
    >>> truth = Labels.from_doubt(["owl", "wren", "owl"], doubt=[0.0, 0.5, 0.0])
    >>> p = [[0.9, 0.1], [0.9, 0.1], [0.4, 0.6]]
    >>> display = CalibrationDisplay.from_predictions(truth, p)
    >>> display.curve.confidence, display.curve.right.round(3)
    (array([0.6, 0.9]), array([0.   , 0.667]))
    """

    curve: CalibrationCurve
    name: str | None = None

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        prediction: Any,
        *,
        n_bins: int = 10,
        strategy: str = "uniform",
        sample_weight: ArrayLike | None = None,
        classes: Any = None,
        name: str | None = None,
    ) -> Self:
        """Probabilities against truth of any kind: see `plausible.metrics.calibration_curve`.

        Parameters
        ----------
        y_true : Labels, or all that `as_labels` takes
        prediction : Beliefs, Labels, data frame or array-like (n, K) of probabilities, SparseMasses
        n_bins, strategy, sample_weight, classes
            As for `calibration_curve`.
        name : str, optional
            For the legend.
        """
        found = calibration_curve(y_true, prediction, n_bins, sample_weight, classes, strategy)
        return cls(found, name)

    def plot(self, ax: Any = None, *, color: Any = None) -> Self:
        """Draw a dot for each bin, whose area is its weight, and the diagonal.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Several curves can share axes; they take the colors in turn.
        color : color of matplotlib, optional
        """
        ax = self._open(ax, (4.6, 4.4))
        color = next_color(ax) if color is None else color
        if not any(line.get_label() == "perfect" for line in ax.lines):
            ax.plot([0.0, 1.0], [0.0, 1.0], "--", color=QUIET, lw=1.0, label="perfect")
        curve, error = self.curve, f"error {self.curve.error:.3f}"
        label = error if self.name is None else f"{name_of(self.name, 40)}, {error}"
        ax.plot(curve.confidence, curve.right, "-", color=color, lw=1.4, label=key(label))
        areas = 12.0 + 180.0 * curve.weight / curve.weight.sum()
        ax.scatter(curve.confidence, curve.right, s=areas, color=color, alpha=0.8, zorder=3)
        ax.set(xlim=(0.0, 1.02), ylim=(0.0, 1.02), aspect="equal")
        ax.set_xlabel("confidence")
        ax.set_ylabel("share of right answers")
        tidy(ax)
        add_legend(ax)
        return self


@dataclass
class RejectionDisplay(CurveDisplay):
    """Accuracy of what is answered against the share that is refused, the least sure first.

    Parameters
    ----------
    curve : RejectionCurve
    name : str, optional

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure, after `plot`

    Examples
    --------
    >>> display = RejectionDisplay.from_predictions(["a", "b"], [[0.9, 0.1], [0.6, 0.4]])
    >>> display.curve.area, display.at(0.3)
    (0.75, (0.5, 1.0))
    """

    curve: RejectionCurve
    name: str | None = None

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        prediction: Any,
        *,
        sample_weight: ArrayLike | None = None,
        classes: Any = None,
        name: str | None = None,
    ) -> Self:
        """Probabilities against truth of any kind: see `plausible.metrics.rejection_curve`.

        Parameters
        ----------
        y_true : Labels, or all that `as_labels` takes
        prediction : Beliefs, Labels, data frame or array-like (n, K) of probabilities, SparseMasses
        sample_weight, classes
            As for `rejection_curve`.
        name : str, optional
            For the legend.
        """
        return cls(rejection_curve(y_true, prediction, sample_weight, classes), name)

    def at(self, reject: float) -> tuple[float, float] | None:
        """Share refused and accuracy where refusing costs so much; None if all is refused.

        Parameters
        ----------
        reject : float in [0, 1]
            Loss of a refusal, where a wrong answer costs 1: answers of a confidence below
            ``1 - reject`` are refused.
        """
        cost = check_number(reject, "reject", 0.0, 1.0)
        kept = np.flatnonzero(self.curve.threshold >= 1.0 - cost - 1e-12)
        if not len(kept):
            return None
        return float(self.curve.rejected[kept[0]]), float(self.curve.accuracy[kept[0]])

    def plot(self, ax: Any = None, *, reject: float | None = None, color: Any = None) -> Self:
        """Draw the curve, whose area is the mean accuracy over all shares of refusals.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Several curves can share axes; they take the colors in turn.
        reject : float, optional
            Loss of a refusal, whose place on the curve is marked.
        color : color of matplotlib, optional
        """
        ax = self._open(ax, (5.0, 3.8))
        color = next_color(ax) if color is None else color
        curve, area = self.curve, f"area {self.curve.area:.3f}"
        label = area if self.name is None else f"{name_of(self.name, 40)}, {area}"
        x, y = np.append(curve.rejected, 1.0), np.append(curve.accuracy, curve.accuracy[-1])
        ax.plot(x, y, "-", color=color, lw=1.6, drawstyle="steps-post", label=key(label))
        point = None if reject is None else self.at(reject)
        if point is not None:
            ax.plot(*point, "o", color=color, mec=INK, ms=8, zorder=3,
                    label=f"at a loss of {reject:g}: {percent(point[0])} refused")  # fmt: skip
        ax.set_xlim(0.0, 1.0)
        ax.set_ylim(max(min(lowest(ax) - 0.03, 0.9), 0.0), 1.01)
        ax.set_xlabel("share refused")
        ax.set_ylabel("accuracy of the rest")
        tidy(ax)
        add_legend(ax, loc="lower right")
        return self


@dataclass
class SetSizeDisplay(Display):
    """How large answers are, and how many of each size hold the truth.

    Parameters
    ----------
    sizes : SetSizes

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure, after `plot`

    Examples
    --------
    >>> sets = [[True, False, False], [True, True, False], [False, True, True]]
    >>> display = SetSizeDisplay.from_predictions(["a", "b", "a"], sets, classes=["a", "b", "c"])
    >>> display.sizes.share.round(2), display.sizes.coverage
    (array([0.  , 0.33, 0.67, 0.  ]), array([nan, 1. , 0.5, nan]))
    """

    sizes: SetSizes

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: ArrayLike | Decision,
        *,
        sample_weight: ArrayLike | None = None,
        classes: Any = None,
    ) -> Self:
        """Sets against truth of any kind: see `plausible.metrics.set_sizes`.

        Parameters
        ----------
        y_true : Labels, or all that `as_labels` takes
        y_pred : bool array (n, K) of sets, array-like (n,) of classes, or Decision
        sample_weight, classes
            As for `set_sizes`.
        """
        return cls(set_sizes(y_true, y_pred, sample_weight, classes))

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: Any,
        *,
        rule: str = "interval_dominance",
        reject: float | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Sets that a fitted classifier cannot rule out, against labels of any kind.

        Parameters
        ----------
        estimator : fitted classifier
        X : array-like (n, d)
        y : Labels, or all that `as_labels` takes
        rule, reject
            As for `plausible.belief.decide`.
        sample_weight : array-like (n,), optional
        """
        decision = believe(estimator, X).decide(rule, reject=reject)
        return cls.from_predictions(y, decision, sample_weight=sample_weight)

    def plot(self, ax: Any = None, *, legend: bool = True) -> Self:
        """Draw a bar for each size, its lower part for the answers that hold the truth.

        Parameters
        ----------
        ax : matplotlib axes, optional
        legend : bool
        """
        ax = self._open(ax, (5.0, 3.6))
        found, color = self.sizes, cluster_colors(1)[0]
        last = int(np.flatnonzero(found.share).max(initial=1))
        first = 0 if found.share[0] > 0 else 1
        size, share = found.size[first : last + 1], found.share[first : last + 1]
        coverage = np.nan_to_num(found.coverage[first : last + 1])
        ax.bar(size, share, color=lighter(color, 0.65), width=0.7, label="missed")
        ax.bar(size, share * coverage, color=color, width=0.7, label="holds the truth")
        for x, height, part in zip(size, share, found.coverage[first : last + 1], strict=True):
            if height > 0 and not np.isnan(part):
                ax.annotate(percent(part), (x, height), xytext=(0, 2), ha="center",
                            textcoords="offset points", fontsize="small", color=INK)  # fmt: skip
        ax.set_xticks(size, ["refused" if k == 0 else str(k) for k in size])
        ax.set_xlabel("classes in the answer")
        ax.set_ylabel("share of answers")
        ax.set_ylim(0.0, 1.18 * max(share.max(initial=0.0), 1e-9))
        ax.set_title(
            f"coverage {percent(found.overall)}, mean size {found.mean_size:.2f}", fontsize="medium"
        )
        tidy(ax)
        if legend:
            add_legend(ax)
        return self


def lowest(ax: Any) -> float:
    """The lowest accuracy of the curves on axes, but for the last few answers, which say little."""
    curves = [line.get_data() for line in ax.lines if line.get_drawstyle() == "steps-post"]
    return min(float(np.min(np.asarray(y)[np.asarray(x) <= 0.95], initial=1.0)) for x, y in curves)


def next_color(ax: Any) -> Any:
    """The next of our colors, by the number of curves that axes hold."""
    colors = cluster_colors(6)
    drawn = [line for line in ax.lines if line.get_linestyle() == "-"]
    return colors[len(drawn) % len(colors)]
