r"""Rows repeated for their candidates: what a learner of hard classes is given for a label.

Item i with shares :math:`g_{ik}` of the classes stands in the training set once for each class with
:math:`g_{ik} > 0`, with the weight :math:`w_i g_{ik}`. The weighted log-likelihood of these rows is
:math:`\sum_i w_i \sum_k g_{ik} \log f_k(x_i)`. The shares are

.. math:: g_{ik} = \frac{pl_{ik}}{\sum_l pl_{il}} \quad\text{(maximum entropy)}, \qquad
          g_{ik} = \frac{pl_{ik} f_k(x_i)}{\sum_l pl_{il} f_l(x_i)} \quad\text{(minimum commitment)}

and, under both, the probabilities themselves where a label was given as such.

A learner without weights is given classes that are drawn by their shares: every item once if all
have the same weight, else about as often as its weight says.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from plausible.models.learners import take_rows

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

LEAST_SUPPORT = 1e-12  # probability of a label, in the log criterion


class Candidates(NamedTuple):
    """Rows that stand for labels: the item, the class by its number, the share and the weight."""

    items: IntArray
    codes: IntArray
    shares: FloatArray
    weights: FloatArray


def normalized_rows(table: FloatArray) -> FloatArray:
    """Rows scaled to sum to one."""
    return table / table.sum(axis=1, keepdims=True)


def left_by_labels(
    contour: FloatArray, bets: FloatArray, is_share: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Shares (n, K) of the classes that labels leave of bets, and the log criterion (n,).

    A label that the bets exclude altogether keeps its plausibilities.
    """
    joint = contour * bets
    support = joint.sum(axis=1)
    fixed = is_share | (support <= 0.0)
    shares = normalized_rows(np.where(fixed[:, None], contour, joint))
    logs = np.log(np.maximum(support, LEAST_SUPPORT))
    if is_share.any():
        own = np.log(np.maximum(bets[is_share], LEAST_SUPPORT))
        logs[is_share] = (shares[is_share] * own).sum(axis=1)
    return shares, logs


def candidates_of(
    shares: FloatArray, weight: FloatArray, class_weight: FloatArray | None = None
) -> Candidates:
    """Rows for all classes with a share, in the order of the items."""
    items, codes = np.nonzero(shares)
    share = shares[items, codes]
    weights = weight[items] * share
    if class_weight is not None:
        weights = weights * class_weight[codes]
    kept = weights > 0.0
    return Candidates(items[kept], codes[kept], share[kept], weights[kept])


def drawn(
    shares: FloatArray,
    weight: FloatArray,
    class_weight: FloatArray | None,
    rng: np.random.RandomState,
) -> Candidates:
    """Rows without weights: classes drawn by their shares, items about as often as they weigh."""
    joint = shares if class_weight is None else shares * class_weight
    times = counts_near(weight * joint.sum(axis=1), rng)
    items = np.repeat(np.arange(len(shares)), times)
    turn = np.arange(len(items)) - np.repeat(np.cumsum(times) - times, times)
    # Several copies of an item share its classes out as evenly as they can.
    level = (turn + rng.uniform(size=len(shares))[items]) / times[items]
    edges = np.cumsum(normalized_rows(joint), axis=1)[items]
    codes = (level[:, None] >= edges[:, :-1] * (1.0 - 1e-12)).sum(axis=1)
    last = shares.shape[1] - 1 - np.argmax(joint[:, ::-1] > 0.0, axis=1)
    codes = np.minimum(codes, last[items])  # rounding must not reach classes that are excluded
    ones = np.ones(len(items))
    return Candidates(items, codes.astype(np.int64), ones, ones)


def counts_near(weight: FloatArray, rng: np.random.RandomState) -> IntArray:
    """Whole numbers whose means are proportional to the weights, and sum to their number."""
    expected = weight * (len(weight) / weight.sum())
    ends = np.cumsum(expected)
    ends[-1] = len(weight)
    near = np.round(ends)
    ends = np.where(np.abs(ends - near) < 1e-9 * len(weight), near, ends)
    start = 0.5 if (ends == near).all() else rng.uniform()
    passed = np.floor(ends + start).astype(np.int64)
    return np.diff(passed, prepend=int(np.floor(start)))


def takes_weights(estimator: Any) -> bool:
    """Whether sample weights reach the classifier, in a pipeline or a search, too."""
    if isinstance(estimator, Pipeline):
        return takes_weights(estimator[-1])
    if isinstance(estimator, GridSearchCV | RandomizedSearchCV):
        return takes_weights(estimator.estimator)
    return bool(hasattr(estimator, "fit") and has_fit_parameter(estimator, "sample_weight"))


def routed(estimator: Any, weights: FloatArray, shares: FloatArray) -> dict[str, FloatArray]:
    """Sample weights as parameters of fit; none where all are one.

    The classifier gets the weights. Transformers before it that take weights get the shares, so
    that each item counts once for them, however many rows it has.
    """
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        found = {f"{name}__{key}": value for key, value in routed(last, weights, shares).items()}
        for name, step in estimator.steps[:-1]:
            if takes_weights(step) and not (shares == 1.0).all():
                found[f"{name}__sample_weight"] = shares
        return found
    if isinstance(estimator, GridSearchCV | RandomizedSearchCV):
        return routed(estimator.estimator, weights, shares)
    if (weights == 1.0).all() or not takes_weights(estimator):
        return {}
    return {"sample_weight": weights}


def repeated(X: Any, items: IntArray) -> Any:
    """Features of rows that stand for items; the given ones where each item has one row."""
    n_rows = X.shape[0]
    same = len(items) == n_rows and bool((items == np.arange(n_rows)).all())
    return X if same else take_rows(X, items)
