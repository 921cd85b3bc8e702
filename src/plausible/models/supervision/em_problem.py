"""The EM problem of stochastic supervision, and coordinates in which it may be extrapolated."""

from functools import partial
from typing import NamedTuple

import numpy as np

from plausible.engine import Rows, remembering
from plausible.errors import InputError
from plausible.models.gaussian import e_step
from plausible.models.gaussian.census import RowCensus, take_census
from plausible.models.gaussian.parameters import (
    FloatArray,
    GaussianChart,
    Gaussians,
    Moments,
    about_mean,
    merge,
)
from plausible.models.gaussian.soft_mixture import lost_digits
from plausible.models.gaussian.weak_points import MOST_NUMBERS, MOST_WORK
from plausible.models.supervision.beta import fit_beta
from plausible.models.supervision.parameters import (
    IntArray,
    Supervision,
    count_pass,
    divide,
    exact_pass,
    expected_log_odds,
    features_only,
    has_assessment,
    linear_form,
    pool,
    raise_eigenvalues,
    regress,
    shaped,
    slice_moments,
    too_far,
)


class SupervisionStatistics(NamedTuple):
    """Moments by component of (x, t), of x in rows without assessment, and the criterion."""

    moments: Moments
    bare: Moments | None
    criterion: float


class SupervisedMixture:
    """The EM problem of one data set: what the loop summarizes and solves.

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
        _check_size(rows, len(owner), n_features, n_classes)
        n_assessed, n_bare = rows.reduce(count_pass, n_features)
        if not n_assessed:
            raise InputError(
                "At least one item of positive weight should be assessed",
                "none is",
                "give assessments, or fit a GaussianMixtureClassifier on labels alone",
            )
        self.rows, self.bare = rows, None
        none = np.zeros(n_classes, dtype=bool)
        if n_bare or n_assessed < rows.n_rows:
            self.rows = rows.arrange(partial(has_assessment, n_features=n_features, wanted=True))
        self.census = take_census(self.rows, none)
        n_weighed = self.census.weight
        if n_bare:
            bare = rows.arrange(partial(has_assessment, n_features=n_features, wanted=False))
            self.bare = bare.map(partial(features_only, n_features=n_features))
            self.census = join(self.census, take_census(self.bare, none))
        self.center, self.spread = self.census.center, self.census.spread
        self.units = self.spread[:n_features]  # in which variances of features have a floor
        if kind == "spherical":
            self.units = np.full(n_features, np.sqrt((self.units**2).mean()))
        self.change = 0.0  # from the likelihood of probabilities to that of log odds
        if family == "beta":
            self.change = n_weighed * float(self.center[n_features:].sum())
        self.fast = e_step.use_compiled(n_assessed, len(owner), "full", len(self.center))
        self.summarize = remembering(self._summarize)

    def _summarize(self, points: list[Supervision]) -> list[SupervisionStatistics]:
        """Moments and criterion for each set of parameters, in one pass over the rows."""
        moments = self._moments(self.rows, points, len(self.center))
        if self.bare is None:
            return [SupervisionStatistics(found, None, gain) for found, gain in moments]
        others = self._moments(self.bare, points, self.d)
        return [
            SupervisionStatistics(found, bare, gain + more)
            for (found, gain), (bare, more) in zip(moments, others, strict=True)
        ]

    def _moments(
        self, rows: Rows, points: list[Supervision], n_columns: int
    ) -> list[tuple[Moments, float]]:
        """Moments of the first columns by component, and the criterion, for each point."""
        center, spread = self.center[:n_columns], self.spread[:n_columns]
        if n_columns > self.d:
            found = [linear_form(p, self.owner, center, spread) for p in points]
        else:
            found = [e_step.linear_form(p.features, center, "full") for p in points]
        forms, costs = zip(*found, strict=True)
        if not e_step.use_linear("full", n_columns, max(costs)):
            return self._exact(rows, points, [self._means(p, n_columns) for p in points])
        sums = rows.reduce(e_step.linear_pass, list(forms), center, "full", self.owner, self.fast)
        result = []
        for folded, gain in sums:
            count, first, second = e_step.unfold(folded, "full", n_columns)
            assert second is not None
            result.append((about_mean(count, first, second, center, "full"), gain))
        features = slice(0, self.d)
        if any(
            lost_digits(slice_moments(moments, features), center[features], "full")
            or (
                self.family != "beta"
                and too_far(slice_moments(moments, slice(self.d, None)), center)
            )
            for moments, _ in result
        ):
            return self._exact(rows, points, [moments.mean for moments, _ in result])
        return result

    def _means(self, p: Supervision, n_columns: int) -> FloatArray:
        """Where the components lie, among the first columns."""
        if n_columns == self.d:
            return p.means
        if self.family == "beta":
            return np.hstack([p.means, np.tile(self.center[self.d :], (len(self.owner), 1))])
        return np.hstack([p.means, expected_log_odds(p, self.owner)])

    def _exact(
        self, rows: Rows, points: list[Supervision], centers: list[FloatArray]
    ) -> list[tuple[Moments, float]]:
        """The same with every component about a center of its own: slower, and always exact."""
        sums = rows.reduce(exact_pass, points, centers, self.owner)
        return [
            (about_mean(n, s, ss, c, "full"), gain)
            for (n, s, ss, gain), c in zip(sums, centers, strict=True)
        ]

    def solve(self, summary: SupervisionStatistics, least: float | None = None) -> Supervision:
        """The M step; raises `SingularCovarianceError` if a covariance cannot be inverted."""
        least = self.least if least is None else least
        features = slice_moments(summary.moments, slice(0, self.d))
        if summary.bare is not None:
            features = merge(features, summary.bare, "full")
        count, means, scatter = features
        covariances = divide(scatter, count, np.diag(self.spread[: self.d] ** 2))
        covariances = shaped(covariances, count, self.kind)
        covariances = raise_eigenvalues(covariances, self.units, least)
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
                slopes, left = regress(classes, d, self.spread)
            intercepts = mean - np.einsum("jd,jdq->jq", classes.mean[:, :d], slopes)
            spreads = divide(left, count, np.diag(scale**2))
        spreads = raise_eigenvalues(spreads, scale, least)
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


def _check_size(rows: Rows, n_components: int, d: int, n_classes: int) -> None:
    """Refuse covariances of features and log odds that no memory holds or that take minutes."""
    n_columns = d + n_classes - 1
    n_numbers = n_components * n_columns**2
    if n_numbers > MOST_NUMBERS:
        raise InputError(
            f"Covariances should have at most {MOST_NUMBERS:.0e} entries",
            f"{n_components} components of {d} features and {n_classes - 1} log odds have "
            f"{n_numbers:.1e}",
            "group classes, or fit a GaussianMixtureClassifier on "
            "Labels.from_probability(assessments)",
        )
    if n_components * n_columns**3 >= MOST_WORK and rows.n_rows <= n_columns:
        raise InputError(
            f"There should be more items than features and log odds, {n_columns}",
            f"there are {rows.n_rows}, and computing with their covariances would take minutes",
            "take fewer features, or fit a GaussianMixtureClassifier(covariance_type='diag') on "
            "Labels.from_probability(assessments)",
        )


def join(one: RowCensus, other: RowCensus) -> RowCensus:
    """A census with the features of further rows, which have no assessments."""
    d = len(other.center)
    weight = one.weight + other.weight
    share = np.array([one.weight, other.weight])[:, None] / weight
    centers = np.array([one.center[:d], other.center])
    center = (share * centers).sum(axis=0)
    variances = np.array([one.spread[:d], other.spread]) ** 2 + (centers - center) ** 2
    spread = np.sqrt((share * variances).sum(axis=0))
    return one._replace(
        n_rows=one.n_rows + other.n_rows,
        support=one.support + other.support,
        weight=weight,
        center=np.concatenate([center, one.center[d:]]),
        spread=np.concatenate([spread, one.spread[d:]]),
    )


class SupervisionChart:
    """Coordinates without constraints, of features, of assessments at their center, log shapes.

    What a family or a kind of covariance keeps equal, opposite or zero stays so on straight lines.
    """

    def __init__(self, problem: SupervisedMixture) -> None:
        self.problem = problem
        d = problem.d
        self.scale, self.units = problem.spread[:d], problem.spread[d:]
        self.center = problem.center[:d]
        self.features = GaussianChart("full", self.scale)
        self.assessments = GaussianChart("full", self.units)

    def flatten(self, p: Supervision) -> FloatArray:
        """Coordinates of the parameters, in one vector."""
        features = self.features.flatten(p.features)
        if p.shapes.size:
            return np.concatenate([features, np.log(p.shapes).ravel()])
        middle = p.intercepts + np.einsum("d,jdq->jq", self.center, p.slopes)
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
        intercepts = middle - np.einsum("d,jdq->jq", self.center, slopes)
        return Supervision(*features, intercepts, slopes, spreads, like.shapes)
