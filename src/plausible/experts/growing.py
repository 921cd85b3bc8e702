"""Answers that arrive one after the other, taken in without starting anew.

What is known of people are sums over answers (see `growing_states`). `add` changes those of the
items that new answers speak of; `settle` climbs from there to where a fit to all answers ends.
"""

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from plausible.checks import (
    as_list,
    check_flag,
    check_kind,
    check_number,
    check_option,
    check_whole,
    counted,
    shown,
)
from plausible.errors import InputError
from plausible.experts.annotations import Annotations
from plausible.experts.answer_problem import MODELS, Parameters
from plausible.experts.answer_store import AnswerStore
from plausible.experts.dependence import Dependence, check_dependence, exponents, temper
from plausible.experts.growing_states import GrowingState, state_of
from plausible.experts.pooling import (
    counted_once,
    default_model,
    doubts_at,
    pool_dempster,
    who_err_together,
)
from plausible.experts.reliability import Reliability, relative
from plausible.experts.reliability_fit import conclude, fit_reliability
from plausible.labels import Labels

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class AnswerPool:
    """Answers with the labels and reliabilities that follow, to which more answers can be added.

    Parameters
    ----------
    answers : Annotations
    model : {"one_coin", "class", "full", "shrunk", "auto"}
        What is learned of people, see `fit_reliability`. "auto" does what `Annotations.pool` and
        the command ``plausible pool`` do if nothing is said: doubts that come with the first
        answers, those of calibrated words among them, are taken as they are; else it is "shrunk"
        (from 5 million confusions on "one_coin"), and people who copy each other count once, groups
        that err together less. Both are looked for whenever the pool settles.
    smoothing : float, optional
        Imagined answers of each person; see `fit_reliability`.
    dependence : {"auto", "none"}, float or Dependence
        As for `Annotations.pool`; "auto" assumes that half of what moves people is shared (with
        doubts that are taken as they are: nothing).
    tol : float
        Of the first `settle`.

    Attributes
    ----------
    items, annotators, classes : arrays of names
    rate : array (R,)
        How often each person is right, in all classes together; NaN where doubts are taken as they
        are, and nothing is learned.
    learned : array (R, 1), (R, K) or (R, K, K)
        What the model has learned of people, as in `Reliability`.
    is_settled : bool
        Whether nothing was added since `settle`.

    Notes
    -----
    `add` computes anew what is known of the items that the new answers are about, and of the people
    who spoke of them, which takes a time that depends on these alone. `settle` goes on until
    nothing changes any more, to where a fit to all answers ends. With rates by class or confusions
    there may be more than one such place: it then starts from the votes, as a new fit does.

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

    def __init__(
        self,
        answers: Annotations,
        model: str = "one_coin",
        *,
        smoothing: float | None = None,
        dependence: Any = "auto",
        tol: float = 1e-6,
    ) -> None:
        check_kind(answers, Annotations, "answers", "make them with Annotations.from_long")
        if not len(answers):
            raise InputError("answers should hold some", "there are none", "give some")
        check_option(model, (*MODELS, "auto"), "model")
        if smoothing is not None:
            check_number(smoothing, "smoothing", 0.0)
        check_dependence(dependence, "dempster")
        if isinstance(dependence, str):
            check_option(dependence, ("auto", "none"), "dependence")
        check_number(tol, "tol", 0.0)
        self.model, self.smoothing, self.dependence = model, smoothing, dependence
        self._begin(answers, tol)

    def _begin(self, answers: Annotations, tol: float) -> None:
        """A new fit."""
        self._store = AnswerStore(answers)
        self._state: GrowingState | None = None
        self._people = self.dependence if isinstance(self.dependence, Dependence) else None
        model = self.model
        if model == "auto":
            model = default_model(answers) if answers.doubt is None else "given"
        if model != "given":
            all_alike = self.model == "one_coin" and self._people is None
            self._state = state_of(model, self.smoothing, len(self.classes), all_alike)
        self._fit(True, tol, 1000)

    def __repr__(self) -> str:
        names = ", ".join(map(str, self.classes[:6].tolist()))
        more = f", ... ({len(self.classes)} in all)" if len(self.classes) > 6 else ""
        state = "" if self.is_settled else "; not settled"
        return (
            f"<AnswerPool: {counted(len(self), 'answer')} about {counted(len(self.items), 'item')} "
            f"by {counted(len(self.annotators), 'annotator')}; classes {names}{more}{state}>"
        )

    def __len__(self) -> int:
        return len(self._store)

    # What there is.

    @property
    def items(self) -> NDArray[Any]:
        """Names of the items."""
        return self._store.items

    @property
    def annotators(self) -> NDArray[Any]:
        """Names of the people."""
        return self._store.annotators

    @property
    def classes(self) -> NDArray[Any]:
        """Names of the classes."""
        return self._store.classes

    @property
    def annotations(self) -> Annotations:
        """All answers so far."""
        return self._store.answers

    @property
    def rate(self) -> FloatArray:
        """How often (R,) people are right, in all classes together."""
        return np.full(len(self.annotators), np.nan) if self._state is None else self._state.rate

    @property
    def learned(self) -> FloatArray:
        """What the model has learned of people."""
        return self.rate[:, None] if self._state is None else self._state.learned

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
        if not set(answers.classes.tolist()) <= set(self.classes.tolist()):
            together = Annotations.concatenate(_doubted_alike(self.annotations, answers))
            self._begin(together, 1e-6)
            self.is_settled = False
            return self
        self.is_settled = False
        n_before = len(self)
        items = self._store.add(answers)
        if self._state is not None:
            self._state.grow(len(self.items), len(self.annotators), len(self))
            after, number = self._store.about(items)
            people, place = np.unique(after.annotator, return_inverse=True)
            after = after._with(annotators=self.annotators[people], annotator=place.ravel())
            before, after = map(self._counted_once, (after.select(number < n_before), after))
            self._state.update(items, people, before, after, number)
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

    def _counted_once(self, answers: Annotations) -> Annotations:
        """Answers of which those of people who err together count less."""
        return answers if self._people is None else counted_once(answers, self._people)

    # What follows.

    def settle(
        self, tol: float = 1e-6, max_iter: int = 1000, *, restart: bool | None = None
    ) -> Self:
        """Go on until nothing changes: to where a fit to all answers at once ends.

        Parameters
        ----------
        tol : float
            Stop when a step gains less than this for each item, and (with "one_coin", or if this is
            below 1e-9) changes no probability by more than a tenth of it.
        max_iter : int
        restart : bool, optional
            Start from the votes, as a new fit does, and not from where we are. If not given, it is
            True but for "one_coin". False is quicker, and may end at another maximum.
        """
        check_number(tol, "tol", 0.0)
        check_whole(max_iter, "max_iter", 1)
        if restart is None:
            restart = self._state is not None and self._state.model != "one_coin"
        return self._fit(check_flag(restart, "restart"), tol, max_iter)

    def _fit(self, restart: bool, tol: float, max_iter: int) -> Self:
        if self.model == "auto" and self._state is not None and self._is_unknown():
            self._people = who_err_together(self.annotations)
        if self._state is not None:
            answers = self._counted_once(self.annotations)
            self._state.fit(answers, self._store.number, restart, tol, max_iter)
        self.is_settled = True
        return self

    def _is_unknown(self) -> bool:
        """Whether those who err together are to be looked for."""
        return isinstance(self.dependence, str) and self.dependence == "auto"

    def labels(self, items: Iterable[Any] | None = None) -> Labels:
        """Labels of all items, or of some by name, with what is known of people now."""
        answers = self.annotations if items is None else self._some(items)
        if self._state is None:
            together = "none" if self._is_unknown() else self.dependence
            return answers.pool(dependence=together, on_conflict="unknown")
        people, place = np.unique(answers.annotator, return_inverse=True)
        answers = answers._with(annotators=self.annotators[people], annotator=place.ravel())
        kept = self._counted_once(answers)
        doubts = doubts_at(kept, self._state.rate[people])
        labels = pool_dempster(kept, doubts, "unknown")
        if self._state.model != "one_coin":
            problem = self._state.problem(kept, people, self._state.prior)
            point = Parameters(self._state.prior, self._state.learned[people])
            contour = relative(problem.evidence(point))
            labels = Labels(contour, self.classes.tolist(), conflict=labels.conflict)
        return temper(labels, exponents(self.dependence, kept))

    def _some(self, items: Iterable[Any]) -> Annotations:
        """What was said about some items, in this order."""
        names = as_list(items, "items", "names of items")
        places = [self._store.place_of(name) for name in names]
        lost = [name for name, place in zip(names, places, strict=True) if place is None]
        if lost:
            raise InputError("items should be items of the answers", f"{shown(lost[0])} is not")
        few, where = np.unique(np.array(places, dtype=np.int64), return_inverse=True)
        answers = self._store.about(few)[0]
        if len(few) == len(names) and np.array_equal(where.ravel(), np.arange(len(few))):
            return answers
        return answers[where.ravel()]

    def reliability(self) -> Reliability:
        """How far people can be trusted, with intervals; settles first."""
        if not self.is_settled:
            self.settle()
        if self._state is None:
            return fit_reliability(self.annotations)
        answers = self._counted_once(self.annotations)
        problem = self._state.problem(answers, slice(None), self._state.prior)
        found: Reliability = conclude(answers, problem, self._state.result)
        return found


def _doubted_alike(first: Annotations, second: Annotations) -> list[Annotations]:
    """Both with doubts, if either has some."""
    if (first.doubt is None) == (second.doubt is None):
        return [first, second]
    return [
        one if one.doubt is not None else one._with(doubt=np.zeros(len(one)))
        for one in (first, second)
    ]
