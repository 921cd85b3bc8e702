"""The visits of EVCLUS for many items, compiled; numba is imported here only.

What compiles slowly is left out: kernels make no arrays, assign no slices, and divide without
looking for zeros. They get few arrays, and no tuples of them, of which they would count each. One
visits for both kinds of dissimilarities and for links, with tables that say what is different; and
it has one part alone, as parts are optimized once more in what calls them.
"""

from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[Any]
Ints = NDArray[Any]

# Only Python and compiled code call them: without a way in for C they compile faster.
_options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
# Parts that only compiled code calls need none for Python, either.
_inner: dict[str, Any] = {"no_cpython_wrapper": True}
_part = numba.njit(**_inner, **_options)


class Terms(NamedTuple):
    """What a visit adds up over other items.

    table (n, n) : wanted conflicts with all items; or (n, 0)
    begins (n + 1,), items, wishes, counts : of those with some, and of links, whose count is zero
    C (F, F or 2 F) : conflicts of sets, and beside them what links make of sets
    """

    table: Floats
    begins: Ints
    items: Ints
    wishes: Floats
    counts: Floats
    C: Floats


def terms_of(
    C: Floats,
    table: Any,
    counts: Floats | None,
    starts: Ints,
    others: Ints,
    strengths: Floats,
    Q: Floats,
) -> Terms:
    """Terms of dissimilarities with all items, or with some by a sparse table; and of links."""
    n, no_counts = table.shape[0], np.zeros(len(others))
    begins, items, wishes = starts, others, -0.5 * strengths  # half of their slopes
    if counts is None:
        counts = no_counts
    else:
        owners = [np.repeat(np.arange(n), np.diff(first)) for first in (table.indptr, starts)]
        order = np.concatenate(owners).argsort(kind="stable")
        begins = table.indptr + starts
        items = np.concatenate([table.indices, others])[order]
        wishes = np.concatenate([counts * table.data, wishes])[order]
        counts = np.concatenate([counts, no_counts])[order]
        table = np.zeros((n, 0))
    both = np.hstack([C, Q.T]) if len(others) else C
    return Terms(
        np.ascontiguousarray(table),
        begins.astype(np.int64),
        items.astype(np.uint64),  # without a sign, as others might count from the end
        wishes,
        counts,
        np.ascontiguousarray(both),
    )


def visit(masses: Floats, terms: Terms, order: Ints, ridge: float, slack: float) -> float:
    """As `evclus_rows.visit_all` and `evclus_rows.visit_some`."""
    n_sets = masses.shape[1]
    against = masses @ terms.C
    near, own = against[:, :n_sets], against[order[0], :n_sets]
    G = np.ones((n_sets + 2, n_sets))  # right sides are further rows: h, and ones
    G[:n_sets] = near.T @ near - np.outer(own, own)
    limits = np.array([terms.table.shape[1] > 0, ridge, slack], dtype=np.float64)
    free, part = np.empty(n_sets + 2, np.uint64), np.empty_like(G)
    space = np.empty((3, n_sets))
    return float(_visit(masses, *terms, against, G, order, limits, free, part, *space))


@_part
def _least(G, row, goals, shares, free, part, ridge, slack):  # type: ignore[no-untyped-def]  # pragma: no cover
    """As `evclus_rows.simplex_minimum`, from the masses in the row, by Cholesky factors.

    Sets that are not free have no mass. Gives the sum of the masses, which is one but for rounding.
    """
    n_sets = G.shape[1]
    n_free, least, most, total = 0, 1e-300, 0.0, 0.0
    for a in range(n_sets):
        least += ridge * G[a, a]
        for b in range(a):
            G[b, a] = G[a, b]
        size = slack * abs(G[n_sets, a])
        most = size if size > most else most
        if row[a] > 0.0:
            free[n_free] = a
            n_free += 1
    for _round in range(10 * n_sets):
        free[n_free], free[n_free + 1] = n_sets, n_sets + 1  # the right sides
        price, ones, root = 1.0, 0.0, 0.0
        for b in range(n_free):
            for a in range(b, n_free + 2):
                left = G[free[a], free[b]]
                for k in range(b):
                    left -= part[a, k] * part[b, k]
                if a == b:
                    left += least
                    left = left if left > least else least
                    root = left**0.5
                part[a, b] = left / root
            price -= part[n_free, b] * part[n_free + 1, b]
            ones += part[n_free + 1, b] * part[n_free + 1, b]
        price /= ones
        step = 1.0
        for a in range(n_free - 1, -1, -1):
            goal = part[n_free, a] + price * part[n_free + 1, a]
            for k in range(a + 1, n_free):
                goal -= part[k, a] * goals[k]
            goal /= part[a, a]
            share = 2.0
            if goal <= 0.0:
                share = row[free[a]] / (row[free[a]] - goal + 1e-300)
                step = share if share < step else step
            goals[a], shares[a] = goal, share
        total, n_left = 0.0, 0
        for a in range(n_free):  # to the goals, or as far as is allowed
            own = free[a]
            there = (1.0 - step) * row[own] + step * goals[a]
            row[own] = 0.0
            if shares[a] > step:
                free[n_left] = own
                n_left += 1
                row[own] = there if there > 0.0 else 0.0
                total += row[own]
        n_free = n_left
        if step == 0.0:
            break
        if step == 1.0:
            best, above = -1, most
            for a in range(n_sets):
                if row[a] == 0.0:
                    slope = G[n_sets, a] + price
                    for b in range(n_sets):
                        slope -= G[a, b] * row[b]
                    if slope > above:
                        best, above = a, slope
            if best < 0:
                break
            free[n_free] = best
            n_free += 1
    return total


@numba.njit(cache=True, **_options)
def _visit(  # type: ignore[no-untyped-def]  # pragma: no cover
    masses, table, begins, items, wishes, counts, C, against, G, order, limits, free, part, row,
    goals, shares
):  # fmt: skip
    """Visit items in some order, with G of all items but one, or made anew; h is below it."""
    n_sets, last, fell = len(row), order[0], 0.0
    for i in order:
        for a in range(n_sets):
            row[a] = masses[i, a]
            G[n_sets, a] = 0.0
            for b in range(n_sets):
                more = against[last, a] * against[last, b] - against[i, a] * against[i, b]
                G[a, b] = limits[0] * (G[a, b] + more)
        for j in range(table.shape[1]):
            wish = table[i, j]
            for a in range(n_sets):
                G[n_sets, a] += wish * against[j, a]
        for place in range(begins[i], begins[i + 1]):
            wish, count, near = wishes[place], counts[place], against[items[place]]
            first = n_sets if count == 0.0 else 0  # links have columns of their own
            for a in range(n_sets):
                G[n_sets, a] += wish * near[first + a]
                scaled = count * near[a]
                for b in range(a + 1):
                    G[a, b] += scaled * near[b]
        scale = 1.0 / _least(G, row, goals, shares, free, part, limits[1], limits[2])
        fall, last = 0.0, i
        for a in range(n_sets):
            slope = -2.0 * G[n_sets, a]
            for b in range(n_sets):
                slope += G[a, b] * (masses[i, b] + scale * row[b])
            fall += (masses[i, a] - scale * row[a]) * slope
        if fall > 0.0:
            fell += fall
            for a in range(n_sets):
                masses[i, a] = scale * row[a]
            for a in range(C.shape[1]):
                found = 0.0
                for b in range(n_sets):
                    found += masses[i, b] * C[b, a]
                against[i, a] = found
    return fell
