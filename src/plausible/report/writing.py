"""The report as a file."""

import os
from typing import Any

from plausible.io import new_file
from plausible.report.page import render
from plausible.report.summary import summarize


def label_report(
    path: str | os.PathLike[str],
    labels: Any = None,
    annotations: Any = None,
    model: Any = None,
    X: Any = None,
    y_test: Any = None,
    X_test: Any = None,
    **options: Any,
) -> dict[str, Any]:
    """Write a report on labels, experts and a model as one HTML file.

    The file is there in whole or not at all, needs no network, and is readable without JavaScript,
    in light and dark, and on paper.

    Parameters
    ----------
    path : path of the HTML file
    labels, annotations, model, X, y_test, X_test, **options
        As for `summarize`.

    Returns
    -------
    dict
        The numbers on the page, as `summarize` gives them.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from plausible.experts import Annotations
    >>> answers = Annotations.from_answers([["cat", "cat"], ["cat", "dog"], ["dog", "dog"]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "report.html"
    ...     found = label_report(path, annotations=answers, date="1 May 2026")
    ...     path.read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    >>> found["clash"]["worst"][0]["item"]
    '1'
    """
    summary = summarize(labels, annotations, model, X, y_test, X_test, **options)
    page = render(summary).encode("utf-8")
    with new_file(path) as file:
        file.write(page)
    return summary
