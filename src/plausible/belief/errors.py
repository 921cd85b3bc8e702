"""The error of the algebra."""

import numpy as np
from numpy.typing import NDArray

from plausible.errors import InputError


class TotalConflictError(InputError):
    """Sources contradict each other completely, so that no normalized answer exists.

    Attributes
    ----------
    rows : int array (number of rows, number of leading axes)
        All rows in total conflict, as `numpy.argwhere` gives them.

    Examples
    --------
    >>> from plausible.belief import TotalConflictError, dempster
    >>> try:
    ...     dempster([[0.0, 1.0, 0.0, 0.0]], [[0.0, 0.0, 1.0, 0.0]])
    ... except TotalConflictError as error:
    ...     print(error.rows)
    [[0]]
    """

    rows: NDArray[np.int64]
