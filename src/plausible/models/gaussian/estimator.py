"""What Gaussian classifiers under soft labels share: fitting, densities, novelty, criteria."""

import warnings
from collections.abc import Mapping
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from plausible.base import (
    EmptyClassWarning,
    EvidenceClassifier,
    TrainingRows,
    check_features,
    normalized,
    stack_by_class,
    training_rows,
)
from plausible.checks import (
    check_callable,
    check_flag,
    check_number,
    check_option,
    check_path,
    check_verbose,
    check_whole,
    name_rows,
    random_from,
)
from plausible.engine import ArrayRows, Result, Rows, maximize, reporter
from plausible.errors import InputError
from plausible.models.gaussian.census import take_census
from plausible.models.gaussian.parameters import (
    TOO_MUCH_ADDED,
    FloatArray,
    GaussianChart,
    Gaussians,
    Prior,
    SingularCovarianceError,
    cholesky,
    n_parameters,
)
from plausible.models.gaussian.patterns import (
    PatternMixture,
    filled_rows,
    log_joint_of_seen,
    parts_of,
)
from plausible.models.gaussian.soft_mixture import SoftMixture
from plausible.models.gaussian.starts import make_starts
from plausible.models.gaussian.unlabeled import Fit, mind_labels, with_factor
from plausible.models.gaussian.weak_points import (
    check_memory,
    check_work,
    explain_singular,
    warn_of_weak_points,
)

NOVELTY_DRAWS = 20_000
ROUGH_TOL, ROUGH_ITER = 1e-3, 100  # of fits by which weights of unlabeled rows are compared


class GaussianClassifier(EvidenceClassifier):
    """Base of classifiers with Gaussian components, fitted by the EM algorithm of soft labels.

    A subclass says which kind of covariance it has (`_kind`), and may have several components for a
    class (`_sizes`) and a prior (`_make_prior`).
    """

    _learns_from_rows = True  # of any number, wherever they lie

    init: str | Mapping[str, Any]
    n_init: int
    tol: float
    max_iter: int
    reg_covar: float
    accelerate: bool
    random_state: Any
    verbose: int
    n_classes: int | None = None
    store_responsibilities = False
    callback: Any = None
    checkpoint: Any = None
    unlabeled_weight: float | str = "auto"
    missing: str = "error"

    @property
    def _kind(self) -> str:
        raise NotImplementedError

    def _sizes(self, classes: NDArray[Any]) -> NDArray[np.int64]:
        return np.ones(len(classes), dtype=np.int64)

    @property
    def _has_prior(self) -> bool:
        return False

    def _make_prior(self, problem: SoftMixture) -> Prior | None:
        return None

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
        training = self._training(X, y, sample_weight)
        fixed = not isinstance(self.unlabeled_weight, str)
        weight = float(self.unlabeled_weight) if fixed else 1.0
        fit = self._climb(training, weight, self.checkpoint)
        if not (fixed or fit.result.interrupted or isinstance(fit.problem, PatternMixture)):
            again = partial(self._climb_again, training.classes)
            fit = mind_labels(fit, training.rows, again)
        self.unlabeled_weight_ = fit.weight
        self._keep(fit.result, fit.problem, training)
        return self

    def _training(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> TrainingRows:
        """Rows to learn from, with NaN for missing features where these are integrated out."""
        return training_rows(
            self,
            X,
            y,
            sample_weight,
            self.n_classes,
            with_shares=True,
            allow_missing=self.missing == "integrate",
        )

    def _read(self, X: ArrayLike) -> Any:
        """Features of new items, checked; those in single precision are not copied."""
        check_is_fitted(self)
        if self.missing != "integrate":
            return check_features(self, X, reset=False, dtype=(np.float64, np.float32))
        options: Any = {"dtype": np.float64, "ensure_all_finite": "allow-nan"}
        return check_features(self, X, reset=False, **options)

    def _climb_again(self, classes: NDArray[Any], rows: Rows, weight: float, rough: bool) -> Fit:
        """A further fit, which leaves no checkpoint; a rough one is soon content."""
        copy = clone(self)
        copy.checkpoint = None
        if hasattr(self, "_order_of_labels"):
            copy._order_of_labels = self._order_of_labels
        if rough:
            copy.tol, copy.max_iter = max(self.tol, ROUGH_TOL), min(self.max_iter, ROUGH_ITER)
            copy.n_init, copy.verbose, copy.callback = 1, 0, None
        return copy._climb(TrainingRows(rows, classes), weight)

    def _climb(self, training: TrainingRows, weight: float, checkpoint: Any = None) -> Fit:
        """A fit in which rows without a label have some weight."""
        if weight != 1.0 and training.rows.peek()[1] is not None:
            training = training._replace(rows=with_factor(training.rows, weight))
        problem = self._pose(training)
        problem.prior = self._make_prior(problem)
        random = random_from(self.random_state)
        try:
            init = self.init
            if isinstance(init, Mapping):
                init = _named_start(self, init, problem, training.classes)
            starts = make_starts(problem, init, self.n_init, random)
            return Fit(self._maximize(problem, starts, checkpoint), problem, weight)
        except SingularCovarianceError as error:
            names = training.classes[problem.owner]
            raise ValueError(explain_singular(error, names, problem)) from None

    def _pose(self, training: TrainingRows) -> SoftMixture:
        """The EM problem: components for the classes that some row finds plausible."""
        sizes = self._sizes(training.classes)
        rows = self._complete(training.rows)
        census = take_census(rows, sizes == 1)
        present = census.support > 0
        if not present.all():
            absent = training.classes[~present].tolist()
            warnings.warn(
                f"Every class should be plausible for some item, but {absent} never are; they are "
                "not learned and never predicted.",
                EmptyClassWarning,
                stacklevel=3,
            )
        owner = np.repeat(np.arange(len(sizes)), np.where(present, sizes, 0))
        check_memory(self._kind, len(owner), len(census.center))
        if not self._has_prior:
            check_work(self._kind, len(owner), census, self.reg_covar)
        if rows is training.rows:
            return SoftMixture(rows, census, self._kind, owner, self.reg_covar)
        parts = self._parts(training.rows, owner)
        return PatternMixture(rows, census, self._kind, owner, self.reg_covar, parts)

    def _complete(self, rows: Rows) -> Rows:
        """The rows themselves, or rows to start from where features are missing."""
        if self.missing != "integrate" or not isinstance(rows, ArrayRows):
            return rows
        return filled_rows(rows) if np.isnan(np.asarray(rows.columns[0]).sum()) else rows

    def _parts(self, rows: Any, owner: NDArray[np.int64]) -> Any:
        """The rows in parts whose features are missing alike."""
        return parts_of(rows.columns, self._kind, owner)

    def _maximize(
        self, problem: SoftMixture, starts: list[Gaussians], checkpoint: Any = None
    ) -> Result:
        kind, n_components = problem.kind, len(problem.owner)
        chart = GaussianChart(kind, problem.census.spread) if self.accelerate else None
        return maximize(
            problem.summarize,
            problem.solve,
            starts,
            n_rows=problem.census.weight,
            tol=self.tol,
            max_iter=self.max_iter,
            chart=chart,
            callback=reporter(self.verbose, type(self).__name__, self.callback),
            checkpoint=checkpoint,
            advice=TOO_MUCH_ADDED,
            settings=f"{kind}, reg_covar {self.reg_covar}, {n_components} components",
        )

    def _keep(self, result: Result, problem: SoftMixture, training: TrainingRows) -> None:
        """Store what was found, with NaN for components of classes that do not occur."""
        sizes = self._sizes(training.classes)
        owner = np.repeat(np.arange(len(sizes)), sizes)
        here = np.isin(owner, problem.owner)
        self.classes_ = training.classes
        self.component_classes_ = training.classes[owner]
        self._owner, self._present = owner, here
        weights, means, covariances = self._parameters = result.parameters
        self.weights_ = spread_out(weights, here, 0.0)
        self.means_ = spread_out(means, here, np.nan)
        tied = self._kind == "tied"
        self.covariances_ = covariances if tied else spread_out(covariances, here, np.nan)
        self.history_, self.n_iter_ = result.history, result.n_iter
        self.converged_ = result.converged
        summary = problem.summarize([result.parameters])[0] if problem.prior else None
        self.log_likelihood_ = summary.log_likelihood if summary else result.criterion
        self._n_effective = problem.census.weight
        warn_of_weak_points(self.component_classes_[self._present].tolist(), result, problem)
        if self.store_responsibilities:
            self.responsibilities_ = np.concatenate(
                [self._responsibilities(*columns) for columns in training.rows.chunks()]
            )

    def _responsibilities(
        self, X: Any, plausibility: FloatArray | None, weight: Any = None, shares: Any = None
    ) -> FloatArray:
        scores = np.full((len(X), len(self._owner)), -np.inf)
        data = np.asarray(X, dtype=np.float64)
        scores[:, self._present] = self._log_joint(data)
        if plausibility is not None:
            with np.errstate(divide="ignore"):
                scores += np.log(plausibility[:, self._owner])
        found = normalized(scores)
        if shares is not None and plausibility is not None:
            for row in np.flatnonzero(shares):
                p = plausibility[row] / plausibility[row].sum()
                within = np.bincount(self._owner, found[row], minlength=len(p))
                found[row] *= (p / np.where(within > 0, within, 1.0))[self._owner]
        return found

    def _log_joint(self, X: Any, up_to_constant: bool = False) -> FloatArray:
        """log(weight density) (n, M) of checked features, by component."""
        return log_joint_of_seen(X, self._parameters, self._kind, up_to_constant)

    def _log_evidence(self, X: FloatArray) -> FloatArray:
        scores = self._log_joint(X, up_to_constant=True)
        owner = self._owner[self._present]
        if len(np.unique(owner)) == len(owner) == len(self.classes_):
            return scores
        joint = np.full((len(X), len(self.classes_)), -np.inf)
        for c in np.unique(owner):
            joint[:, c] = logsumexp(scores[:, owner == c], axis=1)
        return joint

    @property
    def _learned_classes(self) -> NDArray[np.bool_]:
        learned = np.zeros(len(self.classes_), dtype=bool)
        learned[self._owner[self._present]] = True
        return learned

    def class_log_density(self, X: ArrayLike) -> FloatArray:
        """Log density (n, K) of each row under each class, whatever its prior probability."""
        data = self._read(X)
        found = np.full((len(data), len(self.classes_)), -np.inf)
        with np.errstate(over="ignore", invalid="ignore"):
            scores = self._log_joint(data)
        scores, owner = np.where(np.isnan(scores), -np.inf, scores), self._owner[self._present]
        for c in np.unique(owner):
            share = np.log(self._parameters[0][owner == c].sum())
            found[:, c] = logsumexp(scores[:, owner == c], axis=1) - share
        return found

    def score_samples(self, X: ArrayLike) -> FloatArray:
        """Log density (n,) of each row under the mixture."""
        data = self._read(X)
        with np.errstate(over="ignore", invalid="ignore"):
            scores = self._log_joint(data)
        return logsumexp(np.where(np.isnan(scores), -np.inf, scores), axis=1)

    def score_novelty(self, X: ArrayLike) -> FloatArray:
        """How unusual each row is, in [0, 1]: the share of the model's own items that are denser.

        The share is taken among 20,000 items drawn from the model, with `random_state`. All
        features must be known: densities of fewer features are no measure beside these.
        """
        _check_known(self._read(X))
        density = self.score_samples(X)
        own = np.sort(self.score_samples(self.sample(NOVELTY_DRAWS)[0]))
        return 1.0 - np.searchsorted(own, density, side="right") / len(own)

    def predict_novelty(self, X: ArrayLike, level: float = 0.01) -> NDArray[np.bool_]:
        """Whether a row is so unusual that the model would draw one like it at most at `level`."""
        check_number(level, "level", 0.0, 1.0)
        return self.score_novelty(X) > 1.0 - level

    def sample(self, n_samples: int = 1) -> tuple[FloatArray, NDArray[Any]]:
        """Draw items: features (n, d) and classes (n,), with `random_state`."""
        check_is_fitted(self)
        check_whole(n_samples, "n_samples", 0)
        random = random_from(self.random_state)
        weights, means, covariances = self._parameters
        drawn = random.choice(len(weights), size=n_samples, p=weights)
        noise = random.normal(size=(n_samples, means.shape[1]))
        factor = cholesky(covariances, self._kind)
        if self._kind == "tied":
            noise = noise @ factor.T
        elif self._kind == "full":
            noise = np.einsum("nij,nj->ni", factor[drawn], noise)
        else:
            noise *= factor[drawn] if self._kind == "diag" else factor[drawn, None]
        return means[drawn] + noise, self.component_classes_[self._present][drawn]

    def bic(self, X: ArrayLike | None = None) -> float:
        """Bayesian information criterion on the training rows, or on others; lower is better.

        On the training rows it counts what their labels say, too.
        """
        log_likelihood, n_rows = self._fit_to(X)
        return self._free_parameters() * np.log(n_rows) - 2 * log_likelihood

    def aic(self, X: ArrayLike | None = None) -> float:
        """Akaike's information criterion on the training rows, or on others; lower is better."""
        return 2 * (self._free_parameters() - self._fit_to(X)[0])

    def _fit_to(self, X: ArrayLike | None) -> tuple[float, float]:
        """Log-likelihood of the training rows or of others, and their number."""
        check_is_fitted(self)
        if X is None:
            return self.log_likelihood_, self._n_effective
        density = self.score_samples(X)
        return float(density.sum()), float(len(density))

    def _free_parameters(self) -> int:
        n_components, d = self._parameters.means.shape
        return n_parameters(n_components, d, self._kind)

    def _check_options(self) -> None:
        if not isinstance(self.init, Mapping):
            check_option(self.init, ("labels", "kmeans", "random"), "init")
        check_number(self.tol, "tol", 0.0)
        check_number(self.reg_covar, "reg_covar", 0.0)
        check_whole(self.n_init, "n_init", 1)
        check_whole(self.max_iter, "max_iter", 1)
        check_verbose(self.verbose)
        check_flag(self.accelerate, "accelerate")
        if isinstance(self.unlabeled_weight, str):
            check_option(self.unlabeled_weight, ("auto",), "unlabeled_weight")
        else:
            check_number(self.unlabeled_weight, "unlabeled_weight", 0.0)
        check_flag(self.store_responsibilities, "store_responsibilities")
        if self.n_classes is not None:
            check_whole(self.n_classes, "n_classes", 1)
        if self.callback is not None:
            check_callable(self.callback, "callback", "the progress")
        if self.checkpoint is not None:
            check_path(self.checkpoint, "checkpoint")


def _named_start(
    model: GaussianClassifier, init: Mapping[str, Any], problem: SoftMixture, classes: NDArray[Any]
) -> dict[str, Any]:
    """Parts of a start that are given by class, as arrays in the order of the components."""
    d, here = len(problem.center), classes[np.unique(problem.owner)]
    entries = {"weights": (), "means": (d,)}
    if problem.kind != "tied":  # one for all classes
        entries["covariances"] = {"full": (d, d), "diag": (d,), "spherical": ()}[problem.kind]
    absent = set(classes.tolist()) - set(here.tolist())
    parts = dict(init)
    for part in entries.keys() & init.keys():
        values = init[part]
        if isinstance(values, Mapping):
            values = {one: value for one, value in values.items() if one not in absent}
        parts[part] = stack_by_class(model, values, f"init[{part!r}]", here, entries[part])
    return parts


def _check_known(data: Any) -> None:
    """Refuse items of which some features are missing, or known only in part."""
    bad = np.isnan(data).any(axis=1) if isinstance(data, np.ndarray) else np.ones(len(data), bool)
    if bad.any():
        raise InputError(
            "Novelty is judged from features that are all known",
            f"some are missing or uncertain in {name_rows(bad)}",
            "leave out these rows, or fill them in",
            rows=bad,
        )


def spread_out(values: FloatArray, here: NDArray[np.bool_], elsewhere: float) -> FloatArray:
    """Rows of `values` where `here` is true, and `elsewhere` in the other rows."""
    result = np.full((len(here), *values.shape[1:]), elsewhere)
    result[here] = values
    return result
