"""Tables with a column for each person, of whom some say in another one how sure they are.

``ann, ann_confidence, bob, bob_confidence`` are two people; so are ``ann, bob, sure_ann,
sure_bob``. Columns such as ``Rater 1`` and ``Coder B: label`` are people by their names.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from plausible.experts import Codes, read_doubts
from plausible.io.answer_columns import ALIASES, DOUBTS, plainly
from plausible.tables import Source, TableError

WORDS = {plainly(word): "confidence" for word in (*ALIASES["confidence"], "conf")} | {
    plainly(word): "doubt" for word in DOUBTS
}
RATER = re.compile(
    r"(rater|annotator|coder|judge|reader|expert|reviewer|labell?er|grader|assessor|observer)"
    r"[\W_]*([0-9]+|[a-z])([\W_]+(rating|label|answer|code|score|vote|response|class))?",
    re.IGNORECASE,
)


def named_raters(names: Sequence[str]) -> list[str]:
    """Columns of people by their names, if there are several.

    Examples
    --------
    >>> named_raters(["Image", "Rater 1", "Rater 2", "rate", "Rater"])
    ['Rater 1', 'Rater 2']
    """
    found = [name for name in names if RATER.fullmatch(name.strip())]
    return found if len(found) > 1 else []


def sureness_beside(names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """For columns of people the column that says how sure they are, and what it means.

    Examples
    --------
    >>> sureness_beside(["photo", "ann", "ann_confidence", "bob", "Sure (bob)"])
    {'ann': ('ann_confidence', 'confidence'), 'bob': ('Sure (bob)', 'confidence')}
    """
    people = {plainly(name): name for name in names if plainly(name) not in WORDS}
    found: dict[str, tuple[str, str]] = {}
    for name in names:
        bare = plainly(name)
        for word, meaning in WORDS.items():
            rest = {bare.removesuffix(word), bare.removeprefix(word)} - {bare, ""}
            for person in sorted(rest & set(people)):
                found.setdefault(people[person], (name, meaning))
    sure = {column for column, _ in found.values()}
    return {person: pair for person, pair in found.items() if person not in sure}


def doubts_beside(
    table: Source,
    people: Sequence[str],
    sure: Mapping[str, tuple[str, str]],
    said: Sequence[Any],
    words: Mapping[Any, float] | None,
) -> tuple[Any, list[Any]]:
    """Doubts of answers, person by person, where `said` tells which rows have one; and notes."""
    meanings = {meaning for _, meaning in sure.values()}
    if len(meanings) > 1:
        columns = ", ".join(repr(column) for column, _ in sure.values())
        raise TableError(
            f"Columns of {table.name} should all say how sure people are, or all how unsure",
            f"{columns} do both",
            "leave some out with {ignore}",
            settings={"ignore": None},
        )
    places: dict[Any, int] = {None: 0}
    parts = []
    for person, has_answer in zip(people, said, strict=True):
        if person not in sure:
            parts.append(np.zeros(int(has_answer.sum()), dtype=np.int64))
            continue
        codes, names = table.encoded(sure[person][0])
        own = [places.setdefault(cell, len(places)) for cell in names.tolist()]
        parts.append(np.array([*own, 0], dtype=np.int64)[codes[has_answer]])
    cells = np.empty(len(places), dtype=object)
    cells[:] = list(places)
    first = next(iter(sure.values()))[0]
    read = read_doubts(Codes(np.concatenate(parts), cells), meanings.pop(), words, first)
    return read.values, list(read.notes)
