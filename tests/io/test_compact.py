import numpy as np
import pytest

from plausible.io.compact import CompactLabels, different_rows
from plausible.labels import Labels


def test_labels_come_back_as_they_were():
    rng = np.random.default_rng(0)
    classes = ["wren", "finch", "robin"]
    parts = []
    for _ in range(3):
        said = rng.choice(classes, 50)
        doubted = Labels.from_doubt(said.tolist(), rng.choice([0.0, 0.25, 0.5], 50), classes)
        shares = Labels.from_probability(rng.dirichlet([1, 2, 3], 4).repeat(5, axis=0), classes)
        parts += [doubted, shares]
    compact, whole = CompactLabels(parts), Labels.concatenate(parts)
    np.testing.assert_array_equal(compact[:].contour, whole.contour)
    np.testing.assert_array_equal(compact[:].is_probability, whole.is_probability)
    assert len(compact.distinct) == len(np.unique(whole.contour, axis=0)) + 1


def test_rows_whose_numbers_clash(monkeypatch):
    class Ones:
        def integers(self, *limits, size, dtype):
            return np.zeros(size, dtype)  # all factors become one, and the order does not matter

    table = np.array([[0.5, 1.0], [1.0, 0.5], [0.5, 1.0], [0.0, 1.0]])
    monkeypatch.setattr(np.random, "default_rng", lambda seed: Ones())
    rows, place = different_rows(table)
    assert len(rows) == 3
    np.testing.assert_array_equal(rows[place], table)


@pytest.mark.parametrize("n_rows", [1, 1000])
def test_as_numpy(n_rows):
    table = np.random.default_rng(n_rows).integers(0, 3, (n_rows, 4)) / 2.0
    rows, place = different_rows(table)
    np.testing.assert_array_equal(np.unique(rows, axis=0), np.unique(table, axis=0))
    assert len(rows) == len(np.unique(table, axis=0))
    np.testing.assert_array_equal(rows[place], table)
