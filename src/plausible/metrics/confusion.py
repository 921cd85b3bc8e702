r"""Which classes are answered for which, where the truth may be imprecise.

The label of item i has the weight :math:`w_i` and gives class k the credit :math:`c_{ik}` (see
`plausible.metrics.truth`). The weight is divided among the classes by their credit,
:math:`t_{ik} = w_i c_{ik} / \sum_l c_{il}`, and the answers :math:`\hat y_i` have the expected
counts

.. math:: C_{kl} = \sum_i t_{ik} [\hat y_i = l].

On hard labels these are counts; a doubted label counts 1 - doubt, a set is divided among its
classes, probabilities of which one is 0 are the expectation, and a label that says nothing is left
out. What is right by these counts is never more than the soft accuracy, and equal to it where no
label is undecided between classes.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from plausible.belief import Decision
from plausible.checks import check_option
from plausible.metrics.truth import (
    BoolArray,
    Classes,
    FloatArray,
    Truth,
    classes_of_answers,
    read_answers,
    read_truth,
)
from plausible.short_rows import row_sum

NORMALS = ("true", "pred", "all")


def divided(credit: FloatArray, weight: FloatArray) -> FloatArray:
    """The weight of each row, divided among its classes (n, K) by their credit."""
    total = row_sum(credit)
    return credit * (weight / np.where(total > 0, total, 1.0))[:, None]


def expected_counts(shares: FloatArray, inside: BoolArray | csr_array) -> FloatArray:
    """Counts (K, L) of parts (n, K) of items against answers (n, L); sets are divided evenly."""
    sparse = csr_array(inside, dtype=np.float64)
    size = np.asarray(sparse.sum(axis=1)).ravel()
    weighted = shares / np.maximum(size, 1.0)[:, None]
    return np.asarray(sparse.T @ weighted).T


def soft_confusion_matrix(
    y_true: Truth,
    y_pred: ArrayLike | Decision,
    sample_weight: ArrayLike | None = None,
    classes: Classes = None,
    normalize: str | None = None,
) -> tuple[FloatArray, NDArray[np.generic]]:
    """Expected counts of true classes (rows) against answers (columns), and the classes.

    On hard labels and answers it is scikit-learn's `confusion_matrix`. See the top of
    `plausible.metrics.confusion` for how imprecise truth counts.

    Parameters
    ----------
    y_true : Labels, or all that `as_labels` takes
    y_pred : array-like (n,) of classes, bool array (n, K) of sets, or Decision
        A set counts for each of its classes in equal parts, a refusal for none.
    sample_weight : array-like (n,), optional
    classes : sequence, optional
        What the columns of sets are; needed where the classes of `y_true` are not sorted.
    normalize : {"true", "pred", "all"}, optional
        Shares of rows, of columns or of everything in place of counts; NaN of nothing.

    Returns
    -------
    counts : array (K, K)
    classes : array (K,)
        Of rows and columns: those of `y_true`, then others that were answered.

    Examples
    --------
    >>> from plausible.labels import Labels
    >>> truth = Labels.from_sets([{"a"}, {"b"}, {"a", "b"}, None], classes=["b", "a", "c"])
    >>> counts, names = soft_confusion_matrix(truth, ["a", "a", "b", "c"])
    >>> names
    array(['b', 'a', 'c'], dtype='<U1')
    >>> counts
    array([[0.5, 1. , 0. ],
           [0.5, 1. , 0. ],
           [0. , 0. , 0. ]])
    """
    if normalize is not None:
        check_option(normalize, NORMALS, "normalize")
    truth = read_truth(y_true, sample_weight, classes_of_answers(y_pred, classes))
    inside = read_answers(y_pred, truth.labels, classes)
    shares = divided(truth.credit, truth.weight * truth.sample_weight)
    counts = expected_counts(shares, inside)
    return normalized_counts(counts, normalize), truth.labels.classes


def normalized_counts(counts: FloatArray, normalize: str | None) -> FloatArray:
    """Counts relative to their row, their column, or all; NaN of nothing."""
    if normalize is None:
        return counts
    axis = {"true": 1, "pred": 0, "all": None}[normalize]
    total = np.broadcast_to(counts.sum(axis=axis, keepdims=True), counts.shape)
    return np.divide(counts, total, out=np.full_like(counts, np.nan), where=total > 0)


def most_confused(counts: FloatArray, most: int) -> NDArray[np.int64]:
    """The classes that are confused most, in their order; all if there are few."""
    off = counts - np.diag(np.diag(counts))
    involved = off.sum(axis=0) + off.sum(axis=1)
    return np.sort(np.lexsort((-np.diag(counts), -involved))[:most])
