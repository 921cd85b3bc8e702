import numpy as np
import pytest

from plausible.datasets import PartialData
from plausible.experiments import partial_labels as experiment
from plausible.labels import Labels
from support.real_files import write_partial_sets

pytestmark = pytest.mark.long


def make_data(n=120, doubt=0.3, seed=0):
    random = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = 2.0 * np.eye(3, 4)[y] + random.normal(size=(n, 4))
    candidates = random.random((n, 3)) < doubt
    candidates[np.arange(n), y] = True
    return PartialData("lost", X, Labels.from_sets(candidates), y)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sets")
    write_partial_sets(folder, experiment.WANTED, n_classes=3, per_class=30)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLAUSIBLE_DATA", str(folder))
        return experiment.run(quick=True)


def test_every_method_learns_every_set(results):
    assert [one["set"] for one in results["sets"]] == list(experiment.WANTED)
    for one in results["sets"]:
        for method in experiment.METHODS:
            found = one["methods"][method]
            assert [cell["ridge"] for cell in found["by_ridge"]] == [1.0, 10.0]
            assert min(cell["accuracy"]["mean"] for cell in found["by_ridge"]) > 0.6
            assert bool(found["by_choice"]) == (method != "rows")
        assert one["largest_difference_of_twins"] < 0.01
    assert not any(one["required"] for one in results["claims"])  # too few rows to hold us to it


def test_tables_and_picture_hold_every_set(results, tmp_path):
    found = experiment.tables(results)
    every = [(one["set"], name) for one in results["sets"] for name in experiment.METHODS.values()]
    assert [tuple(row[:2]) for row in found["accuracy"].rows] == every
    chosen = [pair for pair in every if not pair[1].startswith("rows")]
    assert [tuple(row[:2]) for row in found["chosen"].rows] == chosen
    assert len(found["sets"].rows) == 3
    experiment.draw(results, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 1000


def test_only_the_ceiling_sees_the_truth():
    data = make_data()
    other = PartialData("lost", data.X, data.labels, np.roll(data.y, 1))
    folds = [experiment.fold_numbers(len(data.X), 0)]
    for method in ("minimum_commitment", "truth"):
        first, second = (
            experiment.measure(one, method, (1.0, 10.0), folds) for one in (data, other)
        )
        same = np.array_equal(first["chances"], second["chances"])
        assert same == (method != "truth")
        if same:
            for choice in experiment.CHOICES:
                ridges = [one["chosen"][choice]["ridges"] for one in (first, second)]
                assert ridges[0] == ridges[1]


def test_a_fold_takes_no_part_in_the_choice_of_its_ridge():
    data = make_data()
    fold = experiment.fold_numbers(len(data.X), 0)
    before = experiment.inner_scores(data, "minimum_commitment", 1.0, fold)
    X = data.X.copy()
    X[fold == 2] += 5.0
    changed = PartialData("lost", X, data.labels, data.y)
    after = experiment.inner_scores(changed, "minimum_commitment", 1.0, fold)
    np.testing.assert_allclose(before[:, 2], after[:, 2])
    assert np.abs(before[0] - after[0])[[0, 1, 3, 4]].min() > 0.0


def test_accuracies_are_those_of_the_chosen_ridges(monkeypatch):
    data = make_data(doubt=0.5)
    preferred = np.array([[0, 1, 0, 1, 1], [1, 1, 1, 0, 0]])  # by choice and fold
    ridges = (1.0, 300.0)
    monkeypatch.setattr(
        experiment, "inner_scores", lambda d, m, ridge, f: preferred == ridges.index(ridge)
    )
    folds = [experiment.fold_numbers(len(data.X), 0)]
    found = experiment.measure(data, "minimum_commitment", ridges, folds)
    for choice, best in zip(experiment.CHOICES, preferred, strict=True):
        chosen = found["chosen"][choice]
        assert chosen["ridges"] == [ridges[i] for i in best]
        np.testing.assert_array_equal(chosen["accuracy"], found["accuracy"][best, range(5)])


def test_sets_of_one_candidate_are_the_truth():
    data = make_data(doubt=0.0)
    fold = experiment.fold_numbers(len(data.X), 0)
    chances = [
        experiment.outer_chances(data, method, 1.0, fold)
        for method in ("truth", "minimum_commitment", "maximum_entropy", "rows")
    ]
    for other in chances[1:]:
        np.testing.assert_allclose(other, chances[0], atol=0.005)
    np.testing.assert_allclose(chances[0].sum(axis=1), 1.0)


def test_folds_are_even_and_seeded():
    fold = experiment.fold_numbers(103, 1)
    assert np.ptp(np.bincount(fold)) == 1
    np.testing.assert_array_equal(fold, experiment.fold_numbers(103, 1))
    assert not np.array_equal(fold, experiment.fold_numbers(103, 2))


def row_of(ours, entropy, consistent, gap, half=0.01):
    around = lambda x: {"mean": x, "low": x - half, "high": x + half}  # noqa: E731
    return {
        "set": "lost",
        "methods": {
            "minimum_commitment": {
                "by_ridge": [{"ridge": 1.0, "accuracy": around(ours)}],
                "by_choice": {experiment.CHOICES[0]: {"accuracy": around(ours)}},
            }
        },
        "lead": {
            "maximum_entropy": [around(ours - entropy)],
            "self_consistent": [around(ours - consistent)],
        },
        "largest_difference_of_twins": gap,
    }


def test_verdicts_can_go_either_way():
    good = experiment.judge(row_of(0.76, 0.50, 0.74, 1e-4), [1.0], quick=False)
    assert [one["holds"] for one in good] == [True] * 5
    assert [one["required"] for one in good] == [True] + [False] * 4
    bad = experiment.judge(row_of(0.73, 0.75, 0.75, 0.1), [1.0], quick=False)
    assert [one["holds"] for one in bad] == [False] * 5
    unsure = experiment.judge(row_of(0.76, 0.75, 0.75, 0.0, half=0.1), [1.0], quick=True)
    assert [one["holds"] for one in unsure] == [None, None, True]
