"""Trials: what each candidate bets on rows that it has not seen, within a budget of time."""

import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.engine import Progress
from plausible.errors import InputError
from plausible.labels import Labels
from plausible.models.auto.choice import (
    Known,
    earned,
    fit_exponent,
    log_bets,
    soft_losses,
    tempered,
    what_is_known,
)
from plausible.models.auto.ladder import Rung, fit_rung
from plausible.models.ensemble.members import bets_of
from plausible.models.folds import row_ranks

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

NO_TIME = "not tried: no time was left"


class Rows(NamedTuple):
    """Rows on which candidates are compared.

    X, labels, weight : what is learned from
    folds : fold (n,) of each row; -1 for rows that are never tested
    kind : numbers (n,) of what rows hold
    """

    X: FloatArray
    labels: Labels
    weight: FloatArray
    folds: IntArray
    kind: IntArray

    @property
    def tested(self) -> NDArray[np.bool_]:
        """Rows that some candidate bets on without having seen them."""
        return self.folds >= 0

    @property
    def known(self) -> Known:
        """What the labels of tested rows say."""
        return what_is_known(self.labels.scaled()[self.tested], self.weight[self.tested])


class Trial(NamedTuple):
    """What became of a candidate; without bets where `note` says why.

    logs : log bets (n, K) on tested rows, as the candidate gives them
    exponent : by which they are tempered
    losses : soft log-losses (n,) of tempered bets, row by row
    credit : (n,) that the best bets earn
    """

    name: str
    seconds: float
    note: str = ""
    logs: FloatArray | None = None
    exponent: float = 1.0
    losses: FloatArray | None = None
    credit: FloatArray | None = None


def compared_rows(
    X: FloatArray, labels: Labels, weight: FloatArray, folds: IntArray, most: int
) -> Rows:
    """All rows, or every so many in the order of what they hold, so that there are at most `most`.

    Rows that are the same are kept or left out together.
    """
    rank, n_kinds = row_ranks(X)
    kept = rank % -(-n_kinds // most) == 0
    rows = Rows(
        X[kept],
        labels[kept],
        weight[kept],
        folds[kept],
        np.unique(rank[kept], return_inverse=True)[1],
    )
    if len(np.unique(rows.folds)) < 2:
        raise InputError(
            "Rows should fall into two folds at least, so that candidates can be compared",
            f"all n_samples={len(rows.folds)} are in one",
            "give more rows that are different",
        )
    return rows


def out_of_fold(rung: Rung, rows: Rows) -> FloatArray:
    """Log bets (n, K) of a candidate on tested rows."""
    logs = np.empty(rows.labels.contour.shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # folds are smaller than what is learned in the end
        for fold in np.unique(rows.folds[rows.tested]):
            train, test = rows.folds != fold, rows.folds == fold
            model = fit_rung(rung, rows.X[train], rows.labels[train], rows.weight[train])
            logs[test] = log_bets(bets_of(model, rows.X[test], rows.labels.classes))
    return logs[rows.tested]


def attempt(rung: Rung, rows: Rows, calibrate: bool) -> Trial:
    """Try one candidate; one that cannot learn from these rows has a note instead of bets."""
    begin = time.perf_counter()
    try:
        logs = out_of_fold(rung, rows)
    except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
        said = " ".join(str(error).split())
        return Trial(rung.name, time.perf_counter() - begin, f"failed: {said}")
    known, weight = rows.known, rows.weight[rows.tested]
    exponent = fit_exponent(logs, known, weight) if calibrate else 1.0
    losses = soft_losses(tempered(logs, exponent), known)
    seconds = time.perf_counter() - begin
    return Trial(rung.name, seconds, "", logs, exponent, losses, earned(logs, known))


def climb(
    rungs: list[Rung],
    rows: Rows,
    calibrate: bool,
    max_seconds: float,
    report: Callable[[Progress], Any] | None,
) -> Iterator[Trial]:
    """Try the candidates in order, until all are tried, time is up, or a report asks to stop."""
    begin, best, stopped = time.perf_counter(), -np.inf, False
    for number, rung in enumerate(rungs, start=1):
        seconds = time.perf_counter() - begin
        if stopped or (number > 1 and seconds > max_seconds):
            yield Trial(rung.name, 0.0, NO_TIME)
            continue
        trial = attempt(rung, rows, calibrate)
        yield trial
        if report is None:
            continue
        reached = best
        if trial.losses is not None:
            reached = max(best, -float(rows.weight[rows.tested] @ trial.losses))
        gain = (reached - best) / rows.weight.sum() if np.isfinite(best) else 0.0
        best, left = reached, len(rungs) - number
        seconds = time.perf_counter() - begin
        rest = min(left * seconds / number, max(max_seconds - seconds, 0.0))
        stopped = bool(report(Progress(number, best, gain, seconds, rest, left)))
