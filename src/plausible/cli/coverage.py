"""Promises: what `--coverage` and `--max-error` do to a model and to its decisions."""

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
        raise ValueError(
            f"Items of {given.gold!r} should be among those of the features, but none is; check "
            "the names of the items."
        )
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


def refusing_loss(model: Any, given: argparse.Namespace) -> float | None:
    """The loss of refusing that was given, or that keeps the share of errors among answers."""
    if given.max_error is None:
        return given.reject
    if given.reject is not None:
        raise UsageError("--max-error and --reject do not go together; leave one out.")
    last = models.last_step(model)
    if not hasattr(last, "held_out_"):
        raise UsageError(
            f"--max-error needs a model that was tried on held-out items, but {given.model} holds "
            f"a {type(last).__name__} that was not; fit it again with --coverage 0.9, best with "
            "--gold."
        )
    from plausible.base import HeldOut, reject_for

    return reject_for(given.max_error, HeldOut(**last.held_out_), type(last).__name__)


def what_is_refused(model: Any, given: argparse.Namespace, reject: float | None) -> list[str]:
    """What `--max-error` came to, in words."""
    if given.max_error is None or reject is None:
        return []
    tried = f"as far as {models.last_step(model).n_calibration_} held-out items tell"
    if reject < 0.0:
        return [f"no answer is sure enough for {given.max_error:.1%} errors among answers, {tried}"]
    return [
        f"at most {given.max_error:.1%} errors among answers, {tried}: answers have a probability "
        f"of {1.0 - reject:.3g} or more"
    ]
