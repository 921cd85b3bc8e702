r"""Answers that arrive after a fit: incremental EM, which touches only what changed.

With one rate c of being right for each person ("one_coin"), EM needs of an answer only with which
probability :math:`r_a` its author was right; rates are means of these, with imagined answers. These
shares are kept. When answers arrive, the shares of all answers about the items they speak of are
computed anew and replace the old ones in the sums of their authors, whose rates follow
(R. Neal and G. Hinton, A view of the EM algorithm that justifies incremental, sparse, and other
variants, 1998). Everything else stays as it is, until `settle` climbs from there to where a fit to
all answers at once ends.
"""

from collections.abc import Container, Iterable
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from plausible.checks import (
    as_list,
    check_kind,
    check_number,
    check_option,
    check_whole,
    counted,
    shown,
)
from plausible.errors import InputError
from plausible.experts.annotations import Annotations
from plausible.experts.answer_problem import Parameters, speaking
from plausible.experts.charts import RateChart
from plausible.experts.dependence import check_dependence, exponents, temper
from plausible.experts.pooling import pool_dempster
from plausible.experts.rate_model import RateModel
from plausible.experts.reliability import Reliability, climb, conclude, equivalent_doubt
from plausible.experts.right_shares import flatten, joined_said, right_shares
from plausible.experts.selection import joined_parts, on_classes
from plausible.experts.statements import add_up, expand
from plausible.labels import Labels

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

LOCAL_STEPS = 3  # over the items that were spoken of
FEW = 0.1  # share of late answers from which all are ordered anew


class AnswerPool:
    """Answers with the labels and reliabilities that follow, to which more answers can be added.

    Parameters
    ----------
    answers : Annotations
    smoothing : float
        Imagined answers of each person; see `fit_reliability`.
    dependence : {"auto", "none"}, float or Dependence
        As for `Annotations.pool`; "auto" assumes that half of what moves people is shared. People
        who copy each other are not looked for.
    tol : float
        Of the first `settle`.

    Attributes
    ----------
    items, annotators, classes : arrays of names
    rate : array (R,)
        How often each person is right.
    is_settled : bool
        Whether nothing was added since `settle`.

    Notes
    -----
    The model is "one_coin". `add` computes anew what is known of the items that the new answers are
    about, and the rates of the people who spoke of them, which takes a time that depends on these
    alone. `settle` goes on until nothing changes any more, to where a fit to all answers ends.

    Examples
    --------
    >>> first = Annotations.from_answers([["a", "a", "b"], ["b", "b", "b"], ["a", "a", "a"]])
    >>> pool = AnswerPool(first, dependence="none")
    >>> pool.add(Annotations.from_long([3, 3, 1], [0, 1, 7], ["b", "b", "b"]))
    <AnswerPool: 12 answers about 4 items by 4 annotators; classes a, b; not settled>
    >>> pool.labels([3, 1]).crisp().tolist()
    ['b', 'b']
    >>> at_once = AnswerPool(pool.annotations, dependence="none", tol=1e-12)
    >>> bool(np.allclose(pool.settle(tol=1e-12).rate, at_once.rate, atol=1e-8))
    True
    """

    rate: FloatArray
    right: FloatArray
    total: FloatArray

    def __init__(
        self,
        answers: Annotations,
        *,
        smoothing: float = 1.0,
        dependence: Any = "auto",
        tol: float = 1e-6,
    ) -> None:
        check_kind(answers, Annotations, "answers", "make them with Annotations.from_long")
        if not len(answers):
            raise InputError("answers should hold some", "there are none", "give some")
        self.smoothing = check_number(smoothing, "smoothing", 0.0)
        check_dependence(dependence, "dempster")
        if isinstance(dependence, str):
            check_option(dependence, ("auto", "none"), "dependence")
        self.dependence = dependence
        self._start_with(answers)
        problem = self._problem()
        self._climb(problem, problem.start(), tol, 1000)

    def __repr__(self) -> str:
        names = ", ".join(map(str, self.classes[:6].tolist()))
        more = f", ... ({len(self.classes)} in all)" if len(self.classes) > 6 else ""
        state = "" if self.is_settled else "; not settled"
        return (
            f"<AnswerPool: {counted(len(self), 'answer')} about {counted(len(self.items), 'item')} "
            f"by {counted(len(self.annotators), 'annotator')}; classes {names}{more}{state}>"
        )

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    # What there is.

    def _start_with(self, answers: Annotations) -> None:
        """Keep answers ordered by item, and their names."""
        order = np.argsort(answers.item, kind="stable")
        self.items, self.annotators = answers.items, answers.annotators
        self.classes = answers.classes
        self._parts = [answers.select(order)]
        self._shares = [np.zeros(len(answers))]
        self._places = {
            "items": {name: k for k, name in enumerate(answers.items.tolist())},
            "annotators": {name: k for k, name in enumerate(answers.annotators.tolist())},
        }
        counts = np.bincount(answers.item, minlength=len(answers.items))
        self._first = np.concatenate([[0], np.cumsum(counts)])

    @property
    def annotations(self) -> Annotations:
        """All answers so far."""
        if len(self._parts) > 1:
            self._start_with(joined_parts(self._named(part) for part in self._parts))
            self._share_all()
        return self._named(self._parts[0])

    def _named(self, part: Annotations) -> Annotations:
        return part._with(items=self.items, annotators=self.annotators)

    def add(self, answers: Annotations) -> Self:
        """Take more answers, about these items or others, by these people or others.

        Parameters
        ----------
        answers : Annotations
            Names of items and people are of the same kind as before, text or numbers. A class that
            nobody named before makes all be fitted again.
        """
        check_kind(answers, Annotations, "answers", "make them with Annotations.from_long")
        if not len(answers):
            return self
        self._check_names(answers)
        self.is_settled = False
        if not set(answers.classes.tolist()) <= set(self.classes.tolist()):
            self._start_with(
                Annotations.concatenate([self.annotations, _as_doubted(answers, self)])
            )
            problem = self._problem()
            self._climb(problem, problem.start(), 1e-6, 1000)
            return self
        part = on_classes(answers, self.classes)
        part = part._with(
            item=self._codes("items", answers.items)[answers.item],
            annotator=self._codes("annotators", answers.annotators)[answers.annotator],
        )
        self._parts.append(part)
        self._shares.append(np.zeros(len(part)))
        people = part.annotator[speaking(part)]
        self.total += np.bincount(people, minlength=len(self.annotators))
        self._update(np.unique(part.item))
        if len(self) > (1 + FEW) * len(self._parts[0]):
            _ = self.annotations
        return self

    def _check_names(self, answers: Annotations) -> None:
        for what in ("items", "annotators", "classes"):
            mine, theirs = getattr(self, what), getattr(answers, what)
            if (mine.dtype.kind in "USO") != (theirs.dtype.kind in "USO"):
                raise InputError(
                    f"{what} should be named by text or by numbers, as before",
                    f"{shown(theirs[0])} came after {shown(mine[0])}",
                    "name them alike",
                    parameter="answers",
                )

    def _codes(self, what: str, names: NDArray[Any]) -> IntArray:
        """Places of names among those known; new ones are added."""
        places, listed = self._places[what], names.tolist()
        new = [name for name in listed if name not in places]
        for name in new:
            places[name] = len(places)
        if new:
            setattr(self, what, np.concatenate([getattr(self, what), np.array(new)]))
        if new and what == "annotators":
            rate = (1 + 1 / len(self.classes)) / 2
            self.rate = np.append(self.rate, np.full(len(new), rate))
            self.right, self.total = (
                np.append(one, np.zeros(len(new))) for one in (self.right, self.total)
            )
        return np.array([places[name] for name in listed], dtype=np.int64)

    # What follows.

    def _about(self, items: IntArray) -> list[tuple[int, IntArray]]:
        """Parts, and which of their answers are about some items."""
        known = items[items < len(self._first) - 1]
        found = [(0, expand(known, self._first)[1])]
        wanted = np.zeros(len(self.items), dtype=bool)
        wanted[items] = True
        for number, part in enumerate(self._parts[1:], start=1):
            found.append((number, np.flatnonzero(wanted[part.item])))
        return [(number, rows) for number, rows in found if len(rows)]

    def _update(self, items: IntArray) -> None:
        """Some steps of EM over these items alone."""
        place = np.empty(len(self.items), dtype=np.int64)
        place[items] = np.arange(len(items))
        chosen = []
        for number, rows in self._about(items):
            part = self._parts[number]
            chosen.append((number, rows[speaking(part.select(rows))]))
        said = joined_said([flatten(self._parts[n].select(rows)) for n, rows in chosen])
        said = said._replace(item=place[said.item])
        old = np.concatenate([self._shares[n][rows] for n, rows in chosen])
        for _ in range(LOCAL_STEPS):
            shares = right_shares(said, self.rate, len(items), len(self.classes))
            self.right += add_up(said.who, shares - old, len(self.annotators))
            old = shares
            self.rate = self._rates()
        ends = np.cumsum([len(rows) for _, rows in chosen])[:-1]
        for (number, rows), some in zip(chosen, np.split(old, ends), strict=True):
            self._shares[number][rows] = some

    def _rates(self) -> FloatArray:
        sure = self.smoothing * (1 + 1 / len(self.classes)) / 2
        total = self.total + self.smoothing
        rate = np.full(len(total), 1 / len(self.classes))
        np.divide(self.right + sure, total, out=rate, where=total > 0)
        return np.clip(rate, 0.0, 1.0)

    def _share_all(self) -> None:
        """Shares and sums of all answers at the present rates."""
        part = self._parts[0]
        rows = np.flatnonzero(speaking(part))
        said = flatten(part.select(rows))
        shares = right_shares(said, self.rate, len(self.items), len(self.classes))
        self._shares = [np.zeros(len(part))]
        self._shares[0][rows] = shares
        self.right = add_up(said.who, shares, len(self.annotators))
        self.total = np.bincount(said.who, minlength=len(self.annotators)).astype(np.float64)

    def settle(self, tol: float = 1e-6, max_iter: int = 1000) -> Self:
        """Go on until nothing changes: to where a fit to all answers at once ends.

        Parameters
        ----------
        tol : float
            Stop when a step gains less than this for each item, and changes no rate by more than a
            tenth of it.
        max_iter : int
        """
        check_number(tol, "tol", 0.0)
        check_whole(max_iter, "max_iter", 1)
        even = np.full(len(self.classes), 1 / len(self.classes))
        return self._climb(self._problem(), Parameters(even, self.rate[:, None]), tol, max_iter)

    def _problem(self) -> RateModel:
        even = np.full(len(self.classes), 1 / len(self.classes))
        return RateModel(self.annotations, "one_coin", self.smoothing, None, even)

    def _climb(self, problem: RateModel, start: Parameters, tol: float, max_iter: int) -> Self:
        self._result = climb(problem, start, tol=tol, max_iter=max_iter, chart=RateChart())
        point = self._result.parameters
        for _ in range(max_iter):
            last, point = point, problem.solve(problem.summarize([point])[0])
            if np.abs(point.learned - last.learned).max() <= tol / 10:
                break
        self._result = replace(self._result, parameters=point)
        self.rate = point.learned[:, 0].copy()
        self._share_all()
        self.is_settled = True
        return self

    def labels(self, items: Iterable[Any] | None = None) -> Labels:
        """Labels of all items, or of some by name, with the rates as they are now."""
        part = self.annotations if items is None else self._some(items)
        size = np.maximum(part.facts.size, 1.0)[part.statement]
        own = 0.0 if part.doubt is None else part.doubt
        error = 1 - self.rate[part.annotator]
        doubts = equivalent_doubt(error, len(self.classes), size, own)
        labels = pool_dempster(part, doubts, "unknown")
        return temper(labels, exponents(self.dependence, part))

    def _some(self, items: Iterable[Any]) -> Annotations:
        """What was said about some items, in this order."""
        names = as_list(items, "items", "names of items")
        known = self._places["items"]
        lost = [name for name in names if not _is_among(name, known)]
        if lost:
            raise InputError("items should be items of the answers", f"{shown(lost[0])} is not")
        wanted = np.array([self._places["items"][name] for name in names], dtype=np.int64)
        rows = self._about(np.unique(wanted))
        parts = [self._named(self._parts[number].select(some)) for number, some in rows]
        few, where = np.unique(wanted, return_inverse=True)
        place = np.empty(len(self.items), dtype=np.int64)
        place[few] = np.arange(len(few))
        together = joined_parts(parts) if parts else self._named(self._parts[0].select([]))
        return together._with(items=self.items[few], item=place[together.item])[where.ravel()]

    def reliability(self) -> Reliability:
        """How far people can be trusted, with intervals; settles first."""
        if not self.is_settled:
            self.settle()
        found: Reliability = conclude(self.annotations, self._problem(), self._result)
        return found


def _as_doubted(answers: Annotations, pool: AnswerPool) -> Annotations:
    """Answers with doubts where those before have some."""
    has_doubt = pool.annotations.doubt is not None
    if has_doubt == (answers.doubt is not None):
        return answers
    if has_doubt:
        return answers._with(doubt=np.zeros(len(answers)))
    pool._parts = [part._with(doubt=np.zeros(len(part))) for part in pool._parts]
    return answers


def _is_among(name: Any, known: Container[Any]) -> bool:
    """Whether a name is known; what cannot be looked up is not."""
    try:
        return name in known
    except TypeError:
        return False
