"""Tell what files are taken to mean, before anything is made of them.

Example: plausible check answers.csv features.csv

It reads as plausible fit does, and tells which columns, classes, people and items were found, what
is not used, and what has to be decided, with the option that does so. The exit code is 1 if
something has to be decided.
"""

import argparse
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from plausible.cli.options import (
    EXPORTS,
    add_features,
    add_known,
    check_streams,
    feature_options,
    known_options,
    name_option,
)
from plausible.cli.talk import BAD_DATA, Talk
from plausible.cli.wording import worded

TRIES = 6  # settings that are tried one after the other, to see what else there is to decide
OF_FEATURES = ("id", "columns", "kinds", "missing", "on_unmatched")
MANY = 12  # classes, people and columns that are told


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the verb."""
    parser.add_argument("answers", help="table of answers, or of labels")
    parser.add_argument("features", nargs="?", help="table of features, a row for each item")
    add_known(parser)
    add_features(parser)


def run(given: argparse.Namespace, talk: Talk) -> dict[str, Any]:
    """Read, and tell what was found; gives the same as a dictionary."""
    check_streams(given.answers, given.features)
    with kept(given):
        return look(given, talk)


@contextmanager
def kept(given: argparse.Namespace) -> Iterator[None]:
    """A block in which what comes only once, by a pipe, is a file, to be read several times."""
    once = {
        name: source for name in ("answers", "features")
        if (source := getattr(given, name)) == "-" or (source and Path(source).is_fifo())
    }  # fmt: skip
    if not once:
        yield
        return
    with TemporaryDirectory() as folder:
        for name, source in once.items():
            called = "standard input" if source == "-" else Path(source).name
            path = Path(folder) / called
            path.write_bytes(
                sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
            )
            setattr(given, name, str(path))
        yield


def look(given: argparse.Namespace, talk: Talk) -> dict[str, Any]:
    """The same for files."""
    found: dict[str, Any] = {"answers": None, "features": None, "notes": [], "to_decide": []}
    options = known_options(given)
    chosen = feature_options(given)
    tried: dict[str, Any] = {}
    known, training = read(given, options, chosen, found, tried)
    if known is not None:
        found["answers"] = _about_answers(given.answers, known, options | tried)
        found["notes"] = list(map(worded, known.notes))
    if training is not None:
        found["features"] = _about_features(given.features, training)
        found["notes"] = [*map(worded, training.notes), *found["features"].pop("prepared")]
    can_go_on = known is not None and (given.features is None or training is not None)
    found["command"] = _next_command(given, tried) if can_go_on else None
    tell(talk, found)
    count = len(found["to_decide"])
    if not count:
        return found
    message = f"{count} thing{'s have' if count > 1 else ' has'} to be decided before a fit."
    talk.fail(message)
    return found | {"exit_code": BAD_DATA, "error": message}


def read(
    given: argparse.Namespace,
    options: dict[str, Any],
    chosen: dict[str, Any],
    found: dict[str, Any],
    tried: dict[str, Any],
) -> tuple[Any, Any]:
    """What is known, and what goes with it; None for what cannot be read.

    What stands in the way is put down; where a setting would mend it, that is tried, so that what
    comes after it is found as well.
    """
    from plausible.io import read_training

    for _ in range(TRIES):
        try:
            if given.features is None:
                return read_answers(given, options | tried), None
            settings = options | chosen | tried
            if isinstance(chosen.get("kinds"), dict):
                settings["kinds"] = chosen["kinds"] | tried.get("kinds", {})
            training = read_training(given.answers, given.features, **settings)
            return training.known, training
        except ValueError as error:
            of_answers = {name: tried[name] for name in tried if name not in OF_FEATURES}
            known = read_answers(given, options | of_answers, is_sure=False)
            mends = _put_down(given, error, "answers" if known is None else "features", found)
            if mends is None:
                return known, None
            mends = {name: _added(tried.get(name), value) for name, value in mends.items()}
            if all(name in tried and tried[name] == value for name, value in mends.items()):
                return known, None
            tried |= mends
    return None, None


def read_answers(given: argparse.Namespace, options: dict[str, Any], is_sure: bool = True) -> Any:
    """What the first file holds; None if it cannot be read, unless that is sure to be told."""
    from plausible.io import read_known

    try:
        return read_known(given.answers, **options)
    except ValueError:
        if is_sure:
            raise
        return None


def _put_down(
    given: argparse.Namespace, error: ValueError, about: str, found: dict[str, Any]
) -> dict[str, Any] | None:
    """Note what has to be decided; the parameters of the first remedy that would mend it.

    None if the same was told before, so that this does not.
    """
    from plausible.cli.main import in_words

    settings = getattr(error, "settings", {})
    mends = {name: name_option(given, name, value) for name, value in settings.items()}
    can = [name for name, value in settings.items() if value is not None and mends[name]]
    options = [mends[name] for name in can]
    told = {"about": about, "what": in_words(error, None, given), "options": options}
    if told in found["to_decide"]:
        return None
    found["to_decide"].append(told)
    remedies = getattr(error, "remedies", ())
    remedies = [remedies] if isinstance(remedies, str) else remedies
    first = next((words for words in remedies if any(f"{{{name}}}" in words for name in can)), "")
    together = [name for name in can if f"{{{name}}}" in first] or can[:1]
    return {name: settings[name] for name in together}


def _added(tried: Any, value: Any) -> Any:
    """A setting beside what was tried before: further names of columns, or columns."""
    if isinstance(tried, dict) and isinstance(value, dict):
        return tried | value
    if isinstance(tried, list) and isinstance(value, list):
        return list(dict.fromkeys([*tried, *value]))
    return value


def _about_answers(source: str, known: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Layout, columns, classes and people."""
    annotations, labels = known.annotations, known.labels
    about: dict[str, Any] = {
        "file": source,
        "holds": "labels" if annotations is None else "answers",
        "n_items": len(labels),
        "n_answers": None if annotations is None else len(annotations),
        "classes": _counts_of_classes(known),
        "people": None if annotations is None else _counts_of_people(annotations),
        "n_unknown": int((labels.informativeness == 0).sum()),
    }
    return about | _columns_of_answers(source, options)


def _counts_of_classes(known: Any) -> dict[str, int]:
    """How many answers, or labels, name each class, alone or with others, doubts aside."""
    if known.annotations is None:
        scaled = known.labels[known.labels.informativeness > 0].scaled()
        counts = (scaled >= 1 - 1e-9).sum(axis=0)  # of the most plausible classes
    else:
        members = known.annotations.contours > 0
        is_alone = members.shape[1] == 1  # of a single class, all members are no doubt
        says = members.any(axis=1) & (~members.all(axis=1) | is_alone)
        counts = (members & says[:, None])[known.annotations.statement].sum(axis=0)
    names = map(str, known.labels.classes.tolist())
    return dict(zip(names, counts.tolist(), strict=True))


def _counts_of_people(annotations: Any) -> dict[str, int]:
    """How many answers each person gave."""
    import numpy as np

    counts = np.bincount(annotations.annotator, minlength=len(annotations.annotators))
    names = map(str, annotations.annotators.tolist())
    return dict(zip(names, counts.tolist(), strict=True))


def _columns_of_answers(source: str, options: dict[str, Any]) -> dict[str, Any]:
    """Columns of a table, and what they are taken for, where they are named so."""
    from plausible.io import find_meanings, stream_table, tool_in

    if source == "-" or options.get("form") in EXPORTS or tool_in(source) in EXPORTS:
        return {}
    try:
        stream = stream_table(source)
        names, ignore = options.get("names") or {}, options.get("ignore", ())
        meant = find_meanings(stream.table, names, ignore, options)
    except (ValueError, OSError):  # no table, but an export of an annotation tool
        return {}
    types = {field.name: str(field.type) for field in stream.schema}
    return {"columns": types, "meanings": {str(one): str(name) for one, name in meant.items()}}


def _about_features(source: str, training: Any) -> dict[str, Any]:
    """Rows, ids and columns of features, and what would be done with them."""
    from plausible.models import FeaturePreparation

    X = training.X
    prepared: list[str] = []
    if hasattr(X, "columns"):
        told = FeaturePreparation(training.kinds).fit(X).explain()
        prepared = [f"prepared: {line}" for line in told]
    return {
        "file": source,
        "n_rows": len(X),
        "id": training.id,
        "n_matched": len(training.rows),
        "n_without_labels": len(X) - len(training.rows),
        "kinds": training.kinds,
        "prepared": prepared,
    }


def _next_command(given: argparse.Namespace, tried: dict[str, Any]) -> str:
    """The command that comes next, with the options that mend what was found."""
    words = given.command.split(" ", 2)[2] if given.command.count(" ") > 1 else ""
    mends = " ".join(str(name_option(given, name, value)) for name, value in tried.items())
    verb, output = ("fit", "model.skops") if given.features is not None else ("pool", "labels.csv")
    kept = shlex.join(word for word in shlex.split(words) if word not in ("--json", "--quiet"))
    return " ".join(filter(None, ["plausible", verb, kept, mends, "-o", output]))


def tell(talk: Talk, found: dict[str, Any]) -> None:
    """The same for people."""
    from plausible.checks import counted

    answers, features = found["answers"], found["features"]
    for number, problem in enumerate(found["to_decide"], 1):
        talk.say(f"{number}. to decide ({problem['about']}): {problem['what']}")
    if found["to_decide"] and found["command"]:
        talk.say("If this is decided as in the command below:")
    if answers is not None:
        n_answers = answers["n_answers"]
        said = "" if n_answers is None else f"{counted(n_answers, 'answer')} about "
        talk.say(
            f"{answers['file']}: {answers['holds']}; {said}{counted(answers['n_items'], 'item')}"
        )
        if answers.get("meanings"):
            talk.say(f"  columns: {shown({v: k for k, v in answers['meanings'].items()}, ' is ')}")
        n_classes = len(answers["classes"])
        talk.say(f"  {n_classes} class{'es' * (n_classes != 1)}: {shown(answers['classes'])}")
        if answers["people"]:
            n_people = len(answers["people"])
            count = "1 person" if n_people == 1 else f"{n_people} people"
            talk.say(f"  {count}: {shown(answers['people'])}")
    if features is not None:
        by = "in order" if features["id"] is None else f"by {features['id']!r}"
        talk.say(
            f"{features['file']}: {features['n_rows']} rows, {features['n_matched']} of them with "
            f"labels, matched {by}"
        )
        talk.say(f"  features: {shown(features['kinds'], ' is a ')}")
    for note in found["notes"]:
        talk.say(f"note: {note}")
    talk.say(f"next: {found['command'] or 'mend what is told above, and check again'}")


def shown(counts: dict[str, Any], between: str = " ") -> str:
    """Names with what belongs to them; the first ones of many."""
    told = [f"{name}{between}{value}" for name, value in list(counts.items())[:MANY]]
    return ", ".join(told) + (f", and {len(counts) - MANY} more" if len(counts) > MANY else "")
