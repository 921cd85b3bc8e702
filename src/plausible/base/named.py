"""Features that know the names of their columns: numbers as an array, or columns of any kind.

An array does not say which column is which, so that two tables whose columns stand in another order
are mixed up in silence. These do, and `check_features` compares what they say with what a model has
learned.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plausible.checks import guess, shown


class NamedArray(np.ndarray):
    """An array (n, d) of numbers whose columns have names.

    It is an array like any other. Some of its rows have the names as well; whatever else is made
    of it (a column, a sum, a product) is a plain array.

    Parameters
    ----------
    values : array-like (n, d)
    names : sequence of d names

    Attributes
    ----------
    names : list of str

    Examples
    --------
    >>> X = NamedArray([[1.0, 2.0], [3.0, 4.0]], ["length", "width"])
    >>> X[[1, 0, 1]].names
    ['length', 'width']
    >>> X.select(["width", "length"])
    array([[2., 1.],
           [4., 3.]])
    >>> type(X * 2).__name__
    'ndarray'
    """

    names: list[str]

    def __new__(cls, values: ArrayLike, names: Sequence[str]) -> Self:
        """A view of the values."""
        array = np.asarray(values)
        if array.ndim != 2 or array.shape[1] != len(names):
            raise ValueError(
                f"names should be one for each column of an array (n, d), but there are "
                f"{len(names)} names and an array of shape {array.shape}; give both alike."
            )
        made = array.view(cls)
        made.names = list(names)
        return made

    def __array_finalize__(self, given: Any) -> None:
        self.names = []  # what is made of it has none, but for some of its rows

    def __array_wrap__(self, values: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return values[()] if return_scalar else np.asarray(values)

    def __getitem__(self, key: Any) -> Any:
        part = np.asarray(self)[key]
        is_table = not isinstance(rows_of(key), tuple) and getattr(part, "ndim", 0) == 2
        return NamedArray(part, self.names) if is_table and self.names else part

    def __repr__(self) -> str:
        return repr(np.asarray(self))

    def __reduce__(self) -> Any:
        return (NamedArray, (np.asarray(self), self.names)) if self.names else super().__reduce__()

    def __deepcopy__(self, memo: Any) -> Any:
        return self.copy()

    def copy(self, order: Any = "C") -> Any:
        """A copy, with the names."""
        values = np.asarray(self).copy(order)
        return NamedArray(values, self.names) if self.names else values

    def select(self, names: Sequence[str]) -> "NamedArray":
        """Some columns by name, in this order.

        Examples
        --------
        >>> NamedArray([[1.0, 2.0]], ["a", "b"]).select(["b"])
        array([[2.]])
        """
        return NamedArray(np.asarray(self)[:, places(names, self.names)], names)


class FeatureTable:
    """Columns (n,) of any kind: numbers with gaps, text, dates, truth values.

    It goes where a data frame goes: into a pipeline that begins with a `FeaturePreparation`, into
    cross-validation and grid search.

    Parameters
    ----------
    data : mapping from names to columns of equal length

    Attributes
    ----------
    columns : list of str
    shape : tuple (n, d)

    Examples
    --------
    >>> table = FeatureTable({"length": [1.5, np.nan], "color": ["red", "blue"]})
    >>> table.columns, table.shape
    (['length', 'color'], (2, 2))
    >>> table["color"].tolist(), table[[1]]["color"].tolist()
    (['red', 'blue'], ['blue'])
    """

    ndim = 2

    def __init__(self, data: Mapping[str, ArrayLike]) -> None:
        self.data: dict[str, NDArray[Any]] = {name: as_column(data[name]) for name in data}
        lengths = {len(column) for column in self.data.values()}
        if len(lengths) != 1 or any(column.ndim != 1 for column in self.data.values()):
            raise ValueError(
                "Columns should be arrays (n,) of one length, but have the lengths "
                f"{sorted(lengths)}; give at least one column, and all of the same rows."
            )
        self.columns = list(self.data)
        self.shape = (lengths.pop(), len(self.columns))

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __repr__(self) -> str:
        return f"<FeatureTable: {self.shape[0]} rows of {', '.join(self.columns)}>"

    def __getitem__(self, key: Any) -> Any:
        """A column by its name, or some rows."""
        if isinstance(key, str):
            return self.data[self.columns[places([key], self.columns)[0]]]
        rows = rows_of(key)
        if isinstance(rows, tuple) or np.ndim(rows) != (0 if isinstance(rows, slice) else 1):
            raise TypeError(
                f"A table of features should be asked for a column by name or for some rows, but "
                f"{shown(key)} came; give a name, a slice, numbers of rows or a mask."
            )
        rows = rows if isinstance(rows, slice) else np.asarray(rows)
        rows = rows.astype(np.intp) if not isinstance(rows, slice) and not rows.size else rows
        return FeatureTable({name: column[rows] for name, column in self.data.items()})

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        whole = np.empty(self.shape, dtype=object)
        for i, column in enumerate(self.data.values()):
            whole[:, i] = column
        return whole if dtype is None else whole.astype(dtype)

    def select(self, names: Sequence[str]) -> "FeatureTable":
        """Some columns by name, in this order.

        Examples
        --------
        >>> FeatureTable({"a": [1.0], "b": ["x"]}).select(["b"]).columns
        ['b']
        """
        places(names, self.columns)
        return FeatureTable({name: self.data[name] for name in names})


def rows_of(key: Any) -> Any:
    """The rows that an index asks for, or the index itself where it is not about rows alone."""
    if isinstance(key, tuple) and len(key) == 2:
        second = key[1]
        is_all = second is Ellipsis or (isinstance(second, slice) and second == slice(None))
        return key[0] if is_all and key[0] is not Ellipsis else key
    return key


def as_column(values: ArrayLike) -> NDArray[Any]:
    """Numbers, truth values and dates as numpy has them, all else as objects."""
    column = np.asarray(values) if hasattr(values, "dtype") else np.asarray(values, dtype=object)
    return column.astype(object) if column.dtype.kind in "US" else column


def places(names: Sequence[str], known: Sequence[str]) -> list[int]:
    """Where names are among the known ones; a name that is not there is refused."""
    place = {name: i for i, name in enumerate(known)}
    for name in names:
        if name not in place:
            meant = guess(str(name), list(known)) or "; name one of these."
            raise KeyError(
                f"{shown(name)} should be one of the features, but they are "
                f"{shown(list(known), 200)}{meant}"
            )
    return [place[name] for name in names]


def names_of_columns(X: Any) -> list[str] | None:
    """The names of columns, where a table of any make has names of text.

    Examples
    --------
    >>> names_of_columns(NamedArray([[1.0]], ["a"])), names_of_columns([[1.0]])
    (['a'], None)
    """
    found = getattr(X, "names", None) if isinstance(X, NamedArray) else None
    if found is None and hasattr(X, "shape"):
        found = getattr(X, "column_names", getattr(X, "columns", None))  # of pyarrow, and of others
    names = [] if found is None else list(found)
    return names if names and all(isinstance(name, str) for name in names) else None
