"""Speed of pooling answers: Dawid and Skene's model against crowd-kit, and Dempster's rule.

Run with ``make bench``. 180,000 items have ten hard answers each, by 5000 people of whom a few are
bad, in ten classes. Both fits of Dawid and Skene's model start from the shares of the votes, add no
imagined answers and take the same number of steps; that they end at the same probabilities is
checked. crowd-kit's table of integers and our `Annotations` are ready made; the ratio that includes
the building of `Annotations` is printed, too. Contestants take turns; the fastest turn counts.
"""

import copy
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from crowdkit.aggregation import DawidSkene
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from timing import interleave, show

from plausible.experts import Annotations, AnswerPool, fit_reliability
from plausible.io import read_annotations

N_ITEMS, EACH, N_PEOPLE, N_CLASSES = 180_000, 10, 5000, 10
STEPS = 5
REPEATS = 3
DOUBT = 0.3
FASTER = 20.0
MORE, MORE_FASTER = 1000, 50.0
DIFFERENT, AS_FAST = 200_000, 3.0
MANY_CLASSES, MANY_CLASSES_PEOPLE = 50, 500
LONGEST = 2.0
Columns = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]


def draw(
    seed: int = 0, n_items: int = N_ITEMS, n_people: int = N_PEOPLE, n_classes: int = N_CLASSES
) -> Columns:
    """Items, people and answers, in random order; nobody answers an item twice."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n_items)
    skill = rng.beta(4.0, 2.0, size=n_people)
    item = np.repeat(np.arange(n_items), EACH)
    first, step = rng.integers(n_people, size=n_items), rng.integers(1, n_people // EACH, n_items)
    person = ((first + np.arange(EACH)[:, None] * step) % n_people).T.ravel()
    knows = rng.uniform(size=len(item)) < skill[person]
    said = np.where(knows, y[item], rng.integers(n_classes, size=len(item)))
    order = rng.permutation(len(item))
    return item[order], person[order], said[order]


def dawid_skene(answers: Annotations) -> Any:
    """The model as crowd-kit fits it, which ends with an E step."""
    return fit_reliability(
        answers, "full", smoothing=0.0, tol=0.0, max_iter=STEPS - 1, accelerate=False
    )


def compare_dawid_skene(columns: Columns) -> list[bool]:
    """Ratios to crowd-kit, and whether it found the same."""
    table = pd.DataFrame(dict(zip(("task", "worker", "label"), columns, strict=True)))
    answers = Annotations.from_long(*columns)
    peer = DawidSkene(n_iter=STEPS, tol=-np.inf)
    runs: dict[str, Callable[[], Any]] = {
        "crowd-kit": lambda: peer.fit(table),
        "fit": lambda: dawid_skene(answers),
        "build and fit": lambda: dawid_skene(Annotations.from_long(*columns)),
    }
    times = interleave(runs, REPEATS)
    print(f"Dawid-Skene, {STEPS} steps, seconds:", {k: round(v, 2) for k, v in times.items()})
    assert peer.probas_ is not None
    theirs = peer.probas_.loc[answers.items, answers.classes].to_numpy()
    gap = float(np.abs(theirs - dawid_skene(answers).posterior).max())
    ratio, whole = (times["crowd-kit"] / times[name] for name in ("fit", "build and fit"))
    print(f"crowd-kit against ours, with the building of Annotations: {whole:.1f}")
    return [
        show(
            "difference of probabilities from crowd-kit, millionths",
            1e6 * gap,
            "at most 1",
            gap <= 1e-6,
        ),
        show("Dawid-Skene: crowd-kit against ours", ratio, f"at least {FASTER:g}", ratio >= FASTER),
    ]


def compare_dempster(columns: Columns, folder: Path) -> list[bool]:
    """Seconds for a million answers, from columns of integers to labels."""
    path = folder / "answers.csv"
    head = ["item", "annotator", "label"]
    pd.DataFrame(dict(zip(head, columns, strict=True))).to_csv(path, index=False)
    answers = Annotations.from_long(*columns)
    runs: dict[str, Callable[[], Any]] = {
        "build and pool": lambda: Annotations.from_long(*columns).pool(doubt=DOUBT),
        "build": lambda: Annotations.from_long(*columns),
        "pool": lambda: answers.pool(doubt=DOUBT),
        "pool, doubt fitted": lambda: answers.pool(doubt="fit"),
        "read CSV": lambda: read_annotations(path),
    }
    millions = len(columns[0]) / 1e6
    times = {name: t / millions for name, t in interleave(runs, REPEATS).items()}
    print("Seconds for a million answers:", {k: round(v, 2) for k, v in times.items()})
    needed = times["build and pool"]
    name = "Dempster's rule: seconds for a million answers, with building"
    return [show(name, needed, f"at most {LONGEST:g}", needed <= LONGEST)]


def compare_added(columns: Columns) -> list[bool]:
    """Ratio of a new fit to the adding of some answers and a look at their labels, by model.

    A new fit makes labels as well, of the same answers; that of "auto" is a pool without settings,
    which looks for people who copy.
    """
    million = tuple(column[:1_000_000] for column in columns)
    answers = Annotations.from_long(*million)
    early = Annotations.from_long(*(column[:-MORE] for column in million))
    late = Annotations.from_long(*(column[-MORE:] for column in million))
    touched = np.unique(million[0][-MORE:]).tolist()

    def add(pools: Iterator[AnswerPool]) -> Any:
        return next(pools).add(late).labels(touched)

    verdicts = []
    for model in ("one_coin", "class", "full", "auto"):
        before = AnswerPool(early, model)
        pools = iter([copy.deepcopy(before) for _ in range(REPEATS)])
        new = answers.pool if model == "auto" else partial(answers.pool, doubt="fit", model=model)
        times = interleave({"new fit": new, "add": partial(add, pools)}, REPEATS)
        shown = {k: round(v, 4) for k, v in times.items()}
        print(f"Seconds for a million answers, {model}:", shown)
        ratio = times["new fit"] / times["add"]
        name = f"a new fit of a million answers against adding {MORE:,} and their labels, {model}"
        verdicts.append(show(name, ratio, f"at least {MORE_FASTER:g}", ratio >= MORE_FASTER))
        del before, pools
    return verdicts


def compare_doubts(columns: Columns) -> list[bool]:
    """Seconds for answers whose doubts are all different, from columns to labels."""
    verdicts = []
    doubt = np.random.default_rng(0).uniform(0, 0.8, DIFFERENT)
    for n_classes, some in (
        (N_CLASSES, tuple(column[:DIFFERENT] for column in columns)),
        (MANY_CLASSES, draw(0, DIFFERENT // EACH, MANY_CLASSES_PEOPLE, MANY_CLASSES)),
    ):

        def pool(model: str, some: Any = some) -> Any:
            return Annotations.from_long(*some, doubt=doubt).pool(doubt="fit", model=model)

        runs: dict[str, Callable[[], Any]] = {
            model: partial(pool, model) for model in ("one_coin", "class", "full")
        }
        times = interleave(runs, REPEATS)
        shown = {k: round(v, 2) for k, v in times.items()}
        print(f"Seconds for {DIFFERENT:,} different doubts, {n_classes} classes:", shown)
        for model in ("one_coin",) if n_classes == N_CLASSES else tuple(times):
            name = f"{DIFFERENT:,} different doubts, {n_classes} classes, {model}: seconds"
            needed = times[model]
            verdicts.append(show(name, needed, f"at most {AS_FAST:g}", needed <= AS_FAST))
    return verdicts


def main() -> int:
    """Run all; 1 if a wanted ratio is missed."""
    warnings.simplefilter("ignore", ConvergenceWarning)  # the steps are counted
    columns = draw()
    verdicts = compare_dawid_skene(columns)
    verdicts += compare_added(columns) + compare_doubts(columns)
    with tempfile.TemporaryDirectory() as folder:
        verdicts += compare_dempster(columns, Path(folder))
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    raise SystemExit(main())
