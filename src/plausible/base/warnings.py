"""Warnings of several estimators, so that they can be filtered."""


class EmptyClassWarning(UserWarning):
    """A class has no items, or a component has lost its items.

    Examples
    --------
    >>> import warnings
    >>> warnings.simplefilter("ignore", EmptyClassWarning)
    """


class OutlierWarning(UserWarning):
    """Items that belong to no cluster were turned into labels, which cannot say so.

    Examples
    --------
    >>> import warnings
    >>> warnings.simplefilter("ignore", OutlierWarning)
    """


class FarPointWarning(UserWarning):
    """Items lie so far from all that was learned that no number holds their evidence.

    Examples
    --------
    >>> import warnings
    >>> warnings.simplefilter("ignore", FarPointWarning)
    """


class SharpenedLabelsWarning(UserWarning):
    """An estimator takes probabilities that were given as labels for likelihoods.

    Examples
    --------
    >>> import warnings
    >>> warnings.simplefilter("ignore", SharpenedLabelsWarning)
    """


class RowOrderWarning(UserWarning):
    """Features and labels have the same names of rows, but in another order.

    Examples
    --------
    >>> import warnings
    >>> warnings.simplefilter("ignore", RowOrderWarning)
    """
