r"""What to ask next: errors of pooled labels against the number of answers, by ways of asking.

200 items of four classes, eight people who are right in 60 to 95 of 100 cases and err evenly; 15 %
of the items are truly ambiguous: half of the answers about them are as if they were of a second
class. Answers come one by one, each of a person drawn at random, and are pooled by Dempster's rule
with known accuracies. The next item is

===========  ===================================================================================
random       any item
fewest       one with the fewest answers
reasons      the first of `next_items`: few answers, conflict, open classes
entropy      the one whose pooled label has the highest entropy
information  the one about which the answer of this person is expected to teach most bits, as
             `next_items(by="information")` and the annotation page have it
===========  ===================================================================================

The error is that of the most plausible class, on items that are not ambiguous. No paper; the
specification of the page asked for half the error of "fewest" at three answers an item.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible.experiments.common import (
    Progress,
    describe,
    open_figure,
    save_figure,
    seed_of,
    silent,
    summary,
    with_interval,
)
from plausible.experiments.comparison import Claim, Results, Table, claim
from plausible.experts import information

FloatArray = NDArray[np.float64]

WAYS = ("random", "fewest", "reasons", "entropy", "information")
N_ITEMS, N_CLASSES, N_PEOPLE = 200, 4, 8
AMBIGUOUS = 0.15
ACCURACY = np.linspace(0.6, 0.95, N_PEOPLE)
ANSWERS = (1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0)  # for each item, on average


class Crowd:
    """Items, and what each person says of each, which is the same however often it is asked."""

    def __init__(self, random: np.random.Generator) -> None:
        self.truth = random.integers(N_CLASSES, size=N_ITEMS)
        self.is_ambiguous = random.random(N_ITEMS) < AMBIGUOUS
        second = (self.truth + random.integers(1, N_CLASSES, size=N_ITEMS)) % N_CLASSES
        seems = np.where(
            self.is_ambiguous & (random.random((N_PEOPLE, N_ITEMS)) < 0.5), second, self.truth
        )
        errs = random.random((N_PEOPLE, N_ITEMS)) > ACCURACY[:, None]
        other = (seems + random.integers(1, N_CLASSES, size=seems.shape)) % N_CLASSES
        self.says = np.where(errs, other, seems)


def doubts() -> FloatArray:
    """Doubts (R,) whose discounted votes have the ratios of likelihoods of the accuracies."""
    return np.asarray((1 - ACCURACY) / (N_CLASSES - 1) / ACCURACY)


def reasons(logs: FloatArray, votes: FloatArray, count: FloatArray) -> FloatArray:
    """Priorities (n,) by few answers, conflict and open classes, as `next_items` has them.

    Hard answers leave the mass of class k at prod_{j != k} D_j (1 - D_k), and of all classes at
    prod D, with D_j the product of the doubts of votes for j.
    """
    product = np.exp(votes)  # of doubts, by class
    everything = product.prod(axis=1)
    single = everything[:, None] / product * (1 - product)
    conflict = 1 - (single.sum(axis=1) + everything)
    plausible = np.exp(logs - logs.max(axis=1, keepdims=True))
    shares = plausible / plausible.sum(axis=1, keepdims=True)
    entropy = -(shares * np.log(shares)).sum(axis=1) / np.log(N_CLASSES)
    return np.asarray((1 / (1 + count) + conflict + entropy) / 3)


def urgency(way: str, logs: FloatArray, votes: FloatArray, count: FloatArray, who: int) -> Any:
    """How urgent items (n,) are by a way of asking."""
    if way == "random":
        return np.zeros(N_ITEMS)
    if way == "fewest":
        return -count
    if way == "reasons":
        return reasons(logs, votes, count)
    chances = np.exp(logs - logs.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    if way == "entropy":
        return -(chances * np.log(np.maximum(chances, 1e-300))).sum(axis=1)
    return information(chances, float(ACCURACY[who]))


def ask(crowd: Crowd, way: str, random: np.random.Generator) -> list[float]:
    """Errors on clear items after so many answers."""
    logs = np.zeros((N_ITEMS, N_CLASSES))
    votes = np.zeros((N_ITEMS, N_CLASSES))
    done = np.zeros((N_PEOPLE, N_ITEMS), dtype=bool)
    log_doubt, errors = np.log(doubts()), []
    marks = {round(N_ITEMS * answers) for answers in ANSWERS}
    for number in range(1, round(N_ITEMS * ANSWERS[-1]) + 1):
        who = int(random.choice(np.flatnonzero(~done.all(axis=1))))
        worth = urgency(way, logs, votes, done.sum(axis=0).astype(np.float64), who)
        worth = np.where(done[who], -np.inf, worth + 1e-9 * random.random(N_ITEMS))
        item = int(np.argmax(worth))
        said = crowd.says[who, item]
        done[who, item] = True
        logs[item] += log_doubt[who]
        logs[item, said] -= log_doubt[who]
        votes[item, said] += log_doubt[who]
        if number in marks:
            ties = logs + 1e-9 * random.random(logs.shape)  # nobody is helped by the order
            wrong = ties.argmax(axis=1) != crowd.truth
            errors.append(float(wrong[~crowd.is_ambiguous].mean()))
    return errors


def run(quick: bool = False, seed: int = 0, progress: Progress = silent) -> Results:
    """All ways of asking on the same crowds.

    Parameters
    ----------
    quick : bool
        3 crowds instead of 80.
    seed : int
    progress : function of a message
    """
    n_runs = 3 if quick else 80
    errors: dict[str, list[list[float]]] = {way: [] for way in WAYS}
    for number in range(n_runs):
        crowd = Crowd(np.random.default_rng(seed_of(seed, 1, number)))
        for way in WAYS:
            errors[way].append(ask(crowd, way, np.random.default_rng(seed_of(seed, 2, number))))
        progress(f"crowd {number + 1} of {n_runs}")
    settings = {"n_runs": n_runs, "items": N_ITEMS, "people": N_PEOPLE, "answers": list(ANSWERS)}
    results = describe("asking", seed, quick, settings) | {"errors": errors}
    results["claims"] = judge(results)
    return results


def at(results: Results, way: str, answers: float) -> list[float]:
    """Errors of a way after so many answers an item, by crowd."""
    return [one[ANSWERS.index(answers)] for one in results["errors"][way]]


def judge(results: Results) -> list[Claim]:
    """What was expected beside what was found."""
    found = []
    for answers, required in ((2.0, False), (3.0, True)):
        fewest, best = (np.array(at(results, way, answers)) for way in ("fewest", "information"))
        ratio = best.mean() / fewest.mean()
        gap = summary(best - 0.5 * fewest)
        holds = True if gap["high"] < 0 else False if gap["low"] > 0 else None
        found.append(
            claim(
                f"{answers:g} answers an item: by information, less than half the error of asking "
                "where there are fewest",
                holds,
                f"{best.mean():.1%} against {fewest.mean():.1%} ({ratio:.2f} of it)",
                required=required and not results["quick"],
                asked=True,
            )
        )
    return found


def tables(results: Results) -> dict[str, Table]:
    """Errors by way and number of answers."""
    lines = [
        [f"{answers:g}", *(with_interval(summary(at(results, way, answers)), 1, scale=100)
                           for way in WAYS)]
        for answers in ANSWERS
    ]  # fmt: skip
    caption = "Errors on clear items in percent, with 95 % intervals over crowds."
    return {"errors": Table(caption, ["answers an item", *WAYS], lines)}


def draw(results: Results, path: Path) -> None:
    """Errors against answers."""
    figure, panels = open_figure(1, 1, size=(6.2, 3.8))
    axes = panels[0, 0]
    for way in WAYS:
        means = [100 * float(np.mean(at(results, way, answers))) for answers in ANSWERS]
        width = 2.4 if way == "information" else 1.3
        axes.plot(ANSWERS, means, marker="o", markersize=3, linewidth=width, label=way)
    axes.set_xlabel("answers an item")
    axes.set_ylabel("errors on clear items, %")
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False, title="asked next")
    save_figure(figure, path)
