"""The candidates that are tried by default, from quick to slow."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.kernel_approximation import RBFSampler
from sklearn.pipeline import Pipeline, make_pipeline

from plausible.labels import Labels
from plausible.models.any_learner import SoftLabelClassifier
from plausible.models.auto.choice import SHARPNESS
from plausible.models.auto.steps import QuantileSteps
from plausible.models.gaussian import DiscriminantClassifier, GaussianMixtureClassifier
from plausible.models.learners import fit_learner
from plausible.models.logistic import PartialLogisticRegression
from plausible.models.tree import BeliefForestClassifier
from plausible.neighbors import EvidentialNeighborsClassifier

FloatArray = NDArray[np.float64]

N_TREES, N_WAVES = 20, 200
N_BOOSTED, N_LEAVES, RATE = 20, 8, 0.2
STEPS = 200  # of EM, enough to tell candidates apart
MOST_NEIGHBORS = 20_000  # rows that may be looked up, or sorted into trees
MOST_CORRELATED = 200  # features with covariances that EM computes again and again


class Rung(NamedTuple):
    """A candidate.

    name : str
    estimator : classifier
    reading : {"candidates", "shares", "sharpened", "hard"}
        What labels mean to it: classes among which the model may choose; plausibilities divided by
        their sum, which stay as they are; the same for plausibilities that are raised to a power;
        or the most plausible class alone.
    most_rows, most_features : float
        Above, the candidate is too slow to be tried.
    """

    name: str
    estimator: Any
    reading: str = "candidates"
    most_rows: float = np.inf
    most_features: float = np.inf


def default_ladder() -> list[Rung]:
    """Candidates that err in different ways, from quick to slow."""
    plain, shrunk = (DiscriminantClassifier(shrinkage=one, max_iter=STEPS) for one in (0.0, 0.3))
    ladder = [
        Rung("discriminant", plain),
        Rung("discriminant, shares", plain, "shares"),
        Rung("discriminant, shrunk", shrunk),
        Rung("discriminant, shrunk, shares", shrunk, "shares"),
        Rung("discriminant, shrunk, sharpened", shrunk, "sharpened"),
        Rung("discriminant, shrunk, hard", shrunk, "hard"),
    ]
    for alpha in (1.0, 10.0):
        name = f"logistic, ridge {alpha:g}"
        ladder += [
            Rung(name, logistic("minimum_commitment", alpha)),
            Rung(f"{name}, shares", logistic("maximum_entropy", alpha)),
        ]
    two = GaussianMixtureClassifier("tied", 2, prior="weak", max_iter=STEPS)
    diagonal = GaussianMixtureClassifier("diag", reg_covar=1e-3, max_iter=STEPS)
    neighbors = EvidentialNeighborsClassifier(15, combination="contours")
    forest = BeliefForestClassifier(N_TREES, min_samples_leaf=5)
    return [
        *ladder,
        Rung("logistic, ridge 100, shares", logistic("maximum_entropy", 100.0)),
        Rung("logistic, ridge 10, sharpened", logistic("maximum_entropy", 10.0), "sharpened"),
        Rung("logistic, ridge 10, hard", logistic("maximum_entropy", 10.0), "hard"),
        Rung("mixture, diagonal, shares", diagonal, "shares"),
        Rung("neighbors", neighbors, most_rows=MOST_NEIGHBORS),
        Rung("mixture, two to a class", two, most_features=MOST_CORRELATED),
        Rung("logistic on random waves", on_waves(logistic("minimum_commitment", 0.01, 1e-3))),
        Rung("logistic on random waves, shares", on_waves(logistic("maximum_entropy", 1.0))),
        Rung("boosted trees, shares", boosted_trees(), "shares", most_rows=MOST_NEIGHBORS),
        Rung("forest", forest, most_rows=MOST_NEIGHBORS),
    ]


def boosted_trees() -> SoftLabelClassifier:
    """Boosted trees of scikit-learn, which learn from rows that are repeated for their classes."""
    from sklearn.ensemble import HistGradientBoostingClassifier  # heavy

    trees = HistGradientBoostingClassifier(
        learning_rate=RATE, max_iter=N_BOOSTED, max_leaf_nodes=N_LEAVES, early_stopping=False
    )
    return SoftLabelClassifier(make_pipeline(QuantileSteps(), trees), "maximum_entropy")


def logistic(criterion: str, alpha: float, tol: float = 1e-5) -> PartialLogisticRegression:
    """Logistic regression from one start."""
    return PartialLogisticRegression(criterion, alpha, n_init=1, tol=tol)


def on_waves(linear: PartialLogisticRegression) -> Pipeline:
    """A linear model on random Fourier features."""
    return make_pipeline(RBFSampler(gamma="scale", n_components=N_WAVES), linear)


def seeded(estimator: Any, seed: int) -> Any:
    """A copy of the estimator whose random states that are left open are given."""
    copy = clone(estimator)
    free = {
        key: seed
        for key, value in copy.get_params().items()
        if key.split("__")[-1] == "random_state" and value is None
    }
    return copy.set_params(**free)


def read_as(labels: Labels, weight: FloatArray, reading: str) -> tuple[Labels, FloatArray]:
    """What labels mean to a candidate, and the weights of the rows that mean something."""
    if reading == "candidates":
        return labels, weight
    contour, names = labels.contour, labels.classes.tolist()
    best = contour >= contour.max(axis=1, keepdims=True) * (1.0 - 1e-9)
    if reading in ("shares", "sharpened"):
        if reading == "sharpened":
            contour = labels.scaled() ** SHARPNESS
        shares = contour / contour.sum(axis=1, keepdims=True)
        return Labels.from_probability(shares, names), np.where(best.all(axis=1), 0.0, weight)
    is_one = best.sum(axis=1) == 1
    hard = Labels.from_plausibility(best.astype(np.float64), names)
    return hard, np.where(is_one, weight, 0.0)


def fit_rung(rung: Rung, X: Any, labels: Labels, weight: FloatArray) -> Any:
    """Fit a copy of a candidate."""
    return fit_learner(rung.estimator, X, *read_as(labels, weight, rung.reading))
