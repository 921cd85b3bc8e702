r"""Linear and quadratic discriminant analysis under soft labels.

.. math:: L(\theta) = \sum_i \log \sum_k pl_{ik} \, \pi_k \, N(x_i; \mu_k, \Sigma)

the partially supervised linear discriminant analysis of Denoeux, Classification and clustering
using belief functions, 2015 (where the plausibilities must stand inside the logarithm). With hard
labels the estimates are those of scikit-learn's `LinearDiscriminantAnalysis`, or of its quadratic
form with one covariance for each class.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import solve_triangular
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from plausible.checks import check_flag, check_number, check_option, is_whole, shown
from plausible.engine import Callback, Columns
from plausible.errors import InputError
from plausible.models.gaussian.e_step import as_float64, favor_by_class
from plausible.models.gaussian.estimator import GaussianClassifier
from plausible.models.gaussian.parameters import FloatArray, Moments, Prior, cholesky
from plausible.models.gaussian.shares import sum_over_shares
from plausible.models.gaussian.soft_mixture import SoftMixture


class DiscriminantClassifier(ClassNamePrefixFeaturesOutMixin, TransformerMixin, GaussianClassifier):
    """Partially supervised linear (or quadratic) discriminant analysis.

    Parameters
    ----------
    shared_covariance : bool
        One covariance for all classes (linear borders), or one for each (quadratic ones).
    shrinkage : None, float in [0, 1] or "auto"
        How far covariances are drawn to a simpler form, for few items or many features. A number
        draws them to their mean variance, as in scikit-learn; "auto" draws them to their variances
        without correlations, as far as the formula of Ledoit and Wolf says. Both are fixed by the
        rows that favor each class, and act as a prior worth shrinkage / (1 - shrinkage) items for
        each item.
    n_components : int, optional
        Number of axes of `transform`, at most and by default min(K - 1, d).
    init, n_init, tol, max_iter, reg_covar, accelerate, random_state, verbose
        See `GaussianMixtureClassifier`; next to no variance is added by default.
    store_responsibilities, unlabeled_weight, callback, checkpoint
        See `GaussianMixtureClassifier`.

    Attributes
    ----------
    classes_ : array (K,)
    weights_, means_ : arrays (K,), (K, d)
    covariances_ : array (d, d) if shared, else (K, d, d)
    coef_, intercept_ : arrays (K, d), (K,), or (1, d), (1,) for two classes
        Of the linear decision function, if the covariance is shared.
    xbar_ : array (d,)
        Overall mean.
    scalings_ : array (d, n_components)
        Axes on which classes differ most, scaled to unit variance within classes.
    explained_variance_ratio_ : array (n_components,)
    log_likelihood_, history_, n_iter_, converged_, unlabeled_weight_
        See `GaussianMixtureClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from plausible.labels import Labels
    >>> X, y = load_iris(return_X_y=True)
    >>> doubtful = Labels.from_doubt(y, doubt=0.2)
    >>> model = DiscriminantClassifier().fit(X, doubtful)
    >>> round(float((model.predict(X) == y).mean()), 2)
    0.98
    >>> model.transform(X).shape
    (150, 2)
    """

    def __init__(
        self,
        shared_covariance: bool = True,
        shrinkage: float | Literal["auto"] | None = None,
        n_components: int | None = None,
        init: str | Mapping[str, Any] = "labels",
        n_init: int = 1,
        tol: float = 1e-6,
        max_iter: int = 1000,
        reg_covar: float = 5e-9,
        accelerate: bool = True,
        random_state: Any = None,
        verbose: int = 0,
        *,
        store_responsibilities: bool = False,
        unlabeled_weight: float | str = "auto",
        callback: Callback | None = None,
        checkpoint: str | Path | None = None,
    ) -> None:
        self.shared_covariance = shared_covariance
        self.shrinkage = shrinkage
        self.n_components = n_components
        self.init = init
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.reg_covar = reg_covar
        self.accelerate = accelerate
        self.random_state = random_state
        self.verbose = verbose
        self.store_responsibilities = store_responsibilities
        self.unlabeled_weight = unlabeled_weight
        self.callback = callback
        self.checkpoint = checkpoint

    @property
    def _kind(self) -> str:
        return "tied" if self.shared_covariance else "full"

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Estimate the classes; see `GaussianMixtureClassifier.fit`."""
        check_flag(self.shared_covariance, "shared_covariance")
        super().fit(X, y, sample_weight)
        weights, means, covariances = self._parameters
        self.xbar_ = weights @ means
        within = covariances if self.shared_covariance else np.tensordot(weights, covariances, 1)
        self._find_axes(within, means - self.xbar_, weights)
        if self.shared_covariance:
            self._find_borders(within)
        return self

    def _find_axes(self, within: FloatArray, gaps: FloatArray, weights: FloatArray) -> None:
        """Directions that maximize the variance between classes relative to that within."""
        most = max(min(len(weights) - 1, len(within)), 0)
        wanted = most if self.n_components is None else self.n_components
        if not is_whole(wanted) or not 0 <= wanted <= most:
            raise InputError(
                f"n_components should be a whole number from 0 to {most} for {len(weights)} "
                f"{'class' if len(weights) == 1 else 'classes'} and {len(within)} features",
                f"{shown(wanted)} was given",
                parameter="n_components",
                value=wanted,
            )
        # In coordinates in which `within` is the identity; there are at most as many axes as gaps.
        factor = cholesky(within, "tied")
        white = solve_triangular(factor, (gaps * np.sqrt(weights)[:, None]).T, lower=True)
        turned, roots, _ = np.linalg.svd(white, full_matrices=False)
        values = roots[:most] ** 2
        axes = solve_triangular(factor, turned[:, :wanted], lower=True, trans="T")
        largest = np.take_along_axis(axes, np.abs(axes).argmax(axis=0)[None], axis=0)
        self.scalings_ = axes * np.sign(largest)  # an axis has no sign of its own
        self.explained_variance_ratio_ = (values / max(values.sum(), 1e-300))[:wanted]
        self._n_features_out = wanted

    def _find_borders(self, within: FloatArray) -> None:
        """Coefficients of the log of weight times density, without what classes share."""
        coef = np.full(self.means_.shape, np.nan)
        coef[self._present] = np.linalg.solve(within, self._parameters.means.T).T
        with np.errstate(divide="ignore"):
            intercept = np.log(self.weights_) - 0.5 * (coef * self.means_).sum(axis=1)
        if len(self.classes_) == 2:
            coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
        self.coef_, self.intercept_ = coef, intercept

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """Log of weight times density (n, K); for two classes the log odds (n,) of the second.

        With a shared covariance, what all classes have in common is left out: it is linear in X.
        """
        data: FloatArray = self._read(X)
        evidence = self._log_evidence(data)
        if len(self.classes_) == 2:
            return evidence[:, 1] - evidence[:, 0]
        if not self.shared_covariance:
            return evidence
        return np.where(self._present, data @ self.coef_.T + self.intercept_, -np.inf)

    def transform(self, X: ArrayLike) -> FloatArray:
        """Coordinates (n, n_components) on the discriminant axes."""
        return (self._read(X) - self.xbar_) @ self.scalings_

    @property
    def _has_prior(self) -> bool:
        return bool(self.shrinkage)

    def _make_prior(self, problem: SoftMixture) -> Prior | None:
        if self.shrinkage is None or self.shrinkage == 0 or not problem.labeled:
            return None
        return _shrinkage_prior(problem, self.shrinkage)

    def _check_options(self) -> None:
        super()._check_options()
        if isinstance(self.shrinkage, str):
            check_option(self.shrinkage, ("auto",), "shrinkage")
        elif self.shrinkage is not None:
            check_number(self.shrinkage, "shrinkage", 0.0, 1.0)


def _shrinkage_prior(problem: SoftMixture, shrinkage: float | str) -> Prior | None:
    """A prior whose covariances are (1 - shrinkage) estimate + shrinkage target."""
    moments = problem.class_moments()
    if not moments.counts.any():
        return None
    tied = problem.kind == "tied"
    counts = moments.counts if tied else moments.counts[problem.owner]
    scatter = moments.scatter[None] if tied else moments.scatter[problem.owner]
    items = np.array([counts.sum()]) if tied else counts
    covariance = scatter / np.maximum(items, 1e-300)[:, None, None]
    variances = np.diagonal(covariance, axis1=1, axis2=2)
    d = variances.shape[1]
    if shrinkage == "auto":
        parts = ledoit_wolf(problem, moments, covariance, variances)
        target = variances[:, :, None] * np.eye(d)
    else:
        parts = np.full(len(covariance), float(shrinkage))
        target = variances.mean(axis=1)[:, None, None] * np.eye(d)
    parts = np.minimum(parts, 1 - 1e-6)  # the prior must not drown the criterion
    strength = items * (problem.census.weight / items.sum()) * parts / (1 - parts)
    scale = strength[:, None, None] * target
    if tied:
        strength, scale = strength[0], scale[0]
    return Prior(1.0, problem.center, 0.0, np.asarray(strength), scale)


def ledoit_wolf(
    problem: SoftMixture, moments: Moments, covariance: FloatArray, variances: FloatArray
) -> FloatArray:
    """Best shrinkage of standardized covariances, one for each (Ledoit and Wolf 2004)."""
    positive = np.maximum(variances, 1e-300)
    n_classes = len(moments.counts)
    by_class = np.broadcast_to(positive, (n_classes, positive.shape[1])).copy()
    if len(positive) > 1:
        by_class[problem.owner] = positive
    fourth = problem.all_rows.reduce(sum_over_shares, _fourth_pass, moments.mean, by_class)
    d = positive.shape[1]
    tied = len(covariance) == 1
    items = np.array([moments.counts.sum()]) if tied else moments.counts[problem.owner]
    fourth = np.array([fourth.sum()]) if tied else fourth[problem.owner]
    root = np.sqrt(positive)
    correlation = covariance / (root[:, :, None] * root[:, None, :])
    squares = (correlation**2).sum(axis=(1, 2))
    items = np.maximum(items, 1e-300)
    noise = (fourth / items - squares) / (d * items)
    spread = squares / d - np.trace(correlation, axis1=1, axis2=2) ** 2 / d**2
    return np.clip(noise / np.maximum(spread, 1e-300), 0.0, 1.0)


def _fourth_pass(columns: Columns, means: FloatArray, variances: FloatArray) -> FloatArray:
    """Sums, by the class that rows favor, of their fourth powers of standardized distance."""
    X, plausibility, weight = as_float64(columns)
    assert plausibility is not None
    favor = favor_by_class(plausibility)
    if weight is not None:
        favor *= weight[:, None]
    sums: NDArray[np.float64] = np.empty(len(means))
    for k, (mean, variance) in enumerate(zip(means, variances, strict=True)):
        sums[k] = favor[:, k] @ ((X - mean) ** 2 / variance).sum(axis=1) ** 2
    return sums
