"""Credal partitions: sets of clusters, outliers, and what becomes of them as labels."""

import numpy as np
import pytest

from plausible.base import CredalPartition, OutlierWarning
from plausible.belief import SparseMasses, contour, normalize, pignistic
from plausible.metrics import credal_rand_index

#                       nothing {0}   {2}   {0,1} {0,1,2}
VALUES = np.array([[0.1, 0.6, 0.0, 0.2, 0.1],
                   [0.0, 0.1, 0.2, 0.4, 0.3],
                   [0.7, 0.1, 0.1, 0.1, 0.0],
                   [0.0, 0.0, 0.9, 0.0, 0.1]])  # fmt: skip
FOCAL = [0, 1, 4, 3, 7]
PARTITION = CredalPartition(SparseMasses(VALUES, FOCAL, 3))


def test_approximations_follow_the_set_with_the_largest_mass():
    assert PARTITION.credal().tolist() == [1, 3, 0, 4]
    assert PARTITION.outliers().tolist() == [False, False, True, False]
    assert PARTITION.rough().lower.astype(int).tolist() == [
        [1, 0, 0],
        [0, 0, 0],
        [0, 0, 0],
        [0, 0, 1],
    ]
    assert PARTITION.rough().upper.astype(int).tolist() == [
        [1, 0, 0],
        [1, 1, 0],
        [0, 0, 0],
        [0, 0, 1],
    ]
    assert PARTITION.hard().tolist() == [0, 0, -1, 2]
    np.testing.assert_array_equal(PARTITION.outlier_mass, VALUES[:, 0])


def test_bets_are_given_that_an_item_is_in_some_cluster():
    masses = SparseMasses(VALUES, FOCAL, 3)
    np.testing.assert_allclose(PARTITION.probability, pignistic(normalize(masses)))
    np.testing.assert_allclose(PARTITION.contour, contour(masses))
    assert PARTITION.contour.max(axis=1)[2] == pytest.approx(0.2)  # low for an outlier
    lost = CredalPartition(SparseMasses([[1.0, 0.0]], [0, 1], 2))
    np.testing.assert_allclose(lost.probability, [[0.5, 0.5]])


def test_equal_masses_go_to_the_smaller_set():
    tied = CredalPartition(SparseMasses([[0.5, 0.5]], [3, 2], 2))
    assert tied.credal().tolist() == [2]


def test_outliers_are_told_when_labels_cannot_hold_them():
    with pytest.warns(OutlierWarning, match=r"1 row \(row 2\); they count as unknown"):
        labels = PARTITION.labels()
    np.testing.assert_array_equal(labels.conflict, VALUES[:, 0])
    expected = VALUES @ np.array([[1, 1, 1], [1, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]])
    np.testing.assert_allclose(labels.contour, expected)
    inside = PARTITION[[0, 1, 3]].labels()  # no outlier, no warning
    assert inside.classes.tolist() == [0, 1, 2]


def test_outliers_can_be_a_class_of_their_own():
    labels = PARTITION.labels(outliers="class")
    assert labels.classes.tolist() == [0, 1, 2, -1]
    np.testing.assert_allclose(labels.contour[:, -1], VALUES[:, 0])
    assert labels.crisp().tolist() == [0, 0, -1, 2]
    named = CredalPartition(SparseMasses(VALUES, FOCAL, 3), ["b", "c", "a"])
    assert named.labels(outliers="class").classes.tolist() == ["b", "c", "a", "outlier"]


def test_a_partition_agrees_with_itself_and_less_with_others():
    assert credal_rand_index(PARTITION, PARTITION) == pytest.approx(1.0)
    other = CredalPartition(SparseMasses(np.roll(VALUES, 1, axis=1), FOCAL, 3))
    assert credal_rand_index(PARTITION, other) < 0.9


def test_items_can_be_selected_and_counted():
    assert len(PARTITION[1:3]) == 2
    assert PARTITION[2].outliers().tolist() == [True]
    assert repr(PARTITION) == "<CredalPartition: 4 items in 3 clusters, 1 outlier>"


def test_bad_partitions_are_refused():
    with pytest.raises(ValueError, match="a mass function for each item"):
        CredalPartition(SparseMasses([0.5, 0.5], [1, 3], 2))
    with pytest.raises(ValueError, match="2 different names of the clusters"):
        CredalPartition(SparseMasses([[0.5, 0.5]], [1, 3], 2), ["a", "a"])
    with pytest.raises(ValueError, match="outliers should be 'unknown' or 'class'"):
        PARTITION.labels("drop")
