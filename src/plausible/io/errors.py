"""Errors of model files and of tables of answers."""

from plausible.errors import InputError
from plausible.tables import TableError


class ModelFileError(ValueError):
    """A model file that cannot be read, or may not be; the message says why, and what to do.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from plausible.io import ModelFileError, load
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "notes.txt"
    ...     _ = path.write_text("no model")
    ...     try:
    ...         load(path)
    ...     except ModelFileError as error:
    ...         print(error)
    'notes.txt' should be a model file of plausible, but does not begin like one; give a file that
    plausible fit or plausible.io.save wrote.
    """


class AnswersError(InputError, TableError):
    """A table of answers that is not what it should be, with the options that would mend it.

    Examples
    --------
    >>> from plausible.io import TableError, read_annotations
    >>> table = {"item": [1, 1], "annotator": ["ann", "bob"], "label": ["a", "b"], "sure": [1, 5]}
    >>> try:
    ...     read_annotations(table)
    ... except TableError as error:
    ...     print(error.settings["words"])
    {'1': 0.8, '5': 0.05}
    """
