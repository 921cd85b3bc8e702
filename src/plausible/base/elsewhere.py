"""Answers about items whose features are not in memory: rows of the engine, Dask collections.

Beliefs about chunks are joined in the order of the rows, and computed where the rows lie. Of a Dask
collection, answers that are arrays are Dask arrays, computed when they are asked for.
"""

from collections.abc import Callable
from functools import partial, wraps
from typing import Any, TypeVar

import numpy as np

from plausible.base.beliefs import Beliefs
from plausible.base.features import check_names
from plausible.base.named import NamedArray
from plausible.base.training import is_dask
from plausible.engine import Columns, DaskRows, Rows
from plausible.errors import InputError

NAME_THEM = "name features=list(model.feature_names_in_) where they are read"

Answer = TypeVar("Answer", bound=Callable[..., Any])


def are_elsewhere(X: Any) -> bool:
    """Whether features are rows of the engine or a Dask collection."""
    return isinstance(X, Rows) or is_dask(X)


def believe_elsewhere(model: Any, X: Any, labels: Any = None) -> Beliefs:
    """What a model believes about all rows, chunk by chunk, where they lie."""
    if labels is not None:
        raise InputError(
            "labels of new items should go with features in memory",
            f"the features are a {type(X).__name__}",
            "ask for one chunk after another, with their labels",
            parameter="labels",
        )
    rows = X if isinstance(X, Rows) else DaskRows(_checked(model, X), persist=False)
    check_names_of_rows(model, rows.feature_names)
    return Beliefs.concatenate(rows.reduce(partial(_believe_chunk, model=model)).parts)


def check_names_of_rows(model: Any, names: Any, remedy: str = NAME_THEM) -> None:
    """Refuse features of rows, if these know their names, that a model knows by others."""
    learned = getattr(model, "feature_names_in_", None)
    if learned is not None and names is not None:
        check_names(list(learned), list(names), type(model).__name__, remedy)


class _Parts:
    """Beliefs about chunks; what is added comes behind."""

    def __init__(self, parts: list[Beliefs]) -> None:
        self.parts = parts

    def __add__(self, other: "_Parts") -> "_Parts":
        return _Parts(self.parts + other.parts)


def _believe_chunk(columns: Columns, model: Any) -> _Parts:
    return _Parts([model.believe(with_names(model, columns[0]))])


def with_names(model: Any, X: Any) -> Any:
    """Features with the names that a model has learned, which columns of rows cannot carry."""
    names = getattr(model, "feature_names_in_", None)
    if names is None or not isinstance(X, np.ndarray) or X.shape[1:] != np.shape(names):
        return X
    return NamedArray(X, list(names))


def lazy_on_dask(answer: Answer) -> Answer:
    """A method that answers in arrays (n,) or (n, K), made to answer for Dask collections too."""

    @wraps(answer)
    def method(self: Any, X: Any, *args: Any, **further: Any) -> Any:
        if not is_dask(X):
            return answer(self, X, *args, **further)
        if any(given is not None for given in args) or further.get("labels") is not None:
            believe_elsewhere(self, X, labels=args or further["labels"])
        return _map_blocks(partial(_answer_block, answer, self, further), self, X)

    return method  # type: ignore[return-value]


def _answer_block(answer: Any, model: Any, further: dict[str, Any], block: Any) -> Any:
    """The answer for a block of features, which may be without rows."""
    some = block if len(block) else np.zeros((1, block.shape[1]))
    return np.asarray(answer(model, with_names(model, some), **further))[: len(block)]


def _map_blocks(function: Callable[[Any], Any], model: Any, X: Any) -> Any:
    """A Dask array of answers, a block for each block of rows."""
    array = _checked(model, X)
    like = function(np.zeros((0, array.shape[1])))
    table = like.ndim == 2
    return array.map_blocks(
        function,
        dtype=like.dtype,
        chunks=(array.chunks[0], (like.shape[1],)) if table else (array.chunks[0],),
        drop_axis=None if table else 1,
        meta=like,
    )


def _checked(model: Any, X: Any) -> Any:
    """A Dask array with all features in one block; names of a data frame are compared."""
    if hasattr(X, "columns"):
        check_names_of_rows(model, list(X.columns), "write X[list(model.feature_names_in_)]")
        X = X.to_dask_array()
    if X.ndim != 2:
        raise InputError(
            "X should be a table (n, d) of numbers",
            f"has {X.ndim} axes",
            "give a Dask array of two axes, or a Dask data frame",
            parameter="X",
        )
    return X.rechunk({1: -1})
