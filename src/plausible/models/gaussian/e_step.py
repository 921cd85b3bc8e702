r"""The E step of Gaussian mixtures under soft labels, as sums over rows.

The log of weight times density is linear in a few functions of x,

.. math:: \log \pi_k f_k(x) = W_k \cdot \phi(x - c), \qquad
          \phi(x) = [1, x, vech(xx')] \text{ (full)}, [1, x, x^2] \text{ (diag)},
          [1, x, |x|^2] \text{ (spherical)}, [1, x] \text{ (tied)},

so that an E step is one matrix product and the sums for the M step are another, block by block of
rows, with no array of the size of the data. For tied covariances the quadratic term is common to
the components: it leaves the responsibilities, and its sum over rows is computed once.

This form loses digits when components lie far from the center c for their width; then
`centered_pass` computes every component about its own mean.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.engine import Columns
from plausible.models.gaussian.parameters import (
    LOG_2PI,
    FloatArray,
    Gaussians,
    apply,
    cholesky,
    inverse_factor,
    log_determinants,
    precisions,
)
from plausible.short_rows import row_all, row_max, row_min

BLOCK_DOUBLES = 1 << 17  # features of one block: 1 MB, within the cache of a core
TOO_FAR = 1e6  # squared Mahalanobis distance to the center that costs six digits
WIDE = 10_000  # a feature map longer than this costs more than it saves
FAST_WORK = 1e8  # multiplications in a pass from which compiled kernels pay
FAST_WIDTH = 1500  # feature maps of which a block fits the cache


def n_features_of_map(kind: str, d: int) -> int:
    """Length of phi(x)."""
    return 1 + d + {"full": d * (d + 1) // 2, "tied": 0, "diag": d, "spherical": 1}[kind]


def feature_map(
    X: FloatArray, center: FloatArray, kind: str, out: FloatArray | None = None
) -> FloatArray:
    """phi(x - center) of each row of X, as columns (P, b); written into `out` where it fits."""
    d = X.shape[1]
    shape = n_features_of_map(kind, d), len(X)
    phi = out if out is not None and out.shape == shape else np.empty(shape)
    phi[0] = 1.0
    x = phi[1 : d + 1]
    np.subtract(X.T, center[:, None], out=x)
    if kind == "full":
        row = d + 1
        for i in range(d):
            np.multiply(x[i], x[i:], out=phi[row : row + d - i])
            row += d - i
    elif kind == "diag":
        np.multiply(x, x, out=phi[d + 1 :])
    elif kind == "spherical":
        np.einsum("ij,ij->j", x, x, out=phi[d + 1])
    return phi


def use_linear(kind: str, d: int, far: float) -> bool:
    """Whether the linear form is exact enough, and short enough to pay."""
    return far <= TOO_FAR and n_features_of_map(kind, d) <= WIDE


def use_compiled(n_rows: int, n_components: int, kind: str, d: int) -> bool:
    """Whether a pass is enough work for compiled kernels; decided by sizes alone."""
    n_features = n_features_of_map(kind, d)
    work = n_rows * n_components * (n_features + 40)
    return work >= FAST_WORK and n_features <= FAST_WIDTH


def sorting_pays(kind: str, d: int, n_classes: int, n_spared: float) -> bool:
    """Whether compiled kernels are faster on rows gathered by their candidates than as they lie.

    `n_spared` components are not plausible for the average row. To gather a number from all over
    the memory takes as long as some twenty multiplications.
    """
    return n_spared * (n_features_of_map(kind, d) + 20) > 20 * (d + n_classes)


def log_joint(
    X: FloatArray, parameters: Gaussians, kind: str, up_to_constant: bool = False
) -> FloatArray:
    """log(weight density) of each row and component: (n, M).

    With `up_to_constant`, what tied components share is left out of each row: far from all of them
    it would drown what they differ by.
    """
    center = parameters.weights @ parameters.means
    W, far = linear_form(parameters, center, kind)
    if not use_linear(kind, X.shape[1], far):
        form = centered_form(parameters, kind)
        return np.concatenate([centered_scores(part, form, kind).T for part in _blocks_of(X, 4096)])
    size = max(BLOCK_DOUBLES // W.shape[1], 64)
    result = np.concatenate(
        [(W @ feature_map(part, center, kind)).T for part in _blocks_of(X, size)]
    )
    if kind == "tied" and not up_to_constant:
        root = inverse_factor(cholesky(parameters.covariances, kind)).T
        for start in range(0, len(X), size):
            white = (X[start : start + size] - center) @ root
            result[start : start + size] -= 0.5 * np.einsum("ij,ij->i", white, white)[:, None]
    lost = np.flatnonzero(~row_all(np.isfinite(result)))
    if len(lost):  # squares of features overflow where those of whitened ones need not
        result[lost] = centered_scores(X[lost], centered_form(parameters, kind), kind).T
    return result


def _blocks_of(X: FloatArray, size: int) -> list[FloatArray]:
    """The rows of X in blocks; one empty block for no rows."""
    return [X[start : start + size] for start in range(0, max(len(X), 1), size)]


def log_weights(weights: FloatArray) -> FloatArray:
    """Logs of weights; a very low but finite one for zero, which no arithmetic turns into NaN."""
    return np.log(weights, out=np.full_like(weights, -1e300), where=weights > 0)


def linear_form(parameters: Gaussians, center: FloatArray, kind: str) -> tuple[FloatArray, float]:
    """Coefficients W (M, P) of the feature map, and by how much its terms exceed their sum.

    That is the largest squared Mahalanobis norm of a mean about the center, or more for nearly
    collinear features: so many times the rounding error is lost.
    """
    weights, means, covariances = parameters
    d = means.shape[1]
    factor = cholesky(covariances, kind)
    precision = precisions(factor, kind)
    shifted = means - center
    linear = apply(precision, shifted, kind)
    far = (linear * shifted).sum(axis=1)
    worst = max(float(far.max()), _correlation_cost(parameters, precision, shifted, kind))
    constants = log_weights(weights) - 0.5 * (d * LOG_2PI + log_determinants(factor, kind, d) + far)
    return assemble(constants, linear, precision, kind), worst


def assemble(
    constants: FloatArray, linear: FloatArray, precision: FloatArray, kind: str
) -> FloatArray:
    """Coefficients (M, P) of constant + linear x - x' precision x / 2, component by component."""
    n_components, d = linear.shape
    form = np.empty((n_components, n_features_of_map(kind, d)))
    form[:, 0] = constants
    form[:, 1 : d + 1] = linear
    if kind == "full":
        upper = np.triu_indices(d)
        form[:, d + 1 :] = np.where(upper[0] == upper[1], -0.5, -1.0) * precision[:, *upper]
    elif kind == "diag":
        form[:, d + 1 :] = -0.5 * precision
    elif kind == "spherical":
        form[:, d + 1] = -0.5 * precision
    return form


def _correlation_cost(
    parameters: Gaussians, precision: FloatArray, shifted: FloatArray, kind: str
) -> float:
    """Size of the terms of x' P x relative to their sum: large for nearly collinear features."""
    weights, _, covariances = parameters
    if kind not in ("full", "tied"):
        return 0.0
    own = np.diagonal(covariances, axis1=-2, axis2=-1)
    total = weights @ (own + shifted**2) if kind == "full" else own + weights @ shifted**2
    return float((np.diagonal(precision, axis1=-2, axis2=-1) * total).sum(axis=-1).max())


def unfold(sums: FloatArray, kind: str, d: int) -> tuple[FloatArray, FloatArray, FloatArray | None]:
    """Sums of r, r x and r xx' by component from sums of r phi(x) (P, M)."""
    count, first, rest = sums[0], sums[1 : d + 1].T, sums[d + 1 :].T
    if kind == "full":
        second = np.empty((len(count), d, d))
        upper = np.triu_indices(d)
        second[:, *upper] = rest
        second[:, upper[1], upper[0]] = rest
        return count, first, second
    return count, first, {"tied": None, "diag": rest, "spherical": rest[:, :1].ravel()}[kind]


def linear_pass(
    columns: Columns,
    forms: list[FloatArray],
    center: FloatArray,
    kind: str,
    owner: NDArray[np.int64],
    fast: bool,
) -> list[tuple[FloatArray, float]]:
    """Sums of responsibility times phi(x) (P, M), and the criterion, for each form.

    `columns` are features, plausibilities of the classes (or None) and weights (or None); `owner`
    is the class of each component.
    """
    if fast:
        from plausible.models.gaussian.e_step_compiled import compiled_pass

        X, plausibility, weight = as_numbers(columns)
        return [compiled_pass(X, plausibility, weight, W, center, kind, owner) for W in forms]
    X, plausibility, weight = as_float64(columns)
    n_features = n_features_of_map(kind, X.shape[1])
    size = max(BLOCK_DOUBLES // n_features, 64)
    result = [(np.zeros((n_features, len(W))), 0.0) for W in forms]
    phi = None
    for start in range(0, len(X), size):
        rows = slice(start, start + size)
        phi = feature_map(X[rows], center, kind, phi)
        pl = None if plausibility is None else plausibility[rows]
        w = None if weight is None else weight[rows]
        active = _active_components(pl, owner)
        for place, W in enumerate(forms):
            sums, criterion = result[place]
            responsibility, gain = respond(W[active] @ phi, pl, w, owner[active])
            sums[:, active] += phi @ responsibility.T
            result[place] = sums, criterion + gain
    return result


def _active_components(plausibility: FloatArray | None, owner: NDArray[np.int64]) -> Any:
    """Components whose class is plausible for some row of a block."""
    if plausibility is None:
        return slice(None)
    plausible_class = np.ones(len(plausibility)) @ plausibility > 0  # numpy's `any` takes longer
    return slice(None) if plausible_class.all() else np.flatnonzero(plausible_class[owner])


def respond(
    scores: FloatArray,
    plausibility: FloatArray | None,
    weight: FloatArray | None,
    owner: NDArray[np.int64],
) -> tuple[FloatArray, float]:
    """Weighted responsibilities (A, b), written over the scores, and the criterion.

    `owner` holds the classes of the A components.
    """
    own = None if plausibility is None else plausibility.T[owner]
    if own is not None and not own.all():
        scores[own == 0] = -np.inf
    peak = scores.max(axis=0)
    scores -= peak
    likelihood = np.exp(scores, out=scores)
    if own is not None:
        likelihood *= own
    total = likelihood.sum(axis=0)
    log_total = np.log(total) + peak
    if weight is None:
        likelihood /= total
        return likelihood, float(log_total.sum())
    likelihood *= weight / total
    return likelihood, float(log_total @ weight)


def favor_by_class(plausibility: FloatArray) -> FloatArray:
    """How far each row favors each class, in [0, 1]; with one class every row favors it."""
    peak = row_max(plausibility)[:, None]
    if plausibility.shape[1] == 1:
        return np.ones_like(plausibility)
    return (plausibility - row_min(plausibility)[:, None]) / peak


def scatter_pass(columns: Columns, center: FloatArray) -> FloatArray:
    """Total scatter (d, d) of the rows about the center."""
    X, _, weight = as_float64(columns)
    gap = X - center
    return gap.T @ (gap if weight is None else gap * weight[:, None])


class CentredForm(NamedTuple):
    """Means, roots of the precisions and log constants of the components."""

    means: FloatArray
    roots: FloatArray
    constants: FloatArray


def centered_form(parameters: Gaussians, kind: str) -> CentredForm:
    """What `centered_scores` needs of the parameters."""
    weights, means, covariances = parameters
    d = means.shape[1]
    factor = cholesky(covariances, kind)
    roots: Any = inverse_factor(factor) if kind in ("full", "tied") else 1 / factor
    logs = log_weights(weights) - 0.5 * (d * LOG_2PI + log_determinants(factor, kind, d))
    return CentredForm(means, roots, logs)


def centered_scores(X: FloatArray, form: CentredForm, kind: str) -> FloatArray:
    """log(weight density) (M, b) with every component about its own mean."""
    means, roots, constants = form
    scores = np.repeat(constants[:, None], len(X), axis=1)
    for k, mean in enumerate(means):
        root = roots if kind == "tied" else roots[k]
        white = (X - mean) @ root.T if kind in ("full", "tied") else (X - mean) * root
        scores[k] -= 0.5 * np.einsum("ij,ij->i", white, white)
    return scores


def centered_pass(
    columns: Columns,
    forms: list[CentredForm],
    centers: list[FloatArray],
    kind: str,
    owner: NDArray[np.int64],
) -> list[tuple[FloatArray, FloatArray, FloatArray, float]]:
    """Sums of r, r (x - c), r (x - c)(x - c)' and the criterion, for each form and its centers."""
    X, plausibility, weight = as_float64(columns)
    result = []
    for form, center in zip(forms, centers, strict=True):
        scores = centered_scores(X, form, kind)
        responsibility, criterion = respond(scores, plausibility, weight, owner)
        result.append((*centered_sums(X, responsibility, center, kind), criterion))
    return result


def centered_sums(
    X: FloatArray, responsibility: FloatArray, centers: FloatArray, kind: str
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Sums of r, r (x - c_k) and r (x - c_k)(x - c_k)' by component."""
    first = np.empty_like(centers)
    seconds = []
    for k, r in enumerate(responsibility):
        gap = X - centers[k]
        first[k] = r @ gap
        if kind in ("full", "tied"):
            seconds.append(gap.T @ (gap * r[:, None]))
        else:
            squares = r @ gap**2
            seconds.append(squares if kind == "diag" else squares.sum())
    second = np.sum(seconds, axis=0) if kind == "tied" else np.array(seconds)
    return responsibility.sum(axis=1), first, second


def as_numbers(columns: Columns) -> tuple[Any, FloatArray | None, FloatArray | None]:
    """The same with features as they lie in memory, for kernels that read both precisions."""
    X, plausibility, weight = columns[:3]
    if X is None or X.dtype not in (np.float32, np.float64):
        return as_float64(columns)
    _, plausibility, weight = as_float64((X[:0], plausibility, weight))
    return np.asarray(X), plausibility, weight  # a memory map is an array, too


def as_float64(columns: Columns) -> tuple[FloatArray, FloatArray | None, FloatArray | None]:
    """Features, plausibilities and weights of a chunk in double precision.

    Features stay row by row or column by column in memory, as they came; the rest is row by row.
    """
    X, plausibility, weight = columns[:3]
    assert X is not None
    by_column = X.ndim == 2 and X.strides[0] < X.strides[1]
    return (
        np.asarray(X, dtype=np.float64, order="F" if by_column else "C"),
        None if plausibility is None else np.ascontiguousarray(plausibility, dtype=np.float64),
        None if weight is None else np.ascontiguousarray(weight, dtype=np.float64),
    )
