"""Columns beside answers that say whether these were accepted, or how much they weigh.

An answer that somebody rejected, or skipped, counts as any other (``"keep"``), not at all
(``"drop"``), or as "cannot tell" (``"unknown"``), as the caller says. Where they say nothing, it is
left out if the tool that wrote the table does not count it, and else kept and told: nobody knows
what is to follow from a column.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.checks import counted
from plausible.errors import Note
from plausible.io.answer_columns import NUMBERS, plainly
from plausible.tables import Source, TableError

Usual = tuple[str, tuple[Any, ...]] | None  # a column of a tool, and its words for rejected ones

STATES = {
    "status", "state", "reviewstatus", "answerstatus", "annotationstatus", "assignmentstatus",
    "labelstatus", "taskstatus", "review", "reviewresult", "decision", "qc", "qcstatus", "qa",
    "qastatus", "quality", "outcome",
}  # fmt: skip
BAD_WORDS = {
    "rejected", "reject", "skipped", "skip", "cancelled", "canceled", "discarded", "invalid",
    "deleted", "draft", "spam", "failed", "fail", "bad", "disapproved", "notapproved", "expired",
    "returned", "timedout", "withdrawn", "incomplete", "superseded", "obsolete",
}  # fmt: skip
GOOD_FLAGS = {
    "isvalid", "valid", "approved", "isapproved", "accepted", "isaccepted", "passed", "passedqc",
    "usable", "isusable", "keep", "kept", "include", "included", "isactive", "active",
}  # fmt: skip
BAD_FLAGS = {
    "wascancelled", "wascanceled", "cancelled", "canceled", "iscancelled", "rejected", "isrejected",
    "wasrejected", "skipped", "isskipped", "wasskipped", "invalid", "isinvalid", "deleted",
    "isdeleted", "spam", "isspam", "discarded", "exclude", "excluded", "flagged", "isflagged",
    "isbad", "isdraft", "draft",
}  # fmt: skip
YES = {
    "true", "yes", "y", "1", "1.0", "t", "x", "ja", "wahr", "oui", "vrai", "si", "sí", "sim",
    "vero", "verdadero", "verdadeiro", "да", "истина", "tak", "prawda", "是", "はい",
}  # fmt: skip
NO = {
    "false", "no", "n", "0", "0.0", "f", "nein", "falsch", "non", "faux", "não", "nao", "falso",
    "нет", "ложь", "nie", "fałsz", "否", "いいえ", "nee",
}  # fmt: skip
WEIGHTS = {"weight", "weights", "sampleweight", "answerweight", "annotatorweight"}
KEEP, DROP, UNKNOWN = ON_REJECTED = ("keep", "drop", "unknown")
BoolArray = NDArray[np.bool_]


class Said(NamedTuple):
    """What a column says of rows.

    is_out : which of them are rejected
    words : its words for these, with how many rows have them
    """

    is_out: BoolArray
    words: Counter[str]


class Settled(NamedTuple):
    """Rows that do not count, rows that count as 'cannot tell', and what was done, in words."""

    dropped: BoolArray | None
    silenced: BoolArray | None
    notes: list[Note]


def state_columns(names: Sequence[str]) -> list[str]:
    """Columns that by their names say whether answers were accepted."""
    known = STATES | GOOD_FLAGS | BAD_FLAGS
    return [name for name in names if plainly(name) in known]


def tell_weights(names: Sequence[str]) -> list[Note]:
    """Notes on weights, which answers do not have."""
    return [
        Note(
            f"answers have no weights, so that {name!r} was not used; if it is how sure people "
            "are, say {names}",
            names={"confidence": name},
        )
        for name in names
        if plainly(name) in WEIGHTS
    ]


def is_rejected(name: str, value: Any) -> bool:
    """Whether a value of a column, or field, says that an answer was rejected.

    Examples
    --------
    >>> is_rejected("review_status", "Rejected"), is_rejected("is_valid", True)
    (True, False)
    """
    name = plainly(name)
    word = plainly(value) if isinstance(value, str) else str(value).casefold()
    if name in STATES:
        return word in BAD_WORDS
    return word in (NO if name in GOOD_FLAGS else YES if name in BAD_FLAGS else ())


def find_rejected(table: Source, columns: Sequence[str], usual: Usual) -> dict[str, Said]:
    """What columns say of the rows of a table; `usual` is one that a tool has, with its words."""
    found = {}
    for name in dict.fromkeys([*([] if usual is None else usual[:1]), *columns]):
        try:
            codes, cells = table.encoded(name)
        except TableError:  # lists and other things that are no words
            continue
        words = cells.tolist()
        if usual is not None and name == usual[0]:
            bad = [word in usual[1] for word in words]
        else:
            bad = [is_rejected(name, word) for word in words]
        is_out = np.array([*bad, False])[codes]  # the last one for gaps
        counts = np.bincount(codes[is_out], minlength=len(words))
        told = {_shown(words[place]): int(counts[place]) for place in np.flatnonzero(counts)}
        found[name] = Said(is_out, Counter(told))
    return found


def settle_rejected(
    said: Mapping[str, Said],
    usual: Usual,
    on_rejected: str | None,
    name: str,
    what: str = "answer",
) -> Settled:
    """What is done with rows that were rejected: what was asked for, or what is usual.

    Where nothing was asked for, rows that a tool does not count are left out, and what any other
    column says is told; one that says the same of all rows tells no answer from another.
    """
    notes: list[Note] = []
    out = np.zeros(len(next(iter(said.values())).is_out) if said else 0, dtype=bool)
    for column, (is_out, words) in said.items():
        is_usual = usual is not None and column == usual[0]
        done = on_rejected or (DROP if is_usual else KEEP)
        if not words or (on_rejected is None and is_out.all()):
            continue
        notes.append(tell_rejected(column, words, done, on_rejected is None, what))
        if done != KEEP:
            out |= is_out
    if on_rejected is not None and not notes:
        notes.append(Note(f"no {what} of {name} is said to be rejected or skipped"))
    if on_rejected == DROP and out.all() and len(out):
        check_left(0, name, [column for column, (_, words) in said.items() if words])
    if not out.any():
        return Settled(None, None, notes)
    return Settled(None, out, notes) if on_rejected == UNKNOWN else Settled(out, None, notes)


def check_numbers(found: Mapping[str, str], on_rejected: str | None, name: str) -> None:
    """Refuse to let answers say nothing that have several rows, with a number for each class."""
    numbers = [found[meaning] for meaning in NUMBERS if meaning in found]
    if numbers and on_rejected == UNKNOWN:
        raise TableError(
            f"Rejected answers of {name} should be left out, or count",
            f"each has several rows, with a number for each class ({numbers[0]!r})",
            "say {on_rejected}",
            settings={"on_rejected": DROP},
        )


def check_left(n_left: int, name: str, columns: Sequence[str]) -> None:
    """Refuse a table in which every answer is rejected."""
    if n_left:
        return
    raise TableError(
        f"Some answers of {name} should count",
        f"all are rejected or skipped, as {' and '.join(map(repr, columns))} says",
        ("say {on_rejected} to let them count", "{ignore} if it is about something else"),
        settings={"on_rejected": KEEP, "ignore": list(columns)},
    )


def tell_rejected(
    column: str, words: Counter[str], done: str, is_usual: bool, what: str = "answer"
) -> Note:
    """A note on answers that a column calls rejected; `is_usual` where nothing was asked for."""
    count = words.total()
    because = f"{column} is {' or '.join(words)}"
    answers, was = counted(count, what), "was" if count == 1 else "were"
    if done == DROP:
        more = "; {on_rejected} keeps them" if is_usual else ""
        return Note(f"{answers} left out, since {because}{more}", on_rejected=KEEP)
    if done == UNKNOWN:
        return Note(f"{answers} {was} read as cannot tell, since {because}")
    more = ": take such rows out with {on_rejected} if they should not count" if is_usual else ""
    return Note(f"{answers} {was} kept although {because}{more}", on_rejected=DROP)


def _shown(value: Any) -> str:
    return repr(value) if isinstance(value, str) else str(value).lower()
