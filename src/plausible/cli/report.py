"""Write a report on labels, experts and a model: one HTML page.

Example: plausible report answers.csv features.parquet --model model.skops -o report.html
"""

import argparse
from pathlib import Path
from typing import Any

from plausible.cli.options import (
    EXPORTS,
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
    parser.add_argument(
        "features", nargs="?", help="table of features, of which there is an overview; for --model"
    )
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
    parser.add_argument(
        "--text", metavar="COLUMN",
        help="column of the features, or of the answers, that holds the text of each item",
    )  # fmt: skip
    parser.add_argument(
        "--picture", metavar="COLUMN",
        help="the same with the path of a picture, of which the page has a small copy; paths are "
        "relative to the folder of the table, and addresses on the web become links",
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
    if given.model is not None and given.features is None and given.test is None:
        raise UsageError(
            "--model and features should come together; give both, or neither for a report on "
            "labels alone."
        )
    if given.test is not None and given.model is None:
        raise UsageError("--test and --model should come together; give both, or neither.")
    from plausible.report import label_report

    parts, notes = _read_inputs(given)
    talk.note(*notes, f"seed {given.seed}")
    summary = label_report(
        given.output,
        **parts,
        notes=list(map(worded, notes)),
        title=given.title,
        reject=given.reject,
        seed=given.seed,
        command=given.command,
        date=today(),
    ).summary
    talk.say(f"Report: {given.output}")
    return {"output": given.output, "seed": given.seed, "notes": notes, "summary": summary}


def _read_inputs(given: argparse.Namespace) -> tuple[dict[str, Any], list[str]]:
    """What the report is about, and what was assumed."""
    from plausible.io import read_known, read_training

    parts: dict[str, Any] = {}
    chosen = feature_options(given)
    if given.model is not None:
        parts["model"], about = load_model(given.model, given.trusted)
        chosen |= learned(parts["model"], about, given)
    options = known_options(given)
    answers, features = _open_sources(given)
    rows = None
    if features is None:
        known = read_known(answers, **options)
        notes = known.notes
    else:
        if given.model is None:
            chosen |= _of_any_kind(given, features)
        with for_model():
            training = read_training(answers, features, **chosen, **options)
        if given.model is not None:
            check_order(about, given, len(training.names))
        known, notes, rows = training.known, training.notes, training.rows
        parts |= {"X": training.X[rows], "feature_names": training.names}
    parts |= {"labels": known.labels, "annotations": known.annotations}
    if known.annotations is not None:
        asked = ("rule", "doubt", "on_conflict", "dependence")
        how = {name: options[name] for name in asked if name in options}
        parts["pooling"] = how
    if known.items is not None:
        parts["items"] = known.items.tolist()
    for name, column in (("texts", given.text), ("pictures", given.picture)):
        if column is not None:
            parts[name] = _find_contents(given, column, answers, features, rows, known.items)
    if given.picture is not None:
        parts["pictures"] = _beside_their_table(given, parts["pictures"], features)
    if given.test is not None:
        test = read_training(*given.test, **chosen, classes=about["classes"])
        parts |= {"X_test": test.X[test.rows], "y_test": test.known.labels}
        parts.setdefault("feature_names", test.names)
        notes = [*notes, *(f"test: {worded(note)}" for note in test.notes)]
    return parts, notes


def _open_sources(given: argparse.Namespace) -> tuple[Any, Any]:
    """The tables of answers and of features, opened once."""
    from plausible.io import stream_table

    shows = given.text is not None or given.picture is not None
    answers = stream_table(given.answers) if shows and not _is_export(given) else given.answers
    return answers, None if given.features is None else stream_table(given.features)


def _is_export(given: argparse.Namespace) -> bool:
    """Whether answers are the JSON of an annotation tool."""
    from plausible.io import tool_in

    return given.form in EXPORTS or tool_in(given.answers) in EXPORTS


def _of_any_kind(given: argparse.Namespace, features: Any) -> dict[str, Any]:
    """Options of `read_training` for features that no model has learned: they are only shown."""
    shown = [name for name in (given.text, given.picture) if name in features.names]
    return {"columns": given.columns, "kinds": dict.fromkeys(shown, "left out") or "any"}


def _find_contents(
    given: argparse.Namespace,
    column: str,
    answers: Any,
    features: Any,
    rows: Any,
    items: Any,
) -> list[Any]:
    """A column of the features, or else of the answers, for each item."""
    from plausible.errors import InputError
    from plausible.io import field_of_items, read_table

    if features is not None and column in features.names and rows is not None:
        values = read_table(features, [column]).column(0).to_pylist()
        return [values[row] for row in rows]
    if _is_export(given) and items is not None:
        try:
            named = field_of_items(given.answers, column, (given.names or {}).get("item"))
        except InputError as error:
            raise UsageError(
                f"{column!r} should be a field of the answers, but {error.came}; name one of these."
            ) from None
        return [named.get(_as_name(item)) for item in items.tolist()]
    if column not in getattr(answers, "names", []):
        tables = [table for table in (features, answers) if hasattr(table, "names")]
        names = [name for table in tables for name in table.names]
        raise UsageError(
            f"{column!r} should be a column of the features or of the answers, but these have "
            f"{', '.join(names) or 'no columns'}; name one of these."
        )
    table = read_table(answers)
    values = table.column(column).to_pylist()
    if items is None:
        return values
    place = _column_of_items(table, column, items, (given.names or {}).get("item"))
    first: dict[str, Any] = {}
    for name, value in zip(table.column(place).to_pylist(), values, strict=True):
        if value is not None:
            first.setdefault(_as_name(name), value)
    return [first.get(_as_name(item)) for item in items.tolist()]


def _column_of_items(table: Any, shown: str, items: Any, said: str | None) -> str:
    """The column of a table that holds the items."""
    wanted = {_as_name(item) for item in items.tolist()}
    for name in [said] if said else [name for name in table.column_names if name != shown]:
        if wanted <= {_as_name(value) for value in table.column(name).to_pylist()}:
            return str(name)
    raise UsageError(
        f"A column beside {shown!r} should hold the items, but none does; say which with --names "
        "item=COLUMN."
    )


def _as_name(value: Any) -> str:
    """An item as text, as tables are matched by it."""
    from plausible.experts import canonical

    return canonical(value)


def _beside_their_table(given: argparse.Namespace, pictures: list[Any], features: Any) -> list[Any]:
    """Paths of pictures from the folder of the table that names them."""
    is_measured = features is not None and given.picture in features.names
    table = given.features if is_measured else given.answers
    folder = Path() if table == "-" else Path(table).parent
    return [
        name if name is None or "://" in str(name) else str(folder / str(name)) for name in pictures
    ]


def today() -> str:
    """The date in words."""
    from datetime import date

    now = date.today()
    return f"{now.day} {now:%B %Y}"
