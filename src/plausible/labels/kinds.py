"""What kind of label each row is: one class, a set, degrees, probabilities, or nothing."""

import numpy as np
from numpy.typing import NDArray

from plausible.short_rows import row_all, row_max, row_min, row_sum

CERTAIN = 1e-9  # relative plausibilities this near to 0 or 1 are taken for it
KINDS = ("one class", "a set of classes", "degrees", "probabilities", "nothing")


def is_single(scaled: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which rows (n,) of scaled plausibilities leave one class only."""
    return np.asarray(row_sum(scaled > CERTAIN) == 1)


def kinds_of(
    scaled: NDArray[np.float64], is_probability: NDArray[np.bool_] | None = None
) -> NDArray[np.int64]:
    """Place (n,) in `KINDS` of each row of plausibilities, scaled so that the largest is one.

    Examples
    --------
    >>> kinds_of(np.array([[1, 0, 0], [1, 1, 0], [1, 0.4, 0], [1, 1, 1]]))
    array([0, 1, 2, 4])
    """
    is_crisp = row_all((scaled <= CERTAIN) | (scaled >= 1 - CERTAIN))
    single, same = is_single(scaled), row_min(scaled) == row_max(scaled)
    kind = np.where(is_crisp, 1, 2)
    if is_probability is not None:
        kind[is_probability] = 3
    kind[same] = 4
    kind[single] = 0
    return kind
