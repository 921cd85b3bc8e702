"""Columns beside answers that say whether these were accepted, or how much they weigh.

They are not used, as nobody knows what is to follow from them; but whoever reads the answers should
know that rejected ones are among them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from plausible.checks import counted
from plausible.errors import Note
from plausible.io.answer_columns import SAMPLE, Look, look_at, plainly
from plausible.tables import Source

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
YES, NO = {"true", "yes", "y", "1", "1.0", "t"}, {"false", "no", "n", "0", "0.0", "f"}
WEIGHTS = {"weight", "weights", "sampleweight", "answerweight", "annotatorweight"}


def tell_states(table: Source, names: Sequence[str]) -> list[Note]:
    """Notes on columns that are not used, but say that some answers should perhaps not count."""
    known = STATES | GOOD_FLAGS | BAD_FLAGS
    called = [name for name in names if plainly(name) in known]
    looks = look_at(table, called) if called else {}
    notes = [note for name, look in looks.items() for note in _tell_rejected(name, look)]
    return notes + [_tell_weight(name) for name in names if plainly(name) in WEIGHTS]


def _tell_rejected(name: str, look: Look) -> list[Note]:
    """A note on answers that a column calls rejected."""
    bad = [place for place, value in enumerate(look.values) if _is_bad(plainly(name), value)]
    counts: Mapping[int, int] = {place: int((look.codes == place).sum()) for place in bad}
    count = sum(counts.values())
    if not count or count == len(look.codes):  # which tells no answer from another
        return []
    words = " or ".join(_shown(look.values[place]) for place in bad)
    where = f" among the first {len(look.codes):,} rows" if len(look.codes) >= SAMPLE else ""
    was = "was" if count == 1 else "were"
    return [
        Note(
            f"{counted(count, 'answer')}{where} {was} kept although {name} is {words}: take such "
            "rows out of the file if they should not count"
        )
    ]


def _is_bad(name: str, value: Any) -> bool:
    """Whether a value of a column says that an answer was rejected."""
    word = plainly(str(value)) if isinstance(value, str) else str(value).casefold()
    if name in STATES:
        return word in BAD_WORDS
    return word in (NO if name in GOOD_FLAGS else YES)


def _shown(value: Any) -> str:
    return repr(value) if isinstance(value, str) else str(value).lower()


def _tell_weight(name: str) -> Note:
    """A note on weights, which answers do not have."""
    return Note(
        f"answers have no weights, so that {name!r} was not used; if it is how sure people are, "
        "say {names}",
        names={"confidence": name},
    )
