"""The error of the algebra."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


class TotalConflictError(ValueError):
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

    def __init__(self, message: str, rows: NDArray[np.int64]) -> None:
        super().__init__(message)
        self.rows = rows

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.rows)
