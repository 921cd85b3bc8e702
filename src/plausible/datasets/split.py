"""Sets with the papers' own division into training and test rows, by their order.

They are read from the folder that PLAUSIBLE_DATA names, evclass/<name>.npz: X (n, d), y (n,).
Training rows come first: 175 of 351 (ionosphere), 89 of 185 (glass), 564 of 846 (vehicles). The
vowels (528 training rows, 462 of other speakers) are in vowel/vowel.npz: X_train, y_train, X_test,
y_test.
"""

from dataclasses import dataclass

from plausible.checks import check_option
from plausible.datasets.real import FloatArray, IntArray, read_arrays

N_TRAIN = {"ionosphere": 175, "glass": 89, "vehicles": 564}
SPLIT_NAMES = (*N_TRAIN, "vowel")


@dataclass(frozen=True)
class SplitData:
    """What `load_split` returns: features and classes for training and for tests.

    Examples
    --------
    >>> import numpy as np
    >>> one = np.zeros((1, 2)), np.array([1])
    >>> SplitData("two rows", *one, *one).name
    'two rows'
    """

    name: str
    X: FloatArray
    y: IntArray
    X_test: FloatArray
    y_test: IntArray


def load_split(name: str) -> SplitData:
    """Load a set with its division into training and test rows.

    Parameters
    ----------
    name : {"ionosphere", "glass", "vehicles", "vowel"}

    Returns
    -------
    SplitData

    Raises
    ------
    MissingDataError
        If the environment variable PLAUSIBLE_DATA is not set, or the file is not there.

    Examples
    --------
    >>> import os
    >>> from plausible.datasets import MissingDataError
    >>> folder = os.environ.pop("PLAUSIBLE_DATA", None)
    >>> try:
    ...     load_split("glass")
    ... except MissingDataError as error:
    ...     print(error)                         # doctest: +ELLIPSIS
    The set 'glass' should be in the file evclass/glass.npz of the folder that ...
    >>> if folder is not None:
    ...     os.environ["PLAUSIBLE_DATA"] = folder
    """
    check_option(name, SPLIT_NAMES, "name")
    if name == "vowel":
        parts = ("X_train", "y_train", "X_test", "y_test")
        given = read_arrays(name, "vowel/vowel.npz", parts)
        X, y, X_test, y_test = (given[part] for part in parts)
        return SplitData(
            name, X.astype(float), y.astype(int), X_test.astype(float), y_test.astype(int)
        )
    arrays = read_arrays(name, f"evclass/{name}.npz", ("X", "y"))
    X, y, n = arrays["X"].astype(float), arrays["y"].astype(int), N_TRAIN[name]
    return SplitData(name, X[:n], y[:n], X[n:], y[n:])
