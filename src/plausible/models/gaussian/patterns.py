r"""Missing features, integrated out: rows in groups of one pattern.

.. math:: L(\theta) = \sum_i w_i \log \sum_k pl_{ik} \, \pi_k \, N(x_{iO}; \mu_{kO}, \Sigma_{kOO})

with O the features that are there in row i. Given these, the others are normal,

.. math:: E[x - \mu \mid x_O] = A (x_O - \mu_O), \quad A = \Sigma_{\cdot O} \Sigma_{OO}^{-1},
   \qquad Cov[x \mid x_O] = C = \Sigma - A \Sigma_{O \cdot}

so that the moments of all features follow from those of the features that are there, by one small
product for each pattern and component: a group costs no more than complete rows of fewer features.
Patterns of few rows go together, row by row, through `scattered`.

R. J. A. Little, D. B. Rubin, Statistical analysis with missing data.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from plausible.engine import ArrayRows, Columns, Rows, take
from plausible.errors import InputError
from plausible.models.gaussian.census import RowCensus, take_census
from plausible.models.gaussian.e_step import log_joint, log_weights, respond
from plausible.models.gaussian.parameters import FloatArray, Gaussians, Moments, log_prior, merge
from plausible.models.gaussian.scattered import ScatteredPart
from plausible.models.gaussian.shares import split_shares
from plausible.models.gaussian.soft_mixture import MixtureStatistics, SoftMixture

FEW_ROWS = 32  # of one pattern, below which a group is more trouble than its rows
BoolArray = NDArray[np.bool_]


class Group(NamedTuple):
    """Rows with one pattern, and which features they have."""

    rows: NDArray[np.int64]
    seen: BoolArray


class Part(Protocol):
    """Some rows of an EM problem."""

    def summarize(self, parameters: Gaussians) -> tuple[Moments, float]:
        """Expected moments of all features, and the log likelihood."""


def _group_by_pattern(seen: BoolArray) -> list[Group]:
    """Groups of rows of a table (n, d) of which features they have."""
    n_rows, d = seen.shape
    if not n_rows:
        return []
    if d <= 62:
        codes: Any = seen @ (np.int64(1) << np.arange(d))
    else:
        codes = np.ascontiguousarray(np.packbits(seen, axis=1))
        codes = codes.view(np.dtype((np.void, codes.shape[1]))).ravel()
    _, first, which = np.unique(codes, return_index=True, return_inverse=True)
    order = np.argsort(which, kind="stable")
    ends = np.cumsum(np.bincount(which))
    return [
        Group(order[start:end], seen[row])
        for start, end, row in zip([0, *ends[:-1]], ends, first, strict=True)
    ]


def _marginal(parameters: Gaussians, seen: BoolArray, kind: str) -> Gaussians:
    """The law of the features that are there."""
    weights, means, covariances = parameters
    if kind in ("full", "tied"):
        covariances = covariances[..., seen, :][..., :, seen]
    elif kind == "diag":
        covariances = covariances[:, seen]
    return Gaussians(weights, means[:, seen], covariances)


def lifted(moments: Moments, parameters: Gaussians, seen: BoolArray, kind: str) -> Moments:
    """Expected moments of all features, from those of the features that are there."""
    counts, mean, scatter = moments
    _, means, covariances = parameters
    gone, full_mean = ~seen, means.copy()
    if kind in ("diag", "spherical"):
        full_mean[:, seen] = mean
        if kind == "spherical":
            return Moments(counts, full_mean, scatter + counts * gone.sum() * covariances)
        whole = counts[:, None] * covariances
        whole[:, seen] = scatter
        return Moments(counts, full_mean, whole)
    across = covariances[..., :, seen]
    map_up = np.swapaxes(
        np.linalg.solve(covariances[..., seen, :][..., :, seen], np.swapaxes(across, -1, -2)),
        -1,
        -2,
    )
    rest = covariances - map_up @ np.swapaxes(across, -1, -2)
    rest[..., seen, :] = rest[..., :, seen] = 0.0
    full_mean += np.einsum("...ij,...j->...i", map_up, mean - means[:, seen])
    full_mean[:, seen] = mean
    total = counts.sum() if kind == "tied" else counts[:, None, None]
    return Moments(counts, full_mean, map_up @ scatter @ np.swapaxes(map_up, -1, -2) + total * rest)


class PatternPart:
    """Rows of one pattern, as a mixture of the features that they have."""

    def __init__(self, columns: Columns, seen: BoolArray, kind: str, owner: Any) -> None:
        self.seen, self.kind = seen, kind
        assert columns[0] is not None
        here: Any = columns[0] if seen.all() else np.ascontiguousarray(columns[0][:, seen])
        rows = ArrayRows(here, *columns[1:])
        single = np.bincount(owner) == 1
        n_classes = len(single) if columns[1] is None else np.shape(columns[1])[1]
        single = np.concatenate([single, np.zeros(n_classes - len(single), dtype=bool)])
        self.problem = SoftMixture(rows, take_census(rows, single), kind, owner)

    def summarize(self, parameters: Gaussians) -> tuple[Moments, float]:
        """Expected moments of all features, and the log likelihood."""
        (found,) = self.problem.summarize([_marginal(parameters, self.seen, self.kind)])
        if self.seen.all():
            return found.moments, found.criterion
        return lifted(found.moments, parameters, self.seen, self.kind), found.criterion


class FeaturelessPart:
    """Rows without any feature: what labels say of them counts for the weights of the classes."""

    def __init__(self, columns: Columns, kind: str, owner: NDArray[np.int64]) -> None:
        self.parts = [part for part in split_shares(columns) if len(np.asarray(part[0]))]
        self.kind, self.owner = kind, owner

    def summarize(self, parameters: Gaussians) -> tuple[Moments, float]:
        """Expected moments of all features, and the log likelihood."""
        weights, means, covariances = parameters
        counts, criterion = np.zeros(len(weights)), 0.0
        for X, table, weight in self.parts:
            scores = np.repeat(log_weights(weights)[:, None], len(np.asarray(X)), axis=1)
            responsibility, gain = respond(scores, table, weight, self.owner)
            counts, criterion = counts + responsibility.sum(axis=1), criterion + gain
        if self.kind == "tied":
            scatter = counts.sum() * covariances
        else:
            scatter = counts.reshape(-1, *(1,) * (covariances.ndim - 1)) * covariances
            scatter = scatter * means.shape[1] if self.kind == "spherical" else scatter
        return Moments(counts, means.copy(), scatter), criterion


class PatternMixture(SoftMixture):
    """The EM problem of rows in parts, of which some lack features.

    Starts are made from rows in which these are filled in, and nothing else is.

    Parameters
    ----------
    filled : Rows
        With a number for every feature, for the start.
    parts : list of Part
    """

    def __init__(
        self,
        filled: Rows,
        census: RowCensus,
        kind: str,
        owner: NDArray[np.int64],
        reg_covar: float,
        parts: list[Part],
    ) -> None:
        super().__init__(filled, census, kind, owner, reg_covar)
        self.parts = parts

    def summarize(self, starts: list[Gaussians]) -> list[MixtureStatistics]:
        """Moments and criterion for each set of parameters."""
        return [self._sum_of_parts(parameters) for parameters in starts]

    def _sum_of_parts(self, parameters: Gaussians) -> MixtureStatistics:
        found = [part.summarize(parameters) for part in self.parts]
        moments, gain = found[0]
        for more, further in found[1:]:
            moments, gain = merge(moments, more, self.kind), gain + further
        penalty = 0.0 if self.prior is None else log_prior(parameters, self.prior, self.kind)
        return MixtureStatistics(moments, gain + penalty, gain)


def parts_of(columns: Columns, kind: str, owner: NDArray[np.int64]) -> list[Part]:
    """Parts of rows whose missing features are NaN."""
    assert columns[0] is not None
    counted = np.arange(len(np.asarray(columns[0])))
    if columns[2] is not None:
        counted = counted[np.asarray(columns[2]) > 0]
    groups = _group_by_pattern(~np.isnan(np.asarray(columns[0])[counted]))
    parts: list[Part] = []
    few = []
    for group in groups:
        rows = counted[group.rows]
        if not group.seen.any():
            parts.append(FeaturelessPart(take(columns, rows), kind, owner))
        elif len(rows) < FEW_ROWS and len(groups) > 1:
            few.append(rows)
        else:
            parts.append(PatternPart(take(columns, rows), group.seen, kind, owner))
    if few:
        rows = np.sort(np.concatenate(few))
        parts.append(ScatteredPart.of_missing(take(columns, rows), kind, owner))
    return parts


def filled_rows(rows: ArrayRows) -> ArrayRows:
    """The same rows with the mean of a feature in the place of one that is missing."""
    X, *rest = rows.columns
    data = np.asarray(X, dtype=np.float64)
    gone = np.isnan(data)
    never = gone.all(axis=0)
    if never.any():
        raise InputError(
            "Every feature should be known of some row",
            f"column {int(np.argmax(never))} is missing in all {len(data)}",
            "leave it out",
            parameter="X",
        )
    counts = (~gone).sum(axis=0)
    mean = np.where(gone, 0.0, data).sum(axis=0) / counts
    return ArrayRows(np.where(gone, mean, data), *rest)


def log_joint_of_seen(
    X: FloatArray, parameters: Gaussians, kind: str, up_to_constant: bool = False
) -> FloatArray:
    """`log_joint` (n, M) of the features that are there; NaN for those that are not."""
    seen = ~np.isnan(X)
    if seen.all():
        return log_joint(X, parameters, kind, up_to_constant)
    found = np.empty((len(X), len(parameters.weights)))
    for rows, here in _group_by_pattern(seen):
        if here.any():
            part = np.ascontiguousarray(X[np.ix_(rows, np.flatnonzero(here))])
            law = _marginal(parameters, here, kind)
            found[rows] = log_joint(part, law, kind, up_to_constant)
        else:
            found[rows] = log_weights(parameters.weights)
    return found
