"""What is known or believed about single items: plausibilities, and belief intervals."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plausible.base import Beliefs, believe
from plausible.belief import belief_of_contour, pignistic_of
from plausible.checks import check_kind
from plausible.labels import as_labels
from plausible.plots.blocks import (
    arrange,
    chosen_rows,
    colors_of,
    frame,
    height_of_figure,
    item_names,
)
from plausible.plots.canvas import INK, Display, add_legend, lighter, names_of

FloatArray = NDArray[np.float64]


@dataclass
class PlausibilityDisplay(Display):
    """The plausibility of each class of some items, as bars.

    Parameters
    ----------
    items : list of str
    classes : array (K,)
    plausibility : array (n, K)

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure, after `plot`

    Examples
    --------
    >>> from plausible.labels import Labels
    >>> labels = Labels.from_doubt(["owl", "wren", "kite", "owl"], doubt=[0.1, 0.4, 0, 1])
    >>> display = PlausibilityDisplay.from_labels(labels, rows=[1, 2])
    >>> display.items, display.plausibility
    (['item 1', 'item 2'], array([[0.4, 0.4, 1. ],
           [1. , 0. , 0. ]]))
    """

    items: list[str]
    classes: NDArray[Any]
    plausibility: FloatArray

    @classmethod
    def from_labels(cls, labels: Any, rows: Any = None, items: Sequence[Any] | None = None) -> Self:
        """Labels of some items.

        Parameters
        ----------
        labels : Labels, or all that `as_labels` takes
        rows : numbers of rows, mask or slice, optional
            The items that are drawn; the first eight by default.
        items : sequence of names of all items, optional
        """
        given = as_labels(labels)
        kept = chosen_rows(rows, len(given))
        return cls(item_names(items, kept, len(given)), given.classes, given.contour[kept])

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: ArrayLike, rows: Any = None, items: Sequence[Any] | None = None
    ) -> Self:
        """What a fitted classifier believes about some items.

        Parameters
        ----------
        estimator : fitted classifier
        X : array-like (n, d)
        rows, items : as for `from_labels`
        """
        found = believe(estimator, X)
        kept = chosen_rows(rows, len(found))
        return cls(item_names(items, kept, len(found)), found.classes, found.contour[kept])

    def plot(self, ax: Any = None, *, max_classes: int = 6) -> Self:
        """Draw a bar for each of the most plausible classes of each item.

        Parameters
        ----------
        ax : matplotlib axes, optional
        max_classes : int
            How many classes of an item are drawn.
        """
        blocks = arrange(self.plausibility, max_classes)
        ax = self._open(ax, (5.0, height_of_figure(blocks)))
        colors = colors_of(blocks, len(self.classes))
        widths = self.plausibility[blocks.item, blocks.column]
        ax.barh(blocks.height, widths, color=lighter(colors, 0.15), height=0.72)
        frame(ax, blocks, self.items, names_of(self.classes), "plausibility")
        return self


@dataclass
class BeliefIntervalDisplay(Display):
    """Belief and plausibility of each class of some items, with the bet between them.

    The strong bar is belief, what speaks for the class; the faint one goes on to plausibility, what
    does not speak against it. A long faint bar is ignorance, and several short ones in the middle
    are conflict.

    Parameters
    ----------
    items : list of str
    classes : array (K,)
    belief, plausibility, probability : arrays (n, K)

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure, after `plot`

    Examples
    --------
    >>> from plausible.labels import Labels
    >>> said = {("owl",): 0.5, ("owl", "wren"): 0.3, ("owl", "wren", "kite"): 0.2}
    >>> labels = Labels.from_masses([said])
    >>> display = BeliefIntervalDisplay.from_labels(labels)
    >>> display.belief.round(2), display.plausibility.round(2)  # kite, owl, wren
    (array([[0. , 0.5, 0. ]]), array([[0.2, 1. , 0.5]]))
    """

    items: list[str]
    classes: NDArray[Any]
    belief: FloatArray
    plausibility: FloatArray
    probability: FloatArray

    @classmethod
    def from_beliefs(
        cls, beliefs: Beliefs, rows: Any = None, items: Sequence[Any] | None = None
    ) -> Self:
        """What is believed about some items.

        Parameters
        ----------
        beliefs : Beliefs
        rows : numbers of rows, mask or slice, optional
            The items that are drawn; the first eight by default.
        items : sequence of names of all items, optional
        """
        check_kind(beliefs, Beliefs, "beliefs", "write model.believe(X)")
        kept = chosen_rows(rows, len(beliefs))
        names = item_names(items, kept, len(beliefs))
        some = beliefs[kept]
        return cls(names, some.classes, some.belief, some.contour, some.probability)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: ArrayLike, rows: Any = None, items: Sequence[Any] | None = None
    ) -> Self:
        """What a fitted classifier believes about some items.

        Parameters
        ----------
        estimator : fitted classifier
        X : array-like (n, d)
        rows, items : as for `from_beliefs`
        """
        return cls.from_beliefs(believe(estimator, X), rows, items)

    @classmethod
    def from_labels(cls, labels: Any, rows: Any = None, items: Sequence[Any] | None = None) -> Self:
        """Labels of some items; where only plausibilities are known, the least committed masses.

        Parameters
        ----------
        labels : Labels, or all that `as_labels` takes
        rows, items : as for `from_beliefs`
        """
        given = as_labels(labels)
        kept = chosen_rows(rows, len(given))
        names = item_names(items, kept, len(given))
        some = given[kept]
        if some.has_masses:
            found = Beliefs.from_masses(some.masses(), some.classes.tolist())
            return cls(names, found.classes, found.belief, found.contour, found.probability)
        contour = some.scaled()
        return cls(names, some.classes, belief_of_contour(contour), contour, pignistic_of(contour))

    def plot(self, ax: Any = None, *, max_classes: int = 6, legend: bool = True) -> Self:
        """Draw belief as strong bars, plausibility as faint ones, and the bets as ticks.

        Parameters
        ----------
        ax : matplotlib axes, optional
        max_classes : int
            How many classes of an item are drawn, the most plausible ones.
        legend : bool
        """
        blocks = arrange(self.plausibility, max_classes)
        ax = self._open(ax, (5.0, height_of_figure(blocks) + 0.35 * legend))
        colors = colors_of(blocks, len(self.classes))
        low, high, bet = (
            table[blocks.item, blocks.column]
            for table in (self.belief, self.plausibility, self.probability)
        )
        ax.barh(blocks.height, high, color=lighter(colors, 0.65), height=0.72)
        ax.barh(blocks.height, low, color=colors, height=0.72)
        ax.plot(bet, blocks.height, "|", color=INK, ms=9, mew=1.4, label="bet")
        frame(ax, blocks, self.items, names_of(self.classes), "belief, and up to plausibility")
        if legend:
            ax.bar([0], [0], color=INK, label="belief")
            ax.bar([0], [0], color=lighter([[0.2, 0.2, 0.2]], 0.65), label="plausibility")
            add_legend(ax, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)
        return self
