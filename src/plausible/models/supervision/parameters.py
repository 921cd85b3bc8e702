r"""Stochastic supervision: the likelihood of features and assessments, and its EM map.

.. math:: L(\theta) = \sum_i \log \sum_k pl_{i j(k)} \, \pi_k \, N(x_i; \mu_k, \Sigma_k) \,
   q_{j(k)}(w_i \mid x_i)

with class j(k) of component k. How assessments are distributed in a class:

"beta"        z ~ Beta(a, b) in the first class, Beta(b, a) in the second
"symmetric"   w ~ N(+D, Omega) and N(-D, Omega)
"gaussian"    w ~ N(alpha_j, Omega_j)
"linear"      w ~ N(alpha_j + B_j' x, Omega_j)

Krishnan and Nandy 1987; Titterington 1989; Lu, Qiao, Zhu, Wang, Ma and Xue, Generalisations of
stochastic supervision, 2020. In all of them log density is quadratic in (x, t), where t is w or,
for Beta, (log z, log(1 - z)); so one pass of a Gaussian mixture (see `gaussian.e_step`) gives the
moments of (x, t) by component, and every M step is a function of these. Floors on covariances are
part of the M step: eigenvalues are raised where they are too low, the maximum under that
constraint, so that the likelihood never falls.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln

from plausible.engine import Columns
from plausible.models.gaussian import e_step
from plausible.models.gaussian.parameters import (
    LOG_2PI,
    FloatArray,
    Gaussians,
    Moments,
    cholesky,
    log_determinants,
    precisions,
)
from plausible.models.supervision.assessments import log_probabilities

IntArray = NDArray[np.int64]

FAMILIES = ("gaussian", "linear", "symmetric", "beta")
NO_VARIANCE = 1e-11  # of a direction of the features, relative to the largest, that is none


class Supervision(NamedTuple):
    """Parameters: M components of J classes, d features, q log odds.

    weights (M,), means (M, d), covariances (M, d, d) : of the features
    intercepts (J, q), slopes (J, d, q), spreads (J, q, q) : of log odds given features
    shapes (J, 2) : of Beta assessments; then q = 0, and otherwise (J, 0)
    """

    weights: FloatArray
    means: FloatArray
    covariances: FloatArray
    intercepts: FloatArray
    slopes: FloatArray
    spreads: FloatArray
    shapes: FloatArray

    @property
    def features(self) -> Gaussians:
        """The mixture of the features alone."""
        return Gaussians(self.weights, self.means, self.covariances)


def _assessment_scores(X: FloatArray, T: FloatArray, p: Supervision) -> FloatArray:
    """Log densities (J, n) of assessments in each class, given the features."""
    if p.shapes.size:
        return (p.shapes - 1) @ T.T - betaln(*p.shapes.T)[:, None]
    roots = np.linalg.inv(cholesky(p.spreads, "full"))
    scores = np.empty((len(roots), len(X)))
    for j, root in enumerate(roots):
        white = (T - (p.intercepts[j] + X @ p.slopes[j])) @ root.T
        scores[j] = np.log(root.diagonal()).sum() - 0.5 * np.einsum("ij,ij->i", white, white)
    return scores - 0.5 * T.shape[1] * LOG_2PI


def joint_scores(A: FloatArray, p: Supervision, owner: IntArray) -> FloatArray:
    """Log of weight times density (M, n) of features and assessments."""
    d = p.means.shape[1]
    X, T = A[:, :d], A[:, d:]
    scores = e_step.centered_scores(X, e_step.centered_form(p.features, "full"), "full")
    return scores + _assessment_scores(X, T, p)[owner] if T.shape[1] else scores


def linear_form(
    p: Supervision, owner: IntArray, center: FloatArray, spread: FloatArray
) -> tuple[FloatArray, float]:
    """Coefficients of the feature map of (x, t), and by how much its terms exceed their sum.

    The precision of (x, w) comes from those of x and of w given x: nothing near singular is
    inverted when w is nearly a linear function of x.
    """
    (n_components, d), n_columns = p.means.shape, len(center)
    factor = cholesky(p.covariances, "full")
    precision = np.zeros((n_components, n_columns, n_columns))
    precision[:, :d, :d] = precisions(factor, "full")
    means = np.zeros((n_components, n_columns))
    means[:, :d] = p.means - center[:d]
    constants = e_step.log_weights(p.weights) - 0.5 * (
        d * LOG_2PI + log_determinants(factor, "full", d)
    )
    pull = np.zeros_like(means)
    if p.shapes.size:
        tilt = p.shapes - 1
        pull[:, d:] = tilt[owner]
        constants += (tilt @ center[d:] - betaln(*p.shapes.T))[owner]
    else:
        inner = cholesky(p.spreads, "full")
        sharp, slopes = precisions(inner, "full")[owner], p.slopes[owner]
        across = slopes @ sharp
        precision[:, :d, :d] += across @ np.swapaxes(slopes, 1, 2)
        precision[:, :d, d:] = -across
        precision[:, d:, :d] = -np.swapaxes(across, 1, 2)
        precision[:, d:, d:] = sharp
        means[:, d:] = expected_log_odds(p, owner) - center[d:]
        q = n_columns - d
        constants -= 0.5 * (q * LOG_2PI + log_determinants(inner, "full", q))[owner]
    linear = np.einsum("kij,kj->ki", precision, means)
    far = (linear * means).sum(axis=1)
    worst = max(far.max(), (np.diagonal(precision, axis1=1, axis2=2) @ spread**2).max())
    form = e_step.assemble(constants - 0.5 * far, linear + pull, precision, "full")
    return form, float(worst)


def expected_log_odds(p: Supervision, owner: IntArray) -> FloatArray:
    """Mean log odds (M, q) of the components."""
    return p.intercepts[owner] + np.einsum("kd,kdq->kq", p.means, p.slopes[owner])


def exact_pass(
    columns: Columns, points: list[Supervision], centers: list[FloatArray], owner: IntArray
) -> list[tuple[FloatArray, FloatArray, FloatArray, float]]:
    """Sums of r, r (a - c), r (a - c)(a - c)' of a = (x, t) and the criterion, for each point."""
    A, plausibility, weight = e_step.as_float64(columns)
    result = []
    for p, center in zip(points, centers, strict=True):
        scores = joint_scores(A[:, : center.shape[1]], p, owner)
        responsibility, criterion = e_step.respond(scores, plausibility, weight, owner)
        sums = e_step.centered_sums(A[:, : center.shape[1]], responsibility, center, "full")
        result.append((*sums, criterion))
    return result


def class_logs(T: FloatArray, family: str) -> FloatArray:
    """Log probabilities (n, J) that were assessed, zeros where there is no assessment."""
    logs = T if family == "beta" else log_probabilities(T)
    return np.where(np.isnan(logs), 0.0, logs)


def agreement_pass(columns: Columns, p: Supervision, owner: IntArray, family: str) -> FloatArray:
    """Weight (M, J) that components hold of the items assessed as most probably of each class."""
    A, plausibility, weight = e_step.as_float64(columns)
    responsibility, _ = e_step.respond(joint_scores(A, p, owner), plausibility, weight, owner)
    logs = class_logs(A[:, p.means.shape[1] :], family)
    return responsibility @ np.eye(logs.shape[1])[logs.argmax(axis=1)]


def has_assessment(columns: Columns, n_features: int, wanted: bool) -> NDArray[np.int16]:
    """0 for rows with (or without) an assessment, -1 for the others and those of no weight."""
    A, weight = columns[0], columns[2]
    assert A is not None
    codes = np.where(np.isnan(A[:, n_features]) != wanted, 0, -1).astype(np.int16)
    if weight is not None:
        codes[weight == 0] = -1
    return codes


def count_pass(columns: Columns, n_features: int) -> NDArray[np.int64]:
    """Rows of some weight with and without an assessment."""
    assessed = has_assessment(columns, n_features, True) == 0
    bare = has_assessment(columns, n_features, False) == 0
    return np.array([assessed.sum(), bare.sum()])


def features_only(columns: Columns, n_features: int) -> Columns:
    """The columns without assessments."""
    return (columns[0][:, :n_features], *columns[1:])  # type: ignore[index]


def slice_moments(moments: Moments, columns: slice) -> Moments:
    """Moments of some of the columns."""
    count, mean, scatter = moments
    return Moments(count, mean[:, columns], scatter[:, columns, columns])


def too_far(moments: Moments, center: FloatArray) -> bool:
    """Whether means of log odds lie so far from their center that variances have lost digits."""
    count, mean, scatter = moments
    gap = mean - center[len(center) - mean.shape[1] :]
    variances = np.diagonal(scatter, axis1=1, axis2=2)
    return bool((count[:, None] * gap**2 > e_step.TOO_FAR * np.abs(variances)).any())


def pool(moments: Moments, owner: IntArray, n_classes: int) -> Moments:
    """Moments by class from those by component."""
    if len(owner) == n_classes:
        return moments
    count, mean, scatter = moments
    member = np.eye(n_classes)[owner].T
    total = member @ count
    center = (member * count) @ mean / np.maximum(total, 1e-300)[:, None]
    gap = mean - center[owner]
    within = scatter + count[:, None, None] * gap[:, :, None] * gap[:, None, :]
    return Moments(total, center, np.einsum("jk,kab->jab", member, within))


def raise_eigenvalues(covariances: FloatArray, scale: FloatArray, least: float) -> FloatArray:
    """Covariances (M, q, q) of which no direction has less than `least` in units of `scale`.

    Raises `SingularCovarianceError` for singular ones if `least` is zero.
    """
    if not least or not covariances.size:
        cholesky(covariances, "full")
        return covariances
    if len(scale) == 1:
        return np.maximum(covariances, least * scale**2)
    units = np.outer(scale, scale)
    relative = covariances / units
    eye = np.eye(len(scale))
    try:  # far quicker than eigenvalues, and mostly enough
        np.linalg.cholesky(relative - least * eye)
        return covariances
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(relative)
    low = values[..., 0] < least
    values = np.maximum(values, least)
    raised = (vectors * values[..., None, :]) @ np.swapaxes(vectors, -1, -2) * units
    return np.where(low[..., None, None], raised, covariances)


def shaped(covariances: FloatArray, weights: FloatArray, kind: str) -> FloatArray:
    """The likeliest covariances (M, d, d) of a kind, from free ones and their weights."""
    d = covariances.shape[-1]
    if kind == "tied":
        common = np.einsum("k,kab->ab", weights / weights.sum(), covariances)
        return np.broadcast_to(common, covariances.shape).copy()
    if kind == "full":
        return covariances
    diagonal = np.diagonal(covariances, axis1=1, axis2=2)
    if kind == "spherical":
        diagonal = np.repeat(diagonal.mean(axis=1, keepdims=True), d, axis=1)
    return diagonal[:, None, :] * np.eye(d)


def divide(scatter: FloatArray, count: FloatArray, instead: FloatArray) -> FloatArray:
    """Covariances from scatters; `instead` where there are no rows."""
    covariances = scatter / np.maximum(count, 1e-300)[:, None, None]
    return np.where((count > 0)[:, None, None], covariances, instead)


def _inverse_roots(matrices: FloatArray) -> FloatArray:
    """R (J, d, d) with R R' the inverse of matrices with unit diagonal, without lost directions."""
    try:
        lower = np.linalg.cholesky(matrices)
        if (np.diagonal(lower, axis1=1, axis2=2) ** 2 > NO_VARIANCE).all():
            return np.swapaxes(np.linalg.inv(lower), 1, 2)
    except np.linalg.LinAlgError:
        pass
    values, vectors = np.linalg.eigh(matrices)
    usable = values > NO_VARIANCE * np.maximum(values[:, -1:], 1e-300)
    inverse = np.where(usable, 1 / np.where(usable, values, 1.0), 0.0)
    return np.asarray(vectors * np.sqrt(inverse)[:, None, :])


def regress(classes: Moments, d: int, spread: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Slopes (J, d, q) of log odds on features in each class, and scatters of what they leave.

    A feature that hardly varies within a class, by the `spread` of all data, has no slope there.
    """
    variances = np.maximum(np.diagonal(classes.scatter, axis1=1, axis2=2), 0.0)
    constant = variances[:, :d] <= NO_VARIANCE * classes.counts[:, None] * spread[:d] ** 2
    units = np.where(variances > 0, np.sqrt(variances), 1.0)
    scatter = classes.scatter / (units[:, :, None] * units[:, None, :])
    if constant.any():
        rows, columns = np.nonzero(constant)
        scatter[rows, columns, :] = 0.0
        scatter[rows, :, columns] = 0.0
    root = _inverse_roots(scatter[:, :d, :d])
    explained = np.swapaxes(root, 1, 2) @ scatter[:, :d, d:]
    slopes = root @ explained
    left = scatter[:, d:, d:] - np.swapaxes(explained, 1, 2) @ explained
    slopes *= units[:, None, d:] / units[:, :d, None]
    return slopes, left * units[:, d:, None] * units[:, None, d:]
