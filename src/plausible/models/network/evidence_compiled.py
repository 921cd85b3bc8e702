"""Strengths, `combine`, the losses and their slopes of some rows, compiled.

numba is imported here only, and this file only where there is enough work (see `FAST_WORK` in
`network.classifier`). Rows are the innermost loop, so that every step runs on whole vectors;
`error_model="numpy"` spares the tests for zero divisors, with which loops would not.

What compiles slowly is left out. Kernels make no arrays and assign no slices; Python calls each of
them, as a part that another kernel calls is optimized once more there; and there are no loops for
what is left over: rows are filled up to whole blocks, prototypes and classes to pairs, with some
that say nothing.
"""

import math
from typing import Any

import numba
import numpy as np

from plausible.models.network.evidence import LEAST, RESCALE, FloatArray
from plausible.models.network.losses import BoolArray

BLOCK = 128  # rows at a time: all that a block needs stays in the first-level cache
LOG2_E, LN2_HIGH, LN2_LOW = 1.4426950408889634, 0.6931471803691238, 1.9082149292705877e-10
TAYLOR = tuple(1.0 / math.factorial(n) for n in range(13, -1, -1))
MAGIC = 6755399441055744.0  # 1.5 * 2^52: added to a number, its last bits are the nearest integer
FARTHEST = -700.0  # below, exponentials count as that of this
SMALLEST = LEAST**RESCALE
SQUARED, C1, LIKELIHOOD, CROSS_ENTROPY = range(4)  # the last of probabilities
CODES = {"squared": SQUARED, "c1": C1, "likelihood": LIKELIHOOD}

# Only Python and compiled code call them: without a way in for C they compile faster.
_options: dict[str, Any] = {
    "nogil": True,
    "fastmath": {"contract"},
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
}
_sums_in_any_order = {**_options, "fastmath": {"contract", "reassoc"}}


def evidence_pass(
    squared: FloatArray,
    memberships: FloatArray,
    alpha: FloatArray,
    gamma: FloatArray,
    targets: FloatArray,
    weight: FloatArray,
    marks: BoolArray,
    code: int,
) -> tuple[float, FloatArray, FloatArray]:
    """The loss of rows at squared distances (r, n), and its slopes.

    These are by memberships (r, K), and by the log of the strengths (r, n).
    """
    n_rows, n_prototypes, n_classes = len(targets), *memberships.shape
    n_blocks = -(-n_rows // BLOCK)
    kinds = np.full(n_rows, code)
    if code == LIKELIHOOD:
        kinds[marks] = CROSS_ENTROPY
    given: Any = targets, weight, kinds
    if n_rows % BLOCK:
        given = [_filled(rows, n_blocks) for rows in given]
        squared = np.pad(squared, ((0, 0), (0, n_blocks * BLOCK - n_rows)))
    far, others = squared.reshape(n_prototypes, n_blocks, BLOCK), paired_others(memberships)
    strength = aligned(n_blocks, len(others), BLOCK)
    strength[:, n_prototypes:] = 0.0
    products = aligned(n_blocks, others.shape[1], BLOCK)
    products[:] = 1.0
    power, by_strength, by_other = np.empty(BLOCK), np.empty_like(far), np.zeros_like(others)
    activate(far, alpha, gamma, strength, power, power.view(np.int64))
    _combine(strength, others, n_classes, products, power)
    value = _lose(products, *given, np.empty(n_classes))
    _pull_back(strength, others, products, by_other, by_strength)
    found = by_strength.reshape(n_prototypes, n_blocks * BLOCK)[:, :n_rows]
    return value, by_other[:n_prototypes, :n_classes], found


def paired_others(memberships: FloatArray) -> FloatArray:
    """What of each prototype speaks against each class, with an even number of both.

    Ignorance is a class that nothing belongs to; one that everything belongs to makes it even.
    """
    n_prototypes, n_classes = memberships.shape
    found = np.zeros((n_prototypes + n_prototypes % 2, n_classes + 1 + (n_classes + 1) % 2))
    found[:n_prototypes, :n_classes] = 1.0 - memberships
    found[:, n_classes] = 1.0
    return found


def aligned(*shape: int) -> FloatArray:
    """An array that begins at a cache line, from which loops run faster."""
    size = math.prod(shape)
    raw = np.empty(size + 8)
    start = (-raw.ctypes.data % 64) // 8
    return raw[start : start + size].reshape(shape)


def _filled(rows: Any, n_blocks: int) -> Any:
    """Rows with others of zeros after them, which weigh nothing, up to whole blocks."""
    found = np.zeros((n_blocks * BLOCK, *rows.shape[1:]), rows.dtype)
    found[: len(rows)] = rows
    return found


@numba.njit(cache=True, **_options)
def activate(squared, alpha, gamma, strength, power, bits):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Alpha exp(-gamma squared), on whole vectors, as an exponential of a library would not be.

    exp(t) = 2^k exp(t - k log 2) for the nearest integer k: a Taylor polynomial that is exact to
    the last digit, and 2^k by the bits of an exponent.
    """
    for i in range(len(squared)):
        slope, most = -gamma[i], alpha[i]
        for block in range(len(strength)):
            far, found = squared[i, block], strength[block, i]
            for b in range(BLOCK):
                t = slope * far[b]
                t = t if t > FARTHEST else FARTHEST
                shifted = t * LOG2_E + MAGIC
                k = shifted - MAGIC
                r = (t - k * LN2_HIGH) - k * LN2_LOW
                p = TAYLOR[0]
                for n in range(1, len(TAYLOR)):
                    p = p * r + TAYLOR[n]
                power[b] = shifted
                found[b] = p * most
            for b in range(BLOCK):
                bits[b] = (bits[b] + 1023) << 52
            for b in range(BLOCK):
                found[b] *= power[b]


@numba.njit(cache=True, **_options)
def _combine(strength, others, n_classes, products, scale):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Q / S (K, b) and O / S (b,) of blocks, by products that are one and get them, in this order.

    S is at least the largest of the products, which are divided by it so often that none of them
    vanishes.
    """
    n_prototypes = len(others)
    for block in range(len(strength)):
        for i in range(0, n_prototypes, 2):  # two at a time: half as often through the products
            strong, stronger = strength[block, i], strength[block, i + 1]
            for k in range(n_classes + 1):
                other, another, row = others[i, k], others[i + 1, k], products[block, k]
                for b in range(BLOCK):
                    row[b] *= (1.0 - other * strong[b]) * (1.0 - another * stronger[b])
            if (i + 2) % RESCALE == 0 or i + 2 == n_prototypes:
                for b in range(BLOCK):
                    scale[b] = (1 - n_classes) * products[block, n_classes, b]
                for k in range(n_classes):
                    row = products[block, k]
                    for b in range(BLOCK):
                        scale[b] += row[b]
                for b in range(BLOCK):
                    scale[b] = 1.0 / (scale[b] if scale[b] > SMALLEST else SMALLEST)
                for k in range(n_classes + 1):
                    row = products[block, k]
                    for b in range(BLOCK):
                        row[b] *= scale[b]


@numba.njit(cache=True, **_options)
def _lose(all_shares, all_targets, weights, kinds, slope):  # type: ignore[no-untyped-def]  # pragma: no cover
    """The loss of rows; shares, the last of ignorance, become its slopes by log Q and log O."""
    n_classes, value, lost = len(slope), 0.0, 0.0
    part = 1.0 - 1.0 / n_classes
    for i in range(len(weights)):
        shares, b, targets = all_shares[i // BLOCK], i % BLOCK, all_targets[i]
        kind, unknown = kinds[i], part * shares[n_classes, b]
        fit, mean, total = 0.0, 0.0, 0.0
        for k in range(n_classes):
            fit += (shares[k, b] - unknown) * targets[k]
        fit = fit if fit > 1e-300 else 1e-300
        loss, twice, ratio = 0.0, 0.0, 1.0  # slopes are twice the bet, less the target by a ratio
        if kind == SQUARED:
            twice = ratio = 2.0
        elif kind == C1:
            loss = 1.0 - fit
        elif kind == LIKELIHOOD:
            loss, ratio = -math.log(fit), 1.0 / fit
        for k in range(n_classes):
            bet, target = shares[k, b] - unknown, targets[k]
            if kind == CROSS_ENTROPY:
                bet = bet if bet > 1e-300 else 1e-300
                loss -= target * math.log(bet)
                ratio = 1.0 / bet
            elif kind == SQUARED:
                loss += (bet - target) * (bet - target)
            slope[k] = weights[i] * (twice * bet - ratio * target)
            mean += slope[k] * bet
            total += slope[k]
        more = loss * weights[i] - lost  # Kahan: digits must not depend on where chunks end
        before = value
        value += more
        lost = (value - before) - more
        for k in range(n_classes):
            shares[k, b] *= slope[k] - mean
        shares[n_classes, b] *= (n_classes - 1) * mean - part * total
    return value


# Sums of vectors may be taken in any order.
@numba.njit(cache=True, **_sums_in_any_order)
def _pull_back(strength, others, by_product, by_other, by_strength):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Add slopes by memberships, and write those by the log of strengths."""
    n_lines = others.shape[1]
    for block in range(len(strength)):
        for i in range(len(by_strength)):
            strong, found = strength[block, i], by_strength[i, block]
            for b in range(BLOCK):
                found[b] = 0.0
            # Two classes at a time: one division, the slowest step, for both.
            for k in range(0, n_lines, 2):
                other, another = others[i, k], others[i, k + 1]
                row, next_row = by_product[block, k], by_product[block, k + 1]
                total, next_total = 0.0, 0.0
                for b in range(BLOCK):
                    factor, next_factor = 1.0 - other * strong[b], 1.0 - another * strong[b]
                    common = strong[b] / (factor * next_factor)
                    ratio, next_ratio = row[b] * next_factor * common, next_row[b] * factor * common
                    found[b] -= other * ratio + another * next_ratio
                    total += ratio
                    next_total += next_ratio
                by_other[i, k] += total
                by_other[i, k + 1] += next_total
