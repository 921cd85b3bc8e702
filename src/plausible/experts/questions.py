"""What to ask next: items with few answers, with answers that clash, or that stay open."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plausible.checks import (
    as_floats,
    check_kind,
    check_number,
    check_option,
    check_whole,
    shown,
)
from plausible.errors import InputError
from plausible.experts.annotations import Annotations
from plausible.experts.dependence import count_answers
from plausible.experts.information import information, worth_of_next
from plausible.experts.reliability import Reliability
from plausible.experts.reliability_fit import fit_reliability
from plausible.labels import Labels, as_labels

FloatArray = NDArray[np.float64]


class Question(NamedTuple):
    """An item to ask about, and why.

    Attributes
    ----------
    item : its name
    priority : mean of the three reasons below, in [0, 1]; or bits that an answer is expected to
        teach (in a second), by information
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


def _check_labels(labels: Any, n_items: int) -> None:
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
    by: str = "reasons",
    labels: Labels | None = None,
    imprecision: ArrayLike | None = None,
    weights: tuple[float, float, float] = (1.0, 1.0, 1.0),
    annotator: Any = None,
    reliability: Reliability | None = None,
    predicted: Any = None,
    seconds: ArrayLike | Mapping[Any, float] | None = None,
    shared: float = 0.0,
    **options: Any,
) -> list[Question]:
    """The items that most deserve another answer, first the most urgent.

    Parameters
    ----------
    annotations : Annotations
    n : int
    by : {"reasons", "information"}
        What makes an item urgent: few answers, conflict and open classes, weighed; or how far one
        more answer is expected to lower the entropy of its label, in bits (for each second, where
        `seconds` are given). See `plausible.experts.information`.
    labels : Labels, optional
        Of the items; by default pooled with the further options.
    imprecision : array-like (n items,), optional
        How unsure a model is of each item, in [0, 1], in the place of how open the labels are.
    weights : three numbers
        Of few answers, conflict and imprecision.
    annotator : name, optional
        Who will be asked, for "information": their reliability counts, and items that they
        answered are left out. By default somebody as reliable as people are on average.
    reliability : Reliability, optional
        Of the annotators, for "information"; by default learned from their agreement.
    predicted : Labels or array-like (n items, K), optional
        What a model says of the classes, for "information"; out of fold, if it has learned from
        these answers (`cross_val_beliefs`).
    seconds : number for each item, or dict of items, optional
        How long an answer takes, for "information".
    shared : float in [0, 1]
        Share of what moves people that is common to all, for "information"; see `Dependence`.
    **options : of `Annotations.pool`

    Examples
    --------
    >>> answers = Annotations.from_answers(
    ...     [["a", "a", "a"], ["a", "b", None], ["b", None, None]], items=["x", "y", "z"]
    ... )
    >>> [question.item for question in next_items(answers, 2, doubt=0.2)]
    ['y', 'z']
    >>> first = next_items(answers, 1, by="information", doubt=0.2)[0]
    >>> first.item, round(first.priority, 2)
    ('y', 0.21)
    """
    check_whole(n, "n", 1)
    check_option(by, ("reasons", "information"), "by")
    check_kind(annotations, Annotations, "annotations", "make them with Annotations.from_answers")
    if labels is not None:
        _check_labels(labels, len(annotations.items))
    pooled = annotations.pool(**options) if labels is None else labels
    reasons = _reasons(annotations, pooled, imprecision, weights)
    if by == "reasons":
        return _questions(annotations, reasons, reasons[0], n)
    check_number(shared, "shared", 0.0, 1.0)
    accuracy = _accuracy_of(annotations, annotator, reliability)
    chance = _with_predicted(pooled, predicted)
    gain = information(chance, accuracy) * worth_of_next(count_answers(annotations), shared)
    urgency = gain / _seconds_of(annotations, seconds)
    if annotator is not None:
        urgency[_answered(annotations, annotator)] = -1.0
    return _questions(annotations, reasons, urgency, n)


def _reasons(
    annotations: Annotations, pooled: Labels, imprecision: ArrayLike | None, weights: Any
) -> FloatArray:
    """Priority, few answers, conflict and imprecision (4, n)."""
    few = 1 / (1 + np.bincount(annotations.item, minlength=len(annotations.items)))
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
    reasons = np.stack([few, conflict, open_])
    return np.vstack([share / share.sum() @ reasons, reasons])


def _questions(
    annotations: Annotations, reasons: FloatArray, urgency: FloatArray, n: int
) -> list[Question]:
    """The most urgent items; those with a negative urgency are left out."""
    chosen = np.argsort(-urgency, kind="stable")[:n]
    names = annotations.items.tolist()
    return [
        Question(names[i], *map(float, (urgency[i], *reasons[1:, i])))
        for i in chosen[urgency[chosen] >= 0]
    ]


def _accuracy_of(
    annotations: Annotations, annotator: Any, reliability: Reliability | None
) -> float:
    """How often somebody is right; one who has not answered yet, as people are on average."""
    if reliability is None:
        reliability = fit_reliability(annotations)
    else:
        check_kind(reliability, Reliability, "reliability", "make it with Annotations.reliability")
    total = reliability.n_answers.sum()
    mean = float(reliability.accuracy @ reliability.n_answers / total) if total else 1.0
    known = {name: row for row, name in enumerate(reliability.annotators.tolist())}
    try:
        row = known.get(annotator)
    except TypeError:
        raise InputError(
            "annotator should be the name of a person",
            f"is {shown(annotator)}",
            "give one of `annotations.annotators`, or a new name",
            parameter="annotator",
        ) from None
    return mean if row is None or not reliability.n_answers[row] else reliability.accuracy[row]


def _answered(annotations: Annotations, annotator: Any) -> NDArray[np.int64]:
    """Items about which somebody has given an answer."""
    mine = [name == annotator for name in annotations.annotators.tolist()]
    return np.unique(annotations.item[np.array(mine)[annotations.annotator]])


def _with_predicted(pooled: Labels, predicted: Any) -> FloatArray:
    """Probabilities (n, K) of the classes."""
    chance = pooled.scaled()
    if predicted is not None:
        also = as_labels(predicted, pooled.classes.tolist())
        _check_labels(also, len(pooled))
        product = chance * also.contour
        clash = product.sum(axis=1) <= 0
        chance = np.where(clash[:, None], 1.0, product)
    return chance / chance.sum(axis=1, keepdims=True)


def _seconds_of(annotations: Annotations, seconds: Any) -> FloatArray:
    """How long an answer takes (n,)."""
    n_items = len(annotations.items)
    if seconds is None:
        return np.ones(n_items)
    if isinstance(seconds, Mapping):
        missing = [name for name in annotations.items.tolist() if name not in seconds]
        if missing:
            raise InputError(
                "seconds should have an entry for each item",
                f"has none for {missing[0]!r}",
                "add it",
                parameter="seconds",
            )
        seconds = [seconds[name] for name in annotations.items.tolist()]
    values = as_floats(seconds, "seconds")
    if values.shape not in ((), (n_items,)) or not (values > 0).all():
        raise InputError(
            f"seconds should be positive, one for each of the {n_items} items",
            f"{shown(seconds)} was given",
            parameter="seconds",
        )
    return np.broadcast_to(values, n_items)
