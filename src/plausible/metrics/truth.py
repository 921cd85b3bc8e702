r"""How imprecise truth counts in a score.

With a contour scaled so that the most plausible class of a row has plausibility one, a row

- has the weight :math:`w_i = 1 - \min_k pl_{ik}`: one for a hard label or a set of classes,
  1 - doubt for a doubted label, zero for a row that says nothing;
- gives an answer k the credit :math:`c_{ik} = (pl_{ik} - \min_l pl_{il}) / w_i`.

Scores are means over rows with these weights, times the sample weights. On hard labels, every
score is the classical one; rows that say nothing do not move it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plausible.belief.errors import as_floats
from plausible.labels import Labels, as_labels

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Truth:
    """Credit of each class (n, K) and weight of each row (n,), from labels."""

    labels: Labels
    credit: FloatArray
    weight: FloatArray

    def mean(self, values: FloatArray) -> float:
        """Weighted mean over the rows; NaN, with a warning, if no row says anything."""
        total = self.weight.sum()
        if total == 0.0:
            import warnings

            from sklearn.exceptions import UndefinedMetricWarning

            warnings.warn(
                "No label says anything about its item, so that the score is undefined.",
                UndefinedMetricWarning,
                stacklevel=3,
            )
            return float("nan")
        return float(self.weight @ values / total)


def read_truth(
    y_true: Labels | ArrayLike,
    sample_weight: ArrayLike | None = None,
    classes: Any = None,
) -> Truth:
    """Credit and weights of labels of any kind; classes of a prediction may add to theirs."""
    labels = as_labels(y_true)
    if classes is not None:
        known = labels.classes.tolist()
        extra = [name for name in np.asarray(classes).tolist() if name not in known]
        if extra:
            labels = labels.reorder([*known, *extra])
    scaled = labels.scaled()
    least = scaled.min(axis=1, keepdims=True) if labels.n_classes > 1 else 0.0 * scaled
    weight = 1.0 - least[:, 0]
    credit = (scaled - least) / np.where(weight > 0.0, weight, 1.0)[:, None]
    if sample_weight is not None:
        given = as_floats(sample_weight, "sample_weight")
        if given.shape != weight.shape or not (given >= 0.0).all():
            raise ValueError(
                f"sample_weight should be one non-negative number for each of the {len(labels)} "
                f"items, but has shape {given.shape} or holds negative or missing values."
            )
        weight = weight * given
    return Truth(labels, credit, weight)
