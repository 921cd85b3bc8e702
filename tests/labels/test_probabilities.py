"""Labels remember which rows are probabilities, whatever is done to them."""

import datetime
import pickle

import numpy as np
import pandas
import pytest

from plausible.labels import Labels, as_labels

NAMES = ["small", "medium", "large"]
P = [[0.6, 0.3, 0.1], [0.0, 1.0, 0.0], [0.2, 0.2, 0.6], [1 / 3, 1 / 3, 1 / 3]]


def mixed():
    """Two rows of probabilities (and a hard one), then plausibilities and nothing."""
    return Labels.concatenate(
        [
            Labels.from_probability(P[:3], NAMES),
            Labels.from_plausibility([[0.2, 0.2, 0.6]], NAMES),
            Labels.unknown(1, NAMES),
        ]
    )


MARKS = [True, False, True, False, False]


def test_a_hard_row_needs_no_mark():
    assert mixed().is_probability.tolist() == MARKS
    hard = Labels.from_probability(np.eye(3), NAMES)
    assert hard == Labels.from_crisp(NAMES, NAMES)
    assert not hard.is_probability.any()


@pytest.mark.parametrize("order", [[4, 2, 0], slice(1, 3), [True, False, True, True, False]])
def test_selected_rows_keep_their_kind(order):
    expected = np.array(MARKS)[order]
    assert mixed()[order].is_probability.tolist() == expected.tolist()


def test_kind_is_kept_by_other_orders_and_names_copies_and_pickles():
    labels = mixed()
    for same in (
        labels.reorder(["large", "small", "medium"]),
        labels.rename(["s", "m", "l"]),
        pickle.loads(pickle.dumps(labels)),
        Labels.concatenate([labels[:2], labels[2:]]),
        labels.discount([0.0] * 5),
    ):
        assert same.is_probability.tolist() == MARKS


def test_doubt_makes_plausibilities_of_probabilities():
    doubted = mixed().discount([0.0, 0.0, 0.3, 0.3, 0.3])
    assert doubted.is_probability.tolist() == [True, False, False, False, False]


def test_probabilities_leave_nothing_to_a_new_class():
    wider = mixed().reorder([*NAMES, "huge"])
    assert wider.contour[:, 3].tolist() == [0.0, 0.0, 0.0, 0.2, 1.0]


def test_conditioned_probabilities_are_still_such():
    left = mixed()[[0, 2]].condition(NAMES[:2])
    assert left.is_probability.all()
    only_one = Labels.from_probability([[0.4, 0.6, 0.0]], NAMES).condition(["large", "medium"])
    assert not only_one.is_probability.any()
    assert only_one.is_hard.all()


def test_shares_and_likelihoods_are_different_labels():
    assert Labels.from_probability(P, NAMES) != Labels.from_plausibility(P, NAMES)
    assert "3 probabilities" in repr(Labels.from_probability(P, NAMES))


def test_labels_that_were_pickled_before_are_plausibilities():
    labels = Labels.from_plausibility(P, NAMES)
    state = {name: part for name, part in labels.__dict__.items() if name != "_shares"}
    old = object.__new__(Labels)
    old.__setstate__(state)
    assert old == labels


class TestArrays:
    """What an (n, K) array of numbers means."""

    def test_rows_that_sum_to_one_are_probabilities(self):
        labels = as_labels(P, NAMES)
        assert labels == Labels.from_probability(P, NAMES)
        assert as_labels(np.array(P, dtype=np.float32)).is_probability.tolist() == [1, 0, 1, 1]

    def test_rows_of_ones_among_them_are_unknown(self):
        labels = as_labels([*P, [1.0, 1.0, 1.0]], NAMES)
        assert labels.is_probability.tolist() == [True, False, True, True, False]
        assert labels.is_unknown.tolist() == [False, False, False, True, True]
        both = [Labels.from_probability(P, NAMES), Labels.unknown(1, NAMES)]
        assert labels == Labels.concatenate(both)
        np.testing.assert_allclose(labels.masses().values[-1], [0, 0, 0, 1])

    @pytest.mark.parametrize(
        "table",
        [
            [[1.0, 0.3], [0.2, 1.0]],  # contours
            [[0.6, 0.4], [1.0, 0.3]],  # of which one is not normalized
            [[0.6, 0.4], [0.3, 0.2]],
            [[1, 0], [0, 1]],
            [[1, 1], [0, 1]],
            [[True, False], [True, True]],
        ],
    )
    def test_other_tables_are_plausibilities(self, table):
        assert not as_labels(table).is_probability.any()
        np.testing.assert_array_equal(as_labels(table).contour, np.asarray(table, dtype=float))

    def test_rounded_probabilities_are_refused_with_both_remedies(self):
        with pytest.raises(ValueError, match=r"2 of them sum to nearly one.*from_probability\(P /"):
            as_labels([[0.33, 0.33, 0.33], [0.5, 0.25, 0.25], [0.67, 0.17, 0.17]])
        with pytest.raises(ValueError, match="from_plausibility"):
            as_labels([[0.33, 0.66]])

    def test_the_reading_of_the_papers_has_a_name(self):
        assert not as_labels(Labels.from_plausibility(P)).is_probability.any()


@pytest.mark.parametrize("bad", [[True], [1, 0, 1, 0], [[True] * 4]])
def test_marks_are_checked(bad):
    with pytest.raises(ValueError, match="is_probability should be True or False for each of"):
        Labels(P, NAMES, is_probability=bad)


def test_some_rows_that_do_not_sum_to_one_are_not_taken_for_plausibilities():
    """Or the others would be taken for surer than they are, without a word."""
    shares = np.array([[0.6, 0.4], [0.3, 0.7], [0.5, 0.5], [0.9, 0.4]])
    with pytest.raises(ValueError, match=r"3 of them do and 1 do not; correct those with abs\(P"):
        as_labels(shares)
    assert as_labels(shares[:3]).is_probability.all()
    assert not as_labels(shares[2:]).is_probability.any()  # as many of one kind as of the other
    shares[3] = 1.0
    assert as_labels(shares).is_probability.tolist() == [True, True, True, False]


@pytest.mark.parametrize(
    ("y", "remedy"),
    [
        ([0.2, 0.85, 0.5], "Labels.from_probability(np.column_stack([1 - y, y]))"),
        ([2.5, 0.85, -1.0], "cut them into classes"),
        ([datetime.date(2024, 1, 1), datetime.date(2024, 1, 2)], "[str(value) for value in y]"),
        ([{"cat": 0.3, "dog": 0.7}, {"cat": 1.0}], "pandas.DataFrame(list(y)).fillna(0)"),
    ],
)
def test_what_is_no_class_is_refused_with_what_makes_labels_of_it(y, remedy):
    with pytest.raises(ValueError, match="Hard labels should be") as caught:
        as_labels(y)
    assert remedy in str(caught.value)
    if not remedy.startswith("cut"):
        made = eval(remedy, {"y": np.array(y), "np": np, "pandas": pandas, "Labels": Labels})
        assert len(as_labels(made)) == len(y)
