"""The warning of a fit that was cut short, so that whoever started it can tell."""

from sklearn.exceptions import ConvergenceWarning


class InterruptedFitWarning(ConvergenceWarning):
    """A fit was interrupted by Ctrl-C, and the best so far is kept.

    Examples
    --------
    >>> import warnings
    >>> warnings.simplefilter("ignore", InterruptedFitWarning)
    """
