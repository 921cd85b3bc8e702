"""Strengths, `combine`, the losses and their slopes of a block of rows in one compiled pass.

numba is imported here only, and this file only where there is enough work (see `FAST_WORK` in
`network.classifier`). Rows are the innermost loop, so that every step runs on whole vectors;
`error_model="numpy"` spares the tests for zero divisors, with which loops would not. What compiles
slowly is left out: kernels make no arrays and assign no slices.
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
NORMAL = 2.2250738585072014e-308  # the smallest number with all its digits
CODES = {"squared": 0, "c1": 1, "likelihood": 2}

_options: dict[str, Any] = {"nogil": True, "fastmath": {"contract"}, "error_model": "numpy"}
_sums_in_any_order = {**_options, "fastmath": {"contract", "reassoc"}}
# Parts that only compiled code calls: without ways in for others they compile faster.
_inner: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


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
    n_prototypes, n_classes = memberships.shape
    n_rows, value = len(targets), 0.0
    others = np.ones((n_prototypes, n_classes + 1))  # ignorance is a class that nothing belongs to
    others[:, :-1] -= memberships
    by_other = np.zeros_like(others)
    whole = n_rows - n_rows % BLOCK
    for first, last, size in ((0, whole, BLOCK), (whole, n_rows, n_rows - whole)):
        if last > first:
            space = workspace(n_prototypes, n_classes, size)
            value += _blocks(
                first,
                last,
                code,
                squared,
                others,
                alpha,
                gamma,
                targets,
                weight,
                marks,
                by_other,
                by_strength,
                *space,
            )
    by_membership += by_other[:, :-1]
    return value


def workspace(n_prototypes: int, n_classes: int, size: int) -> tuple[Any, ...]:
    """Arrays to work in: distances, strengths, products, slopes, powers and their bits.

    Their rows are contiguous, as loops over others do not run on vectors.
    """
    n, n_lines = n_prototypes, 2 * n_prototypes + n_classes + 2
    raw = np.empty(n_lines * size + 8)
    start = (-raw.ctypes.data % 64) // 8  # at a cache line, from which loops run faster
    table, slope = raw[start : start + n_lines * size].reshape(n_lines, size), np.empty(n_classes)
    power = table[-1]
    return table[:n], table[n : 2 * n], table[2 * n : -1], slope, power, power.view(np.int64)


@numba.njit(cache=True, **_options)
def activate_block(squared, alpha, gamma, strength, power, bits):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Alpha exp(-gamma squared), on whole vectors, as an exponential of a library would not be.

    exp(t) = 2^k exp(t - k log 2) for the nearest integer k: a Taylor polynomial that is exact to
    the last digit, and 2^k by the bits of an exponent.
    """
    n_rows = squared.shape[1]
    for i in range(len(squared)):
        far, found, slope, most = squared[i], strength[i], -gamma[i], alpha[i]
        for b in range(n_rows):
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
        for b in range(n_rows):
            bits[b] = (bits[b] + 1023) << 52
        for b in range(n_rows):
            found[b] *= power[b]


@numba.njit(**_inner, **_options)
def _rescale_block(products, scale):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Bring products back to the size of numbers, so that the largest of each row is one."""
    n_lines, n_rows = products.shape
    for b in range(n_rows):
        scale[b] = SMALLEST
    for k in range(n_lines):
        for b in range(n_rows):
            scale[b] = products[k, b] if products[k, b] > scale[b] else scale[b]
    for b in range(n_rows):
        scale[b] = 1.0 / scale[b]
    for k in range(n_lines):
        for b in range(n_rows):
            products[k, b] *= scale[b]


@numba.njit(**_inner, **_options)
def _combine_block(strength, others, products, scale):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Q / S (K, b) and O / S (b,) of one block, written into products, the latter last."""
    n_lines, n_rows = products.shape
    for k in range(n_lines):
        for b in range(n_rows):
            products[k, b] = 1.0
    n_even = len(strength) - len(strength) % 2
    for i in range(0, n_even, 2):  # two prototypes at a time: half as often through the products
        strong, stronger = strength[i], strength[i + 1]
        for k in range(n_lines):
            other, another, row = others[i, k], others[i + 1, k], products[k]
            for b in range(n_rows):
                row[b] *= (1.0 - other * strong[b]) * (1.0 - another * stronger[b])
        if (i + 2) % RESCALE == 0:
            _rescale_block(products, scale)
    for i in range(n_even, len(strength)):
        for k in range(n_lines):
            for b in range(n_rows):
                products[k, b] *= 1.0 - others[i, k] * strength[i, b]
    for b in range(n_rows):
        total = -(n_lines - 1) * products[n_lines - 1, b]
        for k in range(n_lines):
            total += products[k, b]
        total = total if total > NORMAL else NORMAL
        for k in range(n_lines):
            products[k, b] /= total


@numba.njit(**_inner, **_options)
def _loss_block(shares, all_targets, weights, marks, start, code, slope):  # type: ignore[no-untyped-def]  # pragma: no cover
    """The loss of a block; shares, the last of ignorance, become its slopes by log Q and log O."""
    n_classes, n_rows = len(slope), shares.shape[1]
    part = 1.0 - 1.0 / n_classes
    value = 0.0
    for b in range(n_rows):
        i = start + b
        targets = all_targets[i]
        weight, is_probability, unknown = weights[i], marks[i], part * shares[n_classes, b]
        fit = 0.0
        for k in range(n_classes):
            fit += (shares[k, b] - unknown) * targets[k]
        fit = fit if fit > 1e-300 else 1e-300
        mean = 0.0
        total = 0.0
        loss = 1.0 - fit if code == 1 else 0.0
        if code == 2 and not is_probability:
            loss = -math.log(fit)
        for k in range(n_classes):
            bet = shares[k, b] - unknown
            if code == 0:
                apart = bet - targets[k]
                loss += apart * apart
                slope[k] = 2.0 * apart
            elif code == 2 and is_probability:
                bet = bet if bet > 1e-300 else 1e-300
                if targets[k] > 0.0:
                    loss -= targets[k] * math.log(bet)
                slope[k] = -targets[k] / bet
            else:
                slope[k] = -targets[k] / (fit if code == 2 else 1.0)
            slope[k] *= weight
            mean += slope[k] * bet
            total += slope[k]
        value += loss * weight
        for k in range(n_classes):
            shares[k, b] *= slope[k] - mean
        shares[n_classes, b] *= (n_classes - 1) * mean - part * total
    return value


# Sums of vectors may be taken in any order.
@numba.njit(**_inner, **_sums_in_any_order)
def _pull_back_block(strength, others, by_product, by_other, by_strength):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Add slopes by memberships, and write those by the log of strengths."""
    n_lines, n_rows = by_product.shape
    for i in range(len(strength)):
        strong, found, row = strength[i], by_strength[i], by_product[n_lines - 1]
        if n_lines % 2:  # ignorance, which has no pair
            for b in range(n_rows):
                found[b] = -row[b] * strong[b] / (1.0 - strong[b])
        else:
            for b in range(n_rows):
                found[b] = 0.0
        # Two classes at a time: one division, the slowest step, for both.
        for k in range(0, n_lines - 1, 2):
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
            by_other[i, k] += total
            by_other[i, k + 1] += next_total


@numba.njit(cache=True, **_options)
def _blocks(  # type: ignore[no-untyped-def]  # pragma: no cover
    first, last, code, squared, others, alpha, gamma, targets, weight, marks, by_other,
    by_strength, found, block, products, slope, power, bits
):  # fmt: skip
    """The loss of a part of the rows, in whole blocks of the size of the workspace."""
    n_prototypes, size = found.shape
    value = 0.0
    for start in range(first, last, size):
        for i in range(n_prototypes):
            for b in range(size):
                found[i, b] = squared[i, start + b]
        activate_block(found, alpha, gamma, block, power, bits)
        _combine_block(block, others, products, power)
        value += _loss_block(products, targets, weight, marks, start, code, slope)
        _pull_back_block(block, others, products, by_other, found)
        for i in range(n_prototypes):
            for b in range(size):
                by_strength[i, start + b] = found[i, b]
    return value
