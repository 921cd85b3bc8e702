import numpy as np
import pytest

from plausible.experiments import lu_2020_simulated as experiment

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def results():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(experiment, "N_TEST", 3000)
        return experiment.run(quick=True, runs=2)


def test_what_is_required_holds_in_a_small_run(results):
    required = [one for one in results["claims"] if one["required"]]
    assert len(required) == 2 * 7 + 2  # all figures but the third, and two correlations
    assert [one["paper"] for one in required if not one["holds"]] == []


def test_nothing_explains_new_items_better_than_what_made_them(results):
    for row in results["cases"].values():
        truth = row["log_likelihood"]["truth"]["mean"]
        assert max(one["mean"] for one in row["log_likelihood"].values()) == truth


def test_tables_and_picture_hold_every_case(results, tmp_path):
    found = experiment.tables(results)
    cases = [[name, case.title] for name, case in experiment.CASES.items()]
    assert [row[:2] for row in found["gains"].rows] == cases
    assert [row[1] for row in found["correlations"].rows] == ["0.8378", "0.2994"]
    experiment.draw(results, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 1000


def test_items_have_the_correlations_of_the_paper():
    X, W, y = experiment.draw_items(experiment.CASES["4"], 40_000, seed=0)
    for j, paper in enumerate(experiment.CORRELATIONS):
        found = np.corrcoef(X[y == j, 0], W[y == j, 0])[0, 1]
        assert found == pytest.approx(paper, abs=0.02)


@pytest.mark.parametrize("name", ["1b", "3", "4", "5"])
def test_the_true_density_integrates_to_one(name):
    case = experiment.CASES[name]
    n_odds = len(case.intercepts[0])
    axis = np.linspace(-14.0, 14.0, 57)
    x, *w = (part.ravel() for part in np.meshgrid(*[axis] * (1 + n_odds)))
    density = np.exp(experiment.true_log_density(case, x[:, None], np.column_stack(w)))
    assert density.sum() * 0.5 ** (1 + n_odds) == pytest.approx(1.0, abs=0.001)


def test_verdicts_can_go_either_way(results):
    low = {"mean": -0.02, "low": -0.03, "high": -0.01}
    cases = {
        name: row
        | {"wins": dict.fromkeys(row["wins"], 1), "gain": dict.fromkeys(row["gain"], low)}
        | {"accuracy": dict.fromkeys(row["accuracy"], low)}
        for name, row in results["cases"].items()
    }
    bad = {"large": [0.5, 0.5], "usual": []}
    verdicts = experiment.judge(results | {"cases": cases, "correlations": bad})
    assert len(verdicts) == len(results["claims"])
    assert not any(one["holds"] for one in verdicts)
