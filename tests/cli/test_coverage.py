"""Sets with coverage, from the command line."""

import csv

import numpy as np

from plausible.io import load, read_training
from plausible.models import ConformalClassifier, DiscriminantClassifier


def sets_in(path):
    with path.open() as lines:
        return [row["set"] for row in csv.DictReader(lines)]


def test_coverage_is_a_conformal_classifier_and_may_be_changed(plausible, folder):
    done = plausible("fit", "labels.csv", "features.csv", "-o", "out.skops", "--coverage", "0.5",
                     "--model", "discriminant", "--seed", "4", "--json")  # fmt: skip
    assert done.code == 0
    training = read_training(folder / "labels.csv", folder / "features.csv")
    model = ConformalClassifier(DiscriminantClassifier(random_state=4), 0.5, random_state=4)
    model.fit(training.X, training.labels)
    fitted = load(folder / "out.skops")
    np.testing.assert_array_equal(fitted.predict_set(training.X), model.predict_set(training.X))
    assert done.json["coverage"] == 0.5
    assert done.json["n_calibration"] == model.n_calibration_
    assert done.json["estimator"] == "DiscriminantClassifier"
    plausible("predict", "out.skops", "features.csv", "-o", "half.csv")
    plausible("predict", "out.skops", "features.csv", "-o", "all.csv", "--coverage", "1")
    names = model.classes_.tolist()
    words = [
        "|".join(names[k] for k in np.flatnonzero(row)) for row in model.predict_set(training.X)
    ]
    assert sets_in(folder / "half.csv") == words
    assert set(sets_in(folder / "all.csv")) == {"|".join(names)}


def test_gold_items_calibrate(plausible, folder):
    items = read_training(folder / "answers.csv", folder / "features.csv")
    known = items.items[items.rows][:8]
    truth = items.labels.crisp()[items.rows][:8]
    lines = ["item,label", *(f"{item},{one}" for item, one in zip(known, truth, strict=True))]
    (folder / "gold.csv").write_text("\n".join(lines) + "\n")
    done = plausible("fit", "answers.csv", "features.csv", "-o", "out.skops", "--coverage", "0.6",
                     "--gold", "gold.csv", "--model", "logistic")  # fmt: skip
    assert done.code == 0
    assert "sets hold the class of 60% of new items, as far as 8 held-out items tell" in done.out
    assert load(folder / "out.skops")[-1].n_calibration_ == 8


def test_coverage_that_cannot_be_had_is_refused(plausible):
    for words, part in [
        (("predict", "model.skops", "new.csv", "-o", "out.csv"), "fitted with --coverage"),
        (("fit", "answers.csv", "features.csv", "-o", "o.skops", "--model", "joint"), "joint"),
        (("fit", "labels.csv", "features.csv", "-o", "o.skops", "--resume"), "--resume"),
    ]:
        done = plausible(*words, "--coverage", "0.9")
        assert done.code == 2
        assert part in done.stderr
