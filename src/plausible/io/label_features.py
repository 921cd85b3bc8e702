"""Features that are the labels themselves, or tell them too well, and numbers that are codes."""

import functools
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible.base import FeatureTable
from plausible.errors import Note
from plausible.io.answer_checks import NEARLY_ALL
from plausible.io.answer_columns import ALIASES, plainly
from plausible.io.features import Features
from plausible.io.wide_columns import RESULTS
from plausible.labels import Labels
from plausible.models import CATEGORY, NUMBER, names_rows, says_id
from plausible.tables import Source, TableError, listed

OF_CODES = {"id", "code", "codes", "num", "number", "idx", "index", "encoded", "int", "true"}
FEW_LABELS = 10  # with which a feature may agree by chance
MANY = 1000  # rows that tell most columns apart
MOST_COMPARED = 10_000  # rows, at equal distances
LEAST_SIDE = 5  # rows on either side, before a feature can tell one class from all others
CODES = {"zip", "zipcode", "plz", "postcode", "postalcode", "postal", "fips"}
LAST = {"code", "codes", "id"}  # words at the end of names of columns that hold codes
COUNTS = {"n", "no", "num", "number", "count", "total"}  # words at the beginning of others


def check_no_labels(
    classes: NDArray[Any],
    read: Features,
    table: Source,
    kinds: Mapping[str, str] | None,
    labeled: Callable[[], tuple[Any, Labels]],
) -> list[Note]:
    """Refuse a feature that is called like labels, and holds the classes, or a number for each.

    So is another one that holds the classes, and names those of nearly all rows that are labeled.
    These and their labels are asked for only if a column may be such. Notes are on features that
    tell a class from all others without exception, and on numbers that may be codes or numbers of
    rows.
    """
    known = set(classes.tolist())
    notes, labeled = (
        [*tell_codes(read, kinds), *_tell_counts(read, kinds)],
        functools.cache(labeled),
    )
    for i, name in enumerate(read.names):
        if (kinds or {}).get(name) == "left out":
            continue
        is_called, is_free = says_labels(name), name not in (kinds or {})
        cells = _feature(read.X, i, name)
        if not is_called and len(_values(cells[:MANY])) > max(2, len(known)):
            continue
        values = _values(cells)
        may_tell = is_free and len(values) <= max(2, len(known))
        if len(values) < 2 or not (is_called or may_tell or (values <= known and is_free)):
            continue
        X, labels = labeled()
        column = _feature(X, i, name)
        if is_called:
            is_label = values <= known or _are_codes(column, labels)
        else:
            is_label = values <= known and is_free and _are_labels(column, labels)
        if not is_label and may_tell:
            notes += _tell_leak(name, column, labels)
        if is_label:
            raise TableError(
                f"Features in {table.name} should be known before an item is labeled",
                f"{name!r} holds the classes themselves",
                "leave it out with {kinds}, or call it otherwise if it is a feature"
                if is_called
                else "leave it out with {kinds}, or say that it is a category if it is a feature",
                settings={"kinds": {name: "left out"}},
            )
    return notes


def says_labels(name: str) -> bool:
    """Whether a column is called as labels are, or as their codes.

    Examples
    --------
    >>> [says_labels(name) for name in ("Label", "class_id", "y_true", "width", "id")]
    [True, True, True, False, False]
    """
    called = {plainly(one) for one in (*ALIASES["label"], *RESULTS, "target", "y")}
    words = [word for word in re.split(r"[\W_]+", name.casefold()) if word not in OF_CODES]
    return plainly(name) in called or "".join(words) in called


def _values(cells: Any) -> set[Any]:
    """The different values of a column that are there."""
    return {value for value in cells.tolist() if value is not None and value == value}


def _feature(X: Any, place: int, name: str) -> NDArray[Any]:
    """One column of features."""
    return X[name] if isinstance(X, FeatureTable) else X[:, place]


def _are_labels(column: Any, labels: Labels) -> bool:
    """Whether a column names the most plausible class of nearly all rows that are labeled."""
    said = labels.informativeness > 0
    if said.sum() < FEW_LABELS:
        return False
    same = np.asarray(column)[said] == labels.crisp()[said]
    return bool(np.mean(same) >= NEARLY_ALL)


def _tell_leak(name: str, column: Any, labels: Labels) -> list[Note]:
    """A note on a feature of few values that tells classes without a single exception."""
    said = np.flatnonzero(labels.informativeness > 0)
    said = said[:: max(1, len(said) // MOST_COMPARED)]
    cells = np.asarray(column)[said].astype(str)
    values, codes = np.unique(cells, return_inverse=True)
    if len(values) < 2:
        return []
    pairs = np.zeros((len(values), labels.n_classes), dtype=np.int64)
    np.add.at(pairs, (codes, labels.contour[said].argmax(axis=1)), 1)
    n_rows, sizes = pairs.sum(), pairs.sum(axis=0)
    # Classes with which one value goes, and no other class goes with it.
    is_told = ((pairs == sizes) & (pairs == pairs.sum(axis=1, keepdims=True))).any(axis=0)
    is_told &= np.minimum(sizes, n_rows - sizes) >= LEAST_SIDE
    if n_rows < 2 * FEW_LABELS or not is_told.any():
        return []
    told = labels.classes[is_told].tolist()
    return [
        Note(
            f"{name!r} tells {listed([repr(one) for one in told], len(told))} from all others in "
            f"each of {n_rows} labeled rows: if it was made from the labels, say {{kinds}}",
            kinds={name: "left out"},
        )
    ]


def tell_codes(read: Features, kinds: Mapping[str, str] | None) -> list[Note]:
    """A note on columns of numbers that by their names are codes, such as of places."""
    found = []
    for i, name in enumerate(read.names):
        kind = (read.kinds or {}).get(name, NUMBER)
        if name in (kinds or {}) or kind != NUMBER or not says_code(name):
            continue
        try:
            column = np.asarray(_feature(read.X, i, name), dtype=np.float64)
        except (TypeError, ValueError):
            continue
        there = column[np.isfinite(column)]
        if says_id(name) and names_rows(column):
            continue
        if (there == np.round(there)).all() and len(np.unique(there)) > 2:
            found.append(name)
    if not found:
        return []
    names = ", ".join(map(repr, found[:5])) + ", ..." * (len(found) > 5)
    are = "is called as codes are, and was" if len(found) == 1 else "are called as codes, and were"
    return [
        Note(
            f"{names} {are} read as numbers, of which larger ones mean more: if they only name "
            "something, say {kinds}",
            kinds={found[0]: CATEGORY},
        )
    ]


def _tell_counts(read: Features, kinds: Mapping[str, str] | None) -> list[Note]:
    """A note on columns that count the rows, as their numbers do that somebody has saved."""
    notes = []
    for i, name in enumerate(read.names):
        column = _feature(read.X, i, name)
        if name in (kinds or {}) or column.dtype.kind != "f" or len(column) < FEW_LABELS:
            continue
        step = column[1] - column[0]
        if column[0] not in (0, 1) or step < 1:
            continue
        if all((np.diff(part) == step).all() for part in (column[:MANY], column)):
            told = f"{column[0]:g}, {column[0] + 1:g}, {column[0] + 2:g}, ..."
            told = f"{name!r} counts the rows ({told}), and is used as a feature; "
            notes.append(Note(told + "{kinds} leaves it out", kinds={name: "left out"}))
    return notes


def says_code(name: str) -> bool:
    """Whether a column is called as codes are.

    Examples
    --------
    >>> [says_code(name) for name in ("zip", "ZipCode", "area_code", "shop_id", "age", "n_codes")]
    [True, True, True, True, False, False]
    """
    apart = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name)
    words = re.findall(r"[^\W_]+", apart.lower())
    if not words or words[0] in COUNTS:
        return False
    return words[-1] in LAST or bool(CODES & {*words, "".join(words)})


def _are_codes(column: Any, labels: Labels) -> bool:
    """Whether each class has a value of its own in nearly all rows that are labeled."""
    said = labels.informativeness > 0
    values, codes = np.unique(np.asarray(column)[said].astype(str), return_inverse=True)
    if len(values) != labels.n_classes or len(values) < 2:
        return False
    pairs = np.zeros((len(values), labels.n_classes))
    np.add.at(pairs, (codes, labels.contour[said].argmax(axis=1)), 1.0)
    is_permutation = len(set(pairs.argmax(axis=1).tolist())) == len(values)
    return bool(is_permutation and pairs.max(axis=1).sum() >= NEARLY_ALL * pairs.sum())
