"""Confusions by people, by a model and scores by class, against slow computations."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import balanced_accuracy_score, confusion_matrix
from sklearn.metrics import precision_recall_fscore_support as by_class

from plausible.base import Beliefs
from plausible.experts import Annotations
from plausible.labels import Labels
from plausible.metrics import soft_accuracy
from plausible.report import render, summarize
from plausible.report.of_confusion import (
    compared_counts,
    confused_model,
    confused_people,
    pairs_of_answers,
    scores_by_class,
)

CLASSES = ["crack", "burr", "healthy"]  # not sorted


class Oracle:
    """A classifier whose bets on burr, healthy and crack are the features."""

    classes_ = np.array(["burr", "healthy", "crack"])

    def predict_proba(self, X):
        return X / X.sum(axis=1, keepdims=True)


def told(n, seed=0):
    """Features of an oracle, and what it answers."""
    X = np.random.default_rng(seed).uniform(0.01, 1, size=(n, 3))
    return X, Oracle.classes_[X.argmax(axis=1)]


def slow_counts(contour, classes, answers):
    """Expected counts as {(class, answer): count}, from the definition, one item at a time."""
    counts = {}
    for row, answer in zip(contour, answers, strict=True):
        scaled = [value / max(row) for value in row]
        weight = 1 - min(scaled)
        credit = [value - min(scaled) for value in scaled]
        for name, part in zip(classes, credit, strict=True):
            if weight > 0:
                key = name, answer
                counts[key] = counts.get(key, 0.0) + weight * part / sum(credit)
    return counts


@given(
    arrays(float, (12, 3), elements=st.sampled_from([0, 0.05, 0.3, 0.7, 1])).map(
        lambda a: np.where(a.max(axis=1, keepdims=True) > 0, a, 1.0)
    )
)
def test_expected_counts_are_those_of_the_definition(contour):
    labels = Labels.from_plausibility(contour, CLASSES)
    X, answers = told(12)
    beliefs = Beliefs.from_probability(Oracle().predict_proba(X), Oracle.classes_)
    classes, counts = compared_counts(labels, beliefs)
    slow = slow_counts(contour, CLASSES, answers.tolist())
    for k, said in enumerate(classes.tolist()):
        for m, answer in enumerate(classes.tolist()):
            assert counts[k, m] == pytest.approx(slow.get((said, answer), 0.0))
    assert counts.sum() == pytest.approx(labels.informativeness.sum())
    if counts.sum() > 0:
        share = np.trace(counts) / counts.sum()
        assert share <= soft_accuracy(labels, answers) + 1e-12


def test_on_hard_labels_counts_and_scores_are_scikit_learns():
    X, answers = told(80)
    y = np.where(np.random.default_rng(1).uniform(size=80) < 0.7, answers, CLASSES[2])
    found = summarize(model=Oracle(), X_test=X, y_test=y)
    part, scores = found["confusion"]["model"], found["scores"]["by_class"]
    assert part["about"] == "test items"
    expected = confusion_matrix(y, answers, labels=part["classes"])
    assert np.array(part["counts"]) == pytest.approx(expected)
    assert np.array(part["shares"]) == pytest.approx(expected / expected.sum(1)[:, None])
    order = [row["class"] for row in scores["classes"]]
    rows = zip(*by_class(y, answers, labels=order), strict=True)
    for row, (precision, recall, f1, support) in zip(scores["classes"], rows, strict=True):
        assert row["precision"] == pytest.approx(precision)
        assert row["recall"] == pytest.approx(recall)
        assert row["f1"] == pytest.approx(f1)
        assert row["weight"] == pytest.approx(support)
    assert scores["balanced"] == pytest.approx(balanced_accuracy_score(y, answers))


def test_doubted_labels_are_right_as_often_as_the_soft_accuracy_says():
    X, answers = told(60)
    rng = np.random.default_rng(2)
    y = np.where(rng.uniform(size=60) < 0.6, answers, CLASSES[0])
    labels = Labels.from_doubt(y, rng.uniform(0, 0.9, size=60), classes=CLASSES)
    found = summarize(model=Oracle(), X_test=X, y_test=labels)["confusion"]["model"]
    assert found["right"] == pytest.approx(soft_accuracy(labels, answers))
    assert found["right"] < 1


def test_the_worst_confusions_come_first():
    X, answers = told(200)
    y = np.where(answers == "burr", "crack", answers)
    y[:20] = "healthy"
    found = summarize(model=Oracle(), X_test=X, y_test=y)["confusion"]["model"]
    first = found["pairs"][0]
    assert (first["class"], first["answer"]) == ("crack", "burr")
    mistakes = (y == "crack") & (answers == "burr")
    assert first["count"] == mistakes.sum()
    assert first["share"] == pytest.approx(mistakes.sum() / (y == "crack").sum())
    assert sum(row["count"] for row in found["pairs"]) == pytest.approx((y != answers).sum())


def test_without_test_items_the_labels_of_the_items_count():
    X, answers = told(30)
    found = summarize(answers, model=Oracle(), X=X)
    assert found["confusion"]["model"]["about"] == "items"
    assert found["confusion"]["model"]["pairs"] == []
    assert "looks better than it is" in render(found)
    assert "by_class" not in found["scores"]
    nothing = summarize(Labels.unknown(30, CLASSES), model=Oracle(), X=X)
    assert nothing["confusion"]["missing"].startswith("Give ")


def test_a_class_that_nobody_named_has_no_recall():
    X, answers = told(50)
    y = np.where(answers == "burr", "healthy", answers)
    rows = summarize(model=Oracle(), X_test=X, y_test=y)["scores"]["by_class"]["classes"]
    burr = next(row for row in rows if row["class"] == "burr")
    assert (burr["recall"], burr["precision"], burr["f1"], burr["weight"]) == (None, 0.0, 0.0, 0.0)


# -- People ----------------------------------------------------------------------------------------


def slow_pairs(answers):
    """Ordered pairs of hard answers about one item, by their names."""
    said = {}
    for item, statement in zip(answers.item, answers.statement, strict=True):
        contour = answers.contours[statement]
        if (contour > 0).sum() == 1:
            said.setdefault(int(item), []).append(answers.classes[contour.argmax()])
    pairs = {}
    for names in said.values():
        for pair in permutations(names, 2):
            pairs[pair] = pairs.get(pair, 0) + 1
    return pairs


@given(arrays(int, st.tuples(st.integers(1, 9), st.integers(1, 4)), elements=st.integers(-1, 3)))
def test_pairs_of_answers_are_counted(table):
    words = np.array([*CLASSES, "burr|healthy", None], dtype=object)[table]
    words[0, 0] = CLASSES[0]
    answers = Annotations.from_answers(words, CLASSES)
    (_, ordered), slow = pairs_of_answers(answers), slow_pairs(answers)
    for k, first in enumerate(CLASSES):
        for m, second in enumerate(CLASSES):
            assert ordered[k, m] == slow.get((first, second), 0)
    found = summarize(annotations=answers)["confusion"]
    if not slow:
        assert found["missing"].startswith("Give ")
        return
    people = found["people"]
    assert 2 * people["n_pairs"] == sum(slow.values())
    differ = {pair: n for pair, n in slow.items() if pair[0] != pair[1]}
    assert 2 * people["n_differ"] == sum(differ.values())
    listed = {(row["first"], row["second"]): row["count"] for row in people["pairs"]}
    assert listed == {pair: n for pair, n in differ.items()
                      if CLASSES.index(pair[0]) < CLASSES.index(pair[1])}  # fmt: skip
    same = sum(n for pair, n in slow.items() if pair[0] == pair[1])
    assert same / sum(slow.values()) == pytest.approx(answers.agreement().pairs)


def test_of_many_classes_those_confused_most_are_shown():
    rng = np.random.default_rng(0)
    names = np.array([f"c{k:02d}" for k in range(25)])
    truth = np.arange(25).repeat(8)
    second = np.where((truth >= 20) & (rng.uniform(size=200) < 0.5), 44 - truth, truth)
    found = summarize(annotations=Annotations.from_answers(names[np.column_stack([truth, second])]))
    people = found["confusion"]["people"]
    assert len(people["classes"]) == 10
    assert people["n_classes_left_out"] == 15
    assert {"c20", "c21", "c23", "c24"} <= set(people["classes"])
    assert people["classes"] == sorted(people["classes"])
    assert "The 15 classes confused least are left out." in render(found)


def test_very_many_classes_are_compared_as_far_as_they_matter():
    y = np.concatenate([[1] * 6, np.arange(1500), [0] * 5, [7]])
    people = confused_people(Annotations.from_answers(np.column_stack([y, np.where(y == 7, 9, y)])))
    answered = np.eye(1500)[np.where(y == 1, 0, y)]  # 0 for the items of class 1
    beliefs, labels = Beliefs.from_probability(answered, np.arange(1500)), Labels.from_crisp(y)
    model, rows = confused_model(labels, beliefs, "test items"), scores_by_class(labels, beliefs)
    told = [(row["class"], row["answer"], row["count"]) for row in model["pairs"]]
    assert told == [("1", "0", 7)]
    told = [(row["first"], row["second"], row["count"]) for row in people["pairs"]]
    assert told == [("7", "9", 2)]
    assert people["n_classes_left_out"] == model["n_classes_left_out"] == 1490
    assert len(rows["classes"]) + rows["n_classes_left_out"] == 1500
    first, second = rows["classes"][:2]
    assert (first["class"], first["recall"]) == ("1", 0.0)
    assert (second["class"], second["recall"]) == ("0", 1.0)
    assert second["precision"] == pytest.approx(6 / 13)
    assert rows["balanced"] == pytest.approx(1499 / 1500)


def test_the_list_holds_the_whole_matrix():
    X, answers = told(60)
    y = np.random.default_rng(3).permutation(answers)
    found = summarize(model=Oracle(), X_test=X, y_test=y)["confusion"]["model"]
    assert sum(row[2] for row in found["list"]["rows"]) == pytest.approx(60)
    assert found["list"]["columns"] == ["class", "answer", "expected_count"]


# -- Annotator against annotator -------------------------------------------------------------------


def slow_agreement(answers, first, second):
    """Common pairs, the share that is the same, and Cohen's kappa of two annotators."""
    said = {first: {}, second: {}}
    for item, who, statement in zip(
        answers.item, answers.annotator, answers.statement, strict=True
    ):
        name, contour = answers.annotators[who], answers.contours[statement]
        if name in said and (contour > 0).sum() == 1:
            said[name][int(item)] = answers.classes[contour.argmax()]
    both = [(said[first][i], said[second][i]) for i in said[first] if i in said[second]]
    if not both:
        return 0, None, None
    agree = np.mean([a == b for a, b in both])
    chance = sum(np.mean([a == name for a, _ in both]) * np.mean([b == name for _, b in both])
                 for name in CLASSES)  # fmt: skip
    return len(both), agree, (agree - chance) / (1 - chance) if chance < 1 else None


def crowd(n_people, often, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(3, size=60)
    guess = rng.integers(3, size=(60, n_people))
    skill = rng.uniform(0.2, 1, size=n_people)
    said = np.where(rng.uniform(size=guess.shape) < skill, truth[:, None], guess)
    words = np.array(CLASSES, dtype=object)[said]
    words[rng.uniform(size=said.shape) < 0.1] = "burr|crack"
    words[rng.uniform(size=said.shape) > often] = None
    words[0, 0] = CLASSES[0]
    people = [f"p{k}" for k in range(n_people)]
    return Annotations.from_answers(words, CLASSES, annotators=people)


@pytest.mark.parametrize(("n_people", "often"), [(2, 1.0), (5, 0.6), (9, 0.1)])
def test_annotators_are_compared_by_what_both_have_seen(n_people, often):
    answers = crowd(n_people, often)
    found = summarize(annotations=answers)["reliability"]["peers"]
    names = found["annotators"]
    assert sorted(names) == sorted(answers.annotators.tolist())
    for r, first in enumerate(names):
        for s, second in enumerate(names):
            if r == s:
                assert (found["agree"][r][s], found["common"][r][s]) == (None, 0)
                continue
            common, agree, _ = slow_agreement(answers, first, second)
            assert found["common"][r][s] == common
            assert found["agree"][r][s] == (None if agree is None else pytest.approx(agree))
    rows = [dict(zip(found["list"]["columns"], row, strict=True)) for row in found["list"]["rows"]]
    for row in rows:
        common, _, kappa = slow_agreement(answers, row["first"], row["second"])
        assert row["common"] == common > 0
        assert row["kappa"] == (None if kappa is None else pytest.approx(kappa, abs=1e-5))
    kappas = [row["kappa"] for row in rows if row["kappa"] is not None]
    assert kappas == sorted(kappas)
    least = [row for row in rows if row["common"] >= 10][:5]
    assert [(row["first"], row["second"]) for row in found["least"]] == [
        (row["first"], row["second"]) for row in least
    ]


def test_those_who_agree_stand_side_by_side():
    rng = np.random.default_rng(0)
    schools = rng.integers(3, size=(2, 200))
    school = np.array([0, 1, 0, 1, 1, 0])
    said = np.where(
        rng.uniform(size=(200, 6)) < 0.9, schools[school].T, rng.integers(3, size=(200, 6))
    )
    people = [f"{'xy'[side]}{k}" for k, side in enumerate(school)]
    answers = Annotations.from_answers(np.array(CLASSES)[said], annotators=people)
    names = "".join(
        name[0] for name in summarize(annotations=answers)["reliability"]["peers"]["annotators"]
    )
    assert names in ("xxxyyy", "yyyxxx")


def test_of_many_annotators_the_most_active_are_compared():
    answers = crowd(70, 0.4)
    found = summarize(annotations=answers)
    peers = found["reliability"]["peers"]
    assert (peers["n_annotators"], peers["n_compared"], len(peers["annotators"])) == (70, 30, 10)
    hard = answers.is_hard[answers.statement]
    count = np.bincount(answers.annotator[hard], minlength=70)
    shown = [int(name[1:]) for name in peers["annotators"]]
    assert min(count[shown]) >= np.sort(count)[-10]
    assert "The 10 most active of 70 annotators are shown." in render(found)


def test_one_annotator_is_compared_with_nobody():
    found = summarize(annotations=Annotations.from_answers([["a"], ["b"]]))
    assert found["reliability"]["peers"] is None
    assert "Annotator against annotator" not in render(found)


# -- Advice ----------------------------------------------------------------------------------------


def test_two_classes_that_are_confused_should_be_told_apart():
    said = np.tile(np.array([["crack", "crack"], ["burr", "healthy"], ["burr", "burr"]]), (12, 1))
    page = render(summarize(annotations=Annotations.from_answers(said)))
    assert (
        "Say how to tell</a> <bdi>burr</bdi> from <bdi>healthy</bdi>: they make up 100 % of" in page
    )
    few = render(summarize(annotations=Annotations.from_answers(said[:24])))
    assert "Say how to tell" not in few
