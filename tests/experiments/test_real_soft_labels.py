import numpy as np
import pytest

from plausible.datasets import NAMES, RealData, pool_votes
from plausible.experiments import real_soft_labels as experiment
from support.real_files import write_sets


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sets")
    write_sets(folder, per_class=40)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLAUSIBLE_DATA", str(folder))
        return experiment.run(quick=True)


def test_every_set_is_learned_from_every_form_of_label(results):
    assert [one["set"] for one in results["sets"]] == list(NAMES)
    for row in results["rows"]:
        assert {"pooled", "shares", "rows", "majority"} <= set(row["accuracy"])
        has_truth = row["set"] in ("cifar10h", "labelme", "music_genre")
        assert ("truth" in row["accuracy"]) == has_truth
        if row["covariance"] == "tied":
            assert row["accuracy"]["pooled"] > 0.75
            assert row["accuracy"]["majority"] > 0.75


def test_the_tables_and_the_picture_hold_every_row(results, tmp_path):
    found = experiment.tables(results)
    every = [[row["set"], row["covariance"]] for row in results["rows"]]
    assert [row[:2] for row in found["accuracy"].rows] == every
    assert [row[:2] for row in found["log_loss"].rows] == every
    assert [row[0] for row in found["sets"].rows] == list(NAMES)
    assert len(results["claims"]) == len(every)
    experiment.draw(results, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 1000


def unanimous(n=120):
    random = np.random.default_rng(0)
    y = np.arange(n) % 3
    X = 2.0 * np.eye(3, 4)[y] + random.normal(size=(n, 4))
    votes = 4.0 * np.eye(3)[y]
    classes = np.array(["a", "b", "c"])
    labels = pool_votes(votes, 0.01, classes.tolist())
    return RealData("cifar10h", X, classes, votes, labels, 0.01, y, None)


def test_unanimous_votes_leave_no_difference():
    data = unanimous()
    reference = experiment.reference_of(data)
    labels = experiment.all_labels(data, 0)
    splits = experiment.splits_of(data, reference, quick=False, seed=0)
    tested = np.bincount(np.concatenate([test for _, test in splits]))
    np.testing.assert_array_equal(tested, 2)  # two folds, twice: each item is tested twice
    row = experiment.compare(data, labels, splits, "tied", reference, seed=0)
    accuracy = row["accuracy"]
    assert accuracy["rows"] == accuracy["majority"] == accuracy["truth"]
    assert accuracy["pooled"] == pytest.approx(accuracy["truth"], abs=0.02)
    assert row["rows"]["accuracy_gain"] == {"mean": 0.0, "low": 0.0, "high": 0.0}
    assert row["rows"]["verdict"] == "no difference seen"


def test_the_reference_needs_half_of_the_votes():
    data = unanimous()
    votes = np.array([[5.0, 3.0, 2.0], [4.0, 4.0, 2.0], [0.0, 2.0, 8.0]])
    judged = RealData("ferplus", data.X[:3], data.classes, votes, data.labels[:3], 0.1, None, None)
    assert experiment.reference_of(judged).tolist() == [0, -1, 2]


def test_the_bootstrap_agrees_with_the_normal_interval():
    differences = np.random.default_rng(1).normal(0.1, 1.0, size=800)
    found = experiment.bootstrap(differences, seed=0)
    half = 1.96 * differences.std() / np.sqrt(800)
    assert found["low"] == pytest.approx(differences.mean() - half, abs=0.01)
    assert found["high"] == pytest.approx(differences.mean() + half, abs=0.01)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0.1, 0.2, "soft wins"), (-0.2, -0.1, "soft loses"), (-0.1, 0.1, "no difference seen")],
)
def test_verdicts(low, high, expected):
    gain = {"mean": 0.0, "low": low, "high": high}
    assert experiment.verdict(gain) == expected
    pooled = {"accuracy_gain": gain, "verdict": expected}
    found = experiment.judge({"set": "labelme", "covariance": "tied", "pooled": pooled})
    assert found["holds"] == {"soft wins": True, "soft loses": False}.get(expected)


def test_features_are_as_many_as_the_rows_bear():
    majority = np.repeat([0, 1], [100, 20])
    assert experiment.n_components_for("tied", 50, majority) == 12
    assert experiment.n_components_for("full", 50, majority) == 4
    assert experiment.n_components_for("tied", 5, majority) == 5
