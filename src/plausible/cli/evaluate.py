"""Score a model on items whose classes are known, or half known.

Example: plausible evaluate model.skops truth.csv features.parquet
"""

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from plausible.cli.clusters import add_cluster, connected
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
from plausible.errors import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the verb."""
    parser.add_argument("model", help="model that plausible fit has saved")
    parser.add_argument("truth", help="table of labels, or of answers")
    parser.add_argument("features", help="table of features, a row for each item")
    add_trust(parser)
    add_seed(parser)
    add_known(parser)
    add_features(parser, learned=True)
    add_cluster(parser, "read and score the rows")


def run(given: argparse.Namespace, talk: Talk) -> dict[str, Any]:
    """Read and score; gives the scores."""
    check_streams(given.model, given.truth, given.features)
    model, about = load_model(given.model, given.trusted)
    chosen = {"classes": about["classes"]} | known_options(given)
    chosen |= feature_options(given) | learned(model, about, given)
    with for_model(), swapped_files(given, about["features"]):
        test = read(given, chosen)
    check_order(about, given, len(test.names))
    notes = [*test.notes, "rows that have a label are scored", f"seed {given.seed}"]
    if hasattr(test, "stream"):
        notes.append("read in pieces")
    talk.note(*notes)
    score = _score_in_pieces if hasattr(test, "stream") else _score_at_once
    found = score(given, model, test)
    talk.say(f"{'score':<32}{'':>8}  95 % interval")
    for row in found["scores"]:
        low, high = (f"{row[key]:.3f}" if row[key] is not None else "?" for key in ("low", "high"))
        shown = "?" if row["estimate"] is None else f"{row['estimate']:.3f}"
        talk.say(f"{row['score']:<32}{shown:>8}  {low} to {high}")
    return {"seed": given.seed, "notes": notes, **found}


@contextmanager
def swapped_files(given: argparse.Namespace, columns: Sequence[str] | None) -> Iterator[None]:
    """A block whose errors say so if the table of labels has the features of the model."""
    try:
        yield
    except InputError as error:
        from plausible.tables import open_table

        wanted, paths = set(columns or ()), (given.truth, given.features)
        if not wanted or "-" in paths:
            raise
        try:
            truth, features = (set(open_table(path).names) for path in paths)
        except ValueError:
            raise error from None
        if not wanted <= truth or wanted & features:
            raise
        raise InputError(
            "The table of labels should come before the features",
            f"{given.truth!r} has the features of the model, and {given.features!r} has none of "
            "them: they look swapped",
            f"write plausible evaluate {given.model} {given.features} {given.truth}",
        ) from error


def read(given: argparse.Namespace, chosen: dict[str, Any]) -> Any:
    """What to score on: in memory, or in pieces where that is too much or a cluster is asked."""
    from plausible.io import is_large, read_training, stream_training
    from plausible.tables import open_table

    if given.cluster is None and (
        given.features == "-" or not is_large(features := open_table(given.features))
    ):
        return read_training(
            given.truth, given.features if given.features == "-" else features, **chosen
        )
    del chosen["n_features"]  # the model refuses another number
    return stream_training(given.truth, given.features, **chosen)


def _score_at_once(given: argparse.Namespace, model: Any, test: Any) -> dict[str, Any]:
    """Scores, by class as well, with what refusing gains."""
    from plausible.report import summarize

    found = summarize(
        model=model, X_test=test.X[test.rows], y_test=test.known.labels, seed=given.seed
    )["scores"]
    if "missing" in found:
        raise ValueError(found["missing"])
    return found


def _score_in_pieces(given: argparse.Namespace, model: Any, test: Any) -> dict[str, Any]:
    """The same scores by sums over pieces, here or on a cluster."""
    from plausible.models import score_rows

    preparation, last = (model[:-1], model[-1]) if hasattr(model, "steps") else (None, model)
    with connected(given.cluster) as client:
        found = score_rows(last, test.stream(preparation, client), random_state=given.seed)
    if not found.n_counted:
        raise InputError(
            f"{given.truth!r} should say something about the items of {given.features!r}",
            f"none of the {found.n_items} rows has a label that does",
            "check the column of items, or say {id}",
            settings={"id": None},
        )
    scores = [{"score": name, **one._asdict()} for name, one in found.scores.items()]
    return {"n_items": test.n_labeled, "n_counted": found.n_counted, "scores": scores}
