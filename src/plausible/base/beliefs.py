"""What a model believes about items: one answer of every kind, of any classifier."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from plausible.belief import decide

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What a model says about n items.

    Attributes
    ----------
    classes : array (K,)
    probability : array (n, K)
    contour : array (n, K)
        Plausibilities relative to the most plausible class.
    sets : bool array (n, K)
        Classes that cannot be ruled out.

    Examples
    --------
    >>> bets = np.array([[0.8, 0.2]])
    >>> len(Beliefs(np.array(["a", "b"]), bets, bets / 0.8, bets > 0.1))
    1
    """

    classes: NDArray[Any]
    probability: FloatArray
    contour: FloatArray
    sets: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.probability)


def believe(model: Any, X: Any) -> Beliefs:
    """Ask a fitted classifier; plausibilities and sets are made of its bets if it has none.

    Parameters
    ----------
    model : classifier, or pipeline that ends in one
    X : array-like (n, d)

    Returns
    -------
    Beliefs

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from plausible.models import PartialLogisticRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]
    >>> model = make_pipeline(StandardScaler(), PartialLogisticRegression()).fit(X, y)
    >>> believe(model, [[0.5], [1.5]]).contour.round(2)
    array([[1.  , 0.29],
           [1.  , 1.  ]])
    """
    if isinstance(model, Pipeline) and len(model) > 1:
        return believe(model[-1], model[:-1].transform(X))
    if not hasattr(model, "predict_proba") or not hasattr(model, "classes_"):
        raise ValueError(
            "model should be a fitted classifier with predict_proba and classes_, but "
            f"{type(model).__name__} has not both; fit it, or give another."
        )
    probability = np.asarray(model.predict_proba(X), dtype=np.float64)
    says = getattr(model, "predict_plausibility", None)
    contour = probability if says is None else np.asarray(says(X), dtype=np.float64)
    contour = contour / contour.max(axis=1, keepdims=True)
    if hasattr(model, "predict_set"):
        sets = np.asarray(model.predict_set(X))
    else:
        sets = decide(contour, "interval_dominance", kind="plausibility").chosen
    return Beliefs(np.asarray(model.classes_), probability, contour, sets)
