"""Warnings of their own, so that they can be filtered."""

import warnings


class ApproximationWarning(UserWarning):
    """Masses were asked for, and only plausibilities are known.

    Examples
    --------
    >>> import warnings
    >>> warnings.simplefilter("ignore", ApproximationWarning)
    """


class HardenedLabelsWarning(UserWarning):
    """A classifier of scikit-learn takes the hard classes of labels, and their degrees are lost.

    Examples
    --------
    >>> from sklearn.ensemble import VotingClassifier
    >>> from plausible.labels import Labels
    >>> from plausible.models import SoftNearestCentroid
    >>> y = Labels.from_doubt(["a", "a", "b", "b"], doubt=[0, 0.5, 0, 0.5])
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     _ = VotingClassifier([("near", SoftNearestCentroid())]).fit([[0], [1], [4], [5]], y)
    >>> [warning.category.__name__ for warning in caught]
    ['HardenedLabelsWarning']
    """


class AlikeClassesWarning(UserWarning):
    """Classes differ by case or blanks alone, or one is made of others, as in "cat|dog".

    Examples
    --------
    >>> from plausible.labels import Labels
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     Labels.from_crisp(["cat", "dog", "Dog"]).classes.tolist()
    ['Dog', 'cat', 'dog']
    >>> [warning.category.__name__ for warning in caught]
    ['AlikeClassesWarning']
    """


class MinusOneWarning(UserWarning):
    """-1 stands beside classes that count from 0 or 1, or "nan" beside names, and is a class.

    Examples
    --------
    >>> from plausible.labels import Labels
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     Labels.from_crisp([0, 1, 2, -1]).classes.tolist()
    [-1, 0, 1, 2]
    >>> [warning.category.__name__ for warning in caught]
    ['MinusOneWarning']
    """


def warn(message: str, category: type[Warning]) -> None:
    """Warn on behalf of the caller of a method of `Labels`."""
    warnings.warn(message, category, stacklevel=3)
