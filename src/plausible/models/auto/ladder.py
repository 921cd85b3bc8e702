"""The candidates that are tried by default, from quick to slow."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from plausible.labels import Labels
from plausible.models.gaussian import DiscriminantClassifier, GaussianMixtureClassifier
from plausible.models.learners import fit_learner
from plausible.models.logistic import PartialLogisticRegression
from plausible.models.tree import BeliefForestClassifier
from plausible.neighbors import EvidentialNeighborsClassifier

FloatArray = NDArray[np.float64]

STEPS = 200  # of EM, enough to tell candidates apart
MOST_NEIGHBORS = 20_000  # rows that may be looked up, or sorted into trees


class Rung(NamedTuple):
    """A candidate.

    name : str
    estimator : classifier
    is_shared : bool
        Whether labels are read as shares (plausibilities divided by their sum, which stay as they
        are) instead of as candidates among which the model may choose.
    most_rows : float
        Above, the candidate is too slow to be tried.
    """

    name: str
    estimator: Any
    is_shared: bool = False
    most_rows: float = np.inf


def default_ladder() -> list[Rung]:
    """Candidates that err in different ways, from quick to slow."""
    ladder = []
    for shrinkage, words in ((0.0, "discriminant"), (0.3, "discriminant, shrunk")):
        model = DiscriminantClassifier(shrinkage=shrinkage, max_iter=STEPS)
        ladder += [Rung(words, model), Rung(f"{words}, shares", model, True)]
    for alpha in (1.0, 10.0, 100.0):
        for criterion, words in (("minimum_commitment", ""), ("maximum_entropy", ", shares")):
            model = PartialLogisticRegression(criterion, alpha, n_init=1, tol=1e-5)
            ladder.append(Rung(f"logistic, ridge {alpha:g}{words}", model))
    two = GaussianMixtureClassifier("tied", 2, prior="weak", max_iter=STEPS)
    diagonal = GaussianMixtureClassifier("diag", reg_covar=1e-3, max_iter=STEPS)
    neighbors = EvidentialNeighborsClassifier(15, combination="contours")
    return [
        *ladder,
        Rung("mixture, diagonal, shares", diagonal, True),
        Rung("neighbors", neighbors, most_rows=MOST_NEIGHBORS),
        Rung("mixture, two to a class", two),
        Rung("forest", BeliefForestClassifier(30), most_rows=MOST_NEIGHBORS),
    ]


def seeded(estimator: Any, seed: int) -> Any:
    """A copy of the estimator whose random states that are left open are given."""
    copy = clone(estimator)
    free = {
        key: seed
        for key, value in copy.get_params().items()
        if key.split("__")[-1] == "random_state" and value is None
    }
    return copy.set_params(**free)


def as_shares(labels: Labels) -> Labels:
    """Plausibilities divided by their sum, as probabilities."""
    contour = labels.contour
    shares = contour / contour.sum(axis=1, keepdims=True)
    return Labels.from_probability(shares, labels.classes.tolist())


def fit_rung(rung: Rung, X: Any, labels: Labels, weight: FloatArray) -> Any:
    """Fit a copy of a candidate."""
    if rung.is_shared:
        says = ~labels.is_unknown
        labels, weight = as_shares(labels), np.where(says, weight, 0.0)
    return fit_learner(rung.estimator, X, labels, weight)
