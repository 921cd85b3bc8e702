"""Toys on the bases, and an estimator of somebody else, each as short as it can be."""

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from plausible.base import (
    Clustered,
    CredalClustering,
    MassClassifier,
    check_labels_and_weights,
    with_labels,
)
from plausible.belief import SparseMasses
from plausible.labels import as_labels
from plausible.metrics import soft_accuracy

TOO_LITTLE = (
    "Labels should favor one of several classes, but there is 1 class, no label says anything, or "
    "all have zero weight; label some items."
)


class ToyMasses(MassClassifier):
    """Mass on the class of the nearest mean, the more the nearer; the rest on all classes."""

    def fit(self, X, y, sample_weight=None):
        X = validate_data(self, X, dtype=np.float64)
        labels, weight = check_labels_and_weights(self, y, sample_weight, len(X))
        scaled = labels.scaled()
        says = weight[:, None] * (scaled - scaled.min(axis=1, keepdims=True))
        if not says.any():
            raise ValueError(TOO_LITTLE)
        self.classes_ = labels.classes
        total = np.maximum(says.sum(axis=0), 1e-300)
        self.means_ = says.T @ X / total[:, None]
        self.focal_sets_ = np.append(1 << np.arange(len(total)), (1 << len(total)) - 1)
        return self

    def _masses(self, X):
        near = np.exp(-cdist(X, self.means_))
        best = near.argmax(axis=1)[:, None] == np.arange(near.shape[1])
        values = np.where(best, 0.9 * near, 0.0)
        values = np.column_stack([values, 1 - values.sum(axis=1)])
        return SparseMasses(values, self.focal_sets_, near.shape[1])


class ToyClusters(CredalClustering):
    """Items between two random centers may be of both clusters, far ones of none."""

    def __init__(self, n_init=5, random_state=None):
        self.n_init, self.random_state = n_init, random_state

    def _cluster(self, X, random):
        centers = X[random.choice(len(X), 2, replace=False)]
        for _ in range(10):
            mine = cdist(X, centers).argmin(axis=1)
            centers = np.array([X[mine == k].mean(axis=0) if (mine == k).any() else centers[k]
                                for k in (0, 1)])  # fmt: skip
        self.centers_ = centers
        spread = cdist(X, centers).min(axis=1)
        self.reach_ = 3 * spread.mean() + 1e-12
        learned = {"centers_": centers, "reach_": self.reach_}
        return Clustered(self._masses(X), float(spread.sum()), learned=learned)

    def _masses(self, X):
        apart = cdist(X, self.centers_)
        share = 1 / (1e-12 + np.column_stack([apart, apart.mean(axis=1)]) ** 2)
        share = share / share.sum(axis=1, keepdims=True)
        far = np.clip(apart.min(axis=1) / self.reach_ - 1, 0.0, 1.0)[:, None]
        return SparseMasses(np.hstack([(1 - far) * share, far]), [1, 2, 3, 0], 2)


class SomebodyElses(ClassifierMixin, BaseEstimator):
    """Takes `Labels` by its tag, without any base of ours: means weighted by plausibility."""

    def fit(self, X, y, sample_weight=None):
        X = validate_data(self, X, dtype=np.float64)
        labels, weight = check_labels_and_weights(self, y, sample_weight, len(X))
        says = weight[:, None] * (labels.scaled() - labels.scaled().min(axis=1, keepdims=True))
        if not says.any():
            raise ValueError(TOO_LITTLE)
        self.classes_ = labels.classes
        self.means_ = says.T @ X / np.maximum(says.sum(axis=0), 1e-300)[:, None]
        return self

    def predict_proba(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return softmax(-0.5 * cdist(X, self.means_, "sqeuclidean"), axis=1)

    def predict(self, X):
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    def score(self, X, y, sample_weight=None):
        return soft_accuracy(as_labels(y), self.predict(X), sample_weight, self.classes_)

    def __sklearn_tags__(self):
        return with_labels(super().__sklearn_tags__())
