"""Answers that give a number to each class or set, in a column for each of them."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible import belief
from plausible.checks import check_option
from plausible.experts import ANYONE, KINDS, Annotations, Codes, from_masses
from plausible.io.answer_plans import Plan
from plausible.io.features import check_rows, read_numbers
from plausible.io.label_files import PREFIXES, read_unit
from plausible.io.label_names import named_sets, read_names, read_set, tell_sets
from plausible.io.last_rows import check_last_row
from plausible.tables import Source, TableError

MOST_COUNTED = 10**8  # answers, each of which takes memory


def from_classes(table: Source, plan: Plan, classes: Sequence[Hashable] | None) -> Annotations:
    """Answers with a column for each class, or for each set of classes."""
    kind, columns = str(plan.kind), plan.columns
    check_option(kind, KINDS, "kind")
    if "item" in plan.found:
        check_last_row(table, plan.found["item"])
    numbers = read_numbers(table, columns, "Answers", gaps=False)
    check_rows(table, len(numbers))
    if kind == "count" and np.maximum(numbers, 0.0).sum() > MOST_COUNTED:
        raise TableError(
            f"{table.name} should count at most {MOST_COUNTED:,} answers",
            "counts more",
            "are these counts? Say {kind} otherwise",
            settings={"kind": None},
        )
    more: dict[str, Any] = {
        f"{meaning}s": ids_of(table, plan.found[meaning])
        for meaning in ("item", "annotator")
        if meaning in plan.found
    }
    if "doubt" in plan.found:
        more["doubt"] = read_unit(table, [plan.found["doubt"]], "Doubt")[:, 0]
    is_marked = all(name.partition(":")[0] in PREFIXES and ":" in name for name in columns)
    bare = [name.partition(":")[2] for name in columns] if is_marked else list(columns)
    sets = named_sets(bare, True) if kind == "mass" and not is_marked else None
    if sets is not None:
        table.notes += tell_sets(bare, sets)
    if kind == "mass" and (is_marked or sets is not None):
        return from_sets(table, sets or bare, numbers, more, classes)
    if is_marked and classes is None:
        names = read_names(bare)
    else:
        names = bare if classes is None else list(classes)
    return Annotations.from_classes(numbers, kind, names, **more)


def ids_of(table: Source, name: str) -> Codes:
    """A column of items or annotators."""
    codes, names = table.encoded(name)
    blank = codes < 0
    if blank.any():
        raise TableError(
            f"Column {name!r} of {table.name} should have an entry in every row, but is empty in "
            f"{table.where((np.flatnonzero(blank) + 1).tolist())}; fill it, or drop these rows."
        )
    return Codes(codes, names)


def from_sets(
    table: Source,
    bare: list[str],
    masses: NDArray[np.float64],
    more: dict[str, Any],
    classes: Sequence[Hashable] | None,
) -> Annotations:
    """Answers with a mass for each set of classes; plausibilities beside them name the classes."""
    beside = [n.removeprefix("plausibility:") for n in table.names if n.startswith("plausibility:")]
    parts = [read_set(name) for name in bare]
    names = read_names([*beside, *(part for members in parts for part in members)])
    members = iter(names[len(beside) :])
    sets = [[next(members) for _ in part] for part in parts]
    frame = names[: len(beside)] or sorted({name for part in sets for name in part})
    frame = list(classes) if classes is not None and not beside else frame
    said = from_masses(masses, belief.encode_sets(sets, frame), np.array(frame))
    n_rows = len(masses)
    every = np.arange(n_rows)
    anyone = Codes(np.zeros(n_rows, dtype=np.int64), np.array([ANYONE]))
    return Annotations._made(
        more.get("items", Codes(every, every)), more.get("annotators", anyone), said,
        more.get("doubt"),
    )  # fmt: skip
