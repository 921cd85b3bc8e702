"""Speed of belief trees and forests on belief labels, against scikit-learn on hard ones.

Run with ``make bench``. A time is that of a whole fit: 20,000 items, 20 features, 5 classes, fully
grown trees. Labels are of three kinds: plausibilities of no special form, in which all 31 sets of
classes occur, the hardest case; doubted labels; and hard ones. Contestants take turns in one
process, with a pause before forests; the fastest turn counts. The first fit on a machine, which
compiles, is not counted.

The loop in Python is the textbook: for each node, feature and threshold, the masses of both sides
are added up step by step and their impurity taken with NumPy. It grows two levels on 1000 of the
rows, and its time for a row is compared with that of a tree of two levels on all of them.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier
from timing import interleave, show

from plausible.belief import membership
from plausible.labels import Labels
from plausible.models import BeliefForestClassifier, BeliefTreeClassifier
from plausible.models.tree.problem import masses_of

N, D, K = 20_000, 20, 5
N_TREES = 100
AT_MOST, AT_LEAST = 5.0, 100.0
AT_MOST_FOREST = {"plausibilities": 5.0, "doubted labels": 1.5, "hard labels": 1.5}
LOOP_ROWS = 1_000


def draw(seed: int = 0) -> tuple[Any, Any, dict[str, Labels]]:
    """Features, classes with some noise, and labels of three kinds."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, D))
    y = (X @ rng.normal(size=(D, K)) + 2.0 * rng.gumbel(size=(N, K))).argmax(axis=1)
    contour = rng.uniform(0.02, 0.9, (N, K)) * (rng.uniform(size=(N, K)) < 0.5)
    contour[np.arange(N), y] = 1.0
    labels = {
        "plausibilities": Labels.from_plausibility(contour.round(2)),
        "doubted labels": Labels.from_doubt(y, rng.uniform(0.0, 0.6, N)),
        "hard labels": Labels.from_crisp(y),
    }
    return X, y, labels


def seconds(runs: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Fastest of some turns of each contestant, with a pause before each."""
    best = dict.fromkeys(runs, np.inf)
    for _ in range(repeats):
        for name, run in runs.items():
            time.sleep(0.3)
            start = time.perf_counter()
            run()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def impurity(sums: Any, inside: Any, weight: float = 0.5) -> float:
    """Of one node, from sums of masses on focal sets, of which the last is the frame."""
    m = sums.copy()
    m[-1] += 1.0
    m /= m.sum()
    sizes = inside.sum(axis=1)
    betting = ((m / sizes) @ inside) @ inside.T
    held = m > 0.0
    discord = -(m[held] * np.log2(betting[held])).sum()
    return float((1.0 - weight) * (m @ np.log2(sizes)) + weight * discord)


def loop(X: Any, masses: Any, inside: Any, depth: int) -> int:
    """Grow some levels of a tree in a loop; the number of leaves."""
    if depth == 0:
        return 1
    best = (len(X) * impurity(masses.sum(axis=0), inside) - 1e-9, -1, 0.0)
    for j in range(X.shape[1]):
        order = np.argsort(X[:, j])
        left, right = np.zeros(masses.shape[1]), masses.sum(axis=0)
        for place, row in enumerate(order[:-1].tolist(), start=1):
            left, right = left + masses[row], right - masses[row]
            following = X[order[place], j]
            if X[row, j] == following:
                continue
            cost = place * impurity(left, inside) + (len(X) - place) * impurity(right, inside)
            if cost < best[0]:
                best = (cost, j, (X[row, j] + following) / 2)
    if best[1] < 0:
        return 1
    side = X[:, best[1]] <= best[2]
    return sum(loop(X[part], masses[part], inside, depth - 1) for part in (side, ~side))


def compare_trees(X: Any, y: Any, labels: dict[str, Labels]) -> list[bool]:
    """Trees on each kind of label."""
    for given in labels.values():
        BeliefTreeClassifier(max_depth=1).fit(X, given)
    runs: dict[str, Callable[[], Any]] = {
        kind: partial(BeliefTreeClassifier().fit, X, given) for kind, given in labels.items()
    }
    runs["scikit-learn"] = partial(DecisionTreeClassifier(random_state=0).fit, X, y)
    times = interleave(runs, repeats=5)
    print("trees, seconds:", {name: round(value, 3) for name, value in times.items()})
    peer = times.pop("scikit-learn")
    return [
        show(f"tree on {kind} against scikit-learn", t / peer, f"at most {AT_MOST}", t / peer <= 5)
        for kind, t in times.items()
    ]


def compare_with_loop(X: Any, labels: Labels) -> bool:
    """One tree against a loop in Python, on fewer rows."""
    data, given = X[:LOOP_ROWS], labels[:LOOP_ROWS]
    masses = masses_of(given)
    kept = masses.values.any(axis=0)
    sets, values = masses.focal_sets[kept], masses.values[:, kept]
    assert sets[-1] == (1 << K) - 1
    inside = membership(sets, K).astype(np.float64)
    start = time.perf_counter()
    leaves = loop(data, values, inside, 2)
    slow = time.perf_counter() - start
    model = BeliefTreeClassifier(max_depth=2)
    assert leaves == model.fit(data, given).get_n_leaves()
    fast = interleave({"tree": partial(model.fit, X, labels)})["tree"]
    ratio = (slow / LOOP_ROWS) / (fast / N)
    return show("tree against a loop in Python", ratio, f"at least {AT_LEAST}", ratio >= AT_LEAST)


def compare_forests(X: Any, y: Any, labels: dict[str, Labels]) -> list[bool]:
    """Forests on two cores."""
    runs: dict[str, Callable[[], Any]] = {
        kind: partial(BeliefForestClassifier(N_TREES, n_jobs=2, random_state=0).fit, X, given)
        for kind, given in labels.items()
    }
    peer = RandomForestClassifier(N_TREES, n_jobs=2, random_state=0)
    runs["scikit-learn"] = partial(peer.fit, X, y)
    times = seconds(runs, repeats=2)
    print("forests, seconds:", {name: round(value, 2) for name, value in times.items()})
    theirs = times.pop("scikit-learn")
    ratios = {kind: t / theirs for kind, t in times.items()}
    verdicts = []
    for kind, ratio in ratios.items():
        most, claim = AT_MOST_FOREST[kind], f"forest on {kind} against scikit-learn"
        verdicts.append(show(claim, ratio, f"at most {most}", ratio <= most))
    return verdicts


def main() -> int:
    """Run all; 1 if a wanted ratio is missed."""
    X, y, labels = draw()
    verdicts = compare_trees(X, y, labels)
    verdicts.append(compare_with_loop(X, labels["plausibilities"]))
    verdicts += compare_forests(X, y, labels)
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    raise SystemExit(main())
