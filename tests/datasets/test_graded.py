import numpy as np
import pytest

from plausible.datasets import MissingDataError, load_graded
from support.real_files import write_graded


@pytest.fixture
def folder(tmp_path, monkeypatch):
    write_graded(tmp_path)
    monkeypatch.setenv("PLAUSIBLE_DATA", str(tmp_path))
    return tmp_path


def test_grades_of_cells_are_exact_thirds_and_nobody_knows_the_truth(folder):
    data = load_graded("elpv")
    assert set(data.grades.tolist()) == {0.0, 1 / 3, 2 / 3, 1.0}
    assert data.y is None
    assert data.X.shape == (200, 64)


def test_a_slip_of_the_pen_is_corrected(folder):
    data = load_graded("mammographic")
    assert data.grades[:6].tolist() == [5.0, 6.0, 0.0, 2.0, 3.0, 5.0]
    assert data.X.dtype == np.float64
    assert ((data.grades == 5.0) == (data.y == 1)).mean() > 0.8


def test_missing_and_wrong_files(folder, monkeypatch):
    np.savez(folder / "elpv" / "elpv.npz", features=np.zeros((2, 64)))
    with pytest.raises(ValueError, match="features, defect_probability, but holds"):
        load_graded("elpv")
    with pytest.raises(ValueError, match="did you mean 'mammographic'"):
        load_graded("mammography")
    monkeypatch.delenv("PLAUSIBLE_DATA")
    with pytest.raises(MissingDataError, match="PLAUSIBLE_DATA is not set"):
        load_graded("elpv")
