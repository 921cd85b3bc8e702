r"""Fusion of classifiers: each is believed as far as it can be relied on.

.. math:: m = m_1' \odot \dots \odot m_S', \qquad
          m_s' = \text{discount}(m_s, \text{doubt}_s)

with the masses :math:`m_s` of classifiers on the same or on different columns, and a rule of
combination. How the doubts are learned stands in `fusion.doubts`. A classifier whose columns are
missing says nothing: :math:`m_s(\Omega) = 1`, which every rule of belief leaves out.

References
----------
G. Shafer, A Mathematical Theory of Evidence, Princeton 1976.
T. Denoeux, Conjunctive and disjunctive combination of belief functions induced by nondistinct
bodies of evidence, Artificial Intelligence 172 (2008) 234-264.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.utils import Tags, get_tags
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from plausible.base import (
    Beliefs,
    MassClassifier,
    check_labels_and_weights,
    count_rows,
)
from plausible.belief import (
    MAX_CLASSES,
    RULES,
    SparseMasses,
    all_sets,
    concatenate,
    full_set,
)
from plausible.checks import check_n_jobs, check_number, check_option
from plausible.errors import InputError
from plausible.experts.fusion.beliefs import (
    FusionRows,
    asked,
    classes_of,
    contour_on,
    fit_source,
    masses_on,
    own_sets,
)
from plausible.experts.fusion.combination import (
    ON_SINGLES,
    PRODUCTS,
    SourceMasses,
    combine_present,
    conflict_of_present,
    discounted,
    on_sets,
)
from plausible.experts.fusion.doubts import WAYS, Said, learn_doubts, relaxed, shape_of_doubts
from plausible.experts.fusion.sources import (
    NamedSources,
    Source,
    check_sources,
    distinguishable,
    find_columns,
    gives_masses,
    has_bets,
    lacking,
    listed,
    read_doubts,
    take_columns,
)
from plausible.labels import Labels, as_labels
from plausible.models import content_folds, given_folds, read_features, take_rows

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

ALL_SETS = 10  # classes up to which masses of all sets are computed
ENTRIES_AT_ONCE = 1 << 21  # masses of a source in memory


class Spoken(NamedTuple):
    """What a source says of some items: which it can be asked about, and its beliefs of these."""

    present: BoolArray
    beliefs: Beliefs | None


class EvidentialFusionClassifier(NamedSources, MassClassifier):
    """Combine what several classifiers believe, each as far as it can be relied on.

    Classifiers may see the same columns, or each its own, as several sensors do. A source that is
    often wrong is doubted and hardly counts; one whose columns are missing is left out.

    Parameters
    ----------
    estimators : list of (name, classifier) or (name, classifier, columns)
        Columns are given as in scikit-learn's `ColumnTransformer`: names, numbers, a slice, a mask
        or a function of X; all by default. `"drop"` in the place of a classifier leaves it out. One
        in scikit-learn's `FrozenEstimator` is not fitted again.
    rule : str
        "dempster" for sources that err independently, "cautious" for those that may repeat each
        other, or any other of `plausible.belief.combine`.
    discount : {"fit", "class", "contextual"}, None, number, list or dict
        Doubts are learned for each source, for each source and class that it says, or for each
        source and class that is true; or they are given: none, one for all, one for each source,
        or by name. They are learned from all sources together under Dempster's and the conjunctive
        rule, which take sources for independent, and under the others from each by itself.
    calibrate : {"auto", "all", "none"}
        Whether the scores of classifiers are calibrated to mass functions, as in
        `EvidentialCalibratedClassifier`: of all, of none, or where needed. Classifiers that give
        masses are taken at their word then, those without bets are calibrated, and the others if
        that makes labels of rows that they have not seen more likely. Bets that are not calibrated
        become masses that say no more than the bets.
    cv : int, splitter, or "prefit"
        Doubts and calibrations are learned from classifiers that did not see the row. A number of
        folds is reached by dealing out the rows of each class in the order of their features, so
        that neither chance nor the order of rows matters. "prefit" takes all classifiers as they
        are, fitted; they should not have seen the rows.
    smoothing : float
        Imagined items for each doubt that is learned, half of which the source gets wrong.
    n_jobs : int, optional
        How many classifiers are fitted at the same time.

    Attributes
    ----------
    classes_ : array (K,)
    doubts_ : array (S,) or (S, K)
        Of the sources that are not dropped.
    estimators_ : list of S fitted classifiers
        With an `EvidentialCalibratedClassifier` around those that are calibrated.
    named_estimators_ : dict
        The same by name, and "drop" for those that are dropped.
    columns_ : list of S int arrays
        Numbers of the columns that each source sees.
    focal_sets_ : int array
        Sets of classes, as bit masks, of the columns of `predict_mass`: all sets up to 10 classes.

    Notes
    -----
    Beyond 10 classes masses of all sets are out of reach: with Dempster's rule, plausibilities are
    combined alone then, and scaled to sum to one they are the bets, unless all sources give masses
    to single classes and to all together, as networks do. Sources that contradict each other
    totally say nothing together. A class that a source has never met stays possible to it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> X[:, :2] = np.random.default_rng(0).normal(size=(150, 2))  # a broken sensor
    >>> sensors = [("sepal", GaussianNB(), [0, 1]), ("petal", GaussianNB(), [2, 3])]
    >>> model = EvidentialFusionClassifier(sensors).fit(X, y)
    >>> model.doubts_.round(1)
    array([0.4, 0. ])
    >>> model.predict([[0.3, -0.5, 1.4, 0.2], [np.nan, np.nan, 5.1, 1.9]])
    array([0, 2])
    """

    doubts_: FloatArray

    def __init__(
        self,
        estimators: Any,
        rule: str = "dempster",
        discount: Any = "fit",
        calibrate: str = "auto",
        cv: Any = 5,
        smoothing: float = 1.0,
        n_jobs: int | None = None,
    ) -> None:
        self.estimators = estimators
        self.rule = rule
        self.discount = discount
        self.calibrate = calibrate
        self.cv = cv
        self.smoothing = smoothing
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the classifiers, and learn how far to doubt them.

        Parameters
        ----------
        X : array-like (n, d)
            With NaN where a sensor gave nothing.
        y : Labels, or all that `as_labels` takes
        sample_weight : array-like (n,), optional
            For doubts and calibrations, and for classifiers that take it.

        Returns
        -------
        self
        """
        sources = self._check_options()
        data = read_features(self, X)
        rows = self._rows(X, data, y, sample_weight, sources)
        names = getattr(self, "feature_names_in_", getattr(data, "columns", None))
        self.columns_ = [find_columns(source, data, names) for source in sources]
        learns = isinstance(self.discount, str)
        learned = Parallel(n_jobs=self.n_jobs)(
            delayed(fit_source)(source, rows, columns, self._calibration(source), learns)
            for source, columns in zip(sources, self.columns_, strict=True)
        )
        self.classes_ = rows.labels.classes
        self.estimators_ = [one.model for one in learned]
        fitted = {s.name: one for s, one in zip(sources, self.estimators_, strict=True)}
        self.named_estimators_ = {
            source.name: fitted.get(source.name, "drop") for source in listed(self.estimators)
        }
        known = {name for model in self.estimators_ for name in classes_of(model)}
        self._met = np.array([name in known for name in self.classes_.tolist()])
        self.form_ = self._form()
        if learns:
            said = np.stack([one.contour for one in learned])
            self.doubts_ = self._learn(np.where(np.isnan(said), self._met, said), rows)
        else:
            self.doubts_ = read_doubts(self.discount, listed(self.estimators))
        return self

    def _check_options(self) -> list[Source]:
        check_option(self.rule, tuple(RULES), "rule")
        check_option(self.calibrate, ("auto", "all", "none"), "calibrate")
        check_number(self.smoothing, "smoothing", 0.0)
        check_n_jobs(self.n_jobs)
        sources = check_sources(self.estimators, self.get_params(deep=False), self.calibrate)
        if isinstance(self.discount, str):
            check_option(self.discount, WAYS, "discount")
        else:
            read_doubts(self.discount, listed(self.estimators))
        if not self._is_prefit:
            return sources
        return [
            one
            if isinstance(one.estimator, FrozenEstimator)
            else one._replace(estimator=FrozenEstimator(one.estimator))
            for one in sources
        ]

    @property
    def _is_prefit(self) -> bool:
        return isinstance(self.cv, str) and self.cv == "prefit"

    @property
    def _way(self) -> str:
        return self.discount if isinstance(self.discount, str) else "fit"

    def _calibration(self, source: Source) -> str:
        """Whether a source is calibrated: "yes", "no", or "compare"."""
        if self.calibrate != "auto":
            return "yes" if self.calibrate == "all" else "no"
        if gives_masses(source.estimator):
            return "no"
        return "compare" if has_bets(source.estimator) else "yes"

    def _rows(
        self, X: Any, data: Any, y: Any, sample_weight: ArrayLike | None, sources: list[Source]
    ) -> FusionRows:
        """Rows that have weight, with folds and with the classes of labels and fitted sources."""
        labels, weight = check_labels_and_weights(self, y, sample_weight, count_rows(data), X)
        frozen = [one.estimator for one in sources if isinstance(one.estimator, FrozenEstimator)]
        names = {name for one in frozen for name in classes_of(one.estimator)}
        labels = as_labels(labels, classes=sorted({*labels.classes.tolist(), *names}))
        counted = np.flatnonzero(weight > 0.0)
        if labels[counted].is_unknown.all() and labels.n_classes > 1:
            raise InputError(
                "At least one row should favor a class",
                "all labels are unknown or have zero sample weight",
                "label some items",
            )
        plain = [one for one in sources if not isinstance(one.estimator, FrozenEstimator)]
        asks = isinstance(self.discount, str) or any(
            self._calibration(one) != "no" for one in plain
        )
        folds = np.zeros(len(labels), dtype=np.int64)
        if plain and asks and labels.n_classes > 1:
            folds = self._folds(data, labels, weight)
        return FusionRows(data, labels, weight, folds).rows(counted)

    def _folds(self, data: Any, labels: Labels, weight: FloatArray) -> IntArray:
        """Folds of the rows, of which those that have weight fill two at least."""
        folds = given_folds(self.cv, data, labels)
        counted = np.flatnonzero(weight > 0.0)
        if folds is None:
            folds = np.zeros(len(labels), dtype=np.int64)
            part = distinguishable(take_rows(data, counted))
            contour = labels[counted].scaled()
            folds[counted] = content_folds(part, contour, weight[counted], self.cv)
        if len(np.unique(folds[counted])) < 2:
            raise InputError(
                "Rows should fall into two folds at least, so that sources are tested",
                f"all n_samples={len(counted)} are in one",
                "give more rows that are different, or fitted classifiers with cv='prefit'",
            )
        return folds

    def _learn(self, contours: FloatArray, rows: FusionRows) -> FloatArray:
        labels = rows.labels
        if labels.n_classes == 1:
            return np.zeros(shape_of_doubts(contours, self._way))
        said = Said(contours, labels.scaled(), labels.is_probability, rows.weight)
        return learn_doubts(said, self._way, self.smoothing, self.rule in PRODUCTS)

    def _form(self) -> str:
        """In which form beliefs are combined, by the number of classes and the sources."""
        n_classes = len(self.classes_)
        if n_classes <= ALL_SETS:
            return "sets"
        if n_classes <= MAX_CLASSES and self.rule in ON_SINGLES and self._way != "contextual":
            singles = {*(1 << np.arange(n_classes)).tolist(), full_set(n_classes)}
            if all(own_sets(model, self.classes_) <= singles for model in self.estimators_):
                return "singles"
        if self.rule in PRODUCTS:
            return "contours"
        if n_classes > MAX_CLASSES:
            raise InputError(
                f"The rule {self.rule!r} should combine masses on at most {MAX_CLASSES} classes",
                f"there are {n_classes}",
                "choose rule='dempster', which needs plausibilities alone",
                parameter="rule",
            )
        return "masses"

    @property
    def focal_sets_(self) -> IntArray:  # type: ignore[override]
        """Sets of the columns of `predict_mass`, where these are the same for all items."""
        n_classes = len(self.classes_)
        if self.form_ == "sets":
            return all_sets(n_classes)[1:]
        if self.form_ == "singles":
            return np.array([*(1 << np.arange(n_classes)).tolist(), full_set(n_classes)])
        raise AttributeError("Each item has focal sets of its own here; predict_mass has them.")

    def _ask(self, X: Any) -> list[Spoken]:
        """What the sources say of checked items, as it is."""
        found = []
        for model, columns in zip(self.estimators_, self.columns_, strict=True):
            part = take_columns(X, columns)
            present = ~lacking(model, part)
            rows = take_rows(part, np.flatnonzero(present))
            found.append(Spoken(present, asked(model, rows) if present.any() else None))
        return found

    def _discounted(self, X: Any) -> list[SourceMasses]:
        """Rows that each source has, and its discounted masses of these."""
        found: list[SourceMasses] = []
        for (present, beliefs), doubts in zip(self._ask(X), self.doubts_, strict=True):
            if beliefs is None:
                found.append((present, None))
                continue
            masses = masses_on(beliefs, self.classes_, self._met)
            found.append((present, discounted(masses, doubts, self._way)))
        return found

    def _masses(self, X: Any) -> SparseMasses:
        parts = [
            combine_present(self._discounted(rows), len(self.classes_), self.rule)
            for rows in self._blocks(X)
        ]
        if self.form_ == "masses":
            return concatenate(parts)
        sets = self.focal_sets_
        values = np.concatenate([on_sets(part, sets).values for part in parts])
        return SparseMasses(values, sets, len(self.classes_))

    def _log_contour(self, X: Any) -> FloatArray:
        """Log plausibilities (n, K), up to a constant, of Dempster's rule."""
        contours = np.ones((len(self.estimators_), X.shape[0], len(self.classes_)))
        for own, (present, beliefs) in zip(contours, self._ask(X), strict=True):
            if beliefs is not None:
                found = contour_on(beliefs, self.classes_)
                own[present] = np.where(np.isnan(found), self._met, found)
        return np.log(relaxed(contours, self.doubts_, self._way)).sum(axis=0)

    def _beliefs(self, X: Any, labels: Labels | None) -> Beliefs:
        if self.form_ != "contours":
            return super()._beliefs(X, labels)
        evidence = np.concatenate([self._log_contour(rows) for rows in self._blocks(X)])
        if labels is not None:
            with np.errstate(divide="ignore"):
                evidence += np.log(labels.contour)
        return Beliefs.from_log_evidence(evidence, self.classes_)

    def _blocks(self, X: Any) -> Iterator[Any]:
        """Some rows after the others, as many as memory holds masses of."""
        n_columns = 1 << min(len(self.classes_), ALL_SETS)
        at_once = max(1, ENTRIES_AT_ONCE // n_columns)
        if X.shape[0] <= at_once:
            yield X
            return
        for start in range(0, X.shape[0], at_once):
            yield take_rows(X, np.arange(start, min(start + at_once, X.shape[0])))

    def believe_sources(self, X: ArrayLike) -> dict[str, Beliefs]:
        """What each source believes of items, discounted; nothing where it is missing.

        Parameters
        ----------
        X : array-like (n, d)

        Returns
        -------
        dict from the names of the sources to Beliefs

        Examples
        --------
        >>> from plausible.models import SoftNearestCentroid
        >>> X, y = [[0.0, 1.0], [1.0, 0.0], [4.0, 9.0], [5.0, 9.5]], ["a", "a", "b", "b"]
        >>> sensors = [("one", SoftNearestCentroid(), [0]), ("two", SoftNearestCentroid(), [1])]
        >>> model = EvidentialFusionClassifier(sensors, cv=2).fit(X, y)
        >>> model.believe_sources([[0.5, np.nan]])["two"].contour
        array([[1., 1.]])
        """
        data = self._read(X)
        self._check_masses("believe_sources")
        n_classes = len(self.classes_)
        names = [source.name for source in listed(self.estimators) if not source.is_dropped]
        masses = [
            combine_present([one], n_classes, "conjunctive") for one in self._discounted(data)
        ]
        return {
            name: Beliefs.from_masses(one, self.classes_)
            for name, one in zip(names, masses, strict=True)
        }

    def score_conflict(self, X: ArrayLike) -> FloatArray:
        """How far the discounted sources contradict each other (n,), from 0 to 1: m(empty set).

        Examples
        --------
        >>> from plausible.models import SoftNearestCentroid
        >>> X, y = [[0.0, 1.0], [1.0, 0.0], [4.0, 9.0], [5.0, 9.5]], ["a", "a", "b", "b"]
        >>> sensors = [("one", SoftNearestCentroid(), [0]), ("two", SoftNearestCentroid(), [1])]
        >>> model = EvidentialFusionClassifier(sensors, discount=0.1, cv=2).fit(X, y)
        >>> agree, contradict = model.score_conflict([[0.5, 0.5], [0.5, 9.0]])
        >>> bool(agree < contradict)
        True
        """
        data = self._read(X)
        self._check_masses("score_conflict")
        parts = [conflict_of_present(self._discounted(rows)) for rows in self._blocks(data)]
        return np.concatenate(parts)

    def _check_masses(self, what: str) -> None:
        if self.form_ == "contours":
            raise InputError(
                f"{what} should be asked on at most {ALL_SETS} classes, whose sets all have masses",
                f"there are {len(self.classes_)}",
                "use networks as sources, which give masses to single classes, or group classes",
            )

    def _read(self, X: Any) -> Any:
        check_is_fitted(self)
        return read_features(self, X, reset=False)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        kept = [one.estimator for one in listed(self.estimators) if hasattr(one.estimator, "fit")]
        tags.input_tags.sparse = all(get_tags(one).input_tags.sparse for one in kept)
        tags.input_tags.allow_nan = True  # a source that lacks values is left out
        return tags
