r"""How much rows without a label may weigh: EM-lambda.

.. math:: L_\lambda(\theta) = \sum_{i\ labeled} \log \sum_k pl_{ik} \pi_k f_k(x_i)
          + \lambda \sum_{i\ unlabeled} \log \sum_k \pi_k f_k(x_i)

With :math:`\lambda = 1` every row counts alike. If the classes are no Gaussians, many unlabeled
rows draw the components to clusters that are not the classes, and the model forgets its labels. It
shows: such a model agrees with its own labels far less than labeled rows alone would foretell. The
second is judged out of fold, since few labels are easily learned by heart; the first needs no
folds, as it can only look too good. If it shows, smaller weights are tried out of fold.

References
----------
K. Nigam, A. McCallum, S. Thrun, T. Mitchell, Text classification from labeled and unlabeled
documents using EM, Machine Learning 39 (2000) 103-134.
"""

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.base import EmptyClassWarning
from plausible.engine import ArrayRows, Columns, Result, Rows, passed_on, stack, take
from plausible.models.gaussian.census import unlabeled
from plausible.models.gaussian.e_step import log_joint
from plausible.models.gaussian.parameters import FloatArray, Gaussians
from plausible.models.gaussian.shares import split_shares
from plausible.models.gaussian.soft_mixture import SoftMixture
from plausible.models.gaussian.starts import cautious_solve, moments_of
from plausible.short_rows import row_max, row_min

MOST_LABELED = 20_000  # rows on which agreement is judged
MOST_UNLABELED = 5_000  # with which weights are tried
N_FOLDS, N_TRIALS = 5, 3  # folds for the standard, and for each weight that is tried
LEAST_HARM = 0.02  # of agreement; below, nothing is said
ENOUGH_LABELED = 50  # rows from which a loss out of fold says something
FAR = 2.0  # standard errors by which harm must show
RATIOS = (0.0, 0.03, 0.1, 0.3, 1.0)  # weight of all unlabeled rows, relative to labeled ones


Climb = Callable[[Rows, float, bool], "Fit"]


class UnlabeledRowsWarning(UserWarning):
    """Unlabeled rows made a mixture forget its labels, and were given less weight.

    Examples
    --------
    >>> import warnings
    >>> warnings.simplefilter("ignore", UnlabeledRowsWarning)
    """


class Fit(NamedTuple):
    """What EM found, for which problem, with which weight of unlabeled rows."""

    result: Result
    problem: SoftMixture
    weight: float


class Standard(NamedTuple):
    """What labeled rows alone foretell, and the rows to compare with it.

    rows : labeled rows, in memory
    credit, weight : of each class (n, K) and row (n,), as in `plausible.metrics.truth`
    earned : credit (n,) of the answers of labeled rows alone, out of fold
    """

    rows: Columns
    credit: FloatArray
    weight: FloatArray
    earned: FloatArray

    @property
    def agreement(self) -> float:
        """Of labeled rows alone, out of fold."""
        return mean(self.earned, self.weight)

    def of(self, fit: Fit) -> FloatArray:
        """Credit (n,) of the answers of a mixture."""
        assert self.rows[0] is not None
        kind, owner = fit.problem.kind, fit.problem.owner
        answers = _classify(self.rows[0], fit.result.parameters, kind, owner)
        return self.credit[np.arange(len(answers)), answers]

    def is_missed_by(self, earned: FloatArray, errors: float = FAR) -> bool:
        """Whether credits (n,) fall short of the standard, by so many standard errors."""
        gap = self.earned - earned
        loss = mean(gap, self.weight)
        error = np.sqrt((self.weight**2 * (gap - loss) ** 2).sum()) / self.weight.sum()
        return bool(loss > max(LEAST_HARM, errors * error))


def mind_labels(fit: Fit, rows: Rows, climb: Climb) -> Fit:
    """The fit, or one with lighter unlabeled rows where these made it forget its labels.

    `climb` fits rows with a weight of unlabeled ones, roughly if so told.
    """
    if not fit.problem.labeled or not fit.problem.n_open:
        return fit
    labeled, idle, _, n_idle = fit.problem.census.kinds
    standard = _set_standard(fit.problem, rows) if labeled > 0 and idle > 0 else None
    if standard is None:
        return fit
    earned = standard.of(fit)
    if not standard.is_missed_by(earned, errors=0.0):
        return fit
    others = _sample_unlabeled(rows, idle, int(n_idle))
    if not standard.is_missed_by(earned):  # perhaps only because labels were learned by heart
        if len(earned) < ENOUGH_LABELED:
            return fit
        earned = _out_of_trials(1.0, standard, others, climb)
        if not standard.is_missed_by(earned):
            return fit
    before = mean(earned, standard.weight)
    weights = [w for w in (ratio * labeled / idle for ratio in RATIOS) if w < 1.0]
    weight, now = _best_weight(weights, standard, others, climb)
    if now <= before:
        weight, now = 1.0, before
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EmptyClassWarning)  # the first fit has said so
            fit = climb(rows, weight, False)
    _say_what_was_done(before, standard.agreement, now, weight)
    return fit


def _best_weight(
    weights: list[float], standard: Standard, others: Columns, climb: Climb
) -> tuple[float, float]:
    """The weight with the best agreement out of fold, and that; rising weights until it falls."""
    best, found = 0.0, -1.0
    for weight in sorted(weights):
        earned = _out_of_trials(weight, standard, others, climb)
        agreement = mean(earned, standard.weight)
        if agreement >= found:
            best, found = weight, agreement
        elif agreement < found - LEAST_HARM:
            break
    return best, found


def _out_of_trials(weight: float, standard: Standard, others: Columns, climb: Climb) -> FloatArray:
    """Credits (n,), out of fold, of fits with a weight of unlabeled rows; -1 if there are none."""
    n_rows = len(standard.weight)
    fold = np.random.RandomState(0).permutation(n_rows) % N_TRIALS
    answers = np.empty(n_rows, dtype=np.int64)
    for f in range(N_TRIALS):
        train, test = np.flatnonzero(fold != f), np.flatnonzero(fold == f)
        known = _with_weights(take(standard.rows, train))
        rows = ArrayRows(*(stack(pair) for pair in zip(known, others, strict=True)))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what is odd about some of the rows
                with passed_on():
                    fit = climb(rows, weight, True)
        except ValueError:  # too few rows for such covariances
            return np.full(n_rows, -1.0)
        X, owner = take(standard.rows, test)[0], fit.problem.owner
        answers[test] = _classify(X, fit.result.parameters, fit.problem.kind, owner)
    return standard.credit[np.arange(n_rows), answers]


def _with_weights(columns: Columns) -> Columns:
    """The same with weights, which may have been left out."""
    if columns[2] is not None:
        return columns
    return (*columns[:2], np.ones(len(np.asarray(columns[1]))), *columns[3:])


def _sample_unlabeled(rows: Rows, weight: float, n_rows: int) -> Columns:
    """Some of the rows without a label, with the weight of all of them."""
    random = np.random.RandomState(0)
    found = _with_weights(rows.sample_among(_unlabeled_code, n_rows, MOST_UNLABELED, random))
    own = np.asarray(found[2])
    return (*found[:2], own * (weight / own.sum()), *found[3:])


def _say_what_was_done(before: float, expected: float, now: float, weight: float) -> None:
    """Warn that unlabeled rows made the model forget its labels."""
    done = (
        f"so each was given the weight {weight:.3g}, with which it is {now:.2f}; another "
        "covariance_type, more components or other features may suit them, and "
        "unlabeled_weight=1 counts them in full"
    )
    if weight == 1:
        done = "and no smaller weight is better; try another covariance_type, or label more items"
    warnings.warn(
        "Unlabeled rows should not make a model forget its labels, but with them it agrees with "
        f"{before:.2f} of the labels where labeled rows alone foretell {expected:.2f}, {done}.",
        UnlabeledRowsWarning,
        stacklevel=5,
    )


def lighter(columns: Columns, factor: float) -> Columns:
    """The rows with the weights of those without a label times a factor."""
    nothing = unlabeled(columns)
    weight = np.ones(len(nothing)) if columns[2] is None else np.asarray(columns[2])
    return (*columns[:2], np.where(nothing, factor * weight, weight), *columns[3:])


def with_factor(rows: Rows, factor: float) -> Rows:
    """Rows of which those without a label weigh less; features in memory are not copied."""
    if not isinstance(rows, ArrayRows):
        return rows.map(partial(lighter, factor=factor))
    made = lighter(rows.columns, factor)
    return ArrayRows(*made, order=rows.order, chunk_rows=rows.chunk_rows)


def _labeled_code(columns: Columns) -> NDArray[np.int8]:
    """0 for rows with a label and some weight, -1 for the others."""
    return _wanted_code(columns, ~unlabeled(columns))


def _unlabeled_code(columns: Columns) -> NDArray[np.int8]:
    """0 for rows without a label and with some weight, -1 for the others."""
    return _wanted_code(columns, unlabeled(columns))


def _wanted_code(columns: Columns, wanted: NDArray[np.bool_]) -> NDArray[np.int8]:
    """0 for rows that are wanted and have some weight, -1 for the others."""
    if columns[2] is not None:
        wanted = wanted & (np.asarray(columns[2]) > 0)
    return np.where(wanted, 0, -1).astype(np.int8)


def _classify(
    X: Any, parameters: Gaussians, kind: str, owner: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Most probable class (n,) of each row."""
    scores = log_joint(np.asarray(X, dtype=np.float64), parameters, kind, up_to_constant=True)
    by_class = np.full((len(scores), int(owner.max()) + 1), -np.inf)
    for k, own in enumerate(owner):
        by_class[:, own] = np.logaddexp(by_class[:, own], scores[:, k])
    return by_class.argmax(axis=1)


def mean(values: FloatArray, weight: FloatArray) -> float:
    """Mean of values (n,) by weight; of credits, the soft accuracy."""
    return float(weight @ values / weight.sum())


def _set_standard(problem: SoftMixture, rows: Rows) -> Standard | None:
    """What labeled rows alone foretell; None where they are too few to tell."""
    n_labeled, random = int(problem.census.kinds[2]), np.random.RandomState(0)
    columns = rows.sample_among(_labeled_code, n_labeled, MOST_LABELED, random)
    table = np.asarray(columns[1], dtype=np.float64)
    if len(table) < 2 * N_FOLDS:
        return None
    scaled = table / row_max(table)[:, None]
    least = row_min(scaled)
    says = 1.0 - least
    credit = (scaled - least[:, None]) / np.where(says > 0, says, 1.0)[:, None]
    weight = says if columns[2] is None else says * np.asarray(columns[2])
    if not weight.sum() > 0:
        return None
    earned = credit[np.arange(len(table)), out_of_fold(problem, columns)]
    return Standard(columns, credit, weight, earned)


def out_of_fold(problem: SoftMixture, columns: Columns) -> NDArray[np.int64]:
    """Answers (n,) of Gaussian classes learned from the labeled rows of the other folds."""
    assert columns[0] is not None
    n_rows = len(np.asarray(columns[1]))
    fold = np.random.RandomState(0).permutation(n_rows) % N_FOLDS
    answers = np.empty(n_rows, dtype=np.int64)
    for f in range(N_FOLDS):
        train, test = np.flatnonzero(fold != f), fold == f
        part = tuple(None if c is None else np.asarray(c)[train] for c in columns)
        parameters, owner = alone(problem, part)
        answers[test] = _classify(np.asarray(columns[0])[test], parameters, problem.kind, owner)
    return answers


def alone(problem: SoftMixture, columns: Columns) -> tuple[Gaussians, NDArray[np.int64]]:
    """A Gaussian for each class from labeled rows alone, and the classes that have one."""
    parts = []
    for X, table, weight in split_shares(columns):
        peak = row_max(np.asarray(table))[:, None]
        favor = (table - row_min(np.asarray(table))[:, None]) / peak
        favor = favor if weight is None else favor * weight[:, None]
        parts.append((np.asarray(X, dtype=np.float64), favor))
    X, favor = (np.concatenate(column) for column in zip(*parts, strict=True))
    seen = np.flatnonzero(favor.sum(axis=0) > 0)
    moments = moments_of(X, np.ascontiguousarray(favor[:, seen].T), problem.kind)
    return cautious_solve(problem, moments), seen
