"""Classifiers whose answers have one fault each; else `SoftNearestCentroid`."""

from dataclasses import replace

import numpy as np

from plausible.belief import SparseMasses, bayesian
from plausible.labels import Labels, as_labels
from plausible.models import SoftNearestCentroid as Sound

# -- Probabilities ---------------------------------------------------------------------------------


class ForgetsToNormalize(Sound):
    def predict_proba(self, X):
        return np.exp(self._log_evidence(self._read(X)))


class ShiftsProbabilities(Sound):
    def predict_proba(self, X):
        return 1.5 * super().predict_proba(X) - 0.5 / len(self.classes_)


class ShiftsColumns(Sound):
    def predict_proba(self, X):
        return np.roll(super().predict_proba(X), 1, axis=1)


class PredictsByAnotherRule(Sound):
    def predict(self, X):
        evidence = self._log_evidence(self._read(X)) / np.arange(1, len(self.classes_) + 1)
        return self.classes_[evidence.argmax(axis=1)]


class ForgetsToNormaliseLogs(Sound):
    def predict_log_proba(self, X):
        return self._log_evidence(self._read(X))


class ComparesWithTheOthers(Sound):
    def _log_evidence(self, X):
        return super()._log_evidence(X - X.mean(axis=0))


class AnswersForNobody(Sound):
    def predict(self, X, labels=None):
        return super().predict(X, labels) if len(X) else np.array([], dtype=self.classes_.dtype)


# -- Beliefs ---------------------------------------------------------------------------------------


class GivesMassesAsAnArray(Sound):
    def predict_mass(self, X, labels=None):
        return super().predict_mass(X, labels).to_dense()


class MassesAreNegative(Sound):
    def predict_mass(self, X, labels=None):
        masses = super().predict_mass(X, labels).to_dense()
        masses[:, 1] -= 0.5
        masses[:, 2] += 0.5
        return SparseMasses(masses, np.arange(8), 3)


class MassesMissAPart(Sound):
    def predict_mass(self, X, labels=None):
        masses = super().predict_mass(X, labels)
        return SparseMasses(0.9 * masses.values, masses.focal_sets, 3)


class MassIsOnTheEmptySet(Sound):
    def predict_mass(self, X, labels=None):
        masses = 0.9 * super().predict_mass(X, labels).to_dense()
        masses[:, 0] = 0.1
        return SparseMasses(masses, np.arange(8), 3)


class FindsAllMorePlausible(Sound):
    def predict_plausibility(self, X, labels=None):
        return np.sqrt(super().predict_plausibility(X, labels))


class BetsOnTheImplausible(Sound):
    def predict_plausibility(self, X, labels=None):
        return 0.5 * super().predict_plausibility(X, labels)


class BetsBelowItsBeliefs(Sound):
    def predict_mass(self, X, labels=None):
        return bayesian(np.eye(3)[self.predict_proba(X).argmax(axis=1)])

    def predict_plausibility(self, X, labels=None):
        return np.ones((len(X), 3))


class BelievesOtherwise(Sound):
    def predict_proba(self, X, labels=None):
        return 0.5 * super().predict_proba(X, labels) + 0.5 / len(self.classes_)


class ComputesTwice(Sound):
    def believe(self, X, labels=None):
        super().believe(X, labels)
        return super().believe(X, labels)


# -- Decisions -------------------------------------------------------------------------------------


class RulesOutItsPrediction(Sound):
    def predict_set(self, X, labels=None, **options):
        best = self.classes_ == self.predict(X)[:, None]
        return super().predict_set(X, labels, **options) & ~best


class GivesSetsAsNumbers(Sound):
    def predict_set(self, X, labels=None, **options):
        return super().predict_set(X, labels, **options).astype(int)


class RulesNothingOut(Sound):
    def predict_set(self, X, labels=None, **options):
        return np.ones((len(X), len(self.classes_)), dtype=bool)


class RefusesTheOtherWayRound(Sound):
    def decide(self, X, labels=None, *, rule="pignistic", reject=None, loss=None):
        cost = None if reject is None else 0.65 - reject
        return super().decide(X, labels, rule=rule, reject=cost, loss=loss)


class NeverRefuses(Sound):
    def decide(self, X, labels=None, *, rule="pignistic", reject=None, loss=None):
        return super().decide(X, labels, rule=rule, loss=loss)


class DecidesWithoutNames(Sound):
    def decide(self, X, labels=None, **options):
        return replace(super().decide(X, labels, **options), classes=None)


class DecidesByAnotherRule(Sound):
    def decide(self, X, labels=None, **options):
        decision = super().decide(X, labels, **options)
        return replace(decision, chosen=np.roll(decision.chosen, 1, axis=1))


class RefusesSetsByAnotherRule(Sound):
    def predict_set(self, X, labels=None, *, reject=None, **options):
        return super().predict_set(X, labels, **options)


class IgnoresLosses(Sound):
    def decide(self, X, labels=None, *, rule="pignistic", reject=None, loss=None):
        return super().decide(X, labels, rule=rule, reject=reject)


class HasFewerArguments(Sound):
    def predict_set(self, X, labels=None, *, rule="interval_dominance"):
        return super().predict_set(X, labels, rule=rule)


# -- What is known of new items --------------------------------------------------------------------


class Relabels(Sound):
    """The base of faults that hear other labels of new items than were given."""

    def heard(self, labels: Labels, n_rows: int):
        raise NotImplementedError

    def _known(self, labels, n_rows):
        if labels is not None:
            labels = self.heard(as_labels(labels, classes=self.classes_.tolist()), n_rows)
        return super()._known(labels, n_rows)


class IgnoresLabelsOfNewItems(Relabels):
    def heard(self, labels, n_rows):
        return None if len(labels) == n_rows else labels


class TakesUnknownForTheFirstClass(Relabels):
    def heard(self, labels, n_rows):
        contour = np.where(labels.is_unknown[:, None], [1.0, 0.5, 0.5], labels.contour)
        return Labels(contour, labels.classes)


class TurnsLabelsRound(Relabels):
    def heard(self, labels, n_rows):
        turned = labels.contour.max(axis=1, keepdims=True) - 0.99 * labels.contour
        return Labels(np.where(labels.is_unknown[:, None], 1.0, turned), labels.classes)


class RepeatsLabelsToTheLength(Relabels):
    def heard(self, labels, n_rows):
        return labels[np.arange(n_rows) % len(labels)]
