"""Credal partitions: sets of clusters, outliers, and what becomes of them as labels."""

import numpy as np
import pytest

from plausible.base import CredalPartition, OutlierWarning
from plausible.belief import SparseMasses, contour, normalize, pignistic
from plausible.metrics import credal_nonspecificity, credal_rand_index

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


# -- Views, pairs, and several partitions as one ---------------------------------------------------


def drawn(n=30, seed=0, n_clusters=3):
    rng = np.random.default_rng(seed)
    sets = np.arange(1 << n_clusters)
    values = rng.dirichlet(np.full(len(sets), 0.4), size=n)
    return CredalPartition(SparseMasses(values, sets, n_clusters))


def test_views_are_of_the_masses():
    partition = drawn()
    masses = partition.masses()
    np.testing.assert_allclose(partition.fuzzy(), pignistic(normalize(masses)), atol=1e-12)
    np.testing.assert_allclose(partition.possibilistic(), contour(masses), atol=1e-12)
    largest = masses.focal_sets[masses.values.argmax(axis=1)]
    np.testing.assert_array_equal(partition.credal(), largest)
    np.testing.assert_array_equal(partition.outliers(), largest == 0)
    lower, upper = partition.rough()
    assert (lower <= upper).all()
    np.testing.assert_array_equal(lower.sum(axis=1), np.bitwise_count(largest) == 1)
    np.testing.assert_array_equal(upper @ [1, 2, 4], largest)
    sure = partition.hard()[lower.any(axis=1)]
    np.testing.assert_array_equal(sure, lower.argmax(axis=1)[lower.any(axis=1)])
    assert partition.nonspecificity() == pytest.approx(credal_nonspecificity(masses))


def test_views_may_be_changed_without_harm():
    partition = drawn()
    for view in (partition.fuzzy, partition.possibilistic, partition.credal, partition.outliers):
        before = view().copy()
        view()[:] = 0
        np.testing.assert_array_equal(view(), before)


def test_dense_masses_are_a_partition_too():
    partition = drawn()
    dense = CredalPartition(partition.masses().to_dense())
    np.testing.assert_array_equal(dense.credal(), partition.credal())
    np.testing.assert_allclose(dense.fuzzy(), partition.fuzzy())


def test_relations_of_pairs_sum_to_one_and_follow_the_definition():
    partition = drawn(8)
    relations = partition.relations()
    total = relations.nothing + relations.same + relations.different + relations.unknown
    np.testing.assert_allclose(total, 1.0, atol=1e-12)
    values = partition.masses().values
    same = different = 0.0
    for a, A in enumerate(partition.focal_sets.tolist()):
        for b, B in enumerate(partition.focal_sets.tolist()):
            mass = values[2, a] * values[5, b]
            same += mass * (A == B and A.bit_count() == 1)
            different += mass * (A & B == 0 and A > 0 and B > 0)
    assert relations.same[2, 5] == pytest.approx(same)
    assert relations.different[2, 5] == pytest.approx(different)


def test_the_summary_counts_every_item_once():
    partition = CredalPartition(drawn(40).masses(), ["ant", "bee", "cow"])
    summary = partition.summary()
    assert sum(summary.items) == 40
    assert sum(summary.mean_masses) == pytest.approx(1.0)
    assert summary.items[0] == summary.n_outliers == partition.outliers().sum()
    assert summary.sets[:2] == [(), ("ant",)]
    assert "{ant, bee}" in str(summary)
    assert len(str(summary).splitlines()) == len(summary.sets) + 2


def renumbered(partition, numbers):
    """The same partition with cluster k called numbers[k]."""
    sets = [sum(1 << numbers[k] for k in range(3) if m >> k & 1) for m in partition.focal_sets]
    return CredalPartition(SparseMasses(partition.masses().values, sets, 3))


@pytest.mark.parametrize("rule", ["mean", "dempster"])
def test_clusters_are_matched_before_partitions_are_combined(rule):
    partition = drawn(40, seed=3)
    other = renumbered(partition, [2, 0, 1])
    combined = partition.combine(other, rule=rule)
    again = partition.combine(partition, rule=rule, match=False)
    np.testing.assert_allclose(combined.masses().to_dense(), again.masses().to_dense(), atol=1e-12)
    if rule == "mean":
        np.testing.assert_allclose(
            combined.masses().to_dense(), partition.masses().to_dense(), atol=1e-12
        )
    apart = partition.combine(other, rule=rule, match=False)
    assert np.abs(apart.fuzzy() - combined.fuzzy()).max() > 0.1


def test_dempster_sharpens_and_outliers_stay():
    first = CredalPartition(SparseMasses([[0.6, 0.0, 0.4], [0.0, 0.9, 0.1]], [1, 0, 3], 2))
    second = CredalPartition(SparseMasses([[0.5, 0.0, 0.5], [0.0, 0.8, 0.2]], [1, 0, 3], 2))
    together = first.combine(second, rule="dempster", match=False).masses().to_dense()
    # {0}: 1 - 0.4 * 0.5; an outlier and "any cluster" contradict each other, 0.9 * 0.2 + 0.1 * 0.8.
    np.testing.assert_allclose(together[0], [0.0, 0.8, 0.0, 0.2], atol=1e-12)
    np.testing.assert_allclose(together[1, [0, 3]], [0.72 / 0.74, 0.02 / 0.74], atol=1e-12)


def test_partitions_of_other_items_are_not_combined():
    with pytest.raises(ValueError, match="one is of 20 items in 3 clusters"):
        drawn(30).combine(drawn(20))
    with pytest.raises(ValueError, match="rule should be 'mean' or 'dempster'"):
        drawn().combine(drawn(), rule="yager")
    with pytest.raises(ValueError, match="3 different names"):
        CredalPartition(drawn().masses(), ["a", "b", ["c"]])
