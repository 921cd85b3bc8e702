"""Clusterings with one fault each; else `ToyClusters`."""

import numpy as np

from base.toys import ToyClusters as Sound
from plausible.base import CredalPartition
from plausible.belief import SparseMasses


class Meddles(Sound):
    """The base of faults that spoil what was found."""

    def spoil(self, X):
        raise NotImplementedError

    def fit(self, X, y=None):
        super().fit(X, y)
        self.spoil(X)
        return self


# -- One story -------------------------------------------------------------------------------------


class CountsFromOne(Meddles):
    def spoil(self, X):
        self.labels_ = self.labels_ + 1


class LabelsAreFloats(Meddles):
    def spoil(self, X):
        self.labels_ = self.labels_.astype(float)


class TakesManyForOutliers(Meddles):
    def spoil(self, X):
        self.labels_ = np.where(np.arange(len(self.labels_)) % 2, self.labels_, -1)


class SplitsByTheFirstFeature(Meddles):
    def spoil(self, X):
        first = np.asarray(X)[:, 0]
        self.labels_ = (first > first.max() - 3).astype(int)


class FitPredictsOtherwise(Sound):
    def fit_predict(self, X, y=None):
        return 1 - super().fit_predict(X)


class FitReturnsNothing(Sound):
    def fit(self, X, y=None):
        super().fit(X, y)


class CentersItemsInPlace(Sound):
    def fit(self, X, y=None):
        if isinstance(X, np.ndarray):
            X -= X.mean(axis=0)
        return super().fit(X, y)


class MassesAreNegative(Meddles):
    def spoil(self, X):
        self.masses_ = self.masses_ + np.array([-1.0, 1.0, 0.0, 0.0])


class MassesMissAPart(Meddles):
    def spoil(self, X):
        self.masses_ = self.masses_[:, :2]
        self.focal_sets_ = self.focal_sets_[:2]


class NamesASetTwice(Meddles):
    def spoil(self, X):
        self.masses_ = np.hstack(
            [self.masses_[:, :1] / 2, self.masses_[:, :1] / 2, self.masses_[:, 1:]]
        )
        self.focal_sets_ = np.append(self.focal_sets_[0], self.focal_sets_)


class KeepsAnotherPartition(Meddles):
    def spoil(self, X):
        self.masses_ = self.masses_[::-1]


class LabelsAreNotOfThePartition(Meddles):
    def spoil(self, X):
        self.labels_ = 1 - self.labels_


class PlacesNewItemsOtherwise(Sound):
    def predict(self, X):
        return 1 - super().predict(X)


class BelievesNewItemsOtherwise(Sound):
    def predict_partition(self, X):
        found = super().predict_partition(X).given
        doubted = np.hstack([0.9 * found.values, np.full((len(found), 1), 0.1)])
        merged = doubted[:, :4] + np.outer(doubted[:, 4], [0, 0, 1, 0])
        return CredalPartition(SparseMasses(merged, found.focal_sets, 2))


class BetsOnNewItemsOtherwise(Sound):
    def predict_proba(self, X):
        return super().predict_proba(X)[:, ::-1]


# -- Chance, order and copies ----------------------------------------------------------------------


class DrawsFromTheGlobalState(Sound):
    def fit(self, X, y=None):
        np.random.uniform()  # noqa: NPY002
        return super().fit(X, y)


class LeavesItToChance(Meddles):
    def spoil(self, X):
        if np.random.default_rng().uniform() < 2.0:
            self.labels_ = np.random.default_rng().integers(2, size=len(self.labels_))


class TakesTheFirstHalfForACluster(Meddles):
    def spoil(self, X):
        self.labels_ = (np.arange(len(self.labels_)) < 27).astype(int)


class RoundsMassesInPickle(Sound):
    def __getstate__(self):
        state = dict(self.__dict__)
        if "partition_" in state:
            values = self.masses_.astype(np.float32).astype(float)
            state["partition_"] = CredalPartition(SparseMasses(values, self.focal_sets_, 2))
        return state


class ClonesStayFitted(Sound):
    def __sklearn_clone__(self):
        copy = type(self)()
        copy.__dict__.update(self.__dict__)
        return copy


class FitChangesParameters(Sound):
    def fit(self, X, y=None):
        self.n_init = 7
        return super().fit(X, y)


class RemembersTheFirstFit(Sound):
    def fit(self, X, y=None):
        return self if hasattr(self, "labels_") else super().fit(X, y)


# -- Data as they come, and errors -----------------------------------------------------------------


class HalvesThePrecision(Sound):
    def fit(self, X, y=None):
        if isinstance(X, np.ndarray) and X.dtype == np.float32:
            X = X.round(1)
        return super().fit(X, y)


class WantsArraysOfNumbers(Sound):
    def fit(self, X, y=None):
        X[:, 0]  # lists and frames have no such columns
        return super().fit(X, y)


class ForgetsFeatureNames(Sound):
    def _read(self, X, reset):
        return super()._read(np.asarray(X), reset)


class FillsHoles(Sound):
    def _read(self, X, reset):
        return super()._read(np.nan_to_num(np.asarray(X)), reset)


class FillsHolesInNewItems(Sound):
    def _read(self, X, reset):
        return super()._read(X if reset else np.nan_to_num(X), reset)


class CutsFeatures(Sound):
    def _read(self, X, reset):
        return super()._read(X if reset else np.asarray(X)[:, : self.n_features_in_], reset)


class AnswersBeforeFit(Sound):
    def predict(self, X):
        return super().predict(X) if hasattr(self, "labels_") else np.zeros(len(X), dtype=int)


class SetsAttributesBeforeFit(Sound):
    def __init__(self, n_init=5, random_state=None):
        super().__init__(n_init, random_state)
        self.centers = None
