"""Sources of a fusion: named classifiers, the columns that each sees, rows that each lacks."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from plausible.base import BeliefClassifier, FeatureTable, MassClassifier
from plausible.checks import as_floats, guess, is_whole, shown
from plausible.errors import InputError

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

FORM = "write [('name', classifier), ...] or [('name', classifier, columns), ...]"


class Source(NamedTuple):
    """A named classifier; `columns` as they were given, None for all."""

    name: str
    estimator: Any
    columns: Any = None

    @property
    def is_dropped(self) -> bool:
        """Whether it is left out."""
        return isinstance(self.estimator, str) and self.estimator == "drop"


def listed(estimators: Any) -> list[Source]:
    """Sources in the order in which they were given; none where they came in no such form."""
    try:
        return [Source(*entry) for entry in estimators]
    except TypeError:
        return []


def check_sources(estimators: Any, own: dict[str, Any], calibrate: str) -> list[Source]:
    """The sources that are not dropped; what is no list of named classifiers is refused."""
    sources = listed(estimators)
    names = [source.name for source in sources]
    bad = [
        name
        for name in names
        if not isinstance(name, str) or name in own or "__" in name or names.count(name) > 1
    ]
    if bad or not names:
        raise InputError(
            "estimators should be tuples of a name, a classifier and, if it sees only some, "
            "columns; each name once, no parameter and without __",
            f"the name {bad[0]!r} came" if bad else f"{shown(estimators)} came",
            FORM,
            parameter="estimators",
        )
    kept = [source for source in sources if not source.is_dropped]
    if not kept:
        raise InputError(
            "At least one source should be asked",
            "all of them are 'drop'",
            "keep one",
            parameter="estimators",
        )
    for source in kept:
        _check_source(source, calibrate)
    return kept


def _check_source(source: Source, calibrate: str) -> None:
    """Refuse a source that is no classifier, or says less than is asked of it."""
    given = source.estimator
    if isinstance(given, type) or not (hasattr(given, "fit") and is_classifier(given)):
        raise InputError(
            f"The source {source.name!r} should be a classifier",
            f"is {shown(given)}",
            "give one, or 'drop' to leave it out",
            parameter="estimators",
            value=given,
        )
    bets = has_bets(given)
    scores = bets or hasattr(given, "decision_function")
    if not (bets if calibrate == "none" else scores):
        raise InputError(
            f"The source {source.name!r} should say how sure it is",
            f"{type(given).__name__} has no predict_proba"
            + ("" if calibrate == "none" else " and no decision_function"),
            "leave calibrate='auto', which takes scores"
            if calibrate == "none"
            else "choose another classifier",
            parameter="estimators",
        )


def has_bets(estimator: Any) -> bool:
    """Whether a classifier says how much it would bet on each class."""
    return any(hasattr(estimator, name) for name in ("believe", "predict_mass", "predict_proba"))


def gives_masses(estimator: Any) -> bool:
    """Whether a classifier has masses of its own, and not only bets to make them of."""
    if isinstance(estimator, Pipeline):
        return gives_masses(estimator[-1])
    if isinstance(estimator, FrozenEstimator | GridSearchCV | RandomizedSearchCV):
        return gives_masses(estimator.estimator)
    if isinstance(estimator, BeliefClassifier):
        return isinstance(estimator, MassClassifier)
    return hasattr(estimator, "predict_mass")


def find_columns(source: Source, X: Any, names: Sequence[Any] | None) -> IntArray:
    """Numbers of the columns that a source sees, as `ColumnTransformer` understands them."""
    n_columns, wanted = X.shape[1], source.columns
    if callable(wanted):
        wanted = wanted(X)
    if wanted is None:
        return np.arange(n_columns)
    if isinstance(wanted, slice):
        found = _sliced(source, wanted, n_columns, names)
    elif isinstance(wanted, str) or is_whole(wanted):
        found = [place_of(source, wanted, n_columns, names)]
    else:
        found = chosen(source, np.asarray(wanted).ravel().tolist(), n_columns, names)
    if not len(found) or len(set(found)) < len(found):
        raise InputError(
            f"columns of the source {source.name!r} should be some of the {n_columns}, each once",
            f"{shown(source.columns)} "
            + ("names none" if not len(found) else "names one of them twice"),
            "name some, or leave them out for all",
            parameter="estimators",
        )
    return np.array(found, dtype=np.int64)


def chosen(
    source: Source, wanted: list[Any], n_columns: int, names: Sequence[Any] | None
) -> list[int]:
    """Places of a list of columns, or of a mask."""
    if wanted and all(isinstance(one, bool) for one in wanted):
        if len(wanted) != n_columns:
            raise InputError(
                f"columns of the source {source.name!r} should be a mask of {n_columns}",
                f"there are {len(wanted)} truth values",
                "give one for each column of X",
                parameter="estimators",
            )
        return np.flatnonzero(wanted).tolist()
    return [place_of(source, one, n_columns, names) for one in wanted]


def _sliced(
    source: Source, wanted: slice, n_columns: int, names: Sequence[Any] | None
) -> list[int]:
    """Places of a slice of numbers, or of names, whose last one is part of it."""
    start, stop = wanted.start, wanted.stop
    if isinstance(start, str):
        start = place_of(source, start, n_columns, names)
    if isinstance(stop, str):
        stop = place_of(source, stop, n_columns, names) + 1
    return list(range(n_columns)[slice(start, stop, wanted.step)])


def place_of(source: Source, column: Any, n_columns: int, names: Sequence[Any] | None) -> int:
    """Number of a column that is given by number or by name."""
    known = [] if names is None else list(names)
    if is_whole(column) and -n_columns <= column < n_columns:
        return int(column) % n_columns
    if column in known:
        return known.index(column)
    raise InputError(
        f"columns of the source {source.name!r} should be among those of X",
        f"{shown(column)} is not: X has {n_columns} columns"
        + (f", {shown(known, 200)}" if known else " without names"),
        guess(column, known).removeprefix("; ") or "name others",
        parameter="estimators",
        value=column,
    )


def take_columns(X: Any, columns: IntArray) -> Any:
    """Some columns of an array, a sparse matrix or a data frame."""
    if isinstance(X, FeatureTable):
        return X.select([X.columns[place] for place in columns])
    if hasattr(X, "iloc"):
        return X.iloc[:, columns]
    if hasattr(X, "columns"):
        return X[[X.columns[place] for place in columns]]
    return X[:, columns]


def _missing_entries(X: Any) -> BoolArray:
    """Which entries (n, d) of features are missing."""
    if hasattr(X, "toarray"):
        holes = X.tocoo()
        where, found = np.isnan(holes.data), np.zeros(X.shape, dtype=bool)
        found[holes.row[where], holes.col[where]] = True
        return found
    if hasattr(X, "columns"):
        columns = [_missing_in(np.asarray(X[name])) for name in X.columns]
        return np.column_stack(columns)
    return np.asarray(np.isnan(X)) if X.dtype.kind == "f" else np.zeros(X.shape, dtype=bool)


def _missing_in(column: NDArray[Any]) -> BoolArray:
    """Which entries (n,) of a column of any kind are missing."""
    if column.dtype.kind == "f":
        return np.asarray(np.isnan(column))
    if column.dtype.kind in "mM":
        return np.asarray(np.isnat(column))
    if column.dtype.kind != "O":
        return np.zeros(len(column), dtype=bool)
    return np.array([_is_nothing(entry) for entry in column.tolist()], dtype=bool)


def _is_nothing(entry: Any) -> bool:
    """Whether an entry is None, NaN, or what pandas has for them."""
    if entry is None or type(entry).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(entry, float) and entry != entry


def lacking(estimator: Any, part: Any) -> BoolArray:
    """Rows (n,) about which a classifier cannot be asked.

    One that knows what to do with missing values lacks rows in which all are missing, any other
    those in which one is.
    """
    holes = _missing_entries(part)
    by_row = holes.all if get_tags(estimator).input_tags.allow_nan else holes.any
    return np.asarray(by_row(axis=1))


def distinguishable(X: Any) -> Any:
    """Features whose rows can be told apart and put in order where values are missing."""
    if hasattr(X, "columns") or hasattr(X, "toarray"):
        return X
    holes = _missing_entries(X)
    return np.hstack([np.where(holes, 0.0, X), holes]) if holes.any() else X


def read_doubts(given: Any, sources: list[Source]) -> FloatArray:
    """Doubts (S,) of the sources that are not dropped, as a user gives them."""
    names = [source.name for source in sources]
    if given is None:
        doubts = np.zeros(len(names))
    elif isinstance(given, Mapping):
        strange = [name for name in given if name not in names]
        if strange:
            raise InputError(
                f"discount should name sources, which are {names}",
                f"{shown(strange[0])} is none of them",
                guess(strange[0], names).removeprefix("; ") or "correct the name",
                parameter="discount",
                value=strange[0],
            )
        doubts = as_floats([given.get(name, 0.0) for name in names], "discount")
    else:
        doubts = as_floats(given, "discount")
        doubts = np.full(len(names), doubts) if doubts.ndim == 0 else doubts
    good = doubts.shape == (len(names),) and bool(((doubts >= 0.0) & (doubts <= 1.0)).all())
    if not good:
        raise InputError(
            f"discount should be a doubt in [0, 1], or one for each of the {len(names)} sources",
            f"{shown(given)} was given",
            "or let it learn doubts: 'fit', 'class' or 'contextual'",
            parameter="discount",
            value=given,
        )
    return doubts[[not source.is_dropped for source in sources]]


class NamedSources(BaseEstimator):
    """Base of estimators whose sources, and their parameters, are reached by names."""

    estimators: Any

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters, and with `deep` the sources and theirs: ``name`` and ``name__parameter``."""
        params = super().get_params(deep=False)
        for source in listed(self.estimators) if deep else []:
            params[source.name] = source.estimator
            if hasattr(source.estimator, "get_params") and not isinstance(source.estimator, type):
                inner = source.estimator.get_params()
                params |= {f"{source.name}__{key}": value for key, value in inner.items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters, sources by their names (columns stay), and parameters of sources."""
        if "estimators" in params:
            self.estimators = params.pop("estimators")
        own = super().get_params(deep=False)
        named = [source.name for source in listed(self.estimators)]
        new = {name: params.pop(name) for name in named if name in params and name not in own}
        if new:
            self.estimators = [
                (entry[0], new.get(entry[0], entry[1]), *entry[2:]) for entry in self.estimators
            ]
        super().set_params(**params)
        return self
