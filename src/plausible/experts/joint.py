r"""A classifier and the reliabilities of annotators, learnt together.

.. math:: L = \sum_i \log \sum_k f_k(x_i) \prod_{a \in i} P(s_a \mid k, r_a)

Raykar, Yu, Zhao, Valadez, Florin, Bogoni and Moy, Learning from crowds (2010), with statements of
any kind in the place of hard answers, and any classifier that learns from soft labels in that of
logistic regression: given the reliabilities, the product is a contour, and the classifier that is
fitted to it maximises L; given the classifier, a step of EM improves the reliabilities. Each
classifier starts where the one before ended, where it has an `init` for that.
"""

import time
import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from plausible.base import BeliefClassifier, Beliefs, believe, normalized, takes_labels
from plausible.checks import check_number, check_option, check_whole
from plausible.engine.loop import Callback, Progress, Result
from plausible.experts.annotations import Annotations
from plausible.experts.answer_model import MODELS, AnswerProblem, Parameters, Summary
from plausible.experts.reliability import conclude, gold_logs, pose
from plausible.labels import Labels
from plausible.models import PartialLogisticRegression

FloatArray = NDArray[np.float64]


def go_on(classifier: Any, last: Any, X: Any, labels: Labels) -> Any:
    """Fit from where the last classifier of this kind ended, if it can be told where to start."""
    given = classifier.get_params(deep=False)
    start: Any = None
    if hasattr(last, "covariances_") and np.isfinite(last.means_).all():
        start = {"weights": last.weights_, "means": last.means_, "covariances": last.covariances_}
    elif hasattr(last, "coef_") and not hasattr(last, "means_"):
        start = last.coef_, last.intercept_
    if start is None or "init" not in given:
        return classifier.fit(X, labels)
    return classifier.set_params(init=start).fit(X, labels).set_params(init=given["init"])


class JointAnnotatorClassifier(BeliefClassifier):
    """Classifier learnt from features and the answers of several annotators.

    Parameters
    ----------
    classifier : estimator, optional
        Any that takes `Labels` and has `predict_proba`; `PartialLogisticRegression` by default.
    model : {"full", "class", "one_coin"}
        What is learnt of an annotator; see `fit_reliability`.
    smoothing : float
        Imagined answers of each annotator.
    tol : float
        Stop when an iteration gains less than this for each item.
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
    history_ : array
        The criterion after each iteration.
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

    def __init__(
        self,
        classifier: Any = None,
        model: str = "full",
        *,
        smoothing: float = 1.0,
        tol: float = 1e-4,
        max_iter: int = 50,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.classifier = classifier
        self.model = model
        self.smoothing = smoothing
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose
        self.callback = callback

    def fit(self, X: ArrayLike, y: Annotations, gold: Any = None) -> Self:
        """Learn from features and answers.

        Parameters
        ----------
        X : array-like (n, d)
            A row for each of the items, in the order of `y.items`.
        y : Annotations
        gold : Labels or dict of items, optional
            Classes that are known.
        """
        check_option(self.model, MODELS, "model")
        check_number(self.tol, "tol", 0.0)
        check_number(self.smoothing, "smoothing", 0.0)
        check_whole(self.max_iter, "max_iter", 1)
        if self.classifier is not None and not takes_labels(self.classifier):
            raise ValueError(
                "classifier should learn from soft labels, but "
                f"{type(self.classifier).__name__} takes hard ones only; use one of "
                "plausible.models, such as PartialLogisticRegression."
            )
        if not isinstance(y, Annotations):
            raise ValueError(
                f"y should be Annotations, but is {type(y).__name__}; make them with "
                "Annotations.from_answers, or fit the classifier itself on labels."
            )
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)  # type: ignore[arg-type]
        if n_rows != len(y.items):
            raise ValueError(
                f"X should have a row for each of the {len(y.items)} items of the answers, in the "
                f"order of their `items`, but has {n_rows}; select and order the rows."
            )
        order = np.argsort(y.classes)
        problem = pose(y, self.model, self.smoothing, gold_logs(y, gold))
        result, posterior = self._climb(X, y.classes, problem, order)
        if not result.converged:
            interrupted = (
                f"The fit was interrupted after {result.n_iter} iterations; the best parameters so "
                "far are kept."
            )
            ended = (
                f"The criterion should stop rising within max_iter={self.max_iter} iterations, but "
                "did not; raise max_iter or tol."
            )
            message = interrupted if result.interrupted else ended
            warnings.warn(message, ConvergenceWarning, stacklevel=2)
        self.classes_ = y.classes[order]
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)  # of a fit before
            if hasattr(self.classifier_, name):
                setattr(self, name, getattr(self.classifier_, name))
        self.history_, self.n_iter_ = result.history, result.n_iter
        self.converged_ = result.converged
        self.reliability_ = conclude(y, problem, result, posterior)
        return self

    def _climb(
        self, X: Any, classes: NDArray[Any], problem: AnswerProblem, order: NDArray[np.int64]
    ) -> tuple[Result, FloatArray]:
        """Classifier and reliabilities in turn; Ctrl-C leaves what was best, if anything was."""
        self.classifier_: Any = None
        point = kept = problem.start()
        posterior = np.empty((0, 0))
        history: list[float] = []
        converged = interrupted = False
        began = time.perf_counter()
        try:
            for _ in range(self.max_iter):
                scores = self._step(X, problem, point, classes, order)
                logs = logsumexp(scores, axis=1, keepdims=True)
                penalty = problem.log_prior(point.learnt)
                posterior, kept = normalized(scores), point
                history.append(float(logs.sum() + penalty))
                gain = (history[-1] - history[-2]) / len(scores) if len(history) > 1 else np.inf
                converged = bool(gain < self.tol)
                self._report(len(history), history[-1], gain, time.perf_counter() - began)
                if converged:
                    break
                counts = problem.expected(posterior, point.learnt)
                point = problem.solve(Summary(counts, posterior.mean(axis=0), np.nan))
        except KeyboardInterrupt:
            interrupted = True
            if not history:
                raise
        path = np.array(history)
        found = Result(kept, path, len(path), converged, interrupted, 0, path[-1:])
        return found, posterior

    def _report(self, iteration: int, criterion: float, gain: float, seconds: float) -> None:
        if self.verbose:
            print(f"{type(self).__name__}: iteration {iteration}, {criterion:.6g}")
        if self.callback is not None:
            self.callback(Progress(iteration, criterion, gain, seconds, float("inf"), 1))

    def _step(
        self,
        X: Any,
        problem: AnswerProblem,
        point: Parameters,
        classes: NDArray[Any],
        order: NDArray[np.int64],
    ) -> FloatArray:
        """Fit the classifier to what the answers say; log of both together (n, K)."""
        evidence = problem.evidence(point)
        if problem.gold is not None:
            evidence = evidence + problem.gold
        contour = np.exp(evidence - evidence.max(axis=1, keepdims=True))
        inner = PartialLogisticRegression() if self.classifier is None else self.classifier
        labels = Labels(contour, classes.tolist())
        with warnings.catch_warnings():
            # A classifier that was interrupted ends here, and with it the whole fit.
            warnings.filterwarnings("error", "The fit was interrupted", ConvergenceWarning)
            try:
                self.classifier_ = go_on(clone(inner), self.classifier_, X, labels)
            except ConvergenceWarning as warning:
                if "interrupted" not in str(warning):
                    raise
                raise KeyboardInterrupt from None
        known = np.asarray(self.classifier_.predict_proba(X))
        scores = evidence.copy()
        scores[:, order] += np.log(np.maximum(known, 1e-300))
        return scores

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
