r"""The criterion (1.9) of a Gaussian mixture under soft labels, and its EM map.

.. math:: L(\theta) = \sum_i w_i \log \sum_k pl_{ik} \pi_k f_k(x_i)

with :math:`pl_{ik}` the plausibility of the class that owns component k. A row with one plausible
component has responsibility one for ever: it is *settled*, its moments are computed once, and its
share of the criterion is linear in them. So is a row whose label is a probability, see `shares`.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.checks import name_rows
from plausible.engine import Columns, Rows, is_sparse
from plausible.errors import InputError
from plausible.models.gaussian import e_step
from plausible.models.gaussian.parameters import (
    FloatArray,
    Gaussians,
    Moments,
    Prior,
    SingularCovarianceError,
    about_mean,
    across,
    cholesky,
    expected_log_density,
    log_prior,
    merge,
    precisions,
    scatter_trace,
    solve,
)
from plausible.models.gaussian.shares import sum_over_shares
from plausible.short_rows import row_all, row_any, row_sum

LEFT_OUT = -1


class MixtureStatistics(NamedTuple):
    """Moments for the M step, and the criterion at the parameters they were taken with."""

    moments: Moments
    criterion: float
    log_likelihood: float


class RowCensus(NamedTuple):
    """First look at the rows: how many, how many settled, their weight, center and spread.

    `support` is the weight of the rows for which each class is plausible.
    """

    n_rows: int
    n_settled: int
    support: FloatArray
    weight: float
    center: FloatArray
    spread: FloatArray


def _settled_rows(columns: Columns, single: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which rows have one plausible class, and that class one component (`single`).

    Or probabilities of such classes.
    """
    possible = np.asarray(columns[1]) > 0
    settled = (row_sum(possible) == 1) & single[possible.argmax(axis=1)]
    if len(columns) > 3 and columns[3] is not None:
        settled |= columns[3] & ~row_any(possible & ~single)
    return settled


def census_pass(
    columns: Columns, origin: FloatArray, single: NDArray[np.bool_]
) -> tuple[int, int, FloatArray, float, FloatArray, FloatArray]:
    """Rows, settled rows, support, weight, and sums of x and x^2 about an origin."""
    X, plausibility, weight = e_step.as_float64(columns)
    with np.errstate(over="ignore", invalid="ignore"):  # `take_census` looks at the sums
        gap = X - origin
        total = gap.sum(axis=0)
        if not np.isfinite(total).all():
            check_finite(X)
        if weight is None:
            sums = float(len(X)), total, np.einsum("ij,ij->j", gap, gap)
        else:
            sums = float(weight.sum()), weight @ gap, weight @ gap**2
    if plausibility is None:
        return len(X), 0, np.full(len(single), sums[0]), *sums
    counts = np.ones(len(X)) if weight is None else weight
    support = (plausibility > 0).T @ counts
    n_settled = int((_settled_rows(columns, single) & (counts > 0)).sum())
    return int((counts > 0).sum()), n_settled, support, *sums


def check_finite(X: FloatArray) -> None:
    """Refuse missing and infinite features; arrays in memory have been checked before."""
    bad = ~row_all(np.isfinite(X))
    if bad.any():
        raise InputError(
            "Features should be finite numbers",
            f"NaN or infinity was found in {name_rows(bad)} of a chunk",
            "fill in or leave out missing values",
            rows=bad,
        )


def _check_range(weight: float, squares: FloatArray) -> None:
    """Refuse weights and features whose sums, or sums of squares, no number holds."""
    if not np.isfinite(weight):
        raise InputError(
            "Sample weights should have a finite sum",
            "it is beyond 1e308",
            "divide them all by a large number",
        )
    if not np.isfinite(squares).all():
        raise InputError(
            "Features should be finite numbers whose squares are finite",
            "some lie beyond 1e150 from the others",
            "scale them",
        )


def take_census(rows: Rows, single: NDArray[np.bool_]) -> RowCensus:
    """Count the rows and locate them; `single` says which classes have one component."""
    first = rows.peek()[0]
    assert first is not None
    if is_sparse(first):
        raise TypeError(
            "Features of a Gaussian model should be dense arrays, but sparse matrices were given; "
            "yield X.toarray(), chunk by chunk."
        )
    head = np.asarray(first[:1000], dtype=np.float64)
    check_finite(head)
    with np.errstate(over="ignore"):
        origin = head.mean(axis=0)
    n_rows, n_settled, support, weight, once, twice = rows.reduce(census_pass, origin, single)
    if not weight > 0:
        raise InputError(
            "At least one row should have a positive sample weight",
            "all weights are zero",
            "give weights above zero to the rows that should count",
        )
    _check_range(weight, twice)
    shift = once / weight
    spread = np.sqrt(np.maximum(twice / weight - shift**2, 0.0))
    spread = np.where(spread > 0, spread, 1.0)
    return RowCensus(n_rows, n_settled, support, weight, origin + shift, spread)


def candidate_codes(
    columns: Columns, single: NDArray[np.bool_], settled: bool
) -> NDArray[np.int16]:
    """A number for the set of plausible classes of each row, -1 for rows to leave out.

    `single` says which classes have one component; `settled` whether the settled rows are wanted or
    all others. Beyond 14 classes different sets may share a number.
    """
    plausibility = columns[1]
    assert plausibility is not None
    possible = plausibility > 0
    n_classes = possible.shape[1]
    if possible.all() and n_classes > 1 and len(columns) < 4:
        codes = np.full(len(possible), LEFT_OUT if settled else 0, dtype=np.int16)
    else:
        values = np.int64(1) << (np.arange(n_classes) % 14)
        codes = ((possible @ values) % 32749).astype(np.int16)
        codes[_settled_rows(columns, single) != settled] = LEFT_OUT
    if columns[2] is not None:
        codes[columns[2] == 0] = LEFT_OUT
    return codes


class SoftMixture:
    """The EM problem of one data set: what the loop summarizes and solves.

    Parameters
    ----------
    rows : Rows
        Features, plausibilities of the classes (or None), weights (or None), and which labels are
        probabilities, if any are.
    census : RowCensus
    kind : str
        Kind of covariance.
    owner : int array (M,)
        Class of each component, that is, its column of the plausibilities.
    reg_covar : float
    prior : Prior, optional
    """

    def __init__(
        self,
        rows: Rows,
        census: RowCensus,
        kind: str,
        owner: NDArray[np.int64],
        reg_covar: float = 0.0,
        prior: Prior | None = None,
    ) -> None:
        self.kind, self.owner, self.reg_covar, self.prior = kind, owner, reg_covar, prior
        self.census, self.center = census, census.center
        single = np.bincount(owner, minlength=len(census.support)) == 1
        self.fast = e_step.use_compiled(census.n_rows, len(owner), kind, len(self.center))
        self.settled_classes: Moments | None = None
        self.settled: Moments | None = None
        self.settled_constant = 0.0
        self.n_open = self.census.n_rows - self.census.n_settled
        self.rows = self.all_rows = rows
        self.labeled = rows.peek()[1] is not None
        if self.labeled:
            codes = partial(candidate_codes, single=single)
            if self.census.n_settled:
                self._settle(rows.arrange(partial(codes, settled=True)), single)
            self.rows = rows.arrange(partial(codes, settled=False))
        self.scatter: Any = None
        if kind == "tied" and self.n_open:
            self.scatter = self.rows.reduce(e_step.scatter_pass, self.center)

    def _settle(self, rows: Rows, single: NDArray[np.bool_]) -> None:
        """Moments of the rows with one plausible component."""
        self.settled_classes, self.settled_constant = self.favored(rows)
        count, mean, scatter = self.settled_classes
        n_components = len(self.owner)
        lone = np.flatnonzero(single[self.owner])
        among = self.owner[lone]
        settled = Moments(
            np.zeros(n_components),
            np.tile(self.center, (n_components, 1)),
            scatter if self.kind == "tied" else np.zeros((n_components, *scatter.shape[1:])),
        )
        settled.counts[lone], settled.mean[lone] = count[among], mean[among]
        if self.kind != "tied":
            settled.scatter[lone] = scatter[among]
        self.settled = settled

    def favored(self, rows: Rows) -> tuple[Moments, float]:
        """Moments of the rows by the class they favor, and their sum of log max plausibility."""
        kind, d = self.kind, len(self.center)
        form = "full" if kind == "tied" else kind
        short = e_step.n_features_of_map(form, d) <= e_step.WIDE
        rough = form if short else "diag"
        sums, constant = rows.reduce(
            sum_over_shares, e_step.given_pass, self.center, rough, self.fast
        )
        count, first, second = e_step.unfold(sums, rough, d)
        assert second is not None
        moments = about_mean(count, first, second, self.center, rough)
        if not short or lost_digits(moments, self.center, form):
            count, first, second = rows.reduce(
                sum_over_shares, e_step.favor_pass, moments.mean, form
            )
            moments = about_mean(count, first, second, moments.mean, form)
        if kind == "tied":
            moments = moments._replace(scatter=moments.scatter.sum(axis=0))
        return moments, constant

    def class_moments(self) -> Moments:
        """Moments of all rows by the class they favor; scatters of tied ones are pooled."""
        if not self.n_open:
            assert self.settled_classes is not None
            return self.settled_classes
        favored = self.favored(self.rows)[0]
        if self.settled_classes is None:
            return favored
        return merge(self.settled_classes, favored, self.kind)

    def summarize(self, starts: list[Gaussians]) -> list[MixtureStatistics]:
        """Moments and criterion for each set of parameters, in one pass over the rows."""
        if not self.n_open:
            assert self.settled is not None
            return [self._complete(self.settled, 0.0, parameters, True) for parameters in starts]
        forms, far = zip(
            *(e_step.linear_form(p, self.center, self.kind) for p in starts), strict=True
        )
        if not e_step.use_linear(self.kind, len(self.center), max(far)):
            return self._centered(starts, [p.means for p in starts])
        folded = self.rows.reduce(
            sum_over_shares,
            e_step.linear_pass,
            list(forms),
            self.center,
            self.kind,
            self.owner,
            self.fast,
        )
        moments = [self._unfold(sums) for sums, _ in folded]
        if any(lost_digits(found, self.center, self.kind) for found in moments):
            return self._centered(starts, [found.mean for found in moments])
        return [
            self._complete(found, gain + self._common(p), p)
            for found, (_, gain), p in zip(moments, folded, starts, strict=True)
        ]

    def _centered(
        self, starts: list[Gaussians], centers: list[FloatArray]
    ) -> list[MixtureStatistics]:
        """The same with every component about a center of its own: slower, and always exact."""
        forms = [e_step.centered_form(p, self.kind) for p in starts]
        sums = self.rows.reduce(
            sum_over_shares, e_step.centered_pass, forms, centers, self.kind, self.owner
        )
        return [
            self._complete(about_mean(n, s, ss, c, self.kind), gain, p)
            for (n, s, ss, gain), c, p in zip(sums, centers, starts, strict=True)
        ]

    def solve(self, summary: MixtureStatistics) -> Gaussians:
        """The M step; raises `SingularCovarianceError` if a covariance cannot be inverted."""
        return self.solve_moments(summary.moments)

    def solve_moments(self, moments: Moments) -> Gaussians:
        """The M step from moments alone."""
        parameters = solve(moments, self.kind, self.reg_covar, self.prior)
        try:
            cholesky(parameters.covariances, self.kind)
        except SingularCovarianceError as error:
            error.counts = moments.counts
            raise
        return parameters

    def _unfold(self, sums: FloatArray) -> Moments:
        count, first, second = e_step.unfold(sums, self.kind, len(self.center))
        second = self.scatter if second is None else second
        return about_mean(count, first, second, self.center, self.kind)

    def _common(self, parameters: Gaussians) -> float:
        """The quadratic term that tied components share, summed over the rows."""
        if self.kind != "tied":
            return 0.0
        precision = precisions(cholesky(parameters.covariances, "tied"), "tied")
        return -0.5 * scatter_trace(precision, self.scatter, "tied")

    def _complete(
        self, moments: Moments, gain: float, parameters: Gaussians, only_settled: bool = False
    ) -> MixtureStatistics:
        """Add what the settled rows and the prior contribute."""
        if self.settled is not None:
            gain += self.settled_constant
            gain += expected_log_density(self.settled, parameters, self.kind)
            if not only_settled:
                moments = merge(self.settled, moments, self.kind)
        penalty = 0.0 if self.prior is None else log_prior(parameters, self.prior, self.kind)
        return MixtureStatistics(moments, gain + penalty, gain)


def lost_digits(moments: Moments, center: FloatArray, kind: str) -> bool:
    """Whether means lie so far from the center that their scatters have lost digits."""
    present = moments.counts > 1e-6 * moments.counts.sum()
    counts, gap = moments.counts[present], (moments.mean - center)[present]
    if kind == "tied":
        covariance = moments.scatter / max(counts.sum(), 1e-300)
    else:
        covariance = moments.scatter[present] / across(counts, moments.scatter[present])
    if kind in ("full", "tied"):
        ridge = 1e-13 * np.trace(covariance, axis1=-2, axis2=-1)[..., None, None] + 1e-300
        safe = covariance + ridge * np.eye(gap.shape[1])
        far = np.abs((np.linalg.solve(safe, gap[:, :, None])[:, :, 0] * gap).sum(axis=1))
    else:
        covariance = covariance if kind == "diag" else covariance[:, None]
        far = (gap**2 / np.maximum(covariance, 1e-300)).sum(axis=1)
    return bool((far > e_step.TOO_FAR).any())
