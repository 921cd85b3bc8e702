"""The numbers of a report: they add up, and are those of the rooms below."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from plausible.belief import decide
from plausible.experts import Annotations
from plausible.labels import Labels
from plausible.metrics import (
    expected_calibration_error,
    rejection_curve,
    set_coverage,
    set_imprecision,
    soft_accuracy,
    soft_brier_score,
    soft_log_loss,
    utility_discounted_accuracy,
)
from plausible.models import GaussianMixtureClassifier, SoftNearestCentroid
from plausible.report import summarize

CLASSES = ["burr", "crack", "healthy"]
CONTOURS = arrays(
    float, st.tuples(st.integers(1, 30), st.just(3)), elements=st.sampled_from([0, 0.1, 0.5, 1])
).map(lambda a: np.where(a.max(axis=1, keepdims=True) > 0, a, 1.0))


@pytest.fixture(scope="module")
def workshop():
    """Answers, labels, a model, and test items with doubt."""
    rng = np.random.default_rng(1)
    truth = rng.integers(3, size=90)
    X = rng.normal(size=(90, 2)) + 2.5 * np.eye(3, 2)[truth]
    said = np.where(rng.uniform(size=(90, 4)) < 0.8, truth[:, None], rng.integers(3, size=(90, 4)))
    table = np.array(CLASSES, dtype=object)[said]
    table[rng.uniform(size=table.shape) < 0.2] = None
    table[0, 0] = CLASSES[0]
    items = [f"part {i}" for i in range(90)]
    answers = Annotations.from_answers(table, items=items, annotators=["ann", "bob", "cy", "dee"])
    labels = answers.pool(doubt=0.1)
    doubt = np.where(np.arange(30) < 5, 1.0, 0.1)
    tested = Labels.from_doubt(np.array(CLASSES)[truth[:30]], doubt, classes=CLASSES)
    model = GaussianMixtureClassifier("tied").fit(X, labels)
    return {
        "labels": labels,
        "annotations": answers,
        "model": model,
        "X": X,
        "X_test": X[:30] + 0.1,
        "y_test": tested,
    }


@pytest.fixture(scope="module")
def summary(workshop):
    return summarize(**workshop, command="make it", date="1 May 2026", seed=3)


def is_plain(value):
    if isinstance(value, dict):
        return all(type(key) is str and is_plain(part) for key, part in value.items())
    if isinstance(value, list):
        return all(map(is_plain, value))
    is_number = type(value) is not float or math.isfinite(value)
    return value is None or (type(value) in (str, int, float, bool) and is_number)


def test_everything_is_plain_and_survives_json(summary):
    assert is_plain(summary)
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary


def test_the_same_inputs_give_the_same_numbers(workshop, summary):
    again = summarize(**workshop, command="make it", date="1 May 2026", seed=3)
    assert again == summary


@given(CONTOURS)
def test_counts_of_labels_add_up(contour):
    labels = Labels.from_plausibility(contour, CLASSES)
    found = summarize(labels)["labels"]
    n = len(labels)
    assert sum(found["kinds"].values()) == n
    assert found["kinds"]["nothing"] == labels.is_unknown.sum()
    assert sum(row["count"] for row in found["sizes"]) == n
    assert sum(row["share"] for row in found["classes"]) == pytest.approx(1.0)
    assert sum(row["alone"] for row in found["classes"]) == found["kinds"]["one class"]
    best = [row["most_plausible"] for row in found["classes"]]
    assert best == [int((labels.crisp() == name).sum()) for name in CLASSES]


@given(st.lists(st.sets(st.sampled_from(CLASSES), min_size=1), min_size=1))
def test_sizes_of_sets_are_exact(sets):
    found = summarize(Labels.from_sets(sets, CLASSES))["labels"]
    sizes = [len(members) for members in sets]
    assert {row["size"]: row["count"] for row in found["sizes"]} == {
        size: sizes.count(size) for size in (1, 2, 3)
    }
    assert found["kinds"] == {
        "one class": sizes.count(1),
        "a set of classes": sizes.count(2),
        "degrees": 0,
        "nothing": sizes.count(3),
    }


def test_many_classes_are_counted_together():
    labels = Labels.from_crisp(np.arange(300))
    found = summarize(labels)["labels"]
    assert len(found["classes"]) + found["n_classes_left_out"] == 300
    assert [row["or_more"] for row in found["sizes"]] == [False] * 19 + [True]


def test_the_worst_items_are_those_with_the_most_conflict(workshop, summary):
    conflict, clash = workshop["labels"].conflict, summary["clash"]
    assert sum(clash["histogram"]["counts"]) == 90
    assert clash["mean"] == conflict.mean()
    worst = [row["conflict"] for row in clash["worst"]]
    assert worst == np.sort(conflict)[::-1][:20].tolist()
    agreement = workshop["annotations"].agreement()
    assert clash["agreement"]["alpha"] == agreement.alpha


def test_who_said_what_is_what_they_said(workshop, summary):
    answers = workshop["annotations"]
    names = answers.items.tolist()
    for row in summary["clash"]["worst"]:
        mine = answers.item == names.index(row["item"])
        spoken = {
            (answers.annotators[who], CLASSES[answers.contours[said].argmax()])
            for who, said in zip(answers.annotator[mine], answers.statement[mine], strict=True)
        }
        told = {(who, line["said"]) for line in row["answers"] for who in line["annotators"]}
        assert told == spoken
        assert sum(line["count"] for line in row["answers"]) == mine.sum()


def test_every_answer_is_counted_where_many_speak():
    said = [f"c{k}" for k in range(12) for _ in range(20)]
    answers = Annotations.from_long(["x"] * 240, np.arange(240), said)
    (worst,) = summarize(annotations=answers)["clash"]["worst"]
    assert sum(line["count"] for line in worst["answers"]) == 240
    assert worst["answers"][-1] == {
        "said": "something else",
        "count": 120,
        "annotators": [],
        "doubt": None,
    }


@given(arrays(int, st.tuples(st.integers(1, 12), st.integers(1, 5)), elements=st.integers(0, 2)))
def test_intervals_of_annotators_hold_the_estimate(table):
    answers = Annotations.from_answers(np.array(CLASSES)[table], CLASSES)
    found = summarize(annotations=answers)["reliability"]
    assert all(row["low"] <= row["right"] <= row["high"] for row in found["annotators"])
    right = [row["right"] for row in found["annotators"]]
    assert right == sorted(right, reverse=True)


def test_annotators_are_those_of_the_room_of_experts(workshop, summary):
    found = workshop["annotations"].reliability()
    told = {row["annotator"]: row["doubt"] for row in summary["reliability"]["annotators"]}
    assert told == dict(zip(found.annotators.tolist(), found.doubt.tolist(), strict=True))


def test_who_doubts_his_errors_is_not_called_right():
    random = np.random.default_rng(0)
    y = random.integers(3, size=300)
    rates = {"ann": 0.95, "bob": 0.8, "cy": 0.6}
    columns = {"item": [], "annotator": [], "label": [], "doubt": []}
    for person, rate in rates.items():
        said = np.where(random.random(300) < rate, y, (y + random.integers(1, 3, size=300)) % 3)
        columns["item"] += range(300)
        columns["annotator"] += [person] * 300
        columns["label"] += said.tolist()
        columns["doubt"] += np.where(said == y, 0.1, 0.8).tolist()  # he knows when he errs
    *said, doubt = columns.values()
    answers = Annotations.from_long(*said, doubt=doubt)
    rows = summarize(annotations=answers)["reliability"]["annotators"]
    assert [row["annotator"] for row in rows] == ["ann", "bob", "cy"]
    for row in rows:
        share = rates[row["annotator"]]
        assert row["right"] == pytest.approx(share, abs=0.06)
        assert row["own_doubt"] == pytest.approx(0.8 - 0.7 * share, abs=0.03)
    assert min(answers.reliability().accuracy) > 0.9  # beyond what doubts admit


def test_of_many_annotators_the_best_and_the_worst_are_listed():
    said = np.random.default_rng(0).integers(2, size=(40, 120))
    found = summarize(annotations=Annotations.from_answers(said))["reliability"]
    assert len(found["annotators"]) == 50
    assert found["annotators"][0]["right"] == found["quantiles"][-1]
    assert found["annotators"][-1]["right"] == found["quantiles"][0]


def test_questions_are_those_of_the_room_of_experts(workshop, summary):
    asked = workshop["annotations"].next_items(10, labels=workshop["labels"])
    assert summary["questions"]["items"] == [question._asdict() for question in asked]


def test_beliefs_are_those_of_the_model(workshop, summary):
    model, X, found = workshop["model"], workshop["X"], summary["belief"]
    p = model.predict_proba(X)
    assert found["n_refused"] == decide(p, reject=0.3, kind="probability").refused.sum()
    assert found["n_refused"] == (p.max(axis=1) < 0.7).sum()
    sizes = model.predict_set(X).sum(axis=1)
    assert [row["count"] for row in found["set_sizes"]] == np.bincount(sizes, minlength=4).tolist()
    assert sum(row["count"] for row in found["answers"]) == 90
    names = workshop["annotations"].items.tolist()
    for item in found["shown"]:
        contour = model.predict_plausibility(X[[names.index(item["item"])]])[0]
        drawn = {bar["class"]: bar["plausibility"] for bar in item["bars"]}
        assert drawn == pytest.approx(dict(zip(CLASSES, contour, strict=True)))


def test_a_wrong_label_is_suspicious(workshop):
    model, X = workshop["model"], workshop["X"]
    sure = model.predict_plausibility(X)
    labels = model.predict(X).astype(object)
    row = int(np.argmin(np.sort(sure, axis=1)[:, 1]))
    labels[row] = CLASSES[int(sure[row].argmin())]
    found = summarize(labels.tolist(), model=model, X=X)["belief"]["suspicious"]
    assert found["count"] == 1
    assert found["worst"][0]["item"] == f"row {row}"
    assert found["worst"][0]["plausibility"] == pytest.approx(sure[row].min())
    unknown = Labels.unknown(len(X), CLASSES)
    assert summarize(unknown, model=model, X=X)["belief"]["suspicious"]["count"] == 0


class Oracle:
    """A classifier whose plausibilities of z, b and m are the features."""

    classes_ = np.array(["z", "b", "m"])

    def predict_plausibility(self, X):
        return X

    def predict_proba(self, X):
        return X / X.sum(axis=1, keepdims=True)


def test_labels_below_a_tenth_of_plausibility_are_suspicious():
    # What the labels say of m, z, b, and what the model says of z, b, m.
    X = [[0.09, 1, 0.5], [0.11, 1, 0.5], [1, 0.05, 0.05], [1, 0, 0.3], [1, 0, 0.3], [1, 0, 0.02]]
    said = [[0, 1, 0], [0, 1, 0], [1, 0, 1], [0.3, 0, 1], [0.4, 0, 1], [0.5, 0.2, 1]]
    labels = Labels.from_plausibility(said, classes=["m", "z", "b"])
    expected = [0.09, 0.11, 0.05, 0.3 * 0.3, 0.4 * 0.3, 0.2]  # largest product, by class
    found = summarize(labels, model=Oracle(), X=np.array(X))["belief"]["suspicious"]
    assert found["count"] == 3
    worst = [(row["item"], row["plausibility"]) for row in found["worst"]]
    rows = sorted((value, row) for row, value in enumerate(expected) if value < 0.1)
    assert [item for item, _ in worst] == [f"row {row}" for _, row in rows]
    assert [value for _, value in worst] == pytest.approx([value for value, _ in rows])


def test_scores_are_those_of_the_metrics(workshop, summary):
    model, X, truth = (workshop[key] for key in ("model", "X_test", "y_test"))
    p, sets, classes = model.predict_proba(X), model.predict_set(X), model.classes_
    expected = {
        "soft_accuracy": soft_accuracy(truth, model.predict(X)),
        "soft_log_loss": soft_log_loss(truth, p, classes=classes),
        "soft_brier_score": soft_brier_score(truth, p, classes=classes),
        "set_coverage": set_coverage(truth, sets, classes=classes),
        "utility_discounted_accuracy": utility_discounted_accuracy(truth, sets, classes=classes),
        "set_imprecision": set_imprecision(sets[5:]),
        "expected_calibration_error": expected_calibration_error(truth, p, classes=classes),
    }
    found = summary["scores"]
    assert {row["score"]: row["estimate"] for row in found["scores"]} == pytest.approx(expected)
    assert all(row["low"] <= row["estimate"] <= row["high"] for row in found["scores"])
    assert (found["n_items"], found["n_counted"]) == (30, 25)


def test_the_calibration_adds_up_to_its_error(summary):
    bins, scores = summary["scores"]["calibration"], summary["scores"]["scores"]
    weight = np.array([row["weight"] for row in bins])
    gap = np.abs([row["confidence"] - row["right"] for row in bins])
    assert scores[-1]["estimate"] == pytest.approx(np.average(gap, weights=weight))
    right = [row["right"] for row in bins]
    assert scores[0]["estimate"] == pytest.approx(np.average(right, weights=weight))


def test_points_of_rejection_are_on_the_curve(workshop, summary):
    model, X, truth = (workshop[key] for key in ("model", "X_test", "y_test"))
    curve = rejection_curve(truth, model.predict_proba(X), classes=model.classes_)
    found = summary["scores"]["rejection"]
    points = set(zip(found["rejected"], found["accuracy"], strict=True))
    assert points <= set(zip(curve.rejected.tolist(), curve.accuracy.tolist(), strict=True))
    assert (found["rejected"][0], found["area"]) == (0.0, curve.area)


class Coin:
    """A classifier that is right as often as it was told, whatever X."""

    classes_ = np.array([0, 1])

    def predict_proba(self, X):
        return np.column_stack([1 - X[:, 0], X[:, 0]])


@pytest.mark.parametrize("n", [150, 3000])
def test_intervals_of_a_share_have_the_right_width(n):
    """Of a share, the bootstrap agrees with the normal approximation, in groups as well."""
    y = (np.arange(n) % 10 < 8).astype(int)  # right in 8 of 10
    X = np.full((n, 1), 0.9)
    found = summarize(model=Coin(), X_test=X, y_test=y, n_bootstrap=4000)["scores"]["scores"][0]
    width = 2 * 1.96 * math.sqrt(0.8 * 0.2 / n)
    assert found["estimate"] == pytest.approx(0.8)
    assert found["high"] - found["low"] == pytest.approx(width, rel=0.2)


def test_a_classifier_without_plausibilities_has_those_of_its_bets():
    X, y = np.array([[0.0], [0.1], [1.0], [1.1]]), ["a", "a", "b", "b"]
    model = SoftNearestCentroid().fit(X, y)
    found = summarize(model=model, X_test=X, y_test=y)["belief"]
    assert found["about"] == "test items"
    assert found["suspicious"]["count"] == 0
    p = model.predict_proba(X)
    least = min(bar["plausibility"] for item in found["shown"] for bar in item["bars"])
    assert least == pytest.approx(2 * p.min())  # of two classes


def test_labels_and_model_may_know_other_classes():
    X = np.array([[0.0], [0.1], [1.0], [1.1]])
    model = SoftNearestCentroid().fit(X, ["a", "a", "b", "b"])
    found = summarize(["a", "a", "c", "c"], model=model, X=X, X_test=X, y_test=list("aacc"))
    assert found["belief"]["suspicious"]["count"] == 2
    assert found["scores"]["scores"][0]["estimate"] == 0.5


def test_what_is_missing_is_asked_for():
    found = summarize()
    sections = ("labels", "clash", "reliability", "questions", "belief", "scores")
    assert all(found[key]["missing"].startswith("Give ") for key in sections)
    assert found["made"]["model"] is None


def test_test_labels_that_say_nothing_give_no_scores(workshop):
    nothing = Labels.unknown(30, CLASSES)
    found = summarize(model=workshop["model"], X_test=workshop["X_test"], y_test=nothing)
    assert found["scores"]["missing"].startswith("No test label says anything")


def test_how_it_was_made_names_no_folder():
    X = np.array([[0.0], [1.0]])
    model = SoftNearestCentroid().fit(X, ["a", "b"])
    command = "plausible report '/home/my self/a.csv' C:\\data\\b.csv --out=/data/r.html ~/m.skops"
    made = summarize(model=model, X=X, command=command, seed=7)["made"]
    assert made["command"] == "plausible report a.csv b.csv --out=r.html m.skops"
    assert (made["seed"], made["model"]) == (7, "SoftNearestCentroid")
    assert {"plausible", "numpy", "python"} <= set(made["versions"])


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"labels": ["a", "b"], "items": ["x"]}, "items should be one name for each of the 2"),
        ({"labels": ["a", "b"], "n_worst": 0}, "n_worst should be a whole number of at least 1"),
        ({"labels": ["a", "b"], "reject": 2}, "reject should be a finite number in \\[0, 1\\]"),
        ({"model": object(), "X": [[0.0]]}, "model should be a fitted classifier"),
        (
            {"labels": ["a"], "annotations": Annotations.from_answers([["a"], ["b"]])},
            "labels should be those of the 2 items of the annotations, but there are 1",
        ),
        (
            {"model": Coin(), "X_test": np.ones((2, 1)), "y_test": [0, 1, 1]},
            "y_test should have one row for each of the 2 rows of X_test, but have 3",
        ),
        (
            {"model": Coin(), "X": np.ones((2, 1)), "labels": [0, 1, 1]},
            "labels should have one row for each of the 2 rows of X, but have 3",
        ),
        (
            {"model": Coin(), "X": np.ones((2, 1)), "items": ["x"]},
            "items should be one name for each of the 2 rows of X",
        ),
    ],
)
def test_errors_say_what_to_do(inputs, message):
    with pytest.raises(ValueError, match=message):
        summarize(**inputs)
