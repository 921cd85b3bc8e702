r"""Criteria for probabilities :math:`f = softmax(\eta)` under partial labels.

With plausibilities pl of the classes of one item (zeros and ones for a set of candidates), and
:math:`g_k = pl_k f_k / \sum_j pl_j f_j` the probabilities that the label leaves,

=====================  ===========================================================================
"minimum_commitment"   :math:`\log \sum_k pl_k f_k`: the label is right; no opinion within it
"maximum_entropy"      :math:`\sum_k q_k \log f_k, q = pl / \sum pl`: all candidates alike
"self_consistent"      :math:`\sum_k g_k \log f_k`: the model believes its own guess
"minimum_entropy"      :math:`\sum_k g_k \log (pl_k f_k)`: the same, and keeps to the degrees
=====================  ===========================================================================

The first three are equations 5, 3-4 and 7 of Grandvalet (Logistic regression for partial labels,
2002). A hard label makes all the same, the log-likelihood. A label that says nothing adds a
constant to the first, draws f to uniform in the second, and away from it in the others. The last is
the first less the entropy of g (Grandvalet and Bengio, Semi-supervised learning by entropy
minimization, 2005). For sets it is the third. For degrees the third forgets them where f is sure:
any class with f = 1 and pl > 0 gives 0, the highest value there is.

A label that was given as probabilities is none of these, but a share: it counts by its
cross-entropy :math:`\sum_k p_k \log f_k` under every criterion, as items of each class with weights
p would.

Kernels take logits and plausibilities of shape (K, n), classes first: sums over few classes are
then sums of long rows. They overwrite the logits, and write into arrays that they are given: new
memory for each of many chunks would take as long as the computation.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plausible.base import check_weights
from plausible.checks import as_floats, check_option, name_rows
from plausible.errors import InputError
from plausible.labels import as_labels

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
Loss = Callable[..., tuple[float, FloatArray]]
Take = Callable[[str, tuple[int, ...]], FloatArray]

CRITERIA = ("minimum_commitment", "maximum_entropy", "self_consistent", "minimum_entropy")
SAFE = 300.0  # logits whose exponentials are far from overflow and underflow
UNDERFLOW = 1e-200  # below, sums of exponentials are taken again about their own maximum


def fresh(name: str, shape: tuple[int, ...]) -> FloatArray:
    """A new array to write into."""
    return np.empty(shape)


class Posterior(NamedTuple):
    """What a model and labels say together, all (K, n) or (n,).

    logits : less a number for each item that keeps exponentials within bounds
    model : probabilities f of the classes
    log_scale : log of the sum of exp(logits)
    left : probabilities g that the labels leave
    log_support : log of the sum of plausibilities times f
    """

    logits: FloatArray
    model: FloatArray
    log_scale: FloatArray
    left: FloatArray
    log_support: FloatArray


def normalize(logits: FloatArray, take: Take = fresh) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Logits (in place, less their maximum if need be), softmax, log of sum of exponentials."""
    if max(logits.max(), -logits.min()) > SAFE:
        logits -= logits.max(axis=0)
    model = np.exp(logits, out=take("model", logits.shape))
    total = model.sum(axis=0)
    model *= 1.0 / total  # a third of the time of dividing
    return logits, model, np.log(total)


def confront(logits: FloatArray, plausibility: FloatArray, take: Take = fresh) -> Posterior:
    """Combine logits, which are overwritten, with plausibilities."""
    logits, model, log_scale = normalize(logits, take)
    left = np.multiply(plausibility, model, out=take("left", model.shape))
    support = left.sum(axis=0)
    with np.errstate(divide="ignore"):
        log_support = np.log(support)
    small = support < UNDERFLOW
    if small.any():
        left[:, small], log_support[small] = _from_logs(logits[:, small], plausibility[:, small])
        log_support[small] -= log_scale[small]
        support[small] = 1.0
    left *= 1.0 / support
    return Posterior(logits, model, log_scale, left, log_support)


def _from_logs(logits: FloatArray, plausibility: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Probabilities that labels leave and log of their sum, where the model all but excludes it."""
    with np.errstate(divide="ignore"):
        logs = logits + np.log(plausibility)
    top = logs.max(axis=0)
    left = np.exp(logs - top)
    total = left.sum(axis=0)
    return left / total, top + np.log(total)


def minimum_commitment(
    logits: FloatArray, plausibility: FloatArray, take: Take = fresh
) -> tuple[Any, FloatArray]:
    """Values (n,) and gradients (K, n) of log sum_k pl_k f_k."""
    joint = confront(logits, plausibility, take)
    slope = joint.left
    slope -= joint.model
    return joint.log_support, slope


def maximum_entropy(
    logits: FloatArray, plausibility: FloatArray, take: Take = fresh
) -> tuple[Any, FloatArray]:
    """Values (n,) and gradients (K, n) of sum_k q_k log f_k."""
    target = plausibility / plausibility.sum(axis=0)
    logits, model, log_scale = normalize(logits, take)
    value = (target * logits).sum(axis=0) - log_scale
    target -= model
    return value, target


def self_consistent(
    logits: FloatArray, plausibility: FloatArray, take: Take = fresh
) -> tuple[Any, FloatArray]:
    """Values (n,) and gradients (K, n) of sum_k g_k log f_k."""
    joint = confront(logits, plausibility, take)
    return bet(joint, joint.logits)


def minimum_entropy(
    logits: FloatArray, plausibility: FloatArray, take: Take = fresh
) -> tuple[Any, FloatArray]:
    """Values (n,) and gradients (K, n) of sum_k g_k log(pl_k f_k)."""
    joint = confront(logits, plausibility, take)
    return bet(joint, joint.logits + logs_of_possible(plausibility))


def bet(joint: Posterior, terms: FloatArray) -> tuple[Any, FloatArray]:
    """Values and gradients of sum_k g_k terms_k - log_scale, for terms that rise with logits."""
    mean = (joint.left * terms).sum(axis=0)
    slope = terms - mean
    slope += 1.0
    slope *= joint.left
    slope -= joint.model
    return mean - joint.log_scale, slope


def logs_of_possible(plausibility: FloatArray) -> FloatArray:
    """Logs of plausibilities, and 0 for classes that have none: they do not count."""
    return np.log(plausibility, out=np.zeros_like(plausibility), where=plausibility > 0)


KERNELS = {
    "minimum_commitment": minimum_commitment,
    "maximum_entropy": maximum_entropy,
    "self_consistent": self_consistent,
    "minimum_entropy": minimum_entropy,
}


def evaluate(
    name: str,
    logits: FloatArray,
    plausibility: FloatArray,
    shares: BoolArray | None = None,
    take: Take = fresh,
) -> tuple[Any, FloatArray]:
    """Values (n,) and gradients (K, n) of a criterion, where `shares` (n,) are probabilities."""
    if shares is None or not shares.any():
        return KERNELS[name](logits, plausibility, take)
    if shares.all():
        return maximum_entropy(logits, plausibility, take)
    values, slopes = np.empty(len(shares)), np.empty(logits.shape)
    for kernel, rows in ((KERNELS[name], ~shares), (maximum_entropy, shares)):
        values[rows], slopes[:, rows] = kernel(logits[:, rows], plausibility[:, rows])
    return values, slopes


def curvature_along(
    name: str,
    logits: FloatArray,
    plausibility: FloatArray,
    direction: FloatArray,
    shares: BoolArray | None = None,
) -> FloatArray:
    """Hessian of a criterion times a direction of logits, (K, n)."""
    if shares is None or not shares.any() or name == "maximum_entropy":
        return _bend_along(name, logits, plausibility, direction)
    bends, along = np.empty(logits.shape), np.broadcast_to(direction, logits.shape)
    for one, rows in ((name, ~shares), ("maximum_entropy", shares)):
        bends[:, rows] = _bend_along(one, logits[:, rows], plausibility[:, rows], along[:, rows])
    return bends


def _bend_along(
    name: str, logits: FloatArray, plausibility: FloatArray, direction: FloatArray
) -> FloatArray:
    """`curvature_along` where no label is a probability."""
    if name == "maximum_entropy":
        return -spread(normalize(logits)[1], direction)
    joint = confront(logits, plausibility)
    left, mean = joint.left, (joint.left * direction).sum(axis=0)
    bend = -spread(joint.model, direction)
    if name == "minimum_commitment":
        return bend + spread(left, direction)
    terms = joint.logits
    if name == "minimum_entropy":
        terms = terms + logs_of_possible(plausibility)
    lift = 1.0 + terms - (left * terms).sum(axis=0)
    lifted_mean = (left * lift * direction).sum(axis=0)
    return bend + left * ((lift + 1.0) * direction - lift * mean - lifted_mean)


def spread(weights: FloatArray, direction: FloatArray) -> FloatArray:
    """Covariance matrix of a choice with these weights, times a direction."""
    return weights * (direction - (weights * direction).sum(axis=0))


def curvature(
    name: str, logits: FloatArray, plausibility: FloatArray, shares: BoolArray | None = None
) -> FloatArray:
    """Hessians (K, K, n) of a criterion with respect to logits."""
    n_classes, n_rows = logits.shape
    bends = np.empty((n_classes, n_classes, n_rows))
    for k, direction in enumerate(np.eye(n_classes)):
        bends[k] = curvature_along(name, logits.copy(), plausibility, direction[:, None], shares)
    return bends


def partial_label_loss(criterion: str = "minimum_commitment") -> Loss:
    """A loss for any model whose outputs are logits: networks, additive models, boosting.

    Parameters
    ----------
    criterion : "minimum_commitment", "maximum_entropy", "self_consistent" or "minimum_entropy"

    Returns
    -------
    loss : function (logits, y, sample_weight=None) -> (value, gradient)
        `logits` is (n, K); `y` is Labels over the K classes in the order of the columns, or all
        that `as_labels` takes, plausibilities and probabilities (n, K) among them. The value is the
        negative criterion summed over the rows, to be minimized; the gradient (n, K) is with
        respect to the logits. Divide both by n for a mean.

    Examples
    --------
    >>> import numpy as np
    >>> loss = partial_label_loss("minimum_commitment")
    >>> value, gradient = loss(np.zeros((2, 3)), np.array([[1, 1, 0], [1, 1, 1]]))
    >>> round(value, 4)  # -log(2/3) - log(1)
    0.4055
    >>> gradient[0].round(3)
    array([-0.167, -0.167,  0.333])
    """
    check_option(criterion, CRITERIA, "criterion")

    def loss(
        logits: ArrayLike, y: Any, sample_weight: ArrayLike | None = None
    ) -> tuple[float, FloatArray]:
        """Negative criterion, and its gradient with respect to the logits."""
        scores = _check_logits(logits)
        labels = as_labels(y) if hasattr(y, "contour") else as_labels(y, range(scores.shape[1]))
        if labels.contour.shape != scores.shape:
            raise InputError(
                f"logits should be (n, K) with one row for each of the {len(labels)} labels and "
                f"one column for each of their {labels.n_classes} classes",
                f"have shape {scores.shape}",
                "check the order of the arguments and missing rows",
                parameter="logits",
                value=scores.shape,
            )
        shares = labels.is_probability
        value, slope = evaluate(criterion, scores.T.copy(), labels.contour.T, shares)
        if sample_weight is not None:
            weight = check_weights(sample_weight, len(scores))
            value, slope = value * weight, slope * weight
        return -float(value.sum()), -slope.T

    return loss


def _check_logits(logits: ArrayLike) -> FloatArray:
    """Logits as an array (n, K) of finite numbers."""
    scores = as_floats(logits, "logits")
    if scores.ndim != 2:
        raise InputError(
            "logits should be (n, K)",
            f"have shape {scores.shape}",
            parameter="logits",
            value=scores.shape,
        )
    bad = ~np.isfinite(scores).all(axis=1)
    if bad.any():
        raise InputError(
            "logits should be finite",
            f"are infinite or missing in {name_rows(bad)}",
            "lower the step of the optimizer",
            parameter="logits",
            rows=bad,
        )
    return scores
