"""Answers of exports, gathered one by one, and how their fields are named."""

from collections import Counter
from typing import Any

from plausible.errors import Note
from plausible.experts import NONE_OF_THESE
from plausible.io.answer_states import DROP, KEEP, UNKNOWN
from plausible.tables import TableError, listed

DONE = {KEEP: "count as any other", DROP: "are left out", UNKNOWN: "count as 'cannot tell'"}


class Collected:
    """Answers of exports, one by one.

    items, annotators, said : lists of names; None for an author or an answer that is not known
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
        self.names = names
        self.counts: Counter[str] = Counter()
        self.notes: list[Note] = []
        self.frame: dict[Any, None] = {}

    def add(self, item: Any, who: Any, said: Any) -> None:
        """One answer; what `plausible annotate` writes for none of the classes is none of them."""
        said = NONE_OF_THESE if said == {NONE_OF_THESE} else said
        self.items.append(a_name(item))
        self.annotators.append(None if who is None else a_name(who))
        self.said.append(said)

    def reject(self, item: Any, who: Any, said: Any, what: str, usual: str) -> None:
        """An answer that was rejected or skipped: `usual` is done where nothing was asked for."""
        done = self.on_rejected or usual
        self.rejected[what, done] += 1
        if done != DROP:
            self.add(item, who, None if done == UNKNOWN else said)

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

    def leave_out(self, fields: list[str]) -> None:
        """Tell of questions whose answers are not used."""
        if fields:
            self.notes.append(Note(f"not used: {', '.join(map(repr, fields))}"))

    def item_of(self, record: Any, usual: tuple[str, ...]) -> Any:
        """The name of an item: the field that was asked for, or the first usual one."""
        asked = self.names.get("item")
        if asked is not None:
            return field(record, asked)
        return next(record[name] for name in usual if record.get(name) is not None)


def a_name(value: Any) -> Any:
    """A value of JSON that can name something."""
    if not isinstance(value, (str, int, float)) or value != value or value == "":
        raise TypeError("a name should be text or a number")
    return value


def field(record: Any, path: str) -> Any:
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
        settings={"names": {"item": (inner or known or ["id"])[0]}},
    )


def several(where: str, what: str, found: list[str]) -> TableError:
    """The error of an export with several questions."""
    return TableError(
        f"One {what} of {where} should hold what people answered",
        f"there are {', '.join(map(repr, found))}",
        "say which one is meant, as in {names}",
        settings={"names": {"label": found[0]}},
    )
