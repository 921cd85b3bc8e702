import numpy as np
import pytest

from plausible.datasets import CROWD_NAMES, MissingDataError, load_crowd
from support.real_files import write_crowds


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sets")
    write_crowds(folder, CROWD_NAMES)
    return folder


@pytest.mark.parametrize("name", CROWD_NAMES)
def test_every_set_has_answers_that_are_mostly_right(name, folder, monkeypatch):
    monkeypatch.setenv("PLAUSIBLE_DATA", str(folder))
    data = load_crowd(name)
    answers = data.annotations
    assert data.name == name
    assert answers.items.tolist() == list(range(len(data.y)))
    assert answers.n_classes == data.y.max() + 1
    assert answers.is_hard.all()
    chosen = answers.contours.argmax(axis=1)[answers.statement]
    assert (chosen == data.y[answers.item]).mean() > 0.7
    if data.X is None:
        assert data.X_test is None
        assert data.y_test is None
    else:
        assert len(data.X) == len(data.y)
        assert len(data.X_test) == len(data.y_test)
        assert data.X.dtype == np.float64


def test_images_are_for_training_or_for_tests(folder, monkeypatch):
    monkeypatch.setenv("PLAUSIBLE_DATA", str(folder))
    stored = np.load(folder / "cifar10n" / "cifar10n_train.npz")
    data = load_crowd("cifar10n")
    np.testing.assert_array_equal(np.concatenate([data.y, data.y_test]), stored["y"])
    np.testing.assert_array_equal(np.concatenate([data.X, data.X_test]), stored["features"])
    assert len(data.annotations.annotators) == 3


def test_rows_without_answers_are_items(tmp_path, monkeypatch):
    (tmp_path / "crowd_answers_only").mkdir()
    np.savez(
        tmp_path / "crowd_answers_only" / "dogs.npz",
        item=np.array([2, 0, 2]),
        worker=np.array([0, 1, 1]),
        label=np.array([1, 0, 1]),
        y=np.array([0, 1, 1]),
    )
    monkeypatch.setenv("PLAUSIBLE_DATA", str(tmp_path))
    votes = load_crowd("dogs").annotations.votes()
    assert votes.tolist() == [[1, 0], [0, 0], [0, 2]]


def test_wrong_files_and_names_are_explained(tmp_path, monkeypatch):
    monkeypatch.setenv("PLAUSIBLE_DATA", str(tmp_path))
    with pytest.raises(MissingDataError, match="product.npz"):
        load_crowd("product")
    with pytest.raises(ValueError, match="but .cats. was given"):
        load_crowd("cats")
    (tmp_path / "labelme").mkdir()
    np.savez(tmp_path / "labelme" / "labelme.npz", X_train=np.zeros((2, 2)))
    with pytest.raises(ValueError, match="should hold an array 'answers', but holds"):
        load_crowd("labelme")
