"""What a report is about: what was given, checked and brought together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible.checks import as_list, check_kind, check_texts
from plausible.experts import Annotations
from plausible.labels import Labels, as_labels
from plausible.models import Beliefs, believe
from plausible.report.words import name_of


@dataclass(frozen=True, eq=False)
class KnownItems:
    """What is known about the items; `is_pooled_here` if this report made the labels of answers."""

    labels: Labels | None
    annotations: Annotations | None
    conflict: NDArray[np.float64] | None
    items: Sequence[Any] | None
    is_pooled_here: bool = False

    def names(self, n_items: int) -> list[str]:
        """Names of the items, or their rows."""
        return self.given_names or [f"row {row}" for row in range(n_items)]

    @cached_property
    def given_names(self) -> list[str]:
        """Names of the items, if they were given."""
        return [] if self.items is None else [name_of(item) for item in self.items]


@dataclass(frozen=True, eq=False)
class Asked:
    """What a model believes about some items, whose labels may be known."""

    about: str
    beliefs: Beliefs
    labels: Labels | None
    names: list[str]


def read_input(
    labels: Any,
    annotations: Annotations | None,
    items: Sequence[Any] | None,
    pooling: Mapping[str, Any] | None = None,
) -> KnownItems:
    """Labels, conflict and names of the items from what was given."""
    given = None if labels is None else as_labels(labels)
    if given is not None and annotations is not None and len(given) != len(annotations.items):
        raise ValueError(
            f"labels should be those of the {len(annotations.items)} items of the annotations, but "
            f"there are {len(given)}; give both for the same items in the same order."
        )
    conflict = None if given is None else given.conflict
    known = given
    if annotations is not None and conflict is None:
        pooled = annotations.pool(**{"on_conflict": "unknown"} | dict(pooling or {}))
        conflict, known = pooled.conflict, pooled if given is None else given
    items = items if items is None else as_list(items, "items", "names")
    if items is not None and known is not None and len(items) != len(known):
        raise ValueError(
            f"items should be one name for each of the {len(known)} labels, but there are "
            f"{len(items)}; give one for each."
        )
    if items is None and annotations is not None:
        items = annotations.items.tolist()
    is_ours = given is None and annotations is not None
    return KnownItems(known, annotations, conflict, items, is_ours)


def ask_about_items(known: KnownItems, model: Any, X: Any) -> Asked:
    """What the model believes about the labeled items."""
    beliefs = believe(model, X)
    check_rows(len(beliefs), known.labels, "X", "labels")
    if known.items is not None and len(known.items) != len(beliefs):
        raise ValueError(
            f"items should be one name for each of the {len(beliefs)} rows of X, but there are "
            f"{len(known.items)}; give one for each."
        )
    return Asked("items", beliefs, known.labels, known.names(len(beliefs)))


def ask_about_tests(model: Any, X_test: Any, y_test: Any) -> Asked:
    """What the model believes about the test items."""
    beliefs, truth = believe(model, X_test), None if y_test is None else as_labels(y_test)
    check_rows(len(beliefs), truth, "X_test", "y_test")
    return Asked("test items", beliefs, truth, [f"test row {row}" for row in range(len(beliefs))])


def check_rows(n_rows: int, labels: Labels | None, features: str, name: str) -> None:
    """Refuse labels of other items than the features."""
    if labels is not None and len(labels) != n_rows:
        raise ValueError(
            f"{name} should have one row for each of the {n_rows} rows of {features}, but "
            f"have {len(labels)}; give both for the same items in the same order."
        )


def check_contents(values: Any, name: str, n_items: int) -> list[Any] | None:
    """Texts or pictures, one for each item."""
    if values is None:
        return None
    found = as_list(values, name, "one for each item")
    if len(found) != n_items:
        raise ValueError(
            f"{name} should be one for each of the {n_items} items, but there are {len(found)}; "
            "give None where an item has none."
        )
    return found


def check_options(
    annotations: Any, reliability: Any, pooling: Any, notes: Any
) -> tuple[dict[str, Any], list[str]]:
    """Options of the reliabilities, and the notes."""
    if annotations is not None:
        check_kind(annotations, Annotations, "annotations", "make them with Annotations.from_long")
    for name, options, example in (
        ("reliability", reliability, "{'model': 'full'}"),
        ("pooling", pooling, "{'rule': 'dempster', 'doubt': 0.1}"),
    ):
        if options is not None:
            check_kind(options, Mapping, name, f"write {example}")
            check_texts(options, name, "options by name")
    return dict(reliability or {}), check_texts(notes, "notes", "sentences")
