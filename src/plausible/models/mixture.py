r"""Gaussian mixtures under soft labels: a class, or part of a class, for each component.

.. math:: L(\theta) = \sum_i \log \sum_k pl_{ik} \, \pi_k \, N(x_i; \mu_k, \Sigma_k)

(1.9) of Côme, Oukhellou, Denoeux and Aknin, Mixture model estimation with soft labels, 2008. With
hard labels the maximum is that of quadratic (or, tied, linear) discriminant analysis; with labels
that say nothing it is that of a Gaussian mixture; all that lies between is allowed. A label that is
a probability acts as a likelihood, not as a posterior: the class weights multiply it.
"""

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from plausible.belief.errors import check_number, check_option
from plausible.engine import Result, maximise
from plausible.engine.loop import Callback
from plausible.engine.reporting import reporter
from plausible.models.answers import GenerativeClassifier
from plausible.models.expectation import SoftMixture, take_census
from plausible.models.fitting import Training, gather
from plausible.models.gaussian import (
    KINDS,
    Chart,
    FloatArray,
    Gaussians,
    SingularCovarianceError,
    cholesky,
    n_parameters,
)
from plausible.models.passes import log_joint
from plausible.models.priors import make_prior
from plausible.models.starts import make_starts

NOVELTY_DRAWS = 20_000


class EmptyClassWarning(UserWarning):
    """A class has no items, or a component has lost its items."""


class SmallClassWarning(UserWarning):
    """A class has fewer items than its covariance needs."""


class GaussianMixtureClassifier(GenerativeClassifier):
    """Gaussian mixture learnt from features and labels of any kind.

    Parameters
    ----------
    covariance : {"full", "tied", "diag", "spherical"}
        Shape of the covariances, as in scikit-learn's `GaussianMixture`.
    n_components : int or sequence of int
        Components for each class; one number for all classes or one for each, in sorted order.
    init : {"labels", "kmeans", "random"} or dict
        "labels" starts component k at the rows that favour class k (k-means where labels say
        nothing); "kmeans" gives clusters to the classes that they agree with; "random" starts at
        random rows. A dict gives `means`, and if known `weights` and `covariances`, components of
        the first class first.
    n_init : int
        Number of starts; the best result is kept. Starts after the first are random.
    tol : float
        Stop when an EM step gains less than this for each row.
    max_iter : int
    reg_covar : float
        Added to the variances.
    accelerate : bool
        Extrapolate where EM is slow (SQUAREM): the same maximum in fewer passes.
    random_state : int, RandomState or None
    verbose : int
        1 reports about once a second, 2 every iteration.
    prior : None, "weak" or dict
        Conjugate prior for small classes or more features than items: "weak" is that of Fraley and
        Raftery (2007); see `models.priors.make_prior` for the entries of a dict.
    n_classes : int, optional
        Number of classes of a clustering, fitted with y=None.
    store_responsibilities : bool
        Whether to keep `responsibilities_`.
    callback : function of Progress, optional
        Called after each iteration; a true answer stops the fit.
    checkpoint : path, optional
        File in which a long fit keeps its state, and from which it goes on after an interruption.

    Attributes
    ----------
    classes_ : array (K,)
    component_classes_ : array (M,)
        Class of each component.
    weights_, means_, covariances_ : arrays
        Of the components, shaped as in scikit-learn's `GaussianMixture`; the weight is zero and the
        rest NaN for a class that no row finds plausible.
    log_likelihood_ : float
        The criterion (1.9), summed over rows.
    history_ : array (n_iter_ + 1,)
        Criterion (with the prior, if any) at the start and after each pass over the rows.
    n_iter_ : int
    converged_ : bool
    responsibilities_ : array (n, M)
        Probability of each component given features and label, on request.
    n_features_in_ : int

    Examples
    --------
    >>> from plausible.labels import Labels
    >>> X = [[0.0], [0.2], [0.3], [0.5], [1.9], [2.1], [2.3], [1.0]]
    >>> y = Labels.from_doubt(list("aaaabbba"), doubt=[0, 0, 0, 0.3, 0, 0.2, 0, 1])
    >>> model = GaussianMixtureClassifier(covariance="tied").fit(X, y)
    >>> model.predict([[0.1], [2.0]])
    array(['a', 'b'], dtype='<U1')
    >>> model.predict_plausibility([[1.1]]).round(2)
    array([[1.  , 0.05]])
    """

    def __init__(
        self,
        covariance: Literal["full", "tied", "diag", "spherical"] = "full",
        n_components: int | ArrayLike = 1,
        init: str | Mapping[str, Any] = "labels",
        n_init: int = 1,
        tol: float = 1e-6,
        max_iter: int = 1000,
        reg_covar: float = 1e-6,
        accelerate: bool = True,
        random_state: Any = None,
        verbose: int = 0,
        *,
        prior: str | Mapping[str, Any] | None = None,
        n_classes: int | None = None,
        store_responsibilities: bool = False,
        callback: Callback | None = None,
        checkpoint: str | Path | None = None,
    ) -> None:
        self.covariance = covariance
        self.n_components = n_components
        self.init = init
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.reg_covar = reg_covar
        self.accelerate = accelerate
        self.random_state = random_state
        self.verbose = verbose
        self.prior = prior
        self.n_classes = n_classes
        self.store_responsibilities = store_responsibilities
        self.callback = callback
        self.checkpoint = checkpoint

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Estimate the mixture.

        Parameters
        ----------
        X : array-like (n, d), Dask array or dataframe, or Rows of `plausible.engine`
            Rows hold features, labels and weights together, and may be larger than memory.
        y : Labels, or all that `as_labels` takes; None for a clustering into `n_classes`
        sample_weight : array-like (n,), optional

        Returns
        -------
        self
        """
        self._check_options()
        training = gather(self, X, y, sample_weight, self.n_classes)
        problem = self._pose(training)
        random = check_random_state(self.random_state)
        try:
            starts = make_starts(problem, self.init, self.n_init, random)
            result = self._maximise(problem, starts)
        except SingularCovarianceError as error:
            names = training.classes[problem.owner]
            raise ValueError(explain_singular(error, names, problem)) from None
        self._keep(result, problem, training)
        return self

    def _pose(self, training: Training) -> SoftMixture:
        """The EM problem: components for the classes that some row finds plausible."""
        sizes = component_counts(self.n_components, len(training.classes))
        census = take_census(training.rows, sizes == 1)
        present = census.support > 0
        if not present.all():
            absent = training.classes[~present].tolist()
            warnings.warn(
                f"Every class should be plausible for some item, but {absent} never are; they are "
                "not learnt and never predicted.",
                EmptyClassWarning,
                stacklevel=3,
            )
        owner = np.repeat(np.arange(len(sizes)), np.where(present, sizes, 0))
        prior = make_prior(self.prior, census, self.covariance, len(owner))
        return SoftMixture(training.rows, census, self.covariance, owner, self.reg_covar, prior)

    def _maximise(self, problem: SoftMixture, starts: list[Gaussians]) -> Result:
        return maximise(
            problem.summarise,
            problem.solve,
            starts,
            n_rows=problem.census.weight,
            tol=self.tol,
            max_iter=self.max_iter,
            chart=Chart(problem.kind, problem.census.spread) if self.accelerate else None,
            callback=reporter(self.verbose, type(self).__name__, self.callback),
            checkpoint=self.checkpoint,
        )

    def _keep(self, result: Result, problem: SoftMixture, training: Training) -> None:
        """Store what was found, with NaN for components of classes that do not occur."""
        sizes = component_counts(self.n_components, len(training.classes))
        owner = np.repeat(np.arange(len(sizes)), sizes)
        here = np.isin(owner, problem.owner)
        self.classes_ = training.classes
        self.component_classes_ = training.classes[owner]
        self._owner, self._present = owner, here
        weights, means, covariances = self._parameters = result.parameters
        self.weights_ = spread_out(weights, here, 0.0)
        self.means_ = spread_out(means, here, np.nan)
        tied = self.covariance == "tied"
        self.covariances_ = covariances if tied else spread_out(covariances, here, np.nan)
        self.history_, self.n_iter_ = result.history, result.n_iter
        self.converged_ = result.converged
        summary = problem.summarise([result.parameters])[0] if problem.prior else None
        self.log_likelihood_ = summary.log_likelihood if summary else result.criterion
        self._n_effective = problem.census.weight
        warn_of_weak_points(self, result, problem)
        if self.store_responsibilities:
            self.responsibilities_ = np.concatenate(
                [self._responsibilities(*columns[:2]) for columns in training.rows.chunks()]
            )

    def _responsibilities(self, X: Any, plausibility: FloatArray | None) -> FloatArray:
        scores = np.full((len(X), len(self._owner)), -np.inf)
        data = np.asarray(X, dtype=np.float64)
        scores[:, self._present] = log_joint(data, self._parameters, self.covariance)
        if plausibility is not None:
            with np.errstate(divide="ignore"):
                scores += np.log(plausibility[:, self._owner])
        return np.exp(scores - logsumexp(scores, axis=1, keepdims=True))

    def _log_joint(self, X: FloatArray) -> FloatArray:
        scores = log_joint(X, self._parameters, self.covariance)
        owner = self._owner[self._present]
        if len(np.unique(owner)) == len(owner) == len(self.classes_):
            return scores
        joint = np.full((len(X), len(self.classes_)), -np.inf)
        for c in np.unique(owner):
            joint[:, c] = logsumexp(scores[:, owner == c], axis=1)
        return joint

    def score_samples(self, X: ArrayLike) -> FloatArray:
        """Log density (n,) of each row under the mixture."""
        return logsumexp(self._evidence(X, None), axis=1)

    def score_novelty(self, X: ArrayLike) -> FloatArray:
        """How unusual each row is, in [0, 1]: the share of the model's own items that are denser.

        The share is taken among 20,000 items drawn from the model, with `random_state`.
        """
        density = self.score_samples(X)
        own = np.sort(self.score_samples(self.sample(NOVELTY_DRAWS)[0]))
        return 1.0 - np.searchsorted(own, density, side="right") / len(own)

    def predict_novelty(self, X: ArrayLike, level: float = 0.01) -> NDArray[np.bool_]:
        """Whether a row is so unusual that the model would draw one like it at most at `level`."""
        check_number(level, "level", 0.0, 1.0)
        return self.score_novelty(X) >= 1.0 - level

    def sample(self, n_samples: int = 1) -> tuple[FloatArray, NDArray[Any]]:
        """Draw items: features (n, d) and classes (n,), with `random_state`."""
        check_is_fitted(self)
        random = check_random_state(self.random_state)
        weights, means, covariances = self._parameters
        drawn = random.choice(len(weights), size=n_samples, p=weights)
        noise = random.normal(size=(n_samples, means.shape[1]))
        factor = cholesky(covariances, self.covariance)
        if self.covariance == "tied":
            noise = noise @ factor.T
        elif self.covariance == "full":
            noise = np.einsum("nij,nj->ni", factor[drawn], noise)
        else:
            noise *= factor[drawn] if self.covariance == "diag" else factor[drawn, None]
        return means[drawn] + noise, self.component_classes_[self._present][drawn]

    def bic(self) -> float:
        """Bayesian information criterion on the training rows; lower is better."""
        check_is_fitted(self)
        return self._free_parameters() * np.log(self._n_effective) - 2 * self.log_likelihood_

    def aic(self) -> float:
        """Akaike's information criterion on the training rows; lower is better."""
        check_is_fitted(self)
        return 2 * (self._free_parameters() - self.log_likelihood_)

    def _free_parameters(self) -> int:
        n_components, d = self._parameters.means.shape
        return n_parameters(n_components, d, self.covariance)

    def _check_options(self) -> None:
        check_option(self.covariance, KINDS, "covariance")
        if isinstance(self.init, str):
            check_option(self.init, ("labels", "kmeans", "random"), "init")
        for name, low in (("n_init", 1), ("max_iter", 1), ("tol", 0.0), ("reg_covar", 0.0)):
            check_number(getattr(self, name), name, low, np.inf)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.n_classes is None
        return tags


def component_counts(n_components: Any, n_classes: int) -> NDArray[np.int64]:
    """Number of components of each class."""
    counts = np.asarray(n_components)
    wrong = counts.dtype.kind not in "iu" or counts.shape not in ((), (n_classes,))
    if wrong or not (counts >= 1).all():
        raise ValueError(
            f"n_components should be a whole number from 1, or one for each of the {n_classes} "
            f"classes, but {n_components!r} was found."
        )
    return np.broadcast_to(counts, n_classes).astype(np.int64)


def spread_out(values: FloatArray, here: NDArray[np.bool_], elsewhere: float) -> FloatArray:
    """Rows of `values` where `here` is true, and `elsewhere` in the other rows."""
    result = np.full((len(here), *values.shape[1:]), elsewhere)
    result[here] = values
    return result


REMEDY = (
    "take covariance='tied' or 'diag', a larger reg_covar, prior='weak', or fewer features or "
    "components"
)


def explain_singular(
    error: SingularCovarianceError, names: NDArray[Any], problem: SoftMixture
) -> str:
    """Which class has a singular covariance, on how many items it rests, and what to do."""
    d = len(problem.centre)
    if not error.components:
        return (
            f"The common covariance of {d} features should be invertible, but is singular with "
            f"{problem.census.weight:.4g} effective items (a feature may be constant, or the sum "
            f"of others); {REMEDY}."
        )
    k = error.components[0]
    count = "few" if error.counts is None else f"{error.counts[k]:.4g}"
    return (
        f"The covariance of class {names[k]!r} should be invertible, but is singular: it rests on "
        f"{count} effective items for {d} features; {REMEDY}."
    )


def warn_of_weak_points(
    model: GaussianMixtureClassifier, result: Result, problem: SoftMixture
) -> None:
    """Say which components rest on next to nothing, and whether the start was improved."""
    counts = result.parameters.weights * problem.census.weight
    names = model.component_classes_[model._present]
    d = len(problem.centre)
    lost = counts < 1e-3
    if lost.any():
        message = f"Every component should keep some items, but those of {names[lost].tolist()} "
        message += "lost theirs; use fewer components, another start, or prior={'weights': 2}."
        warnings.warn(message, EmptyClassWarning, stacklevel=4)
    thin = (counts <= d) & ~lost
    if problem.kind == "full" and problem.prior is None and thin.any():
        k = int(np.flatnonzero(thin)[0])
        message = f"A full covariance of {d} features should rest on more than {d} items, but that "
        message += f"of class {names[k]!r} rests on {counts[k]:.3g} and is held up by reg_covar "
        message += f"alone; {REMEDY}."
        warnings.warn(message, SmallClassWarning, stacklevel=4)
    if problem.n_open and result.n_iter and result.history[-1] == result.history[0]:
        message = "An EM step should improve on the start, but none did: it is a maximum already, "
        message += "or a saddle from which equal components cannot part; try another init."
        warnings.warn(message, ConvergenceWarning, stacklevel=4)
