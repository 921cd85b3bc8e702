"""Real sets in which people narrowed the class down to a few candidates.

Read from the folder that PLAUSIBLE_DATA names, ``partial_labels/<name>.npz`` with the arrays X
(n, d), candidates (n, K) of 0 and 1, and y (n,), the number of the true class, which is one of the
candidates:

========  ====================================================================================
lost      a face in an episode of a television series; the names in the caption
msrcv2    a segment of an image; the tags of the image
birdsong  a syllable; the species heard in the recording
fgnet     a face; the ages that people guessed
italian   a word; the parts of speech that it can be
========  ====================================================================================
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plausible.checks import check_option
from plausible.datasets.real import FloatArray, IntArray, read_arrays
from plausible.labels import Labels

PARTIAL_NAMES = ("lost", "msrcv2", "birdsong", "fgnet", "italian")


@dataclass(frozen=True)
class PartialData:
    """What `load_partial` returns.

    Attributes
    ----------
    name : str
    X : array (n, d)
    labels : Labels
        The candidates of each row; classes are the numbers 0 to K - 1.
    y : int array (n,)
        True classes.

    Examples
    --------
    >>> labels = Labels.from_sets([{0}, {0, 1}])
    >>> PartialData("two items", np.zeros((2, 1)), labels, np.array([0, 1])).labels.n_classes
    2
    """

    name: str
    X: FloatArray
    labels: Labels
    y: IntArray


def load_partial(name: str) -> PartialData:
    """Load a set whose labels are sets of candidates.

    Parameters
    ----------
    name : {"lost", "msrcv2", "birdsong", "fgnet", "italian"}

    Returns
    -------
    PartialData

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
    ...     load_partial("lost")
    ... except MissingDataError as error:
    ...     print(error)                         # doctest: +ELLIPSIS
    The set 'lost' should be in the file partial_labels/lost.npz of the folder that ...
    >>> if folder is not None:
    ...     os.environ["PLAUSIBLE_DATA"] = folder
    """
    check_option(name, PARTIAL_NAMES, "name")
    file = f"partial_labels/{name}.npz"
    arrays = read_arrays(name, file, ("X", "candidates", "y"))
    y = arrays["y"].astype(np.int64)
    candidates: NDArray[np.bool_] = arrays["candidates"] > 0
    excluded = np.flatnonzero(~candidates[np.arange(len(y)), y])
    if len(excluded):
        raise ValueError(
            f"{file} should have each true class among the candidates, but {len(excluded)} rows "
            f"do not (the first is row {excluded[0]}); get the file again."
        )
    return PartialData(name, arrays["X"].astype(np.float64), Labels.from_sets(candidates), y)
