"""Bags of rows: samples with replacement, and mass functions of several trees as one.

Rows that are the same are one row with a larger weight, and rows are drawn in the order of what
they hold, so that with a fixed random state neither the order of rows nor writing one twice makes a
difference.
"""

import os
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from plausible.belief import cardinality
from plausible.checks import check_number, check_whole, is_whole
from plausible.errors import InputError
from plausible.models.tree.problem import Features, Knowledge

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

LARGEST_BAG = 1e8
MOST_SETS = 4096
ROWS_AT_ONCE = 1 << 18  # of trees that grow together, so that memory is bounded


class Kinds(NamedTuple):
    """Rows that differ: the first of each kind, the kind of every row, the weight of each kind."""

    first: IntArray
    kind: IntArray
    weight: FloatArray


def kinds_of_rows(features: Features, knowledge: Knowledge, weight: FloatArray) -> Kinds:
    """Kinds of rows by features and masses, in an order that depends on what they hold."""
    said = np.rint(1e9 * knowledge.masses.toarray()).astype(">i8")
    codes = features.codes.T.astype(">i4")  # big-endian: bytes in the order of numbers
    parts = [np.ascontiguousarray(codes).view(np.uint8), np.ascontiguousarray(said).view(np.uint8)]
    table = np.ascontiguousarray(np.hstack(parts))
    rows = table.view([("", f"V{table.shape[1]}")]).ravel()
    _, first, kind = np.unique(rows, return_index=True, return_inverse=True)
    kind = kind.ravel()
    return Kinds(first.astype(np.int64), kind, np.bincount(kind, weight).astype(np.float64))


def bag_size(max_samples: Any, total: float) -> int:
    """Number of draws: a number, or a share of all rows, counted by their weights."""
    if is_whole(max_samples):
        return check_whole(max_samples, "max_samples", 1)
    share = 1.0 if max_samples is None else check_number(max_samples, "max_samples", 0.0)
    if share * total > LARGEST_BAG:
        raise InputError(
            f"A bag should have at most {LARGEST_BAG:.0e} rows",
            f"max_samples={share:g} of a total weight of {total:.3g} is more",
            "weights count repeated rows here, so divide them, or give max_samples as a number of "
            "rows",
            parameter="max_samples",
            value=max_samples,
        )
    return max(1, round(share * total))


def draw_bag(kinds: Kinds, n_draws: int, seed: int) -> FloatArray:
    """How often each kind of row is in the bag of a seed."""
    share = kinds.weight / kinds.weight.sum()
    return np.random.RandomState(seed).multinomial(n_draws, share).astype(np.float64)


def batches_of_trees(n_trees: int, n_rows: int, n_jobs: int | None) -> list[slice]:
    """Trees that grow together: few calls for many of them, and at least a batch for each job."""
    jobs = 1 if n_jobs is None else n_jobs
    if jobs < 0:  # all cores, or all but some
        jobs = max((os.cpu_count() or 1) + 1 + jobs, 1)
    most = max(min(ROWS_AT_ONCE // n_rows, -(-n_trees // jobs)), 1)
    n_batches = -(-n_trees // most)
    ends = [n_trees * i // n_batches for i in range(n_batches + 1)]  # of about the same size
    return [slice(begin, end) for begin, end in pairwise(ends)]


def intersections(sets: IntArray) -> IntArray:
    """The sets and all their non-empty intersections, larger ones first."""
    found = set(sets.tolist())
    fresh = list(found)
    while fresh:
        fresh = list({one & other for one in fresh for other in sets.tolist()} - found - {0})
        found.update(fresh)
        if len(found) > MOST_SETS:
            raise InputError(
                f"Dempster's rule should meet at most {MOST_SETS} sets of classes",
                f"the intersections of {len(sets)} focal sets are more",
                "use combination='mean'",
                parameter="combination",
            )
    closed = np.array(sorted(found), dtype=np.int64)
    return closed[np.argsort(-cardinality(closed), kind="stable")]


def holds(sets: IntArray, others: IntArray) -> FloatArray:
    """Whether each of the others holds each set, as numbers (len(sets), len(others))."""
    return ((sets[:, None] & others) == sets[:, None]).astype(np.float64)


def log_commonalities(
    masses: FloatArray, focal_sets: IntArray, sets: IntArray, doubt: float
) -> FloatArray:
    """Logarithms of the commonalities of sets, of masses (n, F) that are doubted."""
    return np.log((1.0 - doubt) * (masses @ holds(sets, focal_sets).T) + doubt)


def masses_of_commonalities(logs: FloatArray, sets: IntArray) -> FloatArray:
    """Normalized masses (n, C) from logarithms of commonalities, sets as `intersections` gives."""
    common = np.exp(logs - logs.max(axis=1, keepdims=True))
    masses = solve_triangular(holds(sets, sets), common.T, lower=True, unit_diagonal=True).T
    masses = np.maximum(masses, 0.0)
    return masses / masses.sum(axis=1, keepdims=True)
