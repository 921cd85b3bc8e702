r"""Losses of logits under soft and partial labels, for arrays of any library.

With plausibilities pl of the classes of an item, logits z, :math:`f = softmax(z)`, and the shares
:math:`g_k = pl_k f_k / \sum_j pl_j f_j` that a label leaves, the loss of an item is

=====================  ===========================================================================
"minimum_commitment"   :math:`-\log \sum_k pl_k f_k`, the generalized likelihood
"maximum_entropy"      :math:`-\sum_k q_k \log f_k, q = pl / \sum pl`, the soft cross-entropy
"self_consistent"      :math:`-\sum_k g_k \log f_k`
"minimum_entropy"      :math:`-\sum_k g_k \log (pl_k f_k)`
=====================  ===========================================================================

and the second for labels that are probabilities, as in `logistic.criteria`. Written with the
functions of the array API standard: arrays of numpy, JAX, CuPy and others bring them along, and
tensors of torch are served, too. Nothing is converted and nothing is overwritten, so that torch and
JAX differentiate.

References
----------
Consortium for Python Data API Standards, Python array API standard 2024.12.
"""

import math
import sys
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from plausible.checks import check_option, shown
from plausible.errors import InputError
from plausible.models.logistic.criteria import CRITERIA

REDUCTIONS = ("mean", "sum", "none")


def namespace_of(array: Any, name: str = "logits") -> Any:
    """The functions that go with an array."""
    if hasattr(array, "__array_namespace__"):
        return array.__array_namespace__()
    if type(array).__module__.partition(".")[0] == "torch" and "torch" in sys.modules:
        return _of_torch(sys.modules["torch"])
    raise InputError(
        f"{name} should be an array of numpy, torch, JAX or another library of the array API "
        "standard",
        f"{shown(array)} was given",
        "convert them, with numpy.asarray for example",
        parameter=name,
    )


def _of_torch(torch: Any) -> Any:
    """The few functions that are needed, under their names in the standard."""
    return SimpleNamespace(
        exp=torch.exp,
        log=torch.log,
        where=torch.where,
        full_like=torch.full_like,
        ones_like=torch.ones_like,
        asarray=torch.asarray,
        sum=lambda x, axis=None, keepdims=False: (
            torch.sum(x) if axis is None else torch.sum(x, dim=axis, keepdim=keepdims)
        ),
        max=lambda x, axis, keepdims: torch.amax(x, dim=axis, keepdim=keepdims),
        logsumexp=lambda x: torch.logsumexp(x, dim=1, keepdim=True),
        log_support=lambda z, pl: _log_support(torch, z, pl),
    )


def _log_support(torch: Any, logits: Any, plausibility: Any) -> Any:
    """Log of the probability (n, 1) of labels by one softmax, which torch has at hand.

    None where some label has so little that its logarithm or gradient would be lost.
    """
    model = torch.softmax(logits, dim=1)
    support = torch.sum(plausibility * model, dim=1, keepdim=True)
    if bool((support < 16.0 * torch.finfo(support.dtype).tiny).any()):
        return None
    return torch.log(support)


def log_total(xp: Any, logits: Any) -> Any:
    """Log of the sum of exponentials, (n, 1)."""
    if hasattr(xp, "logsumexp"):
        return xp.logsumexp(logits)
    top = xp.max(logits, axis=1, keepdims=True)
    return top + xp.log(xp.sum(xp.exp(logits - top), axis=1, keepdims=True))


def _check_array(array: Any, shape: tuple[int | None, ...], name: str, kinds: str = "fiub") -> Any:
    """The functions of an array of numbers of some shape, which is refused otherwise."""
    xp = namespace_of(array, name)
    found = tuple(array.shape)
    fits = len(found) == len(shape) and all(
        want is None or size == want for size, want in zip(found, shape, strict=True)
    )
    is_number = not isinstance(array, np.ndarray) or array.dtype.kind in kinds
    if not fits or not is_number:
        wanted = ", ".join("n" if size is None else str(size) for size in shape)
        raise InputError(
            f"{name} should be an array ({wanted}) of "
            + ("True and False" if kinds == "b" else "numbers"),
            f"it has shape {found} and type {array.dtype}",
            "logits and labels have a row for each item and a column for each class",
            parameter=name,
            value=found,
        )
    return xp


class Task(NamedTuple):
    """Checked arrays: functions, logits, plausibilities, marks of probabilities, weights."""

    xp: Any
    logits: Any
    plausibility: Any
    marks: Any
    weight: Any


def _checked(logits: Any, labels: Any, is_probability: Any, sample_weight: Any) -> Task:
    """Arrays that go together."""
    xp = _check_array(logits, (None, None), "logits", "f")
    if hasattr(labels, "contour") and hasattr(labels, "is_probability"):
        if is_probability is None and labels.is_probability.any():
            is_probability = xp.asarray(labels.is_probability)
        like = {"dtype": logits.dtype, "device": logits.device}
        labels = xp.asarray(labels.contour.copy(), **like)
    shape = tuple(logits.shape)
    _check_array(labels, shape, "labels")
    if is_probability is not None:
        _check_array(is_probability, shape[:1], "is_probability", "b")
    if sample_weight is not None:
        _check_array(sample_weight, shape[:1], "sample_weight")
    return Task(xp, logits, labels, is_probability, sample_weight)


def _log_joint(xp: Any, logits: Any, plausibility: Any) -> tuple[Any, Any]:
    """Logits plus log plausibilities, -inf for excluded classes; and the same, 0 for these."""
    possible = plausibility > 0
    logs = xp.log(xp.where(possible, plausibility, xp.ones_like(plausibility)))
    return xp.where(possible, logits + logs, xp.full_like(logits, -math.inf)), logits + logs


def _values(xp: Any, logits: Any, plausibility: Any, criterion: str) -> Any:
    """Losses (n, 1)."""
    if criterion == "minimum_commitment" and hasattr(xp, "log_support"):
        found = xp.log_support(logits, plausibility)
        if found is not None:
            return -found
    total = log_total(xp, logits)
    if criterion == "maximum_entropy":
        even = plausibility / xp.sum(plausibility, axis=1, keepdims=True)
        return total - xp.sum(even * logits, axis=1, keepdims=True)
    joint, terms = _log_joint(xp, logits, plausibility)
    support = log_total(xp, joint)
    if criterion == "minimum_commitment":
        return total - support
    shares = xp.exp(joint - support)
    terms = logits if criterion == "self_consistent" else terms
    return total - xp.sum(shares * terms, axis=1, keepdims=True)


def _slopes(xp: Any, logits: Any, plausibility: Any, criterion: str) -> Any:
    """Gradients (n, K) of the losses."""
    model = xp.exp(logits - log_total(xp, logits))
    if criterion == "maximum_entropy":
        return model - plausibility / xp.sum(plausibility, axis=1, keepdims=True)
    joint, terms = _log_joint(xp, logits, plausibility)
    shares = xp.exp(joint - log_total(xp, joint))
    if criterion == "minimum_commitment":
        return model - shares
    terms = logits if criterion == "self_consistent" else terms
    mean = xp.sum(shares * terms, axis=1, keepdims=True)
    return model - shares * (1.0 + terms - mean)


def _chosen(kernel: Any, task: Task, criterion: str) -> Any:
    """A kernel of the criterion, and of the cross-entropy where labels are probabilities."""
    xp, logits, known, marks, _ = task
    found = kernel(xp, logits, known, criterion)
    if marks is None or criterion == "maximum_entropy":
        return found
    return xp.where(marks[:, None], kernel(xp, logits, known, "maximum_entropy"), found)


def _count(task: Task) -> Any:
    """What a sum is divided by for a mean."""
    return task.logits.shape[0] if task.weight is None else task.xp.sum(task.weight)


def soft_label_loss(
    logits: Any,
    labels: Any,
    criterion: str = "minimum_commitment",
    *,
    is_probability: Any = None,
    sample_weight: Any = None,
    reduction: str = "mean",
) -> Any:
    """The loss of logits under soft or partial labels, for numpy, torch, JAX and others.

    Parameters
    ----------
    logits : array (n, K)
        Of any library of the array API standard, or a tensor of torch.
    labels : array (n, K) of plausibilities, of the same library; or Labels
        Zeros and ones for sets; the classes in the order of the columns. Values are not checked.
        `Labels` are converted at each call: for batches, convert `labels.contour` once.
    criterion : "minimum_commitment", "maximum_entropy", "self_consistent" or "minimum_entropy"
        As in `PartialLogisticRegression`.
    is_probability : bool array (n,), optional
        Rows whose numbers are probabilities; they count by their cross-entropy.
    sample_weight : array (n,), optional
    reduction : "mean", "sum" or "none"
        A (weighted) mean or sum of the losses, or the (weighted) losses (n,).

    Returns
    -------
    array without dimensions, or (n,)
        Of the library of the logits, and differentiable by it.

    Examples
    --------
    >>> import numpy as np
    >>> round(float(soft_label_loss(np.zeros((2, 3)), np.array([[1.0, 1, 0], [1, 1, 1]]))), 4)
    0.2027

    A step of a network in torch, with ``contour = torch.as_tensor(labels.contour)``::

        loss = soft_label_loss(network(X[batch]), contour[batch])
        loss.backward()
    """
    check_option(criterion, CRITERIA, "criterion")
    check_option(reduction, REDUCTIONS, "reduction")
    task = _checked(logits, labels, is_probability, sample_weight)
    values = _chosen(_values, task, criterion)[:, 0]
    if sample_weight is not None:
        values = values * sample_weight
    if reduction == "none":
        return values
    total = task.xp.sum(values)
    return total if reduction == "sum" else total / _count(task)


def soft_label_gradient(
    logits: Any,
    labels: Any,
    criterion: str = "minimum_commitment",
    *,
    is_probability: Any = None,
    sample_weight: Any = None,
    reduction: str = "mean",
) -> Any:
    """The gradient (n, K) of `soft_label_loss` with respect to the logits.

    Parameters are those of `soft_label_loss`; "none" has the gradient of the sum.

    Examples
    --------
    >>> import numpy as np
    >>> soft_label_gradient(np.zeros((1, 3)), np.array([[1.0, 1, 0]])).round(3)
    array([[-0.167, -0.167,  0.333]])
    """
    check_option(criterion, CRITERIA, "criterion")
    check_option(reduction, REDUCTIONS, "reduction")
    task = _checked(logits, labels, is_probability, sample_weight)
    slopes = _chosen(_slopes, task, criterion)
    if sample_weight is not None:
        slopes = slopes * sample_weight[:, None]
    return slopes / _count(task) if reduction == "mean" else slopes
