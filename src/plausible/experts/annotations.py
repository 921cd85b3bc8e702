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
whole numbers each, and sums over them are products of sparse matrices.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plausible.belief import (
    SparseMasses,
    bayesian,
    concatenate,
    consonant,
    membership,
    sets_from_membership,
)
from plausible.belief.errors import as_floats, name_rows
from plausible.experts.parsing import (
    ABSTAIN,
    NONE,
    Statements,
    from_groups,
    from_mass_rows,
    parse_cells,
)
from plausible.experts.tables import Codes, check_doubt, check_lengths, factorise, is_gone
from plausible.labels import Labels

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

ANYONE = "anyone"  # the annotator of answers that were only counted


@dataclass(frozen=True, eq=False)
class Annotations:
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
        Plausibility of each class by each different statement; zeros for "none of these".
    doubt : array (A,) or None
        How far the annotator doubts the answer.

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
    contours: FloatArray
    doubt: FloatArray | None = None
    is_bayesian: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))
    given_masses: SparseMasses | None = None

    # How answers come in.

    @classmethod
    def from_long(
        cls,
        items: ArrayLike,
        annotators: ArrayLike,
        labels: Sequence[Any] | NDArray[Any],
        *,
        doubt: ArrayLike | None = None,
        plausibility: ArrayLike | None = None,
        probability: ArrayLike | None = None,
        mass: ArrayLike | None = None,
        classes: Sequence[Hashable] | None = None,
        separator: str = "|",
        abstain: Sequence[Any] = ABSTAIN,
        none: Sequence[Any] = NONE,
    ) -> Self:
        """One row for each answer, or for each class or set that an answer speaks of.

        Parameters
        ----------
        items, annotators : array-like (A,)
        labels : sequence (A,)
            Class, set of classes ("a|b", or a Python set), or nothing (an abstention).
        doubt : array-like (A,), optional
            How far each answer is doubted by the person who gave it, in [0, 1].
        plausibility, probability, mass : array-like (A,), optional
            At most one of these: the number that a row gives to its class (or set, for masses); the
            rows of one annotator about one item are then one answer.
        classes : sequence, optional
            All classes; by default those that occur, sorted.
        separator : str
            Between the classes of a set.
        abstain, none : sequences
            Cells that mean "cannot tell", and "none of these".

        Examples
        --------
        >>> answers = Annotations.from_long(
        ...     [1, 1, 1], ["ann", "ann", "bob"], ["a", "b", "a"], plausibility=[1.0, 0.3, 1.0]
        ... )
        >>> answers.contours
        array([[1. , 0. ],
               [1. , 0.3]])
        """
        n_rows = check_lengths(
            items=items,
            annotators=annotators,
            labels=labels,
            doubt=doubt,
            plausibility=plausibility,
            probability=probability,
            mass=mass,
        )
        item, annotator = factorise(items, "items"), factorise(annotators, "annotators")
        doubts = check_doubt(doubt, n_rows)
        given = {
            name: values
            for name, values in (
                ("plausibility", plausibility),
                ("probability", probability),
                ("mass", mass),
            )
            if values is not None
        }
        if len(given) > 1:
            raise ValueError(
                f"A table of answers should have one kind of numbers, but has {sorted(given)}; "
                "leave out all but one."
            )
        if not given:
            said = parse_cells(labels, classes, separator, abstain, none)
            return cls._made(item, annotator, said, doubts)
        ((kind, values),) = given.items()
        pair = item.codes * max(len(annotator.names), 1) + annotator.codes
        group = factorise(pair, "answers")
        cells = parse_cells(labels, classes, separator, abstain, none)
        numbers = as_floats(values, kind)
        if kind == "mass":
            said = from_mass_rows(cells, group.codes, len(group.names), numbers)
        else:
            said = from_groups(cells, group.codes, len(group.names), numbers, kind)
        first = np.unique(group.codes, return_index=True)[1]
        if doubts is not None:
            uneven = doubts != doubts[first][group.codes]
            if uneven.any():
                raise ValueError(
                    "Rows of one annotator about one item are one answer and should have one "
                    f"doubt, but differ in {name_rows(uneven)}; write the same number."
                )
            doubts = doubts[first]
        return cls._made(
            Codes(item.codes[first], item.names),
            Codes(annotator.codes[first], annotator.names),
            said,
            doubts,
        )

    @classmethod
    def from_answers(
        cls,
        answers: ArrayLike,
        classes: Sequence[Hashable] | None = None,
        items: Sequence[Hashable] | None = None,
        annotators: Sequence[Hashable] | None = None,
        doubt: ArrayLike | None = None,
        missing: Any = None,
        separator: str = "|",
    ) -> Self:
        """A column for each annotator, a row for each item; empty where there is no answer.

        Parameters
        ----------
        answers : array-like (n, R)
            None, NaN and "" are no answer at all (not the abstention "cannot tell").
        classes, items, annotators : sequences, optional
        doubt : array-like (n, R), optional
        missing : optional
            A further value that means no answer, such as -1.

        Examples
        --------
        >>> Annotations.from_answers([[0, 1, -1], [1, 1, 0]], missing=-1)
        <Annotations: 5 answers about 2 items by 3 annotators; classes 0, 1>
        """
        table = np.asarray(answers, dtype=None if hasattr(answers, "dtype") else object)
        if table.ndim != 2:
            raise ValueError(
                f"answers should have a row for each item and a column for each annotator, but "
                f"have shape {table.shape}; use from_long for one answer in a row."
            )
        there = ~is_missing(table)
        if missing is not None:
            there &= table != missing
        rows, columns = np.nonzero(there)
        names = np.arange(len(table)) if items is None else np.asarray(items)
        people = np.arange(table.shape[1]) if annotators is None else np.asarray(annotators)
        check_names(names, len(table), "items")
        check_names(people, table.shape[1], "annotators")
        doubts = None
        if doubt is not None:
            grid = as_floats(doubt, "doubt")
            if grid.shape not in ((), table.shape):
                raise ValueError(
                    f"doubt should be one number or have the shape {table.shape} of the answers, "
                    f"but has shape {grid.shape}."
                )
            grid = np.broadcast_to(grid, table.shape)
            doubts = check_doubt(grid[rows, columns], len(rows))
        said = parse_cells(table[rows, columns], classes, separator, ABSTAIN, NONE)
        return cls._made(Codes(rows, names), Codes(columns, people), said, doubts)

    @classmethod
    def from_classes(
        cls,
        table: ArrayLike,
        kind: str,
        classes: Sequence[Hashable] | None = None,
        items: ArrayLike | None = None,
        annotators: ArrayLike | None = None,
        doubt: ArrayLike | None = None,
    ) -> Self:
        """A column for each class; `kind` says what the numbers mean.

        Parameters
        ----------
        table : array-like (A, K)
        kind : {"plausibility", "probability", "count", "mass"}
            Counts are how many people gave each answer, nobody knows who; masses belong to single
            classes, and what is missing to one is left to all classes.
        classes : sequence, optional
        items, annotators : array-like (A,), optional
            By default every row is an item of its own, and one annotator gave all.
        doubt : array-like (A,), optional

        Examples
        --------
        >>> counted = Annotations.from_classes([[2, 1], [0, 3]], "count", classes=["cat", "dog"])
        >>> counted.votes()
        array([[2., 1.],
               [0., 3.]])
        """
        from plausible.experts.parsing import from_table

        numbers = as_floats(table, "table")
        names = getattr(table, "columns", None) if classes is None else classes
        said, row = from_table(numbers, kind, None if names is None else list(names))
        n_rows = len(numbers)
        item = (
            Codes(np.arange(n_rows), np.arange(n_rows))
            if items is None
            else factorise(items, "items")
        )
        people = ANYONE if annotators is None else None
        annotator = (
            Codes(np.zeros(n_rows, dtype=np.int64), np.array([people]))
            if annotators is None
            else factorise(annotators, "annotators")
        )
        check_lengths(table=numbers, items=item.codes, annotators=annotator.codes)
        doubts = check_doubt(doubt, n_rows)
        return cls._made(
            Codes(item.codes[row], item.names),
            Codes(annotator.codes[row], annotator.names),
            said,
            None if doubts is None else doubts[row],
        )

    @classmethod
    def _made(
        cls, item: Codes, annotator: Codes, said: Statements, doubt: FloatArray | None
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
        )

    # What there is.

    def __len__(self) -> int:
        return len(self.item)

    def __repr__(self) -> str:
        names = ", ".join(map(str, self.classes[:6].tolist())) + (
            ", ..." if len(self.classes) > 6 else ""
        )
        return (
            f"<Annotations: {len(self)} answers about {len(self.items)} items by "
            f"{len(self.annotators)} annotators; classes {names}>"
        )

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @cached_property
    def is_hard(self) -> NDArray[np.bool_]:
        """Which statements (S,) name one class."""
        return ((self.contours > 0).sum(axis=1) == 1) & (self.contours.max(axis=1) == 1)

    def votes(self) -> FloatArray:
        """How many hard answers (n, K) each item has for each class."""
        hard = self.is_hard[self.statement]
        cell = self.item[hard] * self.n_classes + self.contours.argmax(axis=1)[self.statement[hard]]
        counts = np.bincount(cell, minlength=len(self.items) * self.n_classes)
        return counts.reshape(len(self.items), self.n_classes).astype(np.float64)

    def masses(self) -> SparseMasses:
        """Mass functions (S,) of the statements; least committed where only contours are known."""
        if self.given_masses is not None:
            return self.given_masses
        crisp = ((self.contours == 0) | (self.contours == 1)).all(axis=1)
        if crisp.all():
            sets = sets_from_membership(self.contours > 0)
            focal, place = np.unique(sets, return_inverse=True)
            return SparseMasses(np.eye(len(focal))[place], focal, self.n_classes)
        order = np.argsort(self.is_bayesian, kind="stable")
        n_consonant = int((~self.is_bayesian).sum())
        parts = []
        if n_consonant:
            parts.append(consonant(self.contours[order[:n_consonant]]))
        if n_consonant < len(order):
            parts.append(bayesian(self.contours[order[n_consonant:]]))
        together = concatenate(parts)
        back = np.argsort(order, kind="stable")
        return SparseMasses(together.values[back], together.focal_sets, self.n_classes)

    def commonality(self, members: NDArray[np.bool_]) -> FloatArray:
        """Commonality (S,) of a set of classes by each statement."""
        if self.given_masses is not None:
            inside = membership(self.given_masses.focal_sets, self.n_classes)
            return np.asarray(self.given_masses.values @ inside[:, members].all(axis=1))
        least = self.contours[:, members].min(axis=1)
        return np.where(self.is_bayesian & (members.sum() > 1), 0.0, least)

    def select(self, answers: ArrayLike) -> Self:
        """Some of the answers, by a mask or numbers; items and annotators keep their places."""
        rows = np.asarray(answers)
        return replace(
            self,
            item=self.item[rows],
            annotator=self.annotator[rows],
            statement=self.statement[rows],
            doubt=None if self.doubt is None else self.doubt[rows],
        )

    # What is made of it.

    def pool(
        self,
        rule: str = "dempster",
        doubt: str | float | ArrayLike | Mapping[Any, float] | None = None,
        *,
        gold: Any = None,
        on_conflict: str = "raise",
        **options: Any,
    ) -> Labels:
        """Labels of the items, in the order of `items`.

        Parameters
        ----------
        rule : str
            "dempster", or any other rule of `plausible.belief.combine`.
        doubt : float, array (R,), dict of annotators, "fit" or None
            How far annotators are mistrusted, beyond what they doubt themselves (an array of as
            many numbers as annotators is of these, else one for each answer). "fit" learns it
            from their agreement (see `reliability`). None is "fit", or the doubts that come with
            the answers if there are any; those below 0.01 are then raised to that.
        gold : Labels or dict of items, optional
            Classes that are known, for "fit".
        on_conflict : "raise" or "vacuous"
            What to do about items on which sure answers contradict each other.
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
        from plausible.experts.pooling import pool

        return pool(self, rule, doubt, gold, on_conflict, options)

    def reliability(self, model: str = "one_coin", **options: Any) -> Any:
        """How far each annotator can be trusted, learnt from agreement: see `fit_reliability`."""
        from plausible.experts.reliability import fit_reliability

        return fit_reliability(self, model, **options)

    def agreement(self) -> Any:
        """Krippendorff's alpha and Fleiss' kappa of the hard answers."""
        from plausible.experts.agreement import agreement

        return agreement(self.votes())

    def next_items(self, n: int = 10, **options: Any) -> Any:
        """Items to ask about next: see `next_items`."""
        from plausible.experts.questions import next_items

        return next_items(self, n, **options)


def is_missing(table: NDArray[Any]) -> NDArray[np.bool_]:
    """Where a table holds None, NaN or an empty string."""
    if table.dtype.kind == "f":
        return np.isnan(table)
    if table.dtype.kind in "iub":
        return np.zeros(table.shape, dtype=bool)
    if table.dtype.kind in "US":
        return np.asarray(np.char.strip(table.astype(str)) == "")
    flat = [is_gone(cell) for cell in table.ravel().tolist()]
    return np.array(flat, dtype=bool).reshape(table.shape)


def check_names(names: NDArray[Any], n_names: int, what: str) -> None:
    """Refuse names that are not as many as there should be, or not different."""
    if names.shape != (n_names,) or len(set(names.tolist())) != n_names:
        raise ValueError(
            f"{what} should be {n_names} different names, but {names.shape} were given or some are "
            "the same; name each once."
        )
