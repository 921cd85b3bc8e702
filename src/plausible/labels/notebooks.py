"""Labels as prompts and notebooks show them: the first items and classes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from plausible._html import (
    Markup,
    degree,
    join,
    left_out,
    meter,
    notebook_page,
    number_of,
    rows_of,
    short_name,
    some_names,
    strip,
)
from plausible.labels.kinds import KINDS, kinds_of

if TYPE_CHECKING:
    from plausible.labels.container import Labels

MOST_ROWS = 8  # that are shown
MOST_COLUMNS = 6  # classes that have a column each
MOST_NAMED = 3  # classes of a row where there are more
MOST_LISTED = 20  # classes of a prompt; of more, the first ten
MOST_COUNTED = 50_000_000  # degrees that are looked at for the kinds of labels


def brief_list(classes: NDArray[np.generic]) -> str:
    """``['ant', 'bee']``, and of very many classes the first ones and their number."""
    if len(classes) <= MOST_LISTED:
        return str(classes.tolist())
    first = str(classes[: MOST_LISTED // 2].tolist())
    return f"{first[:-1]}, ...] ({len(classes)} in all)"


def labels_page(labels: "Labels") -> str:
    """Kinds of labels, and the first rows of the contour under the names of the classes."""
    facts = join([
        f"{number_of(len(labels), 'item')}, "
        f"{number_of(labels.n_classes, 'class', 'classes')}: ",
        some_names(labels.classes.tolist(), MOST_COLUMNS),
    ])  # fmt: skip
    parts = []
    if 0 < labels.contour.size <= MOST_COUNTED:
        kinds = kinds_of(labels.scaled(), labels.is_probability)
        counts = np.bincount(kinds, minlength=len(KINDS)).tolist()
        parts.append(strip(list(zip(KINDS, counts, strict=True))))
    some = labels.contour[:MOST_ROWS]
    parts.append(degrees_table(labels.classes, some, "plausibility"))
    parts.append(left_out(len(labels) - len(some), "item"))
    return notebook_page("Labels", facts, *parts)


def degrees_table(classes: NDArray[Any], degrees: NDArray[np.float64], what: str) -> Markup:
    """Rows of degrees (n, K): a column for each class, or the first classes of many."""
    if not len(degrees):
        return Markup("")
    names = classes.tolist()
    if len(names) <= MOST_COLUMNS:
        heads = ["item", *map(short_name, names)]
        listed = [(str(i), *map(meter, row)) for i, row in enumerate(degrees.tolist())]
        return rows_of(heads, listed)
    rows = [(str(i), highest(names, row)) for i, row in enumerate(degrees)]
    return rows_of(["item", f"highest {what}"], rows)


def highest(names: Sequence[Any], row: NDArray[np.float64]) -> Markup:
    """The classes with the highest degrees, and how many others have any."""
    order = np.argsort(-row, kind="stable")[:MOST_NAMED]
    top = [k for k in order.tolist() if row[k] > 0]
    parts: list[Any] = []
    for k in top:
        parts += [short_name(names[k]), f" ({degree(float(row[k]))})", ", "]
    others = int((row > 0).sum()) - len(top)
    return join([*parts[:-1], f", and {others:,} more"] if others else parts[:-1])
