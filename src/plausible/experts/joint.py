r"""A classifier and the reliabilities of annotators, learned together.

.. math:: L = \sum_i w_i \log \sum_k f_k(x_i) \prod_{a \in i} P(s_a \mid k, r_a)
   + \log p(f) + \log p(P)

Raykar, Yu, Zhao, Valadez, Florin, Bogoni and Moy, Learning from crowds (2010), with statements of
any kind in the place of hard answers, and any classifier that learns from soft labels in that of
logistic regression: given the reliabilities, the product is a contour, and the classifier that is
fitted to it maximizes L; given the classifier, a step of EM improves the reliabilities. Each
classifier starts where the one before ended, where it has an `init` for that.

log p(P) is that of the imagined answers, and log p(f) what the classifier takes off its own
likelihood: the penalty of logistic regression, the log prior of a mixture (`history_[-1]` less
`log_likelihood_`, where it has both, else 0). What f is depends on the classifier. One that learns
the classes given the features has :math:`f_k(x) = p(k \mid x)`, and L is the likelihood of the
answers given the features. One that learns both, which has `score_samples`, maximizes the
likelihood of answers and features: :math:`f_k(x) = p(x, k)`.

Where people err together (`dependence`), the product about an item with n answers is raised to the
power :math:`\gamma_n` that `plausible.experts.dependence` gives it, here and in L, so that features
speak up against a crowd that is fooled as one; answers then count :math:`\gamma_n` times.

A classifier is kept only if L is higher with it than with the one before, so that L never falls,
even if fits of the classifier are rough or serve another criterion than L. One with a rough
tolerance may rest where L could rise: when L seems to have converged, it is tried with a hundredth
of the tolerance, and the fit goes on if that helps.
"""

import time
import warnings
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from plausible.base import (
    BeliefClassifier,
    Beliefs,
    believe,
    check_weights,
    count_rows,
    remember_order,
    takes_labels,
)
from plausible.checks import (
    check_callable,
    check_number,
    check_option,
    check_verbose,
    check_whole,
    counted,
)
from plausible.engine import Callback, InterruptedFitWarning, Progress, Result
from plausible.errors import InputError
from plausible.experts.annotations import Annotations
from plausible.experts.answer_problem import MODELS, TINY, AnswerProblem, AnswerStatistics
from plausible.experts.dependence import Dependence, check_dependence, exponents
from plausible.experts.known_classes import gold_logs
from plausible.experts.pooling import counted_once
from plausible.experts.reliability import conclude, pose
from plausible.labels import Labels
from plausible.models import PartialLogisticRegression, weighting

FloatArray = NDArray[np.float64]

MOST_CLASSES = 500  # of logistic regression, which is the default
ROUNDING = 1e-12  # relative gains below tell nothing
FINE = 1e-7  # tolerance of a classifier that needs no lowering
SHARPER = 100.0  # factor by which tolerances are lowered


class Learned(NamedTuple):
    """A fitted classifier as L sees it.

    logs : log probabilities (n, K) of the classes, in the order of the answers' classes
    own : what is beside them in L: log densities of the features, and penalty or log prior
    """

    classifier: Any
    logs: FloatArray
    own: float


def go_on(
    classifier: Any, last: Any, X: Any, labels: Labels, weights: dict[str, Any], sharpness: float
) -> Any:
    """Fit from where the last classifier of this kind ended, if it can be told where to start.

    Its tolerance, if it has one, is divided by the sharpness.
    """
    given = classifier.get_params(deep=False)
    changes: dict[str, Any] = {}
    if hasattr(last, "component_classes_") and np.isfinite(last.means_).all():
        changes["init"] = _means_by_class(last)
    elif hasattr(last, "coef_") and not hasattr(last, "means_"):
        changes["init"] = rows_by_class(last)
    if _is_rough(classifier):
        changes["tol"] = max(given["tol"] / sharpness, FINE)
    changes = {name: value for name, value in changes.items() if name in given}
    fitted = classifier.set_params(**changes).fit(X, labels, **weights)
    return fitted.set_params(**{name: given[name] for name in changes})


def _means_by_class(last: Any) -> dict[str, Any]:
    """Where a mixture ended, by class, as its `init` wants it."""
    parts = {"weights": last.weights_, "means": last.means_}
    shared = {"covariances": last.covariances_}
    if last._kind != "tied":
        parts, shared = parts | shared, {}
    whose, names = last.component_classes_, last.classes_.tolist()
    named = {name: {one: part[whose == one] for one in names} for name, part in parts.items()}
    return named | shared


def rows_by_class(last: Any) -> dict[Any, Any]:
    """Where a logistic regression ended, by class, as its `init` wants it."""
    coef, intercept = last.coef_, last.intercept_
    if len(coef) < len(last.classes_):  # one row for the odds of the second of two classes
        coef, intercept = np.vstack([-coef, coef]) / 2, np.append(-intercept, intercept) / 2
    return dict(zip(last.classes_.tolist(), zip(coef, intercept, strict=True), strict=True))


def _is_rough(classifier: Any, sharpness: float = 1.0) -> bool:
    """Whether a classifier has a tolerance that can be lowered still."""
    tol = classifier.get_params(deep=False).get("tol")
    return isinstance(tol, int | float) and tol / sharpness > FINE


def _own_criterion(classifier: Any, X: Any, weight: FloatArray) -> float:
    """What a classifier maximizes beside the likelihood of the labels given the features."""
    model = classifier[-1] if isinstance(classifier, Pipeline) else classifier
    own = 0.0
    if hasattr(model, "history_") and hasattr(model, "log_likelihood_"):
        own += float(model.history_[-1]) - float(model.log_likelihood_)
    if hasattr(classifier, "score_samples"):
        own += float(weight @ np.asarray(classifier.score_samples(X)))
    return own


def weights_for(classifier: Any, weight: FloatArray) -> dict[str, Any]:
    """Sample weights as a parameter of the classifier's fit."""
    given = weighting(classifier, weight)
    if not given and (weight != 1.0).any():
        raise InputError(
            "classifier should take sample_weight in fit",
            f"{type(classifier).__name__} does not",
            "use one that does, such as PartialLogisticRegression, or give no weights",
            parameter="classifier",
        )
    return given


class JointAnnotatorClassifier(BeliefClassifier):
    """Classifier learned from features and the answers of several annotators.

    Parameters
    ----------
    classifier : estimator, optional
        Any that takes `Labels` and has `predict_proba`; `PartialLogisticRegression` by default.
    model : {"full", "class", "one_coin"}
        What is learned of an annotator; see `fit_reliability`.
    smoothing : float
        Imagined answers of each annotator.
    dependence : {"none", "auto", "fit"}, float or Dependence
        How far people err together: "auto" assumes that half of what moves them is shared, a number
        is the exponent for all items; "fit" learns it from `gold`, or assumes it, lets those who
        copy each other count as one person, and groups count less; see `Annotations.pool`.
    tol : float
        Stop when what is still to be gained is less than this for each item, as far as the last
        gains tell.
    max_iter : int
    verbose : int
        Report every iteration if not 0.
    callback : function of Progress, optional
        Called after each iteration.

    Attributes
    ----------
    classifier_ : the fitted classifier
    reliability_ : Reliability
        Of the annotators; `posterior` is given answers and features.
    classes_ : array (K,)
    history_ : array (n_iter_,)
        The criterion after each iteration, with the log priors of confusions and classifier; it
        never falls. For classifiers that model the features, as mixtures do, it is the likelihood
        of answers and features, else that of the answers given the features.
    n_iter_ : int
    converged_ : bool

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=200)
    >>> X = rng.normal(size=(200, 2)) + 2 * y[:, None]
    >>> said = np.where(rng.uniform(size=(200, 3)) < [0.1, 0.3, 0.5], 1 - y[:, None], y[:, None])
    >>> answers = Annotations.from_answers(said, annotators=["ann", "bob", "cy"])
    >>> model = JointAnnotatorClassifier(model="one_coin").fit(X, answers)
    >>> model.reliability_.accuracy.round(1)
    array([0.9, 0.7, 0.5])
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    dependence: Any = "none"  # of models that were saved before it was a parameter

    def __init__(
        self,
        classifier: Any = None,
        model: str = "full",
        *,
        smoothing: float = 1.0,
        dependence: Any = "none",
        tol: float = 1e-4,
        max_iter: int = 50,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.classifier = classifier
        self.model = model
        self.smoothing = smoothing
        self.dependence = dependence
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose
        self.callback = callback

    def fit(
        self,
        X: ArrayLike,
        y: Annotations,
        gold: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from features and answers.

        Parameters
        ----------
        X : array-like (n, d)
            A row for each of the items, in the order of `y.items`.
        y : Annotations
        gold : Labels or dict of items, optional
            Classes that are known.
        sample_weight : array-like (n,), optional
            Weights of the items, with all their answers; the classifier must take weights, too.
        """
        self._check_options()
        check_answers(X, y)
        weight = check_weights(sample_weight, len(y.items))
        if not weight.any():
            raise InputError(
                "sample_weight should be positive for some item",
                "is 0 for all",
                "give weights",
                parameter="sample_weight",
            )
        order = np.argsort(y.classes)
        together = self.dependence
        if isinstance(together, str) and together == "fit":
            together = y.dependence(gold=gold)
        if isinstance(together, Dependence):
            y = counted_once(y, together)
        problem = pose(y, self.model, self.smoothing, gold_logs(y, gold))
        if self.classifier is None and len(y.classes) > MOST_CLASSES:
            raise InputError(
                f"The default classifier should have at most {MOST_CLASSES} classes",
                f"there are {len(y.classes)}, on which logistic regression takes hours",
                "give another, such as classifier=DiscriminantClassifier()",
            )
        power = exponents(together, y)
        result, posterior, log_likelihood = self._climb(X, y.classes, problem, order, weight, power)
        if not result.converged:
            interrupted = (
                f"The fit was interrupted after {counted(result.n_iter, 'iteration')}; the best "
                "parameters so far are kept."
            )
            ended = (
                f"The criterion should stop rising within max_iter={self.max_iter} iterations, but "
                "did not; raise max_iter or tol."
            )
            if result.interrupted:
                warnings.warn(interrupted, InterruptedFitWarning, stacklevel=2)
            else:
                warnings.warn(ended, ConvergenceWarning, stacklevel=2)
        self.classes_ = y.classes[order]
        remember_order(self, y.classes.tolist())
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)  # of a fit before
            if hasattr(self.classifier_, name):
                setattr(self, name, getattr(self.classifier_, name))
        self.history_, self.n_iter_ = result.history, result.n_iter
        self.converged_ = result.converged
        self.reliability_ = conclude(y, problem, result, (posterior, weight, log_likelihood))
        return self

    def score(
        self,
        X: ArrayLike,
        y: Annotations | ArrayLike,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Soft accuracy; answers are pooled with the doubts that were learned of people.

        Parameters
        ----------
        X : array-like (n, d)
        y : Annotations, or labels as `as_labels` takes them
            What is said about each row. Somebody who did not answer in `fit` is doubted as people
            are on average.
        sample_weight : array-like (n,), optional
        """
        check_is_fitted(self)
        if isinstance(y, Annotations):
            known = self.reliability_
            doubts = dict(zip(known.annotators.tolist(), known.doubt.tolist(), strict=True))
            usual = float(np.mean(known.doubt))
            doubt = [doubts.get(name, usual) for name in y.annotators.tolist()]
            y = y.pool(doubt=np.array(doubt), on_conflict="unknown")
        return super().score(X, y, sample_weight)

    def _check_options(self) -> None:
        check_option(self.model, MODELS, "model")
        check_number(self.tol, "tol", 0.0)
        check_number(self.smoothing, "smoothing", 0.0)
        check_whole(self.max_iter, "max_iter", 1)
        check_dependence(self.dependence, "dempster")
        if isinstance(self.dependence, str):
            check_option(self.dependence, ("none", "auto", "fit"), "dependence")
        check_verbose(self.verbose)
        if self.callback is not None:
            check_callable(self.callback, "callback", "a Progress")
        if self.classifier is not None and not takes_labels(self.classifier):
            raise InputError(
                "classifier should learn from soft labels",
                f"{type(self.classifier).__name__} takes hard ones only",
                "use one of plausible.models, such as PartialLogisticRegression",
                parameter="classifier",
            )

    def _climb(
        self,
        X: Any,
        classes: NDArray[Any],
        problem: AnswerProblem,
        order: NDArray[np.int64],
        weight: FloatArray,
        power: FloatArray,
    ) -> tuple[Result, FloatArray, float]:
        """Classifier and reliabilities in turn; Ctrl-C leaves what was best, if anything was."""
        inner = PartialLogisticRegression() if self.classifier is None else clone(self.classifier)
        if getattr(inner, "unlabeled_weight", None) == "auto":  # the criterion is one for all steps
            inner.set_params(unlabeled_weight=1.0)
        point = kept = problem.start(weight)
        learned: Learned | None = None
        sharpness, is_tried = 1.0, False
        posterior, log_likelihood = np.empty((0, 0)), np.nan
        history: list[float] = []
        converged = interrupted = False
        began, n_rows = time.perf_counter(), weight.sum()
        try:
            for _ in range(self.max_iter):
                evidence = problem.evidence(point) * power[:, None]
                if problem.gold is not None:
                    evidence += problem.gold
                labels = _contour_labels(evidence, classes)
                found = _fit_classifier(inner, learned, X, labels, weight, order, sharpness)
                learned, posterior, log_likelihood = _the_better(found, learned, evidence, weight)
                self.classifier_, kept = learned.classifier, point
                history.append(log_likelihood + learned.own + problem.log_prior(point.learned))
                converged = _still_to_gain(history) < self.tol * n_rows
                if converged and not is_tried and _is_rough(inner, sharpness):
                    converged, is_tried, sharpness = False, True, sharpness * SHARPER
                elif not converged:
                    is_tried = False
                gain = (history[-1] - history[-2]) / n_rows if len(history) > 1 else np.inf
                self._report(len(history), history[-1], gain, time.perf_counter() - began)
                if converged:
                    break
                weighted = posterior * weight[:, None]
                counts = problem.expected(weighted * power[:, None], point.learned)
                point = problem.solve(
                    AnswerStatistics(counts, weighted.sum(axis=0) / n_rows, np.nan)
                )
        except KeyboardInterrupt:
            interrupted = True
            if not history:
                raise
        path = np.array(history)
        result = Result(kept, path, len(path), converged, interrupted, 0, path[-1:])
        return result, posterior, log_likelihood

    def _report(self, iteration: int, criterion: float, gain: float, seconds: float) -> None:
        if self.verbose:
            print(f"{type(self).__name__}: iteration {iteration}, {criterion:.6g}")
        if self.callback is not None:
            self.callback(Progress(iteration, criterion, gain, seconds, float("inf"), 1))

    def believe(self, X: ArrayLike, labels: Any = None) -> Beliefs:
        """What the classifier believes about items, from their features.

        Parameters
        ----------
        X : array-like (n, d)
        labels : Labels, or all that `as_labels` takes, optional
            What is known about the class of each row already.

        Returns
        -------
        Beliefs
        """
        check_is_fitted(self)
        return believe(self.classifier_, X, labels)


def check_answers(X: Any, y: Any) -> None:
    """Refuse what is not the answers about the rows of X."""
    if not isinstance(y, Annotations):
        raise InputError(
            "y should be Annotations",
            f"is {type(y).__name__}",
            "make them with Annotations.from_answers, or fit the classifier itself on labels",
            parameter="y",
        )
    n_rows = count_rows(X)
    if n_rows != len(y.items):
        raise InputError(
            f"X should have a row for each of the {len(y.items)} items of the answers, in the "
            "order of their `items`",
            f"has {n_rows}",
            "select and order the rows",
            parameter="X",
        )


def _contour_labels(evidence: FloatArray, classes: NDArray[Any]) -> Labels:
    """What the answers say of the classes, from logs (n, K), as labels."""
    return Labels(np.exp(evidence - evidence.max(axis=1, keepdims=True)), classes.tolist())


def _fit_classifier(
    inner: Any,
    last: Learned | None,
    X: Any,
    labels: Labels,
    weight: FloatArray,
    order: NDArray[np.int64],
    sharpness: float,
) -> Learned:
    """Fit a copy of the classifier to labels, whose classes it sorts in this `order`."""
    before = None if last is None else last.classifier
    weights = weights_for(inner, weight)
    with warnings.catch_warnings():
        # A classifier that was interrupted ends here, and with it the whole fit.
        warnings.simplefilter("error", InterruptedFitWarning)
        try:
            fitted = go_on(clone(inner), before, X, labels, weights, sharpness)
        except InterruptedFitWarning:
            raise KeyboardInterrupt from None
    logs = np.empty_like(labels.contour)
    known = np.asarray(fitted.predict_proba(X), dtype=np.float64)
    logs[:, order] = np.log(np.maximum(known, TINY))
    return Learned(fitted, logs, _own_criterion(fitted, X, weight))


def _the_better(
    found: Learned, last: Learned | None, evidence: FloatArray, weight: FloatArray
) -> tuple[Learned, FloatArray, float]:
    """The classifier with which L is higher, with posterior (n, K) and log likelihood."""
    best: tuple[Learned, FloatArray, float] | None = None
    for learned in (found, last):
        if learned is None:
            continue
        scores = evidence + learned.logs
        logs = logsumexp(scores, axis=1, keepdims=True)
        value = float(weight @ logs[:, 0])
        if best is None or value + learned.own > best[2] + best[0].own:
            best = learned, np.exp(scores - logs), value
    assert best is not None
    return best


def _still_to_gain(history: list[float]) -> float:
    """What steps like the last two would still gain, which fall by the same factor each time.

    Examples
    --------
    >>> _still_to_gain([0.0, 4.0, 6.0])
    4.0
    """
    if len(history) < 2:
        return np.inf
    gain = history[-1] - history[-2]
    if len(history) < 3 or gain <= ROUNDING * abs(history[-1]):
        return gain
    before = history[-2] - history[-3]
    return gain / (1 - gain / before) if gain < before else np.inf
