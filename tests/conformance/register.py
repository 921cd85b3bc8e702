"""The one register of estimators: whatever is in it is put through every check of this folder."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from plausible.models import (
    DiscriminantClassifier,
    EvidentialCalibratedClassifier,
    GaussianMixtureClassifier,
    PartialLogisticRegression,
    SoftBaggingClassifier,
    SoftNearestCentroid,
    SoftStackingClassifier,
    SoftVotingClassifier,
)


@dataclass(frozen=True)
class Entry:
    """How to make an estimator, and what it promises beyond what all of them promise.

    make : makes an unfitted estimator, with a fixed random_state where it has one
    vacuous : whether it "refuses" labels that say nothing at all, or "works" with them
    clusters : whether it also works without labels, with y=None
    weighted : whether fit and score take sample_weight
    """

    make: Callable[[], Any]
    vacuous: Literal["refuses", "works"] = "refuses"
    clusters: bool = False
    weighted: bool = True


ESTIMATORS: dict[str, Entry] = {
    "SoftNearestCentroid": Entry(SoftNearestCentroid, vacuous="refuses"),
    "DiscriminantClassifier": Entry(
        lambda: DiscriminantClassifier(reg_covar=1e-6, random_state=0), vacuous="works"
    ),
    "DiscriminantClassifier quadratic": Entry(
        lambda: DiscriminantClassifier(False, shrinkage=0.1, random_state=0), vacuous="works"
    ),
    "GaussianMixtureClassifier": Entry(
        lambda: GaussianMixtureClassifier(random_state=0), vacuous="works"
    ),
    "GaussianMixtureClassifier tied": Entry(
        lambda: GaussianMixtureClassifier("tied", random_state=0), vacuous="works"
    ),
    "PartialLogisticRegression": Entry(
        lambda: PartialLogisticRegression(random_state=0), vacuous="refuses"
    ),
    "PartialLogisticRegression maximum_entropy": Entry(
        lambda: PartialLogisticRegression("maximum_entropy", random_state=0), vacuous="refuses"
    ),
    "PartialLogisticRegression minimum_entropy": Entry(
        lambda: PartialLogisticRegression("minimum_entropy", random_state=0), vacuous="refuses"
    ),
    "EvidentialCalibratedClassifier": Entry(
        lambda: EvidentialCalibratedClassifier(SoftNearestCentroid(), cv=2)
    ),
    "EvidentialCalibratedClassifier of scikit-learn": Entry(
        lambda: EvidentialCalibratedClassifier(
            LogisticRegression(solver="newton-cholesky", tol=1e-8), cv=2, scores="classes"
        ),
    ),
    "SoftVotingClassifier": Entry(
        lambda: SoftVotingClassifier(
            [
                ("near", SoftNearestCentroid()),
                ("bayes", GaussianNB()),
            ],
            weights=[1, 2],
        )
    ),
    "SoftBaggingClassifier": Entry(
        lambda: SoftBaggingClassifier(SoftNearestCentroid(), n_estimators=5, random_state=0)
    ),
    "SoftStackingClassifier": Entry(
        lambda: SoftStackingClassifier(
            [("near", SoftNearestCentroid()), ("bayes", GaussianNB())],
            PartialLogisticRegression(random_state=0),
            cv=2,
        )
    ),
}
