"""What to ask next: items with few answers, with answers that clash, or that stay open."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plausible.checks import as_floats, check_kind, check_whole, shown
from plausible.errors import InputError
from plausible.experts.annotations import Annotations
from plausible.labels import Labels

FloatArray = NDArray[np.float64]


class Question(NamedTuple):
    """An item to ask about, and why.

    item : its name
    priority : mean of the three reasons below, in [0, 1]
    few : 1 / (1 + number of answers)
    conflict : among the answers
    imprecision : how far the classes are still open, 1 if nothing is known

    Examples
    --------
    >>> Question("im7", 0.5, 0.5, 0.5, 0.5).item
    'im7'
    """

    item: Any
    priority: float
    few: float
    conflict: float
    imprecision: float


def openness(labels: Labels) -> FloatArray:
    """Normalized entropy (n,) of the plausibilities of the classes."""
    shares = labels.contour / labels.contour.sum(axis=1, keepdims=True)
    logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    entropy = -(shares * logs).sum(axis=1) / np.log(max(labels.n_classes, 2))
    return np.clip(entropy, 0.0, 1.0)  # rounding may exceed the limits


def check_labels(labels: Any, n_items: int) -> None:
    """Refuse what are not labels of all items."""
    check_kind(labels, Labels, "labels", "make them with Annotations.pool or as_labels")
    if len(labels) != n_items:
        raise InputError(
            f"labels should be one for each of the {n_items} items",
            f"there are {len(labels)}",
            "give those of Annotations.pool",
            parameter="labels",
        )


def next_items(
    annotations: Annotations,
    n: int = 10,
    *,
    labels: Labels | None = None,
    imprecision: ArrayLike | None = None,
    weights: tuple[float, float, float] = (1.0, 1.0, 1.0),
    **options: Any,
) -> list[Question]:
    """The items that most deserve another answer, first the most urgent.

    Parameters
    ----------
    annotations : Annotations
    n : int
    labels : Labels, optional
        Of the items; by default pooled with the further options.
    imprecision : array-like (n items,), optional
        How unsure a model is of each item, in [0, 1], in the place of how open the labels are.
    weights : three numbers
        Of few answers, conflict and imprecision.
    **options : of `Annotations.pool`

    Examples
    --------
    >>> answers = Annotations.from_answers(
    ...     [["a", "a", "a"], ["a", "b", None], ["b", None, None]], items=["x", "y", "z"]
    ... )
    >>> [question.item for question in next_items(answers, 2, doubt=0.2)]
    ['y', 'z']
    """
    check_whole(n, "n", 1)
    check_kind(annotations, Annotations, "annotations", "make them with Annotations.from_answers")
    if labels is not None:
        check_labels(labels, len(annotations.items))
    pooled = annotations.pool(**options) if labels is None else labels
    count = np.bincount(annotations.item, minlength=len(annotations.items))
    few = 1 / (1 + count)
    conflict = np.zeros(len(few)) if pooled.conflict is None else pooled.conflict
    open_ = openness(pooled) if imprecision is None else as_floats(imprecision, "imprecision")
    if open_.shape != few.shape:
        raise InputError(
            f"imprecision should be one number for each of the {len(few)} items",
            f"has shape {open_.shape}",
            parameter="imprecision",
            value=open_.shape,
        )
    if not ((open_ >= 0) & (open_ <= 1)).all():
        raise InputError(
            "imprecision should be in [0, 1]",
            "some values are not",
            "scale it",
            parameter="imprecision",
        )
    share = as_floats(weights, "weights")
    if share.shape != (3,) or not (share >= 0).all() or not share.sum() > 0:
        raise InputError(
            "weights should be three numbers from 0, of few answers, conflict and imprecision, "
            "not all 0",
            f"{shown(weights)} was given",
            parameter="weights",
            value=weights,
        )
    share = share / share.sum()
    priority = share @ np.stack([few, conflict, open_])
    chosen = np.argsort(-priority, kind="stable")[:n]
    names = annotations.items.tolist()
    return [
        Question(names[i], *map(float, (priority[i], few[i], conflict[i], open_[i])))
        for i in chosen
    ]
