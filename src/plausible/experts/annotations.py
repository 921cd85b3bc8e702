r"""Who said what about which item, before anything is decided.

An answer is a statement about an item, a mass function on the classes, with a doubt:

=========================  ==================================================================
hard answer                "cat"
set of classes             {"cat", "dog"}: one of these
plausibilities             (1, 0.4, 0): how possible each class is
probabilities              (0.7, 0.2, 0.1)
masses                     {("cat",): 0.6, ("cat", "dog"): 0.4}
"cannot tell"              all classes: nothing is said
"none of these"            the empty set
=========================  ==================================================================

Statements that occur often, hard answers above all, are stored once: a million answers are three
whole numbers each, and sums over them are products of sparse matrices. Of a statement only the
classes that it leaves possible are stored.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from plausible.belief import (
    SparseMasses,
    bayesian,
    check_n_classes,
    concatenate,
    consonant,
    membership,
    sets_from_membership,
)
from plausible.checks import as_array, check_kind, counted, row_numbers, shown
from plausible.errors import InputError
from plausible.experts.checks import check_codes, check_contours, check_is_bayesian, check_names
from plausible.experts.constructors import Constructors
from plausible.experts.notebooks import annotations_page
from plausible.experts.parsing import Statements
from plausible.experts.selection import Selection
from plausible.experts.statements import StatementFacts, as_rows
from plausible.experts.tables import Codes, check_doubt
from plausible.labels import Labels

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
NAMES = "items", "annotators", "classes"


class SparseField:
    """A table given dense or sparse, kept as sparse `rows`, and shown as an array."""

    def __get__(self, owner: Any, kind: type) -> FloatArray:
        if owner is None:
            raise AttributeError  # tells dataclasses that there is no default
        return np.asarray(owner.rows.toarray())

    def __set__(self, owner: Any, table: ArrayLike | csr_array) -> None:
        owner.__dict__["rows"] = as_rows(table)


@dataclass(frozen=True, eq=False)
class Annotations(Constructors, Selection):
    """Answers of several annotators about several items.

    Use the constructors: `from_long`, `from_answers` (a column for each annotator), `from_classes`
    (a column for each class), or `plausible.io.read_annotations` for files.

    Attributes
    ----------
    items, annotators, classes : arrays of names
    item, annotator : int arrays (A,)
        Which item and whose answer.
    statement : int array (A,)
        Row of `contours`.
    contours : array (S, K)
        Plausibility of each class by each different statement; zeros for "none of these". Given
        dense or sparse, kept sparse in `rows`; every look at it makes an array again.
    doubt : array (A,) or None
        How far the annotator doubts the answer.
    notes : tuple of str
        What was assumed when the answers were read: spellings, words of not knowing, repeated
        answers.

    Notes
    -----
    ``len(answers)`` counts answers, but to numpy and scikit-learn annotations are a column of
    items: ``answers.shape`` is (n,), ``answers[rows]`` takes items with all that was said about
    them, and `train_test_split(X, answers)` or `cross_val_score(JointAnnotatorClassifier(), X,
    answers)` split items. `select` takes answers.

    Examples
    --------
    >>> answers = Annotations.from_long(
    ...     items=["im1", "im1", "im1", "im2", "im2"],
    ...     annotators=["ann", "bob", "cy", "ann", "cy"],
    ...     labels=["cat", "cat|dog", "dog", "dog", "cannot tell"],
    ... )
    >>> answers
    <Annotations: 5 answers about 2 items by 3 annotators; classes cat, dog>
    >>> answers.pool(doubt=0.2).scaled().round(2)
    array([[1. , 1. ],
           [0.2, 1. ]])
    """

    items: NDArray[Any]
    annotators: NDArray[Any]
    classes: NDArray[Any]
    item: IntArray
    annotator: IntArray
    statement: IntArray
    contours: SparseField = SparseField()
    doubt: FloatArray | None = None
    is_bayesian: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))
    given_masses: SparseMasses | None = None
    notes: tuple[str, ...] = ()
    _power: ClassVar[FloatArray | None] = None  # (A,), to which what answers say is raised

    def __post_init__(self) -> None:
        names = {what: check_names(getattr(self, what), what) for what in NAMES}
        item = check_codes(self.item, len(names["items"]), None, "item")
        rows = check_contours(self.__dict__["rows"], len(names["classes"]))
        n_names = {"annotator": len(names["annotators"]), "statement": rows.shape[0]}
        checked: dict[str, Any] = {
            **names,
            "item": item,
            **{c: check_codes(getattr(self, c), n_names[c], len(item), c) for c in n_names},
            "doubt": check_doubt(self.doubt, len(item)),
            "is_bayesian": check_is_bayesian(self.is_bayesian, rows.shape[0]),
        }
        self.__dict__.update(checked)
        if self.given_masses is not None:
            check_kind(self.given_masses, SparseMasses, "given_masses", "use Annotations.from_long")

    @classmethod
    def _made(
        cls,
        item: Codes,
        annotator: Codes,
        said: Statements,
        doubt: FloatArray | None,
        notes: Sequence[str] = (),
    ) -> Self:
        return cls(
            item.names,
            annotator.names,
            said.classes,
            item.codes,
            annotator.codes,
            said.codes,
            said.contours,
            doubt,
            said.is_bayesian,
            said.masses,
            tuple(notes),
        )

    # What there is.

    def __len__(self) -> int:
        return len(self.item)

    def __repr__(self) -> str:
        names = ", ".join(map(str, self.classes[:6].tolist())) + (
            f", ... ({len(self.classes)} in all)" if len(self.classes) > 6 else ""
        )
        n_notes = len(self.notes)
        told = f"; {n_notes} note{'s' * (n_notes > 1)}, see .notes" if n_notes else ""
        return (
            f"<Annotations: {counted(len(self), 'answer')} about "
            f"{counted(len(self.items), 'item')} by "
            f"{counted(len(self.annotators), 'annotator')}; classes {names}{told}>"
        )

    def _repr_html_(self) -> str:
        return annotations_page(self)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @cached_property
    def facts(self) -> StatementFacts:
        """What is asked of the different statements, such as which are hard."""
        rows: csr_array = self.__dict__["rows"]
        return StatementFacts(rows)

    @property
    def is_hard(self) -> NDArray[np.bool_]:
        """Which statements (S,) name one class."""
        return self.facts.is_hard

    def votes(self) -> FloatArray:
        """How many hard answers (n, K) each item has for each class."""
        hard = self.is_hard[self.statement]
        cell = self.item[hard] * self.n_classes + self.facts.chosen[self.statement[hard]]
        counts = np.bincount(cell, minlength=len(self.items) * self.n_classes)
        return counts.reshape(len(self.items), self.n_classes).astype(np.float64)

    def masses(self) -> SparseMasses:
        """Mass functions (S,) of the statements; least committed where only contours are known."""
        if self.given_masses is not None:
            return self.given_masses
        check_n_classes(self.n_classes)
        contours = self.contours
        if (self.facts.rows.data == 1).all():
            sets = sets_from_membership(contours > 0)
            focal, place = np.unique(sets, return_inverse=True)
            return SparseMasses(np.eye(len(focal))[place], focal, self.n_classes)
        order = np.argsort(self.is_bayesian, kind="stable")
        n_consonant = int((~self.is_bayesian).sum())
        parts = []
        if n_consonant:
            parts.append(consonant(contours[order[:n_consonant]]))
        if n_consonant < len(order):
            parts.append(bayesian(contours[order[n_consonant:]]))
        together = concatenate(parts)
        back = np.argsort(order, kind="stable")
        return SparseMasses(together.values[back], together.focal_sets, self.n_classes)

    def commonality(self, members: NDArray[np.bool_]) -> FloatArray:
        """Commonality (S,) of a set of classes by each statement."""
        given, members = members, as_array(members, "members")
        if members.shape != (self.n_classes,) or members.dtype != bool:
            raise InputError(
                f"members should be True or False for each of the {self.n_classes} classes",
                f"{shown(given)} was given",
                "write classes == 'a' for one of them",
                parameter="members",
                value=given,
            )
        if self.given_masses is not None:
            inside = membership(self.given_masses.focal_sets, self.n_classes)
            return np.asarray(self.given_masses.values @ inside[:, members].all(axis=1))
        least = self.contours[:, members].min(axis=1)
        return np.where(self.is_bayesian & (members.sum() > 1), 0.0, least)

    def select(self, answers: ArrayLike) -> Self:
        """Some of the answers, by a mask or numbers; items and annotators keep their places."""
        rows = row_numbers(answers, len(self), "answers")
        return self._with(
            item=self.item[rows],
            annotator=self.annotator[rows],
            statement=self.statement[rows],
            doubt=None if self.doubt is None else self.doubt[rows],
            **({} if self._power is None else {"_power": self._power[rows]}),
        )

    def _with(self, **changes: Any) -> Self:
        """A copy with some other columns, about the same statements."""
        other = copy(self)
        other.__dict__.update(changes)
        return other

    def with_notes(self, *notes: str) -> Self:
        """The same answers, with more notes before those that they have.

        Examples
        --------
        >>> from plausible.experts import Annotations
        >>> answers = Annotations.from_long([1], ["ann"], ["a"]).with_notes("of last year")
        >>> answers.notes
        ('of last year',)
        """
        return self._with(notes=(*notes, *self.notes))

    def without_doubt(self) -> Self:
        """The answers as they were named, without the doubts of those who gave them.

        Answers that are doubted altogether say nothing, and are left out. The reliabilities of
        these answers tell how often people are right; those of doubted answers, how often they are
        right beyond what their doubts admit.

        Examples
        --------
        >>> from plausible.experts import Annotations
        >>> answers = Annotations.from_long([1, 1], ["ann", "bob"], ["a", "b"], doubt=[0.2, 1.0])
        >>> answers.without_doubt()
        <Annotations: 1 answer about 1 item by 2 annotators; classes a, b>
        """
        if self.doubt is None:
            return self
        return self.select(self.doubt < 1)._with(doubt=None)

    # What is made of it.

    def pool(
        self,
        rule: str = "dempster",
        doubt: str | float | ArrayLike | Mapping[Any, float] | None = None,
        *,
        gold: Any = None,
        on_conflict: str = "raise",
        dependence: Any = "auto",
        **options: Any,
    ) -> Labels:
        """Labels of the items, in the order of `items`.

        Parameters
        ----------
        rule : str
            "dempster", or any other rule of `plausible.belief.combine`.
        doubt : float, array (R,), dict of annotators, Reliability, "fit" or None
            How far annotators are mistrusted, beyond what they doubt themselves (an array of as
            many numbers as annotators is of these, else one for each answer). What was learned of
            them before may be given, with people who are not known counted as others are on
            average. "fit" learns it from their agreement (see `reliability`). None is the doubts
            that come with the answers if there are any (those below 0.01 are then raised to that);
            else it is "fit", and, if no options are given either, with the model "shrunk" (from 5
            million confusions on "one_coin").
        gold : Labels or dict of items, optional
            Classes that are known, for "fit".
        on_conflict : "raise" or "unknown"
            What to do about items on which sure answers contradict each other.
        dependence : {"auto", "fit", "none"}, float or Dependence
            How far people err together, under Dempster's rule: a number is the exponent of the
            pooled evidence, 1 (or "none") of independent people. "fit" learns it from `gold`,
            or assumes it (see `dependence`), and counts people who copy each other once. "auto" is
            "fit" where neither doubts nor options are given, so that doubts are learned from
            agreement, which cannot see shared errors; else it is "none", plain Dempster.
        **options : of `reliability`, for "fit"

        Returns
        -------
        Labels
            With `conflict` (that of Dempster's rule; from 9 classes on, for items with other than
            hard answers, an upper bound), and masses where the rule gives them. With the models
            "class" and "full", the conflict is that of answers with the doubts that equal each
            person's share of errors in all classes together.

        Examples
        --------
        >>> answers = Annotations.from_answers([["a", "a"], ["a", "b"]])
        >>> answers.pool(doubt=0.1).conflict.round(2)
        array([0.  , 0.81])
        """
        from plausible.experts.pooling import pool_and_tell

        return pool_and_tell(self, rule, doubt, gold, on_conflict, dependence, options)[0]

    def dependence(
        self, doubt: Any = None, *, gold: Any = None, probabilities: Any = None, **options: Any
    ) -> Any:
        """How far people err together: what `pool` with dependence="fit" learns or assumes.

        Parameters
        ----------
        doubt, gold, **options
            As for `pool`. Classes that are known (`gold`, 30 items or more) show it; without any,
            half of what moves people is assumed to be common to all.
        probabilities : array (n, K) or Labels, optional
            Of the classes of all items, from a classifier that has learned from other items
            (cross-fitted): they show what gold shows. Both also tell groups that are most of the
            people, which agreement cannot.

        Returns
        -------
        Dependence

        Examples
        --------
        >>> answers = Annotations.from_answers([["a", "a", "b"], ["a", "b", "b"], ["b", "b", "b"]])
        >>> print(answers.dependence())
        3.0 answers about an item are worth 1.5 independent ones (shared 0.50, assumed)
        """
        from plausible.experts.pooling import pool_dependent

        return pool_dependent(self, doubt, gold, "unknown", options, probabilities)[1]

    def reliability(self, model: str = "one_coin", **options: Any) -> Any:
        """How far each annotator can be trusted, learned from agreement: see `fit_reliability`."""
        from plausible.experts.reliability_fit import fit_reliability

        return fit_reliability(self, model, **options)

    def agreement(self) -> Any:
        """Krippendorff's alpha and Fleiss' kappa of the hard answers."""
        from plausible.experts.agreement import agreement

        return agreement(self.votes())

    def next_items(self, n: int = 10, **options: Any) -> Any:
        """Items to ask about next: see `next_items`."""
        from plausible.experts.questions import next_items

        return next_items(self, n, **options)
