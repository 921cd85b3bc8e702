r"""How imprecise truth counts in a score.

With the contour of a row scaled so that its most plausible class has plausibility one, the row

- has the weight :math:`w_i = 1 - \min_k pl_{ik}`: one for a hard label or a set of classes,
  1 - doubt for a doubted label, zero where nothing is known;
- gives an answer k the credit :math:`c_{ik} = (pl_{ik} - \min_l pl_{il}) / w_i`.

Scores are means over rows with these weights, times the sample weights. So on hard labels every
score is the classical one, and rows that say nothing do not move it.
"""

import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plausible.belief import Decision, SparseMasses, check_values, pignistic
from plausible.checks import as_array, as_floats, as_list, shown
from plausible.errors import InputError
from plausible.labels import Labels, as_labels, check_classes, in_order_of
from plausible.short_rows import row_min, row_sum

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
Truth = Labels | ArrayLike
Prediction = Any  # Beliefs, Labels, a data frame, SparseMasses, or an array (n, K)
Classes = Sequence[Hashable] | NDArray[Any] | None


@dataclass(frozen=True, eq=False)
class Credits:
    """What labels say about answers.

    Attributes
    ----------
    labels : Labels
    credit : array (n, K), of each class
    weight : array (n,), of each row, without sample weights
    sample_weight : array (n,)
    """

    labels: Labels
    credit: FloatArray
    weight: FloatArray
    sample_weight: FloatArray

    def take(self, rows: NDArray[np.int64]) -> "Credits":
        """The same of some of the rows."""
        numbers = (column[rows] for column in (self.credit, self.weight, self.sample_weight))
        return Credits(self.labels[rows], *numbers)

    def mean(self, values: FloatArray) -> float:
        """Mean over the rows by weight; NaN, with a warning, if no row says anything."""
        return self.ratio(self.weight * values)

    def ratio(self, values: FloatArray) -> float:
        """Sum of values that already shrink with the weight of their row, over the weights."""
        total = self.sample_weight @ self.weight
        if total == 0.0:
            from sklearn.exceptions import UndefinedMetricWarning

            message = "No label says anything about its item, so that the score is undefined."
            warnings.warn(message, UndefinedMetricWarning, stacklevel=4)
            return float("nan")
        return float(self.sample_weight @ values / total)


def read_truth(
    y_true: Truth, sample_weight: ArrayLike | None = None, classes: Classes = None
) -> Credits:
    """Credits of labels of any kind; `classes` of a prediction are added to theirs."""
    labels = _read_labels(y_true, [] if classes is None else check_classes(classes).tolist())
    if len(labels) == 0:
        raise InputError(
            "A score needs at least one item",
            "y_true is empty",
            "give some labels",
        )
    scaled = labels.scaled()
    least = row_min(scaled)[:, None] if labels.n_classes > 1 else 0.0 * scaled
    weight = 1.0 - least[:, 0]
    credit = (scaled - least) / np.where(weight > 0.0, weight, 1.0)[:, None]
    return Credits(labels, credit, weight, read_weights(sample_weight, len(labels)))


def _read_labels(y_true: Truth, classes: list[Any]) -> Labels:
    """Labels over their own classes and those of a prediction.

    Hard labels and sets that are not `Labels` yet are read on all classes at once, so that a set
    does not hold a class that it never named.
    """
    try:
        labels = as_labels(y_true)
    except ValueError:  # one class and missing labels: the prediction says what else there is
        return as_labels(y_true, classes=classes) if len(classes) > 1 else as_labels(y_true)
    known = labels.classes.tolist()
    everything = [*known, *(name for name in classes if name not in known)]
    if len(everything) == len(known):
        return labels
    is_table = not isinstance(y_true, Labels) and np.ndim(y_true) > 1
    if is_table and not hasattr(y_true, "columns") and np.shape(y_true)[1] > 1:
        raise InputError(
            "The columns of a true table should be the classes of the prediction",
            f"they have no names, while the prediction has the classes {shown(classes, 200)}",
            "give Labels.from_probability(y_true, classes) (or from_plausibility), with the class "
            "of each column",
            parameter="y_true",
        )
    if classes and len(everything) == len(known) + len(classes):
        warnings.warn(
            f"True classes should be among those of the prediction, {shown(classes, 200)}, but "
            f"none of {shown(known, 200)} is; are they spelled alike?",
            UserWarning,
            stacklevel=5,
        )
    if isinstance(y_true, Labels) or is_table:
        return labels.reorder(everything)
    return as_labels(y_true, classes=everything)


def read_weights(sample_weight: ArrayLike | None, n_items: int) -> FloatArray:
    """Sample weights, all one by default."""
    if sample_weight is None:
        return np.ones(n_items)
    given = as_floats(sample_weight, "sample_weight")
    if given.shape != (n_items,) or not ((given >= 0.0) & np.isfinite(given)).all():
        raise InputError(
            f"sample_weight should be one non-negative number for each of the {n_items} items",
            f"has shape {given.shape} or holds negative or missing values",
            parameter="sample_weight",
            value=given.shape,
        )
    return given


def classes_of(prediction: Any, classes: Classes) -> Classes:
    """What the columns of a prediction are: its own classes if it knows them, or those given."""
    if isinstance(getattr(prediction, "classes", None), np.ndarray):  # Beliefs, Labels, Decision
        return prediction.classes
    if classes is None and hasattr(prediction, "columns"):  # a data frame
        return as_list(prediction.columns, "columns", "class names")
    return classes


def columns_of(labels: Labels, classes: Classes) -> list[Any]:
    """Names of the columns of an array; those of the labels only if these are sorted.

    Estimators sort their classes and labels need not, and an array does not say whose order it has.
    """
    if classes is not None:
        return check_classes(classes).tolist()
    names: list[Any] = labels.classes.tolist()
    if names != sorted(names):
        raise InputError(
            "A prediction should say which column is which class",
            f"is an array, while the labels have their classes in the order {shown(names, 200)}, "
            "and estimators sort them",
            "add classes=model.classes_ (or classes=labels.classes if the columns follow the "
            "labels), or give model.believe(X), which knows its classes",
            parameter="classes",
        )
    return names


def _numbers_of(prediction: Any) -> FloatArray:
    """Probabilities (n, K) of a prediction in whatever form."""
    if isinstance(prediction, Labels):
        if prediction.has_masses:
            return pignistic(prediction.masses())
        return prediction.contour / row_sum(prediction.contour)[:, None]
    if isinstance(prediction, SparseMasses):
        return pignistic(prediction)
    return as_floats(getattr(prediction, "probability", prediction), "probabilities")


def read_probabilities(prediction: Any, labels: Labels, classes: Classes) -> FloatArray:
    """Probabilities (n, K) in the order of the labels' classes; masses become bets."""
    given = _numbers_of(in_order_of(prediction, classes))
    names = columns_of(labels, classes_of(prediction, classes))
    if given.shape != (len(labels), len(names)):
        raise InputError(
            f"probabilities should have a row for each of the {len(labels)} items and a column "
            f"for each of the {len(names)} classes",
            f"have shape {given.shape}",
            "say with {classes} what the columns are",
            parameter="probabilities",
            value=given.shape,
            settings={"classes": None},
        )
    given = check_values(given, "probabilities", "divide each row by its sum")
    place = {name: k for k, name in enumerate(labels.classes.tolist())}
    aligned = np.zeros((len(labels), labels.n_classes))
    aligned[:, [place[name] for name in names]] = given
    return aligned


def read_answers(y_pred: ArrayLike | Decision, labels: Labels, classes: Classes) -> BoolArray:
    """Answers as sets of classes (n, K): one class, several, or none for a refusal."""
    names: NDArray[Any] = labels.classes
    classes = classes_of(y_pred, classes)
    if isinstance(y_pred, Decision):
        given: NDArray[Any] = y_pred.chosen
        if y_pred.offers_refusal:
            given = given[..., :-1] & ~given[..., -1:]
        names = check_classes(columns_of(labels, classes))
    else:
        given = as_array(y_pred, "Answers")
        if given.ndim == 1 and len(given) != len(labels):
            raise InputError(
                f"Answers should be one for each of the {len(labels)} items",
                f"there are {len(given)}",
                "check for missing rows",
                value=len(given),
            )
        if given.ndim == 1:
            names = names if classes is None else check_classes(classes)
            given = _same_names(given, names)
        else:
            names = check_classes(columns_of(labels, classes))
    if given.dtype != bool or given.shape != (len(labels), len(names)):
        raise InputError(
            f"Answers should be one for each of the {len(labels)} items over {len(names)} classes",
            f"came as {given.dtype} of shape {given.shape}",
            "give classes (n,), a bool array (n, K), or a Decision",
            value=given.shape,
        )
    aligned = np.zeros((len(labels), labels.n_classes), dtype=bool)
    place = {name: k for k, name in enumerate(labels.classes.tolist())}
    aligned[:, [place[name] for name in names.tolist()]] = given
    return aligned


def _same_names(answers: NDArray[Any], names: NDArray[Any]) -> NDArray[Any]:
    """Which class (n, K) each answer names; the answers as they are if they can name none."""
    if answers.dtype.kind not in "biufUO":
        return answers
    if answers.dtype == object:
        is_name = [isinstance(answer, str | Number) for answer in answers.tolist()]
        answers = answers.copy()
        answers[~np.array(is_name, dtype=bool)] = None
    return np.asarray(answers[:, None] == names, dtype=bool)


def classes_of_answers(y_pred: ArrayLike | Decision, classes: Classes) -> Classes:
    """Classes that answers may name: those said, or those that occur."""
    classes = classes_of(y_pred, classes)
    if classes is not None or isinstance(y_pred, Decision):
        return classes
    given = as_array(y_pred, "Answers")
    if given.ndim != 1 or len(given) == 0:
        return None
    if given.dtype.kind == "O" or (given.dtype.kind == "f" and not np.isfinite(given).all()):
        given = np.asarray(as_labels(given).classes)  # refuses what can be no class
    return np.unique(given)
