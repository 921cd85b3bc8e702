"""Write a report on labels, experts and a model: one HTML page.

Example: plausible report answers.csv features.parquet --model model.skops -o report.html
"""

import argparse
from typing import Any

from plausible.cli.options import (
    add_features,
    add_known,
    add_output,
    add_seed,
    add_trust,
    check_output,
    check_streams,
    feature_options,
    known_options,
    share,
)
from plausible.cli.predict import check_order, for_model, learned, load_model
from plausible.cli.talk import Talk, UsageError
from plausible.cli.wording import worded


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the verb."""
    parser.add_argument("answers", help="table of answers, or of labels")
    parser.add_argument("features", nargs="?", help="table of features; needed with --model")
    add_output(parser, "the page")
    parser.add_argument("--model", metavar="FILE", help="model that plausible fit has saved")
    parser.add_argument(
        "--test", nargs=2, metavar=("TRUTH", "FEATURES"),
        help="labels and features of items that the model has not seen",
    )  # fmt: skip
    parser.add_argument("--title", default="Label report")
    parser.add_argument(
        "--reject", type=share, default=0.3, metavar="LOSS",
        help="loss of refusing to answer, where an error is 1 (default 0.3)",
    )  # fmt: skip
    add_trust(parser)
    add_seed(parser)
    add_known(parser)
    add_features(parser, learned=True)


def run(given: argparse.Namespace, talk: Talk) -> dict[str, Any]:
    """Read, summarize and write; gives the numbers on the page."""
    tests = given.test or [None, None]
    check_streams(given.answers, given.features, given.model, *tests)
    check_output(given.output, given.answers, given.features, given.model, *tests)
    if (given.model is None) != (given.features is None and given.test is None):
        raise UsageError(
            "--model and features should come together; give both, or neither for a report on "
            "labels alone."
        )
    from plausible.report import label_report

    parts, notes = read_inputs(given)
    talk.note(*notes, f"seed {given.seed}")
    summary = label_report(
        given.output,
        **parts,
        title=given.title,
        reject=given.reject,
        seed=given.seed,
        command=given.command,
        date=today(),
    )
    talk.say(f"Report: {given.output}")
    return {"output": given.output, "seed": given.seed, "notes": notes, "summary": summary}


def read_inputs(given: argparse.Namespace) -> tuple[dict[str, Any], list[str]]:
    """What the report is about, and what was assumed."""
    from plausible.io import read_known, read_training

    parts: dict[str, Any] = {}
    chosen = feature_options(given)
    if given.model is not None:
        parts["model"], about = load_model(given.model, given.trusted)
        chosen |= learned(parts["model"], about, given)
    options = known_options(given)
    if given.features is None:
        known = read_known(given.answers, **options)
        notes = known.notes
    else:
        with for_model():
            training = read_training(given.answers, given.features, **chosen, **options)
        check_order(about, given, len(training.names))
        known, notes = training.known, training.notes
        parts["X"] = training.X[training.rows]
    parts |= {"labels": known.labels, "annotations": known.annotations}
    if known.items is not None:
        parts["items"] = known.items.tolist()
    if given.test is not None:
        test = read_training(*given.test, **chosen, classes=about["classes"])
        parts |= {"X_test": test.X[test.rows], "y_test": test.known.labels}
        notes = [*notes, *(f"test: {worded(note)}" for note in test.notes)]
    return parts, notes


def today() -> str:
    """The date in words."""
    from datetime import date

    now = date.today()
    return f"{now.day} {now:%B %Y}"
