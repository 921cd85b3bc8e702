"""Items one under the other, each with bars of some of its classes."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.checks import as_list, check_whole, row_numbers
from plausible.errors import InputError
from plausible.plots.canvas import FEW, INK, QUIET, cluster_colors, name_of, tidy

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

GAP = 0.7  # between two items, in bars
MOST_ITEMS = 8  # that are drawn unless rows are chosen
MOST_BARS = 400


class Blocks(NamedTuple):
    """Where bars are: the item and the class of each, its height, and where items are."""

    item: IntArray
    column: IntArray
    height: FloatArray
    middle: FloatArray
    n_left_out: IntArray


def chosen_rows(rows: Any, n_rows: int) -> IntArray:
    """The rows that are drawn; the first few by default."""
    if rows is None:
        return np.arange(min(n_rows, MOST_ITEMS))
    kept = np.arange(n_rows)[row_numbers(rows, n_rows, "rows")]
    return np.atleast_1d(kept)


def item_names(items: Any, rows: IntArray, n_rows: int) -> list[str]:
    """Names of the items that are drawn: those given for all of them, or their numbers."""
    if items is None:
        return [f"item {row}" for row in rows.tolist()]
    names = as_list(items, "items", "names of items")
    if len(names) != n_rows:
        raise InputError(
            f"items should name each of the {n_rows} items",
            f"{len(names)} names were given",
            "give one name for each row",
            parameter="items",
        )
    return [name_of(names[row]) for row in rows]


def arrange(degrees: FloatArray, max_classes: int) -> Blocks:
    """Bars of the classes with the largest degrees (n, K) of each item, in the order of classes."""
    check_whole(max_classes, "max_classes", 1)
    n_items, n_classes = degrees.shape
    most = min(max_classes, n_classes)
    if n_items * most > MOST_BARS:
        raise InputError(
            f"A picture should have at most {MOST_BARS} bars",
            f"{n_items} items with {most} classes make {n_items * most}",
            "choose some rows",
            parameter="rows",
            value=n_items,
        )
    kept = np.sort(np.argsort(-degrees, axis=1, kind="stable")[:, :most], axis=1)
    item = np.repeat(np.arange(n_items), most)
    height = np.arange(n_items * most) + GAP * item
    middle = height.reshape(n_items, most).mean(axis=1) if most else np.zeros(n_items)
    return Blocks(item, kept.ravel(), height, middle, np.full(n_items, n_classes - most))


def frame(ax: Any, blocks: Blocks, items: Sequence[str], classes: Sequence[str], x: str) -> None:
    """Names of items and classes beside the bars."""
    ax.set_yticks(blocks.height, [classes[k] for k in blocks.column], fontsize="small")
    ax.tick_params(axis="y", length=0)
    for name, middle, left in zip(items, blocks.middle, blocks.n_left_out, strict=True):
        more = f"\n{left} more" if left else ""
        ax.text(1.03, middle, f"{name}{more}", transform=ax.get_yaxis_transform(),
                va="center", color=INK, fontsize="small")  # fmt: skip
    if len(blocks.height):
        ax.set_ylim(blocks.height[-1] + 0.7, -0.7)
    ax.set_xlim(0.0, 1.0)
    ax.set_xticks([0.0, 0.25, 0.5, 0.75, 1.0], ["0", "", "0.5", "", "1"])
    ax.grid(axis="x", color=QUIET, alpha=0.25, lw=0.6)
    ax.set_axisbelow(True)
    ax.set_xlabel(x)
    tidy(ax)


def height_of_figure(blocks: Blocks) -> float:
    """Inches for so many bars."""
    return 1.0 + 0.2 * (len(blocks.height) + GAP * len(blocks.middle))


def colors_of(blocks: Blocks, n_classes: int) -> FloatArray:
    """A color for each bar: that of its class if these are few; their names stand beside them."""
    if n_classes <= len(FEW):
        return cluster_colors(n_classes)[blocks.column]
    return np.repeat(cluster_colors(1), len(blocks.column), axis=0)
