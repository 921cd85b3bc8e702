r"""Logistic regression for partial labels (Grandvalet, 2002), for labels of any kind.

.. math:: \max_\beta \sum_i w_i \log \sum_k pl_{ik} f_k(x_i) - \tfrac{\alpha}{2} \sum_k |\beta_k|^2,
          \qquad f_k(x) = \frac{\exp(\beta_k x + b_k)}{\sum_j \exp(\beta_j x + b_j)}

for minimum commitment; `logistic.criteria` has the others. Hard labels give ordinary logistic
regression, and labels that say nothing change nothing. Labels that are probabilities count by their
cross-entropy :math:`\sum_k p_{ik} \log f_k(x_i)`, so that the model learns to predict them. With
genuine sets or degrees of plausibility the criterion has several maxima, and zero may be a saddle:
fits start from several points.
"""

import warnings
from collections.abc import Mapping
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_expit
from sklearn.utils.validation import check_is_fitted

from plausible.base import (
    EmptyClassWarning,
    EvidenceClassifier,
    by_class,
    check_features,
    refuse_order,
    training_rows,
)
from plausible.checks import (
    as_floats,
    check_callable,
    check_flag,
    check_number,
    check_option,
    check_verbose,
    check_whole,
    random_from,
)
from plausible.engine import Callback, Result, Rows, reporter
from plausible.errors import InputError
from plausible.models.logistic.census import (
    LabelCensus,
    census_pass,
    curvature_at_zero,
    kept,
)
from plausible.models.logistic.coordinates import make_coordinates
from plausible.models.logistic.criteria import CRITERIA, FloatArray
from plausible.models.logistic.likelihood import PartialLikelihood, target_pass
from plausible.models.logistic.solvers import SOLVERS, Solver, begun, best_start

COARSER = 3  # chunks of rows, compared to those of the engine: a third less time on two cores
SEES_DEGREES = ("minimum_commitment", "minimum_entropy")  # criteria with log pl in them
BETS = ("self_consistent", "minimum_entropy")  # criteria that start where the cautious one ends


class PartialLogisticRegression(EvidenceClassifier):
    """Logistic regression from sets of candidates, degrees of plausibility, doubt, and no labels.

    Parameters
    ----------
    criterion : "minimum_commitment", "maximum_entropy", "self_consistent" or "minimum_entropy"
        What a partial label means. Minimum commitment: the true class is in the label, which has no
        preference within it; unlabeled rows change nothing. Maximum entropy: the label spreads
        evenly over its candidates (plausibilities are normalized). Self-consistent: the model's own
        guess within the label is taken for true, so that unlabeled rows push the border to where
        few rows are; it starts at the minimum-commitment solution, and can make a bad one worse.
        Minimum entropy: the same for sets, and to be preferred for degrees, which the former
        forgets where the model is sure. Labels that are probabilities count by their cross-entropy
        under each of them.
    alpha : float
        Penalty: alpha / 2 times the sum of squared slopes of all K classes is taken off the
        criterion. scikit-learn's `C` is 1 / alpha, and 2 / alpha for two classes, of whose slopes
        it has only the difference. Separable data have no solution without it.
    fit_intercept, penalize_intercept : bool
    solver : "auto", "lbfgs", "newton" or "em"
        L-BFGS in coordinates that undo scale and correlation of the features; Newton steps in a
        trust region (by Cholesky factors up to 500 coefficients, then by conjugate gradients); the
        EM algorithm of the paper, monotone and slow. "auto" takes Newton steps where they are
        quicker: up to 100 coefficients, if there are not very many rows. EM maximizes minimum
        commitment only: for the criteria that bet it gives the start.
    n_init : "auto" or int
        Number of starts where the criterion is not concave, that is, where some label is neither
        hard nor empty of information; there "auto" is 5, and elsewhere one, zero, is enough. The
        starts lie around the solution of maximum entropy, and beyond 10,000 rows around zero; both
        can be saddles, so small random numbers are added. After ten iterations on at most 1000
        rows, drawn at random, the best of them is chosen.
    init : dict {class: (coef, intercept)} or tuple (coef, intercept), optional
        Where to start, instead of `n_init` starts; for a criterion that bets, instead of the
        minimum-commitment solution. For each class a row of coefficients and a number; or arrays
        like `coef_` and `intercept_`, which are refused where labels have their classes in another
        order than `classes_`.
    tol : float
        A fit ends when the gradient of the mean criterion has a norm below, in coordinates in which
        the curvature is about one; then at most about tol^2 / 2 can be gained for one row. Where
        the criterion is not concave, ten times as much is allowed. EM ends at such a gain.
    max_iter : int
    warm_start : bool
        Whether to start from the last fit.
    random_state : int, RandomState or None
    verbose : int
        1 prints now and then, 2 at each iteration.
    callback : function of Progress, optional
        Called after each iteration; a true answer stops the fit.

    Attributes
    ----------
    classes_ : array (K,)
    coef_, intercept_ : arrays (K, d), (K,), or (1, d), (1,) for two classes
        Single precision if X has it. The intercept of a class that no label allows is -inf.
    objective_ : float
        The penalized criterion.
    log_likelihood_ : float
        The criterion without penalty.
    history_ : array (n_iter_ + 1,)
        The penalized criterion at the start and after each iteration, never falling.
        Of the last of its stages: a criterion that bets is the second of two, each of up to
        `max_iter` iterations.
    n_iter_ : int
    converged_ : bool

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from plausible.labels import Labels
    >>> X, y = load_iris(return_X_y=True)
    >>> sets = [{0} if k == 0 else {1, 2} if x[0] < 6 else {k} for x, k in zip(X, y)]
    >>> model = PartialLogisticRegression(random_state=0).fit(X, Labels.from_sets(sets))
    >>> round(float((model.predict(X) == y).mean()), 2)
    0.97
    """

    _learns_from_rows = True  # of any number, wherever they lie

    def __init__(
        self,
        criterion: str = "minimum_commitment",
        alpha: float = 1.0,
        fit_intercept: bool = True,
        penalize_intercept: bool = False,
        solver: str = "auto",
        n_init: int | str = "auto",
        init: Any = None,
        tol: float = 1e-7,
        max_iter: int = 5000,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: int = 0,
        *,
        callback: Callback | None = None,
    ) -> None:
        self.criterion = criterion
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.penalize_intercept = penalize_intercept
        self.solver = solver
        self.n_init = n_init
        self.init = init
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Estimate the coefficients.

        Parameters
        ----------
        X : array-like or sparse (n, d), Dask array or dataframe, or Rows of `plausible.engine`
            Rows hold features, labels and weights together, and may be larger than memory.
        y : Labels, or all that `as_labels` takes
        sample_weight : array-like (n,), optional

        Returns
        -------
        self
        """
        self._check_options()
        training = training_rows(
            self, X, y, sample_weight, accept_sparse=True, with_shares=True, once=True
        )
        classes = training.classes
        census, rows = self._survey(training.rows.coarser(COARSER), len(classes))
        present = self._learned(census, classes)
        solver = Solver(self.solver, self.tol, self.max_iter, self._reporter())
        bets = self.criterion in BETS and bool(census.n_soft or census.n_unknown)
        first = "minimum_commitment" if self.criterion in BETS else self.criterion
        given = self._given_start(present, classes)
        if bets and given is not None:
            first, bets = self.criterion, False
        problem = self._pose(rows, first, census, present)
        result = self._fit_first(problem, solver, given)
        if bets:
            problem = self._pose(rows, self.criterion, census, present)
            on = solver.run if not result.interrupted else begun
            result = on(problem, result.parameters)
        self._keep(result, problem, classes, present)
        return self

    def _check_options(self) -> None:
        check_option(self.criterion, CRITERIA, "criterion")
        check_option(self.solver, SOLVERS, "solver")
        check_number(self.alpha, "alpha", low=0.0)
        check_number(self.tol, "tol", low=0.0)
        check_whole(self.max_iter, "max_iter", low=1)
        if isinstance(self.n_init, str):
            check_option(self.n_init, ("auto",), "n_init")
        else:
            check_whole(self.n_init, "n_init", low=1)
        for name in ("fit_intercept", "penalize_intercept", "warm_start"):
            check_flag(getattr(self, name), name)
        check_verbose(self.verbose)
        if self.callback is not None:
            check_callable(self.callback, "callback", "the progress")

    def _reporter(self) -> Any:
        return reporter(self.verbose, type(self).__name__, self.callback)

    def _survey(self, rows: Rows, n_classes: int) -> tuple[LabelCensus, Rows]:
        """What the labels say, and the rows that matter."""
        unknown_too = self.criterion != "minimum_commitment" or n_classes == 1

        def leaves_out(census: LabelCensus) -> bool:
            return bool(census.n_idle or (census.n_unknown and not unknown_too))

        return rows.survey(census_pass, partial(kept, unknown_too=unknown_too), leaves_out)

    def _learned(self, census: LabelCensus, classes: NDArray[Any]) -> NDArray[np.bool_]:
        """Which classes are learned: those that some row that says something finds plausible."""
        if len(classes) == 1:
            return np.array([True])
        if not census.informed.any():
            raise InputError(
                "At least one row should favor a class",
                "all labels are unknown or have zero sample weight",
                "label some items",
            )
        counted = census.support if self.criterion == "maximum_entropy" else census.informed
        present = counted > 0
        if not present.all():
            absent = classes[~present].tolist()
            warnings.warn(
                f"Every class should be plausible for some item that says something, but {absent} "
                "never are; they get probability 0.",
                EmptyClassWarning,
                stacklevel=4,
            )
        return present

    def _pose(
        self, rows: Rows, criterion: str, census: LabelCensus, present: NDArray[np.bool_]
    ) -> PartialLikelihood:
        """The problem over the rows that matter to a criterion, of those that matter to any."""
        unknown_too = criterion != "minimum_commitment" or len(present) == 1
        if census.n_unknown and not unknown_too and self.criterion in BETS:
            rows = rows.arrange(partial(kept, unknown_too=False)).kept()
        n_features = self.n_features_in_
        penalty = np.full(n_features + bool(self.fit_intercept), float(self.alpha))
        if self.fit_intercept and not self.penalize_intercept:
            penalty[-1] = 0.0
        index = None if present.all() else np.flatnonzero(present)
        targets, constant = None, census.unknown if criterion == "minimum_commitment" else 0.0
        is_concave = criterion == "maximum_entropy" or (not unknown_too and not census.n_soft)
        curvature = curvature_at_zero(census, int(present.sum()), is_concave)
        coordinates, weight = make_coordinates(rows, int(present.sum()), penalty, curvature)
        if is_concave:
            targets = rows.reduce(target_pass, len(penalty), index)
            # Self-consistency, which comes here with hard labels only, does not see their degrees.
            constant += census.hard if self.criterion in SEES_DEGREES else 0.0
        return PartialLikelihood(
            rows, criterion, index, penalty, weight, constant, coordinates, targets
        )

    def _fit_first(
        self,
        problem: PartialLikelihood,
        solver: Solver,
        given: FloatArray | None,
    ) -> Result:
        """Fit from a given start, from zero, or from the best of several random ones."""
        if given is not None:
            return solver.run(problem, given)
        if problem.targets is not None:
            return solver.run(problem, np.zeros_like(problem.targets))
        random = random_from(self.random_state)
        n_init = None if self.n_init == "auto" else int(self.n_init)
        return best_start(problem, solver, n_init, random)

    def _given_start(self, present: NDArray[np.bool_], classes: NDArray[Any]) -> FloatArray | None:
        """Coefficients (K, D) of the classes that are learned, from the last fit or from `init`."""
        init = self.init
        if self.warm_start and hasattr(self, "coef_"):
            init = self.coef_, self.intercept_
        if init is None:
            return None
        n_classes, n_features = len(present), self.n_features_in_
        if isinstance(init, Mapping):
            beta = rows_by_class(self, init, classes, n_features)
            beta = beta[present][:, : n_features + bool(self.fit_intercept)]
            return np.where(np.isfinite(beta), beta, 0.0)
        shape = (1 if n_classes <= 2 else n_classes, n_features)
        try:
            coef, intercept = (as_floats(part, "init") for part in init)
            fits = coef.shape == shape and intercept.shape in (shape[:1], ())
            fits = fits and bool(np.isfinite(coef).all() and not np.isnan(intercept).any())
        except (TypeError, ValueError):
            fits = False
        if not fits:
            raise ValueError(
                f"init, or the last fit under warm_start, should be a tuple (coef, intercept) of "
                f"numbers of shapes {shape} and {shape[:1]}; give the attributes of a model with "
                "the same classes and features."
            )
        beta = np.column_stack([coef, np.broadcast_to(intercept, shape[0])])
        beta = np.vstack([-beta, beta]) / 2 if n_classes == 2 else beta
        if init is self.init and (beta != beta[:1]).any():
            remedy = "write a dict, init={class: (coefficients, intercept)}"
            refuse_order(self, "init", remedy, classes.tolist())
        beta = beta[present][:, : n_features + bool(self.fit_intercept)]
        return np.where(np.isfinite(beta), beta, 0.0)

    def _keep(
        self,
        result: Result,
        problem: PartialLikelihood,
        classes: NDArray[Any],
        present: NDArray[np.bool_],
    ) -> None:
        """Store what was found; a class that was not learned has no slope and no chance."""
        beta, n_features = result.parameters, self.n_features_in_
        coef = np.zeros((len(present), n_features))
        intercept = np.where(present, 0.0, -np.inf)
        coef[present] = beta[:, :n_features]
        if self.fit_intercept:
            intercept[present] = beta[:, -1]
        if len(present) == 2:
            coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
        X = problem.rows.peek()[0]
        dtype = np.float32 if X is not None and X.dtype == np.float32 else np.float64
        self.classes_ = classes
        self.coef_, self.intercept_ = coef.astype(dtype), intercept.astype(dtype)
        self.history_ = result.history * problem.weight
        self.objective_ = float(self.history_[-1])
        self.log_likelihood_ = self.objective_ + problem.penalized(beta)
        self.n_iter_, self.converged_ = result.n_iter, result.converged

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Logits (n, K), or the log odds (n,) of the second of two classes."""
        logits = self._logits(self._read(X))
        return logits.ravel() if len(self.classes_) == 2 else logits

    def _read(self, X: Any) -> Any:
        check_is_fitted(self)
        numbers = (np.float64, np.float32)
        return check_features(self, X, dtype=numbers, accept_sparse="csr", reset=False)

    def _logits(self, data: Any) -> NDArray[Any]:
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(data @ self.coef_.T) + self.intercept_

    def _log_evidence(self, X: Any) -> NDArray[Any]:
        logits = self._logits(X)
        if len(self.classes_) == 2:
            return np.column_stack([log_expit(-logits), log_expit(logits)])
        return logits

    @property
    def _learned_classes(self) -> NDArray[np.bool_]:
        intercept = np.asarray(self.intercept_, dtype=np.float64)
        if len(self.classes_) == 2:
            return np.append(intercept < np.inf, intercept > -np.inf)
        return np.asarray(intercept > -np.inf)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that features may be sparse."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def rows_by_class(
    model: PartialLogisticRegression, init: Mapping[Any, Any], classes: NDArray[Any], d: int
) -> FloatArray:
    """Coefficients and intercepts (K, d + 1) that are given by class."""
    pairs = by_class(model, init, "init", classes)
    try:
        rows = np.array([np.append(as_floats(a, "init"), as_floats(b, "init")) for a, b in pairs])
    except (TypeError, ValueError):
        rows = np.empty(0)
    is_number = rows.ndim == 2 and np.isfinite(rows[:, :-1]).all() and not np.isnan(rows).any()
    if rows.shape != (len(classes), d + 1) or not is_number:
        raise InputError(
            f"init should have a row of {d} coefficients and an intercept for each class",
            "has something else",
            "write {class: ([...], 0.0)}",
            parameter="init",
        )
    return rows
