"""The visits of EVCLUS for many items, compiled; numba is imported here only.

What compiles slowly is left out: kernels make no arrays, assign no slices, and divide without
looking for zeros. They get few arrays, and no tuples of them, of which they would count each; and
one visits for both kinds of dissimilarities, as all parts are optimized once more in what calls
them.
"""

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[Any]
Ints = NDArray[Any]

_options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
# Parts that only compiled code calls: without ways in for others they compile faster.
_inner: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_part = numba.njit(**_inner, **_options)

# Rows of the space to work in: half of the slope, masses of an item, their goals, another solution
# or the steps that are allowed, and a part of G; and of that of whole numbers, about sets.
H, ROW, GOAL, OTHER, PART = range(5)
FREE, IS_FREE = range(2)


def visit_all(
    masses: Floats,
    C: Floats,
    table: Floats,
    starts: Ints,
    others: Ints,
    strengths: Floats,
    Q: Floats,
    order: Ints,
    ridge: float,
    slack: float,
) -> float:
    """As `evclus_rows.visit_all`."""
    against = masses @ C
    wanted = np.zeros(0, np.int64), np.zeros(0, np.int64), table, np.zeros(0)
    pulls, limits = (starts, others, strengths, Q), np.array([ridge, slack])
    space = workspace(masses.shape[1])
    return float(
        _visit(masses, C, *wanted, against, against.T @ against, *pulls, order, limits, *space)
    )


def visit_some(
    masses: Floats,
    C: Floats,
    begins: Ints,
    items: Ints,
    targets: Floats,
    counts: Floats,
    starts: Ints,
    others: Ints,
    strengths: Floats,
    Q: Floats,
    order: Ints,
    ridge: float,
    slack: float,
) -> float:
    """As `evclus_rows.visit_some`."""
    n_sets = masses.shape[1]
    wanted = begins, items, targets[None], counts
    pulls, limits = (starts, others, strengths, Q), np.array([ridge, slack])
    G = np.empty((n_sets, n_sets))
    space = workspace(n_sets)
    return float(_visit(masses, C, *wanted, masses @ C, G, *pulls, order, limits, *space))


def workspace(n_sets: int) -> tuple[Floats, Ints]:
    """Arrays to work in, with rows as named above."""
    return np.empty((PART + n_sets, n_sets)), np.empty((2, n_sets), np.int64)


@_part
def _take_part(G, space, sets):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Note the free sets, and take their part of G; how many they are."""
    size = 0
    for a in range(len(G)):
        if sets[IS_FREE, a]:
            sets[FREE, size] = a
            for b in range(size + 1):
                space[PART + size, b] = G[a, sets[FREE, b]]
            size += 1
    return size


@_part
def _solve_two(space, sets, size, ridge):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Solutions of (part + ridge) x = h and = 1, by Cholesky factors in place of the part."""
    for a in range(size):
        x, y = space[H, sets[FREE, a]], 1.0
        for b in range(a):
            left = space[PART + a, b]
            for k in range(b):
                left -= space[PART + a, k] * space[PART + b, k]
            left /= space[PART + b, b]
            space[PART + a, b] = left
            x -= left * space[GOAL, b]
            y -= left * space[OTHER, b]
        left = space[PART + a, a]
        for k in range(a):
            left -= space[PART + a, k] * space[PART + a, k]
        left += ridge
        left = (left if left > ridge else ridge) ** 0.5
        space[PART + a, a] = left
        space[GOAL, a], space[OTHER, a] = x / left, y / left
    for a in range(size - 1, -1, -1):
        x, y = space[GOAL, a], space[OTHER, a]
        for k in range(a + 1, size):
            x -= space[PART + k, a] * space[GOAL, k]
            y -= space[PART + k, a] * space[OTHER, k]
        space[GOAL, a], space[OTHER, a] = x / space[PART + a, a], y / space[PART + a, a]


@_part
def _aim(space, sets, size):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Goals of the free sets from both solutions: their price, and the step that is allowed."""
    total, ones, step = 0.0, 0.0, np.inf
    for a in range(size):
        total += space[GOAL, a]
        ones += space[OTHER, a]
    price = (1.0 - total) / ones
    for a in range(size):
        goal = space[GOAL, a] + price * space[OTHER, a]
        here, share = space[ROW, sets[FREE, a]], np.inf
        if goal <= 0.0:
            share = here / (here - goal) if here > 0.0 else 0.0
            step = share if share < step else step
        space[GOAL, a], space[OTHER, a] = goal, share
    return price, step


@_part
def _move(space, sets, size, step):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Go to the goals, or as far as is allowed, where sets that get nothing are free no more."""
    for a in range(size):
        own, there = sets[FREE, a], space[GOAL, a]
        if step < np.inf:
            here = space[ROW, own]
            there = here + step * (there - here)
            if space[OTHER, a] <= step:
                there = 0.0
                sets[IS_FREE, own] = 0
        space[ROW, own] = there if there > 0.0 else 0.0


@_part
def _free_another(G, space, sets, price, most):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Free the set with the largest slope above `most`; whether there is one."""
    best = -1
    for a in range(len(G)):
        if not sets[IS_FREE, a]:
            slope = space[H, a] + price
            for b in range(len(G)):
                slope -= G[a, b] * space[ROW, b]
            if slope > most:
                best, most = a, slope
    if best >= 0:
        sets[IS_FREE, best] = 1
    return best >= 0


@_part
def _improve(masses, C, against, i, G, limits, space, sets):  # type: ignore[no-untyped-def]  # pragma: no cover
    """As `evclus_rows.improve`, with `evclus_rows.simplex_minimum`; `against` follows."""
    n_sets = len(G)
    trace, largest, total, before, after = 0.0, 0.0, 0.0, 0.0, 0.0
    for a in range(n_sets):
        trace += G[a, a]
        largest = max(largest, abs(space[H, a]))
        space[ROW, a] = masses[i, a]
        sets[IS_FREE, a] = masses[i, a] > 0.0
    for _round in range(10 * n_sets):
        size = _take_part(G, space, sets)
        _solve_two(space, sets, size, limits[0] * trace + 1e-300)
        price, step = _aim(space, sets, size)
        _move(space, sets, size, step)
        if step == 0.0:
            break
        if step == np.inf and not _free_another(G, space, sets, price, limits[1] * largest):
            break
    for a in range(n_sets):
        total += space[ROW, a]
    for a in range(n_sets):
        space[ROW, a] /= total
    for a in range(n_sets):
        inner = other = -2.0 * space[H, a]
        for b in range(n_sets):
            inner += G[a, b] * masses[i, b]
            other += G[a, b] * space[ROW, b]
        before += masses[i, a] * inner
        after += space[ROW, a] * other
    if not after < before:
        return 0.0
    for a in range(n_sets):
        masses[i, a] = space[ROW, a]
        against[i, a] = 0.0
        for b in range(n_sets):
            against[i, a] += space[ROW, b] * C[b, a]
    return before - after


@_part
def _wish_for_all(i, targets, against, G, space):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Slopes of h from the dissimilarities to all items; G leaves the item itself out."""
    for a in range(len(G)):
        space[H, a] = 0.0
        for b in range(len(G)):
            G[a, b] -= against[i, a] * against[i, b]
    for j in range(len(against)):
        target = targets[i, j]
        for a in range(len(G)):
            space[H, a] += target * against[j, a]


@_part
def _wish_for_some(i, begins, items, targets, counts, against, G, space):  # type: ignore[no-untyped-def]  # pragma: no cover
    """The same from the dissimilarities to some items, to which G belongs."""
    for a in range(len(G)):
        space[H, a] = 0.0
        for b in range(len(G)):
            G[a, b] = 0.0
    for place in range(begins[i], begins[i + 1]):
        near, count = items[place], counts[place]
        wish = count * targets[0, place]
        for a in range(len(G)):
            space[H, a] += wish * against[near, a]
            scaled = count * against[near, a]
            for b in range(a + 1):
                G[a, b] += scaled * against[near, b]
    for a in range(len(G)):
        for b in range(a):
            G[b, a] = G[a, b]


@numba.njit(cache=True, **_options)
def _visit(  # type: ignore[no-untyped-def]  # pragma: no cover
    masses, C, begins, items, targets, counts, against, G, starts, others, strengths, Q, order,
    limits, space, sets
):  # fmt: skip
    """Visit items in some order; without `begins`, the targets are those of all others."""
    fall, n_sets = 0.0, len(G)
    for i in order:
        if len(begins):
            _wish_for_some(i, begins, items, targets, counts, against, G, space)
        else:
            _wish_for_all(i, targets, against, G, space)
        for place in range(starts[i], starts[i + 1]):  # half of the slope of the linear terms
            other, strength = others[place], 0.5 * strengths[place]
            for a in range(n_sets):
                total = 0.0
                for b in range(n_sets):
                    total += Q[a, b] * masses[other, b]
                space[H, a] -= strength * total
        fall += _improve(masses, C, against, i, G, limits, space, sets)
        if not len(begins):
            for a in range(n_sets):
                for b in range(n_sets):
                    G[a, b] += against[i, a] * against[i, b]
    return fall
