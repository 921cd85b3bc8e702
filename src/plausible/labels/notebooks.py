"""Labels as prompts and notebooks show them: the first items and classes."""

import html

import numpy as np
from numpy.typing import NDArray

MOST_ROWS = 10  # that are shown
MOST_CLASSES = 20  # that are shown; of more, the first ten


def brief_list(classes: NDArray[np.generic]) -> str:
    """``['ant', 'bee']``, and of very many classes the first ones and their number."""
    if len(classes) <= MOST_CLASSES:
        return str(classes.tolist())
    first = str(classes[: MOST_CLASSES // 2].tolist())
    return f"{first[:-1]}, ...] ({len(classes)} in all)"


def html_table(title: str, classes: NDArray[np.generic], contour: NDArray[np.float64]) -> str:
    """The first rows of a contour under the names of its classes."""
    if len(classes) > MOST_CLASSES:
        classes, contour = classes[: MOST_CLASSES // 2], contour[:, : MOST_CLASSES // 2]
    head = "".join(f"<th>{html.escape(str(name))}</th>" for name in classes)
    rows = "".join(
        f"<tr><th>{i}</th>" + "".join(f"<td>{value:.3g}</td>" for value in row) + "</tr>"
        for i, row in enumerate(contour[:MOST_ROWS])
    )
    left = len(contour) - MOST_ROWS
    more = f"<p>{left} more {'row' if left == 1 else 'rows'}</p>" if left > 0 else ""
    table = f"<table><tr><th></th>{head}</tr>{rows}</table>"
    return f"<p>{html.escape(title)}</p>{table}{more}"
