from dataclasses import replace

import numpy as np
import pytest

from plausible.datasets import IMAGE_NAMES, load_images
from plausible.experiments import lu_2020_real as experiment
from plausible.experiments import lu_2020_real_report as report
from support.real_files import write_images

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sets")
    write_images(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLAUSIBLE_DATA", str(folder))
        yield folder


@pytest.fixture(scope="module")
def results(folder):
    with pytest.MonkeyPatch.context() as patch:
        small = {k: replace(task, other_components=(5,)) for k, task in experiment.TASKS.items()}
        patch.setattr(experiment, "TASKS", small)
        return experiment.run(quick=True, rounds=2)


def test_every_model_answers_from_both_sources(results):
    assert [row["set"] for row in results["sets"]] == list(IMAGE_NAMES)
    for row in results["sets"]:
        assert len(row["expert"]) == 2
        assert set(row["accuracy"]) == set(report.MODELS)
        for scores in row["accuracy"].values():
            assert [len(scores[source]) for source in report.SOURCES] == [2, 2]
    clear = results["sets"][0]  # two kinds that a glance tells apart
    assert clear["accuracy"]["titterington"]["x and w"] == [1.0, 1.0]


def test_tables_and_picture_hold_every_set(results, tmp_path):
    found = experiment.tables(results)
    rows = {(row[0], row[1]) for row in found["accuracy"].rows}
    models = (*report.MODELS.values(), "expert alone", "always the largest class")
    assert rows == {(name, model) for name in IMAGE_NAMES for model in models}
    assert len(found["components"].rows) == 2 * 3
    assert len(found["adjusted_r2"].rows) == 2 + 2 + 3
    experiment.draw(results, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 1000


@pytest.mark.parametrize("name", IMAGE_NAMES)
def test_tests_never_meet_training(folder, name):
    data = load_images(name)
    for train, tests in experiment.rounds_of(data, 3, quick=False, seed=0):
        for test in tests:
            assert not set(train.tolist()) & set(test.tolist())
        if name != "mnist_3_5":
            assert data.is_test[np.concatenate(tests)].all()
            assert not data.is_test[train].any()


def test_splits_take_seven_tenths_of_each_class(folder):
    data = load_images("mnist_3_5")
    (train, _), *_ = experiment.rounds_of(data, 1, quick=False, seed=0)
    assert np.bincount(data.y[train]).tolist() == [28, 28]


def test_log_odds_against_the_others():
    logs = np.log([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])
    found = experiment.against_others(logs + 7.0, 0)
    np.testing.assert_allclose(found, np.log([0.2 / 0.8, 0.6 / 0.4]))


def test_adjusted_r2_is_one_for_a_linear_expert_and_none_for_a_blind_one():
    random = np.random.default_rng(0)
    X = random.normal(size=(500, 3))
    assert experiment.adjusted_r2(X, X @ [[1.0], [2.0], [0.0]] + 4.0) == pytest.approx(1.0)
    assert experiment.adjusted_r2(X, random.normal(size=(500, 2))) == pytest.approx(0.0, abs=0.02)


def scores_of(results, shift):
    """The digits, with accuracies and R2 as printed, or off by a shift."""
    row = results["sets"][0]
    paper = report.PAPER["mnist_3_5"]
    flat = {"x": [0.93 + shift, 0.94 + shift], "x and w": [0.93 + shift, 0.94 + shift]}
    scores = dict.fromkeys(report.MODELS, flat)
    for model, median in paper.medians.items():
        sign = -1 if model == "g3" else 1
        scores[model] = dict.fromkeys(report.SOURCES, [median + sign * shift] * 2)
    main = row["components"]["20"] | {"adjusted_r2": [one - shift for one in paper.r2]}
    rivals = {"expert": [0.9 + 3 * shift] * 2, "largest": [0.5 + 6 * shift] * 2}
    return row | rivals | {"accuracy": scores, "components": {"20": main}}


def test_verdicts_can_go_either_way(results):
    good = report.judge(scores_of(results, 0.0))
    assert [one["holds"] for one in good] == [True] * 8
    assert [one["figure"] for one in good] == [""] * 6 + ["lu-2020-table-1"] * 2
    bad = report.judge(scores_of(results, 0.1))
    assert [one["holds"] for one in bad] == [False] * 8
