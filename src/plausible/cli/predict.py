"""Decide about new items: a class, a set of classes, or a refusal.

Example: plausible predict model.skops new.parquet -o decisions.csv --reject 0.3

Features are found by their names, in any order. Other columns pass through to the decisions.
"""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from plausible.cli.clusters import add_cluster, connected
from plausible.cli.coverage import add_coverage, refusing_loss, set_coverage, what_is_refused
from plausible.cli.options import (
    add_missing,
    add_output,
    add_trust,
    check_output,
    check_streams,
    check_table,
    named_class,
    names,
    share,
)
from plausible.cli.talk import Talk, UsageError
from plausible.errors import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the verb."""
    parser.add_argument("model", help="model that plausible fit has saved")
    parser.add_argument("features", help="table of features, a row for each new item")
    add_output(parser, "table of answers, sets, probabilities and plausibilities")
    parser.add_argument(
        "--reject", type=share, metavar="LOSS",
        help="loss of refusing to answer, where an error is 1 (default: never refuse)",
    )  # fmt: skip
    parser.add_argument(
        "--max-error", type=share, metavar="SHARE",
        help="refuse until this share of the answers is wrong, for a model that was fitted with "
        "--coverage (instead of --reject)",
    )  # fmt: skip
    add_coverage(
        parser, "how often sets should hold the class, for a model that was fitted with --coverage "
        "(default: as it was fitted)"
    )  # fmt: skip
    parser.add_argument("--id", metavar="COLUMN", help="column that names the items")
    parser.add_argument(
        "--keep", type=names, metavar="all|none|NAME,...", default=["all"],
        help="other columns that pass through to the decisions (default: all)",
    )  # fmt: skip
    parser.add_argument(
        "--columns", type=names, metavar="NAME,...",
        help="the features in the order of the model, if its file does not name them",
    )  # fmt: skip
    add_missing(parser)
    add_trust(parser)
    add_cluster(parser, "decide about parts of the items")


def run(given: argparse.Namespace, talk: Talk) -> dict[str, Any]:
    """Load, decide and write; gives what was decided."""
    check_streams(given.model, given.features)
    check_output(given.output, given.model, given.features)
    check_table(given.output)
    from plausible.io import is_large
    from plausible.tables import open_table

    model, about = load_model(given.model, given.trusted)
    set_coverage(model, given.coverage, given.model)
    given.reject = refusing_loss(model, given)
    known = learned(model, about, given)
    options: dict[str, Any] = {
        "names": known["columns"], "n_features": known["n_features"], "id": given.id,
        "usual": about.get("id"), "kinds": known["kinds"], "missing": given.missing,
        "keep": given.keep[0] if given.keep in (["all"], ["none"]) else given.keep,
    }  # fmt: skip
    table = open_table(given.features)
    decide = _decide_in_pieces if given.cluster or is_large(table) else _decide_at_once
    with for_model():
        return decide(given, talk, model, about, table, options)


def _decide_at_once(
    given: argparse.Namespace,
    talk: Talk,
    model: Any,
    about: dict[str, Any],
    table: Any,
    options: dict[str, Any],
) -> dict[str, Any]:
    """Read all items, decide about them, and write."""
    from plausible.io import read_new, write_predictions

    new = read_new(table, **options)
    check_order(about, given, len(new.names))
    notes = [*_tell_model(given, model, about), *_tell_new(model, new, given.features, len(new.X))]
    talk.note(*notes)
    decision = write_predictions(model, new, given.output, reject=given.reject, names=new.names)
    return conclude(given, talk, notes, len(new.X), int(decision.refused.sum()))


def _decide_in_pieces(
    given: argparse.Namespace,
    talk: Talk,
    model: Any,
    about: dict[str, Any],
    table: Any,
    options: dict[str, Any],
) -> dict[str, Any]:
    """The same for more items than fit into memory, or on a cluster."""
    from plausible.io import stream_predictions

    if options["names"] is None:
        check_order(about, given, about["n_features"])
    with connected(given.cluster) as client:
        decided = stream_predictions(
            model, table, given.output, reject=given.reject, client=client, **options
        )
    notes = [*_tell_model(given, model, about), *decided.notes]
    if decided.first is not None:
        notes += _tell_new(model, decided.first, given.features, decided.n_items)
    talk.note(*notes, "read in pieces")
    return conclude(given, talk, [*notes, "read in pieces"], decided.n_items, decided.n_refused)


def _tell_model(given: argparse.Namespace, model: Any, about: dict[str, Any]) -> list[str]:
    """What decides, in words."""
    from plausible.tables import listed

    return [
        f"{given.model}: {about.get('estimator', about['type'])} for the classes "
        f"{listed([*map(str, about['classes'])])}",
        "seed: none, nothing is drawn",
        *what_is_refused(model, given, given.reject),
    ]


def conclude(
    given: argparse.Namespace, talk: Talk, notes: list[str], n_items: int, n_refused: int
) -> dict[str, Any]:
    """What was decided."""
    talk.say(f"{n_items} decisions in {given.output}, {n_refused} of them refusals")
    return {
        "output": given.output, "n_items": n_items, "n_refused": n_refused, "seed": None,
        "notes": notes,
    }  # fmt: skip


def _tell_new(model: Any, new: Any, source: str, n_items: int) -> list[str]:
    """What was found in the features of new items, in words."""
    from plausible.io import preparation_of
    from plausible.tables import listed

    preparation = preparation_of(model)
    told = [
        f"{source}: {n_items} rows of the features {listed(new.names)}",
        *new.notes,
        *(preparation.explain(new.X) if preparation is not None else []),
    ]
    if new.ids is None:
        told.append("rows are numbered from 0: no column names the items (--id)")
    if new.others is not None:
        told.append(f"passed through to the decisions: {listed(new.others.column_names)}")
    return told


def load_model(path: str, trusted: list[str]) -> tuple[Any, dict[str, Any]]:
    """A model, and what its file says about it; further classes only if the user names them."""
    from plausible.io import load_classifier

    return load_classifier(path, [named_class(name) for name in trusted])


@contextmanager
def for_model() -> Iterator[None]:
    """A block that reads features for a model; gaps are also mended by another fit."""
    try:
        yield
    except InputError as error:
        if "kinds" in error.settings:
            error.remedies += ("fit the model with --prepare always",)
        raise


def learned(
    model: Any, about: dict[str, Any], given: argparse.Namespace | None = None
) -> dict[str, Any]:
    """Options of `read_training` for the features that a model has learned."""
    from plausible.io import kinds_of

    columns = getattr(given, "columns", None)
    if columns is not None and about["features"] is not None:
        raise UsageError(
            "--columns should be given for a model whose file does not name its features, but this "
            f"one does ({', '.join(about['features'])}); leave it out."
        )
    return {
        "columns": about["features"] if columns is None else columns,
        "n_features": about["n_features"],
        "kinds": kinds_of(model),
    }


def check_order(about: dict[str, Any], given: argparse.Namespace, n_features: int) -> None:
    """Refuse features whose order only the caller can know."""
    if about["features"] is None and given.columns is None and n_features > 1:
        raise InputError(
            f"{given.model!r} should name its features, to be given those of the same names",
            "does not",
            ("say {columns} in the order of the model", "save it again with save(..., features=)"),
            settings={"columns": None},
        )
