"""Go from five doubtful people to decisions and a report, on data made on the spot.

Example: plausible demo
"""

import argparse
import shlex
import sys
from pathlib import Path
from typing import Any

from plausible.cli import signals
from plausible.cli.options import add_seed
from plausible.cli.talk import Talk

COMMANDS = (
    "plausible fit answers.csv features.parquet -o model.skops",
    "plausible predict model.skops new.parquet -o decisions.csv --reject 0.3",
    "plausible report answers.csv features.parquet --model model.skops -o report.html",
)
PEOPLE = {"Ada": 0.05, "Ben": 0.1, "Cleo": 0.2, "Dan": 0.3, "Eve": 0.45}  # how often each errs
N_ANSWERED, N_MEASURED = 110, 130
SILENT = 0.3  # how often a person is not asked


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the verb."""
    parser.add_argument(
        "folder", nargs="?", default="plausible-demo", help="new folder (default: plausible-demo)"
    )
    add_seed(parser)


def run(given: argparse.Namespace, talk: Talk) -> dict[str, Any]:
    """Make the files, run the three commands, and tell where the report is."""
    folder = Path(given.folder)
    folder.mkdir(parents=True, exist_ok=True)
    report = (folder / "report.html").absolute()
    talk.say(f"The report will be {report}\n")
    make_files(folder, given.seed)
    talk.say(
        f"Five people named the species of {N_ANSWERED} irises, with their doubts (answers.csv);\n"
        f"all {N_MEASURED} are measured (features.parquet), and 20 more (new.parquet). Seed "
        f"{given.seed}.\n"
    )
    for command in COMMANDS:
        talk.say(f"$ {command}")
        words = [sys.executable, "-m", "plausible.cli", *shlex.split(command)[1:]]
        quiet = ["--quiet"] if given.quiet else []
        shown = sys.stderr if talk.is_mute else None
        code = signals.run(words + quiet, cwd=folder, stdout=shown)
        if code:
            return {"exit_code": code}
        talk.say("")
    talk.say(f"Open the report in a browser: {report}")
    return {"report": str(report), "seed": given.seed, "commands": list(COMMANDS)}


def make_files(folder: Path, seed: int) -> None:
    """Answers of five people about irises, features of these, and new ones."""
    import numpy as np
    from sklearn.datasets import load_iris

    from plausible.io import write_table

    X, species = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])
    random = np.random.default_rng(seed)
    order = random.permutation(len(X))
    X, species = X[order], species[order]
    items = np.array([f"flower {1 + row}" for row in range(len(X))])
    rows: list[tuple[str, str, str, float]] = []
    for person, error in PEOPLE.items():
        for item in range(N_ANSWERED):
            if random.random() < SILENT:
                continue
            is_wrong = random.random() < error
            said = random.integers(3) if is_wrong else species[item]
            doubt = random.uniform(0.2, 0.9) if is_wrong else random.uniform(0.0, 0.5)
            alike = said != 0 and random.random() < 0.2  # setosa is easily told
            label = "versicolor|virginica" if alike else str(names[said])
            rows.append((str(items[item]), person, label, round(doubt, 2)))
    head = ("item", "annotator", "label", "doubt")
    write_table(dict(zip(head, map(list, zip(*rows, strict=True)), strict=True)),
                folder / "answers.csv")  # fmt: skip
    features = ("sepal length", "sepal width", "petal length", "petal width")
    for name, part in (("features", slice(N_MEASURED)), ("new", slice(N_MEASURED, None))):
        columns = {"item": items[part]}
        columns |= {feature: X[part, j] for j, feature in enumerate(features)}
        write_table(columns, folder / f"{name}.parquet")
