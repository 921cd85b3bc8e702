"""The visits of EVCLUS for many items, compiled; numba is imported here only.

What compiles slowly is left out: kernels make no arrays, assign no slices, and divide without
looking for zeros.
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
    links, limits = (starts, others, strengths, Q), (ridge, slack)
    space = workspace(masses.shape[1])
    return float(
        _visit_all(masses, C, table, against, against.T @ against, links, order, limits, space)
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
    wanted = (begins, items, targets, counts)
    links, limits, space = (starts, others, strengths, Q), (ridge, slack), workspace(n_sets)
    G = np.empty((n_sets, n_sets))
    return float(_visit_some(masses, C, wanted, masses @ C, G, links, order, limits, space))


def workspace(n_sets: int) -> tuple[Any, ...]:
    """Arrays to work in: h, a row, a part of G, its two solutions and which sets are free."""
    return (
        np.empty(n_sets),
        np.empty(n_sets),
        np.empty((n_sets, n_sets)),
        np.empty((2, n_sets)),
        np.empty(n_sets, np.int64),
        np.empty(n_sets, np.int64),
    )


@_part
def _solve_two(part, h, free, size, ridge, out):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Solutions of (part + ridge) x = h and = 1, by Cholesky factors in place of `part`."""
    for a in range(size):
        for b in range(a + 1):
            left = part[a, b]
            for k in range(b):
                left -= part[a, k] * part[b, k]
            if a == b:
                left += ridge
                part[a, a] = (left if left > ridge else ridge) ** 0.5
            else:
                part[a, b] = left / part[b, b]
    for a in range(size):
        x, y = h[free[a]], 1.0
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


@_part
def _aim(G, m, ridge, space):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Goals of the free sets, in place of their solutions: how many, the price, and the step."""
    h, _, part, out, free, is_free = space
    size = np.int64(0)  # a plain zero would have `_solve_two` compiled for zeros alone, too
    for a in range(len(m)):
        if is_free[a]:
            free[size] = a
            for b in range(size + 1):
                part[size, b] = G[a, free[b]]
            size += 1
    _solve_two(part, h, free, size, ridge, out)
    total, ones, step = 0.0, 0.0, np.inf
    for a in range(size):
        total += out[0, a]
        ones += out[1, a]
    price = (1.0 - total) / ones
    for a in range(size):
        out[0, a] += price * out[1, a]
        here, goal = m[free[a]], out[0, a]
        if goal <= 0.0:
            share = here / (here - goal) if here > 0.0 else 0.0
            step = share if share < step else step
            out[1, a] = share
        else:
            out[1, a] = np.inf
    return size, price, step


@_part
def _best_other(G, h, m, is_free, price, most):  # type: ignore[no-untyped-def]  # pragma: no cover
    """The set that is not free with the largest slope, above `most`; -1 if there is none."""
    best = -1
    for a in range(len(m)):
        if not is_free[a]:
            slope = h[a] + price
            for b in range(len(m)):
                slope -= G[a, b] * m[b]
            if slope > most:
                best, most = a, slope
    return best


@_part
def _simplex_minimum(G, limits, space):  # type: ignore[no-untyped-def]  # pragma: no cover
    """As `evclus_rows.simplex_minimum`, in place of the start."""
    h, m, _, out, free, is_free = space
    trace, largest = 0.0, 0.0
    for a in range(len(m)):
        trace += G[a, a]
        slope = h[a] if h[a] > 0.0 else -h[a]
        largest = slope if slope > largest else largest
        is_free[a] = m[a] > 0.0
    ridge = limits[0] * trace + 1e-300
    for _round in range(10 * len(m)):
        size, price, step = _aim(G, m, ridge, space)
        for a in range(size):
            here, goal = m[free[a]], out[0, a]
            if step == np.inf:
                m[free[a]] = goal
            elif out[1, a] <= step:
                m[free[a]] = 0.0
                is_free[free[a]] = 0
            else:
                there = here + step * (goal - here)
                m[free[a]] = there if there > 0.0 else 0.0
        if step == 0.0:
            break
        if step == np.inf:
            best = _best_other(G, h, m, is_free, price, limits[1] * largest)
            if best < 0:
                break
            is_free[best] = 1
    total = 0.0
    for a in range(len(m)):
        total += m[a]
    for a in range(len(m)):
        m[a] /= total


@_part
def _improve(masses, C, against, i, G, limits, space):  # type: ignore[no-untyped-def]  # pragma: no cover
    """As `evclus_rows.improve`; `against` follows."""
    h, row = space[0], space[1]
    n_sets = len(row)
    for a in range(n_sets):
        row[a] = masses[i, a]
    _simplex_minimum(G, limits, space)
    before, after = 0.0, 0.0
    for a in range(n_sets):
        inner, other = -2.0 * h[a], -2.0 * h[a]
        for b in range(n_sets):
            inner += G[a, b] * masses[i, b]
            other += G[a, b] * row[b]
        before += masses[i, a] * inner
        after += row[a] * other
    if not after < before:
        return 0.0
    for a in range(n_sets):
        masses[i, a] = row[a]
    for a in range(n_sets):
        total = 0.0
        for b in range(n_sets):
            total += row[b] * C[b, a]
        against[i, a] = total
    return before - after


@_part
def _add_pull(h, i, masses, links):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Take half of the slope of the linear terms off h."""
    starts, others, strengths, Q = links
    for place in range(starts[i], starts[i + 1]):
        other = others[place]
        for a in range(len(h)):
            total = 0.0
            for b in range(len(h)):
                total += Q[a, b] * masses[other, b]
            h[a] -= 0.5 * strengths[place] * total


@numba.njit(cache=True, **_options)
def _visit_all(masses, C, table, against, everything, links, order, limits, space):  # type: ignore[no-untyped-def]  # pragma: no cover
    n, n_sets = masses.shape
    h, fall = space[0], 0.0
    for i in order:
        for a in range(n_sets):
            h[a] = 0.0
            for b in range(n_sets):
                everything[a, b] -= against[i, a] * against[i, b]
        for j in range(n):
            target = table[i, j]
            for a in range(n_sets):
                h[a] += target * against[j, a]
        _add_pull(h, i, masses, links)
        fall += _improve(masses, C, against, i, everything, limits, space)
        for a in range(n_sets):
            for b in range(n_sets):
                everything[a, b] += against[i, a] * against[i, b]
    return fall


@numba.njit(cache=True, **_options)
def _visit_some(masses, C, wanted, against, G, links, order, limits, space):  # type: ignore[no-untyped-def]  # pragma: no cover
    begins, items, targets, counts = wanted
    n_sets = masses.shape[1]
    h, fall = space[0], 0.0
    for i in order:
        for a in range(n_sets):
            h[a] = 0.0
            for b in range(n_sets):
                G[a, b] = 0.0
        for place in range(begins[i], begins[i + 1]):
            near, count = items[place], counts[place]
            wish = count * targets[place]
            for a in range(n_sets):
                h[a] += wish * against[near, a]
                scaled = count * against[near, a]
                for b in range(a + 1):
                    G[a, b] += scaled * against[near, b]
        for a in range(n_sets):
            for b in range(a):
                G[b, a] = G[a, b]
        _add_pull(h, i, masses, links)
        fall += _improve(masses, C, against, i, G, limits, space)
    return fall
