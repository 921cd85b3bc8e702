"""Features from files: columns of numbers, or of any kind, with their names and those of the rows.

An id is never a feature. Which column names the rows is said by `id`, or else by its name;
`plausible.io.matching` finds it by what it holds, where items are known.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible.base import FeatureTable, NamedArray
from plausible.checks import (
    as_list,
    check_kind,
    check_option,
    check_text,
    check_texts,
    check_whole,
    guess,
    shown,
)
from plausible.experts import canonical
from plausible.io.faults import Faults
from plausible.io.last_rows import check_last_row
from plausible.io.mixed import as_kinds, read_mixed, told_codes, told_left_out
from plausible.models import KINDS, NUMBER, is_row_name, names_rows, says_id
from plausible.tables import (
    ARROW,
    PARQUET,
    Source,
    TableError,
    arrow,
    choose,
    counted,
    floats,
    listed,
    names_of,
    open_table,
    repeated,
    values_of,
)

LARGEST = 1e150  # beyond, squares are too large for a computer's numbers
TYPED = (PARQUET, ARROW, "memory")  # tables whose columns have types of their own
ROWS = {"row": None, "row0": 0, "row1": 1}  # numbers of rows as ids, and from where they count
ITEMS = ("item", "task", "item_id", "task_id", "id")  # columns that name items, in any case


@dataclass(frozen=True, eq=False)
class Features:
    """What `read_features` returns; unpacked, it is `X, names, ids`.

    Attributes
    ----------
    X : NamedArray (n, d), or FeatureTable where columns are not all numbers
    names : list of d column names
    ids : array (n,) of what the id column holds, or None
    id : name of that column, or None
    others : table of pyarrow with the columns that are neither, or None
    notes : list of str
        What was assumed, in words.
    kinds : dict of what the columns hold: "number", "category" or "date"

    Examples
    --------
    >>> from plausible.io import read_features
    >>> read_features({"a": [1, 2], "b": [0.5, 1.5]}).names
    ['a', 'b']
    """

    X: Any
    names: list[str]
    ids: NDArray[Any] | None
    id: str | None = None
    others: Any = None
    notes: list[str] = field(default_factory=list)
    kinds: dict[str, str] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Any]:
        return iter((self.X, self.names, self.ids))

    def of(self, items: Iterable[Any]) -> Any:
        """The rows of these items, in their order: what goes with labels of the items.

        Names are compared as text, so that the number 7 and the text "7" are one item.

        Examples
        --------
        >>> from plausible.io import read_features
        >>> read_features({"item": ["a", "b"], "length": [1.5, 2.5]}, id="item").of(["b", "a"])
        array([[2.5],
               [1.5]])
        """
        if self.ids is None:
            raise ValueError(
                "Features should have ids to be found by item, but were read without; name the "
                "column with read_features(..., id=)."
            )
        place = {canonical(name): row for row, name in enumerate(self.ids.tolist())}
        wanted = [canonical(item) for item in as_list(items, "items", "names of items")]
        lost = [name for name in wanted if name not in place]
        if lost:
            raise ValueError(
                f"Every item should have a row of features, but {counted(len(lost), 'item')} "
                f"{'has' if len(lost) == 1 else 'have'} none ({listed(lost)}); add the rows, or "
                "leave these items out."
            )
        return self.X[[place[name] for name in wanted]]


def read_numbers(table: Source, names: Sequence[str], what: str, gaps: bool) -> NDArray[np.float64]:
    """A matrix of numbers, with NaN in gaps if these are allowed; all else is refused."""
    missing, wrong, infinite = Faults(), Faults(), Faults()
    parts = [np.empty((0, len(names)))]
    start = 0
    for batch in table.batches(names):
        part = np.empty((batch.num_rows, len(names)))
        for i, name in enumerate(names):
            column = batch.column(i)
            part[:, i], is_missing, is_wrong = floats(column)
            missing.add(is_missing & (not gaps), start, name)
            wrong.add(is_wrong, start, name, column)
            infinite.add(np.isinf(part[:, i]), start, name, column)
        parts.append(part)
        start += batch.num_rows
    prepare = ("say {kinds} to have them prepared",) if what == "Features" else ()
    faulty: tuple[tuple[Faults, str, tuple[str, ...]], ...] = (
        (wrong, "not", ("correct them", *prepare, "leave these columns out with {columns}")),
        (missing, "empty", ("fill them", "drop these rows", *prepare, "leave these columns out")),
        (infinite, "infinite", ("correct them", "drop these rows")),
    )
    settings = {"columns": None} | ({"kinds": "any"} if prepare else {})
    for faults, came, remedy in faulty:
        if faults.count:
            raise TableError(
                f"{what} in {table.name} should be numbers",
                faults.places(table, came),
                remedy,
                settings=settings if faults is not infinite else None,
            )
    return np.concatenate(parts)


def column_of(table: Source, name: str) -> Any:
    """One column of names, as Arrow has it."""
    return table.named(name)


def read_ids(table: Source, name: str) -> NDArray[Any]:
    """The names of rows, of which each must be there once."""
    return ids_of(table, name, column_of(table, name))


def ids_of(table: Source, name: str, given: Any) -> NDArray[Any]:
    """The same from a column of Arrow."""
    column = names_of(given, name, table.name)
    blank = np.asarray(column.is_null(), dtype=bool)
    if blank.any():
        raise blank_names(table, name, (np.flatnonzero(blank) + 1).tolist())
    ids = values_of(column)
    twice = set(repeated(ids.tolist()))
    if twice:
        rows = [row for row, value in enumerate(ids.tolist(), 1) if value in twice]
        raise repeated_names(table, name, ids.tolist()[rows[0] - 1], rows)
    return ids


def blank_names(table: Source, name: str, rows: Sequence[int]) -> TableError:
    """An error about rows without a name."""
    return TableError(
        f"Column {name!r} of {table.name} should name every row, but is empty in "
        f"{table.where(rows)}; fill it, or name another column."
    )


def repeated_names(table: Source, name: str, value: Any, rows: Sequence[int]) -> TableError:
    """An error about rows that are called alike."""
    return TableError(
        f"Column {name!r} of {table.name} should name every row differently, but repeats "
        f"{value!r} and perhaps others in {table.where(rows)}; correct it, or name another column."
    )


def check_rows(table: Source, n_rows: int) -> None:
    """Refuse a table without rows."""
    if not n_rows:
        raise TableError(
            f"{table.name} should have at least one row, but has only the names of its columns; "
            "add the data."
        )


def check_usable(read: Features, table: Source, n_features: int | None) -> None:
    """Refuse features that no model can compute with, or other ones than a model has learned."""
    if n_features is not None and len(read.names) != check_whole(n_features, "n_features", 1):
        raise TableError(
            f"{table.name} should have the {n_features} features that the model has learned, but "
            f"has {len(read.names)} ({listed(read.names)}); add or leave out columns."
        )
    large = Faults()
    for i, name in enumerate(read.names):
        column = read.X[name] if isinstance(read.X, FeatureTable) else read.X[:, i]
        if column.dtype.kind == "f":
            large.add(np.abs(column) > LARGEST, 0, name)
    if large.count:
        raise TableError(
            f"Features in {table.name} should be at most {LARGEST:g} in size to compute with, but "
            f"{large.places(table, 'larger')}; scale or correct them."
        )


def id_columns(table: Source, taken: Sequence[str] | None) -> list[str]:
    """Columns that may name rows: all others, and an index of pandas that is text or has a name."""
    types = arrow().types
    index = [
        field.name for field in table.schema(sorted(table.index))
        if types.is_string(field.type) or not field.name.startswith("__index_level_")
    ]  # fmt: skip
    return [name for name in [*choose(table, None), *index] if name not in (taken or ())]


def find_named_id(table: Source, free: Sequence[str]) -> str | None:
    """The column whose name says that it names the rows, where nothing else tells.

    One called item, task or id in any case; one of whole numbers or text, all different, with a
    name such as photo_id; or an index of text, all different.
    """
    usual = [name for known in ITEMS for name in free if name.lower() == known]
    if usual:
        return usual[0]
    pc, types = arrow(".compute"), arrow().types
    for name in free:
        kind = table.schema([name]).field(0).type
        is_index = name in table.index and types.is_string(kind)
        if is_index or (says_id(name) and (types.is_integer(kind) or types.is_string(kind))):
            column = column_of(table, name)
            if not column.null_count and pc.count_distinct(column).as_py() == len(column):
                return name
    return None


def check_id(table: Source, id: str) -> str:  # noqa: A002
    """The name of a column that was said to name the rows."""
    if check_text(id, "id") not in table.names:
        meant = guess(id, table.names).removeprefix("; ")
        raise TableError(
            f"{table.name} should have a column {shown(id)}, but does not (its columns are "
            f"{listed([repr(name) for name in table.names])})",
            "",
            meant or "name one of these with {id}",
            parameter="id",
            value=id,
            settings={"id": None},
        )
    return id


def check_kinds(kinds: Any) -> dict[str, str] | None:
    """What columns hold, by name; None if all should be numbers."""
    if kinds is None:
        return None
    if isinstance(kinds, str):
        check_option(kinds, ("any",), "kinds")
        return {}
    check_kind(kinds, Mapping, "kinds", "write 'any', or {'region': 'category'}")
    for name, kind in kinds.items():
        check_text(name, "Keys of kinds")
        check_option(kind, KINDS, "Values of kinds")
    return dict(kinds)


def read_features(
    source: Any,
    id: str | None = None,  # noqa: A002
    columns: Sequence[str] | None = None,
    *,
    kinds: str | Mapping[str, str] | None = None,
    missing: Sequence[str] = (),
) -> Features:
    r"""Features from a table: a matrix of numbers, or columns of any kind.

    Parameters
    ----------
    source
        As for `read_table`.
    id : name of a column, optional
        It names the rows, and is no feature. By default the column that is called item, task or id,
        or photo_id and the like if its names are all different.
    columns : list of names, optional
        The features; all columns but `id` by default.
    kinds : None, "any" or dict
        By default all features have to be numbers. "any" also takes gaps, text, categories and
        dates, for a pipeline that begins with `plausible.models.FeaturePreparation`; a dict says
        for some columns what they are: "number", "category", "date" or "left out". Columns that
        say nothing (always the same, text that differs in every row, further ids) are left out.
    missing : words, optional
        That mean an empty cell, with `kinds`.

    Returns
    -------
    features : Features
        With `X` of shape (n, d), `names` and `ids`. Without `kinds`, cells that are missing,
        infinite or no numbers are an error.

    Examples
    --------
    >>> import io
    >>> X, names, ids = read_features(io.StringIO("item,a,b\nx1,1,2.5\nx2,3,4\n"), id="item")
    >>> X
    array([[1. , 2.5],
           [3. , 4. ]])
    >>> names, ids.tolist()
    (['a', 'b'], ['x1', 'x2'])
    >>> leaves = {"id": [1, 2, 3], "length": [5.1, None, 4.9], "color": ["red", "green", "red"]}
    >>> read_features(leaves, kinds="any").X
    <FeatureTable: 3 rows of length, color>
    """
    table = open_table(source)
    wanted = check_kinds(kinds)
    asked = None if columns is None else choose(table, columns)
    name = find_named_id(table, id_columns(table, asked)) if id is None else check_id(table, id)
    if name is not None:
        check_last_row(table, name)
    read = read_with_id(table, name, asked, wanted, check_texts(missing, "missing", "words"))
    return replace(read, notes=[*table.notes, *read.notes])


def read_with_id(
    table: Source,
    id: str | None,  # noqa: A002
    columns: Sequence[str] | None,
    kinds: Mapping[str, str] | None,
    missing: Sequence[str] = (),
) -> Features:
    """Features of a table whose column of ids is known."""
    names = list(columns) if columns is not None else [n for n in choose(table, None) if n != id]
    if not names or id in names:
        raise TableError(
            f"Features should be columns of {table.name} beside the id {id!r}",
            f"{'there are none' if not names else 'it is among them'}",
            "name them with {columns}",
            settings={"columns": None},
        )
    strange = sorted(set(kinds or ()) - set(table.names))
    if strange:
        raise TableError(
            f"kinds should be of columns of {table.name}, but {strange[0]!r} is not there"
            f"{guess(strange[0], table.names) or ';'} its columns are "
            f"{listed([repr(name) for name in table.names])}."
        )
    notes: list[str] = [
        f"{table.name}: column {field.name!r} has durations, read as seconds"
        for field in (table.schema(names) if table.format in TYPED else ())
        if arrow().types.is_duration(field.type)
    ]
    if kinds is None:
        ids = None if id is None else read_ids(table, id)
        X: Any = read_numbers(table, names, "Features", gaps=False)
        kept = [] if columns is not None else _further_ids(names, X)
        notes += told_left_out(dict.fromkeys(kept, "it names the rows"), table.name)
        used = [i for i, name in enumerate(names) if name not in kept]
        names, X = [names[i] for i in used], X[:, used] if kept else X
        check_rows(table, len(X))
        held = dict.fromkeys(names, NUMBER)
        notes += told_codes(table.name, dict(zip(names, X.T, strict=True)), {"kinds": "any"})
        return Features(NamedArray(X, names), names, ids, id, None, notes, held)
    loaded = table.whole(names)
    check_rows(table, loaded.num_rows)
    ids = None if id is None else read_ids(table, id)
    data, left_out = read_mixed(table, loaded, kinds, [*(columns or ()), *kinds], missing)
    if not data:
        raise TableError(
            f"{table.name} should have features beside the id {id!r}",
            "all columns are left out "
            f"({listed([f'{name}: {why}' for name, why in left_out.items()])})"
            + "".join(f"; {note}" for note in table.notes),
            ("add some", "name them with {columns}"),
            settings={"columns": None},
        )
    notes += [*told_left_out(left_out, table.name), *told_codes(table.name, data, {})]
    held = as_kinds(data, kinds)
    return Features(_as_features(data, held), list(data), ids, id, None, notes, held)


def _further_ids(names: Sequence[str], X: NDArray[np.float64]) -> list[str]:
    """Columns of numbers that name the rows as well, unless there would be nothing else."""
    found = [
        name
        for i, name in enumerate(names)
        if is_row_name(name) or (says_id(name) and names_rows(X[:, i]))
    ]
    return found if len(found) < len(names) else []


def _as_features(data: Mapping[str, NDArray[Any]], kinds: Mapping[str, str]) -> Any:
    """An array if all columns are numbers without gaps, else a table."""
    columns = list(data.values())
    are_whole = [column.dtype.kind == "f" and not np.isnan(column).any() for column in columns]
    if all(are_whole) and set(kinds.values()) <= {NUMBER}:
        return NamedArray(np.column_stack(columns), list(data))
    return FeatureTable(data)
