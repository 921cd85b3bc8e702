r"""The Beta distribution from means of logarithms.

.. math:: \max_{a, b} (a - 1) s + (b - 1) t - \log B(a, b), \qquad
   s = E[\log z], t = E[\log(1 - z)]

is concave in (a, b); Newton steps find the maximum, the same for any weights of the data.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, polygamma, psi

FloatArray = NDArray[np.float64]

LARGEST = 1e6  # assessments that are all alike would have no maximum
STEPS = 100


def fit_beta(mean_log: float, mean_log_rest: float) -> FloatArray:
    """Shapes (a, b) of the likeliest Beta distribution.

    Examples
    --------
    >>> fit_beta(psi(2.0) - psi(5.0), psi(3.0) - psi(5.0)).round(9)
    array([2., 3.])
    """
    goal = np.array([mean_log, mean_log_rest])
    geometric = np.exp(goal)
    room = max(1.0 - geometric.sum(), 1e-9)
    shape = np.minimum(0.5 + 0.5 * geometric / room, LARGEST)

    def value(at: FloatArray) -> float:
        return float((at - 1) @ goal - betaln(*at))

    best = value(shape)
    for _ in range(STEPS):
        gradient = goal - psi(shape) + psi(shape.sum())
        bend = np.full((2, 2), polygamma(1, shape.sum())) - np.diag(polygamma(1, shape))
        step = np.linalg.solve(bend, gradient)
        size = 1.0
        while size > 1e-10:
            trial = np.minimum(shape - size * step, LARGEST)
            if (trial > 0).all() and (found := value(trial)) >= best - 1e-15 * abs(best):
                break
            size /= 2
        else:
            break
        moved = np.abs(trial - shape).max() > 1e-13 * shape.max()
        shape, best = trial, found
        if not moved:
            break
    return shape
