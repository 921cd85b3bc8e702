"""Answers of exports, gathered one by one, and how their fields are named."""

from collections import Counter
from typing import Any

from plausible.errors import Note
from plausible.experts import NONE_OF_THESE
from plausible.io.answer_columns import ALIASES, SURE, plainly
from plausible.io.answer_states import DROP, KEEP, UNKNOWN
from plausible.tables import TableError, listed

SURELY_PEOPLE = {
    "annotator", "annotatorid", "annotatorname", "annotatedby", "completedby", "labeler",
    "labeller", "labeledby", "labelledby", "rater", "raterid", "worker", "workerid", "workername",
}  # fmt: skip
PERHAPS_PEOPLE = {"createdby", *(plainly(name) for name in ALIASES["annotator"])} - SURELY_PEOPLE
APPROVERS = {"annotationapprover", "approvedby"}  # who looked at answers of others
ITEM_FIELDS = {  # that name items, the first of them that a record has
    "label-studio": ("id", "inner_id"),
    "doccano": ("id",),
    "prodigy": ("_input_hash", "id", "text", "image"),
    "argilla": ("external_id", "id", "_server_id"),
}
Records = list[tuple[str, Any]]  # with how errors call the place of each
DONE = {KEEP: "count as any other", DROP: "are left out", UNKNOWN: "count as 'cannot tell'"}


class Collected:
    """Answers of exports, one by one.

    items, annotators, said : lists of names; None for an author or an answer that is not known
    sure : how sure people are, in their words or numbers; None where nothing tells
    names : which fields are meant, by the wish of the caller
    counts : of what is told in notes
    frame : classes that people could choose, if the export tells
    on_rejected : what becomes of answers that were rejected or skipped; None for what is usual
    """

    def __init__(self, names: dict[str, str], on_rejected: str | None = None) -> None:
        self.on_rejected = on_rejected
        self.rejected: Counter[tuple[str, str]] = Counter()
        self.items: list[Any] = []
        self.annotators: list[Any] = []
        self.said: list[Any] = []
        self.sure: list[Any] = []
        self.names = names
        self.counts: Counter[str] = Counter()
        self.notes: list[Note] = []
        self.frame: dict[Any, None] = {}
        self.person: str | None = names.get("annotator")

    def add(self, item: Any, who: Any, said: Any, sure: Any = None) -> None:
        """One answer; what `plausible annotate` writes for none of the classes is none of them."""
        said = NONE_OF_THESE if said == {NONE_OF_THESE} else said
        self.items.append(a_name(item))
        self.annotators.append(None if who is None else a_name(who))
        self.said.append(said)
        self.sure.append(sure)

    def reject(
        self, item: Any, who: Any, said: Any, what: str, usual: str, sure: Any = None
    ) -> None:
        """An answer that was rejected or skipped: `usual` is done where nothing was asked for."""
        done = self.on_rejected or usual
        self.rejected[what, done] += 1
        if done != DROP:
            self.add(item, who, *((None,) if done == UNKNOWN else (said, sure)))

    def told(self) -> list[Note]:
        """Notes on what was found."""
        counts = [Note(f"{what}: {count}") for what, count in self.counts.items()]
        for (what, done), count in self.rejected.items():
            option, else_done = (KEEP, "keeps") if done == DROP else (DROP, "leaves")
            more = f"; {{on_rejected}} {else_done} them{' out' * (done != DROP)}"
            more = more if self.on_rejected is None else ""
            counts.append(Note(f"{what}, which {DONE[done]}: {count}{more}", on_rejected=option))
        if self.on_rejected is not None and not self.rejected:
            counts.append(Note("no answer is said to be rejected or skipped"))
        return [*dict.fromkeys(self.notes), *counts]

    def leave_out(self, fields: list[str], used: str | None) -> None:
        """Tell of questions whose answers are not used beside the one that is."""
        if not fields:
            return
        told = f"not used: {', '.join(map(repr, fields))}"
        sure = [name for name in fields if plainly(name) in SURE]
        if used is None or not sure or "confidence" in self.names:
            self.notes.append(Note(told))
            return
        names = self.names | {"label": used, "confidence": sure[0]}
        more = f"; {{names}} if {sure[0]!r} is how sure people are"
        self.notes.append(Note(told + more, names=names))

    def item_of(self, record: Any, usual: tuple[str, ...]) -> Any:
        """The name of an item: the field that was asked for, or the first usual one."""
        asked = self.names.get("item")
        if asked is not None:
            return field(record, asked)
        return next(record[name] for name in usual if record.get(name) is not None)

    def find_person(self, records: list[tuple[str, Any]], usual: tuple[str, ...]) -> None:
        """Find the field of records that names who answered, unless one was asked for.

        A field such as ``annotator`` does; one such as ``username``, who may have written what is
        judged, only where an item has answers of several, and is told otherwise.
        """
        fields = [(one, plain_fields(one)) for _, one in records if isinstance(one, dict)]
        names = dict.fromkeys(name for _, held in fields for name in held)
        self.leave_out([name for name in names if plainly(name) in APPROVERS], None)
        if self.person is not None:
            return
        sure = [name for name in names if plainly(name) in SURELY_PEOPLE]
        perhaps = [name for name in names if plainly(name) in PERHAPS_PEOPLE]
        for name in perhaps:
            said: dict[str, set[Any]] = {}
            for record, held in fields:
                item = next((record[n] for n in usual if record.get(n) is not None), None)
                said.setdefault(str(item), set()).add(held.get(name))
            sure += [name] * any(len(people) > 1 for people in said.values())
        if sure:
            self.person = sure[0]
            self.notes.append(Note(f"{self.person!r} was read as who answered"))
        for name in perhaps:
            if name not in sure[:1]:
                told = f"not used: {name!r}; say {{names}} if it is who answered"
                self.notes.append(Note(told, names={"annotator": name}))

    def author_of(self, record: Any, usual: Any = None) -> Any:
        """Who answered, by the field that names it, or as usual."""
        if self.person is None:
            return usual
        if self.names.get("annotator") is not None:
            return field(record, self.person, "annotator")
        return plain_fields(record).get(self.person, usual)


def plain_fields(record: Any) -> dict[str, Any]:
    """Fields of a record, and of what is kept beside it, that hold one value each."""
    if not isinstance(record, dict):
        return {}
    inner = record.get("meta", record.get("metadata"))
    fields = {**(inner if isinstance(inner, dict) else {}), **record}
    return {key: v for key, v in fields.items() if isinstance(v, str | int | float)}


def a_name(value: Any) -> Any:
    """A value of JSON that can name something."""
    if not isinstance(value, (str, int, float)) or value != value or value == "":
        raise TypeError("a name should be text or a number")
    return value


def field(record: Any, path: str, meaning: str = "item") -> Any:
    """A field of a record, as in ``data.image``; fields of the data need no prefix."""
    for start in (record, record.get("data"), record.get("fields"), record.get("meta")):
        found = start
        for part in [path] if isinstance(start, dict) and path in start else path.split("."):
            found = found.get(part) if isinstance(found, dict) else None
        if found is not None:
            return found
    known = sorted(str(key) for key in record)
    inner = [f"{o}.{k}" for o in ("data", "fields", "metadata", "meta")
             for k in (record.get(o) or {} if isinstance(record.get(o), dict) else {})]  # fmt: skip
    raise TableError(
        f"Records should have a field {path!r}",
        f"they have {listed([repr(name) for name in [*inner, *known]], 99)}",
        "name one of these in {names}",
        settings={"names": {meaning: (inner or known or ["id"])[0]}},
    )


def several(where: str, what: str, found: list[str], meaning: str = "label") -> TableError:
    """The error of an export with several questions."""
    holds = "what people answered" if meaning == "label" else "how sure people are"
    return TableError(
        f"One {what} of {where} should hold {holds}",
        f"there are {', '.join(map(repr, found))}",
        "say which one is meant, as in {names}",
        settings={"names": {meaning: found[0]}},
    )
