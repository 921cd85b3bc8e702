r"""People who are right at rates that depend on the item, too: abilities and difficulties.

.. math:: c_{ri} = \frac1K + \Big(1 - \frac1K\Big) \, \sigma(\alpha_r - \beta_i)

is how often annotator r is right about item i, with ability :math:`\alpha_r`, difficulty
:math:`\beta_i` (G. Rasch, 1960; as in J. Whitehill et al., Whose vote should count more, 2009, and
with luck as the least rate). Errors go to all other classes alike, and statements of any kind and
doubts count as in `rate_model`. Priors are normal, of abilities N(1, 1 / s) and of difficulties
N(0, 1 / s) with the `smoothing` s. The criterion is the log likelihood with the log densities of
both. An E step gives the probability with which each answer is right; the M step takes Newton's
steps, first in all abilities and then in all difficulties, and halves those by which what it
maximizes would fall, so that the criterion never falls.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from plausible.engine import maximize
from plausible.errors import InputError
from plausible.experts.annotations import Annotations
from plausible.experts.answer_problem import FLOOR, TINY, speaking
from plausible.experts.answer_sums import normalize
from plausible.experts.intervals import (
    Tally,
    confirmed_items,
    errors_on_gold,
    gold_items,
    intervals,
)
from plausible.experts.reliability import Reliability, equivalent_doubt, relative
from plausible.experts.right_shares import flatten
from plausible.experts.statements import add_up

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

USUAL_ABILITY = 1.0
MOST_CELLS = 100_000_000  # items times classes
STEPS = 2  # of Newton in abilities and difficulties, after each E step
HALVINGS = 30


class Point(NamedTuple):
    """Shares (K,) of the classes, abilities (R,) and difficulties (n,)."""

    prior: FloatArray
    ability: FloatArray
    difficulty: FloatArray


class Summary(NamedTuple):
    """Probabilities (A,) of being right, expected shares (K,) of the classes, the criterion."""

    point: Point
    right: FloatArray
    shares: FloatArray
    criterion: float


class PointChart:
    """Log shares, abilities and difficulties one after the other."""

    def flatten(self, point: Point) -> FloatArray:
        """All numbers; shares by their logarithms."""
        logs = np.log(np.maximum(point.prior, TINY))
        return np.concatenate([logs, point.ability, point.difficulty])

    def restore(self, vector: FloatArray, like: Point) -> Point:
        """The point with these coordinates."""
        ends = np.cumsum([len(like.prior), len(like.ability)])
        logs, ability, difficulty = np.split(vector, ends)
        prior = np.exp(logs - logs.max())
        return Point(prior / prior.sum(), ability, difficulty)


class DifficultyModel:
    """The EM problem; see the module.

    gold : log plausibilities (n, K) of classes that are known, or None
    prior : shares (K,) of the classes, or None where they are learned
    """

    def __init__(
        self,
        annotations: Annotations,
        smoothing: float,
        gold: FloatArray | None,
        prior: FloatArray | None,
    ) -> None:
        self.gold, self.prior, self.precision = gold, prior, smoothing
        self.n_items, self.n_classes = len(annotations.items), annotations.n_classes
        self.n_people = len(annotations.annotators)
        if self.n_items * self.n_classes > MOST_CELLS:
            raise InputError(
                f"model='difficulty' should have at most {MOST_CELLS:,} items times classes",
                f"there are {self.n_items * self.n_classes:,}",
                "use {model}, which needs no such table",
                parameter="model",
                settings={"model": "one_coin"},
            )
        answers = annotations.select(speaking(annotations))
        self.said = flatten(answers)
        self.power = np.ones(len(answers)) if answers._power is None else answers._power
        self.cell = self.said.item[self.said.answer] * self.n_classes + self.said.column

    def rates(self, point: Point) -> FloatArray:
        """How often (A,) the author of each answer is right about its item."""
        gap = point.ability[self.said.who] - point.difficulty[self.said.item]
        return np.asarray(1 / self.n_classes + (1 - 1 / self.n_classes) * expit(gap))

    def _likelihoods(self, rate: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Likelihoods of answers in classes they do not name (A,), and in those they do (E,)."""
        said = self.said
        wrong = np.maximum((1 - rate) / max(self.n_classes - 1, 1), FLOOR)
        base = said.doubt + (1 - said.doubt) * wrong * said.size
        more = ((1 - said.doubt) * (rate - wrong))[said.answer] * said.value
        return base, np.maximum(base[said.answer] + more, TINY)

    def evidence(self, point: Point) -> FloatArray:
        """Log likelihood (n, K) of the answers about each item, by class."""
        base, chance = self._likelihoods(self.rates(point))
        gains = np.log(chance / base[self.said.answer]) * self.power[self.said.answer]
        table = add_up(self.cell, gains, self.n_items * self.n_classes)
        table = table.reshape(self.n_items, self.n_classes)
        table += add_up(self.said.item, self.power * np.log(base), self.n_items)[:, None]
        return table

    def expect(self, point: Point) -> tuple[FloatArray, FloatArray, float]:
        """Posterior (n, K), probabilities (A,) of being right, and the log likelihood."""
        prior = np.log(np.maximum(point.prior, TINY))
        posterior, totals = normalize(self.evidence(point), prior, self.gold)
        said, rate = self.said, self.rates(point)
        base, chance = self._likelihoods(rate)
        unnamed = rate * said.doubt / base
        each = said.answer
        meant = rate[each] * (said.doubt[each] + (1 - said.doubt[each]) * said.value) / chance
        held = posterior.ravel()[self.cell] * (meant - unnamed[each])
        right = unnamed + add_up(each, held, len(rate))
        return posterior, np.clip(right, 0.0, 1.0), float(totals.sum())

    def log_prior(self, point: Point) -> float:
        """Log densities of abilities and difficulties, up to a constant."""
        squares = ((point.ability - USUAL_ABILITY) ** 2).sum() + (point.difficulty**2).sum()
        return float(-self.precision * squares / 2)

    def summarize(self, points: list[Point]) -> list[Summary]:
        """The E step for each point."""
        found = []
        for point in points:
            posterior, right, log_likelihood = self.expect(point)
            shares = posterior.sum(axis=0) / self.n_items
            found.append(Summary(point, right, shares, log_likelihood + self.log_prior(point)))
        return found

    def solve(self, summary: Summary) -> Point:
        """The M step: shares, then abilities and difficulties in turn."""
        point = summary.point
        if self.prior is None:
            point = point._replace(prior=np.maximum(summary.shares, FLOOR))
        for _ in range(STEPS):
            ability = self._step(point, summary.right, "ability")
            point = point._replace(ability=ability)
            difficulty = self._step(point, summary.right, "difficulty")
            point = point._replace(difficulty=difficulty)
        return point

    def _step(self, point: Point, right: FloatArray, what: str) -> FloatArray:
        """A Newton step in abilities or in difficulties, halved where it would not gain."""
        values: FloatArray = getattr(point, what)
        is_ability = what == "ability"
        place, sign = (self.said.who, 1.0) if is_ability else (self.said.item, -1.0)
        usual, n_places = (USUAL_ABILITY if is_ability else 0.0), len(values)
        gap = point.ability[self.said.who] - point.difficulty[self.said.item]
        know, rate = expit(gap), self.rates(point)
        slope = sign * add_up(place, self.power * (right - rate) * know / rate, n_places)
        slope -= self.precision * (values - usual)
        curve = add_up(place, self.power * know**2 / rate * (1 - rate), n_places)
        curve += self.precision
        step = slope / np.maximum(curve, FLOOR)
        before = self._gains(point, right, place, values, usual)
        for _ in range(HALVINGS):
            tried = point._replace(**{what: values + step})
            worse = self._gains(tried, right, place, values + step, usual) < before - 1e-12
            if not worse.any():
                return np.asarray(values + step)
            step = np.where(worse, step / 2, step)
        return np.asarray(values + np.where(worse, 0.0, step))

    def _gains(
        self, point: Point, right: FloatArray, place: IntArray, values: FloatArray, usual: float
    ) -> FloatArray:
        """What the M step maximizes, by person or by item."""
        rate = np.clip(self.rates(point), FLOOR, 1 - FLOOR)
        logs = right * np.log(rate) + (1 - right) * np.log1p(-rate)
        return (
            add_up(place, self.power * logs, len(values))
            - self.precision * (values - usual) ** 2 / 2
        )

    def start(self) -> Point:
        """Everybody as able, and every item as difficult, as it is usual."""
        even = np.full(self.n_classes, 1 / self.n_classes)
        prior = even if self.prior is None else self.prior
        return Point(prior, np.full(self.n_people, USUAL_ABILITY), np.zeros(self.n_items))


def fit_difficulty(
    annotations: Annotations,
    smoothing: float,
    gold: FloatArray | None,
    prior: FloatArray | None,
    shared_errors: float,
    settings: dict[str, Any],
) -> Reliability:
    """Abilities of people and difficulties of items, with what follows; see `fit_reliability`."""
    problem = DifficultyModel(annotations, smoothing, gold, prior)
    accelerate = settings.pop("accelerate")
    result = maximize(
        problem.summarize,
        problem.solve,
        [problem.start()],
        n_rows=problem.n_items,
        chart=PointChart() if accelerate else None,
        **settings,
    )
    point: Point = result.parameters
    posterior, right, log_likelihood = problem.expect(point)
    said, n_people = problem.said, problem.n_people
    total = np.bincount(said.who, minlength=n_people).astype(np.float64)
    own = 1 / problem.n_classes + (1 - 1 / problem.n_classes) * expit(point.ability)
    share = add_up(said.who, right, n_people)
    accuracy = np.where(total > 0, share / np.maximum(total, 1.0), own)
    evidence = relative(problem.evidence(point))
    is_gold = gold_items(gold, problem.n_items)
    seen = (confirmed_items(annotations) | is_gold)[said.item].astype(np.float64)
    tally = Tally(
        add_up(said.who, right * seen, n_people),
        add_up(said.who, seen, n_people),
        add_up(said.who, is_gold[said.item], n_people),
    )
    known = errors_on_gold(evidence, point.prior, gold)
    return Reliability(
        annotators=annotations.annotators,
        classes=annotations.classes,
        n_answers=total,
        accuracy=accuracy,
        doubt=equivalent_doubt(1 - accuracy, problem.n_classes),
        learned=own[:, None],
        prior=point.prior,
        posterior=posterior,
        evidence=evidence,
        log_likelihood=log_likelihood,
        history=result.history,
        n_iter=result.n_iter,
        converged=result.converged,
        difficulty=point.difficulty,
        **intervals(tally, accuracy, shared_errors, known, None)._asdict(),
    )
