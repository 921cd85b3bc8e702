"""Experts: where they clash, who agrees with whom, and whom to trust."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from plausible.checks import check_kind, check_option, check_whole
from plausible.errors import InputError
from plausible.experts import Annotations, Reliability, compare_peers, side_by_side
from plausible.labels import Labels
from plausible.plots.canvas import (
    INK,
    QUIET,
    Display,
    add_legend,
    cluster_colors,
    lighter,
    name_of,
    tidy,
)
from plausible.plots.matrices import draw_matrix

FloatArray = NDArray[np.float64]

REMEDY = "make them with Annotations.from_answers"


@dataclass
class ConflictDisplay(Display):
    """How far the answers about items contradict each other, as a histogram.

    Parameters
    ----------
    conflict : array (n,)
        Conflict of each item, in [0, 1].
    edges : array (b + 1,), and counts : array (b,)

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure, after `plot`

    Examples
    --------
    >>> answers = Annotations.from_answers([["a", "a"], ["a", "b"], ["b", "b"], ["c", "c"]])
    >>> display = ConflictDisplay.from_annotations(answers, doubt=0.1, n_bins=4)
    >>> display.counts, display.conflict.round(2)
    (array([3, 0, 0, 1]), array([0.  , 0.81, 0.  , 0.  ]))
    """

    conflict: FloatArray
    edges: FloatArray
    counts: NDArray[np.int64]

    @classmethod
    def from_labels(cls, labels: Labels, n_bins: int = 20) -> Self:
        """Labels that were pooled, and so know the conflict among their sources.

        Parameters
        ----------
        labels : Labels with `conflict`
        n_bins : int
        """
        check_kind(labels, Labels, "labels", "pool answers with Annotations.pool")
        if labels.conflict is None:
            raise InputError(
                "labels should know the conflict among their sources",
                "these do not",
                "pool answers with Annotations.pool, which tells it",
                parameter="labels",
            )
        check_whole(n_bins, "n_bins", 1, 10_000)
        counts, edges = np.histogram(labels.conflict, bins=n_bins, range=(0.0, 1.0))
        return cls(labels.conflict, edges, counts)

    @classmethod
    def from_annotations(cls, annotations: Annotations, n_bins: int = 20, **options: Any) -> Self:
        """Answers, which are pooled first.

        Parameters
        ----------
        annotations : Annotations
        n_bins : int
        **options : of `Annotations.pool`; items in total conflict are unknown by default
        """
        check_kind(annotations, Annotations, "annotations", REMEDY)
        pooled = annotations.pool(**{"on_conflict": "unknown", **options})
        return cls.from_labels(pooled, n_bins)

    def plot(self, ax: Any = None) -> Self:
        """Draw the histogram, and the mean as a line.

        Parameters
        ----------
        ax : matplotlib axes, optional
        """
        ax = self._open(ax, (5.0, 3.2))
        color = cluster_colors(1)[0]
        ax.bar(self.edges[:-1], self.counts, np.diff(self.edges), align="edge",
               color=lighter(color, 0.15), edgecolor="w", lw=0.8)  # fmt: skip
        if len(self.conflict):
            mean = float(self.conflict.mean())
            ax.axvline(mean, color=INK, ls="--", lw=1.1, label=f"mean {mean:.2f}")
        ax.set_xlim(0.0, 1.0)
        ax.set_xlabel("conflict of an item")
        ax.set_ylabel("items")
        tidy(ax)
        add_legend(ax)
        return self


@dataclass
class AgreementDisplay(Display):
    """Who agrees with whom, beside one another those who do.

    Parameters
    ----------
    annotators : array (R,) of names
    values : array (R, R)
        Share of the answers about the same item that are the same, or Cohen's kappa; NaN where two
        have no item in common.
    common : array (R, R)
        Number of pairs of answers that were compared.
    kind : {"share", "kappa"}
    alpha, observed : float
        Krippendorff's alpha of everybody, and the share of pairs of answers that are the same.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure, after `plot`

    Examples
    --------
    >>> answers = Annotations.from_answers(
    ...     [["a", "a", "b"], ["b", "b", "b"], ["c", "c", "a"]], annotators=["ann", "bob", "cy"]
    ... )
    >>> display = AgreementDisplay.from_annotations(answers)
    >>> display.annotators, display.values.round(2)
    (array(['cy', 'bob', 'ann'], dtype='<U3'), array([[ nan, 0.33, 0.33],
           [0.33,  nan, 1.  ],
           [0.33, 1.  ,  nan]]))
    """

    annotators: NDArray[Any]
    values: FloatArray
    common: FloatArray
    kind: str
    alpha: float
    observed: float

    @classmethod
    def from_annotations(
        cls, annotations: Annotations, kind: str = "share", max_annotators: int = 12
    ) -> Self:
        """Hard answers of the most active annotators.

        Parameters
        ----------
        annotations : Annotations
        kind : {"share", "kappa"}
            Share of equal answers, or Cohen's kappa, which is beyond chance.
        max_annotators : int
        """
        check_kind(annotations, Annotations, "annotations", REMEDY)
        check_option(kind, ("share", "kappa"), "kind")
        check_whole(max_annotators, "max_annotators", 2, 200)
        people, common, agree, kappa = compare_peers(annotations, max_annotators)
        if not common.any():
            raise InputError(
                "Two annotators should have hard answers about one item",
                "no two have",
                "ask several people about the same items",
                parameter="annotations",
            )
        order = side_by_side(agree)
        both = np.ix_(order, order)
        found = annotations.agreement()
        values = (agree if kind == "share" else kappa)[both]
        names = annotations.annotators[people[order]]
        return cls(names, values, common[both], kind, found.alpha, found.pairs)

    def plot(self, ax: Any = None) -> Self:
        """Draw a matrix of annotators, with the numbers in it.

        Parameters
        ----------
        ax : matplotlib axes, optional
        """
        side = 1.8 + 0.45 * len(self.annotators)
        ax = self._open(ax, (side + 0.6, side))
        names = [name_of(name, 16) for name in self.annotators]
        draw_matrix(ax, self.values, names, names, low=0.0, high=1.0)
        what = "share of equal answers" if self.kind == "share" else "Cohen's kappa"
        ax.set_title(f"{what}; alpha of all {self.alpha:.2f}", fontsize="medium")
        return self


@dataclass
class ReliabilityDisplay(Display):
    """How often each annotator is right, with intervals.

    Parameters
    ----------
    annotators : array (R,) of names, from the most to the least reliable
    n_answers, accuracy, low, high : arrays (R,)
        Thin lines from `low` to `high` allow for errors that people share.
    agreement_low, agreement_high : arrays (R,) or None
        Thick lines: the interval if the consensus were always right, by which people compare.
    chance : float
        How often a guess is right.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure, after `plot`

    Examples
    --------
    >>> answers = Annotations.from_answers(
    ...     [["a", "a", "b"], ["b", "b", "a"], ["a", "a", "a"], ["b", "b", "a"]],
    ...     annotators=["ann", "bob", "cy"],
    ... )
    >>> display = ReliabilityDisplay.from_annotations(answers)
    >>> display.annotators.tolist(), display.accuracy.round(2).tolist()
    (['ann', 'bob', 'cy'], [0.95, 0.95, 0.35])
    """

    annotators: NDArray[Any]
    n_answers: FloatArray
    accuracy: FloatArray
    low: FloatArray
    high: FloatArray
    agreement_low: FloatArray | None
    agreement_high: FloatArray | None
    chance: float

    @classmethod
    def from_reliability(cls, reliability: Reliability) -> Self:
        """What `fit_reliability` found.

        Parameters
        ----------
        reliability : Reliability
        """
        check_kind(reliability, Reliability, "reliability", "write annotations.reliability()")
        found = reliability
        order = np.argsort(-found.accuracy, kind="stable")
        near, far = found.agreement_low, found.agreement_high
        return cls(
            found.annotators[order],
            found.n_answers[order],
            found.accuracy[order],
            found.low[order],
            found.high[order],
            None if near is None else near[order],
            None if far is None else far[order],
            1.0 / len(found.classes),
        )

    @classmethod
    def from_annotations(cls, annotations: Annotations, **options: Any) -> Self:
        """Answers, as they were named: the doubts that came with them are left out.

        Parameters
        ----------
        annotations : Annotations
        **options : of `fit_reliability`
        """
        check_kind(annotations, Annotations, "annotations", REMEDY)
        return cls.from_reliability(annotations.without_doubt().reliability(**options))

    def plot(self, ax: Any = None, *, max_annotators: int = 30) -> Self:
        """Draw a dot with intervals for each annotator; of many, the best and the worst.

        Parameters
        ----------
        ax : matplotlib axes, optional
        max_annotators : int
        """
        check_whole(max_annotators, "max_annotators", 2)
        n = len(self.annotators)
        rows = np.arange(n)
        if n > max_annotators:
            rows = np.r_[: max_annotators // 2, n - (max_annotators - max_annotators // 2) : n]
        ax = self._open(ax, (5.2, 1.2 + 0.26 * len(rows)))
        color, places = cluster_colors(1)[0], np.arange(len(rows))
        ax.hlines(
            places,
            self.low[rows],
            self.high[rows],
            color=lighter(color, 0.45),
            lw=1.6,
            label="if people share errors",
        )
        if self.agreement_low is not None and self.agreement_high is not None:
            ax.hlines(places, self.agreement_low[rows], self.agreement_high[rows],
                      color=lighter(color, 0.45), lw=5.0,
                      label="if the consensus is right")  # fmt: skip
        ax.plot(self.accuracy[rows], places, "o", color=color, ms=6, label="right")
        ax.axvline(self.chance, color=QUIET, ls=":", lw=1.2, label="a guess")
        names = [f"{name_of(self.annotators[r])} ({self.n_answers[r]:,.0f})" for r in rows]
        ax.set_yticks(places, names, fontsize="small")
        if n > len(rows):
            middle = max_annotators // 2 - 0.5
            ax.axhline(middle, color=QUIET, lw=0.8)
            ax.text(1.02, middle, f"{n - len(rows):,} more", transform=ax.get_yaxis_transform(),
                    va="center", color=QUIET, fontsize="small")  # fmt: skip
        ax.set_ylim(len(rows) - 0.4, -0.6)
        ax.set_xlim(0.0, 1.02)
        ax.set_xlabel("share of right answers")
        ax.set_ylabel("annotator (answers)")
        tidy(ax)
        add_legend(ax, loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=2)
        return self
