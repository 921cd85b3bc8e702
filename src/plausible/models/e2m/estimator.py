r"""Maximum likelihood from uncertain data of every kind: the evidential EM algorithm.

.. math:: \log L(\theta) = \sum_i \log E_\theta[pl_i(X_i)], \qquad
   Q(\theta, \theta^q) = \sum_i
   \frac{\int \log f(x; \theta) \, pl_i(x) \, f(x; \theta^q) \, dx}
        {\int pl_i(x) f(x; \theta^q) \, dx}

T. Denoeux, Classification and clustering (2015), Learning from uncertain data; the same, Maximum
likelihood estimation from uncertain data in the belief function framework, IEEE TKDE 25 (2013).
`pl_i` says how plausible each value is for row i: only its contour counts, up to a factor.
"""

from collections.abc import Mapping
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from plausible.base import WholeFit, are_elsewhere, check_weights
from plausible.checks import (
    as_list,
    check_flag,
    check_number,
    check_option,
    check_verbose,
    check_whole,
    random_from,
)
from plausible.engine import Callback, Result, maximize, reporter
from plausible.errors import InputError
from plausible.labels import Labels
from plausible.models.e2m.coordinates import (
    Params,
    check_init,
    entry_bounds,
    listed,
    shaped,
)
from plausible.models.e2m.family import ExponentialFamily
from plausible.models.e2m.information import covariance_of, resampled_limits, wald_limits
from plausible.models.e2m.problem import pose
from plausible.models.e2m.streams import pose_elsewhere
from plausible.models.e2m.values import UncertainValues

FloatArray = NDArray[np.float64]
Method = Literal["information", "bootstrap"]
Interval = tuple[Any, Any]

RESAMPLED_TOL = 1e-9  # estimates of resampled rows need fewer digits than they vary by


class E2M(WholeFit, BaseEstimator):
    """Estimate the parameters of a law from uncertain data.

    Parameters
    ----------
    family : Family
        `Bernoulli`, `Categorical`, `Poisson`, `Exponential`, `Normal`, or one's own: an object with
        a method ``log_density(x, params)``, or with ``e_step`` and ``m_step`` (see `Family`).
    init : dict, optional
        Parameters to start from; those that are left out start where the family says.
    tol : float
        Stop when a step gains less than this for each row.
    max_iter : int
    accelerate : bool
        Extrapolate where the steps are slow; the first steps are always plain.
    n_bootstrap : int
        Fits to resampled rows, for intervals that do without the observed information.
    random_state : int, RandomState or None
        Of the bootstrap.
    verbose : int
        1 reports about once a second, 2 every iteration.
    callback : function of Progress, optional
        Called after each iteration; a true answer stops the fit.

    Attributes
    ----------
    params_ : dict
        The estimate, by name.
    log_likelihood_ : float
        Of the data: the sum over rows of log E[pl_i(X)].
    history_ : array (n_iter_ + 1,)
        Log likelihood at the start and after each step, never falling.
    path_ : dict of arrays (n_iter_ + 1, ...)
        The parameters at the same moments.
    n_iter_ : int
    converged_ : bool
    information_ : array (p, p)
        Observed information of the free parameters: all, in the order of `params_`; of K
        probabilities, the first K - 1.
    covariance_ : array (P, P)
        Of all entries of the parameters, in the order of `params_`.
    standard_errors_ : dict
        Of each parameter, by name; NaN, with an `InformationWarning`, where the data do not say.
    bootstrap_ : dict of arrays (n_bootstrap, ...)
        Parameters of the fits to resampled rows.
    classes_ : array (K,)
        Of labels, in the order of probabilities.

    See Also
    --------
    UncertainGaussianMixture : classes of rows with uncertain features and labels.

    Examples
    --------
    A survey in which incomes are given as brackets, and some not at all:

    >>> income = UncertainValues.from_intervals([0, 1, 2, 2, 3, 5], [1, 2, 3, 3, 5, np.inf])
    >>> income = UncertainValues.concatenate([income, [2.4, 1.8], UncertainValues.missing(2)])
    >>> from plausible.models import Normal
    >>> model = E2M(Normal()).fit(income)
    >>> {name: round(value, 2) for name, value in model.params_.items()}
    {'mean': 2.59, 'variance': 2.17}
    >>> {name: round(value, 2) for name, value in model.standard_errors_.items()}
    {'mean': 0.54, 'variance': 1.25}
    >>> low, high = model.intervals(0.95)["mean"]
    >>> round(low, 2), round(high, 2)
    (1.54, 3.65)
    """

    def __init__(
        self,
        family: Any,
        init: Mapping[str, Any] | None = None,
        tol: float = 1e-12,
        max_iter: int = 10_000,
        *,
        accelerate: bool = True,
        n_bootstrap: int = 0,
        random_state: Any = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.family = family
        self.init = init
        self.tol = tol
        self.max_iter = max_iter
        self.accelerate = accelerate
        self.n_bootstrap = n_bootstrap
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def fit(
        self, X: Labels | UncertainValues | ArrayLike, y: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:  # fmt: skip
        """Estimate the parameters.

        Parameters
        ----------
        X : Labels, UncertainValues, or array-like (n,)
            What is known of each of n values. An array is precise, with NaN for missing numbers.
            Or rows (`plausible.engine.StreamRows`) whose first column it is, and whose third holds
            weights; or a Dask collection of numbers, labels, or ``UncertainValues.as_rows()``.
        y : ignored
        sample_weight : array-like (n,), optional

        Returns
        -------
        self
        """
        self._check_options()
        problem = self._pose(X, sample_weight)
        start = check_init(self.init, problem.start(), problem.bounds)
        _check_start(start, problem)
        path: list[Params] = []
        result = self._climb(problem, start, path)
        self._keep(result, problem, path)
        self._resample(problem)
        return self

    def _pose(self, X: Any, sample_weight: ArrayLike | None) -> Any:
        if are_elsewhere(X):
            return pose_elsewhere(self, X, sample_weight, pose)
        n_rows = _count_values(X)
        weight = np.array(check_weights(sample_weight, n_rows))
        if not weight.sum() > 0:
            raise InputError(
                "At least one row should have a positive sample weight",
                "all weights are zero" if n_rows else "there are no rows",
                "give data, and weights above zero to the rows that should count",
            )
        return pose(self.family, X, weight)

    def _climb(self, problem: Any, start: Params, path: list[Params] | None = None) -> Result:
        def summarize(starts: list[Params]) -> Any:
            if path is not None:
                path.append(starts[0])
            return problem.summarize(starts)

        return maximize(
            summarize,
            problem.solve,
            [start],
            n_rows=problem.total_weight,
            tol=self.tol if path is not None else max(self.tol, RESAMPLED_TOL),
            max_iter=self.max_iter,
            chart=problem.chart(start) if self.accelerate else None,
            callback=reporter(self.verbose, "E2M", self.callback) if path is not None else None,
            advice="The E and M steps of the family should be of one density: check both.",
        )

    def _keep(self, result: Result, problem: Any, path: list[Params]) -> None:
        """Store what was found, and how sure it is."""
        self.params_ = dict(result.parameters)
        self.log_likelihood_ = result.criterion
        self.history_, self.n_iter_ = result.history, result.n_iter
        self.converged_ = result.converged
        self.path_ = _kept_path(path, result)
        if problem.classes is not None:
            self.classes_ = problem.classes
        self.information_ = problem.information(self.params_)
        entries = listed(self.params_)
        self._limits = entry_bounds(self.params_, problem.bounds)
        is_exponential = isinstance(self.family, ExponentialFamily)
        expand = self.family.expand(self.params_) if is_exponential else np.eye(len(entries))
        self.covariance_ = covariance_of(self.information_, expand, entries, self._limits)
        errors = np.sqrt(np.diagonal(self.covariance_))
        self.standard_errors_ = shaped(errors, self.params_)

    def _resample(self, problem: Any) -> None:
        """Fits to resampled rows, each from the estimate."""
        random = random_from(self.random_state)
        if not self.n_bootstrap:
            return
        weight = problem.weight
        draws = []
        for _ in range(self.n_bootstrap):
            picked = random.multinomial(len(weight), np.full(len(weight), 1 / len(weight)))
            if not (picked * weight).sum() > 0:
                continue
            problem.weight = weight * picked
            draws.append(self._climb(problem, self.params_).parameters)
        problem.weight = weight
        if draws:
            self.bootstrap_ = {
                name: np.array([draw[name] for draw in draws]) for name in self.params_
            }

    def standard_errors(self, method: Method = "information") -> Params:
        """Standard errors of the parameters, by name.

        Parameters
        ----------
        method : {"information", "bootstrap"}
            From the observed information, or from resampled rows (needs `n_bootstrap`).
        """
        if self._by_bootstrap(method):
            return {name: spread_of(draws) for name, draws in self.bootstrap_.items()}
        return dict(self.standard_errors_)

    def intervals(self, level: float = 0.95, method: Method = "information") -> dict[str, Interval]:
        """Confidence intervals of the parameters, by name: pairs (low, high).

        Parameters
        ----------
        level : float in (0, 1)
        method : {"information", "bootstrap"}
            From the observed information: symmetric in the log of a positive parameter and in the
            log odds of a probability. Or from resampled rows (needs `n_bootstrap`): between
            quantiles of the estimates.
        """
        check_number(level, "level", 1e-6, 1 - 1e-6)
        if self._by_bootstrap(method):
            draws = np.array([
                listed({name: self.bootstrap_[name][b] for name in self.params_})
                for b in range(len(next(iter(self.bootstrap_.values()))))
            ])  # fmt: skip
            ends = resampled_limits(draws, level)
        else:
            errors = listed(self.standard_errors_)
            ends = wald_limits(listed(self.params_), errors, self._limits, level)
        low, high = (shaped(end, self.params_) for end in ends)
        return {name: (low[name], high[name]) for name in self.params_}

    def _by_bootstrap(self, method: Any) -> bool:
        check_is_fitted(self)
        check_option(method, ("information", "bootstrap"), "method")
        if method == "bootstrap" and not hasattr(self, "bootstrap_"):
            raise InputError(
                "method='bootstrap' needs fits to resampled rows",
                "there are none",
                "write E2M(..., n_bootstrap=200) and fit again",
                parameter="method",
                value=method,
            )
        return bool(method == "bootstrap")

    def score_samples(self, X: Labels | UncertainValues | ArrayLike) -> FloatArray:
        """Log likelihood (n,) of each row: log E[pl_i(X)] under the estimate."""
        check_is_fitted(self)
        return self._pose(X, None).log_likelihoods(self.params_)

    def score(self, X: Labels | UncertainValues | ArrayLike, y: Any = None) -> float:
        """Mean log likelihood of the rows."""
        return float(self.score_samples(X).mean())

    def _check_options(self) -> None:
        check_number(self.tol, "tol", 0.0)
        check_whole(self.max_iter, "max_iter", 1)
        check_flag(self.accelerate, "accelerate")
        check_whole(self.n_bootstrap, "n_bootstrap", 0)
        check_verbose(self.verbose)


def _count_values(X: Any) -> int:
    """Number of rows of data of any kind."""
    if isinstance(X, Labels | UncertainValues):
        return len(X)
    shape = getattr(X, "shape", None)
    if isinstance(shape, tuple) and shape:
        return int(shape[0])
    return len(as_list(X, "X", "values"))


def _check_start(start: Params, problem: Any) -> None:
    """Refuse a start at which nothing is known, or data are impossible."""
    if not start:
        raise InputError(
            "init should name the parameters of a family that does not say where to start",
            "none are given",
            "write E2M(family, init={'rate': 1.0}), or give the family a method start(x)",
            parameter="init",
        )
    if not np.isfinite(problem.summarize([start])[0].criterion):
        raise InputError(
            "The data should be possible at the start",
            f"their likelihood is zero or undefined at {start}",
            "start elsewhere, or check the data",
            parameter="init",
            value=start,
        )


def _kept_path(path: list[Params], result: Result) -> dict[str, FloatArray]:
    """The parameters behind each entry of the history, in which a step may not have been kept."""
    kept = list(path[: len(result.history)])
    for place in range(1, len(kept)):
        if result.history[place] <= result.history[place - 1]:
            kept[place] = kept[place - 1]
    return {name: np.array([params[name] for params in kept]) for name in kept[0]}


def spread_of(draws: FloatArray) -> Any:
    """Standard deviation over the first axis, as a number or an array."""
    spread = draws.std(axis=0, ddof=1) if len(draws) > 1 else np.full(draws.shape[1:], np.nan)
    return float(spread) if np.ndim(spread) == 0 else spread
