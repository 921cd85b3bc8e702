"""The warning of a fit that was cut short, so that whoever started it can tell."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from sklearn.exceptions import ConvergenceWarning


class InterruptedFitWarning(ConvergenceWarning):
    """A fit was interrupted by Ctrl-C, and the best so far is kept.

    Examples
    --------
    >>> import warnings
    >>> warnings.simplefilter("ignore", InterruptedFitWarning)
    """


@contextmanager
def passed_on() -> Iterator[None]:
    """Let Ctrl-C in a fit that is a part of something larger end that as well.

    Examples
    --------
    >>> try:
    ...     with passed_on():
    ...         warnings.warn("The fit was interrupted.", InterruptedFitWarning)
    ... except KeyboardInterrupt:
    ...     print("ended")
    ended
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error", InterruptedFitWarning)
        try:
            yield
        except InterruptedFitWarning:
            raise KeyboardInterrupt from None
