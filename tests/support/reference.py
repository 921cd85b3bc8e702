"""Belief functions by their definitions: dictionaries from frozensets to numbers, no cleverness.

Slow and independent of the library; with fractions the arithmetic is exact.
"""

from itertools import combinations, product
from math import prod

import numpy as np


def subsets(n_classes):
    classes = range(n_classes)
    return [frozenset(c) for r in range(n_classes + 1) for c in combinations(classes, r)]


def to_mask(members):
    return sum(1 << k for k in members)


def to_dict(row, number=float):
    """One dense row as {set: mass}, focal sets only."""
    n_classes = len(row).bit_length() - 1
    return {a: number(row[to_mask(a)]) for a in subsets(n_classes) if row[to_mask(a)] != 0}


def to_row(masses, n_classes):
    row = np.zeros(1 << n_classes)
    for members, mass in masses.items():
        row[to_mask(members)] += float(mass)
    return row


def each_row(function, *arrays):
    """Apply a function of dictionaries to every row of dense arrays (n, 2^K)."""
    n_classes = arrays[0].shape[-1].bit_length() - 1
    results = [function(*(to_dict(row) for row in rows)) for rows in zip(*arrays, strict=True)]
    return np.stack([to_row(result, n_classes) for result in results])


def set_function(row, counts):
    """Sum of m(B) over the sets B that count for A, for every A."""
    n_classes = len(row).bit_length() - 1
    masses = to_dict(row)
    values = {a: sum(m for b, m in masses.items() if counts(b, a)) for a in subsets(n_classes)}
    return to_row(values, n_classes)


def combine(sources, target):
    """Give the product of one mass from each source to the sets that `target` names.

    `target(sets, masses)` returns {set: share of the product}.
    """
    result = {}
    for choice in product(*(source.items() for source in sources)):
        sets, masses = zip(*choice, strict=True)
        for members, share in target(sets, masses).items():
            result[members] = result.get(members, 0) + share * prod(masses)
    return result


def normalize(masses):
    total = sum(m for a, m in masses.items() if a)
    return {a: m / total for a, m in masses.items() if a}
