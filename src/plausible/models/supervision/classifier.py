r"""Stochastic supervision: an expert gives no class, only a probability for each item.

Classes are latent; features x and log odds w of the assessments are distributed in each of them,

.. math:: p(x, w) = \sum_j \pi_j \, f_j(x) \, q_j(w \mid x)

An expert may thus be wrong, biased or overconfident in ways that are learned. Krishnan and Nandy
(1987), Titterington (1989), and the generalizations of Lu, Qiao, Zhu, Wang, Ma and Xue (2020).
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from plausible.base import (
    by_class,
    refuse_order,
    remember_order,
)
from plausible.checks import (
    as_array,
    as_floats,
    check_callable,
    check_flag,
    check_number,
    check_option,
    check_path,
    check_verbose,
    check_whole,
    random_from,
    shown,
)
from plausible.engine import Callback, Result, maximize, reporter
from plausible.errors import InputError
from plausible.models.gaussian.mixture import component_counts
from plausible.models.gaussian.parameters import KINDS, TOO_MUCH_ADDED, SingularCovarianceError
from plausible.models.supervision.assessed import AssessedClassifier
from plausible.models.supervision.assessed_rows import assessed_rows
from plausible.models.supervision.assessments import (
    SCALES,
    Reader,
    check_saturated,
)
from plausible.models.supervision.em_problem import SupervisedMixture, SupervisionChart
from plausible.models.supervision.parameters import FAMILIES, Supervision, expected_log_odds
from plausible.models.supervision.starts import embed, given_start, make_starts
from plausible.models.supervision.weak_points import (
    adjusted_r2,
    warn_of_saddle,
    warn_of_weak_points,
)

MODELS = {
    "krishnan_nandy": ("tied", "beta"),
    "titterington": ("tied", "symmetric"),
    "g1": ("tied", "gaussian"),
    "g2": ("full", "gaussian"),
    "g3": ("full", "linear"),
    "g4": ("full", "gaussian"),
    "g34": ("full", "linear"),
}
MULTIMODAL = ("g4", "g34")
NESTED_FAMILIES = {(name, name) for name in FAMILIES} | {
    ("symmetric", "gaussian"),
    ("symmetric", "linear"),
    ("gaussian", "linear"),
}
NESTED_KINDS = {(name, name) for name in KINDS} | {
    ("tied", "full"),
    ("diag", "full"),
    ("spherical", "full"),
    ("spherical", "diag"),
}
TWO_CLASSES = ("beta", "symmetric")


class StochasticSupervisionClassifier(AssessedClassifier):
    """Classes learned from features and an expert's probabilities, without a single sure label.

    Parameters
    ----------
    model : str, optional
        A published model by name, which sets `covariance` and `assessment`: "krishnan_nandy",
        "titterington" (both for two classes), "g1", "g2", "g3", "g4" or "g34" (3 and 4 together;
        the last two with the `n_components` that you give, and with one they are "g2" and "g3").
    covariance_type : {"full", "tied", "diag", "spherical"}
        Shape of the covariances of the features, as in scikit-learn's `GaussianMixture`.
    n_components : int, dict of classes, or sequence of int
        Components for each class; one number for all classes or one for each. A sequence is in the
        order of the assessments' classes, and refused where they are not sorted.
    assessment : {"gaussian", "linear", "symmetric", "beta"}
        How log odds are distributed in a class: Gaussian; Gaussian about a linear function of the
        features; Gaussian with opposite means and one variance in two classes; or probabilities
        that are Beta(a, b) in the first class and Beta(b, a) in the second.
    scale : {"probability", "log_odds"}
        What assessments are; log odds are w_j = log(z_j / z_J), the last class is the reference.
    saturated : "clip", "certain" or float
        What to do with assessments of 0 (below 1e-9): "clip" reads them as 0.005 (and 1 as 0.995
        where there are two classes), a number clips there; "certain" takes them for labels that
        exclude the class for sure, and their row for one without assessment.
    init : "assessments", dict, array (n, M) or fitted StochasticSupervisionClassifier
        Start from the classes that the assessments find most probable, from responsibilities (a
        dict with (n,) or (n, m) of the components of each class; or an array, components of the
        first of the sorted classes first), or from the parameters of a smaller model (which
        scikit-learn's `clone` would forget).
    n_init : int
        Number of starts from assessments; the best result is kept. Starts after the first use
        random halves of the items.
    tol : float
        Stop when an EM step gains less than this for each row.
    max_iter : int
    reg_covar : float
        Least variance in any direction, relative to that of all items: for features and for log
        odds given features. A floor, not an addition: the likelihood never falls. (A start from
        assessments has a floor of 0.001, whatever this is.)
    accelerate : bool
        Extrapolate where EM is slow (SQUAREM).
    random_state : int, RandomState or None
    verbose : int
        1 reports about once a second, 2 every iteration.
    callback : function of Progress, optional
        Called after each iteration; a true answer stops the fit.
    checkpoint : path, optional
        File in which a long fit keeps its state, and from which it goes on after an interruption.

    Attributes
    ----------
    classes_ : array (J,)
        Sorted; the reference of log odds in the attributes below is the last.
    component_classes_ : array (M,)
    class_priors_ : array (J,)
    weights_, means_, covariances_ : arrays
        Of the components, shaped as in scikit-learn's `GaussianMixture`.
    assessment_means_ : array (J, J - 1)
        Mean log odds in each class. Not for Beta assessments.
    assessment_covariances_ : array (J, J - 1, J - 1)
        Their covariances; given the features for linear assessments.
    assessment_intercepts_, assessment_slopes_ : arrays (J, J - 1), (J, d, J - 1)
        Of linear assessments.
    beta_parameters_ : array (2, 2)
        Of Beta assessments.
    adjusted_r2_ : array (J,)
        Share of the variance of log odds that the features explain in each class: whether "linear"
        is called for.
    log_likelihood_ : float
        Of features and log odds, or of features and probabilities for Beta assessments.
    n_parameters_, bic_, aic_ : int, float, float
        Criteria for the choice of a model, lower is better; all from likelihoods of log odds.
    history_ : array (n_iter_ + 1,)
    n_iter_ : int
    converged_ : bool
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> sick = rng.uniform(size=300) < 0.4
    >>> X = rng.normal(size=(300, 2)) + 2 * sick[:, None]
    >>> opinion = 1 / (1 + np.exp(-rng.normal(np.where(sick, 1.0, -2.0))))
    >>> model = StochasticSupervisionClassifier("g2").fit(X, opinion, classes=["sick", "well"])
    >>> model.predict([[0.0, 0.0], [2.5, 2.0]])
    array(['well', 'sick'], dtype='<U4')
    >>> model.predict_proba([[1.0, 1.0]], assessments=[0.3]).round(2)
    array([[0.15, 0.85]])
    """

    def __init__(
        self,
        model: str | None = None,
        covariance_type: str = "full",
        n_components: int | ArrayLike = 1,
        assessment: str = "gaussian",
        scale: str = "probability",
        saturated: str | float = "clip",
        init: Any = "assessments",
        n_init: int = 1,
        tol: float = 1e-6,
        max_iter: int = 1000,
        reg_covar: float = 1e-6,
        accelerate: bool = True,
        random_state: Any = None,
        verbose: int = 0,
        *,
        callback: Callback | None = None,
        checkpoint: str | Path | None = None,
    ) -> None:
        self.model = model
        self.covariance_type = covariance_type
        self.n_components = n_components
        self.assessment = assessment
        self.scale = scale
        self.saturated = saturated
        self.init = init
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.reg_covar = reg_covar
        self.accelerate = accelerate
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback
        self.checkpoint = checkpoint

    def fit(
        self,
        X: Any,
        y: Any = None,
        labels: Any = None,
        sample_weight: ArrayLike | None = None,
        *,
        classes: Sequence[Any] | None = None,
    ) -> Self:
        """Estimate classes, features and assessments.

        Parameters
        ----------
        X : array-like (n, d), Dask array or dataframe, or Rows of `plausible.engine`
            Rows hold features, assessments, weights and labels (plausibilities) together, the last
            two if there are any, and may be larger than memory.
        y : array-like (n,) or (n, J), or Labels of probabilities
            Assessments; (n,) is the probability of the first of two classes. NaN for items that
            were not assessed.
        labels : Labels, or all that `as_labels` takes, optional
            What is known about the classes of some items; columns in the order of those of y.
        sample_weight : array-like (n,), optional
        classes : sequence, optional
            Names of the classes, in the order of the columns of y; 0, 1, ... by default.

        Returns
        -------
        self
        """
        kind, family = self._check_options()
        rows, names = assessed_rows(self, X, y, labels, sample_weight, classes)
        self._names = names
        remember_order(self, names)
        order = np.argsort(np.array(names))
        self.classes_ = np.array(names)[order]
        n_classes = len(names)
        if family in TWO_CLASSES and n_classes > 2:
            raise InputError(
                f"{self.model or family!r} should have two classes",
                f"there are {n_classes}",
                ("use {assessment}", "one model for each class against the others"),
                settings={"assessment": "gaussian"},
            )
        sizes = self._sizes(names)[order]
        owner = np.repeat(np.arange(n_classes), sizes)
        problem = SupervisedMixture(
            rows, self.n_features_in_, kind, family, owner, n_classes, self.reg_covar
        )
        try:
            result = self._maximize(problem, self._starts(problem, order))
        except SingularCovarianceError:
            raise InputError(
                "Covariances should be invertible",
                "one is singular",
                "share or simplify them, raise reg_covar above 0, or take fewer features or "
                "components",
            ) from None
        self._keep(result, problem)
        return self

    def _check_options(self) -> tuple[str, str]:
        """Kind of covariance and family of assessments."""
        kind, family = self.covariance_type, self.assessment
        check_option(kind, KINDS, "covariance_type")
        check_option(family, FAMILIES, "assessment")
        if self.model is not None:
            check_option(self.model, tuple(MODELS), "model")
            named = MODELS[self.model]
            for given, default, set_to, name in (
                (kind, "full", named[0], "covariance_type"),
                (family, "gaussian", named[1], "assessment"),
            ):
                if given not in (default, set_to):
                    raise InputError(
                        f"model={self.model!r} has {name}={set_to!r}",
                        f"{given!r} was given",
                        f"leave out model or {name}",
                        value=given,
                    )
            kind, family = named
            sizes: Any = self.n_components
            if isinstance(sizes, Mapping):
                sizes = list(sizes.values())
            sizes = as_array(sizes, "n_components")
            if self.model not in MULTIMODAL and np.any(sizes != 1):
                raise InputError(
                    f"model={self.model!r} has one component for each class",
                    f"n_components={shown(self.n_components)} was given",
                    "use model 'g4' or 'g34', or name none",
                    value=self.n_components,
                )
        check_option(self.scale, SCALES, "scale")
        check_saturated(self.saturated)
        check_number(self.tol, "tol", 0.0)
        check_number(self.reg_covar, "reg_covar", 0.0)
        check_whole(self.n_init, "n_init", 1)
        check_whole(self.max_iter, "max_iter", 1)
        check_verbose(self.verbose)
        check_flag(self.accelerate, "accelerate")
        if self.callback is not None:
            check_callable(self.callback, "callback", "the progress")
        if self.checkpoint is not None:
            check_path(self.checkpoint, "checkpoint")
        return kind, family

    @property
    def _family(self) -> str:
        return self.assessment if self.model is None else MODELS[self.model][1]

    @property
    def _kind(self) -> str:
        return self.covariance_type if self.model is None else MODELS[self.model][0]

    def _reader(self, names: list[Any]) -> Reader:
        return Reader(self.scale, self.saturated, self._family, names)

    def _starts(self, problem: SupervisedMixture, order: NDArray[np.int64]) -> list[Supervision]:
        if isinstance(self.init, StochasticSupervisionClassifier):
            check_is_fitted(self.init)
            same = self.init.classes_.tolist() == self.classes_.tolist()
            if self.init._parameters.means.shape[1] != problem.d or not same:
                raise InputError(
                    f"init should have {problem.d} features and the classes "
                    f"{self.classes_.tolist()} as the data have",
                    "has others",
                    "fit it on the same kind of data",
                    parameter="init",
                )
            if (self.init._family, problem.family) not in NESTED_FAMILIES or (
                (self.init._kind, problem.kind) not in NESTED_KINDS
            ):
                raise InputError(
                    "init should be a model that this one contains",
                    f"{self.init._kind} covariances with {self.init._family} assessments are not "
                    f"within {problem.kind} ones with {problem.family} ones",
                    "start from a smaller model",
                    parameter="init",
                )
            return [embed(problem, self.init._parameters, self.init._owner)]
        if isinstance(self.init, str):
            check_option(self.init, ("assessments",), "init")
            random = random_from(self.random_state)
            return make_starts(problem, self.n_init, random, self.classes_.tolist())
        init = self.init
        if isinstance(init, Mapping):
            parts = [as_floats(part, "init") for part in self._by_class(init, "init")]
            init = np.column_stack(parts)
        else:
            example = f"init={{{self._names[0]!r}: ..., {self._names[1]!r}: ...}}"
            refuse_order(
                self, "init", f"write a dict of columns, {example}", self.classes_.tolist()
            )
        sizes = self._sizes(self._names)
        ends = np.cumsum(sizes)
        columns = [np.arange(ends[j] - sizes[j], ends[j]) for j in order]
        return [given_start(problem, init, np.concatenate(columns))]

    def _sizes(self, names: list[Any]) -> NDArray[np.int64]:
        """How many components each class has, in the order of assessments."""
        return component_counts(self._by_class(self.n_components, "n_components"), len(names))

    def _by_class(self, values: Any, name: str) -> Any:
        """Values by class in the order of assessments; arrays only where that is the sorted one."""
        return by_class(self, values, name, np.array(self._names))

    def _maximize(self, problem: SupervisedMixture, starts: list[Supervision]) -> Result:
        return maximize(
            problem.summarize,
            problem.solve,
            starts,
            n_rows=problem.census.weight,
            tol=self.tol,
            max_iter=self.max_iter,
            chart=SupervisionChart(problem) if self.accelerate else None,
            callback=reporter(self.verbose, type(self).__name__, self.callback),
            checkpoint=self.checkpoint,
            advice=TOO_MUCH_ADDED,
            settings=f"{problem.kind}, {problem.family}, reg_covar {self.reg_covar}, "
            f"{len(problem.owner)} components",
        )

    def _keep(self, result: Result, problem: SupervisedMixture) -> None:
        p = self._parameters = result.parameters
        owner = self._owner = problem.owner
        self.component_classes_ = self.classes_[owner]
        self.class_priors_ = np.bincount(owner, p.weights)
        self.weights_, self.means_ = p.weights, p.means
        diagonal = np.diagonal(p.covariances, axis1=1, axis2=2)
        self.covariances_ = {
            "full": p.covariances,
            "tied": p.covariances[0],
            "diag": diagonal.copy(),
            "spherical": diagonal[:, 0].copy(),
        }[problem.kind]
        for name in ("means", "covariances", "intercepts", "slopes"):
            self.__dict__.pop(f"assessment_{name}_", None)  # of a fit with other options
        self.__dict__.pop("beta_parameters_", None)
        if problem.family == "beta":
            self.beta_parameters_ = p.shapes
        else:
            share = p.weights / np.maximum(self.class_priors_, 1e-300)[owner]
            centers = share[:, None] * expected_log_odds(p, owner)
            self.assessment_means_ = np.eye(problem.n_classes)[owner].T @ centers
            self.assessment_covariances_ = p.spreads
        if problem.family == "linear":
            self.assessment_intercepts_, self.assessment_slopes_ = p.intercepts, p.slopes
        self.history_, self.n_iter_ = result.history, result.n_iter
        self.converged_ = result.converged
        self.log_likelihood_ = result.criterion
        self.n_parameters_ = problem.n_parameters()
        comparable = self.log_likelihood_ + problem.change
        self.bic_ = self.n_parameters_ * np.log(problem.census.weight) - 2 * comparable
        self.aic_ = 2 * (self.n_parameters_ - comparable)
        self.adjusted_r2_ = adjusted_r2(problem, p)
        warn_of_weak_points(self, problem)
        warn_of_saddle(result, problem)
