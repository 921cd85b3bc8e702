r"""Evidence of prototypes, combined by Dempster's rule, and how it changes with the parameters.

Prototype i says of an item at the squared distance :math:`d_i^2`

.. math:: m_i(\{k\}) = s_i u_{ik}, \quad m_i(\Omega) = 1 - s_i,
          \qquad s_i = \alpha_i \exp(-\gamma_i d_i^2).

With the products :math:`Q_k = \prod_i (1 - s_i (1 - u_{ik}))` and :math:`O = \prod_i (1 - s_i)`,
Dempster's rule gives :math:`m(\{k\}) = (Q_k - O) / S` and :math:`m(\Omega) = O / S`, where
:math:`S = \sum_k Q_k - (K - 1) O`, and bets :math:`P_k = (Q_k - (1 - 1/K) O) / S`. For a loss with
the slopes :math:`G_k = dL / dP_k`, and with :math:`g = \sum_k G_k P_k`,

.. math:: \frac{dL}{d \log Q_k} = \frac{Q_k}{S} (G_k - g), \qquad
          \frac{dL}{d \log O} = \frac{O}{S} ((K - 1) g - (1 - 1/K) \sum_k G_k).

References
----------
T. Denoeux, A neural network classifier based on Dempster-Shafer theory, IEEE Transactions on
Systems, Man and Cybernetics A 30 (2000) 131-150.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.short_rows import row_sum

FloatArray = NDArray[np.float64]

RESCALE = 8  # prototypes after which products are brought back to the size of numbers
MOST = 1.0 - 1e-12  # of a strength, which rounding may make one
LEAST = 1e-12  # of a factor then


class Network(NamedTuple):
    """Prototypes (r, d), their shares (r, K) of the classes, strengths (r,) and widths (r,)."""

    prototypes: FloatArray
    memberships: FloatArray
    alpha: FloatArray
    gamma: FloatArray


class Slopes(NamedTuple):
    """Derivatives of a sum of losses by the parts of a `Network`."""

    prototypes: FloatArray
    memberships: FloatArray
    alpha: FloatArray
    gamma: FloatArray


def around(X: FloatArray, center: FloatArray) -> FloatArray:
    """Rows (n, d + 2) around a center, each with its squared length and a one."""
    d = X.shape[1]
    rows = np.empty((len(X), d + 2))
    np.subtract(X, center, out=rows[:, :d])
    np.einsum("ij,ij->i", rows[:, :d], rows[:, :d], out=rows[:, d])
    rows[:, d + 1] = 1.0
    return rows


def partners(prototypes: FloatArray, center: FloatArray) -> FloatArray:
    """What rows of `around` are multiplied by for squared distances to prototypes (r, d + 2)."""
    points = prototypes - center
    ones = np.ones(len(points))
    return np.column_stack([-2.0 * points, ones, np.einsum("ij,ij->i", points, points)])


def squared_distances(X: FloatArray, prototypes: FloatArray) -> FloatArray:
    """Squared distances (r, n) by one matrix product, around the mean of the prototypes.

    Shifted there, what cancels is small. Squared lengths are two more columns of the product.
    """
    center = prototypes.mean(axis=0)
    return distances_by(partners(prototypes, center), around(X, center))


def distances_by(partners: FloatArray, rows: FloatArray) -> FloatArray:
    """The same from `partners` and rows `around` one center."""
    squared = partners @ rows.T
    return np.maximum(squared, 0.0, out=squared)


def activations(squared: FloatArray, network: Network) -> FloatArray:
    """Strengths (r, n) of what the prototypes say about rows at squared distances (r, n)."""
    strength = squared * -network.gamma[:, None]
    np.exp(strength, out=strength)
    strength *= np.minimum(network.alpha, MOST)[:, None]
    return strength


def combine(strength: FloatArray, memberships: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Q / S (K, n) and O / S (n,) of combined evidence; see the head of the file."""
    n_classes = memberships.shape[1]
    products = np.ones((n_classes, strength.shape[1]))
    ignorance = np.ones(strength.shape[1])
    others = 1.0 - memberships
    for i, strong in enumerate(strength):
        products *= 1.0 - others[i][:, None] * strong
        ignorance *= 1.0 - strong
        if i % RESCALE == RESCALE - 1:
            scale = np.maximum(products.max(axis=0), LEAST**RESCALE)
            products /= scale
            ignorance /= scale
    total = products.sum(axis=0) - (n_classes - 1) * ignorance
    total = np.maximum(total, np.finfo(float).tiny)
    return products / total, ignorance / total


def bets(shares: FloatArray, ignorance: FloatArray) -> FloatArray:
    """Pignistic probabilities (K, n) from Q / S and O / S."""
    return shares - (1.0 - 1.0 / len(shares)) * ignorance


def masses(shares: FloatArray, ignorance: FloatArray) -> FloatArray:
    """Masses (n, K + 1) of the classes and of ignorance, from Q / S and O / S."""
    found = np.column_stack([np.maximum(shares - ignorance, 0.0).T, ignorance])
    return found / row_sum(found)[:, None]


def slopes_of_strengths(
    strength: FloatArray,
    memberships: FloatArray,
    shares: FloatArray,
    ignorance: FloatArray,
    slope: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Derivatives by memberships (r, K) and by logs of strengths (r, n), from those by the bets."""
    n_classes = len(shares)
    mean = (slope * bets(shares, ignorance)).sum(axis=0)
    by_product = shares * (slope - mean)
    by_ignorance = ignorance * (
        (n_classes - 1) * mean - (1.0 - 1.0 / n_classes) * slope.sum(axis=0)
    )
    others = 1.0 - memberships
    by_strength = np.empty_like(strength)
    by_membership = np.empty_like(memberships)
    for i, strong in enumerate(strength):
        factor = 1.0 - others[i][:, None] * strong
        np.divide(by_product, factor, out=factor)
        by_membership[i] = factor @ strong
        by_strength[i] = -(others[i] @ factor) - by_ignorance / (1.0 - strong)
    by_strength *= strength
    return by_membership, by_strength


def pull_back(
    rows: FloatArray, squared: FloatArray, by_log_strength: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Sums over rows `around` a center: pulls (r, d + 2) on the prototypes, and by squares (r,)."""
    return by_log_strength @ rows, np.einsum("in,in->i", by_log_strength, squared)


def slopes_of_parts(
    network: Network,
    center: FloatArray,
    by_membership: FloatArray,
    pulls: FloatArray,
    by_square: FloatArray,
) -> Slopes:
    """Derivatives by the parts of the network, from the sums of `pull_back` and by memberships."""
    total = pulls[:, -1]
    pulled = pulls[:, :-2] - total[:, None] * (network.prototypes - center)
    by_alpha = total / np.maximum(network.alpha, np.finfo(float).tiny)
    return Slopes(2.0 * network.gamma[:, None] * pulled, by_membership, by_alpha, -by_square)


class Form(NamedTuple):
    """How many prototypes, features and classes a network has, and its units.

    least_gamma : the least that gamma may be. Without one, prototypes of classes that are easy to
        tell apart grow wider for ever, and whatever comes looks familiar.
    scale : the unit of length, in which the numbers of `pack` are near one
    """

    n_prototypes: int
    n_features: int
    n_classes: int
    least_gamma: float = 0.0
    scale: float = 1.0


def split(vector: FloatArray, form: Form) -> list[FloatArray]:
    """Prototypes (r, d), roots of memberships (r, K), angles (r,) and roots of gamma (r,)."""
    n, d, k = form[:3]
    points, roots, angles, widths = np.split(vector, np.cumsum([n * d, n * k, n]))
    return [points.reshape(n, d), roots.reshape(n, k), angles, widths]


def unpack(vector: FloatArray, form: Form) -> Network:
    """A network from numbers without bounds.

    Memberships, alpha and gamma are squares: of numbers that are scaled to a sum of one, of a sine,
    and above the least. So a class that is excluded, a prototype that is sure, silent or as wide as
    may be are points that a climb can reach, and not far away, as with logs.
    """
    points, roots, angles, widths = split(vector, form)
    shares = roots**2 / (roots**2).sum(axis=1, keepdims=True)
    gamma = form.least_gamma + (widths / form.scale) ** 2
    return Network(form.scale * points, shares, MOST * np.sin(angles) ** 2, gamma)


def pack(network: Network, form: Form) -> FloatArray:
    """The numbers without bounds of a network; what `unpack` undoes."""
    above = np.maximum(network.gamma - form.least_gamma, 1e-3 * network.gamma)
    return np.concatenate(
        [
            (network.prototypes / form.scale).ravel(),
            np.sqrt(np.maximum(network.memberships, 1e-12)).ravel(),
            np.arcsin(np.sqrt(np.clip(network.alpha / MOST, 1e-12, 1.0 - 1e-12))),
            np.sqrt(above) * form.scale,
        ]
    )


def pack_slopes(slopes: Slopes, vector: FloatArray, form: Form) -> FloatArray:
    """Derivatives by the numbers without bounds."""
    _, roots, angles, widths = split(vector, form)
    total = (roots**2).sum(axis=1, keepdims=True)
    mean = (slopes.memberships * roots**2).sum(axis=1, keepdims=True) / total
    return np.concatenate(
        [
            (form.scale * slopes.prototypes).ravel(),
            (2.0 * roots / total * (slopes.memberships - mean)).ravel(),
            slopes.alpha * MOST * np.sin(2.0 * angles),
            slopes.gamma * 2.0 * widths / form.scale**2,
        ]
    )
