r"""Columns of any kind as numbers, by transformers of scikit-learn.

A number x of a column with median m, and mean and deviation of what remains, becomes
(x - mean) / deviation, with m in gaps, and one column more tells where gaps were, if there are
many. A date is the number of its day. A category is one column of 0 and 1 for each frequent name,
one for all rare ones, and one for gaps.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.validation import check_is_fitted, validate_data

from plausible.base import (
    FeatureTable,
    NamedArray,
    WholeFit,
    check_features,
    check_names,
    names_of_columns,
)
from plausible.checks import check_flag, check_kind, check_option, check_whole, name_rows, shown
from plausible.errors import InputError
from plausible.models.preparation.dates import days_of
from plausible.models.preparation.kinds import (
    CATEGORY,
    DATE,
    KINDS,
    LEFT_OUT,
    NUMBER,
    Column,
    Kind,
    as_text,
    find_kind,
    tidy_column,
)

FloatArray = NDArray[np.float64]
MARKED = 0.05  # share of gaps from which a column tells where they are
OTHERS, GAP = "others", "missing"


class FeaturePreparation(WholeFit, TransformerMixin, BaseEstimator):
    r"""Numbers from columns of any kind: gaps filled, categories and dates encoded, all scaled.

    Goes before a model in a pipeline, and takes data frames, arrays, and what
    `plausible.io.read_training(..., kinds="any")` gives.

    Parameters
    ----------
    kinds : dict, optional
        What columns hold, by name: "number", "category", "date" or "left out"; the others are
        looked at. Whole numbers are numbers unless said otherwise.
    max_categories : int
        Most columns that a column of categories becomes; the rarest names share one.
    min_frequency : int
        Names that occur less often share a column.
    scale : bool
        Whether numbers get mean 0 and deviation 1.
    full_rank : bool
        Whether one column of each column of categories goes into the others, so that their sum is
        not constant: for models with covariances.

    Attributes
    ----------
    kinds_ : list of the kinds of all columns
    left_out_ : dict of the columns that are not used, and why
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> table = {"length": [1.0, 3.0, None, 2.0], "color": ["red", "blue", "red", "blue"]}
    >>> preparation = FeaturePreparation().fit(FeatureTable(table))
    >>> preparation.kinds_
    ['number', 'category']
    >>> preparation.transform(FeatureTable({"length": [None], "color": ["red"]}))
    array([[0., 1., 0., 1.]])
    >>> preparation.get_feature_names_out().tolist()
    ['length', 'length missing', 'color=blue', 'color=red']
    >>> print(*preparation.explain(), sep="\n")
    length: 1 empty cell filled with the median 2, and marked
    color: 2 categories, a column for each
    """

    def __init__(
        self,
        kinds: Mapping[str, str] | None = None,
        *,
        max_categories: int = 30,
        min_frequency: int = 2,
        scale: bool = True,
        full_rank: bool = False,
    ) -> None:
        self.kinds = kinds
        self.max_categories = max_categories
        self.min_frequency = min_frequency
        self.scale = scale
        self.full_rank = full_rank

    imputer_: Any
    scaler_: Any

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn medians, means, deviations and categories."""
        given = self._check_parameters()
        names, columns = self._columns(X, reset=True)
        unknown = sorted(set(given) - set(names))
        if unknown:
            raise ValueError(
                f"kinds should name columns of X, but {shown(unknown[0])} is none; they are "
                f"{shown(names, 200)}."
            )
        found = [
            kind_of(given[name], column) if name in given else find_kind(column, name)
            for name, column in zip(names, columns, strict=True)
        ]
        self.kinds_ = [one.kind for one in found]
        self.ways_ = [one.way for one in found]
        self.left_out_ = {
            name: one.reason for name, one in zip(names, found, strict=True) if one.kind == LEFT_OUT
        }
        if len(self.left_out_) == len(names):
            reasons = ", ".join(f"{name}: {why}" for name, why in self.left_out_.items())
            raise ValueError(
                "At least one column should hold something to learn from, but all are left out "
                f"({shown(reasons, 300)}); add features, or say with kinds= what they are."
            )
        self._fit_numbers(self._numbers(names, columns))
        self._fit_categories(columns)
        return self

    def transform(self, X: Any) -> FloatArray:
        """Numbers (n, p)."""
        check_is_fitted(self)
        names, columns = self._columns(X, reset=False)
        numbers = self._numbers(names, columns)
        parts: list[FloatArray] = []
        if self.imputer_ is not None:
            parts.append(self.imputer_.transform(numbers))
            if self.scaler_ is not None:
                parts[0] = self.scaler_.transform(parts[0])
            parts.append(np.isnan(numbers[:, self.marked_]).astype(np.float64))
        for place, encoder in zip(self._places(CATEGORY), self.encoders_, strict=True):
            codes = encoder.transform(_as_categories(columns[place])[:, None])
            parts.append(codes[:, :-1] - codes[:, -1:] if self.full_rank else codes)
        return np.hstack(parts)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the columns that `transform` gives."""
        check_is_fitted(self)
        names = self._names()
        if input_features is not None and list(input_features) != names:
            raise ValueError(
                "input_features is not equal to feature_names_in_: they should be "
                f"{shown(names, 200)}, but are {shown(list(input_features), 200)}; leave them out."
            )
        made = [names[place] for place in self._places(NUMBER, DATE)]
        made += [f"{made[place]} {GAP}" for place in self.marked_.tolist()]
        for place, encoder in zip(self._places(CATEGORY), self.encoders_, strict=True):
            made += [f"{names[place]}={word}" for word in _words_of(encoder, self.full_rank)]
        return np.array(made, dtype=object)

    def explain(self, X: Any = None) -> list[str]:
        """What was done with the columns, or what is new in those of X, in words.

        Examples
        --------
        >>> table = FeatureTable({"size": [1.0, 2.0, 2.5, 4.0], "color": ["a", "b", "a", "b"]})
        >>> preparation = FeaturePreparation().fit(table)
        >>> preparation.explain(FeatureTable({"size": [np.nan], "color": ["z"]}))
        ['size: 1 empty cell filled with the median 2.25', "color: 1 cell with names that the
        model has not seen ('z')"]
        """
        check_is_fitted(self)
        names = self._names()
        columns = None if X is None else self._columns(X, reset=False)[1]
        said: list[str] = []
        medians = [] if self.imputer_ is None else self.imputer_.statistics_
        for number, place in enumerate(self._places(NUMBER, DATE)):
            column = columns[place] if columns is not None else None
            gaps = int(self.n_gaps_[place]) if column is None else column.n_missing
            told = [_tell_gaps(gaps, medians[number], self.kinds_[place])]
            if columns is None and self.kinds_[place] == DATE:
                told.insert(0, _tell_date(self.ways_[place]))
            if number in self.marked_.tolist() and gaps:
                told[-1] += ", and marked"
            said += [f"{names[place]}: {', '.join(filter(None, told))}"] if any(told) else []
        for place, encoder in zip(self._places(CATEGORY), self.encoders_, strict=True):
            column = None if columns is None else columns[place]
            told_one = (
                _tell_categories(encoder) if column is None else _tell_unseen(encoder, column)
            )
            said += [f"{names[place]}: {told_one}"] if told_one else []
        if X is None:
            said += [f"{name} is left out: {why}" for name, why in self.left_out_.items()]
        return said

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def _check_parameters(self) -> dict[str, str]:
        check_whole(self.max_categories, "max_categories", 2)
        check_whole(self.min_frequency, "min_frequency", 1)
        check_flag(self.scale, "scale")
        check_flag(self.full_rank, "full_rank")
        given = {} if self.kinds is None else self.kinds
        check_kind(given, Mapping, "kinds", "write {'region': 'category'}")
        for kind in given.values():
            check_option(kind, KINDS, "Values of kinds")
        return dict(given)

    def _names(self) -> list[str]:
        known = getattr(self, "feature_names_in_", None)
        return [f"x{i}" for i in range(self.n_features_in_)] if known is None else known.tolist()

    def _places(self, *kinds: str) -> list[int]:
        return [place for place, kind in enumerate(self.kinds_) if kind in kinds]

    def _columns(self, X: Any, reset: bool) -> tuple[list[str], list[Column]]:
        """Names and columns of a table of any make, which must be the known ones unless reset."""
        if issparse(X):
            raise TypeError("X should be a dense table, but is a sparse matrix; write X.toarray().")
        named = names_of_columns(X)
        if isinstance(X, FeatureTable):
            self._take_names(X, reset)
        elif named is None or isinstance(X, NamedArray):
            X = check_features(self, X, reset=reset, dtype=None, ensure_all_finite=False)
        else:
            _check_different(named)
            validate_data(self, X, reset=reset, skip_check_array=True)
        if named is None or isinstance(X, np.ndarray):
            if X.dtype.kind == "c":
                raise ValueError("Complex data not supported: X should hold real numbers.")
            raw: Iterator[Any] = iter(X.T)
        else:
            raw = (np.asarray(X[name]) for name in named)
        columns = [tidy_column(column) for column in raw]
        names = self._names()
        for name, column in zip(names, columns, strict=True):
            check_finite(name, column)
        if not len(X):
            raise ValueError("X should have rows, but Found array with 0 sample(s); add some.")
        return names, columns

    def _take_names(self, X: FeatureTable, reset: bool) -> None:
        if reset:
            self.n_features_in_ = len(X.columns)
            self.feature_names_in_ = np.array(X.columns, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            check_names(self.feature_names_in_.tolist(), X.columns, type(self).__name__)
        elif len(X.columns) != self.n_features_in_:
            check_names(self._names(), X.columns, type(self).__name__)

    def _numbers(self, names: list[str], columns: list[Column]) -> FloatArray:
        """Columns of numbers and of dates side by side."""
        found = [
            as_numbers(columns[place], self.kinds_[place], self.ways_[place], names[place])
            for place in self._places(NUMBER, DATE)
        ]
        return np.column_stack(found) if found else np.empty((0, 0))

    def _fit_numbers(self, numbers: FloatArray) -> None:
        places = self._places(NUMBER, DATE)
        self.imputer_ = self.scaler_ = None
        self.n_gaps_ = np.zeros(self.n_features_in_, dtype=np.int64)
        self.marked_ = np.zeros(0, dtype=np.int64)
        if not places:
            return
        gaps = np.isnan(numbers).sum(axis=0)
        self.n_gaps_[places] = gaps
        self.marked_ = np.flatnonzero(gaps >= max(MARKED * len(numbers), 1))
        self.imputer_ = SimpleImputer(strategy="median", keep_empty_features=True).fit(numbers)
        if self.scale:
            self.scaler_ = StandardScaler().fit(self.imputer_.transform(numbers))

    def _fit_categories(self, columns: list[Column]) -> None:
        self.encoders_ = [
            OneHotEncoder(
                handle_unknown="infrequent_if_exist",
                min_frequency=self.min_frequency,
                max_categories=self.max_categories,
                sparse_output=False,
            ).fit(_as_categories(columns[place])[:, None])
            for place in self._places(CATEGORY)
        ]


def _check_different(names: list[str]) -> None:
    """Refuse columns of one name: what is learned is kept by name."""
    name, count = Counter(names).most_common(1)[0]
    if count > 1:
        raise InputError(
            "X should have columns of different names",
            f"{shown(name)} is repeated",
            "rename one of them",
        )


def kind_of(kind: str, column: Column) -> Kind:
    """A kind that was given, with the way in which dates are written."""
    if kind == LEFT_OUT:
        return Kind(LEFT_OUT, reason="as asked for")
    if kind == DATE and column.text is not None:
        found = find_kind(column)
        if found.kind != DATE:
            raise ValueError(
                "A column of dates should hold dates such as 2024-12-31 in every cell, but does "
                f"not ({found.reason or 'it holds names'}); correct it, or take it as a category."
            )
        return found
    return Kind(kind)


def _as_categories(column: Column) -> NDArray[Any]:
    """A column as names of categories, "" in gaps."""
    if column.text is not None:
        return column.text
    values = column.days if column.numbers is None else column.numbers
    assert values is not None
    cells = ["" if value != value else as_text(value) for value in values.tolist()]
    return np.array(cells, dtype=object)


def as_numbers(column: Column, kind: str, way: str, name: str) -> FloatArray:
    """A column of numbers or dates as numbers, NaN in gaps; text that is none is refused."""
    if column.text is None:
        values = column.days if column.numbers is None else column.numbers
        assert values is not None
        return values
    cells = [
        (days_of(cell, way) if kind == DATE else _number_of(cell)) if cell else np.nan
        for cell in column.text.tolist()
    ]
    bad = np.array([value is None for value in cells])
    if bad.any():
        example = column.text[np.argmax(bad)]
        raise ValueError(
            f"Column {shown(name)} should hold {'dates' if kind == DATE else 'numbers'}, as the "
            f"model has learned, but holds {shown(example)} in {name_rows(bad)}; correct it, or "
            "leave the cell empty."
        )
    return np.array(cells, dtype=np.float64)


def _number_of(cell: str) -> float | None:
    """A number, or None."""
    try:
        return float(cell)
    except ValueError:
        return None


def check_finite(name: str, column: Column) -> None:
    """Refuse infinite numbers."""
    if column.numbers is not None and np.isinf(column.numbers).any():
        raise ValueError(
            f"Column {shown(name)} should hold finite numbers, but Input X contains infinity in "
            f"{name_rows(np.isinf(column.numbers))}; correct it, or leave the cells empty."
        )


def _words_of(encoder: OneHotEncoder, full_rank: bool = False) -> list[str]:
    """Names of the columns that categories become."""
    rare = (encoder.infrequent_categories_ or [None])[0]
    rare = set() if rare is None else set(rare.tolist())
    words = [word or GAP for word in encoder.categories_[0].tolist() if word not in rare]
    words += [OTHERS] if rare else []
    return words[:-1] if full_rank else words


def _tell_gaps(count: int, median: float, kind: str) -> str:
    """How gaps of a column were filled."""
    if not count:
        return ""
    middle = f"{median:.4g}" if kind == NUMBER else str(np.datetime64(int(median), "D"))
    return f"{count} empty cell{'s' * (count != 1)} filled with the median {middle}"


def _tell_date(way: str) -> str:
    """How dates become numbers."""
    return f"dates ({way}) as numbers of days" if way else "dates as numbers of days"


def _tell_categories(encoder: OneHotEncoder) -> str:
    """How categories become columns."""
    n_all, words = len(encoder.categories_[0]), _words_of(encoder)
    n_rare = n_all - len(words) + 1 if OTHERS in words else 0
    rare = "" if not n_rare else f", the {n_rare} rarest share one"
    rare = ", the rarest shares its own with names that come later" if n_rare == 1 else rare
    gap = ", empty cells are one of them" if "" in encoder.categories_[0].tolist() else ""
    return f"{n_all} categories, a column for each{gap}{rare}"


def _tell_unseen(encoder: OneHotEncoder, column: Column) -> str:
    """How many cells hold names that were not there in the fit."""
    known = set(encoder.categories_[0].tolist())
    unseen = [cell for cell in _as_categories(column).tolist() if cell not in known]
    if not unseen:
        return ""
    words = sorted({repr(cell) if cell else "empty" for cell in unseen})
    listed = ", ".join(words[:5]) + (", ..." if len(words) > 5 else "")
    return (
        f"{len(unseen)} cell{'s' * (len(unseen) != 1)} with names that the model has not seen "
        f"({listed})"
    )
