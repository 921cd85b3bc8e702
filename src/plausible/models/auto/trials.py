"""Trials: what each candidate bets on rows that it has not seen, within a budget of time."""

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import threadpool_limits

from plausible.engine import Progress, passed_on
from plausible.errors import InputError
from plausible.labels import Labels
from plausible.models.auto.choice import (
    Known,
    earned,
    fit_exponent,
    held_out_losses,
    log_bets,
    tempered,
    what_is_known,
)
from plausible.models.auto.ladder import Rung, fit_rung
from plausible.models.ensemble.members import bets_of
from plausible.models.folds import row_ranks

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

FEW_BYTES = 3 << 20  # of features: a cache of one core holds them, or nearly


class Settings(NamedTuple):
    """How candidates are tried.

    n_rows, n_features : of all rows, from which those with votes will learn
    """

    n_rows: int
    n_features: int
    calibrate: bool = True
    max_seconds: float = np.inf
    n_jobs: int | None = None


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
    def share(self) -> FloatArray:
        """Weights of tested rows relative to the largest."""
        weight = self.weight[self.tested]
        return np.asarray(weight / weight.max())

    @property
    def known(self) -> Known:
        """What the labels of tested rows say."""
        tested = self.tested
        shares = self.labels.is_probability[tested]
        return what_is_known(self.labels.scaled()[tested], self.share, shares)


class Trial(NamedTuple):
    """What became of a candidate; without bets where `note` says why.

    logs : log bets (n, K) on tested rows, as the candidate gives them
    exponent : by which they are tempered
    losses : (n,) of tempered bets, row by row
    credit : (n,) that the best bets earn
    """

    name: str
    seconds: float
    note: str = ""
    logs: FloatArray | None = None
    exponent: float = 1.0
    losses: FloatArray | None = None
    credit: FloatArray | None = None

    @property
    def tempered(self) -> FloatArray:
        """Tempered log bets (n, K)."""
        assert self.logs is not None
        return tempered(self.logs, self.exponent)


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
            ("give more rows that are different", "choose one model, such as logistic regression"),
        )
    return rows


def threads_for(X: FloatArray) -> AbstractContextManager[Any]:
    """Leave libraries the threads that they have, or one of them where the rows are few.

    Threads of many short steps wait for each other, and on a busy machine ten times as long as the
    steps take.
    """
    return threadpool_limits(1) if X.nbytes <= FEW_BYTES else nullcontext()


def bets_on_fold(rung: Rung, rows: Rows, fold: int) -> FloatArray:
    """Log bets on the rows of a fold, learned from all others."""
    train, test = rows.folds != fold, rows.folds == fold
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # folds are smaller than what is learned in the end
        with passed_on():
            model = fit_rung(rung, rows.X[train], rows.labels[train], rows.weight[train])
        return log_bets(bets_of(model, rows.X[test], rows.labels.classes))


def out_of_fold(rung: Rung, rows: Rows, n_jobs: int | None) -> FloatArray:
    """Log bets (n, K) of a candidate on tested rows."""
    logs = np.empty(rows.labels.contour.shape)
    folds = np.unique(rows.folds[rows.tested])
    parts = Parallel(n_jobs=n_jobs)(delayed(bets_on_fold)(rung, rows, fold) for fold in folds)
    for fold, part in zip(folds, parts, strict=True):
        logs[rows.folds == fold] = part
    return logs[rows.tested]


def attempt(rung: Rung, rows: Rows, settings: Settings) -> Trial:
    """Try one candidate; one that cannot learn from these rows has a note instead of bets."""
    begin = time.perf_counter()
    try:
        logs = out_of_fold(rung, rows, settings.n_jobs)
    except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
        said = " ".join(str(error).split())
        return Trial(rung.name, time.perf_counter() - begin, f"failed: {said}")
    known, weight = rows.known, rows.share
    exponent = fit_exponent(logs, known, weight) if settings.calibrate else 1.0
    losses = held_out_losses(tempered(logs, exponent), known)
    seconds = time.perf_counter() - begin
    return Trial(rung.name, seconds, "", logs, exponent, losses, earned(logs, known))


def why_not(rung: Rung, settings: Settings, stopped: bool, seconds: float, is_first: bool) -> str:
    """Why a candidate is not tried; nothing if it is."""
    if settings.n_rows > rung.most_rows:
        return f"not tried: slow on more than {rung.most_rows:g} rows"
    if settings.n_features > rung.most_features:
        return f"not tried: slow with more than {rung.most_features:g} features"
    if stopped or (seconds > settings.max_seconds and not is_first):
        return "not tried: no time was left"
    return ""


def climb(
    rungs: list[Rung],
    rows: Rows,
    settings: Settings,
    report: Callable[[Progress], Any] | None,
) -> Iterator[Trial]:
    """Try the candidates in order, until all are tried, time is up, or a report asks to stop."""
    begin, best, stopped = time.perf_counter(), -np.inf, False
    for number, rung in enumerate(rungs, start=1):
        note = why_not(rung, settings, stopped, time.perf_counter() - begin, number == 1)
        if note:
            yield Trial(rung.name, 0.0, note)
            continue
        trial = attempt(rung, rows, settings)
        yield trial
        if report is None:
            continue
        reached = best
        if trial.losses is not None:
            reached = max(best, -float(rows.share @ trial.losses))
        gain = (reached - best) / rows.share.sum() if np.isfinite(best) else 0.0
        best, left = reached, len(rungs) - number
        seconds = time.perf_counter() - begin
        rest = min(left * seconds / number, max(settings.max_seconds - seconds, 0.0))
        stopped = bool(report(Progress(number, best, gain, seconds, rest, left)))
