"""Speed of the algebra of belief functions, as ratios against a peer and against copying memory.

Run with ``make bench``. Dempster's rule is compared with py_dempster_shafer (module pyds) on the
same random mass functions, after checking that the results are equal; the Moebius transform with
copying its array once for each class. Prints the ratios and fails if one misses its mark.
"""

import sys

import numpy as np
from pyds import MassFunction
from timing import interleave, show

from plausible.belief import commonality, decode_sets, dempster, masses_from_commonality

CLASSES = "abcde"


def random_masses(rows: int, n_classes: int, seed: int) -> np.ndarray:
    """Mass functions on all sets but the empty one."""
    rng = np.random.default_rng(seed)
    masses = np.zeros((rows, 1 << n_classes))
    masses[:, 1:] = rng.dirichlet(np.ones((1 << n_classes) - 1), size=rows)
    return masses


def dempster_against_pyds(rows: int = 1000) -> bool:
    """Dempster's rule on pairs of mass functions on 5 classes; wanted: at least 200 times pyds."""
    pair = [random_masses(rows, len(CLASSES), seed) for seed in (0, 1)]
    sets = decode_sets(np.arange(1 << len(CLASSES)), CLASSES)
    first, second = (
        [MassFunction(dict(zip(sets[1:], row[1:], strict=True))) for row in masses]
        for masses in pair
    )
    ours = dempster(*pair)
    theirs = [a & b for a, b in zip(first, second, strict=True)]
    peer = np.array([[m[frozenset(s)] for s in sets] for m in theirs])
    difference = np.abs(ours - peer).max()
    print(f"      largest difference between plausible and pyds: {difference:.1e}")
    times = interleave(
        {
            "pyds": lambda: [a & b for a, b in zip(first, second, strict=True)],
            "plausible": lambda: dempster(*pair),
        }
    )
    ratio = times["pyds"] / times["plausible"]
    claim = f"dempster, {rows} pairs on 5 classes: times faster than pyds"
    return show(claim, ratio, "at least 200", ratio >= 200 and difference < 1e-12)


def moebius_against_copying(rows: int = 100_000, n_classes: int = 8) -> bool:
    """Transforms of many mass functions; wanted: at most 3 times one copy for each class."""
    masses = random_masses(rows, n_classes, seed=2)
    q = commonality(masses)
    times = interleave(
        {
            "copies": lambda: [masses.copy() for _ in range(n_classes)],
            "m to q": lambda: commonality(masses),
            "q to m": lambda: masses_from_commonality(q),
        }
    )
    holds = True
    for way in ("m to q", "q to m"):
        ratio = times[way] / times["copies"]
        claim = f"{way}, {rows} mass functions on {n_classes} classes: times {n_classes} copies"
        holds &= show(claim, ratio, "at most 3", ratio <= 3)
    return holds


if __name__ == "__main__":
    results = [dempster_against_pyds(), moebius_against_copying()]
    sys.exit(not all(results))
