"""Sets that hold the class as often as was asked: what `--coverage` does to a model."""

import argparse
from typing import Any

from plausible.cli import models
from plausible.cli.options import share
from plausible.cli.talk import UsageError


def add_coverage(parser: argparse.ArgumentParser, about: str) -> None:
    """The option."""
    parser.add_argument("--coverage", type=share, metavar="SHARE", help=about)


def check_asked(given: argparse.Namespace) -> None:
    """Refuse fits of which no items can be held out."""
    if given.coverage is None:
        return
    if models.MODELS[given.model].from_answers:
        raise UsageError(f"--coverage is not possible for --model {given.model}; choose another.")
    for option in ("cluster", "resume"):
        if getattr(given, option):
            raise UsageError(f"--coverage and --{option} do not go together; leave one out.")


def with_coverage(model: Any, given: argparse.Namespace) -> Any:
    """The model with sets that are calibrated, if they were asked for."""
    if given.coverage is None:
        return model
    from plausible.models import ConformalClassifier

    return ConformalClassifier(model, coverage=given.coverage, random_state=given.seed)


def fit_options(model: Any, given: argparse.Namespace, training: Any) -> dict[str, Any]:
    """Gold classes for the calibration, as a parameter of fit."""
    if given.coverage is None or given.gold is None:
        return {}
    import numpy as np

    from plausible.io import read_known

    known = read_known(given.gold, "labels")
    rows = np.flatnonzero(known.labels.is_hard)
    truth = known.labels.classes[known.labels.contour[rows].argmax(axis=1)].tolist()
    items = rows.tolist() if known.items is None else known.items[rows].tolist()
    found = dict(zip(map(str, items), truth, strict=True))
    gold = [found.get(str(item)) for item in training.items.tolist()]
    if not any(truth is not None for truth in gold):
        return {}  # which pooling has refused already, where it reads them
    prefix = f"{model.steps[-1][0]}__" if hasattr(model, "steps") else ""
    return {f"{prefix}gold": np.array(gold, dtype=object)}


def what_is_held(estimator: Any, is_gold: bool) -> str:
    """What sets promise, in words."""
    held = (
        "the class"
        if is_gold
        else "the label (the class itself less often, by as much as labels err; --gold calibrates "
        "on known classes)"
    )
    return (
        f"sets hold {held} of {estimator.coverage:.0%} of new items, as far as "
        f"{estimator.n_calibration_} held-out items tell"
    )


def set_coverage(model: Any, coverage: float | None, name: str) -> None:
    """Another coverage of the sets of a model that was fitted with one."""
    if coverage is None:
        return
    last = models.last_step(model)
    if "coverage" not in last.get_params(deep=False):
        raise UsageError(
            f"--coverage needs a model that was fitted with --coverage, but {name} holds a "
            f"{type(last).__name__} without; fit it again with --coverage {coverage:g}."
        )
    last.set_params(coverage=coverage)
