"""Decide about new items: a class, a set of classes, or a refusal.

Example: plausible predict model.skops new.parquet -o decisions.csv --reject 0.3
"""

import argparse
from typing import Any

from plausible.cli.options import (
    add_output,
    add_trust,
    check_output,
    check_streams,
    named_class,
    share,
)
from plausible.cli.talk import Talk


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the verb."""
    parser.add_argument("model", help="model that plausible fit has saved")
    parser.add_argument("features", help="table of features, a row for each new item")
    add_output(parser, "table of answers, sets, probabilities and plausibilities")
    parser.add_argument(
        "--reject", type=share, metavar="LOSS",
        help="loss of refusing to answer, where an error is 1 (default: never refuse)",
    )  # fmt: skip
    parser.add_argument("--id", metavar="COLUMN", help="column that names the items")
    add_trust(parser)


def run(given: argparse.Namespace, talk: Talk) -> dict[str, Any]:
    """Load, decide and write; gives what was decided."""
    check_streams(given.model, given.features)
    check_output(given.output, given.model, given.features)
    from plausible.io import read_new, write_predictions
    from plausible.tables import listed

    model, about = load_model(given.model, given.trusted)
    chosen = about["features"], about["n_features"], given.id, about.get("id")
    new = read_new(given.features, *chosen)
    numbered = "rows are numbered from 0: no column names the items (--id)"
    notes = [
        f"{given.model}: {about.get('estimator', about['type'])} for the classes "
        f"{listed([*map(str, about['classes'])])}",
        f"{given.features}: {len(new.X)} rows of the features {listed(new.names)}",
        *([numbered] if new.ids is None else []),
        "seed: none, nothing is drawn",
    ]
    talk.note(*notes)
    decision = write_predictions(model, new, given.output, reject=given.reject)
    refused = int(decision.refused.sum())
    talk.say(f"{len(new.X)} decisions in {given.output}, {refused} of them refusals")
    return {"output": given.output, "n_items": len(new.X), "n_refused": refused} | {
        "seed": None,
        "notes": notes,
    }


def load_model(path: str, trusted: list[str]) -> tuple[Any, dict[str, Any]]:
    """A model, and what its file says about it; further classes only if the user names them."""
    from plausible.io import load_classifier

    return load_classifier(path, [named_class(name) for name in trusted])
