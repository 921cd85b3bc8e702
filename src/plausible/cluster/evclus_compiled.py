"""The visits of EVCLUS for many items, compiled; numba is imported here only."""

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[Any]
Ints = NDArray[Any]


@numba.njit(nogil=True, cache=True)
def solve_two(part: Floats, h: Floats, size: int, ridge: float, out: Floats) -> None:
    """Solutions of (part + ridge) x = h and = 1, by Cholesky factors in place of `part`."""
    for a in range(size):
        part[a, a] += ridge
    for a in range(size):
        for b in range(a + 1):
            left = part[a, b]
            for k in range(b):
                left -= part[a, k] * part[b, k]
            if a == b:
                part[a, a] = np.sqrt(max(left, ridge))
            else:
                part[a, b] = left / part[b, b]
    for a in range(size):
        x, y = h[a], 1.0
        for k in range(a):
            x -= part[a, k] * out[0, k]
            y -= part[a, k] * out[1, k]
        out[0, a], out[1, a] = x / part[a, a], y / part[a, a]
    for a in range(size - 1, -1, -1):
        x, y = out[0, a], out[1, a]
        for k in range(a + 1, size):
            x -= part[k, a] * out[0, k]
            y -= part[k, a] * out[1, k]
        out[0, a], out[1, a] = x / part[a, a], y / part[a, a]


@numba.njit(nogil=True, cache=True)
def simplex_minimum(G: Floats, h: Floats, m: Floats, ridge_share: float, slack: float) -> None:
    """As `evclus_rows.simplex_minimum`, in place of the start."""
    n_sets = len(m)
    trace, largest = 0.0, 0.0
    for a in range(n_sets):
        trace += G[a, a]
        largest = max(largest, abs(h[a]))
    ridge = ridge_share * trace + 1e-300
    is_free = m > 0.0
    free = np.empty(n_sets, np.int64)
    part, right = np.empty((n_sets, n_sets)), np.empty(n_sets)
    out, goal = np.empty((2, n_sets)), np.empty(n_sets)
    for _ in range(10 * n_sets):
        size = 0
        for a in range(n_sets):
            if is_free[a]:
                free[size] = a
                size += 1
        for a in range(size):
            right[a] = h[free[a]]
            for b in range(size):
                part[a, b] = G[free[a], free[b]]
        solve_two(part, right, size, ridge, out)
        price = (1.0 - out[0, :size].sum()) / out[1, :size].sum()
        step = np.inf
        for a in range(size):
            goal[a] = out[0, a] + price * out[1, a]
            here = m[free[a]]
            if goal[a] <= 0.0:
                step = min(step, here / (here - goal[a]))
        if step == np.inf:
            for a in range(size):
                m[free[a]] = goal[a]
            best, most = -1, slack * largest
            for a in range(n_sets):
                if not is_free[a]:
                    slope = h[a] + price
                    for b in range(n_sets):
                        slope -= G[a, b] * m[b]
                    if slope > most:
                        best, most = a, slope
            if best < 0:
                break
            is_free[best] = True
            continue
        for a in range(size):
            here = m[free[a]]
            if goal[a] <= 0.0 and here / (here - goal[a]) <= step:
                m[free[a]] = 0.0
                is_free[free[a]] = False
            else:
                m[free[a]] = max(here + step * (goal[a] - here), 0.0)
        if step == 0.0:
            break
    m /= m.sum()


@numba.njit(nogil=True, cache=True)
def value_at(G: Floats, h: Floats, m: Floats) -> float:
    """M'Gm - 2h'm."""
    total = 0.0
    for a in range(len(m)):
        inner = -2.0 * h[a]
        for b in range(len(m)):
            inner += G[a, b] * m[b]
        total += m[a] * inner
    return total


@numba.njit(nogil=True, cache=True)
def improve(
    masses: Floats, i: int, G: Floats, h: Floats, ridge: float, slack: float, row: Floats
) -> float:
    """As `evclus_rows.improve`."""
    row[:] = masses[i]
    before = value_at(G, h, row)
    simplex_minimum(G, h, row, ridge, slack)
    after = value_at(G, h, row)
    if not after < before:
        return 0.0
    masses[i] = row
    return before - after


@numba.njit(nogil=True, cache=True)
def add_pull(
    h: Floats, i: int, masses: Floats, starts: Ints, others: Ints, strengths: Floats, Q: Floats
) -> None:
    """Take half of the slope of the linear terms off h."""
    for place in range(starts[i], starts[i + 1]):
        other = masses[others[place]]
        for a in range(len(h)):
            total = 0.0
            for b in range(len(h)):
                total += Q[a, b] * other[b]
            h[a] -= 0.5 * strengths[place] * total


@numba.njit(nogil=True, cache=True)
def product(row: Floats, C: Floats, out: Floats) -> None:
    """Row C, for a few sets."""
    for a in range(len(out)):
        total = 0.0
        for b in range(len(row)):
            total += row[b] * C[b, a]
        out[a] = total


@numba.njit(nogil=True, cache=True)
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
    n, n_sets = masses.shape
    against = np.empty((n, n_sets))
    for j in range(n):
        product(masses[j], C, against[j])
    everything = np.zeros((n_sets, n_sets))
    for j in range(n):
        for a in range(n_sets):
            for b in range(n_sets):
                everything[a, b] += against[j, a] * against[j, b]
    h, row = np.empty(n_sets), np.empty(n_sets)
    fall = 0.0
    for i in order:
        h[:] = 0.0
        for j in range(n):
            target = table[i, j]
            for a in range(n_sets):
                h[a] += target * against[j, a]
        add_pull(h, i, masses, starts, others, strengths, Q)
        for a in range(n_sets):
            for b in range(n_sets):
                everything[a, b] -= against[i, a] * against[i, b]
        fall += improve(masses, i, everything, h, ridge, slack, row)
        product(masses[i], C, against[i])
        for a in range(n_sets):
            for b in range(n_sets):
                everything[a, b] += against[i, a] * against[i, b]
    return fall


@numba.njit(nogil=True, cache=True)
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
    n, n_sets = masses.shape
    against = np.empty((n, n_sets))
    for j in range(n):
        product(masses[j], C, against[j])
    G = np.empty((n_sets, n_sets))
    h, row = np.empty(n_sets), np.empty(n_sets)
    fall = 0.0
    for i in order:
        h[:] = 0.0
        G[:, :] = 0.0
        for place in range(begins[i], begins[i + 1]):
            near, count = against[items[place]], counts[place]
            wanted = count * targets[place]
            for a in range(n_sets):
                h[a] += wanted * near[a]
                scaled = count * near[a]
                for b in range(a + 1):
                    G[a, b] += scaled * near[b]
        for a in range(n_sets):
            for b in range(a):
                G[b, a] = G[a, b]
        add_pull(h, i, masses, starts, others, strengths, Q)
        fall += improve(masses, i, G, h, ridge, slack, row)
        product(masses[i], C, against[i])
    return fall
