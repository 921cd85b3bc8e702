"""Ways to make annotations, each of which says what the columns mean."""

from collections.abc import Hashable, Mapping, Sequence
from numbers import Number
from typing import Any, NamedTuple, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plausible.base import warn_of_order
from plausible.belief import class_names
from plausible.checks import as_array, as_floats, shown
from plausible.errors import InputError, Note
from plausible.experts.columns import (
    as_table,
    check_names,
    check_no_items,
    differs,
    doubts_of,
    gather_answers,
    is_missing,
    names_beside,
    one_doubt,
    the_only_one,
)
from plausible.experts.doubt_gaps import DoubtSums
from plausible.experts.doubts import doubts_in_order
from plausible.experts.parsing import (
    ABSTAIN,
    NONE,
    Statements,
    from_table,
    parse_cells,
)
from plausible.experts.repeats import begin_search, settle_repeats
from plausible.experts.statements import StatementFacts
from plausible.experts.tables import (
    Codes,
    check_doubt,
    check_lengths,
    factorize,
    tidy_names,
)
from plausible.labels import in_order_of

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

ANYONE = "anyone"  # the annotator of answers that were only counted


class Given(NamedTuple):
    """Items, authors, statements and doubts of answers."""

    item: Codes
    annotator: Codes
    cells: Statements
    doubts: FloatArray | None

    def gathered(self, numbers: tuple[str, FloatArray]) -> "Given":
        """One answer of all rows of a person about an item, each with a number for a class."""
        item, annotator, cells, doubts = self
        pair = item.codes * max(len(annotator.names), 1) + annotator.codes
        group = factorize(pair, "answers")
        cells, first = gather_answers(cells, group, *numbers)
        doubts = None if doubts is None else one_doubt(doubts, group.codes, first)
        return Given(item.taken(first), annotator.taken(first), cells, doubts)

    def with_known_doubts(self) -> "tuple[Given, list[Note]]":
        """The same with doubts that are not known filled in."""
        doubts, cells = self.doubts, self.cells
        if doubts is None or (doubts < 1).all():
            return self, []
        facts = StatementFacts(cells.contours)
        says = (facts.says_something | facts.is_empty)[cells.codes]
        who = self.annotator.codes, self.annotator.names.tolist()
        gaps, told = DoubtSums().add(doubts, *who, says).learned()
        filled = None if gaps is None else gaps.filled(doubts, *who)
        return self._replace(doubts=filled), told

    def taken(self, kept: IntArray) -> "Given":
        """Some of the answers."""
        cells = self.cells._replace(codes=self.cells.codes[kept])
        doubts = None if self.doubts is None else self.doubts[kept]
        return Given(self.item.taken(kept), self.annotator.taken(kept), cells, doubts)


def _who_and_what(
    items: ArrayLike, annotators: ArrayLike | None, n_rows: int
) -> tuple[Codes, Codes, list[Note]]:
    """Items and people by their names, with what was assumed about these."""
    item, notes = tidy_names(factorize(items, "items"), "items")
    if annotators is None:
        return item, Codes(np.zeros(n_rows, dtype=np.int64), np.array([ANYONE])), notes
    annotator, told = tidy_names(factorize(annotators, "annotators"), "annotators")
    return item, annotator, [*notes, *told]


class Constructors:
    """Constructors of `Annotations`."""

    @classmethod
    def _made(
        cls,
        item: Codes,
        annotator: Codes,
        said: Statements,
        doubt: FloatArray | None,
        notes: Sequence[str] = (),
    ) -> Self:
        """Annotations of answers (A,) with these items, authors, statements and doubts."""
        raise NotImplementedError

    @classmethod
    def from_long(
        cls,
        items: ArrayLike,
        annotators: ArrayLike | None,
        labels: Sequence[Any] | NDArray[Any],
        *,
        doubt: ArrayLike | None = None,
        confidence: ArrayLike | None = None,
        plausibility: ArrayLike | None = None,
        probability: ArrayLike | None = None,
        mass: ArrayLike | None = None,
        classes: Sequence[Hashable] | None = None,
        separator: str = "|",
        abstain: Sequence[Any] = ABSTAIN,
        none: Sequence[Any] = NONE,
        map: Mapping[Any, Any] | None = None,  # noqa: A002
        words: Mapping[Any, float] | None = None,
        repeats: str = "all",
    ) -> Self:
        """One row for each answer, or for each class or set that an answer speaks of.

        Parameters
        ----------
        items, annotators : array-like (A,)
            Without annotators (None), nobody knows who gave which answer.
        labels : sequence (A,)
            Class, set of classes ("a|b", or a Python set), or nothing (an abstention). Spellings
            that differ by case or blanks are one class, and words of not knowing ("not sure",
            "n/a") are abstentions; `notes` tells.
        doubt : array-like (A,), optional
            How far each answer is doubted by the person who gave it, in [0, 1]. Where it is
            missing, it is that of the same person's other answers on average.
        confidence : array-like (A,), optional
            Instead of doubt: how sure each person is, as numbers in [0, 1], in percent, or in
            words or ratings whose doubts are given in `words`.
        plausibility, probability, mass : array-like (A,), optional
            At most one of these: the number that a row gives to its class (or set, for masses); the
            rows of one annotator about one item are then one answer.
        classes : sequence, optional
            All classes; by default those that occur, sorted.
        separator : str
            Between the classes of a set.
        abstain, none : sequences
            Cells that mean "cannot tell", and "none of these", beside words that always do.
        map : dict, optional
            What cells mean: ``{"not sure": "cannot tell", "A & B": "A|B", "bleus": "blues"}``. A
            cell that is mapped onto itself is a class, whatever it looks like.
        words : dict, optional
            Doubt of each word or rating of `confidence` (or `doubt`): ``{"high": 0.05, "low":
            0.5}``.
        repeats : {"all", "once", "first", "last"}
            What counts if a person answers several times about an item: all, equal answers once,
            or the first or last one alone.

        Examples
        --------
        >>> from plausible.experts import Annotations
        >>> answers = Annotations.from_long(
        ...     ["x", "x", "y"], ["ann", "bob", "ann"], ["cat", "Not sure", "cat / dog"],
        ...     classes=["cat", "dog"], confidence=["80%", "50%", None],
        ... )
        >>> answers.doubt.round(2)
        array([0.2, 0.5, 0.2])
        >>> print(answers.notes[0])
        'confidence' was read as percent: doubt = 1 - confidence
        >>> answers = Annotations.from_long(
        ...     [1, 1, 1], ["ann", "ann", "bob"], ["a", "b", "a"], plausibility=[1.0, 0.3, 1.0]
        ... )
        >>> answers.contours
        array([[1. , 0.3],
               [1. , 0. ]])
        """
        n_rows = check_lengths(
            items=items,
            annotators=annotators,
            labels=labels,
            doubt=doubt,
            confidence=confidence,
            plausibility=plausibility,
            probability=probability,
            mass=mass,
        )
        for called, other in {
            "annotators": annotators, "labels": labels, "doubt": doubt, "confidence": confidence,
            "plausibility": plausibility, "probability": probability, "mass": mass,
        }.items():  # fmt: skip
            warn_of_order(items, other, ("items", called))
        item, annotator, notes = _who_and_what(items, annotators, n_rows)
        numbers = the_only_one(plausibility=plausibility, probability=probability, mass=mass)
        # Only where each row is an answer may somebody have answered again.
        is_each = numbers is None and annotators is not None
        search = begin_search(item, annotator) if is_each else None
        doubts, told = doubts_of(doubt, confidence, words, n_rows)
        cells = parse_cells(labels, classes, separator, abstain, none, map)
        given = Given(item, annotator, cells, doubts)
        if numbers is not None:
            given = given.gathered(numbers)
        given, filled = given.with_known_doubts()
        again: list[Note] = []
        if search is not None:
            repeated = settle_repeats(search.found(), given.cells.codes, given.doubts, repeats)
            again, kept = repeated.notes, repeated.kept
            given = given if kept is None else given.taken(kept)
        every: list[str] = [*notes, *told, *filled, *again, *given.cells.notes]
        return cls._made(given.item, given.annotator, given.cells, given.doubts, every)

    @classmethod
    def from_words(
        cls,
        items: ArrayLike,
        annotators: ArrayLike | None,
        labels: Sequence[Any] | NDArray[Any],
        certainty: Sequence[Any] | NDArray[Any],
        *,
        order: Sequence[Any],
        gold: Any = None,
        **options: Any,
    ) -> Self:
        """Answers with words of certainty, of which only the order is known.

        Parameters
        ----------
        items, annotators, labels
            As in `from_long`.
        certainty : sequence (A,)
            A word, or a rating, for each answer.
        order : sequence
            The words, the surest first.
        gold : dict of items, or Labels of all items, optional
            Classes that are known: they show what the words are worth, see `calibrate_words`.
            Without them, words stand for doubts from 0.2 (the surest) over 0.4 to 0.7, which
            three words were worth on real answers.
        **options : of `from_long`

        Examples
        --------
        >>> from plausible.experts import Annotations
        >>> answers = Annotations.from_words(
        ...     ["x", "x", "y"], ["ann", "bob", "ann"], ["cat", "dog", "dog"],
        ...     ["sure", "guess", "rather"], order=["sure", "rather", "guess"],
        ... )
        >>> answers.doubt.round(2)
        array([0.2, 0.7, 0.4])
        """
        words = doubts_in_order(order)
        made = cast(Any, cls).from_long(
            items, annotators, labels, confidence=certainty, words=words, **options
        )
        if gold is None:
            return cast(Self, made)
        from plausible.experts.calibration import calibrate_words

        return cast(Self, calibrate_words(made, gold).apply(made))

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
        map: Mapping[Any, Any] | None = None,  # noqa: A002
    ) -> Self:
        """A column for each annotator, a row for each item; empty where there is no answer.

        Parameters
        ----------
        answers : array-like (n, R)
            None, NaN and "" are no answer at all (not the abstention "cannot tell").
        classes : sequence, optional
        items, annotators : sequences, optional
            By default the index and the columns of a data frame, or else numbers.
        doubt : array-like (n, R), optional
        missing : optional
            A further value that means no answer, such as -1.
        separator, map
            As in `from_long`.

        Examples
        --------
        >>> from plausible.experts import Annotations
        >>> Annotations.from_answers([[0, 1, -1], [1, 1, 0]], missing=-1)
        <Annotations: 5 answers about 2 items by 3 annotators; classes 0, 1>
        """
        check_no_items(answers, "annotator")
        table = as_table(answers)
        if table.ndim != 2:
            raise InputError(
                "answers should have a row for each item and a column for each annotator",
                f"have shape {table.shape}",
                "use from_long for one answer in a row",
                parameter="answers",
                value=table.shape,
            )
        there = ~is_missing(table)
        if missing is not None:
            if not isinstance(missing, str | Number):
                raise InputError(
                    "missing should be a value that means no answer",
                    f"{shown(missing)} was given",
                    "give a name or a number, such as -1",
                    parameter="missing",
                    value=missing,
                )
            there &= differs(table, missing)
        rows, columns = np.nonzero(there)
        names, people = (
            as_array(names_beside(answers, axis, size) if given is None else given, called)
            for axis, size, given, called in (
                ("index", len(table), items, "items"),
                ("columns", table.shape[1], annotators, "annotators"),
            )
        )
        check_names(names, len(table), "items")
        check_names(people, table.shape[1], "annotators")
        doubts = None
        if doubt is not None:
            grid = as_floats(doubt, "doubt")
            if grid.shape not in ((), table.shape):
                raise InputError(
                    f"doubt should be one number or have the shape {table.shape} of the answers",
                    f"has shape {grid.shape}",
                    parameter="doubt",
                    value=grid.shape,
                )
            grid = np.broadcast_to(grid, table.shape)
            doubts = check_doubt(grid[rows, columns], len(rows))
        said = parse_cells(table[rows, columns], classes, separator, ABSTAIN, NONE, map)
        return cls._made(Codes(rows, names), Codes(columns, people), said, doubts, said.notes)

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
        kind : {"plausibility", "probability", "count", "mass", "set"}
            Counts are how many people gave each answer, nobody knows who; masses belong to single
            classes, and what is missing to one is left to all classes; sets have 1 for each
            possible class and 0 for the others, all 0 for "none of these".
        classes : sequence, optional
        items, annotators : array-like (A,), optional
            By default every row is an item of its own, and one annotator gave all.
        doubt : array-like (A,), optional

        Examples
        --------
        >>> from plausible.experts import Annotations
        >>> counted = Annotations.from_classes([[2, 1], [0, 3]], "count", classes=["cat", "dog"])
        >>> counted.votes()
        array([[2., 1.],
               [0., 3.]])
        """
        check_no_items(table, "class")
        numbers = as_floats(in_order_of(table, classes), "table")
        names = getattr(table, "columns", None) if classes is None else classes
        said, row = from_table(numbers, kind, None if names is None else class_names(names))
        n_rows = len(numbers)
        if items is None:
            beside = np.array(names_beside(table, "index", n_rows))
            item = Codes(np.arange(n_rows), beside)
        else:
            item = factorize(items, "items")
        annotator = (
            Codes(np.zeros(n_rows, dtype=np.int64), np.array([ANYONE]))
            if annotators is None
            else factorize(annotators, "annotators")
        )
        check_lengths(table=numbers, items=item.codes, annotators=annotator.codes)
        doubts = check_doubt(doubt, n_rows)
        return cls._made(
            Codes(item.codes[row], item.names),
            Codes(annotator.codes[row], annotator.names),
            said,
            None if doubts is None else doubts[row],
        )
