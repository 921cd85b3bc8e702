"""One table of what was tried, what was chosen, and how sure that is."""

from typing import Any

import numpy as np

from plausible.models.auto.choice import FloatArray
from plausible.models.auto.trials import Rows, Trial


def tabulate(
    trials: list[Trial], votes: FloatArray, rows: Rows, chance: FloatArray
) -> list[dict[str, Any]]:
    """A dictionary for each candidate; see `AutoClassifier.results_`.

    `chance` is that of the candidates that have bet.
    """
    known, weight = rows.known, rows.share
    told, total = known.weight.sum(), weight.sum()
    able = [trial.losses for trial in trials if trial.losses is not None]
    best = min(able, key=lambda one: weight @ one)
    lots = iter(chance)
    table = []
    for trial, vote in zip(trials, votes, strict=True):
        found = dict.fromkeys(("loss", "soft_accuracy", "behind", "error"), np.nan)
        found["chance"] = 0.0
        if trial.losses is not None and trial.credit is not None:
            gap = trial.losses - best
            mean = weight @ gap / total
            found = {
                "loss": float(weight @ trial.losses / total),
                "soft_accuracy": float(known.weight @ trial.credit / told),
                "behind": float(mean),
                "error": float(np.sqrt((weight**2 * (gap - mean) ** 2).sum()) / total),
                "chance": float(next(lots)),
            }
        rest = {"exponent": trial.exponent, "seconds": trial.seconds, "note": trial.note}
        table.append({"name": trial.name, **found, "vote": float(vote), **rest})
    return table


def summarize(results: list[dict[str, Any]], n_rows: int, n_folds: int) -> str:
    """The table in plain text, best candidates first, and a line on how sure the choice is."""
    width = max(len("candidate"), *(len(one["name"]) for one in results))
    order = sorted((one for one in results if not one["note"]), key=lambda one: one["loss"])
    told = f"{len(order)} candidates bet on {n_rows} rows that they had not seen ({n_folds} folds):"
    head = f"{'candidate':<{width}}    loss  above the best  accuracy   vote"
    lines = [
        f"{one['name']:<{width}}  {one['loss']:6.3f}  "
        f"{one['behind']:6.3f} ± {one['error']:.3f}  {one['soft_accuracy']:8.3f}  "
        + (f"{100 * one['vote']:3.0f} %" if one["vote"] else "    -")
        for one in order
    ]
    lines += [f"{one['name']:<{width}}  {one['note']}" for one in results if one["note"]]
    return "\n".join([told, head, *lines, how_sure(order)])


def how_sure(order: list[dict[str, Any]]) -> str:
    """Words on chances and votes; candidates in their order."""
    first = order[0]
    sure = (
        f"{first['name']} has the lowest loss, also in {100 * first['chance']:.0f} % of resamples "
        "of the rows"
    )
    voters = [one for one in order if one["vote"]]
    if len(voters) == 1:
        alone = voters[0]["name"]
        return f"{sure}; {'it' if alone == first['name'] else alone} alone answers."
    return f"{sure}; the {len(voters)} with votes answer together."
