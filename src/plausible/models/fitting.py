"""What every `fit` does first."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plausible.belief.errors import as_floats
from plausible.labels import Labels, as_labels


def check_labels_and_weights(
    estimator: Any, y: Labels | ArrayLike | None, sample_weight: ArrayLike | None, n_rows: int
) -> tuple[Labels, NDArray[np.float64]]:
    """Labels with sorted classes, and sample weights; what does not fit `n_rows` is refused."""
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None; give "
            "labels, or Labels.unknown(n, classes) for items without."
        )
    labels = as_labels(y)
    # scikit-learn's scorers take the columns of predict_proba for those of sorted classes.
    labels = as_labels(labels, classes=sorted(labels.classes.tolist()))
    if len(labels) != n_rows:
        raise ValueError(
            f"X and y should have the same length, but X has {n_rows} rows and y has "
            f"{len(labels)} labels; check the order of the arguments and missing rows."
        )
    if sample_weight is None:
        return labels, np.ones(n_rows)
    weights = as_floats(sample_weight, "sample_weight")
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    good = weights.shape == (n_rows,) and bool((weights >= 0).all() and np.isfinite(weights).all())
    if not good:
        raise ValueError(
            f"sample_weight should be one non-negative number for each of the {n_rows} rows, but "
            f"has shape {weights.shape} or holds negative, infinite or missing values."
        )
    return labels, weights
