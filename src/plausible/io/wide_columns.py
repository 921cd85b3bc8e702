"""Tables with a column for each person or class: which are meant, and what they cannot mean."""

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from plausible.io.answer_columns import THINGS, Look, look_at, plainly
from plausible.io.class_columns import cells_of, check_percent, check_ticks
from plausible.io.features import ITEMS
from plausible.io.label_names import may_be_sets, named_sets
from plausible.io.last_rows import check_last_row
from plausible.io.likely_columns import (
    check_header,
    columns_alike,
    fits,
    refuse_turned,
    refuse_unknown,
)
from plausible.models import says_id
from plausible.tables import Source, TableError, choose, listed

ALIKE = 0.15  # by how much sums of counts may vary, relative to their mean
FEW_ROWS = 4  # in which names may differ by chance
MANY_COLUMNS = 9  # for few rows, so that columns may be items
NUMBERED = re.compile(r"(?i)[vxmpc]_?[0-9]+|[0-9]+|col(umn)?_?[0-9]+")  # names that tell nothing
SIGNED = {
    "email",
    "emailaddress",
    "yourname",
    "youremail",
    "username",
    "responseid",
    "respondentid",
}  # who filled in a form
WHEN = {"timestamp", "zeitstempel", "horodateur", "marcatemporal", "submittedat", "submissiondate",
        "starttime", "completiontime", "submitdate"}  # fmt: skip
CALLED_ITEMS = re.compile(  # names of columns that are items: photo 1, q2, img_003.jpg
    r"(?i)(item|photo|image|img|im|picture|pic|question|q|task|doc|document|sample|text|case|i)"
    r"[ _.-]*[0-9]+|.+\.(jpe?g|png|tiff?|txt|wav|mp[34]|pdf)"
)
OMEGA = ("omega", "\u03c9")  # how the set of all classes is called
NUMBERED_LABEL = re.compile(r"(label|answer|class|choice|response|annotation|category)s?[0-9]+")
RESULTS = {
    "majority", "majorityvote", "majoritylabel", "vote", "consensus", "gold", "goldlabel",
    "goldstandard", "truth", "groundtruth", "truelabel", "trueclass", "final", "finallabel",
    "adjudicated", "adjudication", "agreed", "aggregated", "correct", "correctanswer", "expected",
    "reference", "label", "prediction", "predicted",
}  # fmt: skip


def find_wide_item(
    table: Source, found: Mapping[str, str], kind: str | None, aside: Sequence[str]
) -> str | None:
    """The column of items: the only one that is different in every row, or an index of pandas."""
    if "item" in found:
        return None
    free = [n for n in choose(table, None) if n not in found.values() and n not in aside]
    index = sorted(table.index)
    looks = look_at(table, [*index, *free])
    different = [
        name for name, look in looks.items()
        if len(look.values) == len(look.codes) and not look.is_real
        and plainly(name) not in SIGNED | WHEN  # who filled in a form, and when
    ]  # fmt: skip
    if len(index) == 1 and index[0] in different:
        return index[0]
    things = {plainly(name) for name in (*THINGS, *ITEMS)}
    called = [name for name in different if plainly(name) in things]
    n_columns = len(set(choose(table, None)) - set(found.values()))
    if len(called) == 1 and n_columns > 2:
        return called[0]
    n_rows = max((len(look.codes) for look in looks.values()), default=0)
    if len(different) != 1 or n_rows < FEW_ROWS or n_columns < 3:
        return None
    only = different[0]
    may_be_class = kind is not None and looks[only].is_whole and not says_id(only)
    return None if may_be_class else only


def form_states(table: Source, taken: Sequence[str]) -> list[str]:
    """Columns that say how far a form was filled in, as REDCap adds one for each: 0, 1 or 2."""
    names = [n for n in choose(table, None) if n.endswith("_complete") and n not in taken]
    looks = look_at(table, names) if names else {}
    return [n for n in names if looks[n].is_whole and set(looks[n].values) <= {0, 1, 2}]


def check_turned(table: Source, found: Mapping[str, str], ignore: Sequence[str]) -> None:
    """Refuse a table with a row for each person and a column for each item."""
    free = [n for n in choose(table, None) if n not in found.values() and n not in ignore]
    called = [found["annotator"]] if "annotator" in found else []
    has_items = plainly(found.get("item", "id")) != "id"  # an id may be that of a response
    called += [name for name in free if plainly(name) in SIGNED and not has_items]
    plain = {plainly(name): name for name in free}
    if not called and "item" not in found:
        called = [plain[name] for name in sorted(WHEN & set(plain))][:1]
    if not called or "label" in found:
        return
    who = called[0]
    looks = look_at(table, [who, *(name for name in free if name != who)])
    people = looks.pop(who)
    alike = columns_alike(looks)
    if any(plainly(name) in WHEN for name in free) and len(alike) < 3:
        alike = [name for name in looks if plainly(name) not in WHEN]  # a form, surely
    if len(people.values) == len(people.codes) > 1 and len(alike) >= 3:
        when = plainly(who) in WHEN
        why = f"each row is of another {'time' if when else 'person'} ({who!r})"
        raise refuse_turned(table, alike, why, None if when else who)


def check_wide(table: Source, found: Mapping[str, str], ignore: Sequence[str]) -> None:
    """Refuse a table whose columns are not answers of people who chose among the same classes."""
    aside = {*found.values(), *ignore}
    names = [name for name in choose(table, None) if name not in aside]
    looks = look_at(table, names)
    if "item" in found:
        check_last_row(table, found["item"])
    check_header(table, look_at(table, choose(table, None)))
    _check_one_row(table, names, looks, found)
    _check_results(table, names)
    _check_fractions(table, looks, found)
    check_counts(table, looks)
    check_ticks(table, looks)
    if len(names) < 2 or not _share_values(looks):
        why = ", which do not share their values as answers of several people do" * (len(names) > 1)
        raise refuse_unknown(table, found, why)
    _check_items(table, names, looks)


def _check_items(table: Source, names: Sequence[str], looks: Mapping[str, Look]) -> None:
    """Refuse columns that are called as items are: each row may be of another person."""
    n_rows = max((len(look.codes) for look in looks.values()), default=0)
    are_many = len(names) >= MANY_COLUMNS and 3 * n_rows <= len(names)
    if are_many or (len(names) >= 3 and all(map(CALLED_ITEMS.fullmatch, names))):
        what = f"are {len(names)}, for {n_rows} rows" if are_many else "are called as items are"
        raise TableError(
            f"{table.name} should have a row for each item, or for each answer",
            f"its columns {listed([repr(name) for name in names])} {what}",
            (
                "write a row for each answer, with the columns item, annotator and label (melt in "
                "pandas, pivot_longer in R)",
                "say {layout} if each of them holds the answers of one person",
            ),
            settings={"layout": "annotators"},
        )


def _check_one_row(
    table: Source, names: Sequence[str], looks: Mapping[str, Look], found: Mapping[str, str]
) -> None:
    """Refuse one row without an item: names of columns may be items, as keys of JSON are."""
    n_rows = max((len(look.codes) for look in looks.values()), default=0)
    if n_rows == 1 and len(names) > 2 and "item" not in found:
        raise TableError(
            f"{table.name} should have a row for each item",
            f"has one row, and {listed([repr(name) for name in names], len(names))} may be items "
            "or people",
            (
                "write a row for each item, with the columns item and label",
                "say {layout} if each column holds the answer of one person",
            ),
            settings={"layout": "annotators"},
        )


def _check_results(table: Source, names: Sequence[str]) -> None:
    """Refuse what was made of answers, or is known to be right, among columns of people."""
    odd = [name for name in names if plainly(name) in RESULTS]
    if odd and len(names) > len(odd) + 1:
        raise TableError(
            f"Columns of {table.name} should each hold the answers of one person",
            f"{listed([repr(name) for name in odd])} may be what was made of them, or the truth",
            ("leave it out with {ignore}", "say {layout} if a person is called so"),
            settings={"ignore": odd, "layout": "annotators"},
        )


def _check_fractions(table: Source, looks: Mapping[str, Look], found: Mapping[str, str]) -> None:
    """Refuse measurements, which are no answers."""
    odd = [name for name, look in looks.items() if look.is_real]
    if odd:
        check_shares(table, looks)
        others = {name: look for name, look in looks.items() if name not in odd}
        if len(others) > 1 and _share_values(others) and "item" in found:
            raise TableError(
                f"Columns of {table.name} should each hold the answers of one person",
                f"{listed([repr(name) for name in odd])} hold{'s' * (len(odd) == 1)} fractions",
                ("leave it out with {ignore}", "say {layout} if these are answers"),
                settings={"ignore": odd, "layout": "annotators"},
            )
        if len(others) == 1 and not found:
            check_shares(table, {name: looks[name] for name in odd}, next(iter(others)))
        if len(looks) - len(odd) + len(found) >= 3:  # answers may stand in the other columns
            hold = "hold fractions" if len(odd) > 1 else "holds fractions"
            raise refuse_unknown(
                table, found, f", of which {listed([repr(name) for name in odd])} {hold}"
            )
        words = {name: look for name, look in others.items() if not look.is_whole}
        label = next((name for name, look in words.items() if fits("label", look)), None)
        given = None if label is None else {"label": label}
        raise TableError(
            f"{table.name} should hold answers or labels",
            f"has no such columns, and its column{'s' * (len(odd) > 1)} "
            f"{listed([repr(name) for name in odd])} hold{'s' * (len(odd) == 1)} fractions",
            (
                "is this a table of features? Name the columns with {names}",
                "say {kind} if these are degrees by class",
            ),
            settings={"names": given, "kind": None},
        )


def check_shares(table: Source, looks: Mapping[str, Look], item: str | None = None) -> None:
    """Refuse numbers by class that sum to one, or of which the largest is one, with their kind.

    `item` is the only column beside them.
    """
    if len(looks) < 2 or not all(look.is_real or look.is_whole for look in looks.values()):
        return
    cells = cells_of(looks)
    if cells.min() < 0 or cells.max() > 1:
        return
    sums, best = cells.sum(axis=1), cells.max(axis=1)
    kind = "probability" if (np.abs(sums - 1) < 0.01).mean() > 0.5 else "plausibility"
    frames = [name for name in looks if name.strip().casefold() in OMEGA]
    if kind == "probability" and (frames or named_sets(list(looks)) is not None):
        kind = "mass"
    if kind != "plausibility" or (best == 1).mean() > 0.5:
        told = "are at most 1, and 1 somewhere in" if kind == "plausibility" else "sum to 1 in"
        say = "say {kind} if so" if item is None else "say {kind}, and {names}, if so"
        if frames:
            say = say.replace("if so", f"if {frames[0]!r} is that of all classes")
        sets: tuple[str, ...] = ()
        if kind == "probability" and (
            all(map(NUMBERED.fullmatch, looks)) or may_be_sets(list(looks))
        ):
            say = say.replace("if so", "if each is the probability of a class")
            sets = ("call columns of masses by their sets, as in cat|dog",)
        raise TableError(
            f"{table.name} should hold answers or labels",
            f"its columns {listed([repr(name) for name in looks])} look like numbers by class, "
            f"which {told} most rows",
            (say, *sets, "{layout} if each column holds the answers of one person"),
            settings={"kind": kind, "names": {"item": item}, "layout": "annotators"},
        )


def check_numbered(table: Source, free: Sequence[str], people: Sequence[str]) -> None:
    """Refuse people beside what they said, in ``annotator1``, ``label1``, ``annotator2``, ..."""
    labels = [name for name in free if NUMBERED_LABEL.fullmatch(plainly(name))]
    numbers = [{re.sub(r"\D+", "", name) for name in names} for names in (labels, people)]
    if len(labels) > 1 and numbers[0] == numbers[1]:
        raise TableError(
            f"{table.name} should have a row for each answer",
            f"has several in a row: {listed([repr(name) for name in [*people, *labels]])}",
            "write a row for each of them, with the columns item, annotator and label "
            "(wide_to_long in pandas, pivot_longer in R)",
        )


def check_counts(table: Source, looks: Mapping[str, Look]) -> None:
    """Refuse counts of votes by class, and choices by class, which were not said to be such."""
    if len(looks) < 2 or not all(look.is_whole for look in looks.values()):
        return
    cells = cells_of(looks)
    if len(cells) < 2 or cells.min() < 0 or cells.max() > 1000:
        return
    sums = cells.sum(axis=1)
    check_percent(table, looks)
    _check_total(table, looks, cells)
    if cells.max() < 2:
        if (sums == 1).all():
            raise TableError(
                f"{table.name} should hold answers",
                f"its columns {listed([repr(name) for name in looks])} have a single 1 in each "
                "row, as if it marked the class",
                ("say {kind} if so", "{layout} if each column holds the answers of one person"),
                settings={"kind": "set", "layout": "annotators"},
            )
        return
    has_zeros = (cells == 0).mean() >= 0.2
    is_steady = has_zeros and sums.std() <= ALIKE * sums.mean()
    if sums.std() == 0 or is_steady or ((cells == 0).any() and _is_against(cells)):
        raise TableError(
            f"{table.name} should hold answers",
            f"its columns {listed([repr(name) for name in looks])} look like counts by class, "
            f"about {sums.mean():.3g} in each row",
            ("say {kind} if so", "{layout} if each column holds the answers of one person"),
            settings={"kind": "count", "layout": "annotators"},
        )


def _check_total(table: Source, looks: Mapping[str, Look], cells: Any) -> None:
    """Refuse counts by class with a column of their sums."""
    names = list(looks)
    if len(names) < 3 or len(cells) < 3 or not cells.any():
        return
    for k, name in enumerate(names):
        if (2 * cells[:, k] == cells.sum(axis=1)).all():
            others = [other for other in names if other != name]
            raise TableError(
                f"{table.name} should hold answers",
                f"{name!r} is the sum of {listed([repr(other) for other in others])} in each row, "
                "as of counts by class",
                "say {kind}, and {ignore}, if so",
                settings={"kind": "count", "ignore": [name]},
            )


def _is_against(cells: Any) -> bool:
    """Whether columns are high where others are low, unlike answers of people who agree."""
    varied = cells[:, cells.std(axis=0) > 0]
    if len(cells) < 8 or varied.shape[1] < 2:
        return False
    pairs = np.corrcoef(varied.T)[np.triu_indices(varied.shape[1], 1)]
    return bool(pairs.mean() < 0)


def _share_values(looks: Mapping[str, Look]) -> bool:
    """Whether columns hold the same few classes."""
    sets = [_classes_in(look) for look in looks.values() if look.values]
    if len(sets) < 2:
        return False
    union = set().union(*sets)
    n_rows = len(next(iter(looks.values())).codes)
    n_said = sum(int((look.codes >= 0).sum()) for look in looks.values())
    if len(union) > 1.5 * np.median([len(one) for one in sets]) + 2:
        return False
    if n_said >= 20 and len(union) > 0.5 * n_said:
        return False
    if n_rows >= 20 and len(union) > 0.8 * n_rows:  # as ids that stand in several columns
        return False
    if n_rows <= 2:
        return any(one & other for one, other in itertools.combinations(sets, 2))
    return _is_connected(sets)


def _is_connected(sets: list[set[Any]]) -> bool:
    """Whether no columns share their values among themselves alone.

    Examples
    --------
    >>> _is_connected([{"cat"}, {"dog", "eel"}, {"cat", "dog"}])
    True
    >>> _is_connected([{"cat", "dog"}, {"cat"}, {"high", "low"}, {"low"}])
    False
    """
    reached, left = set(sets[0]), sets[1:]
    while near := [one for one in left if one & reached]:
        reached = reached.union(*near)
        left = [one for one in left if not one & reached]
    return not left


def _classes_in(look: Look) -> set[Any]:
    """Different classes that a column names, sets split."""
    texts = [str(value).casefold() for value in look.values]
    return {part.strip() for text in texts for part in text.split("|")} - {"", "?", "cannot tell"}
