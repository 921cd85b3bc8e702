import numpy as np
import pytest

from plausible.datasets import PARTIAL_NAMES, MissingDataError, load_partial
from support.real_files import write_partial_sets


@pytest.fixture
def folder(tmp_path, monkeypatch):
    write_partial_sets(tmp_path, PARTIAL_NAMES)
    monkeypatch.setenv("PLAUSIBLE_DATA", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("name", PARTIAL_NAMES)
def test_rows_belong_together(folder, name):
    data = load_partial(name)
    assert data.name == name
    assert data.X.dtype == np.float64
    assert len(data.X) == len(data.labels) == len(data.y)
    assert data.labels.classes.tolist() == list(range(data.labels.contour.shape[1]))
    assert (data.labels.contour[np.arange(len(data.y)), data.y] == 1.0).all()
    assert data.labels.contour.sum(axis=1).max() > 1.0
    assert (data.X.argmax(axis=1) == data.y).mean() > 0.7  # features peak at the class


def test_missing_variable_and_file(folder, monkeypatch):
    (folder / "partial_labels" / "lost.npz").unlink()
    with pytest.raises(MissingDataError, match=r"'lost'.*partial_labels/lost.npz.*no such file"):
        load_partial("lost")
    monkeypatch.delenv("PLAUSIBLE_DATA")
    with pytest.raises(MissingDataError, match="PLAUSIBLE_DATA is not set"):
        load_partial("msrcv2")


def test_unknown_names_and_wrong_files(folder):
    with pytest.raises(ValueError, match="did you mean 'birdsong'"):
        load_partial("birdsongs")
    path = folder / "partial_labels" / "lost.npz"
    np.savez(path, X=np.zeros((2, 2)))
    with pytest.raises(ValueError, match=r"should hold the arrays X, candidates, y, but holds"):
        load_partial("lost")
    np.savez(path, X=np.zeros((2, 2)), candidates=np.eye(2), y=np.array([0, 0]))
    with pytest.raises(ValueError, match=r"but 1 rows do not \(the first is row 1\)"):
        load_partial("lost")
