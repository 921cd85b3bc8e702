"""Estimators with one fault each, to prove that the checks find it.

All are `SoftNearestCentroid` but for the fault that their name tells.
"""

import threading

import numpy as np
from sklearn.exceptions import NotFittedError

from plausible.base import with_labels
from plausible.labels import Labels, as_labels
from plausible.models import SoftNearestCentroid as Sound

# -- What the labels say ---------------------------------------------------------------------------


class Reweights(Sound):
    """The base of faults that can be written as one more weight for each row."""

    def more(self, labels: Labels) -> np.ndarray:
        raise NotImplementedError

    def fit(self, X, y, sample_weight=None):
        labels = as_labels(y)
        given = np.ones(len(labels)) if sample_weight is None else np.asarray(sample_weight)
        return super().fit(X, labels, given * self.more(labels))


class RowScaleCounts(Reweights):
    def more(self, labels):
        return labels.contour.max(axis=1)


class FirstRowsCountMore(Reweights):
    def more(self, labels):
        return np.linspace(2.0, 1.0, len(labels))


class FirstClassCountsLess(Reweights):
    def more(self, labels):
        # Rows that are torn between the first class and another pull less.
        return 1.0 - 0.9 * labels.contour[:, 0]


class SortsTheNamesOnly(Sound):
    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        self.means_ = self.means_[np.searchsorted(self.classes_, as_labels(y).classes)]
        return self


class KeepsTheOrderOfTheLabels(Sound):
    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        order = np.searchsorted(self.classes_, as_labels(y).classes)
        self.classes_, self.means_ = self.classes_[order], self.means_[order]
        return self


class DistrustsLabelsWithoutMasses(Reweights):
    def more(self, labels):
        n = len(labels)
        return np.ones(n) if labels.has_masses else np.linspace(2.0, 1.0, n)


class TakesTheFirstOfASet(Sound):
    def fit(self, X, y, sample_weight=None):
        if isinstance(y, list) and isinstance(y[0], set):
            y = [min(names) for names in y]
        return super().fit(X, y, sample_weight)


class ReadsTablesByTheirMaximum(Sound):
    def fit(self, X, y, sample_weight=None):
        if isinstance(y, np.ndarray) and y.ndim == 2:
            y = y.argmax(axis=1)
        return super().fit(X, y, sample_weight)


class HardensLabels(Sound):
    def fit(self, X, y, sample_weight=None):
        labels = as_labels(y)
        hard = Labels.from_crisp(labels.crisp(), labels.classes, missing=["", -1])
        return super().fit(X, hard, sample_weight)


class LearnsFromNothing(Sound):
    def fit(self, X, y, sample_weight=None):
        labels = as_labels(y)
        if labels.is_unknown.all():
            labels = Labels.from_crisp(np.resize(labels.classes, len(labels)), labels.classes)
        return super().fit(X, labels, sample_weight)


class StumblesOverNothing(Sound):
    def fit(self, X, y, sample_weight=None):
        known = np.flatnonzero(~as_labels(y).is_unknown)
        known[0]  # an IndexError where nothing is known
        return super().fit(X, y, sample_weight)


class RefusesUnknownRows(Sound):
    def fit(self, X, y, sample_weight=None):
        if as_labels(y).is_unknown.any():
            raise ValueError("all rows should be labeled")
        return super().fit(X, y, sample_weight)


class TakesUnknownRowsForTheFirstClass(Sound):
    def fit(self, X, y, sample_weight=None):
        contour = as_labels(y).contour.copy()
        contour[as_labels(y).is_unknown, 1:] = 0.0
        return super().fit(X, Labels(contour, as_labels(y).classes), sample_weight)


# -- Sample weights --------------------------------------------------------------------------------


class IgnoresWeights(Sound):
    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y)


class SquaresWeights(Sound):
    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y, None if sample_weight is None else np.square(sample_weight))


class NoWeightIsSomeWeight(Sound):
    def fit(self, X, y, sample_weight=None):
        weight = None if sample_weight is None else np.maximum(sample_weight, 0.5)
        return super().fit(X, y, weight)


# -- Copies, pipelines, cross-validation -----------------------------------------------------------


class LosesMeansInPickle(Sound):
    def __getstate__(self):
        return {name: value for name, value in self.__dict__.items() if name != "means_"}


class RoundsMeansInPickle(Sound):
    def __getstate__(self):
        return {**self.__dict__, "means_": self.means_.astype(np.float32)}


class CannotTravel(Sound):
    def __init__(self):
        self.lock = threading.Lock()


class ClonesStayFitted(Sound):
    def __sklearn_clone__(self):
        copy = type(self)()
        copy.__dict__.update(self.__dict__)
        return copy


class FitChangesParameters(Sound):
    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, X, y, sample_weight=None):
        self.shift = float(len(X))
        return super().fit(X, y, sample_weight)


class FitReturnsNothing(Sound):
    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)


class CentresXInPlace(Sound):
    def fit(self, X, y, sample_weight=None):
        if isinstance(X, np.ndarray):
            X -= X.mean(axis=0)
        return super().fit(X, y, sample_weight)


class WritesIntoLabels(Sound):
    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        if isinstance(y, Labels):
            y.contour.flags.writeable = True
            y.contour[0] = 1.0
        return self


class WritesIntoWeights(Sound):
    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        if sample_weight is not None:
            sample_weight /= sample_weight.sum()
        return self


class RemembersTheFirstFit(Sound):
    def fit(self, X, y, sample_weight=None):
        return self if hasattr(self, "means_") else super().fit(X, y, sample_weight)


class WantsArraysOfNames(Sound):
    def fit(self, X, y, sample_weight=None):
        if isinstance(y, Labels):
            raise TypeError("y should be an array")
        return super().fit(X, y, sample_weight)


class TurnsLabelsIntoArrays(Sound):
    def fit(self, X, y, sample_weight=None):
        return super().fit(X, np.asarray(y), sample_weight)


class LosesItsTag(Sound):
    def __sklearn_tags__(self):
        return with_labels(super().__sklearn_tags__(), takes=False)


class SetsAttributesBeforeFit(Sound):
    def __init__(self):
        self.means = None


class ScoresHardenedLabels(Sound):
    def score(self, X, y, sample_weight=None):
        return super().score(X, as_labels(y).crisp(), sample_weight)


# -- Data as they come -----------------------------------------------------------------------------


class WritesIntoTables(Sound):
    def fit(self, X, y, sample_weight=None):
        if isinstance(y, np.ndarray) and y.ndim == 2:
            y /= y.max(axis=1, keepdims=True)
        return super().fit(X, y, sample_weight)


class HalvesThePrecision(Sound):
    def fit(self, X, y, sample_weight=None):
        if isinstance(X, np.ndarray) and X.dtype == np.float32:
            X = X.astype(np.float16).round(1)
        return super().fit(X, y, sample_weight)


class WantsArraysOfNumbers(Sound):
    def fit(self, X, y, sample_weight=None):
        X[:, 0]  # lists and frames have no such columns
        return super().fit(X, y, sample_weight)


class ForgetsFeatureNames(Sound):
    def fit(self, X, y, sample_weight=None):
        return super().fit(np.asarray(X), y, sample_weight)

    def _read(self, X):
        return super()._read(np.asarray(X))


class AcceptsAnyFeatureNames(Sound):
    def _read(self, X):
        names = self.__dict__.pop("feature_names_in_", None)
        try:
            return super()._read(np.asarray(X))
        finally:
            if names is not None:
                self.feature_names_in_ = names


class ForgetsClassNamesOfTables(Sound):
    def fit(self, X, y, sample_weight=None):
        table = np.asarray(y) if hasattr(y, "columns") else y
        return super().fit(X, table, sample_weight)


# -- Errors ----------------------------------------------------------------------------------------


class ComplainsVaguely(Sound):
    """Refuses whatever the sound one refuses, with a message that helps nobody."""

    def fit(self, X, y, sample_weight=None):
        try:
            return super().fit(X, y, sample_weight)
        except ValueError:
            raise ValueError("bad input") from None

    def _read(self, X):
        try:
            return super()._read(X)
        except NotFittedError:
            raise NotFittedError("bad state") from None
        except ValueError:
            raise ValueError("bad input") from None


class CutsToTheShorterLength(Sound):
    def fit(self, X, y, sample_weight=None):
        n = min(len(X), len(y))
        return super().fit(X[:n], y[:n], sample_weight)


class CutsWeights(Sound):
    def fit(self, X, y, sample_weight=None):
        weight = None if sample_weight is None else np.resize(sample_weight, len(X))
        return super().fit(X, y, weight)


class FillsHolesInX(Sound):
    def fit(self, X, y, sample_weight=None):
        return super().fit(np.nan_to_num(X), y, sample_weight)


class FillsHolesInFreshX(Sound):
    def _read(self, X):
        return super()._read(np.nan_to_num(X))


class FillsHolesInTables(Sound):
    def fit(self, X, y, sample_weight=None):
        is_table = isinstance(y, np.ndarray) and y.ndim == 2
        return super().fit(X, np.nan_to_num(y) if is_table else y, sample_weight)


class TakesNoneForZeros(Sound):
    def fit(self, X, y=None, sample_weight=None):
        return super().fit(X, np.arange(len(X)) % 2 if y is None else y, sample_weight)


class MendsRowsOfZeros(Sound):
    def fit(self, X, y, sample_weight=None):
        if isinstance(y, np.ndarray) and y.ndim == 2:
            y = np.where(y.any(axis=1, keepdims=True), y, 1.0)
        return super().fit(X, y, sample_weight)


class AnswersBeforeFit(Sound):
    def predict(self, X):
        return super().predict(X) if hasattr(self, "means_") else np.zeros(len(X))


class MissesAnAttributeBeforeFit(Sound):
    def predict_proba(self, X):
        return self.means_ if not hasattr(self, "means_") else super().predict_proba(X)


class CutsFeatures(Sound):
    def _read(self, X):
        return super()._read(np.asarray(X)[:, : self.means_.shape[1]])


class ForgetsTheNumberOfFeatures(Sound):
    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        del self.n_features_in_
        return self


# -- Scores ----------------------------------------------------------------------------------------


class CountsUnknownRowsAsWrong(Sound):
    def score(self, X, y, sample_weight=None):
        known = 1.0 - float(as_labels(y).is_unknown.mean())
        return super().score(X, y, sample_weight) * known


class ScoresErrors(Sound):
    def score(self, X, y, sample_weight=None):
        return 1.0 - super().score(X, y, sample_weight)


class ScoresWithoutWeights(Sound):
    def score(self, X, y, sample_weight=None):
        return super().score(X, y)
