"""Strengths, `combine`, the losses and their slopes of a block of rows in one compiled pass.

numba is imported here only, and this file only where there is enough work (see `FAST_WORK` in
`network.classifier`). Rows are the innermost loop, so that every step runs on whole vectors;
`error_model="numpy"` spares the tests for zero divisors, with which loops would not.
"""

from math import factorial

import numba
import numpy as np

from plausible.models.network.evidence import LEAST, RESCALE, FloatArray
from plausible.models.network.losses import BoolArray

BLOCK = 128  # rows at a time: all that a block needs stays in the first-level cache
LOG2_E, LN2_HIGH, LN2_LOW = 1.4426950408889634, 0.6931471803691238, 1.9082149292705877e-10
TAYLOR = tuple(1.0 / factorial(n) for n in range(13, -1, -1))
MAGIC = 6755399441055744.0  # 1.5 * 2^52: added to a number, its last bits are the nearest integer
FARTHEST = -700.0  # below, exponentials count as that of this
CODES = {"squared": 0, "c1": 1, "likelihood": 2}


@numba.njit(cache=True, nogil=True, fastmath={"contract"}, error_model="numpy")
def activate_block(
    squared: FloatArray, alpha: FloatArray, gamma: FloatArray, strength: FloatArray
) -> None:
    """Alpha exp(-gamma squared), on whole vectors, as an exponential of a library would not be.

    exp(t) = 2^k exp(t - k log 2) for the nearest integer k: a Taylor polynomial that is exact to
    the last digit, and 2^k by the bits of an exponent.
    """
    n_rows = squared.shape[1]
    power = np.empty(n_rows)
    bits = power.view(np.int64)
    for i in range(len(squared)):
        far, found, slope, most = squared[i], strength[i], -gamma[i], alpha[i]
        for b in range(n_rows):
            t = max(slope * far[b], FARTHEST)
            shifted = t * LOG2_E + MAGIC
            k = shifted - MAGIC
            r = (t - k * LN2_HIGH) - k * LN2_LOW
            p = TAYLOR[0]
            for n in range(1, len(TAYLOR)):
                p = p * r + TAYLOR[n]
            power[b] = shifted
            found[b] = p * most
        for b in range(n_rows):
            bits[b] = (bits[b] + 1023) << 52
        for b in range(n_rows):
            found[b] *= power[b]


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _rescale_block(products: FloatArray, ignorance: FloatArray) -> None:
    """Bring products back to the size of numbers, so that the largest of each row is one."""
    n_classes, n_rows = products.shape
    scale = np.full(n_rows, LEAST**RESCALE)
    for k in range(n_classes):
        row = products[k]
        for b in range(n_rows):
            scale[b] = max(scale[b], row[b])
    for b in range(n_rows):
        scale[b] = 1.0 / scale[b]
    for k in range(n_classes):
        row = products[k]
        for b in range(n_rows):
            row[b] *= scale[b]
    for b in range(n_rows):
        ignorance[b] *= scale[b]


@numba.njit(cache=True, nogil=True, fastmath={"contract"}, error_model="numpy")
def _combine_block(
    strength: FloatArray, others: FloatArray, products: FloatArray, ignorance: FloatArray
) -> None:
    """Q / S (K, b) and O / S (b,) of one block, written into the last two."""
    n_classes, n_rows = products.shape
    products[:] = 1.0
    ignorance[:] = 1.0
    n_even = len(strength) - len(strength) % 2
    for i in range(0, n_even, 2):  # two prototypes at a time: half as often through the products
        strong, stronger = strength[i], strength[i + 1]
        for k in range(n_classes):
            other, another = others[i, k], others[i + 1, k]
            row = products[k]
            for b in range(n_rows):
                row[b] *= (1.0 - other * strong[b]) * (1.0 - another * stronger[b])
        for b in range(n_rows):
            ignorance[b] *= (1.0 - strong[b]) * (1.0 - stronger[b])
        if (i + 2) % RESCALE == 0:
            _rescale_block(products, ignorance)
    for i in range(n_even, len(strength)):
        for k in range(n_classes):
            for b in range(n_rows):
                products[k, b] *= 1.0 - others[i, k] * strength[i, b]
        for b in range(n_rows):
            ignorance[b] *= 1.0 - strength[i, b]
    for b in range(n_rows):
        total = -(n_classes - 1) * ignorance[b]
        for k in range(n_classes):
            total += products[k, b]
        total = max(total, 2.2250738585072014e-308)
        for k in range(n_classes):
            products[k, b] /= total
        ignorance[b] /= total


@numba.njit(cache=True, nogil=True, fastmath={"contract"}, error_model="numpy")
def _loss_block(
    shares: FloatArray,
    ignorance: FloatArray,
    targets: FloatArray,
    weight: FloatArray,
    marks: BoolArray,
    code: int,
) -> float:
    """The loss of a block; shares and ignorance become its slopes by log Q and log O."""
    n_classes, n_rows = shares.shape
    part = 1.0 - 1.0 / n_classes
    slope = np.empty(n_classes)
    value = 0.0
    for b in range(n_rows):
        fit = 0.0
        for k in range(n_classes):
            fit += (shares[k, b] - part * ignorance[b]) * targets[b, k]
        fit = max(fit, 1e-300)
        mean = 0.0
        total = 0.0
        loss = 1.0 - fit if code == 1 else 0.0
        if code == 2 and not marks[b]:
            loss = -np.log(fit)
        for k in range(n_classes):
            bet = shares[k, b] - part * ignorance[b]
            if code == 0:
                apart = bet - targets[b, k]
                loss += apart * apart
                slope[k] = 2.0 * apart
            elif code == 2 and marks[b]:
                bet = max(bet, 1e-300)
                if targets[b, k] > 0.0:
                    loss -= targets[b, k] * np.log(bet)
                slope[k] = -targets[b, k] / bet
            else:
                slope[k] = -targets[b, k] / (fit if code == 2 else 1.0)
            slope[k] *= weight[b]
            mean += slope[k] * bet
            total += slope[k]
        value += loss * weight[b]
        for k in range(n_classes):
            shares[k, b] *= slope[k] - mean
        ignorance[b] *= (n_classes - 1) * mean - part * total
    return value


# Sums of vectors may be taken in any order.
@numba.njit(cache=True, nogil=True, fastmath={"contract", "reassoc"}, error_model="numpy")
def _pull_back_block(
    strength: FloatArray,
    others: FloatArray,
    by_product: FloatArray,
    by_ignorance: FloatArray,
    by_membership: FloatArray,
    by_strength: FloatArray,
) -> None:
    """Add slopes by memberships, and write those by the log of strengths."""
    n_classes, n_rows = by_product.shape
    for i in range(len(strength)):
        strong, found = strength[i], by_strength[i]
        for b in range(n_rows):
            found[b] = -by_ignorance[b] * strong[b] / (1.0 - strong[b])
        # Two classes at a time: one division, the slowest step, for both.
        for k in range(0, n_classes - 1, 2):
            other, another = others[i, k], others[i, k + 1]
            row, next_row = by_product[k], by_product[k + 1]
            total, next_total = 0.0, 0.0
            for b in range(n_rows):
                factor, next_factor = 1.0 - other * strong[b], 1.0 - another * strong[b]
                common = strong[b] / (factor * next_factor)
                ratio, next_ratio = row[b] * next_factor * common, next_row[b] * factor * common
                found[b] -= other * ratio + another * next_ratio
                total += ratio
                next_total += next_ratio
            by_membership[i, k] += total
            by_membership[i, k + 1] += next_total
        if n_classes % 2:
            other, row, total = others[i, n_classes - 1], by_product[n_classes - 1], 0.0
            for b in range(n_rows):
                ratio = row[b] * strong[b] / (1.0 - other * strong[b])
                found[b] -= other * ratio
                total += ratio
            by_membership[i, n_classes - 1] += total


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _copy_block(whole: FloatArray, start: int, block: FloatArray, back: bool) -> None:
    """Some columns out of a table, or back into it; assigned slices take seconds to compile."""
    for i in range(len(block)):
        for b in range(block.shape[1]):
            if back:
                whole[i, start + b] = block[i, b]
            else:
                block[i, b] = whole[i, start + b]


@numba.njit(cache=True, nogil=True, fastmath={"contract"}, error_model="numpy")
def evidence_pass(
    squared: FloatArray,
    memberships: FloatArray,
    alpha: FloatArray,
    gamma: FloatArray,
    targets: FloatArray,
    weight: FloatArray,
    marks: BoolArray,
    code: int,
    by_membership: FloatArray,
    by_strength: FloatArray,
) -> float:
    """The loss of rows at squared distances (r, n), and its slopes.

    `by_membership` (r, K) and `by_strength` (r, n), by the log of the strengths, are written.
    """
    n_rows, n_classes = targets.shape
    n_prototypes = len(memberships)
    others = 1.0 - memberships
    value = 0.0
    for start in range(0, n_rows, BLOCK):
        size = min(BLOCK, n_rows - start)
        # Copies, because loops over contiguous rows run on vectors, and others do not.
        found, block = np.empty((n_prototypes, size)), np.empty((n_prototypes, size))
        _copy_block(squared, start, found, False)
        activate_block(found, alpha, gamma, block)
        products, ignorance = np.empty((n_classes, size)), np.empty(size)
        _combine_block(block, others, products, ignorance)
        part = slice(start, start + size)
        value += _loss_block(products, ignorance, targets[part], weight[part], marks[part], code)
        _pull_back_block(block, others, products, ignorance, by_membership, found)
        _copy_block(by_strength, start, found, True)
    return value
