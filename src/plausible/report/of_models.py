"""What a model believes about items, in numbers."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible.labels import Labels
from plausible.models import Beliefs
from plausible.report.lists import MOST_ROWS as MOST_TAKEN
from plausible.report.lists import take_away
from plausible.report.of_labels import tally
from plausible.report.words import names_of, set_in_words, statement_in_words

FloatArray = NDArray[np.float64]

MOST_BARS = 5  # classes of an item that are drawn
REFUSAL = ("item", "best_class", "probability", "possible_classes")  # columns of the list
SUSPICIOUS = 0.1  # labels that the model finds less plausible than this


def summarize_beliefs(
    beliefs: Beliefs, labels: Labels | None, items: list[str], reject: float, shown: int, worst: int
) -> dict[str, Any]:
    """Answers, sets and refusals, some items, and labels that the model finds implausible."""
    refused = refusals(beliefs, reject)
    names = names_of(beliefs.classes)
    answers = np.bincount(beliefs.probability.argmax(axis=1), minlength=len(names))
    chosen = spread(beliefs, shown)
    listed = _refused_rows(beliefs, refused, items, names)
    return {
        "n_items": len(beliefs),
        "answers": [
            {"class": names[k], "count": answers[k]}
            for k in np.argsort(-answers, kind="stable")[: 4 * MOST_BARS]
        ],
        "set_sizes": tally(beliefs.sets.sum(axis=1), 0, len(names)),
        "reject": reject,
        "n_refused": refused.sum(),
        "shown": [
            {
                "item": items[row],
                "refused": refused[row],
                "set": set_in_words([names[k] for k in np.flatnonzero(beliefs.sets[row])]),
                "bars": bars(beliefs, row, names),
            }
            for row in chosen
        ],
        "suspicious": None if labels is None else _suspects(beliefs, labels, items, worst),
        "list": take_away("refusals", REFUSAL, listed, int(refused.sum())),
    }


def refusals(beliefs: Beliefs, reject: float) -> NDArray[np.bool_]:
    """Rows where a bet on the best class is worse than refusing at this loss."""
    return beliefs.decide(reject=reject).refused


def _refused_rows(
    beliefs: Beliefs, refused: NDArray[np.bool_], items: list[str], names: list[str]
) -> Iterator[dict[str, Any]]:
    """Items about which the model would rather not answer, the least probable first."""
    p = beliefs.probability
    rows = np.flatnonzero(refused)
    for row in rows[np.argsort(p[rows].max(axis=1), kind="stable")]:
        best = int(p[row].argmax())
        possible = set_in_words([names[k] for k in np.flatnonzero(beliefs.sets[row])])
        yield dict(zip(REFUSAL, (items[row], names[best], p[row, best], possible), strict=True))


def spread(beliefs: Beliefs, shown: int) -> NDArray[np.int64]:
    """Some rows, evenly from the surest to the most open."""
    order = np.argsort(beliefs.contour.sum(axis=1), kind="stable")
    places = np.linspace(0, len(order) - 1, min(shown, len(order))).round().astype(int)
    return order[places]


def bars(beliefs: Beliefs, row: int, names: list[str]) -> list[dict[str, Any]]:
    """The most plausible classes of an item."""
    order = np.argsort(-beliefs.contour[row], kind="stable")[:MOST_BARS]
    return [
        {
            "class": names[k],
            "plausibility": beliefs.contour[row, k],
            "probability": beliefs.probability[row, k],
            "possible": beliefs.sets[row, k],
        }
        for k in order
    ]


def _compatibility(labels: Labels, beliefs: Beliefs) -> FloatArray:
    """How far (n,) label and model can both be right: max over classes of the product.

    One if the model's first choice is fully possible by the label, zero if they contradict.
    """
    known = labels.classes.tolist()
    everything = [*known, *(name for name in beliefs.classes.tolist() if name not in known)]
    wide = labels if len(everything) == len(known) else labels.reorder(everything)
    theirs = np.zeros((len(labels), len(everything)))
    theirs[:, [everything.index(name) for name in beliefs.classes.tolist()]] = beliefs.contour
    return (wide.scaled() * theirs).max(axis=1)


def _suspects(beliefs: Beliefs, labels: Labels, items: list[str], most: int) -> dict[str, Any]:
    """Labels that the model finds implausible, the worst first."""
    fits, scaled = _compatibility(labels, beliefs), labels.scaled()
    count = int((fits < SUSPICIOUS).sum())
    said, believed = names_of(labels.classes), names_of(beliefs.classes)
    rows = [
        {
            "item": items[row],
            "plausibility": fits[row],
            "label": statement_in_words(scaled[row], said),
            "model": statement_in_words(beliefs.contour[row], believed),
        }
        for row in np.argsort(fits, kind="stable")[: min(count, max(most, MOST_TAKEN))]
    ]
    columns = ("item", "plausibility", "label", "model")
    return {
        "limit": SUSPICIOUS,
        "count": count,
        "worst": rows[:most],
        "list": take_away("suspicious labels", columns, rows, count),
    }
