"""Features that are the labels themselves, by their names or by what they hold."""

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible.base import FeatureTable
from plausible.io.answer_checks import NEARLY_ALL
from plausible.io.answer_columns import ALIASES, plainly
from plausible.io.features import Features
from plausible.io.wide_columns import RESULTS
from plausible.labels import Labels
from plausible.tables import Source, TableError

OF_CODES = {"id", "code", "codes", "num", "number", "idx", "index", "encoded", "int", "true"}
FEW_LABELS = 10  # with which a feature may agree by chance


def check_no_labels(
    classes: NDArray[Any],
    read: Features,
    table: Source,
    kinds: Mapping[str, str] | None,
    labeled: Callable[[], tuple[Any, Labels]],
) -> None:
    """Refuse a feature that is called like labels, and holds the classes, or a number for each.

    So is another one that holds the classes, and names those of nearly all rows that are labeled.
    These and their labels are asked for only if a column may be such.
    """
    known = set(classes.tolist())
    for i, name in enumerate(read.names):
        if (kinds or {}).get(name) == "left out":
            continue
        values = {v for v in _feature(read.X, i, name).tolist() if v is not None and v == v}
        is_called = says_labels(name)
        if len(values) < 2 or not (is_called or (values <= known and name not in (kinds or {}))):
            continue
        X, labels = labeled()
        column = _feature(X, i, name)
        if (
            (values <= known or _are_codes(column, labels))
            if is_called
            else (_are_labels(column, labels))
        ):
            raise TableError(
                f"Features in {table.name} should be known before an item is labeled",
                f"{name!r} holds the classes themselves",
                "leave it out with {kinds}, or call it otherwise if it is a feature"
                if is_called
                else "leave it out with {kinds}, or say that it is a category if it is a feature",
                settings={"kinds": {name: "left out"}},
            )


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
