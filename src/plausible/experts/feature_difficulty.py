r"""How difficult items are, learned from their features together with classes and people.

An answer about an item with features x is drawn by lot with probability

.. math:: e(x) = \sigma(b + \beta \cdot x),

the difficulty of the item, and else is what its author usually says. With a doubt d of its own, a
statement with plausibilities s so has the likelihood

.. math:: d + (1 - d) \Big( \frac{e}{K} \sum_l s_l + (1 - e) \, P(s \mid k, r) \Big)
   = c \, \big( d' + (1 - d') P(s \mid k, r) \big)

in class k: up to a factor c that does not depend on the class, that of the same statement with a
larger doubt d'. So all that is known of answers with doubts serves here, too.

:math:`\beta` has the prior N(0, 1 / `RIDGE`) for features of unit variance, and b one around few
lots. Given class probabilities and people, a step of EM raises the likelihood: the probability that
an answer was drawn by lot is computed, and a logistic regression is fitted to these probabilities.
A difficulty that is the same for all items cannot be told from people who are less often right.
"""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, log_expit
from sklearn.base import clone
from sklearn.utils import check_array

from plausible.errors import InputError
from plausible.experts.annotations import Annotations
from plausible.experts.answer_model import check_confusions
from plausible.experts.kinds import different
from plausible.experts.rate_model import confusions
from plausible.experts.statements import add_up, expand

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

RIDGE = 1.0
USUAL = -3.0  # log odds of a lot, about 5 in 100
SPREAD = 2.0  # standard deviation of the prior of the intercept
BLOCK = 1 << 20  # probabilities of answers at a time


@dataclass(frozen=True)
class FeatureDifficulty:
    """Features (n, d) of unit variance, and the log odds of a lot that follow from them.

    transformer : what made the features of the rows, or None
    mean, scale (d,) : by which they were brought to unit variance
    """

    transformer: Any
    mean: FloatArray
    scale: FloatArray
    Z: FloatArray
    coef: FloatArray
    intercept: float

    @classmethod
    def of_rows(cls, X: Any, transformer: Any = None) -> Self:
        """No item more difficult than another, to begin with."""
        if transformer is not None:
            transformer = clone(transformer).fit(X)
        Z = _table(X, transformer)
        mean, scale = Z.mean(axis=0), Z.std(axis=0)
        scale = np.where(scale > 1e-12 * np.abs(mean), scale, 1.0)
        coef = np.zeros(Z.shape[1])
        return cls(transformer, mean, scale, (Z - mean) / scale, coef, USUAL)

    def without_rows(self) -> Self:
        """What was learned, without the rows that it was learned from."""
        return replace(self, Z=self.Z[:0])

    @property
    def share(self) -> FloatArray:
        """With which probability (n,) an answer about each item is drawn by lot."""
        return np.asarray(expit(self.Z @ self.coef + self.intercept))

    def of(self, X: Any) -> FloatArray:
        """The same of other rows."""
        Z = (_table(X, self.transformer) - self.mean) / self.scale
        return np.asarray(expit(Z @ self.coef + self.intercept))

    def doubted(self, answers: Annotations) -> tuple[Annotations, FloatArray]:
        """The answers with larger doubts, and sums (n,) of the logs of the factors c."""
        lot, meant = self._parts(answers)
        scale = lot + meant
        logs = np.log(np.maximum(scale, 1e-300))
        doubt = np.clip(lot / np.maximum(scale, 1e-300), 0.0, 1.0)
        if answers._power is not None:
            logs *= answers._power
        return answers._with(doubt=doubt), add_up(answers.item, logs, len(answers.items))

    def _parts(self, answers: Annotations) -> tuple[FloatArray, FloatArray]:
        """What an answer (A,) has without its author, and the factor of its author's likelihood."""
        share = self.share[answers.item]
        own: Any = 0.0 if answers.doubt is None else answers.doubt
        size = answers.facts.size[answers.statement] / answers.n_classes
        return own + (1 - own) * share * size, (1 - own) * (1 - share)

    def lots(self, answers: Annotations, held: FloatArray, learned: FloatArray) -> FloatArray:
        """Expected lots (A,) among the answers, at weighted probabilities (n, K) of classes."""
        check_confusions(len(answers.annotators), answers.n_classes)
        confusion = learned if learned.ndim == 3 else confusions(learned, answers.n_classes)
        whole, pair = _of_pairs(answers, confusion)
        without, meant = self._parts(answers)
        own: Any = np.zeros(len(answers)) if answers.doubt is None else answers.doubt
        share = self.share[answers.item]
        drawn = without - own * (1 - share)  # a doubted answer tells nothing of lots
        found = np.empty(len(answers))
        step = max(BLOCK // answers.n_classes, 1)
        for start in range(0, len(answers), step):
            rows = slice(start, start + step)
            chance = without[rows, None] + meant[rows, None] * whole[pair[rows]]
            given = held[answers.item[rows]] / np.maximum(chance, 1e-300)
            found[rows] = drawn[rows] * given.sum(axis=1)
        return found if answers._power is None else found * answers._power

    def improved(self, answers: Annotations, held: FloatArray, learned: FloatArray) -> Self:
        """A step of EM, at weighted probabilities (n, K) of classes and what is known of people."""
        n_items = len(answers.items)
        lots = add_up(answers.item, self.lots(answers, held, learned), n_items)
        times = np.ones(len(answers)) if answers._power is None else answers._power
        count = add_up(answers.item, times, n_items) * held.sum(axis=1)
        at = np.append(self.coef, self.intercept)
        best = minimize(self._loss, at, (lots, count), "L-BFGS-B", jac=True,
                        options={"maxiter": 100})  # fmt: skip
        if not best.fun <= self._loss(at, lots, count)[0]:
            return self
        return replace(self, coef=best.x[:-1], intercept=float(best.x[-1]))

    def _loss(
        self, at: FloatArray, lots: FloatArray, count: FloatArray
    ) -> tuple[float, FloatArray]:
        """Less the expected log likelihood of lots, with the log priors, and its gradient."""
        odds = self.Z @ at[:-1] + at[-1]
        value = float(lots @ log_expit(odds) + (count - lots) @ log_expit(-odds))
        slope = lots - count * expit(odds)
        gradient = np.append(slope @ self.Z - RIDGE * at[:-1], slope.sum())
        gradient[-1] -= (at[-1] - USUAL) / SPREAD**2
        return -(value + _log_prior(at)), -gradient

    def log_prior(self) -> float:
        """Log density of what was learned, up to a constant."""
        return _log_prior(np.append(self.coef, self.intercept))


def _log_prior(at: FloatArray) -> float:
    return -float(RIDGE * (at[:-1] @ at[:-1]) + ((at[-1] - USUAL) / SPREAD) ** 2) / 2


def _table(X: Any, transformer: Any) -> FloatArray:
    """Features as numbers (n, d)."""
    try:
        Z = X if transformer is None else transformer.transform(X)
        return np.asarray(check_array(Z, dtype=np.float64))
    except (ValueError, TypeError) as error:
        raise InputError(
            "X should be numbers, from which difficulty is learned",
            f"is not ({error})",
            "give a transformer that makes numbers of it as `difficulty`",
            parameter="X",
        ) from error


def _of_pairs(answers: Annotations, confusion: FloatArray) -> tuple[FloatArray, IntArray]:
    """P(s | k, r) of each author with each statement (V, K), and the pair (A,) of each answer."""
    rows = answers.facts.rows
    pairs, pair = different(answers.annotator * np.int64(rows.shape[0]) + answers.statement)
    who, statement = np.divmod(pairs, rows.shape[0])
    named, entry = expand(statement, rows.indptr)
    values = confusion[who[named], :, rows.indices[entry]] * rows.data[entry][:, None]
    whole = np.zeros((len(pairs), answers.n_classes))
    np.add.at(whole, named, values)
    return whole, pair
