r"""The criterion of a softmax model under partial labels, summed over rows.

.. math:: L(\beta) = \sum_i w_i \, c(pl_i, \beta x_i) - \tfrac{\alpha}{2} \sum_{kj} \beta_{kj}^2

for one of the criteria c (for labels that are probabilities, the cross-entropy). :math:`\beta` is
(K, D), slopes first, then the intercept if there is one. Where the probabilities that the labels
leave do not depend on the model (hard labels, probabilities, maximum entropy, the M step of EM),
the labels enter by one sum over the rows alone,
:math:`T = \sum_i w_i q_i x_i'`, and

.. math:: L(\beta) = \langle T, \beta \rangle - \sum_i w_i \log \sum_k \exp(\beta_k x_i) - ...
"""

import threading
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.engine import Columns, Rows, is_sparse
from plausible.models.logistic.coordinates import Coordinates, make_coordinates
from plausible.models.logistic.criteria import (
    FloatArray,
    Take,
    confront,
    curvature,
    curvature_along,
    evaluate,
    fresh,
    normalize,
)

IntArray = NDArray[np.int64]

LEAST_CURVATURE = 1e-8  # of a row, so that directions in which all rows are sure have a length
LEAST_SHARE = 0.05  # of the curvature with hard labels that soft ones are taken to leave


class Workspace(threading.local):
    """Arrays of a thread that serve one chunk after another."""

    def take(self, name: str, shape: tuple[int, ...]) -> FloatArray:
        """An array to write into, under a name; its last use under this name is over."""
        size = int(np.prod(shape))
        buffer = self.__dict__.get(name)
        if buffer is None or len(buffer) < size:
            buffer = self.__dict__[name] = np.empty(size)
        return buffer[:size].reshape(shape)


WORK = Workspace()


def read(columns: Columns, present: IntArray | None) -> tuple[Any, Any, Any, Any]:
    """Features, plausibilities (K, n) of the classes that are learned, weights, of a chunk.

    The last says which labels are probabilities, and is None where none is.
    """
    X, plausibility, weight, shares = (*columns, None)[:4]
    assert X is not None
    assert plausibility is not None
    X = X.astype(np.float64, copy=False)
    return X, (plausibility if present is None else plausibility[:, present]).T, weight, shares


def scores(X: Any, beta: FloatArray, take: Take = fresh) -> FloatArray:
    """Logits (K, n)."""
    slopes = beta[:, : X.shape[1]]
    logits = take("logits", (len(beta), X.shape[0]))
    if is_sparse(X):
        logits[:] = (X @ slopes.T).T
    else:
        np.matmul(slopes, X.T, out=logits)
    if beta.shape[1] > X.shape[1]:
        logits += beta[:, -1:]
    return logits


def pull_back(X: Any, slope: FloatArray, like: FloatArray) -> FloatArray:
    """Gradient with respect to beta, from that with respect to the logits."""
    gradient = np.empty_like(like)
    gradient[:, : X.shape[1]] = (X.T @ slope.T).T if is_sparse(X) else slope @ X
    gradient[:, X.shape[1] :] = slope.sum(axis=1, keepdims=True)
    return gradient


def weigh(values: FloatArray, weight: FloatArray | None) -> FloatArray:
    """Values of rows times their weights."""
    return values if weight is None else values * weight


def _criterion_pass(
    columns: Columns, beta: FloatArray, name: str, present: IntArray | None
) -> tuple[float, FloatArray]:
    """Value of a criterion, and its gradient (K, D)."""
    X, plausibility, weight, shares = read(columns, present)
    logits = scores(X, beta, WORK.take)
    value, slope = evaluate(name, logits, plausibility, shares, WORK.take)
    return float(weigh(value, weight).sum()), pull_back(X, weigh(slope, weight), beta)


def _partition_pass(columns: Columns, beta: FloatArray) -> tuple[float, FloatArray]:
    """Sum of - log sum_k exp(beta_k x), and its gradient."""
    X, _, weight, _ = read(columns, None)
    logits = scores(X, beta, WORK.take)
    first = logits[0].copy()
    shifted, model, log_scale = normalize(logits, WORK.take)
    value = float(weigh(first - shifted[0] + log_scale, weight).sum())
    return -value, -pull_back(X, weigh(model, weight), beta)


def target_pass(columns: Columns, n_columns: int, present: IntArray | None) -> FloatArray:
    """The sum T of normalized plausibilities times features."""
    X, plausibility, weight, _ = read(columns, present)
    target = plausibility / plausibility.sum(axis=0)
    return pull_back(X, weigh(target, weight), np.empty((len(target), n_columns)))


def _expectation_pass(
    columns: Columns, beta: FloatArray, present: IntArray | None
) -> tuple[float, FloatArray]:
    """The E step: minimum commitment, and the sum T of what labels leave times features."""
    X, plausibility, weight, shares = read(columns, present)
    joint = confront(scores(X, beta, WORK.take), plausibility, WORK.take)
    if shares is not None and shares.any():
        known = plausibility[:, shares] / plausibility[:, shares].sum(axis=0)
        fit = (known * joint.logits[:, shares]).sum(axis=0) - joint.log_scale[shares]
        joint.left[:, shares], joint.log_support[shares] = known, fit
    value = float(weigh(joint.log_support, weight).sum())
    return value, pull_back(X, weigh(joint.left, weight), beta)


def mean_curvature(
    columns: Columns, beta: FloatArray, name: str, present: IntArray | None
) -> FloatArray:
    """Mean over directions of the curvature of each row, kept from zero; see `coordinates`."""
    X, plausibility, _, shares = read(columns, present)
    logits = scores(X, beta)
    if name == "maximum_entropy":
        spread = 1.0 - (normalize(logits)[1] ** 2).sum(axis=0)
    else:
        joint = confront(logits, plausibility)
        spread = 1.0 - (joint.model**2).sum(axis=0)
        known = (joint.left**2).sum(axis=0) - (joint.model**2).sum(axis=0)
        known = known if shares is None else np.where(shares, spread, known)
        spread = np.maximum(known, LEAST_SHARE * spread)
    return np.maximum(spread / max(len(logits) - 1, 1), LEAST_CURVATURE)


def product_pass(
    columns: Columns, beta: FloatArray, direction: FloatArray, name: str, present: IntArray | None
) -> FloatArray:
    """Second derivatives times a direction (K, D)."""
    X, plausibility, weight, shares = read(columns, present)
    bend = curvature_along(name, scores(X, beta), plausibility, scores(X, direction), shares)
    return pull_back(X, weigh(bend, weight), beta)


def hessian_pass(
    columns: Columns, beta: FloatArray, name: str, present: IntArray | None
) -> FloatArray:
    """Second derivatives (K, D, K, D)."""
    X, plausibility, weight, shares = read(columns, present)
    bends = weigh(curvature(name, scores(X, beta), plausibility, shares), weight)
    n_classes, n_columns = beta.shape
    hessian = np.empty((n_classes, n_columns, n_classes, n_columns))
    for k in range(n_classes):
        for other in range(k + 1):
            block = _pair_sum(X, bends[k, other], n_columns)
            hessian[k, :, other], hessian[other, :, k] = block, block
    return hessian


def _pair_sum(X: Any, bend: FloatArray, n_columns: int) -> FloatArray:
    """Sum over rows of bend x x', with the intercept as a feature if there is one."""
    n_features = X.shape[1]
    block = np.empty((n_columns, n_columns))
    if is_sparse(X):
        bent = X.multiply(bend[:, None]).tocsr()
        block[:n_features, :n_features] = (bent.T @ X).toarray()
    else:
        bent = X * bend[:, None]
        block[:n_features, :n_features] = bent.T @ X
    if n_columns > n_features:
        block[-1, :n_features] = block[:n_features, -1] = np.asarray(bent.sum(axis=0)).ravel()
        block[-1, -1] = bend.sum()
    return block


class Step(NamedTuple):
    """What an E step leaves for the M step; see `plausible.engine.maximize`."""

    criterion: float
    beta: FloatArray
    targets: FloatArray


@dataclass(frozen=True)
class PartialLikelihood:
    """A penalized criterion over rows.

    Attributes
    ----------
    rows : Rows of (features, plausibilities, weights), and which labels are probabilities
    name : one of `criteria.CRITERIA`
    present : columns of the classes that are learned, None for all
    penalty : array (D,)
        Half of it times the square of a coefficient is taken off.
    weight : sum of the weights of the rows
    constant : what rows that were left out add to the criterion
    coordinates : in which steps are taken
    targets : array (K, D), optional
        The sum T, where the labels enter by it alone.
    """

    rows: Rows
    name: str
    present: IntArray | None
    penalty: FloatArray
    weight: float
    constant: float
    coordinates: Coordinates
    targets: FloatArray | None = None

    def fidelity(self, beta: FloatArray) -> tuple[float, FloatArray]:
        """The criterion without penalty, and its gradient."""
        if self.targets is None:
            value, gradient = self.rows.reduce(_criterion_pass, beta, self.name, self.present)
        else:
            value, gradient = self.rows.reduce(_partition_pass, beta)
            value += float((self.targets * beta).sum())
            gradient = gradient + self.targets
        return value + self.constant, gradient

    def penalized(self, beta: FloatArray) -> float:
        """What the penalty takes off."""
        return 0.5 * float((self.penalty * beta**2).sum())

    def at(self, point: FloatArray) -> tuple[float, FloatArray]:
        """Mean over the rows of the penalized criterion, and its gradient."""
        beta = self.coordinates.restore(point)
        value, gradient = self.fidelity(beta)
        value -= self.penalized(beta)
        gradient = self.coordinates.pull_back(gradient - self.penalty * beta)
        return value / self.weight, gradient / self.weight

    @property
    def curved_as(self) -> str:
        """The criterion whose second derivatives these are."""
        return self.name if self.targets is None else "maximum_entropy"

    def hessian(self, point: FloatArray) -> FloatArray:
        """Second derivatives of `at`."""
        beta = self.coordinates.restore(point)
        hessian = self.rows.reduce(hessian_pass, beta, self.curved_as, self.present)
        n_classes, n_columns = beta.shape
        every = np.arange(n_classes)[:, None], np.arange(n_columns)
        hessian[every[0], every[1], every[0], every[1]] -= self.penalty
        return self.coordinates.pull_back_twice(hessian) / self.weight

    def hessian_product(self, point: FloatArray, direction: FloatArray) -> FloatArray:
        """Second derivatives of `at` times a direction."""
        beta, along = self.coordinates.restore(point), self.coordinates.restore(direction)
        bent = self.rows.reduce(product_pass, beta, along, self.curved_as, self.present)
        return self.coordinates.pull_back(bent - self.penalty * along) / self.weight

    def renewed(self, beta: FloatArray) -> "PartialLikelihood":
        """The same problem in coordinates that suit the point reached."""
        curvature = partial(mean_curvature, beta=beta, name=self.curved_as, present=self.present)
        coordinates, _ = make_coordinates(self.rows, len(beta), self.penalty, curvature)
        return replace(self, coordinates=coordinates)

    def expect(self, starts: list[FloatArray]) -> list[Step]:
        """The E step from each of several points."""
        steps = []
        for beta in starts:
            value, targets = self.rows.reduce(_expectation_pass, beta, self.present)
            steps.append(Step(value + self.constant - self.penalized(beta), beta, targets))
        return steps

    def given(self, targets: FloatArray) -> "PartialLikelihood":
        """The criterion of the M step: labels enter by the sum T."""
        return replace(self, targets=targets, constant=0.0)
