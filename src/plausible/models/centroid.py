r"""Nearest class mean under soft labels.

.. math:: \mu_k = \frac{\sum_i w_{ik} x_i}{\sum_i w_{ik}}, \qquad
          w_{ik} = \frac{pl_{ik} - \min_l pl_{il}}{\max_l pl_{il}}

A row counts for a class as far as it favors the class: a hard label with weight one, a doubted one
with 1 - doubt, and a row that says nothing not at all. With hard labels the means and the answers
are those of scikit-learn's `NearestCentroid`.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from plausible.base import EvidenceClassifier, check_features, check_labels_and_weights
from plausible.errors import InputError

FloatArray = NDArray[np.float64]


def _weighted_means(X: FloatArray, weights: FloatArray) -> FloatArray:
    """Means (K, d) of rows with weights (n, K); NaN for a class without weight."""
    total = weights.sum(axis=0)[:, None]
    return np.divide(
        weights.T @ X, total, out=np.full((weights.shape[1], X.shape[1]), np.nan), where=total > 0
    )


def squared_distances(X: FloatArray, means: FloatArray) -> FloatArray:
    """Squared Euclidean distances (n, K); infinite to a class without a mean."""
    distances = cdist(X, means, "sqeuclidean")
    return np.where(np.isnan(distances), np.inf, distances)


class SoftNearestCentroid(EvidenceClassifier):
    """Classify by the nearest class mean, learned from labels of any kind.

    Attributes
    ----------
    classes_ : array (K,)
    means_ : array (K, d)
        NaN for a class that no row favors; it is never predicted.

    Examples
    --------
    >>> from plausible.labels import Labels
    >>> X = [[0.0], [1.0], [9.0], [10.0], [4.0]]
    >>> y = Labels.from_doubt(["a", "a", "b", "b", "a"], doubt=[0, 0, 0, 0, 1])
    >>> SoftNearestCentroid().fit(X, y).means_
    array([[0.5],
           [9.5]])
    """

    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> "SoftNearestCentroid":
        """Compute the mean of each class.

        Parameters
        ----------
        X : array-like (n, d)
        y : Labels, or all that `as_labels` takes
        sample_weight : array-like (n,), optional

        Returns
        -------
        self
        """
        data: FloatArray = check_features(self, X, dtype=np.float64)
        labels, row_weights = check_labels_and_weights(self, y, sample_weight, len(data), X)
        scaled = labels.scaled()
        favored = scaled - scaled.min(axis=1, keepdims=True) * (labels.n_classes > 1)
        shares = labels.is_probability
        favored[shares] = scaled[shares] / scaled[shares].sum(axis=1, keepdims=True)
        weights = favored * row_weights[:, None]
        if not weights.any():
            raise InputError(
                "At least one row should favor a class",
                "all labels are unknown or have zero sample weight",
                "label some items",
            )
        self.classes_ = labels.classes
        self.means_ = _weighted_means(data, weights)
        return self

    def _log_evidence(self, X: FloatArray) -> FloatArray:
        """Of spherical Gaussians with unit variance around the means."""
        return -0.5 * squared_distances(X, self.means_)

    @property
    def _learned_classes(self) -> NDArray[np.bool_]:
        return ~np.isnan(self.means_[:, 0])
