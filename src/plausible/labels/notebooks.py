"""Labels as a notebook shows them."""

import html

import numpy as np
from numpy.typing import NDArray

MOST_ROWS = 10  # that are shown


def html_table(title: str, classes: NDArray[np.generic], contour: NDArray[np.float64]) -> str:
    """The first rows of a contour under the names of its classes."""
    head = "".join(f"<th>{html.escape(str(name))}</th>" for name in classes)
    rows = "".join(
        f"<tr><th>{i}</th>" + "".join(f"<td>{value:.3g}</td>" for value in row) + "</tr>"
        for i, row in enumerate(contour[:MOST_ROWS])
    )
    left = len(contour) - MOST_ROWS
    more = f"<p>{left} more {'row' if left == 1 else 'rows'}</p>" if left > 0 else ""
    table = f"<table><tr><th></th>{head}</tr>{rows}</table>"
    return f"<p>{html.escape(title)}</p>{table}{more}"
