r"""Answers in parts, each of which holds all that was said about its items.

The class of an item depends on its own answers and on people, so that the E step goes part by part,
and what is learned of people are sums over parts: the reliability of answers that do not fit into
memory, or lie on a cluster, is that of all of them together.
"""

import pickle
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.checks import check_callable, check_text
from plausible.engine import total
from plausible.errors import InputError
from plausible.experts.annotations import Annotations
from plausible.experts.dask_frames import read_frame
from plausible.experts.doubt_gaps import ALL_NOTHING
from plausible.experts.selection import joined, joined_masses, widened
from plausible.experts.slips import check_spelled_alike
from plausible.labels import Labels

MANY_ANSWERS = 5_000_000  # beyond which what is made of parts is kept on disk between passes


class PooledItems(NamedTuple):
    """Items of one part, and their labels.

    Examples
    --------
    >>> from plausible.experts import AnnotationParts, Annotations
    >>> part = Annotations.from_long(["x", "x"], ["ann", "bob"], ["cat", "dog"])
    >>> pooled = next(AnnotationParts([part]).pool(doubt=0.3))
    >>> pooled.items.tolist(), pooled.labels.scaled().round(2).tolist()
    (['x'], [[1.0, 1.0]])
    """

    items: NDArray[Any]
    labels: Labels


class Names(NamedTuple):
    """Names in a part."""

    annotators: NDArray[Any]
    classes: NDArray[Any]
    n_items: int
    n_answers: int
    has_doubt: bool
    notes: Sequence[str]


class AnnotationParts:
    """Answers that are read part by part, again at each pass; an item is in one part only.

    Parameters
    ----------
    source : iterable of Annotations, or function without arguments that returns one
        A list, or what reads the parts one after another.

    Attributes
    ----------
    annotators, classes : arrays of names
        Of all parts.
    n_items, n_answers : int
    notes : list of str
        What was assumed about the answers.

    Examples
    --------
    >>> from plausible.experts import AnnotationParts, Annotations
    >>> first = Annotations.from_long(["x", "x", "y"], ["ann", "bob", "ann"], ["cat", "cat", "dog"])
    >>> second = Annotations.from_long(["z", "z"], ["bob", "eve"], ["eel", "cat"])
    >>> parts = AnnotationParts([first, second])
    >>> parts
    <AnnotationParts: 5 answers about 3 items by 3 annotators; classes cat, dog, eel>
    >>> parts.reliability().doubt.shape
    (3,)
    """

    def __init__(self, source: Iterable[Annotations] | Callable[[], Iterable[Annotations]]) -> None:
        if isinstance(source, (Iterator, Annotations)):
            raise InputError(
                "Parts should be read again at each pass",
                f"a {type(source).__name__} was given",
                "give a list of Annotations, or a function that yields them",
            )
        if not isinstance(source, Iterable) or isinstance(source, np.ndarray | str | bytes):
            check_callable(source, "source", "nothing, which yields Annotations")
        self._set(LocalParts(source))

    @classmethod
    def from_dask(
        cls, frame: Any, item: str = "item", annotator: str = "annotator", label: str = "label",
        doubt: str | None = None,
    ) -> "AnnotationParts":  # fmt: skip
        """Answers of a Dask data frame, a row for each, brought together by item where they lie.

        Parameters
        ----------
        frame : Dask data frame
        item, annotator, label, doubt : names of columns

        Examples
        --------
        >>> import pandas, dask.dataframe
        >>> said = {"item": ["x", "y", "x"], "annotator": ["a", "a", "b"], "label": ["b", "a", "b"]}
        >>> table = pandas.DataFrame(said)
        >>> AnnotationParts.from_dask(dask.dataframe.from_pandas(table, npartitions=2))
        <AnnotationParts: 3 answers about 2 items by 2 annotators; classes a, b>
        """
        columns = [check_text(name, "column") for name in (item, annotator, label)]
        columns += [] if doubt is None else [check_text(doubt, "doubt")]
        missing = [name for name in columns if name not in frame.columns]
        if missing:
            raise InputError(
                f"The data frame should have the columns {columns}",
                f"{missing[0]!r} is not among {list(frame.columns)}",
                "name them with item=, annotator=, label= and doubt=",
            )
        delayed, notes = read_frame(frame, columns)
        parts = object.__new__(cls)
        parts._set(DaskParts(delayed))
        # Of one part alone: how its cells were changed, and doubts that say nothing.
        about = [note for note in parts.notes if not note.startswith(("map: ", ALL_NOTHING))]
        parts.notes = [*notes, *about]
        return parts

    def _set(self, parts: "LocalParts | DaskParts") -> None:
        names = [found for found in parts.each(_names) if found.n_answers or found.n_items]
        if not sum(found.n_answers for found in names):
            raise InputError("Parts should hold answers", "there are none", "give some")
        if len({found.has_doubt for found in names if found.n_answers}) > 1:
            raise InputError(
                "Either all parts should have doubts of their answers or none",
                "some have and some have not",
                "leave them out with without_doubt()",
            )
        check_spelled_alike([found.classes for found in names])
        self.annotators = joined([found.annotators for found in names])[0]
        self.classes = joined([found.classes for found in names], in_order=True)[0]
        self.n_items = sum(found.n_items for found in names)
        self.n_answers = sum(found.n_answers for found in names)
        self.notes = list(dict.fromkeys(note for found in names for note in found.notes))
        self._align = partial(aligned, annotators=self.annotators, classes=self.classes)
        self._parts = parts

    def __repr__(self) -> str:
        shown = ", ".join(map(str, self.classes[:8].tolist()))
        return (
            f"<AnnotationParts: {self.n_answers} answers about {self.n_items} items by "
            f"{len(self.annotators)} annotators; classes {shown}>"
        )

    @property
    def is_local(self) -> bool:
        """Whether parts are read by this process, and not by workers of Dask."""
        return isinstance(self._parts, LocalParts)

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.classes)

    def made(self, function: Callable[[Annotations], Any]) -> "LocalParts | DaskParts":
        """What a function makes of each part, kept between passes."""
        return self._parts.made(partial(_of_aligned, function=function, align=self._align),
                                self.n_answers > MANY_ANSWERS)  # fmt: skip

    def mapped(self, function: Callable[[Annotations], Annotations]) -> "AnnotationParts":
        """Parts of what a function makes of the answers of each."""
        parts = object.__new__(AnnotationParts)
        parts._set(self.made(function))
        return parts

    def one_by_one(self) -> Iterator[Annotations]:
        """The parts, with the names of all of them."""
        return self._parts.one_by_one(self._align)

    def template(self) -> Annotations:
        """Nobody's answers about no items, with the names of all parts."""
        first = self._parts.first(self._align)
        none = np.zeros(0, dtype=np.int64)
        doubt = None if first.doubt is None else np.zeros(0)
        return first._with(
            items=first.items[:0], item=none, annotator=none, statement=none, doubt=doubt
        )

    def reliability(self, model: str = "one_coin", **options: Any) -> Any:
        """Learn how far annotators can be trusted: see `fit_reliability`."""
        from plausible.experts.reliability_fit import fit_reliability

        return fit_reliability(self, model, **options)

    def pool(
        self, rule: str = "dempster", doubt: Any = None, **options: Any
    ) -> Iterator[PooledItems]:
        """Labels of the items of one part after another, as `Annotations.pool` makes them.

        Parameters
        ----------
        rule, doubt
            As for `Annotations.pool`. What has to be learned of people is learned from all parts,
            before the first is pooled; of more than five million answers, who errs together from
            those of the first parts.
        **options
            Further options of `Annotations.pool`, but for `gold`.
        """
        if options.get("gold") is not None:
            raise InputError(
                "gold should be given to reliability(), whose result is a doubt",
                "it was given to pool",
                "write parts.pool(doubt=parts.reliability(gold=...))",
                parameter="gold",
            )
        from plausible.experts.pooled_parts import learn_people

        doubt, options = learn_people(self, rule, doubt, options)
        pool = partial(_pool_part, rule=rule, doubt=doubt, options=options)
        return self._parts.one_by_one(partial(_of_aligned, function=pool, align=self._align))


# What is done to a part, where it lies.


def _names(part: Annotations) -> Names:
    if not isinstance(part, Annotations):
        raise InputError(
            "Parts should be Annotations",
            f"one is a {type(part).__name__}",
            "make them with Annotations.from_long",
        )
    has_doubt = part.doubt is not None
    return Names(part.annotators, part.classes, len(part.items), len(part), has_doubt, part.notes)


def aligned(part: Annotations, annotators: NDArray[Any], classes: NDArray[Any]) -> Annotations:
    """A part with the names of all parts."""
    place = joined([annotators, part.annotators])[1][1]
    columns = joined([classes, part.classes], in_order=True)[1][1]
    found = Annotations(
        part.items,
        annotators,
        classes,
        part.item,
        place[part.annotator],
        part.statement,
        widened(part, columns, len(classes)),
        part.doubt,
        part.is_bayesian,
        joined_masses([part], [columns], len(classes)),
        part.notes,
    )
    return found if part._power is None else found._with(_power=part._power)


def _of_aligned(part: Annotations, function: Any, align: Any) -> Any:
    return function(align(part))


def _pool_part(part: Annotations, rule: str, doubt: Any, options: dict[str, Any]) -> PooledItems:
    return PooledItems(part.items, part.pool(rule, doubt, **options))


# Where parts are.


class LocalParts:
    """Parts that are read one after another by this process."""

    def __init__(self, source: Any) -> None:
        self.source = source

    def __iter__(self) -> Iterator[Any]:
        return iter(self.source if isinstance(self.source, Iterable) else self.source())

    def each(self, function: Callable[..., Any], *given: Any) -> list[Any]:
        """What a function finds in each part."""
        return [function(part, *given) for part in self]

    def one_by_one(self, function: Callable[..., Any]) -> Iterator[Any]:
        """The same, when it is asked for."""
        return map(function, self)

    def first(self, function: Callable[..., Any]) -> Any:
        """The same of the first part."""
        return function(next(iter(self)))

    def made(self, function: Callable[..., Any], on_disk: bool) -> "LocalParts":
        """Parts of what a function makes of these."""
        return LocalParts(Spooled(map(function, self)) if on_disk else self.each(function))

    def sum(self, function: Callable[..., Any], *given: Any) -> Any:
        """Sum over parts of what a function finds."""
        return total(function(part, *given) for part in self)


class Spooled:
    """Things on disk, which are read again at each pass."""

    def __init__(self, things: Iterable[Any]) -> None:
        folder = tempfile.mkdtemp(prefix="plausible-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.paths = []
        for number, thing in enumerate(things):
            path = Path(folder) / f"{number}.pickle"
            with path.open("wb") as file:
                pickle.dump(thing, file, protocol=5)
            self.paths.append(path)

    def __iter__(self) -> Iterator[Any]:
        for path in self.paths:
            with path.open("rb") as file:
                yield pickle.load(file)


class DaskParts:
    """Parts on a cluster, or in the threads of Dask."""

    def __init__(self, parts: list[Any]) -> None:
        self.parts = parts

    def each(self, function: Callable[..., Any], *given: Any) -> list[Any]:
        """What a function finds in each part."""
        import dask as library

        dask: Any = library  # which has no types
        task = dask.delayed(partial(_with_given, function, given), pure=False)
        return list(dask.compute(*(task(part) for part in self.parts)))

    def one_by_one(self, function: Callable[..., Any]) -> Iterator[Any]:
        """The same, when it is asked for."""
        for part in self.parts:
            yield DaskParts([part]).each(function)[0]

    def first(self, function: Callable[..., Any]) -> Any:
        """The same of the first part."""
        return DaskParts(self.parts[:1]).each(function)[0]

    def made(self, function: Callable[..., Any], on_disk: bool) -> "DaskParts":
        """Parts of what a function makes of these, kept where they are made."""
        import dask as library

        dask: Any = library  # which has no types
        task = dask.delayed(function, pure=False)
        return DaskParts(list(dask.persist(*(task(part) for part in self.parts))))

    def sum(self, function: Callable[..., Any], *given: Any) -> Any:
        """Sum over parts of what a function finds."""
        return total(self.each(function, *given))


def _with_given(function: Any, given: tuple[Any, ...], part: Any) -> Any:
    return function(part, *given)
