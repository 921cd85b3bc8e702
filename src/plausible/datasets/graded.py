"""Real sets with one expert's grades, read from the folder that PLAUSIBLE_DATA names.

============  ================================================================================
elpv          elpv/elpv.npz: features (n, 64) of pictures of solar cells, defect_probability:
              0 or 1 where the expert was sure, 1/3 or 2/3 where not; nobody knows the truth
mammographic  mammographic/mammographic.npz: X (n, 4) = age, shape, margin, density of a mass,
              birads: a radiologist's grade from 0 to 6, y: 1 if the biopsy found it malignant
============  ================================================================================
"""

from dataclasses import dataclass

import numpy as np

from plausible.checks import check_option
from plausible.datasets.real import FloatArray, IntArray, read_arrays

GRADED_NAMES = ("elpv", "mammographic")


@dataclass(frozen=True)
class GradedData:
    """What `load_graded` returns.

    Attributes
    ----------
    name : str
    X : array (n, d)
    grades : array (n,)
        As the expert gave them: 0, 1/3, 2/3 and 1 for "elpv", 0 to 6 for "mammographic".
    y : int array (n,) or None
        Truth, 1 where what the expert looks for was there.

    Examples
    --------
    >>> GradedData("two items", np.zeros((2, 1)), np.array([0.0, 1.0]), None).name
    'two items'
    """

    name: str
    X: FloatArray
    grades: FloatArray
    y: IntArray | None


def load_graded(name: str) -> GradedData:
    """Load a set with an expert's grades.

    Parameters
    ----------
    name : {"elpv", "mammographic"}

    Returns
    -------
    GradedData

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
    ...     load_graded("elpv")
    ... except MissingDataError as error:
    ...     print(error)                         # doctest: +ELLIPSIS
    The set 'elpv' should be in the file elpv/elpv.npz of the folder that ...
    >>> if folder is not None:
    ...     os.environ["PLAUSIBLE_DATA"] = folder
    """
    check_option(name, GRADED_NAMES, "name")
    if name == "elpv":
        arrays = read_arrays(name, "elpv/elpv.npz", ("features", "defect_probability"))
        thirds = np.round(3.0 * arrays["defect_probability"].astype(np.float64)) / 3.0
        return GradedData(name, arrays["features"].astype(np.float64), thirds, None)
    arrays = read_arrays(name, "mammographic/mammographic.npz", ("X", "birads", "y"))
    grades = arrays["birads"].astype(np.float64)
    grades[grades == 55.0] = 5.0  # a known slip of the pen
    X, y = arrays["X"].astype(np.float64), arrays["y"].astype(np.int64)
    return GradedData(name, X, grades, y)
