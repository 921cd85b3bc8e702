"""Derivatives by differences, and a climb by Newton's method, for few parameters.

Central differences of two steps are extrapolated (Richardson): their error is of the fourth order
in the step, so that steps can be long enough for rounding not to matter.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Function = Callable[[FloatArray], float]

STEP = 1e-3
SHORTEST = 1e-11  # steps of a climb, relative to the coordinates, that end it
MOST_STEPS = 50
MOST_HALVINGS = 40


def gradient(f: Function, u: FloatArray, step: FloatArray) -> FloatArray:
    """First derivatives of f at u."""
    moves = np.diag(step)
    wide = [(f(u + move) - f(u - move)) / 2 for move in moves]
    near = [f(u + move / 2) - f(u - move / 2) for move in moves]
    return (4 * np.array(near) - np.array(wide)) / (3 * step)


def hessian(f: Function, u: FloatArray, step: FloatArray) -> FloatArray:
    """Second derivatives of f at u."""
    return (4 * _plain_hessian(f, u, step / 2) - _plain_hessian(f, u, step)) / 3


def _plain_hessian(f: Function, u: FloatArray, step: FloatArray) -> FloatArray:
    """Second derivatives with one step, to the second order."""
    p, here, moves = len(u), f(u), np.diag(step)
    found = np.empty((p, p))
    for i in range(p):
        found[i, i] = f(u + moves[i]) - 2 * here + f(u - moves[i])
        for j in range(i):
            both, across = moves[i] + moves[j], moves[i] - moves[j]
            rise = f(u + both) + f(u - both) - f(u + across) - f(u - across)
            found[i, j] = found[j, i] = rise / 4
    return found / np.outer(step, step)


def newton_climb(f: Function, start: FloatArray) -> FloatArray:
    """A maximum of f near `start`; never lower than it."""
    u, value = start, f(start)
    for _ in range(MOST_STEPS):
        step = np.full(len(u), STEP)
        slope = gradient(f, u, step)
        move = _uphill(slope, hessian(f, u, step))
        if not np.isfinite(move).all() or np.abs(move).max() < SHORTEST:
            break
        for halving in range(MOST_HALVINGS):
            there = u + move / 2**halving
            reached = f(there)
            if reached > value:
                break
        else:
            break
        u, value = there, reached
    return u


def _uphill(slope: FloatArray, curvature: FloatArray) -> FloatArray:
    """Newton's step where the function is concave, and else one that rises in every direction."""
    if not (np.isfinite(slope).all() and np.isfinite(curvature).all()):
        return np.full_like(slope, np.nan)
    values, vectors = np.linalg.eigh(curvature)
    size = np.maximum(np.abs(values), 1e-12 * np.abs(values).max() + 1e-300)
    move = vectors @ ((vectors.T @ slope) / size)
    longest = np.abs(move).max()
    return move if longest <= 1 else move / longest


def steps_for(f: Function, u: FloatArray, room: FloatArray) -> FloatArray:
    """Steps of a tenth of a standard error, as far as there is `room` around u."""
    first = np.minimum(1e-4 * (1 + np.abs(u)), 0.1 * room)
    here = f(u)
    bend = np.array([2 * here - f(u + m) - f(u - m) for m in np.diag(first)]) / first**2
    with np.errstate(divide="ignore", invalid="ignore"):
        step = np.where(bend > 0, 0.1 / np.sqrt(bend), first)
    return np.minimum(step, 0.1 * room)
