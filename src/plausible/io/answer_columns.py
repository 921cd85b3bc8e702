"""Which columns of a table hold items, people and answers.

Names are compared without regard to case, blanks, ``_`` and ``-``: ``WorkerId`` is ``worker_id``.
Where names do not tell, nothing is guessed: the error names the columns that are likely meant.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from plausible.checks import check_kind, check_option, check_text, guess
from plausible.errors import Note
from plausible.tables import Source, TableError, arrow, choose, plain

NUMBERS = ("plausibility", "probability", "mass")
SURENESS = ("doubt", "confidence")
ALIASES = {
    "item": ("item", "task", "item_id", "task_id", "id"),
    "annotator": (
        "annotator", "worker", "annotator_id", "worker_id", "expert", "rater", "expert_id",
        "rater_id", "annotator_name", "worker_name", "coder", "labeler", "labeller", "judge",
        "reviewer", "assessor", "grader", "user", "user_id", "username", "person", "participant",
        "respondent", "participant_id", "respondent_id", "reviewer_id", "coder_id",
    ),
    "label": (
        "label", "answer", "class", "category", "choice", "response", "judgment", "judgement",
        "verdict", "annotation", "labels", "label_name", "class_name",
    ),
    "confidence": (
        "confidence", "certainty", "sure", "sureness", "how_sure", "how_confident",
        "confidence_score", "confidence_level", "self_confidence",
    ),
}  # fmt: skip
COUNTS = ("count", "counts", "n", "votes", "n_votes", "num_votes", "freq", "frequency",
          "size")  # fmt: skip
DOUBTS = ("doubt", "uncertainty")
SCORES = ("score", "conf", "prob")  # that may be something else than confidence
# Items, where somebody's answers stand beside them.
THINGS = (
    "image", "image_id", "image_url", "photo", "picture", "img", "question", "question_id",
    "document", "document_id", "doc_id", "sample", "sample_id", "example", "example_id", "object",
    "object_id", "unit", "unit_id", "record", "record_id", "case", "case_id", "hit_id", "file",
    "filename", "file_name", "text", "sentence", "url",
)  # fmt: skip
SAMPLE = 50_000  # rows that are looked at where names do not tell


class Found(NamedTuple):
    """Columns by what they mean, and notes on how they were found."""

    columns: dict[str, str]
    notes: list[Note]


def plainly(name: str) -> str:
    """A name of a column without case, blanks and marks.

    Examples
    --------
    >>> plainly("WorkerId") == plainly("worker_id") == plainly(" Worker-ID ")
    True
    """
    return re.sub(r"[\W_]+", "", name.casefold())


SURE = {plainly(name) for name in ALIASES["confidence"]}


def find_columns(
    table: Source, names: Mapping[str, str] | None, ignore: Sequence[str] = ()
) -> dict[str, str]:
    """Columns of the table by what they mean: those that are named, and those whose names tell."""
    found = check_names(table, {} if names is None else names)
    free: dict[str, list[str]] = {}
    for name in [*choose(table, None), *sorted(table.index)]:  # an index may be called so
        if name not in found.values() and name not in ignore:
            free.setdefault(plainly(name), []).append(name)
    meanings = {**ALIASES, "doubt": DOUBTS, **{kind: (kind,) for kind in NUMBERS}}
    for meaning, aliases in meanings.items():
        if meaning in found:
            continue
        there = [name for alias in aliases for name in free.get(plainly(alias), ())]
        if there:
            found[meaning] = there[0] if aliases[0] not in there else aliases[0]
            free = {key: [n for n in row if n != found[meaning]] for key, row in free.items()}
    return found


def check_names(table: Source, names: Mapping[str, str]) -> dict[str, str]:
    """Columns that are named by the caller, which must be there."""
    known = (*ALIASES, "doubt", "count", *NUMBERS)
    check_kind(names, Mapping, "names", "write {'item': 'photo'} for a column photo of items")
    found = {}
    for meaning, column in names.items():
        check_option(meaning, known, "Keys of names")
        check_text(column, f"names[{meaning!r}]")
        bare = column.removeprefix("data.")  # as annotation tools call the fields of their tasks
        if column not in table.names and bare in table.names:
            column = bare
        if column not in table.names:
            meant = guess(column, table.names).removeprefix("; ")
            raise TableError(
                f"{table.name} should have a column {column!r} for {meaning!r}",
                f"has {table.names}",
                meant or "correct {names}",
                parameter="names",
                value=column,
                settings={"names": None},
            )
        found[meaning] = column
    return found


def all_of(table: Source, meaning: str, ignore: Sequence[str] = ()) -> list[str]:
    """All columns whose names could have a meaning."""
    wanted = {plainly(alias) for alias in ALIASES[meaning]}
    return [n for n in choose(table, None) if plainly(n) in wanted and n not in ignore]


# -- Looking at what columns hold ------------------------------------------------------------------


class Look(NamedTuple):
    """What the first rows of a column hold.

    codes : place of each row's value among `values`, -1 where it is missing
    values : different values
    is_real : whether there are numbers with fractions
    is_whole : whether all are whole numbers
    """

    codes: np.ndarray[Any, Any]
    values: list[Any]
    is_real: bool
    is_whole: bool


def look_at(table: Source, names: Sequence[str]) -> dict[str, Look]:
    """What the first rows of some columns hold."""
    pa = arrow()
    batches, n_rows = [], 0
    for batch in table.batches(list(names)):
        batches.append(batch)
        n_rows += batch.num_rows
        if n_rows >= SAMPLE:
            break
    found = {}
    for i, name in enumerate(names):
        column = pa.chunked_array(
            [batch.column(i) for batch in batches], table.schema([name]).field(0).type
        )
        known = plain(column)
        if known is None:  # lists and other things that are no names
            known = pa.chunked_array([pa.array([f"{n}" for n in range(n_rows)])])
        encoded = known.combine_chunks().dictionary_encode()
        if hasattr(encoded, "combine_chunks"):
            encoded = encoded.combine_chunks()
        codes = np.asarray(encoded.indices.fill_null(-1), dtype=np.int64)
        values = [] if pa.types.is_null(known.type) else encoded.dictionary.to_pylist()
        numbers = [value for value in values if isinstance(value, (int, float))]
        is_number = len(numbers) == len(values) and bool(values)
        is_real = is_number and any(value % 1 for value in numbers if abs(value) < 1e300)
        is_whole = is_number and not is_real and not any(isinstance(v, bool) for v in values)
        found[name] = Look(codes, values, is_real, is_whole)
    return found
