"""Fit a model to features, and to answers or labels.

Example: plausible fit answers.csv features.parquet -o model.skops

Without --model, several models are tried on held-out items, and a table says how far each may be
trusted; those that do best answer together. Items are matched by the column of the features that
holds all of them. Gaps are filled, categories and dates encoded, and what was done is told.
Features that do not fit into memory (also a folder of Parquet files) are read in pieces. Ctrl-C (or
SIGTERM) saves the best parameters so far; --resume goes on from there.
"""

import argparse
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from plausible.cli import models, signals
from plausible.cli.clusters import add_cluster, check_answers, connected
from plausible.cli.coverage import (
    add_coverage,
    check_asked,
    fit_options,
    what_is_held,
    with_coverage,
)
from plausible.cli.options import (
    add_features,
    add_known,
    add_output,
    add_seed,
    check_model_file,
    check_output,
    check_streams,
    feature_options,
    known_options,
)
from plausible.cli.talk import Talk, UsageError
from plausible.errors import InputError

MOST_CHECKED = 100_000  # labeled rows with which a model is compared in the end


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the verb."""
    parser.add_argument("answers", help="table of answers, or of labels")
    parser.add_argument("features", help="table of features, a row for each item")
    add_output(parser, "the fitted model")
    parser.add_argument(
        "--model", choices=tuple(models.MODELS), metavar="MODEL",
        help=f"{models.in_words()} (default: {models.DEFAULT}; {models.IN_PIECES} for features "
        "that do not fit into memory, and on a cluster)",
    )  # fmt: skip
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", dest="settings",
        help="a parameter of the model, such as covariance_type=tied; may be given several times",
    )  # fmt: skip
    add_coverage(
        parser, "how often sets of classes should hold the class: some labeled items, or those of "
        "--gold, are held out to calibrate them"
    )  # fmt: skip
    parser.add_argument("--resume", action="store_true", help="go on with an interrupted fit")
    add_cluster(parser, "read the features and fit together")
    add_seed(parser)
    add_known(parser)
    add_features(parser)


def run(given: argparse.Namespace, talk: Talk) -> dict[str, Any]:
    """Read, fit and save; gives what was found."""
    check_streams(given.answers, given.features)
    if given.resume and given.output == "-":
        raise UsageError("--resume needs the file of the interrupted fit; name it with -o.")
    check_output(given.output, given.answers, given.features)
    check_model_file(given.output)
    if given.model is None:
        given.model = default_model(given, talk)
    check_asked(given)
    model = models.make(given.model, given.settings, given.seed)
    chosen = feature_options(given) | known_options(given)
    if given.coverage is not None:
        chosen["keep_gold"] = True
    given.parameters = tuple(model.get_params(deep=False))
    from plausible.io import save

    training = read(given, chosen)
    estimator = " ".join(repr(model).split())
    model = with_coverage(model, given)
    model = models.prepared(given.model, model, training, given.prepare == "always")
    training.notes.extend(_tell_preparation(model, training) + _tell_masses(given.model, training))
    talk.note(*training.notes, f"model: {given.model}, {estimator}; seed {given.seed}")
    if training.labels.n_classes < 2:
        talk.note("Warning: there is only one class, so that the model will always answer with it")
    checkpoint = prepare(model, given, talk)
    if given.resume and checkpoint is None:
        model = resumed(given.output, given.model, models.last_step(model), training)
    from_answers = models.MODELS[given.model].from_answers
    with (
        connected(given.cluster) as client,
        talk.progress(f"Fitting {given.model}") as step,
        watched() as interrupted,
    ):
        try:
            options = fit_options(model, given, training)
            learn(model, training, from_answers, step, interrupted, client, **options)
        except ValueError as error:
            raise _blamed(error, given) from error
    save(clean(model), given.output, features=training.names, id=training.id)
    return conclude(given, talk, model, training, checkpoint, bool(interrupted))


def default_model(given: argparse.Namespace, talk: Talk) -> str:
    """The model where none is asked for; says so if it is one that learns from pieces."""
    from plausible.io import is_large
    from plausible.tables import open_table

    if given.cluster is None and (
        given.features == "-" or not is_large(open_table(given.features))
    ):
        return models.DEFAULT
    reason = "they do not fit into memory" if given.cluster is None else "a cluster reads them"
    talk.note(
        f"features are learned from in pieces, since {reason}: --model {models.IN_PIECES}, as "
        f"{models.DEFAULT} needs all at once"
    )
    return models.IN_PIECES


def read(given: argparse.Namespace, chosen: dict[str, Any]) -> Any:
    """What to learn from: in memory, or in pieces where that is too much or a cluster is asked."""
    from plausible.io import is_large, read_training, stream_training
    from plausible.tables import open_table

    features = given.features if given.features == "-" else open_table(given.features)
    if not models.MODELS[given.model].streams or given.coverage is not None:
        if given.cluster is not None:
            able = [name for name, choice in models.MODELS.items() if choice.streams]
            raise UsageError(
                f"--cluster is not possible for --model {given.model}; choose {', '.join(able)}."
            )
        return read_training(given.answers, features, **chosen)
    if given.cluster is None and (given.features == "-" or not is_large(features)):
        return read_training(given.answers, features, **chosen)
    check_answers(given.cluster)
    return stream_training(given.answers, given.features, **chosen)


def _tell_preparation(model: Any, training: Any) -> list[str]:
    """What is done with columns that are not plain numbers, in words."""
    from plausible.io import preparation_of

    preparation = preparation_of(model)
    if preparation is None or not hasattr(training.X, "columns"):
        return []
    told = preparation.fit(training.X).explain()
    one_model = not hasattr(models.last_step(model), "summary")  # else held-out items choose
    if "category" in training.kinds.values() and preparation.full_rank and one_model:
        told.append(
            "categories are no Gaussians, which this model assumes; --model logistic suits them"
        )
    return [f"prepared: {line}" for line in told]


def _tell_masses(model: str, training: Any) -> list[str]:
    """That neighbors learn from masses in memory alone, in words."""
    has_masses = getattr(training.labels, "has_masses", False)  # those of answers in parts have not
    if not (models.MODELS[model].learns_sets and has_masses and _is_streamed(training)):
        return []
    return [
        "labels hold belief in sets of classes, of which neighbors learn more in memory: where "
        "features are read in pieces, they learn from plausibilities alone"
    ]


def prepare(model: Any, given: argparse.Namespace, talk: Talk) -> Path | None:
    """Where the fit keeps its state, if this model does and the model goes into a file."""
    estimator = models.last_step(model)
    is_file = os.path.isfile(given.output) or not os.path.exists(given.output)
    if given.output == "-" or not is_file or "checkpoint" not in estimator.get_params(deep=False):
        return None
    path = Path(f"{given.output}.checkpoint")
    if given.resume and not path.exists():
        raise ValueError(
            f"--resume should find the checkpoint {str(path)!r} of an interrupted fit, but there "
            "is none; leave --resume out to start again."
        )
    if not given.resume and path.exists():
        talk.note(f"an old checkpoint is there and is not used: {path} (--resume would)")
        path.unlink()
    estimator.set_params(checkpoint=path)
    return path


def resumed(path: str, name: str, again: Any, training: Any) -> Any:
    """The model that an interrupted fit has left, ready to go on with the settings of a new one."""
    from plausible.io import load_classifier

    model = load_classifier(path)[0]
    estimator = models.last_step(model)
    if type(estimator).__name__ != models.MODELS[name].estimator:
        raise ValueError(
            f"{path!r} should hold the {models.MODELS[name].estimator} of an interrupted fit, but "
            f"holds a {type(estimator).__name__}; leave --resume out to start again."
        )
    known = sorted(map(str, estimator.classes_)), model.n_features_in_
    if known != (sorted(map(str, training.labels.classes)), training.X.shape[1]):
        raise ValueError(
            f"{path!r} should hold an interrupted fit to these classes and features, but holds one "
            f"to the classes {', '.join(known[0])} and {known[1]} features; leave --resume out to "
            "start again."
        )
    if "warm_start" not in estimator.get_params(deep=False):
        raise UsageError(f"--resume is not possible for the model {name!r}; leave it out.")
    estimator.set_params(**again.get_params(deep=False) | {"warm_start": True})
    return model


def learn(
    model: Any,
    training: Any,
    from_answers: bool,
    step: Any,
    interrupted: list[int],
    client: Any = None,
    **options: Any,
) -> None:
    """Fit to answers or to labels, with progress; options are those of `fit`."""

    def after_iteration(progress: Any) -> bool:
        if step is not None:
            step(progress)
        return bool(interrupted)  # an exception that came in a destructor got lost there

    estimator = models.last_step(model)
    if "callback" in estimator.get_params(deep=False):
        estimator.set_params(callback=after_iteration)
    if _is_streamed(training):
        preparation = model[0].fit(training.X) if hasattr(model, "steps") else None
        estimator.fit(training.stream(preparation, client, bets=models.wants_bets(estimator)))
        return
    if not from_answers:
        model.fit(training.X, training.labels, **options)
        return
    if training.known.annotations is None:
        raise ValueError(
            f"{type(estimator).__name__} should learn from answers of several people, but labels "
            "came; give a table with the columns item, annotator and label, or another --model."
        )
    model.fit(training.X[training.rows], training.known.annotations)


def _is_streamed(training: Any) -> bool:
    """Whether the rows are read again at each pass."""
    return hasattr(training, "stream")


def _blamed(error: ValueError, given: argparse.Namespace) -> Exception:
    """The error in words of the command, as one of usage if it is about a parameter."""
    if not isinstance(error, InputError):
        return error
    if error.parameter == "assessments":
        return ValueError(
            f"--model {given.model} should learn from probabilities of an expert, but "
            f"{given.answers!r} holds something else; give a table with a column probability:CLASS "
            "for each class, or choose another --model."
        )
    for setting in given.settings:
        if setting.partition("=")[0].strip() == error.parameter:
            return UsageError(f"--set {setting!r}: {error}")
    return error


def clean(model: Any) -> Any:
    """The model without what belongs to this run only."""
    estimator = models.last_step(model)
    known = estimator.get_params(deep=False)
    idle = {"callback": None, "checkpoint": None, "warm_start": False}
    estimator.set_params(**{name: value for name, value in idle.items() if name in known})
    return model


@contextmanager
def watched() -> Iterator[list[int]]:
    """A list that holds something once the fit was interrupted; a second time ends everything."""
    from plausible.engine import InterruptedFitWarning

    with warnings.catch_warnings(), signals.saving() as stopped:
        warnings.simplefilter("ignore", InterruptedFitWarning)
        yield stopped


def conclude(
    given: argparse.Namespace,
    talk: Talk,
    model: Any,
    training: Any,
    checkpoint: Path | None,
    interrupted: bool,
) -> dict[str, Any]:
    """What was found, and what to do with it."""
    last = models.last_step(model)
    estimator = last if given.coverage is None else last.estimator_
    is_warm = "warm_start" in estimator.get_params(deep=False) and os.path.isfile(given.output)
    can_resume = checkpoint is not None or is_warm
    n_iter = getattr(estimator, "n_iter_", None)
    result: dict[str, Any] = {
        "output": given.output,
        "model": given.model,
        "estimator": type(estimator).__name__,
        "classes": estimator.classes_.tolist(),
        "features": training.names,
        "n_rows": training.n_rows if _is_streamed(training) else len(training.X),
        "n_labeled": training.n_labeled if _is_streamed(training) else len(training.rows),
        "n_iter": None if n_iter is None else int(n_iter),
        "converged": bool(getattr(estimator, "converged_", True)) and not interrupted,
        "soft_accuracy": accuracy(model, training),
        "seed": given.seed,
        "notes": training.notes,
    }
    if interrupted:
        place = "standard output" if given.output == "-" else given.output
        talk.note(
            f"Interrupted after {n_iter} iterations. The best parameters so far are in {place}"
            + ("; the same command with --resume goes on from there." if can_resume else ".")
        )
        return result | {"interrupted": True, "exit_code": signals.exit_code()}
    if checkpoint is not None:
        checkpoint.unlink(missing_ok=True)
    if hasattr(estimator, "summary"):
        talk.say(estimator.summary())
        result["tried"] = [
            {key: value if value == value else None for key, value in one.items()}  # NaN: no JSON
            for one in estimator.results_
        ]
    talk.say(
        f"{given.model} in {given.output}: "
        + ("" if n_iter is None else f"{n_iter} iteration{'s' * (n_iter != 1)}, ")
        + agreement(result["soft_accuracy"])
    )
    if given.coverage is not None:
        result |= {"coverage": given.coverage, "n_calibration": last.n_calibration_}
        talk.say(what_is_held(last, given.gold is not None))
    return result


def accuracy(model: Any, training: Any) -> float | None:
    """Soft accuracy on the training rows that say something, if any do."""
    from plausible.metrics import soft_accuracy

    if not (training.labels.informativeness > 0).any():
        return None
    if _is_streamed(training):
        X, labels = training.labeled(MOST_CHECKED)
        return float(soft_accuracy(labels, model.predict(X)))
    return float(soft_accuracy(training.labels, model.predict(training.X)))


def agreement(share: float | None) -> str:
    """How far a model agrees with its labels, in words."""
    if share is None:
        return "no label says anything that it could agree with"
    return f"agrees with {share:.3f} of its own labels (soft accuracy)"
