"""Beliefs and credal partitions as a notebook shows them."""

from typing import TYPE_CHECKING, Any

import numpy as np

from plausible._html import (
    LONGEST,
    Markup,
    degree,
    join,
    left_out,
    meter,
    name,
    notebook_page,
    number_of,
    rows_of,
    short_name,
    some_names,
    strip,
    tag,
    track,
)
from plausible._visible import name_of, set_in_words
from plausible.belief import MAX_CLASSES, membership
from plausible.labels import highest

if TYPE_CHECKING:
    from plausible.base.beliefs import Beliefs
    from plausible.base.partition import CredalPartition

MOST_ROWS = 8  # that are shown
MOST_COLUMNS = 6  # classes that have a column each
MOST_CLASSES = 4  # of a set that are named


def beliefs_page(beliefs: "Beliefs") -> str:
    """The first items: the answer, what cannot be ruled out, and an interval for each class."""
    classes = beliefs.classes.tolist()
    facts = join([
        f"about {number_of(len(beliefs), 'item')}, "
        f"{number_of(len(classes), 'class', 'classes')}: ",
        some_names(classes, MOST_COLUMNS),
    ])  # fmt: skip
    some = beliefs[: min(MOST_ROWS, len(beliefs))]
    if not len(some):
        return notebook_page("Beliefs", facts)
    answers = some.predicted.tolist()
    possible = [
        set_in_words([name_of(classes[k], LONGEST) for k in np.flatnonzero(row)], MOST_CLASSES)
        for row in some.sets
    ]
    if len(classes) <= MOST_COLUMNS:
        heads = ["item", "answer", "cannot be ruled out", *map(short_name, classes)]
        cells = [
            [_interval(*values) for values in zip(*rows, strict=True)]
            for rows in zip(some.belief.tolist(), some.probability.tolist(),
                            some.contour.tolist(), strict=True)
        ]  # fmt: skip
        words = "In each class: belief (strong), up to plausibility (faint), and the bet (mark)."
        note = tag("p", words, class_="ph-quiet")
    else:
        heads = ["item", "answer", "cannot be ruled out", "best bets"]
        cells = [[highest(classes, row)] for row in some.probability]
        note = Markup("")
    rows = [
        (str(i), short_name(answers[i]), name(possible[i]), *cells[i]) for i in range(len(some))
    ]
    more = left_out(len(beliefs) - len(some), "item")
    return notebook_page("Beliefs", facts, rows_of(heads, rows), more, note)


def _interval(low: float, bet: float, high: float) -> Markup:
    """Belief, bet and plausibility of a class."""
    drawn = track((0.0, high, "soft"), (0.0, low, ""), (bet, bet, "mark"))
    return join([f"{degree(low)} to {degree(high)}", drawn])


def partition_page(partition: "CredalPartition") -> str:
    """How many items are sure, doubtful and outliers, and the sets with most items."""
    n_items, n_clusters = len(partition), partition.n_clusters
    facts = f"{number_of(n_items, 'item')} in {number_of(n_clusters, 'cluster')}"
    if not n_items:
        return notebook_page("Credal partition", facts)
    outliers = int(partition.outliers().sum())
    if n_clusters > MAX_CLASSES:  # whose sets have no bit masks
        return notebook_page("Credal partition", f"{facts}, {number_of(outliers, 'outlier')}",
                             *_by_cluster(partition))  # fmt: skip
    largest = partition.credal()
    sets, counts = np.unique(largest, return_counts=True)
    members = membership(sets, n_clusters)
    single = int(counts[members.sum(axis=1) == 1].sum())
    doubtful = n_items - single - outliers
    order = np.argsort(-counts, kind="stable")[:MOST_ROWS]
    means = _mean_masses(partition)
    classes = partition.classes.tolist()
    rows = [
        (
            name(_set_name(members[k], classes)),
            f"{counts[k]:,}",
            meter(means.get(int(sets[k]), 0.0)),
        )
        for k in order
    ]
    vague = f", nonspecificity {partition.nonspecificity():.2f}"
    return notebook_page(
        "Credal partition",
        facts + vague,
        strip([("in one cluster", single), ("between clusters", doubtful), ("outliers", outliers)]),
        rows_of(["set of largest mass", "items", "mean mass"], rows, numbers=[1]),
        left_out(len(sets) - len(order), "set"),
    )


def _mean_masses(partition: "CredalPartition") -> dict[int, float]:
    masses = partition.masses()
    means = masses.values.mean(axis=0)
    return dict(zip(masses.focal_sets.tolist(), means.tolist(), strict=True))


def _set_name(members: Any, classes: list[Any]) -> str:
    few = [name_of(classes[k], LONGEST) for k in np.flatnonzero(members)]
    return set_in_words(few, MOST_CLASSES) if few else "none (outliers)"


def _by_cluster(partition: "CredalPartition") -> list[Markup]:
    """The largest clusters by the best bets."""
    hard = partition.hard()
    counts = np.bincount(hard[hard >= 0], minlength=partition.n_clusters)
    order = np.argsort(-counts, kind="stable")[:MOST_ROWS]
    classes = partition.classes.tolist()
    rows = [
        (short_name(classes[k]), f"{counts[k]:,}", meter(counts[k] / len(partition), ""))
        for k in order
    ]
    table = rows_of(["cluster", "items", "share"], rows, numbers=[1])
    return [table, left_out(partition.n_clusters - len(order), "cluster")]
