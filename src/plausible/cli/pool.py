"""Pool the answers of several people into one soft label for each item.

Example: plausible pool answers.csv -o labels.csv

Answers about very many items (also in a folder of Parquet files) are pooled in parts, by item.
"""

import argparse
from typing import Any

from plausible.cli.clusters import add_cluster, connected
from plausible.cli.options import add_known, add_output, check_output, check_table, known_options
from plausible.cli.talk import Talk, UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the verb."""
    parser.add_argument("answers", help="table of answers: item, annotator, label, doubt")
    add_output(parser, "table of labels")
    add_known(parser)
    add_cluster(parser, "pool parts of the items")


def run(given: argparse.Namespace, talk: Talk) -> dict[str, Any]:
    """Read, pool and write; gives what was found."""
    check_output(given.output, given.answers)
    check_table(given.output)
    from plausible.io import has_many_items, is_long, read_known, write_labels
    from plausible.tables import open_table

    options = known_options(given)
    if (
        given.answers != "-"
        and options.get("form") in (None, "answers")
        and is_table(given.answers)
    ):
        table = open_table(given.answers)
        if (given.cluster or has_many_items(table)) and is_long(table, options):
            return _in_parts(given, talk, table, options)
    if given.cluster:
        raise UsageError(
            "--cluster should pool a table with a row for each answer (item, annotator, label), "
            f"but {given.answers!r} is none; leave --cluster out."
        )
    known = read_known(given.answers, **options)
    talk.note(*known.notes)
    write_labels(known.labels, given.output, items=known.items)
    labels, conflict = known.labels, known.labels.conflict
    worst = None if conflict is None or known.items is None else int(conflict.argmax())
    result: dict[str, Any] = {
        "output": given.output,
        "notes": known.notes,
        "seed": None,
        "n_items": len(labels),
        "classes": labels.classes.tolist(),
        "n_unknown": int((labels.informativeness == 0).sum()),
        "mean_conflict": None if conflict is None else float(conflict.mean()),
    }
    talk.note("seed: none, nothing is drawn")
    talk.say(f"{len(labels)} labels in {given.output}, {result['n_unknown']} of them unknown")
    if worst is not None and conflict is not None and known.items is not None:
        result["worst_item"] = str(known.items[worst])
        talk.say(
            f"Conflict {conflict.mean():.2f} on average, {conflict[worst]:.2f} at most (item "
            f"{known.items[worst]})"
        )
    return result


def is_table(source: str) -> bool:
    """Whether a file is no export of an annotation tool, which is read as a whole."""
    return source != "-" and not source.lower().endswith((".json", ".jsonl", ".ndjson"))


def _in_parts(
    given: argparse.Namespace, talk: Talk, table: Any, options: dict[str, Any]
) -> dict[str, Any]:
    """Pool answers about more items than fit into memory, or on a cluster."""
    from plausible.io import pool_to_file

    chosen = {name: value for name, value in options.items() if name != "form"}
    with connected(given.cluster) as client:
        count = pool_to_file(table, given.output, client=client, **chosen)
    mean = count.conflict / max(count.n_items, 1)
    talk.note(*count.notes, f"{count.n_answers} answers", "seed: none, nothing is drawn")
    talk.say(f"{count.n_items} labels in {given.output}, {count.n_unknown} of them unknown")
    talk.say(f"Conflict {mean:.2f} on average, {count.worst:.2f} at most (item {count.worst_item})")
    return {
        "output": given.output, "notes": count.notes, "seed": None, "n_items": count.n_items,
        "classes": count.classes, "n_unknown": count.n_unknown, "mean_conflict": mean,
        "worst_item": str(count.worst_item),
    }  # fmt: skip
