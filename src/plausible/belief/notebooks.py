"""Decisions as a notebook shows them."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from plausible._html import LONGEST, left_out, meter, name, notebook_page, number_of, rows_of, strip
from plausible._visible import name_of, set_in_words

if TYPE_CHECKING:
    from plausible.belief.decisions import Decision

MOST_ROWS = 8  # different answers that are shown
MOST_CLASSES = 4  # of a set that are named


def decision_page(decision: "Decision") -> str:
    """How many rows have one answer, several or none, and the most frequent answers."""
    chosen = np.atleast_2d(decision.chosen.reshape(-1, decision.chosen.shape[-1]))
    refused = np.atleast_1d(decision.refused.ravel())
    size = chosen.sum(axis=1)
    counts = [
        ("one answer", int(((size == 1) & ~refused).sum())),
        ("several", int(((size > 1) & ~refused).sum())),
        ("refused", int(refused.sum())),
    ]
    kinds, numbers = different(chosen)
    order = np.argsort(-numbers, kind="stable")[:MOST_ROWS]
    acts = names_of_acts(decision)
    rows = [
        (
            name(in_words(kinds[k], acts)),
            f"{numbers[k]:,}",
            meter(numbers[k] / len(chosen), share(numbers[k] / len(chosen))),
        )
        for k in order
    ]
    n_tied = int(decision.tied.sum())
    facts = number_of(len(chosen), "row") + (f", {n_tied:,} tied" if n_tied else "")
    return notebook_page(
        "Decision",
        facts,
        strip(counts),
        rows_of(["answer", "rows", "share"], rows, numbers=[1]),
        left_out(len(numbers) - len(order), "answer"),
    )


def different(chosen: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """The different answers (m, number of acts), and how many rows have each."""
    packed = np.ascontiguousarray(np.packbits(chosen, axis=1))
    codes = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, counts = np.unique(codes, return_index=True, return_counts=True)
    return chosen[first], counts


def names_of_acts(decision: "Decision") -> list[str]:
    """What the acts are called, refusing last."""
    n_acts = decision.chosen.shape[-1] - decision.offers_refusal
    known: list[Any] = [] if decision.classes is None else decision.classes.tolist()
    if decision.offers_unknown and len(known) == n_acts - 1:
        known = [*known, "unknown"]
    if len(known) != n_acts:
        known = [f"act {k}" for k in range(n_acts)]
    return [name_of(act, LONGEST) for act in known] + ["refuse"] * decision.offers_refusal


def in_words(chosen: NDArray[np.bool_], acts: list[str]) -> str:
    """An answer: an act, several, or a refusal."""
    few = [acts[k] for k in np.flatnonzero(chosen)]
    return set_in_words(few, MOST_CLASSES) if few else "refuse"


def share(part: float) -> str:
    """A share in words."""
    return f"{100 * part:.0f} %" if part >= 0.01 or part == 0 else "<1 %"
