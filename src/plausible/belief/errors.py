"""The error of the algebra."""

from plausible.errors import InputError


class TotalConflictError(InputError):
    """Sources contradict each other completely, so that no normalized answer exists.

    Attributes
    ----------
    rows : int array
        All rows in total conflict: their numbers, or their places where there are several axes.

    Examples
    --------
    >>> from plausible.belief import TotalConflictError, dempster
    >>> try:
    ...     dempster([[0.0, 1.0, 0.0, 0.0]], [[0.0, 0.0, 1.0, 0.0]])
    ... except TotalConflictError as error:
    ...     print(error.rows)
    [[0]]
    """
