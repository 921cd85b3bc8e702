"""Statistics that can be added: arrays, numbers, moments, and tuples, lists and named tuples."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from plausible.errors import InputError


class Moments:
    """Weight of some rows, the mean of their numbers, and their squares about it.

    No tuple, whose parts would be added one by one: squares are about the mean of their own rows.
    """

    def __init__(self, weight: float, mean: Any, squares: Any) -> None:
        self.weight, self.mean, self.squares = weight, mean, squares

    def __add__(self, other: "Moments") -> "Moments":
        weight = self.weight + other.weight
        share = other.weight / weight if weight else 0.0
        gap = other.mean - self.mean
        between = gap * gap * share * self.weight
        return Moments(weight, self.mean + share * gap, self.squares + other.squares + between)


def add(one: Any, other: Any) -> Any:
    """Sum of two statistics of the same shape; arrays of `one` are overwritten."""
    if isinstance(one, tuple | list):
        if len(one) != len(other):
            raise InputError(
                "Statistics should have the same parts",
                f"one has {len(one)} and another {len(other)}",
                "a summary must return the same shapes for every chunk",
            )
        parts = [add(a, b) for a, b in zip(one, other, strict=True)]
        return type(one)(*parts) if hasattr(one, "_fields") else type(one)(parts)
    if isinstance(one, np.ndarray) and one.ndim:
        if one.shape != np.shape(other):
            raise InputError(
                "Statistics should have the same shapes",
                f"{one.shape} met {np.shape(other)}",
                "a summary must return the same shapes for every chunk",
                value=one.shape,
            )
        one += other
        return one
    if one is None:
        raise TypeError(
            "A summary should return numbers or arrays, which can be added, but returned None; "
            "return the sum of what it was given."
        )
    return one + other


def own(statistic: Any) -> Any:
    """The same statistic in arrays of its own, which may be overwritten."""
    if isinstance(statistic, tuple | list):
        parts = [own(part) for part in statistic]
        return type(statistic)(*parts) if hasattr(statistic, "_fields") else type(statistic)(parts)
    return statistic.copy() if isinstance(statistic, np.ndarray) else statistic


def total(statistics: Iterable[Any]) -> Any:
    """Sum of one or more statistics, in their order."""
    parts = iter(statistics)
    try:
        # A summary may return a view of the rows or of its parameters, which stay as they are.
        result = own(next(parts))
    except StopIteration:
        raise InputError(
            "There should be at least one row",
            "the rows are empty",
            "check the source",
        ) from None
    for part in parts:
        result = add(result, part)
    return result
