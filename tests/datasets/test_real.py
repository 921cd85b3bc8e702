import numpy as np
import pytest

from plausible.datasets import NAMES, MissingDataError, load
from support.real_files import write_sets


@pytest.fixture
def folder(tmp_path, monkeypatch):
    write_sets(tmp_path)
    monkeypatch.setenv("PLAUSIBLE_DATA", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("name", NAMES)
def test_rows_belong_together(folder, name):
    data = load(name)
    assert len(data.X) == len(data.votes) == len(data.labels)
    assert data.labels.classes.tolist() == data.classes.tolist()
    asked = data.votes.any(axis=1)
    np.testing.assert_array_equal(data.labels.is_unknown[~asked], True)
    best = data.votes == data.votes.max(axis=1, keepdims=True)
    most = data.labels.contour == data.labels.contour.max(axis=1, keepdims=True)
    np.testing.assert_array_equal(best[asked], most[asked])
    if data.y is not None:
        centers = data.X.argmax(axis=1)  # features peak at the class
        assert (centers == data.y).mean() > 0.8


def test_crowds_vote_on_training_rows_only(folder):
    for name, parts in (("labelme", 3), ("music_genre", 2)):
        data = load(name)
        train = data.split == "train"
        assert train.sum() == len(data.X) // parts
        assert not data.votes[~train].any()
        assert (data.votes[train].argmax(axis=1) == data.y[train]).mean() > 0.75
        with np.load(folder / name / f"{name}.npz") as stored:
            assert data.votes.sum() == (stored["answers"] >= 0).sum()


def test_votes_that_name_no_expression_say_nothing(folder):
    data = load("ferplus")
    assert data.votes.shape[1] == 8
    assert data.labels.is_unknown[0]
    assert data.split[:3].tolist() == ["train", "valid", "test"]


def test_doubt_may_be_given(folder):
    np.testing.assert_allclose(load("sjaffe", doubt=1.0).labels.contour, 1.0)
    data = load("labelme", doubt=0.5)
    lead = np.diff(np.sort(data.votes, axis=1)[:, -2:])[:, 0]
    second = np.sort(data.labels.scaled(), axis=1)[:, -2]
    np.testing.assert_allclose(second, 0.5**lead)
    assert 0.1 < load("cifar10h").doubt < 0.3  # a fifth of the answers are drawn at random


def test_missing_variable(monkeypatch):
    monkeypatch.delenv("PLAUSIBLE_DATA", raising=False)
    with pytest.raises(MissingDataError, match=r"'labelme'.*labelme/labelme.npz.*PLAUSIBLE_DATA"):
        load("labelme")


def test_missing_file(folder):
    (folder / "cifar10h" / "cifar10h_test.npz").unlink()
    with pytest.raises(FileNotFoundError, match=r"'cifar10h'.*cifar10h_test.npz.*no such file in"):
        load("cifar10h")


def test_unknown_names_and_wrong_files(folder):
    with pytest.raises(ValueError, match="did you mean 'labelme'"):
        load("labelm")
    np.savez(folder / "sjaffe" / "sjaffe.npz", X=np.zeros((2, 2)))
    with pytest.raises(ValueError, match="should hold an array 'distribution', but holds"):
        load("sjaffe")


def test_pickles_are_refused(folder):
    np.savez(folder / "sjaffe" / "sjaffe.npz", X=np.array([{}], dtype=object))
    with pytest.raises(ValueError, match="allow_pickle=False"):
        load("sjaffe")
