"""Which column is which class, where labels have an order of their own.

Estimators sort their classes, because scikit-learn's scorers take the columns of `predict_proba`
for those of sorted classes; `Labels` keep the order that they were given. An array with a number
for each class says nothing of either. So estimators remember the order of the labels they were
fitted to. Where it is not the sorted one, an array is refused, and numbers by name (a dict, a data
frame) are taken.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible.checks import as_floats, as_list, shown
from plausible.errors import InputError


def remember_order(estimator: Any, given: Sequence[Any]) -> None:
    """Keep the order of the classes of labels with an estimator, if it is not the sorted one.

    Examples
    --------
    >>> from plausible.models import SoftNearestCentroid
    >>> model = SoftNearestCentroid()
    >>> remember_order(model, ["small", "large"])
    >>> order_of_labels(model)
    ['small', 'large']
    """
    names = list(given)
    if names != sorted(names):
        estimator._order_of_labels = names
    elif hasattr(estimator, "_order_of_labels"):
        del estimator._order_of_labels  # of a fit before


def order_of_labels(estimator: Any) -> list[Any] | None:
    """The order of the classes of the labels in `fit`; None if it was the sorted one.

    Examples
    --------
    >>> from plausible.models import SoftNearestCentroid
    >>> order_of_labels(SoftNearestCentroid().fit([[0.0], [1.0]], ["a", "b"])) is None
    True
    """
    order = getattr(estimator, "_order_of_labels", None)
    return None if order is None else list(order)


def refuse_order(estimator: Any, what: str, remedy: str, names: Sequence[Any]) -> None:
    """Refuse an array with an entry for each class, if labels had an order of their own."""
    order = order_of_labels(estimator)
    if order is not None:
        raise InputError(
            f"{what} should say which entry is of which class",
            f"came as an array, while the labels have their classes in the order "
            f"{shown(order, 200)} and the model in the order {shown(sorted(names), 200)}",
            remedy,
        )


def by_class(estimator: Any, values: Any, name: str, classes: NDArray[Any]) -> Any:
    """A parameter with one value for each class, in the order of `classes`.

    Parameters
    ----------
    estimator : the estimator, which remembers the order of labels
    values : dict of classes, or anything else
        A sequence is in the order of `classes`, and refused where labels had another.
    name : of the parameter
    classes : array (K,)

    Examples
    --------
    >>> from plausible.models import SoftNearestCentroid
    >>> by_class(SoftNearestCentroid(), {"b": 2, "a": 1}, "n_components", np.array(["a", "b"]))
    [1, 2]
    """
    names = classes.tolist()
    if isinstance(values, Mapping):
        if set(values) != set(names):
            raise InputError(
                f"{name} should have an entry for each class of {shown(names, 200)}",
                f"has them for {shown(list(values), 200)}",
                "name all of them",
                parameter=name,
                value=values,
            )
        return [values[one] for one in names]
    if _are_different(values):
        example = ", ".join(f"{one!r}: ..." for one in names[:2])
        refuse_order(estimator, name, f"write a dict, {name}={{{example}}}", names)
    return values


def _are_different(values: Any) -> bool:
    """Whether there are several values, and not all of them the same."""
    try:
        return not isinstance(values, str | bytes) and len({str(value) for value in values}) > 1
    except TypeError:
        return False  # one value, or nothing that has any


def stack_by_class(
    estimator: Any, values: Any, name: str, classes: NDArray[Any], entry: tuple[int, ...] = ()
) -> Any:
    """Entries of the classes, one or several of each, in the order of `classes`.

    Parameters
    ----------
    estimator, name, classes : as in `by_class`
    values : dict of classes, or anything else
        An entry for each class, or several of them in an array with one more axis.
    entry : shape of one entry

    Examples
    --------
    >>> from plausible.models import SoftNearestCentroid
    >>> means = {"b": [1.0, 2.0], "a": [[3.0, 4.0], [5.0, 6.0]]}
    >>> stack_by_class(SoftNearestCentroid(), means, "means", np.array(["a", "b"]), (2,))
    array([[3., 4.],
           [5., 6.],
           [1., 2.]])
    """
    found = by_class(estimator, values, name, classes)
    if not isinstance(values, Mapping):
        return found
    blocks = [as_floats(block, name) for block in found]
    for one, block in zip(classes.tolist(), blocks, strict=True):
        if block.shape[block.ndim - len(entry) :] != entry or block.ndim > len(entry) + 1:
            raise InputError(
                f"{name} should have entries of shape {entry} for each class",
                f"that of {shown(one)} has shape {block.shape}",
                f"give an array of shape {entry}, or {('n', *entry)} for n components",
                parameter=name,
            )
    return np.concatenate([block.reshape(-1, *entry) for block in blocks])


def align_loss(estimator: Any, loss: Any, classes: NDArray[Any]) -> Any:
    """A loss matrix with columns (and rows, where these are classes) in the order of `classes`.

    Parameters
    ----------
    estimator : the estimator, which remembers the order of labels; or None
    loss : dict {act: {class: loss}}, data frame with classes as columns, array-like, or None
    classes : array (K,)

    Examples
    --------
    >>> loss = {"small": {"small": 0, "large": 5}, "large": {"small": 1, "large": 0}}
    >>> align_loss(None, loss, np.array(["large", "small"]))
    array([[0., 1.],
           [5., 0.]])
    """
    names = classes.tolist()
    if isinstance(loss, Mapping):
        acts, rows = list(loss), list(loss.values())
        if not all(isinstance(row, Mapping) and set(row) == set(names) for row in rows):
            raise InputError(
                "loss should be a dict {act: {class: loss}} with an entry for each class of "
                f"{shown(names, 200)}",
                f"is {shown(loss, 200)}",
                "name all classes in each act",
                parameter="loss",
                value=loss,
            )
        table = as_floats([[row[one] for one in names] for row in rows], "loss")
    elif hasattr(loss, "columns"):
        columns = as_list(loss.columns, "columns", "class names")
        index = getattr(loss, "index", None)  # of pandas; other data frames have none
        acts = columns if index is None or callable(index) else as_list(index, "index")
        if set(columns) != set(names):
            raise InputError(
                f"loss should have a column for each class of {shown(names, 200)}",
                f"has {shown(columns, 200)}",
                "name the columns after the classes",
                parameter="loss",
            )
        table = as_floats(loss, "loss")[:, [columns.index(one) for one in names]]
    else:
        if loss is not None and estimator is not None:
            remedy = "give a dict {act: {class: loss}}, or a data frame with classes as columns"
            refuse_order(estimator, "loss", remedy, names)
        return loss
    if len(acts) == len(names) and set(acts) == set(names):
        table = table[[acts.index(one) for one in names]]
    return table
