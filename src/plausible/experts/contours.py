r"""Dempster's rule for many classes: contours and conflict, of some items at a time.

The contour of the pool is the product of the discounted ones. In logarithms, an answer with doubt d
adds log d to all classes, and :math:`\log (d + (1 - d) s_k) - \log d` more to those that it leaves
possible, which are few; sure answers (d = 0) are counted instead. So the work grows with the
classes that are named, and the memory beside the contours themselves is that of a block of items.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from plausible.experts.annotations import Annotations
from plausible.experts.statements import add_up, expand

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

BLOCK = 1 << 21  # plausibilities at a time


class Pooled(NamedTuple):
    """Contours (n, K), conflict (n,), and about which items (n,) sure answers clash."""

    contour: FloatArray
    conflict: FloatArray
    clash: NDArray[np.bool_]


def pool_contours(annotations: Annotations, doubt: FloatArray) -> Pooled:
    """Contours of the pool, unknown where there is a clash.

    The conflict is exact for items with answers that name one class, all or none; for others what
    the contour leaves is an upper bound.
    """
    n_items = len(annotations.items)
    contour, conflict = np.empty((n_items, annotations.n_classes)), np.empty(n_items)
    clash = np.empty(n_items, dtype=bool)
    for rows, part, doubts in blocks(annotations, doubt):
        contour[rows], conflict[rows], clash[rows] = _pool_block(part, doubts)
    return Pooled(contour, conflict, clash)


def raised_contours(annotations: Annotations, doubt: FloatArray) -> FloatArray:
    """Products (n, K) of contours to the powers of the answers, up to a factor; ones at a clash."""
    contour = np.empty((len(annotations.items), annotations.n_classes))
    for rows, part, doubts in blocks(annotations, doubt):
        logs = _product_logs(part, doubts)
        top = logs.max(axis=1, keepdims=True)
        contour[rows] = np.where(np.isinf(top), 1.0, np.exp(logs - np.where(np.isinf(top), 0, top)))
    return contour


def blocks(
    annotations: Annotations, doubt: FloatArray
) -> Iterator[tuple[slice, Annotations, FloatArray]]:
    """Some items after the other, with their answers and doubts."""
    order = np.argsort(annotations.item, kind="stable")
    item = annotations.item[order]
    n_items, step = len(annotations.items), max(BLOCK // annotations.n_classes, 1)
    edges = [*range(0, n_items, step), n_items]
    for (start, stop), (first, last) in zip(
        pairwise(edges), pairwise(np.searchsorted(item, edges).tolist()), strict=True
    ):
        rows, mine = slice(start, stop), order[first:last]
        part = annotations.select(mine)
        part = part._with(items=annotations.items[rows], item=part.item - start)
        yield rows, part, doubt[mine]


def _pool_block(part: Annotations, doubt: FloatArray) -> Pooled:
    """The same for items of which all is in memory at once."""
    simple = part.facts.is_simple[part.statement]
    only = add_up(part.item, ~simple, len(part.items)) == 0
    if only.all():
        return _pool_simple(part, doubt)
    logs = _product_logs(part, doubt)
    top = logs.max(axis=1)
    clash = top == -np.inf
    logs -= np.where(clash, 0.0, top)[:, None]
    contour = np.exp(logs, out=logs)
    contour[clash] = 1.0
    conflict = np.where(clash, 1.0, -np.expm1(top)) + 0.0
    exact = _pool_simple(part.select(simple), doubt[simple])
    contour[only], conflict[only] = exact.contour[only], exact.conflict[only]
    return Pooled(contour, conflict, clash)


def _product_logs(part: Annotations, doubt: FloatArray) -> FloatArray:
    """Logs (n, K) of the products of discounted contours."""
    n_items, n_classes = len(part.items), part.n_classes
    speaks = ~part.facts.is_unknown[part.statement]
    part, doubt = part.select(speaks), doubt[speaks]
    sure = doubt == 0
    floor = np.log(np.where(sure, 1.0, doubt))
    rows = part.facts.rows
    answer, place = expand(part.statement, rows.indptr)
    more = np.log(doubt[answer] + (1 - doubt[answer]) * rows.data[place]) - floor[answer]
    if part._power is not None:
        floor, more = floor * part._power, more * part._power[answer]
    cell = part.item[answer] * n_classes + rows.indices[place]
    logs = add_up(cell, more, n_items * n_classes)
    logs = logs.reshape(n_items, n_classes)
    logs += add_up(part.item, floor, n_items)[:, None]
    if sure.any():  # what one of them leaves out is impossible
        left = np.bincount(cell[sure[answer]], minlength=n_items * n_classes)
        needed = np.bincount(part.item[sure], minlength=n_items)
        logs[left.reshape(n_items, n_classes) < needed[:, None]] = -np.inf
    return logs


def _pool_simple(part: Annotations, doubt: FloatArray) -> Pooled:
    """In closed form, for answers that name one class, all or none.

    With the product :math:`e^{w_k}` of the doubts of those who name k, the mass of k is
    :math:`(e^{-w_k} - 1) / Z` and that of all classes 1 / Z; classes that nobody names have w = 0.
    """
    weight, refused, clash = log_weights(part, doubt)
    n_items = len(weight)
    item, column = np.nonzero(weight)
    logs = weight[item, column]
    sure = logs == -np.inf
    logs[sure] = 0.0
    with np.errstate(divide="ignore"):
        singles = np.log(-np.expm1(logs)) - logs
    top = np.zeros(n_items)
    np.maximum.at(top, item, singles)
    powers = add_up(item, np.exp(singles - top[item]), n_items)
    total = top + np.log(np.exp(-top) + powers)
    contour = weight  # whose memory it takes
    contour[:] = np.exp(-total)[:, None]
    contour[item, column] = np.minimum(np.exp(-logs - total[item]), 1.0)
    agreed = add_up(item, logs, n_items)
    one = np.zeros(n_items, dtype=bool)
    one[item[sure]] = True  # one class for sure: the others only conflict with it
    agreed[~one] += total[~one]
    contour[one] = 0.0
    contour[item[sure], column[sure]] = 1.0
    contour[clash] = 1.0
    conflict = np.where(clash, 1.0, -np.expm1(np.minimum(agreed + refused, 0.0))) + 0.0
    return Pooled(contour, conflict, clash)


def log_weights(
    part: Annotations, doubt: FloatArray
) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """Sums of log doubts (n, K) of those who name a class, and (n,) who name none; clashes."""
    n_items, n_classes = len(part.items), part.n_classes
    with np.errstate(divide="ignore"):
        logs = np.log(doubt)
    hard = part.facts.is_hard[part.statement]
    column = part.facts.chosen[part.statement[hard]]
    cell = part.item[hard] * n_classes + column
    weight = add_up(cell, logs[hard], n_items * n_classes).reshape(n_items, n_classes)
    nothing = part.facts.is_empty[part.statement]
    refused = add_up(part.item[nothing], logs[nothing], n_items)
    clash = ((weight == -np.inf).sum(axis=1) > 1) | (refused == -np.inf)
    return weight, refused, clash


def all_masses(
    part: Annotations, doubt: FloatArray
) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """Masses (n, K + 1) of the classes and of all, conflict (n,), and where there is a clash."""
    weight, refused, clash = log_weights(part, doubt)
    values, agreed = simple_masses(weight, clash)
    conflict = np.where(clash, 1.0, -np.expm1(np.minimum(agreed + refused, 0.0))) + 0.0
    return values, conflict, clash


def simple_masses(weight: FloatArray, clash: NDArray[np.bool_]) -> tuple[FloatArray, FloatArray]:
    """Masses (n, K + 1) of the classes and of all, and log agreement (n,), from log weights."""
    sure = weight == -np.inf
    finite = np.where(sure, 0.0, weight)
    with np.errstate(divide="ignore"):
        singles = np.log(-np.expm1(finite)) - finite
    logs = np.hstack([singles, np.zeros((len(weight), 1))])
    total = logsumexp(logs, axis=1)
    agreed = total + finite.sum(axis=1)
    values = np.exp(logs - total[:, None])
    one = sure.any(axis=1) & ~clash  # one class for sure: the others only conflict with it
    if one.any():
        values[one] = np.column_stack([sure[one], np.zeros(one.sum())])
        agreed[one] = finite[one].sum(axis=1)
    values[clash] = np.append(np.zeros(weight.shape[1]), 1.0)
    return values, agreed
