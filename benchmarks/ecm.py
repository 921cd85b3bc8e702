"""Speed of an iteration of evidential c-means, against PyPI evclust 0.2.1 and its matrix products.

Run with ``make bench``. An iteration finds the masses of n items on all f non-empty sets of
clusters, and the next centers. evclust is looked for in the folder that the environment variable
EVCLUST names (``pip install --target FOLDER --no-deps evclust==0.2.1``); without it that part is
left out. The floor is the time of the 4 n f p operations of the two products in one large dgemm.
Contestants take turns in one process on one core, and the fastest of their turns counts.
"""

import os
import sys
import tracemalloc
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits
from timing import interleave, show

from plausible.cluster import ECM, focal_sets_of
from plausible.cluster.ecm import State, solved, summarize_chunk
from plausible.cluster.kernels import Prototypes, lifted, make_focal
from plausible.engine import ArrayRows

DELTA = 3.0
FEATURES = 20  # where an iteration is compared with its products
FEW_FEATURES = 4  # where it races
PEER_ITEMS = {5: 8000, 8: 600}
FLOOR_ITEMS = {5: 100_000, 8: 20_000}
FASTER = {2.0: 4000.0, 1.5: 1000.0, 1.7: 1000.0}
FLOORS = 6.0
MEGABYTES = 32.0


def iterate(rows: ArrayRows, prototypes: Prototypes, focal: Any) -> Prototypes:
    """One iteration: masses, and the centers that follow from them."""
    (sums,) = rows.reduce(summarize_chunk, [prototypes], focal)
    return solved(State(sums.criterion, sums, prototypes), focal, 0.0)


def problem(n: int, d: int, n_clusters: int, fuzzifier: float) -> tuple[Any, Any, Any]:
    """Items, centers and sets of clusters."""
    rng = np.random.default_rng(0)
    X, centers = rng.normal(size=(n, d)), rng.normal(size=(n_clusters, d))
    focal = make_focal(focal_sets_of("all", n_clusters), n_clusters, 1.0, fuzzifier, DELTA)
    return X, centers, focal


def load_peer() -> Any:
    """The function of evclust, without what it draws with; None if it is not there."""
    folder = os.environ.get("EVCLUST")
    if folder is None:
        return None
    sys.path.append(folder)
    sys.modules.setdefault("seaborn", ModuleType("seaborn"))
    module: Any = __import__("evclust.ecm", fromlist=["ecm"])
    module.extractMass = lambda *given, **named: None  # an iteration alone
    return module.ecm


def against_peer(ecm: Any, n_clusters: int, fuzzifier: float) -> bool:
    """How many times faster an iteration is than that of evclust."""
    n = PEER_ITEMS[n_clusters]
    X, centers, focal = problem(n, FEW_FEATURES, n_clusters, fuzzifier)
    rows = ArrayRows(lifted(X, None, None), None)
    ours = partial(iterate, rows, Prototypes(centers), focal)
    peer = partial(
        ecm, X, n_clusters, g0=centers, beta=fuzzifier, delta=DELTA, epsi=np.inf, disp=False
    )
    ours()
    # An iteration of ours is so short that it needs more turns to be left alone once.
    turns = [(interleave({"": peer}, 1)[""], interleave({"": ours}, 20)[""]) for _ in range(3)]
    found = min(one for one, _ in turns) / min(one for _, one in turns)
    wanted = FASTER[fuzzifier]
    name = f"evclust by ours: {n} items, {n_clusters} clusters, fuzzifier {fuzzifier:g}"
    return show(name, found, f"at least {wanted:g}", found >= wanted)


def against_floor(n_clusters: int, fuzzifier: float) -> bool:
    """Time of an iteration by that of its 4 n f p operations in one dgemm."""
    n = FLOOR_ITEMS[n_clusters]
    X, centers, focal = problem(n, FEATURES, n_clusters, fuzzifier)
    rows = ArrayRows(lifted(X, None, None), None)
    ours = partial(iterate, rows, Prototypes(centers), focal)
    square = np.random.default_rng(1).normal(size=(1200, 1200))
    times = interleave({"ours": ours, "dgemm": lambda: square @ square}, 7)
    floor = times["dgemm"] * 4 * n * len(focal.penalty) * FEATURES / (2 * len(square) ** 3)
    found = times["ours"] / floor
    name = f"iteration by its products: {n} items, {n_clusters} clusters, fuzzifier {fuzzifier:g}"
    return show(name, found, f"at most {FLOORS:g}", found <= FLOORS)


def memory() -> bool:
    """Megabytes that a fit takes besides the items and the masses that it returns."""
    X, centers, _ = problem(100_000, FEATURES, 8, 2.0)
    tracemalloc.start()
    model = ECM(8, init=centers, max_iter=2, tol=1.0).fit(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    found = (peak - model.masses_.nbytes) / 1e6
    name = "megabytes besides the masses: 100,000 items, 8 clusters, all sets"
    return show(name, found, f"at most {MEGABYTES:g}", found <= MEGABYTES)


def main() -> int:
    """Print the ratios; 1 if one is not as it should be."""
    with threadpool_limits(1):
        ecm = load_peer()
        held = [against_floor(c, beta) for c in FLOOR_ITEMS for beta in (2.0, 1.5)]
        if ecm is None:
            print("      set EVCLUST to the folder of evclust 0.2.1 to race it as well")
        else:
            held += [against_peer(ecm, c, beta) for c in PEER_ITEMS for beta in FASTER]
        held.append(memory())
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
