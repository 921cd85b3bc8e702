"""Where experts clash, whom to trust and what to ask next, in numbers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible.experts import Annotations, who_err_together
from plausible.labels import Labels
from plausible.report.lists import MOST_ROWS as MOST_TAKEN
from plausible.report.lists import take_away
from plausible.report.of_peers import summarize_peers
from plausible.report.words import name_of, names_of, statement_in_words

N_BINS = 20  # of the histogram of conflict
MOST_STATEMENTS = 6  # different statements about an item that are told
MOST_PEOPLE = 5  # annotators of one statement who are named
MOST_TOGETHER = 20  # annotators of a group who are named
MOST_ROWS = 50  # annotators in the table of reliabilities


def summarize_clash(
    annotations: Annotations | None, conflict: NDArray[np.float64], items: list[str], n_worst: int
) -> dict[str, Any]:
    """Conflict of the items: its histogram, and the worst of them with who said what."""
    counts, edges = np.histogram(conflict, bins=N_BINS, range=(0.0, 1.0))
    order = np.argsort(-conflict, kind="stable")
    order = order[: int((conflict > 0).sum())]
    worst = order[:n_worst].tolist()
    told = _who_said_what(annotations, worst)
    listed = ({"item": items[row], "conflict": conflict[row]} for row in order)
    return {
        "mean": conflict.mean() if len(conflict) else None,
        "n_above_half": (conflict > 0.5).sum(),
        "histogram": {"edges": edges, "counts": counts},
        "worst": [
            {"item": items[row], "conflict": conflict[row], "answers": answers}
            for row, answers in zip(worst, told, strict=True)
        ],
        "agreement": None if annotations is None else _summarize_agreement(annotations),
        "list": take_away("items in conflict", ("item", "conflict"), listed, len(order)),
    }


def _summarize_agreement(annotations: Annotations) -> dict[str, Any]:
    """Agreement beyond chance, and how many answers there are."""
    found = annotations.agreement()
    count = np.bincount(annotations.item, minlength=len(annotations.items))
    return {
        "n_answers": len(annotations),
        "n_annotators": len(annotations.annotators),
        "answers_of_an_item": {
            "least": count.min(initial=len(annotations)),
            "mean": count.mean() if len(count) else None,
            "most": count.max(initial=0),
        },
        "alpha": found.alpha,
        "kappa": found.kappa,
        "observed": found.observed,
        "pairs": found.pairs,
    }


def _who_said_what(annotations: Annotations | None, rows: list[Any]) -> list[list[dict[str, Any]]]:
    """Statements about some items, each with the people who made it; most frequent first."""
    if annotations is None or not rows:
        return [[] for _ in rows]
    mine = np.flatnonzero(np.isin(annotations.item, rows))
    item, classes = annotations.item[mine], names_of(annotations.classes)
    return [_statements(annotations, mine[item == row], classes) for row in rows]


def _statements(
    annotations: Annotations, answers: NDArray[np.int64], classes: list[str]
) -> list[dict[str, Any]]:
    said = annotations.statement[answers]
    kinds, counts = np.unique(said, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:MOST_STATEMENTS]
    return [
        _statement(annotations, answers[said == kinds[place]], classes) for place in order
    ] + _others(len(answers) - int(counts[order].sum()))


def _statement(
    annotations: Annotations, answers: NDArray[np.int64], classes: list[str]
) -> dict[str, Any]:
    contour = annotations.facts.rows[[annotations.statement[answers[0]]]].toarray()[0]
    people = annotations.annotators[annotations.annotator[answers[:MOST_PEOPLE]]]
    doubt = None if annotations.doubt is None else annotations.doubt[answers].mean()
    return {
        "said": statement_in_words(contour, classes),
        "count": len(answers),
        "annotators": names_of(people),
        "doubt": doubt,
    }


def _others(count: int) -> list[dict[str, Any]]:
    other = {"said": "something else", "count": count, "annotators": [], "doubt": None}
    return [other] if count else []


def summarize_reliability(annotations: Annotations, options: dict[str, Any]) -> dict[str, Any]:
    """How far annotators can be trusted; the best and the worst where there are many.

    That is how often they are right. Their own doubts, which may admit the errors, stand beside it.
    """
    found = annotations.without_doubt().reliability(**options)
    own = _mean_doubts(annotations)
    rows = [
        {
            "annotator": name_of(found.annotators[row]),
            "n_answers": round(float(found.n_answers[row])),
            "right": found.accuracy[row],
            "low": found.low[row],
            "high": found.high[row],
            "agreement_low": found.agreement_low[row],
            "doubt": found.doubt[row],
            "own_doubt": None if own is None else own[row],
        }
        for row in np.argsort(-found.accuracy, kind="stable")
    ]
    quantiles = np.quantile(found.accuracy, [0.0, 0.25, 0.5, 0.75, 1.0])
    many = len(rows) > MOST_ROWS
    columns = ("annotator", "n_answers", "right", "low", "high", "agreement_low", "doubt",
               "own_doubt")  # fmt: skip
    return {
        "n_annotators": len(rows),
        "chance": 1 / max(annotations.n_classes, 1),
        "converged": bool(found.converged),
        "consensus_error": found.consensus_error,
        "quantiles": quantiles,
        "annotators": rows[: MOST_ROWS // 2] + rows[-MOST_ROWS // 2 :] if many else rows,
        "together": summarize_together(annotations),
        "peers": summarize_peers(annotations),
        "list": take_away("annotators", columns, rows),
    }


def summarize_together(annotations: Annotations) -> dict[str, Any]:
    """Groups of annotators who copy each other, or err together, and what they count for."""
    found = who_err_together(annotations)
    groups = [(group, 1.0) for group in found.copies]
    groups += list(zip(found.groups, found.group_shared, strict=True))
    rows = [
        {
            "annotators": [name_of(person) for person in group[:MOST_TOGETHER]],
            "n_annotators": len(group),
            "is_copies": number < len(found.copies),
            "shared": shared,
            "worth": len(group) / (1 + (len(group) - 1) * shared),
        }
        for number, (group, shared) in enumerate(groups)
    ]
    return {"groups": rows, "is_searched": found.is_searched}


def _mean_doubts(annotations: Annotations) -> NDArray[np.float64] | None:
    """Mean doubt of each annotator in what they say; NaN for those who say nothing."""
    if annotations.doubt is None:
        return None
    n_annotators = len(annotations.annotators)
    total = np.bincount(annotations.annotator, annotations.doubt, n_annotators)
    count = np.bincount(annotations.annotator, minlength=n_annotators)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def summarize_questions(
    annotations: Annotations, labels: Labels, items: list[str], n: int
) -> dict[str, Any]:
    """Items to ask about next, with the reasons."""
    place = {name: row for row, name in enumerate(annotations.items.tolist())}
    rows = [
        question._asdict() | {"item": items[place[question.item]]}
        for question in annotations.next_items(max(n, MOST_TAKEN), labels=labels)
    ]
    columns = ("item", "priority", "few", "conflict", "imprecision")
    return {
        "items": rows[:n],
        "list": take_away("items to ask again", columns, rows, len(annotations.items)),
    }
