"""Matrices with numbers in their cells, and confusions."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plausible.base import believe
from plausible.belief import Decision
from plausible.checks import check_kind, check_whole, shown
from plausible.errors import InputError
from plausible.experts import Reliability
from plausible.metrics import most_confused, soft_confusion_matrix
from plausible.plots.canvas import INK, Display, name_of

FloatArray = NDArray[np.float64]


def draw_matrix(
    ax: Any,
    values: FloatArray,
    rows: Sequence[str],
    columns: Sequence[str],
    low: float,
    high: float,
) -> Any:
    """Cells shaded by their values, which stand in them unless there are very many."""
    drawn = ax.imshow(np.ma.masked_invalid(values), cmap="Blues", vmin=low, vmax=high)
    ax.set_xticks(range(len(columns)), columns, rotation=45, ha="right", rotation_mode="anchor")
    ax.set_yticks(range(len(rows)), rows)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    if values.size > 900:
        ax.figure.colorbar(drawn, ax=ax, shrink=0.8)
        return drawn
    middle = low + 0.55 * (high - low)
    for (i, j), value in np.ndenumerate(values):
        if not np.isnan(value):
            ax.text(j, i, in_cell(value), ha="center", va="center", fontsize="small",
                    color="w" if value > middle else INK)  # fmt: skip
    return drawn


def in_cell(value: float) -> str:
    """A number in few letters.

    Examples
    --------
    >>> in_cell(0.333), in_cell(12.0), in_cell(0.0), in_cell(1234.5)
    ('0.33', '12', '0', '1234')
    """
    if value == round(value) or abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}"


@dataclass
class ConfusionDisplay(Display):
    """Which classes are answered where others are true, by a model or by annotators.

    Parameters
    ----------
    matrix : array (K, K)
        Of true classes (rows) and answers (columns): counts, expected where truth is imprecise, or
        shares.
    classes : array (K,)
    normalize : {"true", "pred", "all"} or None
        Of what these are shares.
    title : str

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure, after `plot`

    Examples
    --------
    >>> from plausible.labels import Labels
    >>> truth = Labels.from_sets([{"owl"}, {"owl"}, {"kite"}, {"kite", "owl"}, {"wren"}])
    >>> ConfusionDisplay.from_predictions(truth, ["owl", "kite", "kite", "kite", "wren"]).matrix
    array([[1.5, 0. , 0. ],
           [1.5, 1. , 0. ],
           [0. , 0. , 1. ]])
    """

    matrix: FloatArray
    classes: NDArray[Any]
    normalize: str | None = None
    title: str = ""

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: ArrayLike | Decision,
        *,
        sample_weight: ArrayLike | None = None,
        classes: Any = None,
        normalize: str | None = None,
    ) -> Self:
        """Answers against truth of any kind: see `plausible.metrics.soft_confusion_matrix`.

        Parameters
        ----------
        y_true : Labels, or all that `as_labels` takes
        y_pred : array-like (n,) of classes, bool array (n, K) of sets, or Decision
        sample_weight, classes, normalize
            As for `soft_confusion_matrix`.
        """
        counts, names = soft_confusion_matrix(y_true, y_pred, sample_weight, classes, normalize)
        return cls(counts, names, normalize)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: Any,
        *,
        sample_weight: ArrayLike | None = None,
        normalize: str | None = None,
    ) -> Self:
        """Answers of a fitted classifier against labels of any kind.

        Parameters
        ----------
        estimator : fitted classifier
        X : array-like (n, d)
        y : Labels, or all that `as_labels` takes
        sample_weight, normalize
            As for `soft_confusion_matrix`.
        """
        found = believe(estimator, X)
        return cls.from_predictions(
            y, found.predicted, sample_weight=sample_weight, normalize=normalize,
            classes=found.classes,
        )  # fmt: skip

    @classmethod
    def from_reliability(cls, reliability: Reliability, annotator: Any = None) -> Self:
        """Probabilities of what an annotator says when each class is true.

        Parameters
        ----------
        reliability : Reliability
        annotator : name, optional
            By default the mean of all annotators by their number of answers.
        """
        check_kind(reliability, Reliability, "reliability", "write annotations.reliability('full')")
        names = reliability.annotators.tolist()
        if annotator is None:
            share = reliability.n_answers / max(reliability.n_answers.sum(), 1e-300)
            matrix = np.tensordot(share, reliability.confusion, 1)
            return cls(matrix, reliability.classes, "true", "all annotators")
        place = {name: k for k, name in enumerate(names)}
        if not isinstance(annotator, Hashable) or annotator not in place:
            raise InputError(
                "annotator should be the name of one who answered",
                f"{shown(annotator)} was given",
                f"name one of {shown(names, 120)}",
                parameter="annotator",
                value=annotator,
            )
        matrix = reliability.confusion[place[annotator]]
        return cls(matrix, reliability.classes, "true", name_of(annotator))

    def plot(self, ax: Any = None, *, max_classes: int = 15) -> Self:
        """Draw the matrix, or of many classes the part in which most is confused.

        Parameters
        ----------
        ax : matplotlib axes, optional
        max_classes : int
        """
        check_whole(max_classes, "max_classes", 1)
        kept = most_confused(np.nan_to_num(self.matrix), max_classes)
        values = self.matrix[np.ix_(kept, kept)]
        side = 1.9 + 0.45 * len(kept)
        ax = self._open(ax, (side + 0.4, side))
        names = [name_of(name, 16) for name in self.classes[kept]]
        top = float(np.nanmax(values, initial=0.0))
        high = 1.0 if self.normalize in ("true", "pred") else max(top, 1e-9)
        draw_matrix(ax, values, names, names, low=0.0, high=high)
        ax.set_xlabel("answer")
        ax.set_ylabel("true class")
        left = len(self.classes) - len(kept)
        cut = f"{len(kept)} of {len(self.classes)} classes" if left else ""
        ax.set_title(", ".join(filter(None, [self.title, cut])), fontsize="medium")
        return self
