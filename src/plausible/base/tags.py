"""The tag by which an estimator says that it learns from `Labels`.

scikit-learn asks an estimator for its tags; ours have one more. An estimator of anybody can set it:

>>> from sklearn.base import BaseEstimator, ClassifierMixin
>>> class Mine(ClassifierMixin, BaseEstimator):
...     def __sklearn_tags__(self):
...         return with_labels(super().__sklearn_tags__())
>>> takes_labels(Mine())
True
"""

from dataclasses import dataclass, fields
from typing import Any

from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags, get_tags


@dataclass(slots=True)
class LabelTags(Tags):
    """Tags of scikit-learn, and whether `fit` takes `Labels` with their degrees as y.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> with_labels(LogisticRegression().__sklearn_tags__()).takes_labels
    True
    """

    takes_labels: bool = True


def with_labels(tags: Tags, takes: bool = True) -> LabelTags:
    """The tags of an estimator that takes `Labels`, from those that it has without.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> with_labels(LogisticRegression().__sklearn_tags__(), takes=False).takes_labels
    False
    """
    given = {field.name: getattr(tags, field.name) for field in fields(Tags)}
    return LabelTags(**given, takes_labels=takes)


def takes_labels(estimator: Any) -> bool:
    """Whether an estimator takes `Labels`: by its tag, or by that of what it hands y on to.

    Pipelines and searches hand y on as it is.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> takes_labels(LogisticRegression())
    False
    """
    if isinstance(estimator, Pipeline):
        return takes_labels(estimator[-1])
    if isinstance(estimator, GridSearchCV | RandomizedSearchCV):
        return takes_labels(estimator.estimator)
    try:
        return bool(getattr(get_tags(estimator), "takes_labels", False))
    except AttributeError:  # not an estimator
        return False
