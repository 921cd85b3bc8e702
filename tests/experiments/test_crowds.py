import json
import sys
from dataclasses import replace
from types import ModuleType, SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier

from plausible.datasets import CrowdData
from plausible.experiments import crowd_learners, crowd_pools
from plausible.experiments import crowds as experiment
from plausible.experiments.common import silent
from plausible.experiments.kept import Kept
from plausible.experts import Annotations, JointAnnotatorClassifier
from plausible.labels import Labels
from support.real_files import write_crowds

pytestmark = pytest.mark.long

SETS = ("labelme", "sentiment_polarity", "dogs")
MODELS = (
    "logistic, by likelihood",
    "logistic, by accuracy",
    "discriminant",
    "mixture, tied",
    "mixture, full",
)


def make_data(n=120, doubt=0.3, seed=0, features=True):
    random = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = 2.0 * np.eye(3, 4)[y] + random.normal(size=(n, 4))
    wrong = random.random((n, 4)) < doubt
    said = np.where(wrong, random.integers(3, size=(n, 4)), y[:, None])
    answers = Annotations.from_answers(np.array(["c", "a", "b"])[said], ["c", "a", "b"])
    return CrowdData("labelme", answers, y, *((X, X, y) if features else ()))


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sets")
    write_crowds(folder, SETS, per_class=60)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLAUSIBLE_DATA", str(folder))
        patch.setattr(crowd_pools, "installed", lambda: {"crowd-kit": False, "cleanlab": False})
        return experiment.run(quick=True, sets=SETS)


def test_every_form_of_answers_is_pooled_and_learned_from(results):
    assert [one["set"] for one in results["pools"]] == list(SETS)
    for one in results["pools"]:
        assert tuple(one["accuracy"]) == crowd_pools.OURS
        assert min(one["accuracy"].values()) > 0.8
        assert one["accuracy"]["pool, doubt 0.3"] == one["accuracy"]["majority"]
    rows = results["learners"]
    assert [(row["set"], row["model"]) for row in rows] == [
        (name, model) for name in SETS[:2] for model in MODELS
    ]
    for row in rows:
        joint = set(crowd_learners.JOINT) if row["model"].startswith("logistic") else set()
        assert set(row["accuracy"]) == set(crowd_learners.FORMS) - set(crowd_learners.JOINT) | joint
        least = 0.5 if row["model"] == "mixture, full" else 0.8  # with few of the features
        assert row["accuracy"]["truth"] > least
    assert len(rows[0]["ridges"]["majority"]["ridges"]) == crowd_learners.N_DRAWS
    assert results["settings"]["not_installed"] == ["crowd-kit", "cleanlab"]
    assert not any(one["required"] for one in results["claims"])  # too few rows to hold us to it
    json.dumps(results, allow_nan=False)


def test_tables_and_picture_hold_every_row(results, tmp_path):
    found = experiment.tables(results)
    assert "left out: crowd-kit, cleanlab." in found["pools"].caption
    assert [row[0] for row in found["pools"].rows] == list(SETS)
    every = [[row["set"], row["model"]] for row in results["learners"]]
    assert [row[:2] for row in found["learners"].rows] == every
    assert [row[:2] for row in found["softness"].rows] == every
    experiment.draw(results, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 1000


def test_ties_count_their_share():
    scores = np.array([[1.0, 1.0, 0.0], [0.0, 2.0, 1.0], [0.0, 0.0, 0.0]])
    np.testing.assert_allclose(crowd_pools.credit(scores, np.array([0, 1, 2])), [0.5, 1, 1 / 3])


def test_losses_and_calibration_errors_follow_from_their_definition():
    chances = np.array([[0.9, 0.1, 0.0], [0.2, 0.75, 0.05], [0.95, 0.05, 0.0], [0.2, 0.8, 0.0]])
    y = np.array([0, 1, 2, 0])
    expected = -np.log([0.9, 0.75, crowd_pools.FLOOR, 0.2])
    np.testing.assert_allclose(crowd_pools.losses(chances, y), expected)
    # bins 0.7 to 0.8, 0.8 to 0.9, and 0.9 to 1, in which one of two is right
    gaps = abs(0.75 - 1) + abs(0.8 - 0) + abs(0.9 + 0.95 - 1)
    assert crowd_pools.calibration_error(chances, y) == pytest.approx(gaps / 4)
    even = crowd_pools.as_chances(np.array([[0.0, 0.0], [1.0, 3.0]]))
    np.testing.assert_allclose(even, [[0.5, 0.5], [0.25, 0.75]])


def pool_row(name, pool, majority, peer, less, held=9):
    return {
        "set": name,
        "accuracy": {"pool": pool, "majority": majority, "crowd-kit GLAD": peer},
        "less_loss": {"crowd-kit GLAD": {"mean": less, "low": less - 0.1, "high": less + 0.1}},
        "intervals_hold": held,
        "intervals": 10,
    }


def test_pools_are_judged_by_what_is_said_of_them():
    good = pool_row("dogs", 0.8, 0.8, 0.805, -0.05)
    far, behind = pool_row("bluebirds", 0.8, 0.7, 0.82, -0.2), pool_row("x", 0.7, 0.8, 0.7, 0.3, 3)
    verdicts = [one["holds"] for one in experiment.judge_pools([good, good, far], quick=False)]
    assert verdicts == [True] * 4
    verdicts = [one["holds"] for one in experiment.judge_pools([far, behind, far], quick=False)]
    assert verdicts == [False] * 4


def test_items_without_answers_have_no_hard_label():
    data = make_data(n=30)
    answers = data.annotations.select(data.annotations.item != 4)
    labels = crowd_learners.label_sets(
        CrowdData("labelme", answers, data.y, data.X, data.X, data.y), 0
    )
    assert labels["truth"][0].crisp()[4] == "a"
    assert all((one[0].contour[4] == 1).all() for form, one in labels.items() if form != "truth")


def test_hard_forms_are_the_soft_ones_hardened():
    labels = crowd_learners.label_sets(make_data(doubt=0.6), 0)
    for soft, hard in crowd_learners.HARDENED.items():
        if soft != "pool, full":  # its prior is not even
            contour = labels[soft][0].scaled()
            assert (contour[labels[hard][0].contour == 1] > 1 - 1e-9).all()


def test_softness_is_the_gain_over_the_hardened_form():
    hits = {form: np.array([1.0, 0.0, 1.0, 0.0]) for form in crowd_learners.FORMS}
    hits |= {"pool, fitted": np.ones(4), "fitted, hard": np.array([1.0, 1.0, 1.0, 0.0])}
    row = crowd_learners.row_of("labelme", "discriminant", hits, 0)
    found = {form: gain["mean"] for form, gain in row["softness"].items()}
    assert found == {"pool, doubt 0.3": 0.0, "pool, fitted": 0.25, "pool, full": 0.0}
    assert row["gain"]["pool, fitted"]["mean"] == 0.5


def test_gaussian_classifiers_have_features_that_the_rows_can_bear(monkeypatch):
    seen = {}

    class Spy(DummyClassifier):
        def fit(self, X, y):
            seen.setdefault(self.constant, set()).add(X.shape)
            return super().fit(X, y.crisp())

    bears = {name: rule for name, (rule, _) in crowd_learners.GAUSSIAN.items()}
    spies = {name: (rule, Spy(constant=name)) for name, rule in bears.items()}
    monkeypatch.setattr(crowd_learners, "GAUSSIAN", spies)
    data = make_data(n=60, doubt=0.0)
    wide = np.random.default_rng(0).normal(size=(60, 30))
    task = crowd_learners.prepare(replace(data, X=wide, X_test=wide), 0)
    for model in spies:
        crowd_learners.compare_gaussian(task, model, silent)
    assert seen == {
        "discriminant": {(60, 6)},
        "mixture, tied": {(60, 6)},
        "mixture, full": {(60, 4)},  # 20 rows of each class
    }


def test_the_truth_has_no_say_in_the_ridge():
    data = make_data(doubt=0.6)
    fold = np.arange(len(data.X)) // 5 % crowd_learners.N_FOLDS
    labels = crowd_learners.label_sets(data, 0)
    shifted = CrowdData("labelme", data.annotations, (data.y + 1) % 3, data.X, data.X, data.y)
    others = crowd_learners.label_sets(shifted, 0)
    for form in set(labels) - {"truth"}:
        first, second = (
            crowd_learners.held_out_scores(data.X, one[form][0], form, 10.0, fold)
            for one in (labels, others)
        )
        np.testing.assert_array_equal(first, second)


def test_a_held_out_score_is_the_likelihood_of_rows_that_took_no_part():
    data = make_data()
    fold = np.arange(len(data.X)) // 5 % crowd_learners.N_FOLDS
    truth = Labels.from_crisp(data.annotations.classes[data.y], ["c", "a", "b"])
    expected = np.zeros(2)
    for number in range(crowd_learners.N_FOLDS):
        out = fold == number
        model = crowd_learners.logistic(1.0).fit(data.X[~out], truth[~out])
        place = [model.classes_.tolist().index(name) for name in truth.crisp()[out].tolist()]
        chances = model.predict_proba(data.X[out])[np.arange(out.sum()), place]
        right = model.predict(data.X[out]) == truth.crisp()[out]
        expected += np.log(chances).sum(), right.sum()
    found = crowd_learners.held_out_scores(data.X, truth, "truth", 1.0, fold)
    np.testing.assert_allclose(found, expected / len(data.X))


def test_held_out_answers_teach_the_joint_classifier_nothing():
    data = make_data()
    out = np.arange(len(data.X)) // 5 % 3 == 0
    answers = data.annotations
    model = crowd_learners.fit_joint(data.X, answers.select(~out[answers.item]), "joint, full", 1.0)
    moved = data.X.copy()
    moved[out] += 3.0
    other = crowd_learners.fit_joint(moved, answers.select(~out[answers.item]), "joint, full", 1.0)
    np.testing.assert_allclose(model.predict_proba(data.X), other.predict_proba(data.X), atol=0.01)


def test_evidence_is_that_of_the_joint_classifier():
    data = make_data()
    model = JointAnnotatorClassifier().fit(data.X, data.annotations)
    logs = crowd_learners.evidence_of(data.annotations, model.reliability_.confusion)
    scaled = np.exp(logs - logs.max(axis=1, keepdims=True))
    np.testing.assert_allclose(scaled, model.reliability_.evidence)


def test_a_short_set_keeps_answers_with_their_rows(monkeypatch):
    monkeypatch.setattr(experiment, "QUICK_ROWS", 40)
    monkeypatch.setattr(experiment, "QUICK_TEST_ROWS", 7)
    monkeypatch.setattr(experiment, "QUICK_FEATURES", 3)
    data = make_data(doubt=0.0)
    short = experiment.shorten(data, 0)
    assert len(short.y) == len(short.X) == len(short.annotations.items) == 40
    np.testing.assert_array_equal(short.annotations.votes().argmax(axis=1), short.y)
    place = [data.X[:, :3].tolist().index(row) for row in short.X.tolist()]
    np.testing.assert_array_equal(data.y[place], short.y)
    np.testing.assert_array_equal(short.X_test, data.X_test[:7, :3])
    np.testing.assert_array_equal(short.y_test, data.y_test[:7])
    assert experiment.shorten(make_data(features=False), 0).X is None


def test_verdicts_can_go_either_way():
    around = lambda x: {"mean": x, "low": x - 0.01, "high": x + 0.01}  # noqa: E731
    gains = dict.fromkeys((*crowd_learners.POOLS, *crowd_learners.JOINT), around(0.025))
    row = {"set": "labelme", "model": MODELS[1], "gain": gains, "ridges": {"majority": {}}}
    verdicts = experiment.judge(row, quick=False)
    assert [one["holds"] for one in verdicts] == [True] * 3 + [False] * 2
    assert [one["required"] for one in verdicts] == [True, False, False, False, True]
    other = experiment.judge(row | {"model": MODELS[0]}, quick=False)
    assert not any(one["required"] for one in other)
    assert not experiment.judge(row | {"model": "discriminant", "ridges": {}}, quick=False)
    assert not experiment.judge(row | {"set": "cifar10n"}, quick=False)


def stub_packages(monkeypatch):
    """Stand-ins with the interfaces of the packages: every answer of theirs is a majority vote."""
    kit, lab = ModuleType("crowdkit"), ModuleType("cleanlab")

    class Vote:
        def fit_predict(self, table):
            assert list(table.columns) == ["task", "worker", "label"]
            return table.groupby("task")["label"].agg(lambda one: one.mode()[0])

        def fit_predict_proba(self, table):
            return pd.get_dummies(self.fit_predict(table)).astype(float)

        def fit(self, table):
            self.skills_ = pd.Series(1.0, index=table["worker"].unique())
            return self

    kit.aggregation = SimpleNamespace(**dict.fromkeys(crowd_pools.PEERS["crowd-kit"], Vote))

    def vote(table, verbose):
        assert not np.isnan(table).all(axis=0).any()
        return np.array([np.bincount(row[~np.isnan(row)].astype(int)).argmax() for row in table])

    def quality(table, chances, verbose, **options):
        assert chances.shape == (len(table), 3)
        assert chances.sum(axis=1) == pytest.approx(1.0)
        return {"label_quality": {"consensus_label": vote(table, verbose)}}

    lab.multiannotator = SimpleNamespace(
        get_majority_vote_label=vote, get_label_quality_multiannotator=quality
    )
    monkeypatch.setitem(sys.modules, "crowdkit", kit)
    monkeypatch.setitem(sys.modules, "cleanlab", lab)
    monkeypatch.setattr(crowd_pools, "installed", lambda: {"crowd-kit": True, "cleanlab": True})
    here = lambda function, arguments, seconds: function(*arguments) if seconds else None  # noqa: E731
    monkeypatch.setattr(crowd_pools, "ended", here)  # another process has no stand-ins


@pytest.mark.parametrize("features", [True, False])
def test_other_packages_get_the_same_answers(features, monkeypatch):
    stub_packages(monkeypatch)
    data = make_data(features=features)
    few = data.annotations.select(data.annotations.item != 4)
    data = CrowdData("dogs", few, data.y, data.X, data.X_test, data.y_test)
    found = crowd_pools.compare_pools(data, silent)["accuracy"]
    peers = [name for name in found if name not in crowd_pools.OURS]
    assert len(peers) == 6
    quick = crowd_pools.compare_pools(data, silent, quick=True)["accuracy"]
    assert set(found) - set(quick) == {f"crowd-kit {name}" for name in crowd_pools.SLOW}
    assert found["crowd-kit Wawa"] == pytest.approx(found["majority"])  # of equal skills
    peers.remove("crowd-kit Wawa")
    assert len({found[name] for name in peers}) == 1
    assert found[peers[0]] == pytest.approx(found["majority"], abs=0.05)
    assert not crowd_pools.cleanlab_scores("consensus", data)[4].any()
    assert not crowd_pools.crowd_kit_scores("GLAD", data)[4].any()
    assert not crowd_pools.crowd_kit_scores("MMSR", data)[4].any()


def test_who_does_not_end_in_time_is_named(monkeypatch):
    stub_packages(monkeypatch)
    found = crowd_pools.compare_pools(make_data(features=False), silent, seconds=0.0)
    late = {f"crowd-kit {name}": 0.0 for name in crowd_pools.SLOW}
    assert found["unended"] == late
    assert not set(late) & set(found["accuracy"])
    whole = crowd_pools.compare_pools(make_data(features=False), silent)
    rows = experiment.pool_table([found, whole], "").rows
    assert rows[0].count("did not end within 0 s") == 2
    assert not any("did not end" in text for text in rows[1])


def test_an_error_of_another_package_is_told_and_one_of_ours_is_raised(monkeypatch):
    stub_packages(monkeypatch)

    def broken(*_):
        raise ValueError("no skill")

    monkeypatch.setitem(crowd_pools.SCORERS, "crowd-kit", broken)
    found = crowd_pools.compare_pools(make_data(features=False), silent)
    names = {f"crowd-kit {name}" for name in crowd_pools.PEERS["crowd-kit"]}
    assert found["failed"] == dict.fromkeys(names, "ValueError: no skill")
    assert not names & set(found["accuracy"])
    assert experiment.cell(found, "crowd-kit Wawa", None) == "failed"
    monkeypatch.setitem(crowd_pools.OURS, "full", broken)
    with pytest.raises(ValueError, match="no skill"):
        crowd_pools.compare_pools(make_data(features=False), silent)


def test_a_process_is_stopped_in_time_and_tells_its_errors():
    assert crowd_pools.ended(max, (3, 5), 60.0) == 5
    assert crowd_pools.ended(sum, (range(10**12),), 0.5) is None
    with pytest.raises(ZeroDivisionError):
        crowd_pools.ended(divmod, (1, 0), 60.0)


def test_packages_are_looked_for():
    assert set(crowd_pools.installed()) == set(crowd_pools.PEERS)


def test_an_interrupted_run_is_taken_up_by_set_and_method(monkeypatch, tmp_path):
    """What was found before is not computed again, and nothing else is different."""
    data = make_data(features=False)
    monkeypatch.setattr(experiment, "load_crowd", lambda name: replace(data, name=name))
    monkeypatch.setattr(crowd_pools, "installed", lambda: dict.fromkeys(crowd_pools.PEERS, False))
    wanted = {"quick": True, "sets": ["dogs", "product"]}
    at_once = experiment.run(**wanted)

    def interrupted(answers):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setitem(crowd_pools.OURS, "full", interrupted)
        with pytest.raises(KeyboardInterrupt):
            experiment.run(**wanted, parts=tmp_path)
    assert len(list(tmp_path.iterdir())) == len(crowd_pools.OURS) - 1
    with monkeypatch.context() as patch:
        patch.setitem(crowd_pools.OURS, "class", interrupted)
        with pytest.raises(KeyboardInterrupt):
            experiment.run(**wanted, parts=tmp_path, seed=1)  # for which nothing is kept
        found = experiment.run(**wanted | {"sets": ["dogs"]}, parts=tmp_path)
    assert found["pools"] == at_once["pools"][:1]
    found = experiment.run(**wanted, parts=tmp_path)
    assert found.pop("seconds") > 0
    assert found == at_once


def test_what_a_classifier_has_learned_is_kept(monkeypatch, tmp_path):
    task, kept = crowd_learners.prepare(make_data(), 0), Kept(tmp_path, {"seed": 0})
    first = crowd_learners.compare_gaussian(task, "discriminant", silent, kept)
    monkeypatch.setattr(crowd_learners, "clone", None)
    assert crowd_learners.compare_gaussian(task, "discriminant", silent, kept) == first
    with pytest.raises(TypeError):
        crowd_learners.compare_gaussian(task, "discriminant", silent, Kept(tmp_path, {"seed": 1}))
