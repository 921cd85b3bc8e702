r"""What E2M asks of a family of laws.

A family states its density, and the integrals and the M step are done by numbers; or it states its
E and M steps. Families of exponential type,

.. math:: \log f(x; \theta) = \eta(\theta) \cdot T(x) - A(\theta) + c(x),

state the moments of T, from which the observed information follows exactly (Louis, 1982):

.. math:: I(\theta) = \sum_i \Bigl[ \nabla^2 A - \sum_j E_i T_j \, \nabla^2 \eta_j
          - J_\eta' \, Cov_i(T) \, J_\eta \Bigr]

with expectations given what is known of row i.
"""

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from plausible.models.e2m.coordinates import BoundedChart, Params

FloatArray = NDArray[np.float64]
Total = Callable[..., Any]


class Curvature(NamedTuple):
    """Derivatives by the free parameters: of eta (q, p) and (q, p, p), and of A (p, p)."""

    slopes: FloatArray
    bends: FloatArray
    bend_of_constant: FloatArray


class Family(BaseEstimator):
    """A family of laws with a density; the base of one's own.

    A subclass states `bounds` and `log_density`, or `e_step` and `m_step` (see below), and may
    state `support`, `discrete` and `start`. What it states are numbers and arrays: no sums over
    rows, no integrals.

    Attributes
    ----------
    bounds : dict {name of a parameter: (low, high)}
        In the order of `params_`.
    support : (low, high)
        Where values may lie.
    discrete : bool
        Whether values are whole numbers.

    Notes
    -----
    In place of `log_density`, a family may have ``e_step(data, params)``, which returns the log
    likelihood (n,) of each row and its expected statistics (n, q), and ``m_step(statistics,
    params)``, which makes parameters of the weighted mean (q,) of these statistics. `data` is what
    `read` returns.

    Examples
    --------
    Waiting times with a shape of two:

    >>> from plausible.models import E2M, UncertainValues
    >>> class Erlang(Family):
    ...     bounds = {"rate": (0.0, np.inf)}
    ...     support = (0.0, np.inf)
    ...     def log_density(self, x, params):
    ...         rate = params["rate"]
    ...         return 2 * np.log(rate) + np.log(x) - rate * x
    >>> waits = UncertainValues.from_intervals([1.0, 2.0, 4.0], [2.0, 4.0, np.inf])
    >>> model = E2M(Erlang(), init={"rate": 1.0}).fit(waits)
    >>> round(model.params_["rate"], 3)
    0.556
    """

    bounds: ClassVar[dict[str, tuple[float, float]]] = {}
    support: ClassVar[tuple[float, float]] = (-np.inf, np.inf)
    discrete: ClassVar[bool] = False

    def log_density(self, x: FloatArray, params: Params) -> FloatArray:
        """Log of the density, or of the probability, of each of the values x (N,)."""
        raise NotImplementedError

    def start(self, x: FloatArray) -> Params:
        """Parameters to start from, of values (n,) that stand for the uncertain ones."""
        return {}


def sum_by_weight(logs: Any, weight: FloatArray) -> float:
    """Weighted sum of log likelihoods; rows without weight do not count."""
    found = float(weight @ np.where(weight > 0, logs, 0.0))
    return -np.inf if np.isnan(found) else found


def step_sums(
    family: Any, data: Any, weight: FloatArray, params: Params
) -> tuple[float, FloatArray]:
    """Sums of an E step over some rows; families of one's own state it row by row."""
    with np.errstate(all="ignore"):
        if isinstance(family, ExponentialFamily):
            return family.step_sums(data, weight, params)
        logs, statistics = family.e_step(data, params)
        return sum_by_weight(logs, weight), weight @ np.asarray(statistics)


class ExponentialFamily(Family):
    """A family of exponential type, by moments of its statistics."""

    def read(self, data: Any, weight: FloatArray) -> tuple[Any, FloatArray]:
        """Data as the family needs them, and the weight of each row; refuses others."""
        raise NotImplementedError

    def start_from(self, data: Any, weight: FloatArray) -> Params:
        """Parameters to start from, of data in memory."""
        return self.start_by(lambda function, *given: function(data, weight, *given))

    def start_by(self, total: Total) -> Params:
        """The same from sums over rows, wherever they lie.

        ``total(function, ...)`` adds up ``function(data, weight, ...)`` over chunks of rows. Data
        that cannot be learned from are refused.
        """
        raise NotImplementedError

    def e_step(self, data: Any, params: Params) -> tuple[FloatArray, FloatArray]:
        """Log likelihood (n,) of each row, and expectation (n, q) of its statistics."""
        raise NotImplementedError

    def step_sums(self, data: Any, weight: FloatArray, params: Params) -> tuple[float, FloatArray]:
        """Log likelihood of all rows, and the sum (q,) of their statistics, both by weight.

        Where rows need not be looked at one by one.
        """
        logs, statistics = self.e_step(data, params)
        return sum_by_weight(logs, weight), weight @ np.asarray(statistics)

    def m_step(self, statistics: FloatArray, params: Params) -> Params:
        """The parameters that fit the mean (q,) of the statistics."""
        raise NotImplementedError

    def covariances(self, data: Any, params: Params) -> FloatArray:
        """Covariances (n, q, q) of the statistics, given what is known of each row."""
        raise NotImplementedError

    def covariance_sum(self, data: Any, weight: FloatArray, params: Params) -> FloatArray:
        """Sum (q, q) of the covariances by weight; where they need not be made one by one."""
        return np.einsum("n,nqr->qr", weight, self.covariances(data, params))

    def curvature(self, params: Params) -> Curvature:
        """Derivatives of the natural parameters and of the constant."""
        raise NotImplementedError

    def chart(self, scale: float) -> Any:
        """Coordinates without constraints."""
        return BoundedChart(self.bounds, scale)

    def expand(self, params: Params) -> FloatArray:
        """How all entries (P, p) of the parameters move with the free ones."""
        return np.eye(len(self.bounds))


class Largest:
    """The largest of some numbers; what is added may be larger."""

    def __init__(self, numbers: Any) -> None:
        self.value = float(np.max(numbers, initial=-np.inf))

    def __add__(self, other: "Largest") -> "Largest":
        return Largest([self.value, other.value])


class InformationSums(NamedTuple):
    """Sums over rows: weights, expected statistics (q,), and their covariances (q, q)."""

    weight: float
    mean: FloatArray
    lost: FloatArray


def information_sums(
    family: ExponentialFamily, data: Any, weight: FloatArray, params: Params
) -> InformationSums:
    """What the observed information needs of some rows."""
    with np.errstate(all="ignore"):
        _, mean = family.step_sums(data, weight, params)
        lost = family.covariance_sum(data, weight, params)
        return InformationSums(float(weight.sum()), mean, lost)


def louis_information(
    family: ExponentialFamily, sums: InformationSums, params: Params
) -> FloatArray:
    """Observed information (p, p) of the free parameters."""
    with np.errstate(all="ignore"):
        slopes, bends, bend_of_constant = family.curvature(params)
        complete = sums.weight * bend_of_constant - np.einsum("q,qij->ij", sums.mean, bends)
        return np.asarray(complete - slopes.T @ sums.lost @ slopes)
