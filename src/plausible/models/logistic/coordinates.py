r"""Coordinates in which a softmax criterion is nearly round, whatever the scale of the features.

A softmax does not change when one vector is added to all :math:`\beta_k`, and the best penalized
ones sum to zero; so :math:`\beta = C U S'` with orthonormal contrasts C (K, K - 1) and

.. math:: (S S')^{-1} = \frac{1}{n} \sum_i w_i c_i x_i x_i' + \frac{\alpha}{n} I.

:math:`c_i` is the mean curvature of a row: at first that of all rows at zero (a constant, like the
bound of Boehning 1992), later that of each at the point reached, which is far smaller where the
model is sure. In U gradients point at the maximum, and L-BFGS needs some twenty evaluations where
it needs hundreds in :math:`\beta`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cholesky, eigh, helmert, solve_triangular

from plausible.engine import Columns, Rows, is_sparse
from plausible.errors import InputError
from plausible.models.logistic.criteria import FloatArray

Curvature = Callable[[Columns], FloatArray]

MOST_CORRELATED = 1000  # features beyond which only their scales are taken into account
ROUNDING = 1e-14  # spread of a feature, relative to its mean, that is rounding only
LEAST_VARIANCE = 1e-9  # of a feature given the others, relative to its own; below, it adds nothing


@dataclass(frozen=True)
class Coordinates:
    """A linear map between beta (K, D) and a vector of (K - 1) D coordinates.

    contrasts : array (K, K - 1) with orthonormal columns that sum to zero
    shape : array (D, r), or a sparse one; r < D where features determine each other
    inverse : array (r, D)
        Leads back; what `shape` cannot reach is dropped.
    """

    contrasts: FloatArray
    shape: Any
    inverse: Any

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return int(self.contrasts.shape[1] * self.shape.shape[1])

    def restore(self, point: FloatArray) -> FloatArray:
        """The coefficients at a point."""
        grid = point.reshape(self.contrasts.shape[1], self.shape.shape[1])
        return np.ascontiguousarray(self.contrasts @ (self.shape @ grid.T).T)

    def flatten(self, beta: FloatArray) -> FloatArray:
        """The point of coefficients; what is common to all classes is dropped."""
        return (self.inverse @ (self.contrasts.T @ beta).T).T.ravel()

    def pull_back(self, gradient: FloatArray) -> FloatArray:
        """Gradient with respect to the point."""
        return (self.shape.T @ (self.contrasts.T @ gradient).T).T.ravel()

    def pull_back_twice(self, hessian: FloatArray) -> FloatArray:
        """Second derivatives (p, p) with respect to the point, from (K, D, K, D)."""
        C, S = self.contrasts, np.asarray(self.shape @ np.eye(self.shape.shape[1]))
        inner = np.einsum("ka,kilj,lb->aibj", C, hessian, C, optimize=True)
        turned = np.einsum("ip,aibj,jq->apbq", S, inner, S, optimize=True)
        return turned.reshape(self.size, self.size)


def _moments_pass(
    columns: Columns, origin: FloatArray, whole: bool, curvature: Curvature | float
) -> tuple[float, float, FloatArray, FloatArray]:
    """Weight, curvature, and moments of features about an origin weighed by it.

    The second moments are a matrix, or only its diagonal.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # `make_coordinates` looks at the sums
        return _weighed_moments(columns, origin, whole, curvature)


def _weighed_moments(
    columns: Columns, origin: FloatArray, whole: bool, curvature: Curvature | float
) -> tuple[float, float, FloatArray, FloatArray]:
    """`_moments_pass`, which may overflow."""
    X, weight = columns[0], columns[2]
    assert X is not None
    bends = curvature(columns) if callable(curvature) else np.full(X.shape[0], curvature)
    total = float(len(bends) if weight is None else weight.sum())
    bends = bends if weight is None else bends * weight
    data: Any = X.astype(np.float64, copy=False)
    if is_sparse(X):
        weighed = data.multiply(bends[:, None]).tocsr()
        second = (weighed.T @ data).toarray() if whole else data.multiply(data).T @ bends
    else:
        data = data - origin
        # Without weights both factors are one array, of whose product BLAS computes half.
        alike = not callable(curvature) and weight is None
        weighed = data if alike else data * bends[:, None]
        second = weighed.T @ data if whole else np.einsum("ij,ij->j", weighed, data)
        second = curvature * second if alike else second
    return total, float(bends.sum()), np.asarray(data.T @ bends), np.asarray(second)


def make_coordinates(
    rows: Rows, n_classes: int, penalty: FloatArray, curvature: Curvature | float = 0.5
) -> tuple[Coordinates, float]:
    """Coordinates for these rows, and the sum of their weights; one pass.

    `curvature` gives that of each row of a chunk, or is that of all.
    """
    X = rows.peek()[0]
    assert X is not None
    n_features = X.shape[1]
    with_intercept = len(penalty) > n_features
    centered = with_intercept and not penalty[-1]
    origin = np.zeros(n_features)
    if centered and not is_sparse(X):
        with np.errstate(over="ignore"):
            origin = np.asarray(X[:1000], dtype=np.float64).mean(axis=0)
    whole = n_features <= MOST_CORRELATED
    weight, bend, first, second = rows.reduce(_moments_pass, origin, whole, curvature)
    if not np.isfinite(weight):
        raise InputError(
            "Sample weights should have a finite sum",
            "it is beyond 1e308",
            "divide them all by a large number",
        )
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise InputError(
            "Features should be finite numbers whose squares are finite",
            "some are infinite, missing or beyond 1e150",
            "clean or scale them",
        )
    contrasts = _contrasts_of(n_classes)
    if not centered:
        if with_intercept:  # like the others a feature, of ones
            second = border(second, first, bend)
        return Coordinates(contrasts, *_half_root(second / weight, penalty / weight)), weight
    shift = first / bend
    second = second - bend * (np.outer(shift, shift) if whole else shift**2)
    constant = _variances_of(second) <= bend * (ROUNDING * (origin + shift)) ** 2
    second[constant] = 0.0
    second[..., constant] = 0.0
    root = _half_root(second / weight, penalty[:-1] / weight)
    intercept = _add_intercept(root, origin + shift, np.sqrt(weight / bend))
    return Coordinates(contrasts, *intercept), weight


def _variances_of(moments: FloatArray) -> FloatArray:
    """The diagonal of second moments, of which there may be nothing else."""
    return np.diag(moments) if moments.ndim == 2 else moments


def border(second: FloatArray, first: FloatArray, bend: float) -> FloatArray:
    """Second moments of the features and a column of ones."""
    if second.ndim == 1:
        return np.append(second, bend)
    return np.block([[second, first[:, None]], [first, np.array([bend])]])


def _contrasts_of(n_classes: int) -> FloatArray:
    """Orthonormal columns (K, K - 1) that sum to zero."""
    return np.ascontiguousarray(helmert(n_classes).T) if n_classes > 1 else np.zeros((1, 0))


def _half_root(moments: FloatArray, ridge: FloatArray) -> tuple[Any, Any]:
    """S with S S' the inverse of moments + ridge, and its inverse; sparse for a diagonal."""
    from scipy.sparse import diags_array

    variances = np.maximum(_variances_of(moments), 0.0) + ridge
    scale = np.sqrt(np.where(variances > 0, variances, 1.0))
    if moments.ndim == 1:
        return diags_array(1.0 / scale), diags_array(scale)
    whole = (moments + np.diag(ridge)) / np.outer(scale, scale)
    np.fill_diagonal(whole, 1.0)
    try:
        root = cholesky(whole)
        if (root.diagonal() ** 2 > LEAST_VARIANCE).all():
            return solve_triangular(root, np.eye(len(root))) / scale[:, None], root * scale
    except np.linalg.LinAlgError:
        pass
    # Features that others determine: directions without variance are left out.
    values, vectors = eigh(whole)
    kept = values > LEAST_VARIANCE
    roots, vectors = np.sqrt(values[kept]), vectors[:, kept]
    return vectors / roots / scale[:, None], (vectors * roots).T * scale


def _add_intercept(root: tuple[Any, Any], mean: FloatArray, last: float) -> tuple[Any, Any]:
    """The same with an intercept, whose coordinate is the logit at the mean of the features."""
    from scipy.sparse import block_array, issparse

    shape, inverse = root
    there = [[shape, None], [-(mean @ shape)[None, :], np.array([[last]])]]
    back = [[inverse, None], [mean[None, :] / last, np.array([[1.0 / last]])]]
    if issparse(shape):
        return block_array(there, format="csr"), block_array(back, format="csr")
    there[0][1], back[0][1] = np.zeros((len(shape), 1)), np.zeros((len(inverse), 1))
    return np.block(there), np.block(back)
