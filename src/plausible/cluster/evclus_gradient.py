r"""EVCLUS by gradient descent, as it was first published; here with L-BFGS.

Masses are :math:`m_{if} \propto e^{\theta_{if}}`, so that they stay on the simplex. Masses of zero
are far away then: row by row (`evclus_rows`) is quicker, and ends lower.

References
----------
T. Denoeux, M.-H. Masson, EVCLUS: evidential clustering of proximity data, IEEE Transactions on
Systems, Man and Cybernetics B 34 (2004) 95-109.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, sparse
from scipy.special import softmax

from plausible.cluster.evclus_pairs import Wanted
from plausible.cluster.evclus_rows import GOOD_FIT, Fitted, Links, criterion, misfit, pulls

FloatArray = NDArray[np.float64]

SMALLEST = 1e-8  # mass at the start, whose logarithm is taken


def slope_in_masses(
    masses: FloatArray, C: FloatArray, wanted: Wanted, links: Links
) -> tuple[float, FloatArray]:
    """The criterion, and its slope (n, F) in the masses."""
    apart, places = misfit(masses, C, wanted)
    against = masses @ C
    table: Any = apart
    if wanted.counts is not None:
        weighted = apart * np.sqrt(wanted.counts)
        table = sparse.csr_array(
            (weighted, (places, wanted.table.indices)), shape=wanted.table.shape
        )
    pull = pulls(masses, links)
    value = 0.5 * float(np.square(apart).sum()) + 0.5 * float((masses * pull).sum())
    return value / wanted.total, (2.0 * (table @ against) + pull) / wanted.total


def fit_gradient(
    masses: FloatArray, C: FloatArray, wanted: Wanted, links: Links, tol: float, max_iter: int
) -> Fitted:
    """L-BFGS until the criterion hardly falls."""
    shape = masses.shape

    def evaluate(theta: FloatArray) -> tuple[float, FloatArray]:
        m = softmax(theta.reshape(shape), axis=1)
        value, slope = slope_in_masses(m, C, wanted, links)
        inner = m * (slope - (m * slope).sum(axis=1, keepdims=True))
        return value, inner.ravel()

    start = np.log(np.maximum(masses, SMALLEST)).ravel()
    history = [evaluate(start)[0]]

    def remember(intermediate_result: Any) -> None:
        history.append(float(intermediate_result.fun))

    found = optimize.minimize(
        evaluate,
        start,
        jac=True,
        method="L-BFGS-B",
        callback=remember,
        options={
            "maxiter": max_iter,
            "maxfun": 3 * max_iter,
            "ftol": 10.0 * tol * GOOD_FIT,
            "gtol": 0.0,
        },
    )
    masses = softmax(found.x.reshape(shape), axis=1)
    history[-1] = criterion(masses, C, wanted, links) if len(history) > 1 else history[0]
    return Fitted(masses, np.array(history), found.status == 0)
