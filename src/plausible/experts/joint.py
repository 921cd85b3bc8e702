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

With `difficulty`, answers about some items are drawn by lot more often than about others, as their
features say; see `plausible.experts.feature_difficulty`.

A classifier is kept only if L is higher with it than with the one before, so that L never falls,
even if fits of the classifier are rough or serve another criterion than L. One with a rough
tolerance may rest where L could rise: when L seems to have converged, it is tried with a hundredth
of the tolerance, and the fit goes on if that helps.
"""

import time
import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from plausible.base import (
    BeliefClassifier,
    Beliefs,
    believe,
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
    shown,
)
from plausible.engine import Callback, InterruptedFitWarning, Progress, Result
from plausible.errors import InputError
from plausible.experts.annotations import Annotations
from plausible.experts.answer_problem import MODELS
from plausible.experts.dependence import check_dependence
from plausible.experts.feature_difficulty import FeatureDifficulty
from plausible.experts.joint_crowd import Crowd
from plausible.experts.joint_input import crowd_in_memory, crowd_in_parts
from plausible.experts.joint_learning import Learned, is_rough
from plausible.experts.parts import AnnotationParts
from plausible.models import PartialLogisticRegression

FloatArray = NDArray[np.float64]

MOST_CLASSES = 500  # of logistic regression, which is the default
ROUNDING = 1e-12  # relative gains below tell nothing
SHARPER = 100.0  # factor by which tolerances are lowered


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
        copy each other count as one person, and groups count less (without gold, those that
        classifiers tell which learned from other items); see `Annotations.pool`.
    difficulty : {None, "features"} or transformer
        Whether answers about some items are drawn by lot more often than about others, as the
        features say; what a transformer makes of them (squares, say) if one is given. None takes
        all items for equally difficult.
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
    difficulty_ : FeatureDifficulty or None
        What was learned of the difficulty of items; see `predict_difficulty`.
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

    dependence: Any = "none"  # of models that were saved before these were parameters
    difficulty: Any = None
    difficulty_: FeatureDifficulty | None = None

    def __init__(
        self,
        classifier: Any = None,
        model: str = "full",
        *,
        smoothing: float = 1.0,
        dependence: Any = "none",
        difficulty: Any = None,
        tol: float = 1e-4,
        max_iter: int = 50,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.classifier = classifier
        self.model = model
        self.smoothing = smoothing
        self.dependence = dependence
        self.difficulty = difficulty
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose
        self.callback = callback

    def fit(
        self,
        X: Any,
        y: Annotations | AnnotationParts,
        gold: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from features and answers.

        Parameters
        ----------
        X : array-like (n, d)
            A row for each of the items, in the order of `y.items`. With answers in parts, a list of
            such arrays, one for each part, or a function without arguments that yields them; they
            are read again at each pass, and never held in memory together.
        y : Annotations or AnnotationParts
        gold : Labels or dict of items, optional
            Classes that are known.
        sample_weight : array-like (n,), optional
            Weights of the items, with all their answers; the classifier must take weights, too.
        """
        self._check_options()
        gather: Any = crowd_in_parts if isinstance(y, AnnotationParts) else crowd_in_memory
        crowd: Crowd = gather(self, X, y, gold, sample_weight)
        self._check_classes(y)
        result, log_likelihood = self._climb(crowd)
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
                warnings.warn(interrupted, InterruptedFitWarning, stacklevel=3)
            else:
                warnings.warn(ended, ConvergenceWarning, stacklevel=3)
        self.classes_ = np.sort(y.classes)
        remember_order(self, y.classes.tolist())
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)  # of a fit before
            if hasattr(self.classifier_, name):
                setattr(self, name, getattr(self.classifier_, name))
        self.history_, self.n_iter_ = result.history, result.n_iter
        self.converged_ = result.converged
        self.reliability_ = crowd.conclude(result, log_likelihood)
        learned = getattr(crowd, "difficulty", None)
        self.difficulty_ = None if learned is None else learned.without_rows()
        return self

    def _check_classes(self, y: Annotations | AnnotationParts) -> None:
        if self.classifier is None and len(y.classes) > MOST_CLASSES:
            raise InputError(
                f"The default classifier should have at most {MOST_CLASSES} classes",
                f"there are {len(y.classes)}, on which logistic regression takes hours",
                "give another, such as classifier=DiscriminantClassifier()",
            )

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
        if isinstance(self.difficulty, str):
            check_option(self.difficulty, ("features",), "difficulty")
        elif self.difficulty is not None and not hasattr(self.difficulty, "transform"):
            raise InputError(
                "difficulty should be None, 'features' or a transformer",
                f"is {shown(self.difficulty)}",
                "write 'features', or give one such as PolynomialFeatures()",
                parameter="difficulty",
                value=self.difficulty,
            )
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

    def _climb(self, crowd: Crowd) -> tuple[Result, float]:
        """Classifier and reliabilities in turn; Ctrl-C leaves what was best, if anything was."""
        inner = PartialLogisticRegression() if self.classifier is None else clone(self.classifier)
        if getattr(inner, "unlabeled_weight", None) == "auto":  # the criterion is one for all steps
            inner.set_params(unlabeled_weight=1.0)
        point = kept = crowd.start()
        learned: Learned | None = None
        sharpness, is_tried, log_likelihood = 1.0, False, np.nan
        history: list[float] = []
        converged = interrupted = False
        began, n_rows = time.perf_counter(), crowd.n_rows
        try:
            for _ in range(self.max_iter):
                found = crowd.learn(inner, learned, point, sharpness)
                learned, log_likelihood = crowd.judge(found, learned)
                self.classifier_, kept = learned.classifier, point
                history.append(log_likelihood + learned.own + crowd.log_prior(point))
                converged = _still_to_gain(history) < self.tol * n_rows
                if converged and not is_tried and is_rough(inner, sharpness):
                    converged, is_tried, sharpness = False, True, sharpness * SHARPER
                elif not converged:
                    is_tried = False
                gain = (history[-1] - history[-2]) / n_rows if len(history) > 1 else np.inf
                self._report(len(history), history[-1], gain, time.perf_counter() - began)
                if converged or len(history) == self.max_iter:
                    break
                point = crowd.step(point)
        except KeyboardInterrupt:
            interrupted = True
            if not history:
                raise
        path = np.array(history)
        result = Result(kept, path, len(path), converged, interrupted, 0, path[-1:])
        return result, log_likelihood

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

    def predict_difficulty(self, X: ArrayLike) -> FloatArray:
        """With which probability (n,) an answer about each row would be drawn by lot.

        Parameters
        ----------
        X : array-like (n, d)

        Returns
        -------
        array (n,)
            Zeros if `difficulty` was None.
        """
        check_is_fitted(self)
        if self.difficulty_ is None:
            return np.zeros(count_rows(X))
        return self.difficulty_.of(X)


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
