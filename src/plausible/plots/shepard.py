"""Shepard diagrams: how well conflicts follow dissimilarities."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from plausible.errors import InputError
from plausible.plots.canvas import INK, Display, cluster_colors, tidy

FloatArray = NDArray[np.float64]


@dataclass
class ShepardDisplay(Display):
    """Pairs of items: their conflict against their dissimilarity, and the conflict that is wanted.

    Points on the line are pairs that the masses tell apart as they should. A cloud above it on the
    left: like items are kept apart; below it on the right: different ones are not told apart.

    Parameters
    ----------
    dissimilarity, wanted, conflict : arrays (m,)
        Of pairs, in order of their dissimilarity.
    stress : float, optional

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure, after `plot`

    Examples
    --------
    >>> from plausible.cluster import EVCLUS
    >>> model = EVCLUS(2, random_state=0).fit([[0.0], [1.0], [2.0], [8.0], [9.0]])
    >>> display = ShepardDisplay.from_estimator(model)
    >>> display.dissimilarity.round(6)
    array([1., 1., 1., 2., 6., 7., 7., 8., 8., 9.])
    """

    dissimilarity: FloatArray
    wanted: FloatArray
    conflict: FloatArray
    stress: float | None = None

    @classmethod
    def from_estimator(cls, estimator: Any) -> Self:
        """What a fitted EVCLUS or CEVCLUS has made of at most 10,000 pairs.

        Parameters
        ----------
        estimator : clustering with `shepard_`
        """
        if not hasattr(estimator, "shepard_"):
            raise InputError(
                "estimator should be a fitted EVCLUS or CEVCLUS, with shepard_",
                f"{type(estimator).__name__} has none",
                "fit it first",
                parameter="estimator",
            )
        apart, wanted, conflict = estimator.shepard_.T
        return cls(apart, wanted, conflict, estimator.stress_)

    def plot(self, ax: Any = None) -> Self:
        """Draw pairs as points, and the conflict that is wanted as a line.

        Parameters
        ----------
        ax : matplotlib axes, optional
        """
        ax = self._open(ax)
        color = cluster_colors(1)[0]
        many = len(self.conflict) > 1000
        ax.plot(self.dissimilarity, self.conflict, ".", color=color, ms=2 if many else 4,
                alpha=0.4 if many else 0.8, label="conflict of masses")  # fmt: skip
        ax.plot(self.dissimilarity, self.wanted, "-", color=INK, lw=1.2, label="wanted")
        ax.set_xlabel("dissimilarity")
        ax.set_ylabel("conflict")
        ax.set_ylim(-0.03, 1.03)
        if self.stress is not None:
            ax.set_title(f"stress {self.stress:.4f}", fontsize=10)
        tidy(ax)
        ax.legend(frameon=False, loc="lower right")
        return self
