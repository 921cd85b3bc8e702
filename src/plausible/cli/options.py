"""Options that verbs share, and what they become."""

import argparse
import json
import os
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from plausible.cli.talk import UsageError
from plausible.cli.wording import as_option

RULES = (
    "dempster", "conjunctive", "disjunctive", "cautious", "bold", "yager", "dubois_prade", "pcr6",
    "mean",
)  # fmt: skip
MEANINGS = (
    "item", "annotator", "label", "doubt", "confidence", "count", "plausibility", "probability",
    "mass",
)  # fmt: skip
EXPORTS = ("label-studio", "doccano", "prodigy", "argilla")
TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".arrow", ".feather", ".csv.gz")


def names(text: str) -> list[str]:
    """Names between commas, or in a list of JSON."""
    found = [part.strip() for part in text.split(",")]
    if text.startswith("["):
        with suppress(ValueError):
            found = [str(part) for part in json.loads(text)]
    if not all(found) or len(set(found)) < len(found):
        raise argparse.ArgumentTypeError(f"{text!r} should be different names between commas")
    return found


def mapping(text: str) -> dict[str, str]:
    """``"item=task,annotator=worker"``."""
    pairs = [part.partition("=") for part in names(text)]
    if not all(middle and left and right for left, middle, right in pairs):
        raise argparse.ArgumentTypeError(f"{text!r} should be pairs such as item=task,label=answer")
    strange = [left for left, _, _ in pairs if left.strip() not in MEANINGS]
    if strange:
        raise argparse.ArgumentTypeError(f"{strange[0]!r} should be one of {', '.join(MEANINGS)}")
    return {left.strip(): right.strip() for left, _, right in pairs}


def meaning(text: str) -> dict[str, str]:
    """``"not sure=cannot tell"``, or an object of JSON."""
    if text.startswith("{"):
        with suppress(ValueError):
            found = json.loads(text)
            if isinstance(found, dict):
                return {str(cell): str(meant) for cell, meant in found.items()}
    cell, middle, meant = text.partition("=")
    if not (middle and meant.strip()):
        raise argparse.ArgumentTypeError(
            f"{text!r} should say what an answer means, such as 'not sure=cannot tell'"
        )
    return {cell.strip(): meant.strip()}


def doubts(text: str) -> dict[str, float]:
    """``"high=0.05,low=0.5"``, or ``"sure,rather,guess"``: the surest first."""
    if "=" not in text and len(names(text)) > 1:
        from plausible.experts import doubts_in_order

        try:
            return doubts_in_order(names(text))
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None
    pairs = [part.rpartition("=") for part in names(text)]
    if not all(middle and word.strip() for word, middle, _ in pairs):
        raise argparse.ArgumentTypeError(
            f"{text!r} should be the doubt of each word, such as high=0.05,low=0.5, or words from "
            "the surest on, such as sure,rather,guess"
        )
    return {word.strip(): share(number.strip()) for word, _, number in pairs}


def share(text: str) -> float:
    """A number in [0, 1]."""
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} should be a number from 0 to 1")
    return value


def doubt(text: str) -> str | float:
    """The word "fit", or a number in [0, 1]."""
    return text if text == "fit" else share(text)


def dependence(text: str) -> str | float:
    """The words "auto", "fit" or "none", or a positive number."""
    if text in ("auto", "fit", "none"):
        return text
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} should be fit, none or a positive number")
    return value


def seed(text: str) -> int:
    """A whole number that is not negative."""
    if not text.isdecimal() or len(text) > 10 or int(text) >= 2**32:
        raise argparse.ArgumentTypeError(f"{text!r} should be a whole number from 0 to 2^32 - 1")
    return int(text)


def add_trust(parser: argparse._ActionsContainer) -> None:
    """Classes that a model file may hold beside those of plausible and scikit-learn."""
    parser.add_argument(
        "--trust", action="append", default=[], dest="trusted", metavar="MODULE.CLASS",
        help="a class of somebody else that the model may hold, if you know who wrote the file; "
        "may be given several times",
    )  # fmt: skip


def named_class(name: str) -> type:
    """A class that the user has named; a file is never asked what to import."""
    module, _, last = name.rpartition(".")
    try:
        found = getattr(import_module(module), last) if module else None
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(
            f"--trust should name a class that can be imported, as in package.module.Class, but "
            f"{name!r} cannot be ({error}); is its folder in PYTHONPATH?"
        ) from None
    if not isinstance(found, type):
        raise UsageError(
            f"--trust should name a class, as in package.module.Class, but {name!r} is none; "
            "functions and modules are never trusted."
        )
    return found


def name_option(given: argparse.Namespace, name: str, value: Any) -> str | None:
    """What a parameter of the library is called here; None where the verb has no such option.

    A parameter of a model is given with --set.
    """
    settings = {} if value is None else {name: value}
    if name == "trusted" and hasattr(given, name):
        return "--trust"
    if name == "kinds":
        return as_option(name, value) if hasattr(given, "prepare") else None
    if name in getattr(given, "parameters", ()):
        return f"--set {name}={settings.get(name, '')}"
    if not hasattr(given, name):
        return None
    return as_option(name, value)


def add_output(parser: argparse.ArgumentParser, what: str, default: str | None = None) -> None:
    """Where the result goes."""
    told = f"{what} (default: {default})" if default else what
    parser.add_argument(
        "-o", "--output", required=default is None, default=default, metavar="FILE", help=told
    )


def add_seed(parser: argparse.ArgumentParser) -> None:
    """The seed of all draws."""
    parser.add_argument("--seed", type=seed, default=0, help="seed of all draws (default 0)")


def add_known(parser: argparse.ArgumentParser) -> None:
    """How answers or labels are read, and answers pooled."""
    group = parser.add_argument_group("answers or labels")
    group.add_argument(
        "--form",
        choices=("answers", "labels", *EXPORTS),
        help="what the file holds (default: as it tells by itself)",
    )
    group.add_argument(
        "--names", type=mapping, metavar="MEANING=COLUMN,...",
        help="columns of answers with other names, such as item=photo,annotator=who",
    )  # fmt: skip
    group.add_argument(
        "--layout", choices=("long", "annotators", "items", "classes"),
        help="a row for each answer, or a column for each annotator, item (and a row for each "
        "annotator) or class",
    )  # fmt: skip
    group.add_argument(
        "--kind", choices=("plausibility", "probability", "count", "mass", "set"),
        help="what numbers by class mean",
    )  # fmt: skip
    group.add_argument(
        "--classes", type=names, metavar="NAME,...", help="the classes, and their order"
    )
    group.add_argument(
        "--map", type=meaning, action="append", metavar="ANSWER=MEANING",
        help="what an answer means, such as 'not sure=cannot tell' or 'A & B=A|B'; repeat it",
    )  # fmt: skip
    group.add_argument(
        "--words", type=doubts, metavar="WORD=DOUBT,...",
        help="doubt of each word or rating of confidence, such as high=0.05,low=0.5, or the words "
        "alone, the surest first (worth what --gold shows, else 0.2 to 0.7)",
    )  # fmt: skip
    group.add_argument(
        "--repeats", choices=("all", "once", "first", "last"),
        help="answers that a person gives twice about an item: which count (default: all)",
    )  # fmt: skip
    group.add_argument(
        "--on-rejected", choices=("drop", "unknown", "keep"),
        help="answers that were rejected, canceled, skipped or discarded: left out, read as cannot "
        "tell, or counted (default: as the tool means it, else counted and told)",
    )  # fmt: skip
    group.add_argument(
        "--ignore", type=names, metavar="NAME,...", help="columns of answers that are not used"
    )
    group.add_argument(
        "--rule", choices=RULES, default="dempster", metavar="RULE",
        help=f"how answers are pooled: {', '.join(RULES)} (default: dempster)",
    )  # fmt: skip
    group.add_argument(
        "--doubt", type=doubt, metavar="NUMBER|fit",
        help="doubt in every answer, or learned from agreement (default: their own, or fit)",
    )  # fmt: skip
    group.add_argument(
        "--dependence", type=dependence, default="auto", metavar="NUMBER|fit|none",
        help="how far people err together: an exponent of the pooled evidence, 1 for independent "
        "people (default: fit where nothing is said of doubts, else none)",
    )  # fmt: skip
    group.add_argument(
        "--gold", metavar="FILE",
        help="table of items and their classes that are known for sure: calibrates doubts and "
        "words of confidence, or reliabilities and --dependence",
    )  # fmt: skip
    group.add_argument(
        "--on-conflict", choices=("raise", "unknown"), default="raise",
        help="items about which sure answers contradict each other: an error, or unknown",
    )  # fmt: skip


def known_options(given: argparse.Namespace) -> dict[str, Any]:
    """Options of `read_known` that were given."""
    found = {"form": given.form, "rule": given.rule, "doubt": given.doubt}
    found |= {"on_conflict": given.on_conflict, "dependence": given.dependence}
    found |= {"layout": given.layout, "gold": given.gold}
    found |= {"kind": given.kind, "names": given.names, "words": given.words}
    found |= {"repeats": given.repeats, "ignore": given.ignore}
    found |= {"on_rejected": given.on_rejected}
    if given.map is not None:
        found["map"] = {cell: meant for pair in given.map for cell, meant in pair.items()}
    if given.classes is not None:
        from plausible.io import read_names

        try:
            found["classes"] = read_names(given.classes)
        except ValueError:
            raise UsageError(
                f"--classes should be names between commas, but {','.join(given.classes)!r} has a "
                'quote that is not closed; write names that hold a comma as ["a,b", "c"].'
            ) from None
    return {name: value for name, value in found.items() if value is not None}


def add_features(parser: argparse.ArgumentParser, learned: bool = False) -> None:
    """How features are read; those of a model that has `learned` them are known."""
    group = parser.add_argument_group("features")
    _add_id(group)
    told = (
        "in the order of the model, if its file does not name them" if learned else "default: all"
    )
    group.add_argument("--columns", type=names, metavar="NAME,...", help=f"the features ({told})")
    add_missing(group)
    group.add_argument(
        "--on-unmatched", choices=("raise", "drop"), default="raise",
        help="items without features: an error, or left out",
    )  # fmt: skip
    if learned:
        return
    group.add_argument(
        "--categories", type=names, metavar="NAME,...", default=[],
        help="features that are names, though they look like numbers",
    )  # fmt: skip
    group.add_argument(
        "--leave-out",
        type=names,
        metavar="NAME,...",
        default=[],
        help="columns that are no features",
    )
    group.add_argument(
        "--prepare", choices=("auto", "always", "never"), default="auto",
        help="gaps, categories and dates are prepared where there are some (auto), also if only "
        "new items have some (always), or are an error (never)",
    )  # fmt: skip


def _add_id(parser: Any) -> None:
    """Which column of features names items."""
    parser.add_argument(
        "--id", metavar="COLUMN",
        help="column of the features that names items (default: the one that holds all of them); "
        "row, row0 or row1 if items are numbers of rows, from 0 or 1",
    )  # fmt: skip


def add_missing(parser: Any) -> None:
    """Words for empty cells of features."""
    parser.add_argument(
        "--missing", type=names, metavar="WORD,...", default=[],
        help="words in features that mean an empty cell, such as ?,n.d.,-999",
    )  # fmt: skip


def feature_options(given: argparse.Namespace) -> dict[str, Any]:
    """Options of `read_training` about features."""
    found = {"id": given.id, "missing": given.missing, "on_unmatched": given.on_unmatched}
    if not hasattr(given, "prepare"):
        return found
    kinds = dict.fromkeys(given.categories, "category") | dict.fromkeys(given.leave_out, "left out")
    if given.prepare != "never":
        return found | {"columns": given.columns, "kinds": kinds or "any"}
    if kinds or given.missing:
        raise UsageError(
            "--categories, --leave-out and --missing should prepare features, but --prepare never "
            "came; leave it out, or name the features with --columns."
        )
    return found | {"columns": given.columns}


def check_streams(*sources: str | None) -> None:
    """Standard input can be read once."""
    if sum(source == "-" for source in sources) > 1:
        raise UsageError("Only one file should come from standard input (-); name the others.")


def check_table(path: str) -> None:
    """Refuse the name of a table that cannot be written, before any work is done."""
    if path == "-" or path.lower().endswith(TABLES):
        return
    from plausible.io import kind_of_name

    try:
        kind_of_name(path)
    except ValueError as error:
        raise UsageError(str(error)) from None


def check_model_file(path: str) -> None:
    """Refuse the name of a model that says something else, before any work is done."""
    if path == "-" or path.lower().endswith(".skops"):
        return
    from plausible.io import check_model_name

    try:
        check_model_name(path)
    except ValueError as error:
        raise UsageError(str(error)) from None


def check_output(path: str, *inputs: str | None) -> None:
    """Refuse a place where nothing can be written, before any work is done."""
    if path == "-":
        if sys.stdout is None:
            raise OSError("Standard output should be open for -o -, but is closed; name a file.")
        return
    target = Path(path)
    for source in inputs:
        if not source or source == "-" or not (target.exists() and Path(source).exists()):
            continue
        if os.path.samefile(target, source):
            raise UsageError(f"The output should not replace the input {source!r}; name another.")
    folder = target.absolute().parent
    if not path:
        reason = "has no name"
    elif target.is_dir():
        reason = "is a folder"
    elif not folder.is_dir():
        reason = f"its folder {str(folder)!r} does not exist"
    elif not os.access(folder, os.W_OK):
        reason = "its folder may not be written to"
    else:
        return
    raise OSError(f"{path!r} should be a file that can be written, but {reason}; name another.")
