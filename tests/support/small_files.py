"""Small well-formed files of answers, features, labels and models, as commands take them."""

import numpy as np

from plausible.io import read_training, save, write_labels, write_table
from plausible.models import PartialLogisticRegression, SoftNearestCentroid

CLASSES = "ash", "elm", "oak"
FEATURES = "length", "width"
N_ANSWERED, N_MEASURED = 18, 24


def draw(seed=0):
    """Features and classes of trees that are easily told, but not always."""
    random = np.random.default_rng(seed)
    y = np.arange(N_MEASURED) % 3
    centers = np.array([[0.0, 0.0], [2.5, 0.0], [0.0, 2.5]])
    return centers[y] + random.normal(size=(N_MEASURED, 2)), y, random


def make_small_files(folder):
    """Answers of three people about 18 items; features of 24; models fitted to both."""
    X, y, random = draw()
    items = np.array([f"t{row}" for row in range(N_MEASURED)])
    answers = {"item": [], "annotator": [], "label": [], "doubt": []}
    for person, error in (("ann", 0.0), ("bob", 0.2), ("cy", 0.4)):
        for row in range(N_ANSWERED):
            said = CLASSES[random.integers(3) if random.random() < error else y[row]]
            said = "ash|elm" if random.random() < 0.1 and said != "oak" else said
            cells = str(items[row]), person, said, round(random.uniform(0.05, 0.6), 2)
            for column, cell in zip(answers.values(), cells, strict=True):
                column.append(cell)
    write_table(answers, folder / "answers.csv")
    features = {"item": items, **dict(zip(FEATURES, X.T, strict=True))}
    write_table(features, folder / "features.csv")
    write_table(features, folder / "features.parquet")
    new = random.normal(size=(2, 5)) + 1.0
    write_table({"item": list("vwxyz"), **dict(zip(FEATURES, new, strict=True))},
                folder / "new.csv")  # fmt: skip
    write_table({"item": items, "label": [CLASSES[k] for k in y]}, folder / "truth.csv")
    training = read_training(folder / "answers.csv", folder / "features.csv")
    write_labels(training.known.labels, folder / "labels.csv", items=training.known.items)
    model = PartialLogisticRegression(random_state=0).fit(training.X, training.labels)
    save(model, folder / "model.skops", features=training.names)
    save(
        SoftNearestCentroid().fit(np.asarray(training.X), training.labels),
        folder / "nameless.skops",
    )
