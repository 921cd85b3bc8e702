"""The error of model files."""

from plausible.errors import InputError


class ModelFileError(InputError):
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
