"""Annotator against annotator, in numbers; see `plausible.experts.peers`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible.experts import Annotations, compare_peers, side_by_side
from plausible.report.lists import take_away
from plausible.report.words import names_of

FloatArray = NDArray[np.float64]

MOST_COMPARED = 30  # annotators, the most active, whose pairs are looked at
MOST_IN_MATRIX = 10  # of these in the matrix
MOST_PAIRS = 5  # that agree least, and most
LEAST_COMMON = 10  # pairs of answers from which two annotators can be compared


def summarize_peers(annotations: Annotations) -> dict[str, Any] | None:
    """Who agrees with whom, among the most active annotators; None if no two can be compared."""
    active, common, agree, kappa = compare_peers(annotations, MOST_COMPARED)
    if not common.any():
        return None
    shown = side_by_side(agree[:MOST_IN_MATRIX, :MOST_IN_MATRIX])
    names = names_of(annotations.annotators[active])
    rows = _pairs(names, common, agree, kappa)
    enough = [row for row in rows if row["common"] >= LEAST_COMMON]
    columns = ("first", "second", "common", "agree", "kappa")
    return {
        "n_annotators": len(annotations.annotators),
        "n_compared": len(active),
        "least_common": LEAST_COMMON,
        "annotators": [names[r] for r in shown],
        "agree": agree[np.ix_(shown, shown)],
        "common": common[np.ix_(shown, shown)].astype(np.int64),
        "least": enough[:MOST_PAIRS],
        "most": enough[MOST_PAIRS:][-MOST_PAIRS:][::-1],
        "list": take_away("annotator against annotator", columns, rows),
    }


def _pairs(
    names: list[str], common: FloatArray, agree: FloatArray, kappa: FloatArray
) -> list[dict[str, Any]]:
    """Pairs of annotators who can be compared, those who agree least first."""
    first, second = np.nonzero(np.triu(common, 1))
    order = np.lexsort((agree[first, second], kappa[first, second]))  # NaN last
    return [
        {
            "first": names[r],
            "second": names[s],
            "common": round(common[r, s]),
            "agree": agree[r, s],
            "kappa": kappa[r, s],
        }
        for r, s in zip(first[order], second[order], strict=True)
    ]
