"""Warnings of their own, so that they can be filtered."""

import warnings


class ApproximationWarning(UserWarning):
    """Masses were asked for, and only plausibilities are known.

    Examples
    --------
    >>> import warnings
    >>> warnings.simplefilter("ignore", ApproximationWarning)
    """


def warn(message: str, category: type[Warning]) -> None:
    """Warn on behalf of the caller of a method of `Labels`."""
    warnings.warn(message, category, stacklevel=3)
