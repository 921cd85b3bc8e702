r"""The product behind the conjunctive and the disjunctive rule, without a single subtraction.

.. math:: (f \cap g)(A) = \sum_{B \cap C = A} f(B)\, g(C)

The textbook way, multiplying commonalities and inverting, loses all digits of a small mass when
the conflict is near one. Here every mass comes out with full relative precision, and is zero only
if it is truly zero (or below 1e-308). With f = (f0, f1), the parts without and with the last class,

.. math:: (f \cap g)_1 = f_1 \cap g_1, \qquad
          (f \cap g)_0 = f_0 \cap (g_0 + g_1) + f_1 \cap g_0,

three products of half the size: O(3^K) instead of O(4^K) for each row. Where few sets have a mass,
going through their pairs is cheaper still.
"""

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np

from plausible.belief.forms import sum_by_position
from plausible.belief.sets import FloatArray, IntArray

_LEAF = 60_000  # terms of a product done at once: half a megabyte
_FEW_ROWS = 256
_ROWS_AT_ONCE = 2048
_PAIRS_AT_ONCE = 1 << 22


def intersect_dense(first: FloatArray, second: FloatArray) -> FloatArray:
    """Conjunctive product of dense masses (..., 2^K), broadcast over rows."""
    shape = np.broadcast_shapes(first.shape, second.shape)
    if 0 in shape:
        return np.zeros(shape)
    n_sets = shape[-1]
    n_classes = n_sets.bit_length() - 1
    used = [np.flatnonzero(part.reshape(-1, n_sets).any(axis=0)) for part in (first, second)]
    if len(used[0]) * len(used[1]) < min(3**n_classes, _PAIRS_AT_ONCE):
        common = used[0][:, None] & used[1]
        return sum_pairs(first[..., used[0]], second[..., used[1]], common, n_sets)
    left, right = (np.broadcast_to(part, shape).reshape(-1, n_sets) for part in (first, second))
    out = np.empty(left.shape)
    rows = max(1, min(_ROWS_AT_ONCE, _PAIRS_AT_ONCE // n_sets))
    for start in range(0, len(left), rows):
        block = slice(start, start + rows)
        f, g = np.ascontiguousarray(left[block].T), np.ascontiguousarray(right[block].T)
        product = np.empty(f.shape)
        _by_halves(f, g, product)
        out[block] = product.T
    return out.reshape(shape)


def sum_pairs(
    first: FloatArray, second: FloatArray, position: IntArray, n_columns: int
) -> FloatArray:
    """Add the product of columns f and g to column ``position[f, g]``, for every pair."""
    lead = np.broadcast_shapes(first.shape[:-1], second.shape[:-1])
    left = np.broadcast_to(first, (*lead, first.shape[-1])).reshape(-1, first.shape[-1], 1)
    right = np.broadcast_to(second, (*lead, second.shape[-1])).reshape(-1, 1, second.shape[-1])
    out = np.empty((len(left), n_columns))
    rows = max(1, _PAIRS_AT_ONCE // max(1, position.size))
    for start in range(0, len(left), rows):
        stop = start + rows
        products = (left[start:stop] * right[start:stop]).reshape(-1, position.size)
        out[start:stop] = sum_by_position(products, position.reshape(-1), n_columns)
    return out.reshape(*lead, n_columns)


def each_tuple(
    sources: Sequence[tuple[FloatArray, IntArray]],
) -> Iterator[tuple[FloatArray, IntArray]]:
    """Masses and sets of every tuple of focal sets, one from each source, block by block.

    Both are (sources, ..., tuples). Only the focal sets that a row has itself are met, so that rows
    with few focal sets are cheap however many there are in all rows together.
    """
    lead = np.broadcast_shapes(*(values.shape[:-1] for values, _ in sources))
    held = [_held_in_each_row(values, sets, lead) for values, sets in sources]
    counts = tuple(masses.shape[-1] for masses, _ in held)
    at_once = max(1, _PAIRS_AT_ONCE // max(1, prod(lead) * len(sources)))
    for start in range(0, prod(counts), at_once):
        chosen = np.unravel_index(np.arange(start, min(start + at_once, prod(counts))), counts)
        masses = np.stack([m[..., c] for (m, _), c in zip(held, chosen, strict=True)])
        sets = np.stack([s[..., c] for (_, s), c in zip(held, chosen, strict=True)])
        yield masses, sets


def most_held(values: FloatArray) -> int:
    """Largest number of focal sets in a row."""
    return int((values > 0.0).sum(axis=-1).max(initial=1))


def _held_in_each_row(
    values: FloatArray, sets: IntArray, lead: tuple[int, ...]
) -> tuple[FloatArray, IntArray]:
    """For each row only its own focal sets: masses and sets (..., most focal sets in a row)."""
    count = most_held(values)
    order = np.argsort(values == 0.0, axis=-1, kind="stable")[..., :count]
    masses = np.take_along_axis(values, order, axis=-1)
    return np.broadcast_to(masses, (*lead, count)), np.broadcast_to(sets[order], (*lead, count))


def _by_halves(first: FloatArray, second: FloatArray, out: FloatArray) -> None:
    """Split off the last class until little is left; arrays are (2^K, rows)."""
    n_sets, n_rows = first.shape
    n_terms = 3 ** (n_sets.bit_length() - 1) * n_rows
    if n_sets == 2 or (n_rows < _FEW_ROWS and n_terms <= _LEAF):
        out[...] = _all_at_once(first, second)
    elif n_sets == 4:
        _two_classes(first, second, out)
    else:
        half = n_sets // 2
        without, having = out[:half], out[half:]
        _by_halves(first[half:], second[:half], having)
        _by_halves(first[:half], second[:half] + second[half:], without)
        without += having
        _by_halves(first[half:], second[half:], having)


def _two_classes(first: FloatArray, second: FloatArray, out: FloatArray) -> None:
    """Write out the product on two classes; the fastest way for many rows."""
    f0, f1, f2, f3 = first
    g0, g1, g2, g3 = second
    out[0] = f0 * (g0 + g1 + g2 + g3) + f1 * (g0 + g2) + f2 * (g0 + g1) + f3 * g0
    out[1] = f1 * (g1 + g3) + f3 * g1
    out[2] = f2 * (g2 + g3) + f3 * g2
    out[3] = f3 * g3


def _all_at_once(first: FloatArray, second: FloatArray) -> FloatArray:
    """Spread both factors to 3^K terms, multiply, add up; the fastest way for few rows."""
    n_sets, n_rows = first.shape
    n_classes = n_sets.bit_length() - 1
    f, g = first.reshape(1, -1), second.reshape(1, -1)
    for _ in range(n_classes):
        f0, f1 = f.reshape(len(f), 2, -1).swapaxes(0, 1)
        g0, g1 = g.reshape(len(g), 2, -1).swapaxes(0, 1)
        f = np.stack((f0, f1, f1), axis=1).reshape(3 * len(f), -1)
        g = np.stack((g0 + g1, g0, g1), axis=1).reshape(3 * len(g), -1)
    products = f * g
    for _ in range(n_classes):
        p = products.reshape(len(products) // 3, 3, -1)
        products = np.stack((p[:, 0] + p[:, 1], p[:, 2]), axis=1).reshape(len(p), -1)
    return products.reshape(n_sets, n_rows)
