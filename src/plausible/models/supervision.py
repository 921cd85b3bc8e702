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
for Beta, (log z, log(1 - z)); so one pass of a Gaussian mixture (see `passes`) gives the moments of
(x, t) by component, and every M step is a function of these. Floors on covariances are part of the
M step: eigenvalues are raised where they are too low, the maximum under that constraint, so that
the likelihood never falls.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln

from plausible.engine.rows import Columns, Rows
from plausible.models import passes
from plausible.models.assessments import log_probabilities
from plausible.models.beta import fit_beta
from plausible.models.expectation import Census, lost_digits, take_census
from plausible.models.gaussian import (
    LOG_2PI,
    Chart,
    FloatArray,
    Gaussians,
    Moments,
    about_mean,
    cholesky,
    log_determinants,
    merge,
    precisions,
)

IntArray = NDArray[np.int64]

FAMILIES = ("gaussian", "linear", "symmetric", "beta")
NO_VARIANCE = 1e-12  # of a direction of the features, relative to the largest, that is none


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


class Summary(NamedTuple):
    """Moments by component of (x, t), of x in rows without assessment, and the criterion."""

    moments: Moments
    bare: Moments | None
    criterion: float


def assessment_scores(X: FloatArray, T: FloatArray, p: Supervision) -> FloatArray:
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
    scores = passes.centred_scores(X, passes.centred_form(p.features, "full"), "full")
    return scores + assessment_scores(X, T, p)[owner] if T.shape[1] else scores


def linear_form(
    p: Supervision, owner: IntArray, centre: FloatArray, spread: FloatArray
) -> tuple[FloatArray, float]:
    """Coefficients of the feature map of (x, t), and by how much its terms exceed their sum.

    The precision of (x, w) comes from those of x and of w given x: nothing near singular is
    inverted when w is nearly a linear function of x.
    """
    (n_components, d), n_columns = p.means.shape, len(centre)
    factor = cholesky(p.covariances, "full")
    precision = np.zeros((n_components, n_columns, n_columns))
    precision[:, :d, :d] = precisions(factor, "full")
    means = np.zeros((n_components, n_columns))
    means[:, :d] = p.means - centre[:d]
    constants = passes.log_weights(p.weights) - 0.5 * (
        d * LOG_2PI + log_determinants(factor, "full", d)
    )
    pull = np.zeros_like(means)
    if p.shapes.size:
        tilt = p.shapes - 1
        pull[:, d:] = tilt[owner]
        constants += (tilt @ centre[d:] - betaln(*p.shapes.T))[owner]
    else:
        inner = cholesky(p.spreads, "full")
        sharp, slopes = precisions(inner, "full")[owner], p.slopes[owner]
        across = slopes @ sharp
        precision[:, :d, :d] += across @ np.swapaxes(slopes, 1, 2)
        precision[:, :d, d:] = -across
        precision[:, d:, :d] = -np.swapaxes(across, 1, 2)
        precision[:, d:, d:] = sharp
        means[:, d:] = expected_log_odds(p, owner) - centre[d:]
        q = n_columns - d
        constants -= 0.5 * (q * LOG_2PI + log_determinants(inner, "full", q))[owner]
    linear = np.einsum("kij,kj->ki", precision, means)
    far = (linear * means).sum(axis=1)
    worst = max(far.max(), (np.diagonal(precision, axis1=1, axis2=2) @ spread**2).max())
    form = passes.assemble(constants - 0.5 * far, linear + pull, precision, "full")
    return form, float(worst)


def expected_log_odds(p: Supervision, owner: IntArray) -> FloatArray:
    """Mean log odds (M, q) of the components."""
    return p.intercepts[owner] + np.einsum("kd,kdq->kq", p.means, p.slopes[owner])


def exact_pass(
    columns: Columns, points: list[Supervision], centres: list[FloatArray], owner: IntArray
) -> list[tuple[FloatArray, FloatArray, FloatArray, float]]:
    """Sums of r, r (a - c), r (a - c)(a - c)' of a = (x, t) and the criterion, for each point."""
    A, plausibility, weight = passes.as_float64(columns)
    result = []
    for p, centre in zip(points, centres, strict=True):
        scores = joint_scores(A[:, : centre.shape[1]], p, owner)
        responsibility, criterion = passes.respond(scores, plausibility, weight, owner)
        sums = passes.centred_sums(A[:, : centre.shape[1]], responsibility, centre, "full")
        result.append((*sums, criterion))
    return result


def class_logs(T: FloatArray, family: str) -> FloatArray:
    """Log probabilities (n, J) that were assessed, zeros where there is no assessment."""
    logs = T if family == "beta" else log_probabilities(T)
    return np.where(np.isnan(logs), 0.0, logs)


def agreement_pass(columns: Columns, p: Supervision, owner: IntArray, family: str) -> FloatArray:
    """Weight (M, J) that components hold of the items assessed as most probably of each class."""
    A, plausibility, weight = passes.as_float64(columns)
    responsibility, _ = passes.respond(joint_scores(A, p, owner), plausibility, weight, owner)
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


def pool(moments: Moments, owner: IntArray, n_classes: int) -> Moments:
    """Moments by class from those by component."""
    count, mean, scatter = moments
    member = np.eye(n_classes)[owner].T
    total = member @ count
    centre = (member * count) @ mean / np.maximum(total, 1e-300)[:, None]
    gap = mean - centre[owner]
    within = scatter + count[:, None, None] * gap[:, :, None] * gap[:, None, :]
    return Moments(total, centre, np.einsum("jk,kab->jab", member, within))


def raise_eigenvalues(covariances: FloatArray, scale: FloatArray, least: float) -> FloatArray:
    """Covariances (..., q, q) of which no direction has less than `least` in units of `scale`."""
    if not least or not covariances.size:
        return covariances
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


def regress(classes: Moments, d: int) -> tuple[FloatArray, FloatArray]:
    """Slopes (J, d, q) of log odds on features in each class, and scatters of what they leave."""
    spread = np.sqrt(np.maximum(np.diagonal(classes.scatter, axis1=1, axis2=2), 0.0))
    units = np.where(spread > 0, spread, 1.0)
    scatter = classes.scatter / (units[:, :, None] * units[:, None, :])
    values, vectors = np.linalg.eigh(scatter[:, :d, :d])
    usable = values > NO_VARIANCE * np.maximum(values[:, -1:], 1e-300)
    inverse = np.where(usable, 1 / np.where(usable, values, 1.0), 0.0)
    root = vectors * np.sqrt(inverse)[:, None, :]
    explained = np.swapaxes(root, 1, 2) @ scatter[:, :d, d:]
    slopes = root @ explained
    left = scatter[:, d:, d:] - np.swapaxes(explained, 1, 2) @ explained
    slopes *= units[:, None, d:] / units[:, :d, None]
    return slopes, left * units[:, d:, None] * units[:, None, d:]


class SupervisedMixture:
    """The EM problem of one data set: what the loop summarises and solves.

    Parameters
    ----------
    rows : Rows
        Features and assessments beside each other (NaN where there is none), plausibilities of the
        classes (or None), weights (or None).
    n_features : int
    kind : str
        Kind of covariance of the features.
    family : one of `FAMILIES`
    owner : int array (M,)
        Class of each component.
    n_classes : int
    least : float
        Least eigenvalue of covariances, in units of the spread of the data.
    """

    def __init__(
        self,
        rows: Rows,
        n_features: int,
        kind: str,
        family: str,
        owner: IntArray,
        n_classes: int,
        least: float,
    ) -> None:
        self.all_rows, self.d, self.kind, self.family = rows, n_features, kind, family
        self.owner, self.n_classes, self.least = owner, n_classes, least
        n_assessed, n_bare = rows.reduce(count_pass, n_features)
        if not n_assessed:
            raise ValueError(
                "At least one item of positive weight should be assessed, but none is; give "
                "assessments, or fit a GaussianMixtureClassifier on labels alone."
            )
        self.rows, self.bare = rows, None
        none = np.zeros(n_classes, dtype=bool)
        if n_bare or n_assessed < rows.n_rows:
            self.rows = rows.arrange(partial(has_assessment, n_features=n_features, wanted=True))
        self.census = take_census(self.rows, none)
        if n_bare:
            bare = rows.arrange(partial(has_assessment, n_features=n_features, wanted=False))
            self.bare = bare.map(partial(features_only, n_features=n_features))
            self.census = join(self.census, take_census(self.bare, none))
        self.centre, self.spread = self.census.centre, self.census.spread
        self.units = self.spread[:n_features]  # in which variances of features have a floor
        if kind == "spherical":
            self.units = np.full(n_features, np.sqrt((self.units**2).mean()))
        self.fast = passes.use_compiled(n_assessed, len(owner), "full", len(self.centre))

    def summarise(self, points: list[Supervision]) -> list[Summary]:
        """Moments and criterion for each set of parameters, in one pass over the rows."""
        moments = self._moments(self.rows, points, len(self.centre))
        if self.bare is None:
            return [Summary(found, None, gain) for found, gain in moments]
        others = self._moments(self.bare, points, self.d)
        return [
            Summary(found, bare, gain + more)
            for (found, gain), (bare, more) in zip(moments, others, strict=True)
        ]

    def _moments(
        self, rows: Rows, points: list[Supervision], n_columns: int
    ) -> list[tuple[Moments, float]]:
        """Moments of the first columns by component, and the criterion, for each point."""
        centre, spread = self.centre[:n_columns], self.spread[:n_columns]
        if n_columns > self.d:
            found = [linear_form(p, self.owner, centre, spread) for p in points]
        else:
            found = [passes.linear_form(p.features, centre, "full") for p in points]
        forms, costs = zip(*found, strict=True)
        if not passes.use_linear("full", n_columns, max(costs)):
            return self._exact(rows, points, [self._means(p, n_columns) for p in points])
        sums = rows.reduce(passes.linear_pass, list(forms), centre, "full", self.owner, self.fast)
        result = []
        for folded, gain in sums:
            count, first, second = passes.unfold(folded, "full", n_columns)
            assert second is not None
            result.append((about_mean(count, first, second, centre, "full"), gain))
        parts = slice(0, self.d), slice(self.d, n_columns)
        if any(
            lost_digits(slice_moments(moments, part), centre[part], "full")
            for moments, _ in result
            for part in (parts[:1] if self.family == "beta" else parts)
            if part.stop > part.start
        ):
            return self._exact(rows, points, [moments.mean for moments, _ in result])
        return result

    def _means(self, p: Supervision, n_columns: int) -> FloatArray:
        """Where the components lie, among the first columns."""
        if n_columns == self.d:
            return p.means
        if self.family == "beta":
            return np.hstack([p.means, np.tile(self.centre[self.d :], (len(self.owner), 1))])
        return np.hstack([p.means, expected_log_odds(p, self.owner)])

    def _exact(
        self, rows: Rows, points: list[Supervision], centres: list[FloatArray]
    ) -> list[tuple[Moments, float]]:
        """The same with every component about a centre of its own: slower, and always exact."""
        sums = rows.reduce(exact_pass, points, centres, self.owner)
        return [
            (about_mean(n, s, ss, c, "full"), gain)
            for (n, s, ss, gain), c in zip(sums, centres, strict=True)
        ]

    def solve(self, summary: Summary, least: float | None = None) -> Supervision:
        """The M step; raises `SingularCovarianceError` if a covariance cannot be inverted."""
        least = self.least if least is None else least
        features = slice_moments(summary.moments, slice(0, self.d))
        if summary.bare is not None:
            features = merge(features, summary.bare, "full")
        count, means, scatter = features
        covariances = divide(scatter, count, np.diag(self.spread[: self.d] ** 2))
        covariances = shaped(covariances, count, self.kind)
        covariances = raise_eigenvalues(covariances, self.units, least)
        cholesky(covariances, "full")
        classes = pool(summary.moments, self.owner, self.n_classes)
        return Supervision(count / count.sum(), means, covariances, *self._assess(classes, least))

    def _assess(
        self, classes: Moments, least: float
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Intercepts, slopes, spreads and shapes of the assessments."""
        d, count, mean = self.d, classes.counts, classes.mean[:, self.d :]
        if self.family == "beta":
            empty = [np.empty((2, *shape)) for shape in ((0,), (d, 0), (0, 0))]
            flipped = np.array([mean[0], mean[1, ::-1]])
            shape = fit_beta(*(count @ flipped / count.sum()))
            return empty[0], empty[1], empty[2], np.array([shape, shape[::-1]])
        slopes = np.zeros((self.n_classes, d, mean.shape[1]))
        left = classes.scatter[:, d:, d:]
        scale = self.spread[d:]
        if self.family == "symmetric":
            signs = np.array([[1.0], [-1.0]])
            intercepts = signs * (count @ (signs * mean) / count.sum())
            gap = mean - intercepts
            left = left + count[:, None, None] * gap[:, :, None] * gap[:, None, :]
            spreads = np.tile(left.sum(axis=0) / count.sum(), (2, 1, 1))
        else:
            if self.family == "linear":
                slopes, left = regress(classes, d)
            intercepts = mean - np.einsum("jd,jdq->jq", classes.mean[:, :d], slopes)
            spreads = divide(left, count, np.diag(scale**2))
        spreads = raise_eigenvalues(spreads, scale, least)
        cholesky(spreads, "full")
        return intercepts, slopes, spreads, np.empty((self.n_classes, 0))

    def n_parameters(self) -> int:
        """Number of free parameters."""
        n_components, d, n_classes = len(self.owner), self.d, self.n_classes
        q = n_classes - 1
        square = d * (d + 1) // 2
        shape = {"full": n_components * square, "tied": square, "diag": n_components * d}
        covariances = shape.get(self.kind, n_components)
        given = q + q * (q + 1) // 2
        assessments = {
            "beta": 2,
            "symmetric": 2,
            "gaussian": n_classes * given,
            "linear": n_classes * (given + d * q),
        }[self.family]
        return n_components - 1 + n_components * d + covariances + assessments


def join(one: Census, other: Census) -> Census:
    """A census with the features of further rows, which have no assessments."""
    d = len(other.centre)
    weight = one.weight + other.weight
    share = np.array([one.weight, other.weight])[:, None] / weight
    centres = np.array([one.centre[:d], other.centre])
    centre = (share * centres).sum(axis=0)
    variances = np.array([one.spread[:d], other.spread]) ** 2 + (centres - centre) ** 2
    spread = np.sqrt((share * variances).sum(axis=0))
    return one._replace(
        n_rows=one.n_rows + other.n_rows,
        support=one.support + other.support,
        weight=weight,
        centre=np.concatenate([centre, one.centre[d:]]),
        spread=np.concatenate([spread, one.spread[d:]]),
    )


class SupervisionChart:
    """Coordinates without constraints, of features, of assessments at their centre, log shapes.

    What a family or a kind of covariance keeps equal, opposite or zero stays so on straight lines.
    """

    def __init__(self, problem: SupervisedMixture) -> None:
        self.problem = problem
        d = problem.d
        self.scale, self.units = problem.spread[:d], problem.spread[d:]
        self.centre = problem.centre[:d]
        self.features = Chart("full", self.scale)
        self.assessments = Chart("full", self.units)

    def flatten(self, p: Supervision) -> FloatArray:
        """Coordinates of the parameters, in one vector."""
        features = self.features.flatten(p.features)
        if p.shapes.size:
            return np.concatenate([features, np.log(p.shapes).ravel()])
        middle = p.intercepts + np.einsum("d,jdq->jq", self.centre, p.slopes)
        even = np.full(len(middle), 1 / len(middle))
        assessments = self.assessments.flatten(Gaussians(even, middle, p.spreads))
        slopes = p.slopes * (self.scale[:, None] / self.units)
        return np.concatenate([features, slopes.ravel(), assessments])

    def restore(self, vector: FloatArray, like: Supervision) -> Supervision:
        """The parameters with these coordinates; `like` gives the shapes."""
        (n_components, d), least = like.means.shape, self.problem.least
        n_features = n_components * (1 + d + d * (d + 1) // 2)
        features = self.features.restore(vector[:n_features], like.features)
        covariances = raise_eigenvalues(features.covariances, self.problem.units, least)
        features, rest = features._replace(covariances=covariances), vector[n_features:]
        if like.shapes.size:
            shapes = np.exp(rest).reshape(like.shapes.shape)
            return Supervision(*features, *like[3:6], shapes)
        slopes = rest[: like.slopes.size].reshape(like.slopes.shape)
        slopes = slopes * (self.units / self.scale[:, None])
        even = np.full(len(like.intercepts), 1.0)
        _, middle, spreads = self.assessments.restore(
            rest[like.slopes.size :], Gaussians(even, like.intercepts, like.spreads)
        )
        spreads = raise_eigenvalues(spreads, self.units, least)
        intercepts = middle - np.einsum("d,jdq->jq", self.centre, slopes)
        return Supervision(*features, intercepts, slopes, spreads, like.shapes)
