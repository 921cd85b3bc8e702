"""A classifier that finds out by itself which models suit the data.

Every candidate of a ladder bets on rows that it has not seen, and is judged by the labels with
their degrees (see `choice`). Those that help are fitted to all rows, and share the votes.
"""

import warnings
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from plausible.base import (
    EmptyClassWarning,
    SharpenedLabelsWarning,
    check_features,
    check_labels_and_weights,
)
from plausible.checks import (
    check_callable,
    check_flag,
    check_n_jobs,
    check_number,
    check_option,
    check_verbose,
    check_whole,
    random_from,
)
from plausible.engine import Callback, reporter
from plausible.errors import InputError
from plausible.labels import Labels
from plausible.models.auto.choice import (
    average,
    chances,
    earned,
    fit_exponent,
    fit_votes,
    held_out_losses,
    kept_votes,
    log_bets,
    tempered,
)
from plausible.models.auto.ladder import Rung, default_ladder, fit_rung, seeded
from plausible.models.auto.results import summarize, tabulate
from plausible.models.auto.trials import (
    Rows,
    Settings,
    Trial,
    climb,
    compared_rows,
    threads_for,
)
from plausible.models.ensemble.members import (
    Named,
    NamedEnsemble,
    bets_of,
    check_members,
    check_names,
)
from plausible.models.folds import content_folds, given_folds
from plausible.models.gaussian import SingularCovarianceWarning, UnlabeledRowsWarning

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

MOST_ROWS = 4000  # on which candidates are compared
FARTHEST = 1e100  # of standardized features
JUDGED = (  # what candidates say about their fits to all rows; held-out rows have judged them
    ConvergenceWarning, EmptyClassWarning, SharpenedLabelsWarning, SingularCovarianceWarning,
    UnlabeledRowsWarning,
)  # fmt: skip
LARGEST_SEED = np.iinfo(np.int32).max


def standardization(X: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and spread (d,) of features; a feature that is constant has spread one."""
    share = weight / weight.max()
    size = np.maximum(np.abs(X).max(axis=0), 1e-300)  # features may be near the largest numbers
    mean = np.average(X / size, axis=0, weights=share)
    spread = np.sqrt(np.average((X / size - mean) ** 2, axis=0, weights=share))
    return mean * size, np.where(spread > 1e-10, spread * size, 1.0)


class AutoClassifier(NamedEnsemble):
    """Try a ladder of models on held-out rows, and answer with those that do best.

    The default where you do not know which model suits: no model is best on all data, and labels
    that err together mislead some models more than others.

    Features are standardized. Each candidate bets on rows that it has not seen; its bets are
    tempered by one exponent, so that they are as sure as held-out labels allow, and judged by their
    loss, which is the soft log-loss and a part of the cross-entropy. The average of bets with the
    lowest loss gives the votes, where each candidate has half a row of its own, so that few rows do
    not decide; the candidates that have votes are fitted to all rows and answer together.

    Parameters
    ----------
    estimators : list of (name, classifier), optional
        The ladder. By default discriminant analysis (shrunk and not), logistic regression (three
        ridges, and on random Fourier features), two mixtures, neighbors, boosted trees and a
        forest. Some of them read labels in several ways: as classes among which the model may
        choose, as shares that it takes as they are or sharpened, or as hard ones. Your own
        classifiers are given the labels as they are.
    combination : {"votes", "best"}
        Whether candidates share the votes, or the one with the lowest loss gets all.
    calibrate : bool
        Whether bets are tempered.
    cv : int or splitter
        Folds. A number is reached by dealing out the rows of each class in the order of their
        features, so that neither chance nor the order of rows matters.
    max_rows : int
        At most so many rows are used to compare candidates; those with votes learn from all.
    max_seconds : float, optional
        No further candidate is tried after so much time; the table says which. Time makes results
        differ from run to run, so this should be rarely reached.
    random_state : int, RandomState or None
        For the resampling, and for candidates whose own is None.
    verbose : int
        1 reports now and then, 2 after every candidate.
    n_jobs : int, optional
        How many folds are worked on at the same time.
    callback : function of Progress, optional
        Called after each candidate; a true answer goes on with those that were tried.

    Attributes
    ----------
    classes_ : array (K,)
    results_ : list of dict
        What was tried, in order: `name`; `loss` (of tempered bets, a row) and `soft_accuracy` out
        of fold; `behind`, how much higher its loss is than the lowest, with its standard `error`;
        `chance`, the share of resamples of the rows in which its loss is the lowest; `vote`,
        `exponent`, `seconds`, and in `note` why a candidate has no scores.
    best_name_, best_estimator_ : str, fitted classifier
        The candidate with most votes.
    named_estimators_ : dict
        Fitted classifiers that have votes.
    votes_, exponents_, exponent_ : arrays (number of voters,), float
    loss_, soft_accuracy_ : float
        Of the whole, out of fold (votes and the last exponent were fitted to the same rows).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from plausible.labels import Labels
    >>> from plausible.models import PartialLogisticRegression, SoftNearestCentroid
    >>> X, y = load_iris(return_X_y=True)
    >>> doubted = Labels.from_doubt(y, doubt=np.where(np.arange(150) % 3, 0.2, 1.0))
    >>> ladder = [("near", SoftNearestCentroid()), ("logistic", PartialLogisticRegression())]
    >>> model = AutoClassifier(ladder, random_state=0).fit(X, doubted)
    >>> model.best_name_
    'logistic'
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    def __init__(
        self,
        estimators: Named | None = None,
        combination: Literal["votes", "best"] = "votes",
        calibrate: bool = True,
        cv: Any = 5,
        max_rows: int = MOST_ROWS,
        max_seconds: float | None = 600.0,
        random_state: Any = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        *,
        callback: Callback | None = None,
    ) -> None:
        self.estimators = estimators
        self.combination = combination
        self.calibrate = calibrate
        self.cv = cv
        self.max_rows = max_rows
        self.max_seconds = max_seconds
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.callback = callback

    def fit(self, X: ArrayLike, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Compare the candidates, and fit those that have votes to all rows.

        Parameters
        ----------
        X : array-like (n, d)
        y : Labels, or all that `as_labels` takes
        sample_weight : array-like (n,), optional
            How often each row counts.

        Returns
        -------
        self
        """
        self._check_options()
        data = check_features(self, X, dtype=np.float64)
        labels, weight = check_labels_and_weights(self, y, sample_weight, len(data), X)
        counted = weight > 0.0
        if labels[counted].is_unknown.all() and labels.n_classes > 1:
            raise InputError(
                "At least one row should favor a class",
                "all labels are unknown or have zero sample weight",
                "label some items",
            )
        dealt = given_folds(self.cv, data, labels)
        self.classes_ = labels.classes
        self.mean_, self.scale_ = standardization(data[counted], weight[counted])
        scaled, labels, weight = self._standard(data[counted]), labels[counted], weight[counted]
        self._warn_of_absent(labels)
        folds = self._folds(scaled, labels, weight) if dealt is None else dealt[counted]
        rng = random_from(self.random_state)
        rungs = self._rungs(int(rng.randint(LARGEST_SEED)))
        rows = compared_rows(scaled, labels, weight, folds, self.max_rows)
        with threads_for(scaled):
            trials = self._climb(rungs, rows, len(weight))
            votes = self._vote(trials, rows, rng)
            self._fit_voters(rungs, votes, scaled, labels, weight)
        return self

    def _check_options(self) -> None:
        if self.estimators is not None:
            check_names(self.estimators, self.get_params(deep=False))
            check_members([member for _, member in self.estimators])
        check_option(self.combination, ("votes", "best"), "combination")
        check_flag(self.calibrate, "calibrate")
        check_whole(self.max_rows, "max_rows", low=10)
        if self.max_seconds is not None:
            check_number(self.max_seconds, "max_seconds", low=0.0)
        check_verbose(self.verbose)
        check_n_jobs(self.n_jobs)
        if self.callback is not None:
            check_callable(self.callback, "callback", "the progress")

    def _warn_of_absent(self, labels: Labels) -> None:
        absent = self.classes_[~(labels.contour > 0.0).any(axis=0)].tolist()
        if absent:
            warnings.warn(
                f"Every class should be plausible for some item, but {absent} never are; no "
                "candidate can learn them.",
                EmptyClassWarning,
                stacklevel=4,
            )

    def _standard(self, X: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):
            return np.clip((X - self.mean_) / self.scale_, -FARTHEST, FARTHEST)

    def _folds(self, X: FloatArray, labels: Labels, weight: FloatArray) -> IntArray:
        return content_folds(X, labels.scaled(), weight, self.cv)

    def _named(self) -> Named:
        if self.estimators is None:
            return [(rung.name, rung.estimator) for rung in default_ladder()]
        return list(self.estimators)

    def _rungs(self, seed: int) -> list[Rung]:
        """The ladder, ready to be fitted."""
        if self.estimators is None:
            ladder = default_ladder()
        else:
            ladder = [Rung(name, member) for name, member in self.estimators]
        return [rung._replace(estimator=seeded(rung.estimator, seed)) for rung in ladder]

    def _climb(self, rungs: list[Rung], rows: Rows, n_rows: int) -> list[Trial]:
        """Try the candidates; at least one must have bet."""
        budget = np.inf if self.max_seconds is None else float(self.max_seconds)
        settings = Settings(n_rows, self.n_features_in_, self.calibrate, budget, self.n_jobs)
        report = reporter(self.verbose, type(self).__name__, self.callback)
        trials = list(climb(rungs, rows, settings, report))
        if all(trial.logs is None for trial in trials):
            raise InputError(
                "At least one candidate should be able to learn from these rows",
                f"none is, the first of which {trials[0].note}",
                "look at features and labels",
            )
        return trials

    def _vote(self, trials: list[Trial], rows: Rows, rng: np.random.RandomState) -> FloatArray:
        """Votes (m,) of the candidates, most of them zero; keeps what was found."""
        able = [number for number, trial in enumerate(trials) if trial.logs is not None]
        known, weight, kind = rows.known, rows.share, rows.kind[rows.tested]
        losses = np.array([trials[number].losses for number in able])
        if self.combination == "best":
            share = np.eye(len(able))[(losses @ weight).argmin()]
        else:
            logs = np.array([trials[number].tempered for number in able])
            share = kept_votes(fit_votes(logs, known, weight, len(np.unique(kind))))
        votes = np.zeros(len(trials))
        votes[able] = share
        self.results_ = tabulate(trials, votes, rows, chances(losses, weight, kind, rng))
        chosen = np.flatnonzero(votes)
        self.votes_ = votes[chosen]
        self.exponents_ = np.array([trials[number].exponent for number in chosen])
        pooled = average([trials[number].tempered for number in chosen], self.votes_)
        self.exponent_ = fit_exponent(pooled, known, weight) if self.calibrate else 1.0
        pooled = tempered(pooled, self.exponent_)
        self.loss_ = float(weight @ held_out_losses(pooled, known) / weight.sum())
        self.soft_accuracy_ = float(known.weight @ earned(pooled, known) / known.weight.sum())
        self.n_compared_, self.n_folds_ = len(weight), len(np.unique(rows.folds[rows.tested]))
        return votes

    def _fit_voters(
        self,
        rungs: list[Rung],
        votes: FloatArray,
        X: FloatArray,
        labels: Labels,
        weight: FloatArray,
    ) -> None:
        """Fit all that have votes to all rows."""
        self.named_estimators_: dict[str, Any] = {}
        with warnings.catch_warnings():
            for category in JUDGED:
                warnings.simplefilter("ignore", category)
            for rung in (rungs[number] for number in np.flatnonzero(votes)):
                self.named_estimators_[rung.name] = fit_rung(rung, X, labels, weight)
        self.best_name_ = rungs[int(votes.argmax())].name

    @property
    def best_estimator_(self) -> Any:
        """The fitted candidate with most votes; it is given standardized features."""
        check_is_fitted(self)
        return self.named_estimators_[self.best_name_]

    def summary(self) -> str:
        """One table of what was tried and chosen, and how sure that is."""
        check_is_fitted(self)
        return summarize(self.results_, self.n_compared_, self.n_folds_)

    def _log_evidence(self, X: Any) -> FloatArray:
        scaled = self._standard(X)
        models = self.named_estimators_.values()
        logs = [log_bets(bets_of(model, scaled, self.classes_)) for model in models]
        each = [tempered(one, own) for one, own in zip(logs, self.exponents_, strict=True)]
        return tempered(average(each, self.votes_), self.exponent_)

    def _read(self, X: ArrayLike) -> Any:
        check_is_fitted(self)
        return check_features(self, X, dtype=np.float64, reset=False)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        tags.input_tags.allow_nan = False
        return tags
