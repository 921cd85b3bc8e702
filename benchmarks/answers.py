"""Every kind of answer at once, against probabilities alone: ``believe`` and ``predict_proba``.

Both compute what the model says of the items once; beliefs add plausibilities and sets.
"""

from typing import Any

import numpy as np
from timing import interleave, show

from plausible.base import believe
from plausible.labels import Labels
from plausible.models import (
    DiscriminantClassifier,
    EvidentialCalibratedClassifier,
    GaussianMixtureClassifier,
    PartialLogisticRegression,
)

WANTED = 1.2


def every_answer(model: Any, X: Any) -> None:
    """Bets, plausibilities and sets."""
    found = believe(model, X)
    _ = found.probability, found.contour, found.sets


def compare(name: str, model: Any, X: Any) -> bool:
    """Time both in turns, and print their ratio."""
    seconds = interleave(
        {"bets": lambda: model.predict_proba(X), "all": lambda: every_answer(model, X)}, repeats=7
    )
    ratio = seconds["all"] / seconds["bets"]
    return show(f"{name}: every answer against bets alone", ratio, "<= 1.2", ratio <= WANTED)


def main() -> None:
    """Measure models of each base on 20 features and 4 classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=100_000)
    X = rng.normal(size=(len(y), 20)) + np.eye(4, 20)[y]
    labels = Labels.from_doubt(y, 0.2)
    few = slice(0, 4000)
    holds = [
        compare("mixture, full", GaussianMixtureClassifier().fit(X[few], labels[few]), X),
        compare("discriminant", DiscriminantClassifier().fit(X[few], labels[few]), X),
        compare("logistic", PartialLogisticRegression().fit(X[few], labels[few]), X),
        compare("calibration", EvidentialCalibratedClassifier().fit(X[few], labels[few]), X[few]),
    ]
    raise SystemExit(0 if all(holds) else 1)


if __name__ == "__main__":
    main()
