"""What the labels say, in numbers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible.labels import CERTAIN, KINDS, Labels, is_single, kinds_of
from plausible.report.lists import take_away
from plausible.report.words import names_of

MOST_SIZES = 20  # sizes of sets that are counted one by one
MOST_CLASSES = 200  # classes that are listed one by one


def summarize_labels(labels: Labels, items: list[str]) -> dict[str, Any]:
    """Kinds, sizes and classes of labels, and the items about which nothing is known."""
    empty = np.flatnonzero(labels.is_unknown & ~is_single(labels.scaled()))
    listed = ({"item": items[row]} for row in empty)
    return {
        "n_items": len(labels),
        "n_classes": labels.n_classes,
        "kinds": _count_kinds(labels),
        "sizes": _count_sizes(labels),
        "classes": _count_classes(labels),
        "n_classes_left_out": max(labels.n_classes - MOST_CLASSES, 0),
        "informativeness": labels.informativeness.mean() if len(labels) else None,
        "list": take_away("items without a label", ["item"], listed, len(empty)),
    }


def _count_kinds(labels: Labels) -> dict[str, int]:
    """How many labels name one class, name a set, give degrees, or say nothing."""
    counts = np.bincount(kinds_of(labels.scaled(), labels.is_probability), minlength=len(KINDS))
    found = dict(zip(KINDS, counts.tolist(), strict=True))
    found["degrees"] += found.pop("probabilities")  # which are degrees as well
    return found


def classes_left(scaled: NDArray[np.float64]) -> NDArray[np.int64]:
    """How many classes (n,) rows leave open, each by its relative plausibility, rounded."""
    return np.floor(scaled.sum(axis=1) + 0.5).astype(np.int64)


def _count_sizes(labels: Labels) -> list[dict[str, Any]]:
    """How many labels leave 1, 2, 3 ... classes open."""
    return tally(classes_left(labels.scaled()), 1, labels.n_classes)


def tally(sizes: NDArray[np.int64], least: int, most: int) -> list[dict[str, Any]]:
    """Counts of sizes from `least` to `most`; large ones together."""
    last = min(most, MOST_SIZES)
    counts = np.bincount(np.minimum(sizes, last), minlength=last + 1)
    return [
        {"size": size, "or_more": size == last < most, "count": counts[size]}
        for size in range(least, last + 1)
    ]


def _count_classes(labels: Labels) -> list[dict[str, Any]]:
    """How often each class is the only one or the most plausible one, and its share of belief."""
    known = ~labels.is_unknown
    best = np.bincount(labels.contour.argmax(axis=1)[known], minlength=labels.n_classes)
    possible = labels.scaled() > CERTAIN
    alone = (possible & (possible.sum(axis=1) == 1)[:, None]).sum(axis=0)
    parts = labels.contour / labels.contour.sum(axis=1, keepdims=True)
    share = parts.sum(axis=0) / max(len(labels), 1)
    listed = np.sort(np.argsort(-share, kind="stable")[:MOST_CLASSES])
    names = names_of(labels.classes)
    return [
        {"class": names[k], "alone": alone[k], "most_plausible": best[k], "share": share[k]}
        for k in listed
    ]
