"""Ways to make annotations, each of which says what the columns mean."""

from collections.abc import Hashable, Mapping, Sequence
from numbers import Number
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plausible.belief import can_be_looked_up, class_names
from plausible.checks import as_array, as_floats, name_rows, shown
from plausible.errors import InputError, Note
from plausible.experts.doubts import fill_unknown, read_doubts
from plausible.experts.parsing import (
    ABSTAIN,
    NONE,
    Statements,
    from_groups,
    from_mass_rows,
    from_table,
    parse_cells,
)
from plausible.experts.repeats import settle_repeats
from plausible.experts.statements import StatementFacts
from plausible.experts.tables import (
    Codes,
    check_doubt,
    check_lengths,
    factorize,
    factorize_cells,
    is_gone,
    tidy_names,
)

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

ANYONE = "anyone"  # the annotator of answers that were only counted


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
        item, notes = tidy_names(factorize(items, "items"), "items")
        annotator = Codes(np.zeros(n_rows, dtype=np.int64), np.array([ANYONE]))
        if annotators is not None:
            annotator, told = tidy_names(factorize(annotators, "annotators"), "annotators")
            notes += told
        doubts, told = _doubts_of(doubt, confidence, words, n_rows)
        notes += told
        numbers = _the_only_one(plausibility=plausibility, probability=probability, mass=mass)
        cells = parse_cells(labels, classes, separator, abstain, none, map)
        if numbers is not None:
            pair = item.codes * max(len(annotator.names), 1) + annotator.codes
            group = factorize(pair, "answers")
            cells, first = _gather_answers(cells, group, *numbers)
            item, annotator = item.taken(first), annotator.taken(first)
            doubts = None if doubts is None else _one_doubt(doubts, group.codes, first)
        if doubts is not None:
            facts = StatementFacts(cells.contours)
            says = (facts.says_something | facts.is_empty)[cells.codes]
            doubts, told = fill_unknown(doubts, annotator.codes, says)
            notes += told
        if annotators is not None and numbers is None:
            repeated = settle_repeats(item.codes, annotator.codes, cells.codes, doubts, repeats)
            notes += repeated.notes
            if repeated.kept is not None:
                kept = repeated.kept
                item, annotator = item.taken(kept), annotator.taken(kept)
                cells = cells._replace(codes=cells.codes[kept])
                doubts = None if doubts is None else doubts[kept]
        return cls._made(item, annotator, cells, doubts, [*notes, *cells.notes])

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
        classes, items, annotators : sequences, optional
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
        names = np.arange(len(table)) if items is None else as_array(items, "items")
        people = (
            np.arange(table.shape[1]) if annotators is None else as_array(annotators, "annotators")
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
        numbers = as_floats(table, "table")
        names = getattr(table, "columns", None) if classes is None else classes
        said, row = from_table(numbers, kind, None if names is None else class_names(names))
        n_rows = len(numbers)
        item = (
            Codes(np.arange(n_rows), np.arange(n_rows))
            if items is None
            else factorize(items, "items")
        )
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


def _doubts_of(
    doubt: Any, confidence: Any, words: Mapping[Any, float] | None, n_rows: int
) -> tuple[FloatArray | None, list[Note]]:
    """Doubts (A,) from a column of doubts or of confidences, NaN where they are not known."""
    if doubt is not None and confidence is not None:
        raise InputError(
            "Answers should come with doubts or with confidences",
            "both were given",
            "leave one of them out",
            parameter="confidence",
        )
    if doubt is None and confidence is None:
        return None, []
    if (
        confidence is None
        and words is None
        and np.asarray(getattr(doubt, "codes", doubt)).ndim == 0
    ):
        return check_doubt(doubt, n_rows), []
    meaning = "doubt" if confidence is None else "confidence"
    column = factorize_cells(doubt if confidence is None else confidence, meaning)
    if len(column.codes) != n_rows:
        return check_doubt(doubt if confidence is None else confidence, n_rows), []
    found = read_doubts(column, meaning, words)
    return found.values, list(found.notes)


def as_table(answers: Any) -> NDArray[Any]:
    """A table of answers; lists keep the types of their cells."""
    if hasattr(answers, "dtype") or hasattr(answers, "columns"):
        return as_array(answers, "answers")
    try:
        return np.asarray(answers, dtype=object)
    except Exception:  # ragged rows, and whatever the caller's own class raises
        raise InputError(
            "answers should have a row for each item and a column for each annotator",
            f"{shown(answers)} does not",
            "fill in None where there is no answer",
            parameter="answers",
            value=answers,
        ) from None


def differs(table: NDArray[Any], missing: Any) -> NDArray[np.bool_]:
    """Where a table does not hold the value that means no answer; sets and lists never are it."""
    if table.dtype != object:
        return np.broadcast_to(np.asarray(table != missing, dtype=bool), table.shape)
    cells = table.ravel().tolist()
    flat = [not isinstance(cell, str | Number) or bool(cell != missing) for cell in cells]
    return np.array(flat, dtype=bool).reshape(table.shape)


def _the_only_one(**columns: ArrayLike | None) -> tuple[str, FloatArray] | None:
    """Name and numbers of the one column that is given, if one is."""
    given = {name: values for name, values in columns.items() if values is not None}
    if len(given) > 1:
        raise InputError(
            "A table of answers should have one kind of numbers",
            f"has {sorted(given)}",
            "leave out all but one",
        )
    for name, values in given.items():
        numbers = as_floats(values, name)
        if numbers.ndim != 1:
            raise InputError(
                f"{name} should be one number for each row",
                f"has shape {numbers.shape}",
                "give a list of numbers",
                parameter=name,
                value=numbers.shape,
            )
        return name, numbers
    return None


def _gather_answers(
    cells: Statements, group: Codes, kind: str, numbers: FloatArray
) -> tuple[Statements, IntArray]:
    """Statements of groups of rows, which are one answer each, and the first row of each."""
    if kind == "mass":
        said = from_mass_rows(cells, group.codes, len(group.names), numbers)
    else:
        said = from_groups(cells, group.codes, len(group.names), numbers, kind)
    return said, np.unique(group.codes, return_index=True)[1]


def _one_doubt(doubts: FloatArray, group: IntArray, first: IntArray) -> FloatArray:
    """Doubts of groups of rows, whose rows must agree."""
    uneven = doubts != doubts[first][group]
    if uneven.any():
        raise InputError(
            "Rows of one annotator about one item are one answer and should have one doubt",
            f"differ in {name_rows(uneven)}",
            "write the same number",
            rows=uneven,
        )
    return doubts[first]


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
    known = names.tolist() if names.shape == (n_names,) else []
    if not all(map(can_be_looked_up, known)) or len(set(known)) != n_names:
        raise InputError(
            f"{what} should be {n_names} different names",
            f"{names.shape} were given or some are the same",
            "name each once",
            value=names.shape,
        )
