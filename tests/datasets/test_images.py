import numpy as np
import pytest

from plausible.datasets import IMAGE_NAMES, MissingDataError, load_images
from support.real_files import write_images


@pytest.fixture
def folder(tmp_path, monkeypatch):
    write_images(tmp_path, per_kind=5)
    monkeypatch.setenv("PLAUSIBLE_DATA", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("name", IMAGE_NAMES)
def test_rows_belong_together(folder, name):
    data = load_images(name)
    assert data.X.dtype == np.float32
    assert 0.5 < data.X.max() <= 1.0
    assert len(data.X) == len(data.y) == len(data.kinds) == len(data.is_test)
    assert 0 < data.is_test.sum() < len(data.y)
    assert set(data.y.tolist()) == set(range(len(data.classes)))
    for kind in np.unique(data.kinds):
        assert len(set(data.y[data.kinds == kind].tolist())) == 1


def test_training_and_test_images_of_cifar10_have_one_size(folder):
    data = load_images("cifar10")
    assert data.X.shape == (100, 256)
    means = [data.X[data.is_test == part].mean(axis=0) for part in (False, True)]
    np.testing.assert_allclose(*means, atol=0.15)
    assert sorted(set(data.kinds[data.y == 1].tolist())) == [0, 1, 8, 9]


def test_missing_and_wrong_files(folder, monkeypatch):
    np.savez(folder / "mnist_3_5" / "mnist_3_5.npz", X=np.zeros((2, 784)))
    with pytest.raises(ValueError, match=r"should hold the arrays X, y, is_test, but holds"):
        load_images("mnist_3_5")
    (folder / "cifar10h" / "cifar10h_test.npz").unlink()
    with pytest.raises(MissingDataError, match=r"'cifar10'.*cifar10h_test.npz.*no such file"):
        load_images("cifar10")
    with pytest.raises(ValueError, match="did you mean 'emnist'"):
        load_images("emnits")
    monkeypatch.delenv("PLAUSIBLE_DATA")
    with pytest.raises(MissingDataError, match="PLAUSIBLE_DATA is not set"):
        load_images("emnist")
