"""Columns that are likely meant, where their names do not tell: for messages alone."""

from collections.abc import Mapping, Sequence

import numpy as np

from plausible.checks import shown
from plausible.io.answer_columns import ALIASES, Look, look_at, plainly
from plausible.io.last_rows import check_names_again
from plausible.tables import Source, TableError, choose, listed

MANY_ALIKE = 3  # columns that share values, where there are many of them
MANY_ROWS = 8  # in which classes come again
MOST_LETTERS = 80  # of the name of a column in a message
HINTS = {
    "item": ("input", "item", "task", "photo", "image", "img", "pic", "file", "url", "text", "doc",
             "question", "sample", "object", "unit", "record", "case", "stim", "id"),
    "annotator": ("annot", "worker", "user", "who", "person", "rater", "coder", "judge", "expert",
                  "review", "email", "assign", "labeler", "by", "name", "student", "doctor",
                  "nurse"),
    "label": ("output", "label", "class", "categ", "answer", "said", "choice", "species", "diagnos",
              "verdict", "type", "rating", "sentiment", "decision", "value", "response", "genre"),
}  # fmt: skip


def likely_names(
    table: Source, found: Mapping[str, str], looks: Mapping[str, Look]
) -> dict[str, str]:
    """Columns that are likely meant, for a message: by their names, and how often they repeat."""
    free = [name for name in looks if name not in found.values() and not looks[name].is_real]
    free = [name for name in free if name != "unnamed"] or free  # row names, of R or pandas
    n_values = {name: len(looks[name].values) for name in free}
    guessed = dict(found)
    for name in set(found.values()) & set(looks):
        free = _others(name, free, looks)
    for meaning, hints in HINTS.items():
        if meaning in guessed:
            continue
        hinted = [
            n
            for hint in hints
            for n in free
            if hint in plainly(n.rpartition(".")[2]) and fits(meaning, looks[n])
        ]
        if meaning == "item":  # rather not what is another one in each row, as ids of answers are
            hinted.sort(key=lambda name: n_values[name] == len(looks[name].codes))
        if hinted:
            guessed[meaning] = hinted[0]
            free = _others(hinted[0], free, looks)
            if meaning == "item":  # as the other item of a pair
                free = [name for name in free if not _share_most(looks[name], looks[hinted[0]])]
    for meaning in ("item", "label", "annotator"):
        if meaning in guessed or not free:
            continue
        usable = [name for name in free if fits(meaning, looks[name])]
        if usable:
            item = looks.get(guessed.get("item", ""))
            best = min(usable, key=lambda name: _rank(meaning, item, looks[name]))
            guessed[meaning] = best
            free = _others(best, free, looks)
    order = ("item", "annotator", "label")
    return {meaning: guessed[meaning] for meaning in order if meaning in guessed}


def _share_most(look: Look, item: Look) -> bool:
    """Whether a column of text has most of the names of items."""
    names = {value for value in item.values if isinstance(value, str)}
    return bool(names) and 2 * len(names & set(look.values)) > len(names)


def _rank(meaning: str, item: Look | None, look: Look) -> tuple[float, int]:
    """How unlikely a column has a meaning, where names do not tell.

    Answers about an item agree more often than answers about several, though not always; items have
    the most values.
    """
    if meaning == "item":
        return 0.0, -len(look.values)
    if meaning == "annotator" or item is None:
        return 0.0, len(look.values)
    agreed = agreement(item, look)
    return (0.0 if agreed == 1 else -agreed), len(look.values)


def agreement(item: Look, look: Look) -> float:
    """How much more often rows of one item have the same value than rows of any.

    1 if they always have, -1 if they never have, as people who speak of an item once.
    """
    there = (item.codes >= 0) & (look.codes >= 0)
    pair = item.codes[there] * (len(look.values) + 1) + look.codes[there]
    alike, total, values = (
        float((counts * (counts - 1.0)).sum())
        for counts in (np.unique(codes, return_counts=True)[1]
                       for codes in (pair, item.codes[there], look.codes[there]))
    )  # fmt: skip
    n_rows = int(there.sum())
    chance = values / max(n_rows * (n_rows - 1.0), 1.0)
    if not total or chance == 1:
        return 0.0
    return (alike / total - chance) / (1 - chance) if alike else -1.0


def _others(name: str, names: Sequence[str], looks: Mapping[str, Look]) -> list[str]:
    """Columns that are not a column, nor the same in other words."""
    given = looks[name]
    return [
        other for other in names
        if other != name and (
            len(looks[other].values) != len(given.values)
            or len(set(zip(looks[other].codes.tolist(), given.codes.tolist(), strict=True)))
            > len(given.values)
        )
    ]  # fmt: skip


def fits(meaning: str, look: Look) -> bool:
    """Whether a column could hold items, people or answers, as far as repetitions tell."""
    n_rows, n_values = len(look.codes), len(look.values)
    if meaning == "item":
        return n_values > 1
    is_long = n_rows >= MANY_ROWS
    return n_values > is_long and (not is_long or n_values <= 0.7 * n_rows)


def refuse_unknown(table: Source, found: Mapping[str, str], why: str = "") -> TableError:
    """The error of a table whose columns are not known to hold answers."""
    if not table.names:
        return TableError(f"{table.name} should hold answers", "has no columns", "check the file")
    looks = look_at(table, choose(table, None))
    check_header(table, looks)
    given, item = found, looks.get(found.get("item", ""))
    called = plainly(found.get("item", ""))
    is_called = called in map(plainly, ALIASES["item"]) and not (
        called == "id" and "annotator" in found
    )
    if item is not None and not is_called and len(item.values) == len(item.codes):
        found = {m: name for m, name in found.items() if m != "item"}  # it may count answers
    alike = columns_alike(looks)
    n_rows = max(len(look.codes) for look in looks.values())
    if len(alike) > max(n_rows, 2 * MANY_ALIKE) and "label" not in found:
        why = f"it has {n_rows} rows, fewer than columns with the same answers"
        return refuse_turned(table, alike, why)
    if len(table.names) < 2:
        return TableError(
            f"{table.name} should have columns for the item, the annotator and the label of each "
            "answer",
            f"has one column only, {shown(table.names[0], 60)}",
            "write a table with such columns, separated by commas",
        )
    if "label" not in found and (same := _same_answers(looks, found)):
        return _refuse_same(table, given, same)
    likely = likely_names(table, found, looks)
    real = [name for name, look in looks.items() if look.is_real and name not in likely.values()]
    if "label" not in likely and real and {"item", "annotator"} <= set(likely):
        return TableError(
            f"{table.name} should have a column of labels, which name the same few classes again "
            "and again",
            f"{listed([shown(name) for name in real])} hold{'s' * (len(real) == 1)} fractions",
            "cut these into classes, as with pandas.cut or cut in R, in a column called label",
        )
    names = listed([shown(name) for name in table.names])
    if "label" not in likely and not alike and n_rows >= MANY_ROWS:
        return TableError(
            f"{table.name} should have a column with what people answered",
            f"has {names}, none of which names the same few classes again and again",
            "give the table of answers",
        )
    said = {m: c for m, c in likely.items() if c != m and len(c) <= MOST_LETTERS}
    full = len(likely) == 3 or (len(likely) == 2 and len(looks) == 2)
    return TableError(
        f"{table.name} should have columns for the item, the annotator and the label of each "
        "answer, or one for each annotator or class",
        f"has {names}{why}",
        (
            f"say which are meant, {'probably ' if full else 'as in '}{{names}}",
            "{layout} if each column holds the answers of one person",
        ),
        settings={
            "names": said or {"item": table.names[0][:MOST_LETTERS]},
            "layout": "annotators",
        },
    )


def columns_alike(looks: Mapping[str, Look]) -> list[str]:
    """Columns that share values with half of the others, or with some where they are many."""
    sets = {
        name: {str(value).casefold() for value in look.values}
        for name, look in looks.items()
        if look.values and not look.is_real
    }
    least = min(len(sets) / 2, MANY_ALIKE)
    return [
        name for name, values in sets.items()
        if sum(bool(values & other) for other in sets.values()) > least
    ]  # fmt: skip


def _same_answers(looks: Mapping[str, Look], found: Mapping[str, str]) -> list[str]:
    """Columns of words that hold the same few answers, if these are several."""
    names = [
        name for name in columns_alike(looks)
        if name not in found.values() and not looks[name].is_whole
        and len(looks[name].values) <= 0.7 * len(looks[name].codes)
    ]  # fmt: skip
    counts = [len(looks[name].values) for name in names]
    union = {str(value).casefold() for name in names for value in looks[name].values}
    are_few = bool(names) and len(union) <= 1.5 * np.median(counts) + 2
    return names if are_few and len(names) >= MANY_ALIKE else []


def _refuse_same(table: Source, found: Mapping[str, str], same: Sequence[str]) -> TableError:
    """The error of a table in which answers stand side by side, among other columns."""
    others = [n for n in choose(table, None) if n not in same and n != found.get("item")]
    return TableError(
        f"{table.name} should have a row for each item, or for each answer",
        f"{listed([shown(name) for name in same])} hold the same answers, and "
        f"{listed([shown(name) for name in others])} something else",
        (
            "say {layout}, and {ignore}, if each row is an item and each of these columns a person",
            "write a row for each answer, with the columns item, annotator and label (melt in "
            "pandas, pivot_longer in R), if each row is of one person",
        ),
        settings={"layout": "annotators", "ignore": others},
    )


def refuse_turned(
    table: Source, alike: Sequence[str], why: str, who: str | None = None
) -> TableError:
    """The error of a table with a row for each person and a column for each item."""
    names = choose(table, None)
    others = [name for name in names if name not in alike and name != who]
    ignore = ", and {ignore}," if others else ""
    return TableError(
        f"{table.name} should have a row for each item, or for each answer",
        f"{why}, and {listed([repr(name) for name in alike])} look like items",
        (
            f"say {{layout}}{ignore} if so",
            "write a row for each answer, with the columns item, annotator and label (melt in "
            "pandas, pivot_longer in R)",
        ),
        settings={"layout": "items"} | ({"ignore": others} if others else {}),
    )


def check_header(table: Source, looks: Mapping[str, Look]) -> None:
    """Refuse names of columns that are themselves cells of these columns."""
    same = [
        name for name, look in looks.items()
        if len(look.values) > 1 and name in map(str, look.values)
    ]  # fmt: skip
    if len(same) > 1:
        cells = [
            np.array([str(v) == n for v in [*looks[n].values, ""]])[looks[n].codes] for n in same
        ]
        again = np.flatnonzero(np.logical_and.reduce(cells))
        check_names_again(table, same[0], int(again[0]) if len(again) else -1)
    if same and 2 * len(same) >= len(looks):
        raise TableError(
            f"{table.name} should begin with the names of its columns",
            f"its first line is {listed([shown(name) for name in looks])}, of which "
            f"{listed([shown(name) for name in same])} stand in the rows below as well",
            "write names above it, such as item,annotator,label",
        )
