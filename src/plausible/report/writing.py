"""The report as a file."""

import os
from collections.abc import Mapping
from typing import Any

from plausible.errors import InputError
from plausible.io import Training, new_file
from plausible.report.page import render
from plausible.report.summary import summarize
from plausible.report.tags import tag

HEIGHT = "46rem"  # of the page in a notebook


class Report(dict[str, Any]):
    """A report that was written: the numbers as a dictionary, and the page; see `label_report`.

    Attributes
    ----------
    path : str or None
        Where the page was written, if it was.
    summary : dict
        The numbers, as `summarize` gives them.
    html : str
        The page.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report = label_report(f"{folder}/report.html", ["cat", "dog", "dog"])
    >>> report["labels"]["n_items"], report.html[:15]
    (3, '<!doctype html>')
    """

    def __init__(self, summary: Mapping[str, Any], path: str | None) -> None:
        super().__init__(summary)
        self.path = path

    @property
    def summary(self) -> dict[str, Any]:
        """The numbers as a plain dictionary."""
        return dict(self)

    @property
    def html(self) -> str:
        """The page."""
        return render(self.summary)

    def __repr__(self) -> str:
        where = "" if self.path is None else f" in {self.path}"
        where = " in standard output" if self.path == "-" else where
        return f"<Report {self['title']!r}{where}; .summary has the numbers, .html the page>"

    def _repr_html_(self) -> str:
        """The page in a frame, as notebooks show it; its links stay in the frame."""
        page = self.html.replace("<head>", '<head><base href="about:srcdoc">', 1)
        style = f"width: 100%; height: {HEIGHT}; border: 1px solid #8886; border-radius: 6px"
        return tag("iframe", srcdoc=page, title=self["title"], style=style)


def label_report(
    path: str | os.PathLike[str] | None = None,
    labels: Any = None,
    annotations: Any = None,
    model: Any = None,
    X: Any = None,
    y_test: Any = None,
    X_test: Any = None,
    **options: Any,
) -> Report:
    """Write a report on labels, experts and a model as one HTML file.

    The file is there in whole or not at all, needs no network, and is readable without JavaScript,
    in light and dark, and on paper.

    Parameters
    ----------
    path : path of the HTML file, optional
        Without one no file is written: notebooks show the page, and `Report.html` is the page.
    labels, annotations, model, X, y_test, X_test, **options
        As for `summarize`. What `plausible.io.read_training` gives may stand in the place of
        labels, and brings annotations, X, names and notes along.

    Returns
    -------
    Report
        A dictionary of the numbers on the page, as `summarize` gives them, that notebooks show as
        the page.

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
    if isinstance(labels, Training):
        training = labels
        _check_alone(annotations, X)
        labels, annotations = training.known.labels, training.known.annotations
        X, options = training.X[training.rows], _names_and_notes(training) | options
    summary = summarize(labels, annotations, model, X, y_test, X_test, **options)
    if path is None:
        return Report(summary, None)
    page = render(summary).encode("utf-8")
    with new_file(path) as file:
        file.write(page)
    return Report(summary, os.fspath(path))


def _check_alone(annotations: Any, X: Any) -> None:
    """What was read for training has annotations and features of its own."""
    for name, value in (("annotations", annotations), ("X", X)):
        if value is not None:
            raise InputError(
                f"{name} should be left out where labels are what read_training gave",
                "both were given",
                f"leave {name} out, or give training.labels",
                parameter=name,
            )


def _names_and_notes(training: Training) -> dict[str, Any]:
    items = training.known.items
    named = {} if items is None else {"items": items.tolist()}
    return named | {"notes": training.notes, "feature_names": training.names}
