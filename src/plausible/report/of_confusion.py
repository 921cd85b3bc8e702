r"""Which classes are confused, by people and by a model, in numbers.

People: with :math:`v_{ik}` hard answers k about item i, there are
:math:`n_{kl} = \sum_i v_{ik} (v_{il} - \delta_{kl})` pairs in which one answer is k and the other
is l.

A model: expected counts of its answers, as `plausible.metrics.soft_confusion_matrix` has them.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from plausible.experts import Annotations
from plausible.labels import Labels
from plausible.metrics import (
    divided,
    expected_counts,
    most_confused,
    normalized_counts,
    read_truth,
)
from plausible.models import Beliefs
from plausible.report.lists import MOST_ROWS as MOST_TAKEN
from plausible.report.lists import take_away
from plausible.report.words import names_of

FloatArray = NDArray[np.float64]

MOST_IN_MATRIX = 10  # classes, so that a telephone has room
MOST_COMPARED = 1000  # classes, the most frequent, that are set against each other
MOST_PAIRS = 10  # pairs of classes that are listed
MOST_SCORED = 50  # classes with scores of their own


def _hard_votes(annotations: Annotations) -> csr_array:
    """How many hard answers (n, K) each item has for each class, as a sparse table."""
    hard = annotations.is_hard[annotations.statement]
    item, said = annotations.item[hard], annotations.facts.chosen[annotations.statement[hard]]
    shape = len(annotations.items), annotations.n_classes
    return csr_array((np.ones(len(item)), (item, said)), shape=shape)


def pairs_of_answers(annotations: Annotations) -> tuple[NDArray[np.int64], FloatArray]:
    """Classes that are compared, and ordered pairs of hard answers about one item."""
    votes = _hard_votes(annotations)
    votes.sum_duplicates()
    kept = _most_frequent(np.asarray(votes.sum(axis=0)).ravel())
    votes = votes[:, kept]
    found = np.asarray((votes.T @ votes).toarray())
    found[np.diag_indices_from(found)] -= np.asarray(votes.sum(axis=0)).ravel()
    return kept, found


def _most_frequent(weight: FloatArray) -> NDArray[np.int64]:
    """The places of the largest weights, in order; all but where there are very many."""
    return np.sort(np.argsort(-weight, kind="stable")[:MOST_COMPARED])


class Divided(NamedTuple):
    """Classes (K,) of labels and model, parts (n, K) of the items, and the answers as places."""

    classes: NDArray[Any]
    shares: FloatArray
    answer: NDArray[np.int64]

    def by_answer(self, weight: FloatArray) -> FloatArray:
        """Sums (K,) of weights (n,) of the items by their answer."""
        sums = np.bincount(self.answer, weight, minlength=len(self.classes))
        return sums.astype(np.float64)


def divide(truth: Labels, beliefs: Beliefs) -> Divided:
    """Items divided among the classes by their labels, beside the answers of a model."""
    told = read_truth(truth, None, beliefs.classes)
    place = {name: k for k, name in enumerate(told.labels.classes.tolist())}
    answer = np.array([place[name] for name in beliefs.predicted.tolist()], dtype=np.int64)
    return Divided(told.labels.classes, divided(told.credit, told.weight), answer)


def compared_counts(truth: Labels, beliefs: Beliefs) -> tuple[NDArray[Any], FloatArray]:
    """Classes (K,) that are compared, and expected counts (K, K) of class against answer."""
    classes, shares, answer = found = divide(truth, beliefs)
    kept = _most_frequent(shares.sum(axis=0) + found.by_answer(shares.sum(axis=1)))
    answered = csr_array(
        (np.ones(len(answer)), (np.arange(len(answer)), answer)), shape=(len(answer), len(classes))
    )
    return classes[kept], expected_counts(shares[:, kept], answered[:, kept])


def matrix(classes: list[str], counts: FloatArray, n_classes: int) -> dict[str, Any]:
    """The part of a matrix that is shown, of so many classes in all."""
    kept = most_confused(counts, MOST_IN_MATRIX)
    return {
        "classes": [classes[k] for k in kept],
        "n_classes_left_out": n_classes - len(kept),
        "counts": counts[np.ix_(kept, kept)],
        "shares": normalized_counts(counts, "true")[np.ix_(kept, kept)],
    }


def confused_people(annotations: Annotations) -> dict[str, Any] | None:
    """Which classes two people choose for one item; None if no item has two hard answers."""
    kept, ordered = pairs_of_answers(annotations)
    if not ordered.any():
        return None
    classes = names_of(annotations.classes[kept])
    first, second = np.triu_indices(len(classes), 1)
    count = ordered[first, second]
    order = np.argsort(-count, kind="stable")
    order = order[count[order] > 0]
    differ = count.sum()
    rows = [
        {
            "first": classes[first[p]],
            "second": classes[second[p]],
            "count": round(count[p]),
            "share": count[p] / differ,
        }
        for p in order[:MOST_TAKEN]
    ]
    columns = ("first", "second", "count", "share")
    return {
        "n_pairs": round(ordered.sum() / 2),
        "n_differ": round(differ),
        **matrix(classes, ordered, annotations.n_classes),
        "pairs": rows[:MOST_PAIRS],
        "list": take_away("confused classes", columns, rows, len(order)),
    }


def confused_model(truth: Labels, beliefs: Beliefs, about: str) -> dict[str, Any] | None:
    """Which classes a model answers where the labels say others; None if they say nothing."""
    named, counts = compared_counts(truth, beliefs)
    if counts.sum() == 0:
        return None
    classes, shares = names_of(named), normalized_counts(counts, "true")
    wrong = counts - np.diag(np.diag(counts))
    order = np.argsort(-wrong, axis=None, kind="stable")
    order = order[: min(int((wrong > 1e-9).sum()), MOST_PAIRS)]
    rows = [
        {"class": classes[k], "answer": classes[m], "count": counts[k, m], "share": shares[k, m]}
        for k, m in zip(*np.unravel_index(order, wrong.shape), strict=True)
    ]
    cells = np.argwhere(counts > 0)
    every = (
        {"class": classes[k], "answer": classes[m], "expected_count": counts[k, m]}
        for k, m in cells
    )
    columns = ("class", "answer", "expected_count")
    n_classes = len({*truth.classes.tolist(), *beliefs.classes.tolist()})
    return {
        "about": about,
        "n_items": len(truth),
        "weight": counts.sum(),
        "right": np.trace(counts) / counts.sum(),
        **matrix(classes, counts, n_classes),
        "pairs": rows,
        "list": take_away("confusion matrix", columns, every, len(cells)),
    }


def scores_by_class(truth: Labels, beliefs: Beliefs) -> dict[str, Any]:
    """Precision, recall and F1 of each class, from expected counts; the largest classes first."""
    named, shares, answer = found = divide(truth, beliefs)
    right = found.by_answer(np.take_along_axis(shares, answer[:, None], axis=1)[:, 0])
    actual, answered = shares.sum(axis=0), found.by_answer(shares.sum(axis=1))
    precision, recall = ratio(right, answered), ratio(right, actual)
    f1 = ratio(2 * right, actual + answered)
    order = np.argsort(-actual, kind="stable")
    order = order[(actual + answered)[order] > 0]
    classes = names_of(named)
    rows = [
        {
            "class": classes[k],
            "weight": actual[k],
            "answered": answered[k],
            "precision": precision[k],
            "recall": recall[k],
            "f1": f1[k],
        }
        for k in order
    ]
    columns = ("class", "weight", "answered", "precision", "recall", "f1")
    return {
        "classes": rows[:MOST_SCORED],
        "n_classes_left_out": max(len(rows) - MOST_SCORED, 0),
        "balanced": recall[actual > 0].mean(),
        "list": take_away("scores by class", columns, rows),
    }


def ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Shares; NaN of nothing."""
    return np.divide(part, whole, out=np.full(len(part), np.nan), where=whole > 0)


def summarize_confusion(
    annotations: Annotations | None, about: str, truth: Labels | None, beliefs: Beliefs | None
) -> dict[str, Any] | None:
    """Confusions of people and of a model, as far as there is anything to compare."""
    people = None if annotations is None else confused_people(annotations)
    model = None
    if truth is not None and beliefs is not None and len(truth):
        model = confused_model(truth, beliefs, about)
    if people is None and model is None:
        return None
    return {"people": people, "model": model}
