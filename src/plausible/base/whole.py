"""Fits that are whole: one that is refused or interrupted leaves the estimator as it was.

What a fit learns comes attribute by attribute, the names of features first. Without this, a model
whose second fit is refused would take features in the order of that fit, with coefficients of the
first, and nobody would see it.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any


class WholeFit:
    """Base of estimators whose `fit` learns all, or changes nothing.

    Examples
    --------
    >>> class Mine(WholeFit):
    ...     def fit(self, X):
    ...         self.n_features_in_ = len(X[0])
    ...         self.means_ = [sum(column) / len(X) for column in zip(*X)]
    ...         return self
    >>> mine = Mine().fit([[1.0, 2.0]])
    >>> mine.fit([[1.0, 2.0, None]])
    Traceback (most recent call last):
    TypeError: unsupported operand type(s) for +: 'int' and 'NoneType'
    >>> mine.n_features_in_, mine.means_
    (2, [1.0, 2.0])
    """

    def __init_subclass__(cls, **options: Any) -> None:
        """Make the `fit` that a class writes a whole one."""
        super().__init_subclass__(**options)
        if "fit" in vars(cls):
            setattr(cls, "fit", _whole(vars(cls)["fit"]))  # noqa: B010


def _whole(fit: Callable[..., Any]) -> Callable[..., Any]:
    """The same fit, after which what did not come to its end is forgotten."""

    @wraps(fit)
    def fit_or_stay(self: Any, *args: Any, **options: Any) -> Any:
        before = dict(vars(self))
        try:
            return fit(self, *args, **options)
        except BaseException:  # Ctrl-C, too
            self.__dict__ = before
            raise

    return fit_or_stay
