"""Features as whole numbers, of which trees learn the same cuts in less time.

scikit-learn's boosted trees cut between quantiles of each feature. Of rows with weights it finds
them one by one, each by sorting all rows, which takes far longer than the trees do. Of features
that are already numbers of quantiles there is nothing left to find.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data


def steps_of(column: NDArray[np.float64], n_steps: int) -> NDArray[np.float64]:
    """Values above which the next steps begin; all but the largest value where these are few.

    Examples
    --------
    >>> steps_of(np.array([3.0, 1.0, 2.0, 1.0]), 4)
    array([1., 2.])
    >>> steps_of(np.arange(100.0), 4)
    array([24.5, 49.5, 74.5])
    """
    values = np.unique(column[~np.isnan(column)])
    if len(values) <= n_steps:
        return values[:-1]
    shares = np.arange(1, n_steps) / n_steps
    return np.unique(np.nanquantile(column, shares, method="averaged_inverted_cdf"))


class QuantileSteps(TransformerMixin, BaseEstimator):
    """Each feature as the number of the quantile that it lies in; NaN stays.

    Parameters
    ----------
    n_steps : int, default 255
        As many as boosted trees tell apart.

    Examples
    --------
    >>> QuantileSteps(2).fit_transform([[1.0], [5.0], [7.0], [40.0]]).ravel()
    array([0., 0., 1., 1.])
    """

    def __init__(self, n_steps: int = 255) -> None:
        self.n_steps = n_steps

    def fit(self, X: Any, y: Any = None) -> "QuantileSteps":
        """Find the quantiles."""
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan")
        self.steps_ = [steps_of(column, self.n_steps) for column in X.T]
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """The numbers of the quantiles."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        codes = [
            np.searchsorted(steps, column) for steps, column in zip(self.steps_, X.T, strict=True)
        ]
        return np.where(np.isnan(X), np.nan, np.stack(codes, axis=1))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
