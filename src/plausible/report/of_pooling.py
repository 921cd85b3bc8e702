"""How answers became labels, in words and numbers."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from plausible.experts import Annotations
from plausible.report.words import name_of

LONGEST_NOTE = 400  # letters
MOST_NOTES = 30

RULES = {
    "dempster": "Dempster's rule",
    "conjunctive": "the conjunctive rule",
    "disjunctive": "the disjunctive rule",
    "cautious": "the cautious rule",
    "bold": "the bold rule",
    "yager": "Yager's rule",
    "dubois_prade": "the rule of Dubois and Prade",
    "pcr6": "the rule PCR6",
    "mean": "their mean",
}


def summarize_pooling(
    annotations: Annotations | None,
    pooling: Mapping[str, Any] | None,
    is_ours: bool,
    notes: Sequence[str],
) -> dict[str, Any] | None:
    """The rule, the doubts and notes; None where there is nothing to tell.

    `is_ours` says that this report has pooled the answers, so that the rule is known.
    """
    told = [name_of(note, LONGEST_NOTE) for note in notes[:MOST_NOTES]]
    if annotations is None:
        return {"has_answers": False, "notes": told} if told else None
    given = dict(pooling or {})
    is_known = is_ours or pooling is not None
    return {
        "has_answers": True,
        "rule": given.get("rule", "dempster") if is_known else None,
        "doubt": _kind_of_doubt(annotations, given) if is_known else None,
        "own_doubt": _own_doubts(annotations),
        "notes": told,
    }


def _kind_of_doubt(annotations: Annotations, given: Mapping[str, Any]) -> str | float:
    """Whose doubts were used: "own", "learned", "given", or one number."""
    doubt = given.get("doubt")
    if doubt is None:
        plain = {"rule", "doubt", "on_conflict", "dependence"}
        learns = annotations.doubt is None or set(given) - plain
        return "learned" if learns else "own"
    if isinstance(doubt, str):
        return "learned"
    return float(doubt) if np.ndim(doubt) == 0 and not isinstance(doubt, Mapping) else "given"


def _own_doubts(annotations: Annotations) -> dict[str, Any] | None:
    """Doubts that came with the answers."""
    if annotations.doubt is None or not len(annotations):
        return None
    low, middle, high = np.quantile(annotations.doubt, [0.0, 0.5, 1.0])
    n_sure = int((annotations.doubt == 0).sum())
    mean = annotations.doubt.mean()
    return {"least": low, "median": middle, "mean": mean, "most": high, "n_sure": n_sure}
