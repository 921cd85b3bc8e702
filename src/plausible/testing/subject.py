"""What is checked: an estimator, how it is fitted, and what it promises."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from sklearn.base import clone

from plausible.checks import check_option
from plausible.errors import InputError
from plausible.labels import as_labels
from plausible.testing.samples import NAMES, draw

Fit = Callable[[Any, Any, Any, Any], Any]
Habit = Literal["works", "refuses"]
HABITS = ("works", "refuses")


def takes_argument(function: Any, name: str) -> bool:
    """Whether a function names an argument in its signature.

    Examples
    --------
    >>> takes_argument(sorted, "key"), takes_argument(sorted, "sample_weight")
    (True, False)
    """
    return callable(function) and name in inspect.signature(function).parameters


@dataclass(frozen=True, eq=False)
class Subject:
    """An estimator under examination. Parameters are those of `check_estimator`.

    Examples
    --------
    >>> from plausible.models import SoftNearestCentroid
    >>> subject = Subject(SoftNearestCentroid())
    >>> subject.weights
    True
    >>> subject.fit([[0.0], [4.0]], ["a", "b"]).predict([[3.0]])
    array(['b'], dtype='<U1')
    """

    estimator: Any
    own_fit: Fit | None = None
    weighted: bool | None = None
    unknown: Habit | None = None
    y_none: Habit | None = None
    leave_out: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if isinstance(self.estimator, type) or not hasattr(self.estimator, "fit"):
            raise InputError(
                "estimator should be an unfitted instance with a method fit",
                f"{self.estimator!r} was given",
                "make one, such as MyClassifier()",
                parameter="estimator",
                value=self.estimator,
            )
        for name in ("unknown", "y_none"):
            if getattr(self, name) is not None:
                check_option(getattr(self, name), HABITS, name)

    @property
    def weights(self) -> bool:
        """Whether fit takes sample weights: as promised, or else by its signature."""
        if self.weighted is not None:
            return self.weighted
        return takes_argument(self.estimator.fit, "sample_weight")

    def make(self) -> Any:
        """A new unfitted estimator."""
        return clone(self.estimator)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """A new estimator, fitted."""
        return self.train(self.make(), X, y, sample_weight)

    def train(self, model: Any, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit an estimator that is there; its own way of fitting is given Labels."""
        if self.own_fit is not None:
            return self.own_fit(model, X, None if y is None else as_labels(y), sample_weight)
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        return model.fit(X, y, **given)

    @cached_property
    def fitted(self) -> Any:
        """A classifier fitted on doubted labels of unsorted classes, for checks that only ask."""
        sample = draw()
        return self.fit(sample.X, sample.doubted.reorder(NAMES[[1, 2, 0]]))
