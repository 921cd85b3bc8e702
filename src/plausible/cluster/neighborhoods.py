"""Who is beside whom: weights of the neighborhoods of pixels, or of anything else."""

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, diags_array, issparse

from plausible.checks import (
    as_floats,
    as_list,
    check_number,
    check_whole,
    counted,
    is_whole,
    name_rows,
    shown,
)
from plausible.errors import InputError

FloatArray = NDArray[np.float64]


def image_weights(shape: Sequence[int], radius: int = 1, sigma: float | None = None) -> csr_array:
    r"""Weights of the pixels around each pixel of an image, for `SECM`.

    Parameters
    ----------
    shape : sequence of 1 to 3 whole numbers
        Height and width of an image; of a volume, depth first.
    radius : int
        Pixels up to this far along each axis are neighbors: 1 for 3 x 3 pixels; 0 for none.
    sigma : float, optional
        Weights are :math:`\exp(-d^2 / 2 \sigma^2)` at distance d, scaled to sum to one; by default
        sigma is the radius.

    Returns
    -------
    sparse array (n, n), for the n pixels in the order of ``image.ravel()``

    Examples
    --------
    >>> image_weights((1, 3)).toarray().round(3)
    array([[0.622, 0.378, 0.   ],
           [0.274, 0.452, 0.274],
           [0.   , 0.378, 0.622]])
    """
    sizes = check_shape(shape)
    check_whole(radius, "radius", 0)
    if sigma is not None and not check_number(sigma, "sigma", 0.0) > 0.0:
        raise InputError(
            "sigma should be positive", f"is {sigma}", "give radius=0 for no neighbors"
        )
    width = float(sigma if sigma is not None else max(radius, 1))
    number = np.arange(int(np.prod(sizes))).reshape(sizes)
    rows, columns, values = [], [], []
    for step in product(range(-radius, radius + 1), repeat=len(sizes)):
        here, there = _overlap(number, step)
        rows.append(here)
        columns.append(there)
        distance = math.hypot(*step) / width
        values.append(np.full(len(here), np.exp(-0.5 * distance * distance)))
    entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    return with_unit_rows(coo_array(entries, shape=(number.size, number.size)).tocsr())


def _overlap(number: NDArray[Any], step: tuple[int, ...]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Numbers of pixels that have a pixel one step away, and of those."""
    here = tuple(
        slice(max(-s, 0), max(n - max(s, 0), 0)) for s, n in zip(step, number.shape, strict=True)
    )
    there = tuple(
        slice(max(s, 0), max(n - max(-s, 0), 0)) for s, n in zip(step, number.shape, strict=True)
    )
    return number[here].ravel(), number[there].ravel()


def check_shape(shape: Any) -> tuple[int, ...]:
    """Sizes of an image along its axes."""
    sizes = as_list(shape, "shape", "sizes")
    if not 1 <= len(sizes) <= 3 or not all(is_whole(one) and one >= 1 for one in sizes):
        raise InputError(
            "shape should be the sizes of an image along one to three axes",
            f"is {shown(shape)}",
            "give (height, width), or (depth, height, width)",
            parameter="shape",
            value=shape,
        )
    return tuple(int(one) for one in sizes)


def is_shape(weights: Any) -> bool:
    """Whether weights are named by the shape of an image."""
    return isinstance(weights, tuple) and all(is_whole(one) for one in weights)


def check_neighborhoods(weights: Any, n_items: int) -> csr_array:
    """Weights (n, n) of the neighbors of each item, scaled to sum to one."""
    if is_shape(weights):
        table = image_weights(weights)
    else:
        table = csr_array(weights if issparse(weights) else as_floats(weights, "weights"))
    if table.shape != (n_items, n_items):
        came = f"are of shape {table.shape}"
        if is_shape(weights):
            came = f"{weights} is the shape of {counted(table.shape[0], 'pixel')}"
        raise InputError(
            f"weights should be a table ({n_items}, {n_items}), or the shape of an image with "
            f"{n_items} pixels",
            came,
            "give the weight of each item beside each other one, or image.shape",
            parameter="weights",
            value=table.shape,
        )
    table = table.astype(np.float64)
    if not np.isfinite(table.data).all() or (table.data < 0.0).any():
        raise InputError(
            "weights should not be negative, infinite or missing",
            f"they go from {np.min(table.data):.3g} to {np.max(table.data):.3g}",
            "correct them",
            parameter="weights",
        )
    return with_unit_rows(table)


def with_unit_rows(table: csr_array) -> csr_array:
    """The same weights scaled to sum to one for each item; refuses items without neighbors."""
    total = np.asarray(table.sum(axis=1)).ravel()
    alone = total == 0.0
    if alone.any():
        raise InputError(
            "Every item should have a neighbor of positive weight, itself at least",
            f"{name_rows(alone)} have none",
            "add the identity, scipy.sparse.eye_array(n)",
            parameter="weights",
            rows=alone,
        )
    return csr_array(diags_array(1.0 / total) @ table)
