import numpy as np
import pytest

from plausible.datasets import GradedData, load_graded
from plausible.experiments import real_assessments as experiment
from support.real_files import write_graded


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sets")
    write_graded(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLAUSIBLE_DATA", str(folder))
        patch.setattr(experiment, "N_FOLDS", 2)
        return experiment.run(quick=True)


def test_every_method_is_compared(results):
    cells, masses = results["sets"]
    assert {row["source"] for row in cells["methods"]} == {"x"}  # nothing else to test against
    assert {row["source"] for row in masses["methods"]} == {"z", "x", "x and z"}
    for one in results["sets"]:
        methods = {row["method"] for row in one["methods"]}
        assert set(experiment.MODELS) <= methods
        for row in one["methods"]:
            assert 0.4 < row["accuracy"]["mean"] <= 1.0
    by_name = {(row["method"], row["source"]): row for row in masses["methods"]}
    assert by_name["truth, logistic", "x and z"]["accuracy"]["mean"] > 0.85


def test_tables_and_picture_hold_every_method(results, tmp_path):
    found = experiment.tables(results)
    names = [row[0] for table in found.values() for row in table.rows]
    assert names.count("Titterington") == 3
    assert names.count("Titterington, certain") == 1
    experiment.draw(results, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 1000


def test_grades_become_probabilities_without_the_truth(tmp_path, monkeypatch):
    write_graded(tmp_path)
    monkeypatch.setenv("PLAUSIBLE_DATA", str(tmp_path))
    data = load_graded("mammographic")
    found = experiment.probabilities_of(data)
    other = GradedData(data.name, data.X, data.grades, 1 - data.y)
    np.testing.assert_array_equal(found, experiment.probabilities_of(other))
    assert found[:6].tolist() == pytest.approx(
        [0.975, 0.975, np.nan, 0.005, 0.01, 0.975], nan_ok=True
    )


def test_only_sure_cells_are_tested():
    grades = np.array([0.0, 1 / 3, 2 / 3, 1.0])
    data = GradedData("elpv", np.zeros((4, 2)), grades, None)
    reference, tested = experiment.reference_of(data, experiment.probabilities_of(data))
    assert reference.tolist() == [0, 0, 1, 1]
    assert tested.tolist() == [True, False, False, True]


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0.1, 0.2, "gains"), (-0.2, -0.1, "loses"), (-0.1, 0.1, "no difference seen")],
)
def test_verdicts(low, high, expected):
    gain = {"mean": 0.0, "low": low, "high": high}
    assert experiment.verdict(gain) == expected
    rows = [{"method": name, "source": "x", "gain": gain} for name in ("g1", "logistic", "g3")]
    found = experiment.judge({"set": "elpv", "methods": rows})
    holds = {"gains": True, "loses": False}.get(expected)
    assert [one["holds"] for one in found] == [holds] * 2
    assert found[0]["quantity"] == "elpv, from x"
