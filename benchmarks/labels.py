"""Speed of `Labels`: a million labels over ten classes against the bare numpy operations.

Run with ``make bench``. For each kind of label, the contour is built by the shortest numpy code
that does the same to good input; `Labels` also checks the input. Prints the ratios and fails if one
is above 5.
"""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from timing import interleave, show

from plausible.belief import SparseMasses
from plausible.labels import Labels
from plausible.metrics import soft_accuracy, soft_log_loss

N, K = 1_000_000, 10
RNG = np.random.default_rng(0)
CODES = RNG.integers(0, K, size=N)
NAMES = np.array([f"class {k}" for k in range(K)])
DOUBT = RNG.random(N)
TABLE = RNG.random((N, K))
PROBABILITY = TABLE / TABLE.sum(axis=1, keepdims=True)
MEMBERS = TABLE < 0.3
MEMBERS[np.arange(N), CODES] = True
LISTS = [frozenset(np.flatnonzero(row).tolist()) for row in MEMBERS[: N // 10]]
FOCAL = np.array([1 << k for k in range(K)] + [(1 << K) - 1])
MASSES = RNG.dirichlet(np.ones(K + 1), size=N)
ROWS = RNG.permutation(N)
LABELS = Labels.from_plausibility(TABLE)


def hard_contour() -> np.ndarray:
    """Hard labels as a contour."""
    classes, codes = np.unique(CODES, return_inverse=True)
    contour = np.zeros((N, len(classes)))
    contour[np.arange(N), codes] = 1.0
    return contour


def doubtful_contour() -> np.ndarray:
    """Doubted labels as a contour."""
    doubt = DOUBT[:, None]
    return (1.0 - doubt) * hard_contour() + doubt


def sets_contour() -> np.ndarray:
    """A list of sets as a contour."""
    contour = np.zeros((len(LISTS), K))
    rows = [i for i, members in enumerate(LISTS) for _ in members]
    contour[rows, [name for members in LISTS for name in members]] = 1.0
    return contour


def masses_contour() -> np.ndarray:
    """Masses as a contour."""
    inside = (FOCAL[:, None] >> np.arange(K)) & 1
    return MASSES @ inside.astype(float)


def bare_log_loss() -> float:
    """Generalized likelihood of a contour."""
    scaled = TABLE / TABLE.max(axis=1, keepdims=True)
    return float(-np.log((scaled * PROBABILITY).sum(axis=1)).mean())


def bare_accuracy() -> float:
    """Credit of answers by a contour."""
    scaled = TABLE / TABLE.max(axis=1, keepdims=True)
    least = scaled.min(axis=1)
    return float((scaled[np.arange(N), CODES] - least).sum() / (1.0 - least).sum())


CASES: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "from_crisp": (lambda: Labels.from_crisp(CODES), hard_contour),
    "from_doubt": (lambda: Labels.from_doubt(CODES, DOUBT), doubtful_contour),
    "from_sets, bool array": (lambda: Labels.from_sets(MEMBERS), lambda: MEMBERS.astype(float)),
    "from_sets, a tenth, list": (lambda: Labels.from_sets(LISTS), sets_contour),
    "from_plausibility": (lambda: Labels.from_plausibility(TABLE), TABLE.copy),
    "from_probability": (
        lambda: Labels.from_probability(PROBABILITY),
        lambda: PROBABILITY / PROBABILITY.sum(axis=1, keepdims=True),
    ),
    "from_masses, sparse": (
        lambda: Labels.from_masses(SparseMasses(MASSES, FOCAL, K)),
        masses_contour,
    ),
    "unknown": (lambda: Labels.unknown(N, NAMES.tolist()), lambda: np.ones((N, K))),
    "indexing": (lambda: LABELS[ROWS], lambda: TABLE[ROWS]),
    "soft_accuracy": (lambda: soft_accuracy(LABELS, CODES), bare_accuracy),
    "soft_log_loss": (lambda: soft_log_loss(LABELS, PROBABILITY), bare_log_loss),
}

if __name__ == "__main__":
    holds = True
    for name, (ours, bare) in CASES.items():
        times = interleave({"plausible": ours, "numpy": bare})
        ratio = times["plausible"] / times["numpy"]
        holds &= show(
            f"{name} ({times['plausible']:.3f} s): times bare numpy", ratio, "at most 5", ratio <= 5
        )
    sys.exit(not holds)
