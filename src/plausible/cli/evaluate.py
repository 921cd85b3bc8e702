"""Score a model on items whose classes are known, or half known.

Example: plausible evaluate model.skops truth.csv features.parquet
"""

import argparse
from typing import Any

from plausible.cli.options import (
    add_features,
    add_known,
    add_seed,
    add_trust,
    check_streams,
    feature_options,
    known_options,
)
from plausible.cli.predict import check_order, for_model, learned, load_model
from plausible.cli.talk import Talk


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the verb."""
    parser.add_argument("model", help="model that plausible fit has saved")
    parser.add_argument("truth", help="table of labels, or of answers")
    parser.add_argument("features", help="table of features, a row for each item")
    add_trust(parser)
    add_seed(parser)
    add_known(parser)
    add_features(parser, learned=True)


def run(given: argparse.Namespace, talk: Talk) -> dict[str, Any]:
    """Read and score; gives the scores."""
    check_streams(given.model, given.truth, given.features)
    from plausible.io import read_training
    from plausible.report import summarize

    model, about = load_model(given.model, given.trusted)
    chosen = {"classes": about["classes"]} | known_options(given)
    chosen |= feature_options(given) | learned(model, about, given)
    with for_model():
        test = read_training(given.truth, given.features, **chosen)
    check_order(about, given, len(test.names))
    talk.note(*test.notes, "rows that have a label are scored", f"seed {given.seed}")
    found = summarize(
        model=model, X_test=test.X[test.rows], y_test=test.known.labels, seed=given.seed
    )["scores"]
    if "missing" in found:
        raise ValueError(found["missing"])
    talk.say(f"{'score':<32}{'':>8}  95 % interval")
    for row in found["scores"]:
        low, high = (f"{row[key]:.3f}" if row[key] is not None else "?" for key in ("low", "high"))
        shown = "?" if row["estimate"] is None else f"{row['estimate']:.3f}"
        talk.say(f"{row['score']:<32}{shown:>8}  {low} to {high}")
    return {"seed": given.seed, "notes": test.notes, **found}
