"""Models of the command line: one entry here, and every verb knows it."""

import json
from collections.abc import Set
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from plausible.cli.talk import UsageError

DEFAULT, IN_PIECES = "auto", "logistic"  # for features in memory, and for those that are not
RESERVED = {"callback", "checkpoint", "classifier", "random_state", "verbose", "warm_start"}
WORDS = {"True": True, "False": False, "None": None}  # of Python


@dataclass(frozen=True)
class Choice:
    """A model by name.

    room, estimator : where the class is
    about : what it is, in some words
    is_scaled : whether features are standardized first
    from_answers : whether it learns from answers instead of labels
    streams : whether it learns from rows that do not fit into memory
    has_covariances : whether columns should not add up to a constant
    learns_sets : whether belief in sets of classes, which rows in pieces lack, tells it more
    """

    room: str
    estimator: str
    about: str
    is_scaled: bool = False
    from_answers: bool = False
    streams: bool = False
    has_covariances: bool = False
    learns_sets: bool = False


MODELS = {
    "auto": Choice(
        "models",
        "AutoClassifier",
        "several models, tried on held-out items, that answer together",
        has_covariances=True,
    ),
    "logistic": Choice(
        "models",
        "PartialLogisticRegression",
        "logistic regression for partial labels",
        True,
        streams=True,
    ),
    "mixture": Choice(
        "models",
        "GaussianMixtureClassifier",
        "Gaussian classes, also unlabeled",
        streams=True,
        has_covariances=True,
    ),
    "discriminant": Choice(
        "models",
        "DiscriminantClassifier",
        "Gaussians of equal covariance",
        streams=True,
        has_covariances=True,
    ),
    "centroid": Choice("models", "SoftNearestCentroid", "the nearest mean", True),
    "neighbors": Choice(
        "neighbors",
        "EvidentialNeighborsClassifier",
        "evidence of near items",
        True,
        streams=True,
        learns_sets=True,
    ),
    "contextual": Choice(
        "neighbors",
        "ContextualNeighborsClassifier",
        "the same, trusted class by class",
        True,
        streams=True,
        learns_sets=True,
    ),
    "relabelling": Choice(
        "neighbors", "RelabellingClassifier", "the same, unlabeled items labeled first", True
    ),
    "network": Choice(
        "models",
        "EvidentialNetworkClassifier",
        "prototypes that speak for classes",
        True,
        streams=True,
    ),
    "bayes": Choice(
        "models", "GeneralizedBayesClassifier", "densities of the classes, without a prior"
    ),
    "tree": Choice("models", "BeliefTreeClassifier", "a belief decision tree"),
    "forest": Choice("models", "BeliefForestClassifier", "many belief decision trees"),
    "boosting": Choice("models", "SoftLabelClassifier", "boosted trees of scikit-learn"),
    "supervision": Choice(
        "models",
        "StochasticSupervisionClassifier",
        "from an expert's probabilities",
        streams=True,
        has_covariances=True,
    ),
    "joint": Choice(
        "experts", "JointAnnotatorClassifier", "people and classes learned together", True, True
    ),
}


def in_words() -> str:
    """All models, for help."""
    return "; ".join(f"{name}: {choice.about}" for name, choice in MODELS.items())


def make(name: str, settings: list[str], seed: int) -> Any:
    """An estimator."""
    return make_choice(MODELS[name], settings, seed)


def make_choice(
    choice: Choice, settings: list[str], seed: int, hidden: Set[str] = frozenset()
) -> Any:
    """An estimator with its settings; `hidden` ones have options of their own."""
    model = getattr(import_module(f"plausible.{choice.room}"), choice.estimator)()
    known = model.get_params(deep=False)
    for setting in settings:
        parameter, equals, text = (part.strip() for part in setting.partition("="))
        if not equals or parameter not in known or parameter in RESERVED:
            free = sorted(set(known) - RESERVED - hidden)
            raise UsageError(
                f"--set should be NAME=VALUE with a parameter of {choice.estimator}, but is "
                f"{setting!r}; its parameters are {', '.join(free)}."
            )
        model.set_params(**{parameter: _value_of(text)})
    if "random_state" in known and known["random_state"] is None:
        model.set_params(random_state=seed)
    if "classifier" in known:  # what it draws should follow the seed, too
        from plausible.models import PartialLogisticRegression

        model.set_params(classifier=PartialLogisticRegression(random_state=seed))
    return model


def prepared(name: str, model: Any, training: Any, always: bool = False) -> Any:
    """A pipeline that prepares features first; the model itself if it needs no preparation.

    Models with covariances get categories without the column that the others imply.
    """
    choice = MODELS[name]
    is_plain = not hasattr(training.X, "columns")
    if is_plain and not choice.is_scaled and not always:
        return model
    from sklearn.pipeline import make_pipeline

    from plausible.models import FeaturePreparation

    return make_pipeline(
        FeaturePreparation(training.kinds, full_rank=choice.has_covariances), model
    )


def wants_bets(estimator: Any) -> bool:
    """Whether an estimator learns from the bets of masses, where labels hold them."""
    is_network = type(estimator).__name__ == MODELS["network"].estimator
    return is_network and estimator.loss != "likelihood"


def _value_of(text: str) -> Any:
    """A number, truth value or list as JSON or Python write them, else text."""
    if text in WORDS:  # as messages and the documentation write them
        return WORDS[text]
    try:
        return json.loads(text)
    except ValueError:
        return text


def last_step(model: Any) -> Any:
    """The estimator itself."""
    return model[-1] if hasattr(model, "steps") else model
