"""The growth of `growth` compiled: the same splits, and one core for each tree.

numba is imported in `growth_kernels` and `walk_compiled` only, and they only when there is enough
work: the first use on a machine compiles for about ten seconds, later ones load from the cache of
numba.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible.models.tree.growth import Grown, Settings
from plausible.models.tree.growth_kernels import BLOCK, grow
from plausible.models.tree.problem import Features, Knowledge
from plausible.models.tree.structure import LEAF

FloatArray = NDArray[np.float64]

N_REAL, N_WHOLE = 3, 5  # numbers of a node: real ones and whole ones


def grow_compiled(
    features: Features, knowledge: Knowledge, weight: FloatArray, settings: Settings, seed: int
) -> Grown:
    """Grow a tree; see `growth.grow_numpy`."""
    masses = knowledge.masses
    member_start = np.concatenate([[0], np.cumsum(knowledge.sizes)])
    rows = np.flatnonzero(weight > 0.0).astype(np.int32)
    n_most = max(2 * len(rows) - 1, 1)
    whole, real = np.empty((n_most, N_WHOLE), np.int64), np.empty((n_most, N_REAL))
    leaf = np.full(len(weight), LEAF, np.int64)
    n_nodes = grow(
        (features.codes, features.levels, features.start),
        (
            (
                masses.indptr.astype(np.int64),
                masses.indices.astype(np.int64),
                masses.data.astype(np.float64),
            ),
            (member_start.astype(np.int64), np.nonzero(knowledge.inside)[1].astype(np.int64)),
            np.ascontiguousarray(weight),
            tuple(map(float, settings)),
        ),
        rows,
        seed,
        workspace(*knowledge.inside.shape),
        tuple(np.empty(len(rows), np.int32) for _ in range(4)),
        (np.arange(len(features.codes)), np.empty((len(rows) + 1, 6), np.int64)),
        (whole, real, leaf),
    )
    left, right, feature, missing_left, n_rows = whole[:n_nodes].T.copy()
    threshold, impurity, held = real[:n_nodes].T.copy()
    return Grown(
        left, right, feature, threshold, missing_left.astype(bool), impurity, n_rows, held, leaf
    )


def workspace(n_sets: int, n_classes: int) -> tuple[Any, ...]:
    """Arrays to work in: compiled code makes none, which keeps it small."""
    masses, bets = np.empty((2, n_sets, BLOCK)), np.empty((2, n_classes, BLOCK))
    held, work = np.empty((2, BLOCK)), np.empty((3, BLOCK))
    counts, last_code = np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int64)
    running = np.empty(n_sets)
    local, sets = np.empty(n_sets, np.int64), np.empty(n_sets, np.int64)
    sums, all_bets = np.empty(n_sets), np.empty(n_classes)
    place = np.empty(257, np.int64)
    block = (masses, bets, held, running, counts, last_code, work)
    return block, (local, sets, sums, all_bets, place)
