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


def write_gold(folder, source, n_items):
    """Known classes of some items: those that their labels favor."""
    read = read_training(folder / source, folder / "features.csv")
    rows = read.rows[:n_items]
    lines = zip(read.items[rows], read.labels.crisp()[rows], strict=True)
    text = "\n".join(["item,label", *(f"{item},{one}" for item, one in lines)])
    (folder / "gold.csv").write_text(text + "\n")
    return read


def test_gold_calibrates_beside_labels_which_it_leaves_as_they_are(plausible, folder):
    training = write_gold(folder, "labels.csv", 9)
    words = "fit", "labels.csv", "features.csv", "-o", "out.skops", "--model", "discriminant"
    done = plausible(*words, "--coverage", "0.6", "--gold", "gold.csv", "--seed", "4")
    assert done.code == 0
    assert "sets hold the class of 60% of new items, as far as 9 held-out items tell" in done.out
    gold = np.full(len(training.X), None, dtype=object)
    gold[training.rows[:9]] = training.labels.crisp()[training.rows[:9]]
    model = ConformalClassifier(DiscriminantClassifier(random_state=4), 0.6, random_state=4)
    model.fit(training.X, training.labels, gold=gold)
    fitted = load(folder / "out.skops")
    np.testing.assert_array_equal(fitted.predict_set(training.X), model.predict_set(training.X))
    (folder / "gold.csv").write_text("item,label\nnobody,cat\n")
    done = plausible(*words, "--coverage", "0.6", "--gold", "gold.csv")
    assert done.code == 1
    assert "Items of 'gold.csv' should be among those of the features" in done.stderr
    assert (
        "leave rule, doubt, dependence and gold out"
        in plausible(*words, "--gold", "gold.csv").stderr
    )


def test_errors_among_answers_are_bounded(plausible, folder):
    new = write_gold(folder, "labels.csv", 9).X
    plausible("fit", "labels.csv", "features.csv", "-o", "out.skops", "--coverage", "0.5",
              "--model", "discriminant", "--gold", "gold.csv")  # fmt: skip
    words = "predict", "out.skops", "features.csv", "-o", "decisions.csv"
    for allowed in (0.2, 0.6):
        done = plausible(*words, "--max-error", str(allowed), "--json")
        assert done.code == 0
        decision = load(folder / "out.skops").decide(new, max_error=allowed)
        assert done.json["n_refused"] == decision.refused.sum()
        with (folder / "decisions.csv").open() as lines:
            answers = [row["answer"] or None for row in csv.DictReader(lines)]
        assert answers == decision.names()
        assert f"{allowed:.1%} errors among answers" in " ".join(done.json["notes"])
    for more, part in [
        (("--reject", "0.1"), "--max-error and --reject do not go together"),
        (("--max-error", "0.001"), "needs 1 / 0.001 items"),
    ]:
        done = plausible(*words, "--max-error", "0.2", *more)
        assert done.code in (1, 2)
        assert part in done.stderr
    done = plausible("predict", "model.skops", "new.csv", "-o", "o.csv", "--max-error", "0.2")
    assert done.code == 2
    assert "fit it again with --coverage" in done.stderr


def test_coverage_that_cannot_be_had_is_refused(plausible):
    for words, part in [
        (("predict", "model.skops", "new.csv", "-o", "out.csv"), "fitted with --coverage"),
        (("fit", "answers.csv", "features.csv", "-o", "o.skops", "--model", "joint"), "joint"),
        (("fit", "labels.csv", "features.csv", "-o", "o.skops", "--resume"), "--resume"),
    ]:
        done = plausible(*words, "--coverage", "0.9")
        assert done.code == 2
        assert part in done.stderr
