r"""The criterion (1.9) of a Gaussian mixture under soft labels, and its EM map.

.. math:: L(\theta) = \sum_i w_i \log \sum_k pl_{ik} \pi_k f_k(x_i)

with :math:`pl_{ik}` the plausibility of the class that owns component k. A row with one plausible
component has responsibility one for ever: it is *settled*, its moments are computed once, and its
share of the criterion is linear in them. So is a row whose label is a probability, see `shares`.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.engine import Rows, length
from plausible.models.gaussian import class_sums, e_step
from plausible.models.gaussian.census import RowCensus, candidate_codes
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


class MixtureStatistics(NamedTuple):
    """Moments for the M step, and the criterion at the parameters they were taken with."""

    moments: Moments
    criterion: float
    log_likelihood: float


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
        self._scatter: FloatArray | None = None
        first = rows.peek()
        self.labeled = first[1] is not None
        if self.labeled:
            codes = partial(candidate_codes, single=single)
            if self.census.n_settled:
                self._settle(rows.arrange(partial(codes, settled=True)), single)
            alike = self.fast and not self._sorting_pays()
            if self.census.n_settled or first[2] is not None or not alike:
                self.rows = rows.arrange(partial(codes, settled=False, alike=alike))
        if self.fast and kind != "full" and self.n_open:
            self.rows = _in_longer_chunks(self.rows, self.n_open)

    def _sorting_pays(self) -> bool:
        """Whether rows with the same candidates should lie together."""
        _, _, support, weight, *_ = self.census
        shares = support / weight  # of the rows, by how many of which each class is plausible
        spared = len(self.owner) - float(shares[self.owner].sum())
        return e_step.sorting_pays(self.kind, len(self.center), len(support), spared)

    @property
    def scatter(self) -> FloatArray:
        """Total scatter (d, d) of the rows that are not settled, about the center."""
        if self._scatter is None:
            self._scatter = self.rows.reduce(e_step.scatter_pass, self.center)
        return self._scatter

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
        if kind == "tied":
            count, first, second, constant, scatter = rows.reduce(
                sum_over_shares, class_sums.pooled_pass, self.center
            )
            self._scatter = scatter if rows is self.rows else self._scatter
            rough = kind
        else:
            rough = kind if e_step.n_features_of_map(kind, d) <= e_step.WIDE else "diag"
            sums, constant = rows.reduce(
                sum_over_shares, class_sums.given_pass, self.center, rough, self.fast
            )
            count, first, second = e_step.unfold(sums, rough, d)
        assert second is not None
        moments = about_mean(count, first, second, self.center, rough)
        if rough != kind or lost_digits(moments, self.center, kind):
            count, first, second = rows.reduce(
                sum_over_shares, class_sums.favor_pass, moments.mean, kind
            )
            moments = about_mean(count, first, second, moments.mean, kind)
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


def _in_longer_chunks(rows: Rows, n_rows: int) -> Rows:
    """The rows in chunks up to four times as long, while enough are left for some threads.

    What Python does for a chunk is a tenth of what short feature maps take.
    """
    n_chunks = n_rows // max(length(rows.peek()), 1)
    return rows.coarser(int(np.clip(n_chunks // 8, 1, 4)))


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
