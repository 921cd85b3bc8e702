r"""Families of classes: Bernoulli and categorical.

.. math:: \log L(\theta) = \sum_i \log \sum_x pl_i(x) \, p(x; \theta)

For a Bernoulli variable the E step is :math:`\xi_i = \theta pl_i(1) / [(1 - \theta) pl_i(0) +
\theta pl_i(1)]` and the M step the mean of the :math:`\xi_i` (Denoeux 2015, Learning from uncertain
data).
"""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.checks import shown
from plausible.errors import InputError
from plausible.labels import Labels, as_labels
from plausible.models.e2m.coordinates import Params
from plausible.models.e2m.family import (
    Curvature,
    ExponentialFamily,
    Total,
    sum_by_weight,
)
from plausible.short_rows import row_sum

FloatArray = NDArray[np.float64]


class Contours(NamedTuple):
    """Plausibilities (n, K) of values, and the names of the classes."""

    table: FloatArray
    classes: NDArray[Any]


def read_labels(data: Any, weight: FloatArray, classes: Any = None) -> tuple[Contours, FloatArray]:
    """Plausibilities on sorted classes; rows that are probabilities become weighted hard ones."""
    labels = as_labels(data) if classes is None else as_labels(data, classes=classes)
    labels = labels.reorder(sorted(labels.classes.tolist()))
    if len(labels) != len(weight):
        raise InputError(
            "sample_weight should have one number for each label",
            f"there are {len(weight)} for {len(labels)}",
            "check their lengths",
            parameter="sample_weight",
        )
    return read_table(labels.contour, labels.classes, weight, labels.is_probability)


def read_table(
    table: FloatArray, classes: NDArray[Any], weight: FloatArray, shares: Any
) -> tuple[Contours, FloatArray]:
    """The same of a table, and of which rows of it are probabilities (None if none are)."""
    if shares is not None and shares.any():
        rows, columns = np.nonzero(table * shares[:, None] > 0)
        hard = np.eye(table.shape[1])[columns]
        p = table[rows, columns] / row_sum(table[rows])
        table = np.concatenate([table[~shares], hard])
        weight = np.concatenate([weight[~shares], weight[rows] * p])
    return Contours(table, classes), weight


def posterior(table: FloatArray, probabilities: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Log likelihood (n,) and probabilities (n, K) of the classes, given what is known."""
    joint = table * probabilities
    total = row_sum(joint)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log(total), joint / total[:, None]


def posterior_sums(
    table: FloatArray, probabilities: FloatArray, weight: FloatArray
) -> tuple[float, FloatArray]:
    """Log likelihood, and sum (K,) of the probabilities of the classes, without a table of them."""
    share = table @ probabilities
    with np.errstate(all="ignore"):
        sums = probabilities * ((weight / share) @ table)
        sums = sums / sums.sum() * weight.sum()  # which they are but for rounding
        if np.isfinite(sums).all():
            return sum_by_weight(np.log(share), weight), sums
        logs, p = posterior(table, probabilities)  # numbers may be too small to divide by
        return sum_by_weight(logs, weight), weight @ p


def _favored(data: Contours, weight: FloatArray) -> tuple[FloatArray, float]:
    """How far rows favor each class (K,), and their weight."""
    with np.errstate(all="ignore"):
        sums = (weight / row_sum(data.table)) @ data.table
        if not np.isfinite(sums).all():
            sums = weight @ (data.table / row_sum(data.table)[:, None])
    return sums, float(weight.sum())


class Categorical(ExponentialFamily):
    """One of K classes, with parameter ``probabilities`` (K,) in the order of sorted classes.

    Data are `Labels`, or all that `as_labels` takes.

    Examples
    --------
    >>> from plausible.labels import Labels
    >>> from plausible.models import E2M
    >>> seen = Labels.from_sets([{"a"}, {"b"}, {"c"}, {"a", "b"}, {"a", "c"}])
    >>> E2M(Categorical()).fit(seen).params_["probabilities"].round(3)
    array([0.447, 0.276, 0.276])
    """

    bounds: ClassVar[dict[str, tuple[float, float]]] = {"probabilities": (0.0, 1.0)}
    discrete: ClassVar[bool] = True

    def read(self, data: Any, weight: FloatArray) -> tuple[Any, FloatArray]:
        """Plausibilities of the classes."""
        return read_labels(data, weight)

    def in_order(self, contours: Contours) -> Contours:
        """As they are."""
        return contours

    def start_by(self, total: Total) -> Params:
        """How far the rows favor each class."""
        favored, weight = total(_favored)
        share = favored + 1e-3 * weight
        return {"probabilities": share / share.sum()}

    def log_density(self, x: FloatArray, params: Params) -> FloatArray:
        """Log probability of classes, by their number."""
        with np.errstate(divide="ignore"):
            return np.log(params["probabilities"])[np.asarray(x, dtype=np.int64)]

    def e_step(self, data: Contours, params: Params) -> tuple[FloatArray, FloatArray]:
        """Probabilities of the classes, given what is known."""
        return posterior(data.table, params["probabilities"])

    def step_sums(
        self, data: Contours, weight: FloatArray, params: Params
    ) -> tuple[float, FloatArray]:
        """Log likelihood, and sum of the probabilities of the classes."""
        return posterior_sums(data.table, params["probabilities"], weight)

    def m_step(self, statistics: FloatArray, params: Params) -> Params:
        """The mean probabilities."""
        return {"probabilities": statistics / statistics.sum()}

    def covariances(self, data: Contours, params: Params) -> FloatArray:
        """Of the indicators of the classes."""
        _, p = posterior(data.table, params["probabilities"])
        return np.einsum("nk,kl->nkl", p, np.eye(p.shape[1])) - p[:, :, None] * p[:, None, :]

    def covariance_sum(self, data: Contours, weight: FloatArray, params: Params) -> FloatArray:
        """Of the indicators: a diagonal, less a matrix product."""
        p = data.table * params["probabilities"]
        p /= row_sum(p)[:, None]
        sums = weight @ p
        p *= np.sqrt(weight)[:, None]
        return np.diag(sums) - p.T @ p

    def curvature(self, params: Params) -> Curvature:
        """By the first K - 1 probabilities; the last is one less their sum."""
        p, expand = params["probabilities"], self.expand(params)
        with np.errstate(divide="ignore", invalid="ignore"):
            slopes = expand / p[:, None]
        bends = -slopes[:, :, None] * slopes[:, None, :]
        return Curvature(slopes, bends, np.zeros((len(p) - 1,) * 2))

    def expand(self, params: Params) -> FloatArray:
        """The last probability falls as the others rise."""
        n_classes = len(params["probabilities"])
        return np.concatenate([np.eye(n_classes - 1), -np.ones((1, n_classes - 1))])

    def chart(self, scale: float) -> Any:
        """Log probabilities."""
        return SimplexChart()


class SimplexChart:
    """Coordinates of probabilities that sum to one."""

    def flatten(self, params: Params) -> FloatArray:
        """Their logs."""
        return np.log(np.maximum(params["probabilities"], 1e-300))

    def restore(self, vector: FloatArray, like: Params) -> Params:
        """Probabilities with these logs up to a constant."""
        share = np.exp(vector - vector.max())
        return {"probabilities": share / share.sum()}


class Bernoulli(ExponentialFamily):
    """One of two classes, with parameter ``theta``, the probability of the second.

    Data are `Labels` of two classes, or all that `as_labels` takes; the second class is the last of
    them in sorted order (1, True, "yes"), or that which `success` names.

    Parameters
    ----------
    success : optional
        The class of which theta is the probability.

    Examples
    --------
    The table of Denoeux's slide: three sure ones, two sure zeros, and one patient of whom nothing
    is known (alpha = 0.5); likelihoods in units of 1e-3.

    >>> from plausible.labels import Labels
    >>> from plausible.models import E2M
    >>> pl = [[0, 1], [0, 1], [0, 1], [1, 0], [1, 0], [0.5, 0.5]]
    >>> patients = Labels.from_plausibility(pl, classes=[0, 1])
    >>> model = E2M(Bernoulli(), init={"theta": 0.3}).fit(patients)
    >>> for q in range(6):
    ...     print(f"{q} {model.path_['theta'][q]:.4f} {1000 * np.exp(model.history_[q]):7.4f}")
    0 0.3000  6.6150
    1 0.5500 16.8455
    2 0.5917 17.2676
    3 0.5986 17.2797
    4 0.5998 17.2800
    5 0.6000 17.2800
    """

    bounds: ClassVar[dict[str, tuple[float, float]]] = {"theta": (0.0, 1.0)}
    discrete: ClassVar[bool] = True

    def __init__(self, success: Any = None) -> None:
        self.success = success

    def read(self, data: Any, weight: FloatArray) -> tuple[Any, FloatArray]:
        """Plausibilities of failure and success."""
        contours, weight = read_labels(data, weight, _binary_classes(data))
        return self.in_order(contours), weight

    def in_order(self, contours: Contours) -> Contours:
        """Failure first, then success."""
        names = contours.classes.tolist()
        if len(names) != 2:
            raise InputError(
                "Bernoulli data should have two classes",
                f"they have {len(names)}: {shown(names)}",
                "name both with Labels.from_crisp(y, classes=[0, 1]), or use Categorical",
            )
        if self.success is None:
            return contours
        if self.success not in names:
            raise InputError(
                f"success should be one of the classes {names}",
                f"{shown(self.success)} was given",
                parameter="success",
                value=self.success,
            )
        order = [1 - names.index(self.success), names.index(self.success)]
        return Contours(contours.table[:, order], contours.classes[order])

    def start_by(self, total: Total) -> Params:
        """How far the rows favor the second class."""
        favored, weight = total(_favored)
        return {"theta": 0.001 + 0.998 * float(favored[1] / weight)}

    def log_density(self, x: FloatArray, params: Params) -> FloatArray:
        """Log probability of 0 and 1."""
        theta = params["theta"]
        with np.errstate(divide="ignore"):
            return np.where(np.asarray(x) > 0, np.log(theta), np.log1p(-theta))

    def e_step(self, data: Contours, params: Params) -> tuple[FloatArray, FloatArray]:
        """Probability of the second class, given what is known."""
        theta = params["theta"]
        logs, p = posterior(data.table, np.array([1 - theta, theta]))
        return logs, p[:, 1:]

    def step_sums(
        self, data: Contours, weight: FloatArray, params: Params
    ) -> tuple[float, FloatArray]:
        """Log likelihood, and sum of the probability of the second class."""
        theta = params["theta"]
        value, sums = posterior_sums(data.table, np.array([1 - theta, theta]), weight)
        return value, sums[1:]

    def m_step(self, statistics: FloatArray, params: Params) -> Params:
        """The mean probability."""
        return {"theta": float(statistics[0])}

    def covariances(self, data: Contours, params: Params) -> FloatArray:
        """Of the indicator of the second class."""
        _, xi = self.e_step(data, params)
        return (xi * (1 - xi))[:, :, None]

    def curvature(self, params: Params) -> Curvature:
        """Of the log odds."""
        theta = params["theta"]
        with np.errstate(divide="ignore"):
            slope = np.float64(1) / (theta * (1 - theta))
            constant = np.float64(1) / (1 - theta) ** 2
        bend = (2 * theta - 1) * slope**2
        return Curvature(
            np.full((1, 1), slope), np.full((1, 1, 1), bend), np.full((1, 1), constant)
        )


def _binary_classes(data: Any) -> list[int] | None:
    """Both classes of an array of zeros and ones, of which one may not occur."""
    if isinstance(data, Labels) or hasattr(data, "columns"):
        return None
    try:
        array = np.asarray(data)
    except ValueError:
        return None
    is_flat = array.ndim == 1 and array.dtype.kind in "biuf" and len(array) > 0
    return [0, 1] if is_flat and bool(np.isin(array, (0, 1)).all()) else None
