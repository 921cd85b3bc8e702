"""Pool the answers of several people into one soft label for each item.

Example: plausible pool answers.csv -o labels.csv
"""

import argparse
from typing import Any

from plausible.cli.options import add_known, add_output, check_output, check_table, known_options
from plausible.cli.talk import Talk


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the verb."""
    parser.add_argument("answers", help="table of answers: item, annotator, label, doubt")
    add_output(parser, "table of labels")
    add_known(parser)


def run(given: argparse.Namespace, talk: Talk) -> dict[str, Any]:
    """Read, pool and write; gives what was found."""
    check_output(given.output, given.answers)
    check_table(given.output)
    from plausible.io import read_known, write_labels

    known = read_known(given.answers, **known_options(given))
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
