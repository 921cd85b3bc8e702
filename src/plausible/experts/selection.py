"""Annotations as a column of items: some of them, and several together."""

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.sparse import csr_array

from plausible.belief import SparseMasses, check_n_classes, membership, sets_from_membership
from plausible.checks import as_array, as_list, check_kind, row_numbers, shown
from plausible.errors import InputError
from plausible.experts.slips import check_spelled_alike
from plausible.experts.statements import as_rows, expand
from plausible.experts.tables import canonical
from plausible.experts.words import CANNOT_TELL, NONE_OF_THESE

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class Selection:
    """Indexing and joining of `Annotations`."""

    items: NDArray[Any]
    annotators: NDArray[Any]
    classes: NDArray[Any]
    item: IntArray
    annotator: IntArray
    statement: IntArray
    doubt: FloatArray | None
    is_bayesian: NDArray[np.bool_]
    given_masses: SparseMasses | None
    notes: tuple[str, ...]
    _power: ClassVar[FloatArray | None]

    def _with(self, **changes: Any) -> Self:
        raise NotImplementedError

    @property
    def shape(self) -> tuple[int]:
        """(n,): to numpy and scikit-learn, annotations are a column of items."""
        return (len(self.items),)

    @property
    def ndim(self) -> int:
        """One: a column of items."""
        return 1

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """The class (n,) that answers favor; -1, or "", where they favor none."""
        if copy is False:
            raise InputError(
                "Annotations should be copied to be seen as an array",
                "copy=False was given",
                "leave it out",
                parameter="copy",
            )
        found = favored(self)
        return found if dtype is None else found.astype(dtype)

    def __iter__(self) -> Any:
        return (self[[place]] for place in range(len(self.items)))

    def __getitem__(self, items: Any) -> Self:
        """Some of the items, by position, slice, mask or text, with all that was said about them.

        Annotators and classes keep their places. An item that is asked for twice is there twice, as
        in a bootstrap.
        """
        if isinstance(items, tuple) and len(items) == 2 and items[1] is Ellipsis:
            items = items[0]  # scikit-learn writes y[rows, ...]
        if isinstance(items, slice):
            return self._about(np.arange(len(self.items))[items])
        wanted = np.atleast_1d(as_array(items, "items"))
        is_text = wanted.dtype.kind in "US" or (
            wanted.dtype == object and all(isinstance(name, str) for name in wanted.tolist())
        )
        if is_text and wanted.size:
            return self.about(wanted.tolist())
        rows = row_numbers(wanted, len(self.items), "items")
        return self._about(np.arange(len(self.items))[rows])

    def about(self, items: Iterable[Any]) -> Self:
        """What was said about some items, by their names and in this order.

        Parameters
        ----------
        items : list of names
            The number 7 and the text "7" are the same name.

        Examples
        --------
        >>> from plausible.experts import Annotations
        >>> answers = Annotations.from_long([7, 7, 8], ["ann", "bob", "ann"], ["a", "b", "b"])
        >>> answers.about([8])
        <Annotations: 1 answer about 1 item by 2 annotators; classes a, b>
        """
        wanted = [canonical(name) for name in as_list(items, "items", "names of items")]
        place = {canonical(name): k for k, name in enumerate(self.items.tolist())}
        lost = [name for name in wanted if name not in place]
        if lost:
            raise KeyError(
                f"items should be items of the answers, but {shown(lost[0])} is not; choose among "
                f"{shown(self.items.tolist())}."
            )
        return self._about(np.array([place[name] for name in wanted], dtype=np.int64))

    def _about(self, rows: IntArray) -> Self:
        order = np.argsort(self.item, kind="stable")
        ends = np.cumsum(np.bincount(self.item, minlength=len(self.items)))
        row, at = expand(rows, np.concatenate([[0], ends]))
        chosen = order[at]
        return self._with(
            items=self.items[rows],
            item=row,
            annotator=self.annotator[chosen],
            statement=self.statement[chosen],
            doubt=None if self.doubt is None else self.doubt[chosen],
            **({} if self._power is None else {"_power": self._power[chosen]}),
        )

    def append(self, *parts: Self) -> Self:
        """These answers and those of other parts; see `concatenate`.

        Examples
        --------
        >>> from plausible.experts import Annotations
        >>> first = Annotations.from_long(["x", "y"], ["ann", "ann"], ["cat", "dog"])
        >>> first.append(Annotations.from_long(["y"], ["bob"], ["dog"]))
        <Annotations: 3 answers about 2 items by 2 annotators; classes cat, dog>
        """
        return type(self).concatenate([self, *parts])

    def to_table(self) -> dict[str, list[Any]]:
        """Columns with a row for each answer: item, annotator, label, and doubt if there is any.

        Labels are a class, "a|b" for one of these, "cannot tell" or "none of these". Answers that
        are degrees have the column `plausibility` as well, and a row for each class that is
        possible, so that `from_long` takes both back. `plausible.io.write_annotations` writes
        files, of masses, too.

        Examples
        --------
        >>> from plausible.experts import Annotations
        >>> answers = Annotations.from_long(["x", "x"], ["ann", "bob"], ["cat", "cat|dog"])
        >>> answers.to_table()["label"]
        ['cat', 'cannot tell']
        """
        facts = cast(Any, self).facts
        rows, item, annotator = facts.rows, self.items[self.item], self.annotators[self.annotator]
        if (rows.data == 1).all():
            table = {"item": item, "annotator": annotator}
            table["label"] = np.array(_cells(self.classes, facts), dtype=object)[self.statement]
            if self.doubt is not None:
                table["doubt"] = self.doubt
            return {name: column.tolist() for name, column in table.items()}
        answer, place = expand(self.statement, rows.indptr)
        table = {"item": item[answer], "annotator": annotator[answer]}
        table |= {"label": self.classes[rows.indices[place]], "plausibility": rows.data[place]}
        if self.doubt is not None:
            table["doubt"] = self.doubt[answer]
        return {name: column.tolist() for name, column in table.items()}

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        """Answers of several parts together: what has the same name is the same.

        Parameters
        ----------
        parts : list of Annotations
            A class that a part does not know is one that its answers rule out, unless they say
            "cannot tell". Either all parts have doubts, or none.

        Examples
        --------
        >>> from plausible.experts import Annotations
        >>> first = Annotations.from_long(["x", "y"], ["ann", "ann"], ["cat", "dog"])
        >>> second = Annotations.from_long(["y", "z"], ["bob", "bob"], ["dog", "eel"])
        >>> Annotations.concatenate([first, second])
        <Annotations: 4 answers about 3 items by 2 annotators; classes cat, dog, eel>
        """
        given = as_list(parts, "parts", "Annotations")
        for part in given:
            check_kind(part, cls, "Each part", "make it with Annotations.from_long")
        if not given:
            raise InputError(
                "parts should hold at least one part",
                "there is none",
                "give one",
                parameter="parts",
            )
        if len({part.doubt is None for part in given}) > 1:
            raise InputError(
                "Either all parts should have doubts of their answers or none",
                "some have and some have not",
                ("leave them out with without_doubt()", "give them to all"),
                parameter="parts",
            )
        check_spelled_alike([part.classes for part in given])
        items, item = _united(given, "items", "item")
        people, annotator = _united(given, "annotators", "annotator")
        classes, place = joined([part.classes for part in given], in_order=True)
        sizes = [part.is_bayesian.shape[0] for part in given]
        start = np.cumsum([0, *sizes[:-1]])
        rows = [
            widened(part, columns, len(classes)) for part, columns in zip(given, place, strict=True)
        ]
        doubts = [part.doubt for part in given]
        notes = dict.fromkeys(note for part in given for note in part.notes)
        make = cast(Any, cls)
        return cast(
            Self,
            make(
                items,
                people,
                classes,
                item,
                annotator,
                np.concatenate([p.statement + s for p, s in zip(given, start, strict=True)]),
                stacked(rows, len(classes)),
                None if doubts[0] is None else np.concatenate(doubts),
                np.concatenate([part.is_bayesian for part in given]),
                joined_masses(given, place, len(classes)),
                tuple(notes),
            ),
        )


def _cells(classes: NDArray[Any], facts: Any) -> list[Any]:
    """Statements (S,) that are sets, as cells of a table."""
    names, rows = classes.tolist(), facts.rows
    cells: list[Any] = []
    for k in range(rows.shape[0]):
        members = rows.indices[rows.indptr[k] : rows.indptr[k + 1]].tolist()
        if facts.is_unknown[k] and len(names) > 1:
            cells.append(CANNOT_TELL)
        elif not members:
            cells.append(NONE_OF_THESE)
        elif len(members) == 1:
            cells.append(names[members[0]])
        else:
            cells.append("|".join(canonical(names[member]) for member in members))
    return cells


def favored(answers: Any) -> NDArray[Any]:
    """The class (n,) that most answers favor, each for its share in the classes it leaves."""
    rows: csr_array = answers.facts.rows
    unit = np.maximum(answers.facts.size, 1e-300)
    weight = 1.0 if answers.doubt is None else 1 - answers.doubt
    says = answers.facts.says_something[answers.statement] * weight
    n_items = len(answers.items)
    where = csr_array(
        (says / unit[answers.statement], (answers.item, answers.statement)),
        shape=(n_items, rows.shape[0]),
    )
    share = (where @ rows).toarray()
    names = answers.classes
    kind = names.dtype.kind
    missing: Any = "" if kind in "USO" else -1
    found = names[share.argmax(axis=1)] if n_items else names[:0]
    if kind in "iub" or kind == "f":
        found = found.astype(np.float64 if kind == "f" else np.int64)
    return np.where(share.any(axis=1), found, missing)


def joined(
    lists: list[NDArray[Any]], in_order: bool = False
) -> tuple[NDArray[Any], list[IntArray]]:
    """Different names of several lists, and the place of each list's names among them."""
    texts = len({array.dtype.kind in "USO" for array in lists}) > 1
    names = [[canonical(n) for n in a.tolist()] if texts else a.tolist() for a in lists]
    places: dict[Any, int] = {}
    for part in names:
        for name in part:
            places.setdefault(name, len(places))
    if in_order and any(part != names[0] for part in names):
        found = sorted(places) if len({type(n) for n in places}) == 1 else sorted(places, key=str)
        places = {name: k for k, name in enumerate(found)}
    return np.array(list(places)), [
        np.array([places[n] for n in part], dtype=np.int64) for part in names
    ]


def _united(parts: list[Any], names: str, codes: str) -> tuple[NDArray[Any], IntArray]:
    """Names of all parts, and the places of their answers among them."""
    together, place = joined([getattr(part, names) for part in parts])
    found = [p[getattr(part, codes)] for part, p in zip(parts, place, strict=True)]
    return together, np.concatenate(found).astype(np.int64)


def widened(part: Any, columns: IntArray, n_classes: int) -> csr_array:
    """Contours on more classes: those that say nothing go on to say nothing."""
    rows: csr_array = part.facts.rows
    wide = csr_array(
        (rows.data, columns[rows.indices], rows.indptr), shape=(rows.shape[0], n_classes)
    )
    if n_classes == rows.shape[1]:
        return wide
    silent = part.facts.is_unknown
    if not silent.any() or rows.shape[1] == 1:  # the only class was named, as far as one can tell
        return wide
    filled = wide.tolil()
    filled[np.flatnonzero(silent), :] = 1.0
    return csr_array(filled)


def stacked(rows: list[csr_array], n_classes: int) -> csr_array:
    """Sparse rows one below the other."""
    ends = np.concatenate([[0], *(r.indptr[1:] + s for r, s in zip(
        rows, np.cumsum([0, *(r.nnz for r in rows[:-1])]), strict=True))])  # fmt: skip
    data = np.concatenate([r.data for r in rows])
    indices = np.concatenate([r.indices for r in rows])
    return csr_array((data, indices, ends), shape=(sum(r.shape[0] for r in rows), n_classes))


def joined_masses(parts: list[Any], place: list[IntArray], n_classes: int) -> SparseMasses | None:
    """Mass functions of all statements on all classes, if some part was given any."""
    if all(part.given_masses is None for part in parts):
        return None
    check_n_classes(n_classes)
    full = (1 << n_classes) - 1
    blocks, focal = [], []
    for part, columns in zip(parts, place, strict=True):
        masses = part.masses()
        inside = membership(masses.focal_sets, part.n_classes)
        wide = np.zeros((len(inside), n_classes), dtype=bool)
        wide[:, columns] = inside
        sets = sets_from_membership(wide)
        says_all = inside.all(axis=1) & (part.n_classes > 1)
        focal.append(np.where(says_all, full, sets))
        blocks.append(masses.values)
    together, which = np.unique(np.concatenate(focal), return_inverse=True)
    values = np.zeros((sum(map(len, blocks)), len(together)))
    row = column = 0
    for block in blocks:
        places = which[column : column + block.shape[1]]
        values[row : row + len(block), places] = block
        row, column = row + len(block), column + block.shape[1]
    return SparseMasses(values, together, n_classes)


def on_classes(answers: Any, classes: NDArray[Any]) -> Any:
    """The same answers on more classes, or in another order of them."""
    place = {name: k for k, name in enumerate(classes.tolist())}
    columns = np.array([place[name] for name in answers.classes.tolist()], dtype=np.int64)
    if np.array_equal(columns, np.arange(len(classes))):
        return answers
    rows = as_rows(widened(answers, columns, len(classes)))
    other = answers._with(
        classes=classes, rows=rows, given_masses=joined_masses([answers], [columns], len(classes))
    )
    other.__dict__.pop("facts", None)
    return other


def joined_parts(parts: Iterable[Any]) -> Any:
    """Answers of several parts that have the same names, one after the other."""
    parts = list(parts)
    one = parts[0]
    if len(parts) == 1:
        return one
    sizes = [part.facts.rows.shape[0] for part in parts]
    start = np.cumsum([0, *sizes[:-1]])
    has_doubt = any(part.doubt is not None for part in parts)
    columns = [np.arange(len(one.classes))] * len(parts)
    other = one._with(
        item=np.concatenate([part.item for part in parts]),
        annotator=np.concatenate([part.annotator for part in parts]),
        statement=np.concatenate([p.statement + s for p, s in zip(parts, start, strict=True)]),
        rows=stacked([part.facts.rows for part in parts], len(one.classes)),
        doubt=np.concatenate([_doubts(part) for part in parts]) if has_doubt else None,
        is_bayesian=np.concatenate([part.is_bayesian for part in parts]),
        given_masses=joined_masses(parts, columns, len(one.classes)),
        notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
    )
    other.__dict__.pop("facts", None)
    return other


def _doubts(part: Any) -> FloatArray:
    return np.zeros(len(part)) if part.doubt is None else part.doubt
