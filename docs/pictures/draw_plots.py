"""Draw the picture of the guide to pictures: six Display objects side by side.

Run with ``make pictures``; writes ``plots.png`` beside this file.
"""

import io
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import numpy as np
from matplotlib import pyplot
from PIL import Image

from plausible.experts import Annotations
from plausible.labels import Labels
from plausible.models import GaussianMixtureClassifier
from plausible.neighbors import EvidentialNeighborsClassifier
from plausible.plots import (
    BeliefIntervalDisplay,
    DecisionRegionDisplay,
    LabelTriangleDisplay,
    MixtureDisplay,
    RejectionDisplay,
    ReliabilityDisplay,
)

HERE = Path(__file__).parent
CLASSES = ["wren", "owl", "kite"]
N_ITEMS = 240


def make_data(rng: np.random.Generator) -> tuple[Any, Labels, Annotations]:
    """Features of birds, what an expert says of them, and the answers of six people."""
    code = np.arange(N_ITEMS) % 3
    X = rng.normal(size=(N_ITEMS, 2)) * [1.2, 0.8] + np.array([[0, 0], [3, 0.5], [1.5, 3]])[code]
    said = np.where(rng.uniform(size=N_ITEMS) < 0.85, code, rng.integers(3, size=N_ITEMS))
    doubted = Labels.from_doubt(
        np.array(CLASSES)[said[:160]], rng.choice([0, 0.2, 0.5, 1.0], 160), classes=CLASSES
    )
    possible = np.eye(3, dtype=bool)[said[160:]] | (rng.uniform(size=(80, 3)) < 0.3)
    labels = Labels.concatenate([doubted, Labels.from_sets(possible, classes=CLASSES)])
    skill = np.array([0.95, 0.9, 0.8, 0.65, 0.5, 0.1])
    answers = np.where(
        rng.uniform(size=(N_ITEMS, 6)) < skill, code[:, None], rng.integers(3, size=(N_ITEMS, 6))
    )
    people = ["Ann", "Bob", "Cy", "Dora", "Eve", "Finn"]
    names = np.array(CLASSES, dtype=object)[answers]
    return X, labels, Annotations.from_answers(names, annotators=people)


def main() -> None:
    """Draw and save."""
    X, labels, answers = make_data(np.random.default_rng(0))
    mixture = GaussianMixtureClassifier(random_state=0).fit(X, labels)
    neighbors = EvidentialNeighborsClassifier(n_neighbors=7).fit(X, labels)
    figure, axes = pyplot.subplots(2, 3, figsize=(14, 8.4), layout="constrained")
    LabelTriangleDisplay.from_labels(labels).plot(axes[0, 0])
    new = [[0.0, -0.5], [1.6, 1.0], [7.0, 6.0]]
    items = ["a wren's place", "between all", "far away"]
    BeliefIntervalDisplay.from_estimator(neighbors, new, items=items).plot(axes[0, 1])
    ReliabilityDisplay.from_annotations(answers).plot(axes[0, 2])
    regions = DecisionRegionDisplay.from_estimator(
        mixture, X, labels, reject=0.3, novelty=0.01, margin=0.3
    )
    regions.plot(axes[1, 0])
    MixtureDisplay.from_estimator(mixture, X, labels).plot(axes[1, 1])
    X_test, test_labels, _ = make_data(np.random.default_rng(1))
    for model in (mixture, neighbors):
        curve = RejectionDisplay.from_estimator(model, X_test, test_labels)
        curve.plot(axes[1, 2], reject=0.2)
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=75, format="png")
    few = Image.open(drawn).convert("RGB").quantize(256, dither=Image.Dither.NONE)
    few.save(HERE / "plots.png", optimize=True)


if __name__ == "__main__":
    main()
