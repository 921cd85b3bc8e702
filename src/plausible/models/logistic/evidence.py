r"""Weights of evidence behind the probabilities of a logistic model.

.. math:: w_{jk} = \beta^*_{jk} (x_j - \mu_j) + \frac{b^*_k}{d}, \qquad
          w^+_k = \sum_j \max(w_{jk}, 0), \qquad w^-_k = \sum_j \max(-w_{jk}, 0)

Feature j speaks for class k with weight w_jk if that is positive, and else against it: it supports
the set {k}, or its complement, with mass 1 - exp(-|w_jk|). Dempster's rule combines all of them to

.. math:: m(\{k\}) \propto (e^{w^+_k} - 1) e^{-w^-_k} + m^-(\{k\}), \quad
          m(A) \propto m^-(A) = \prod_{k \in A} e^{-w^-_k} \prod_{k \notin A} (1 - e^{-w^-_k}),

with plausibilities proportional to exp(w+_k - w-_k), the probabilities of the model. Logits fix the
weights up to what all classes share and to how the intercept is divided among the features; slopes
and intercepts that are centered over the classes (marked by a star), around the mean of the
features and with equal shares, have the least sum of squared weights over the rows.

References
----------
T. Denoeux, Logistic regression, neural networks and Dempster-Shafer theory: a new perspective,
Knowledge-Based Systems 176 (2019) 54-67.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from plausible.belief import SparseMasses, all_sets, to_sparse
from plausible.checks import as_floats, row_numbers, shown
from plausible.errors import InputError

FloatArray = NDArray[np.float64]

_ENTRIES_AT_ONCE = 1 << 22
_NEEDED = ("coef_", "intercept_", "classes_", "predict_proba")


class Terms(NamedTuple):
    """How features make weights: w = slopes * (x - center) + share; -inf excludes a class."""

    slopes: FloatArray  # (d, K)
    center: FloatArray  # (d,)
    share: FloatArray  # (K,)


def least_committed(coef: FloatArray, intercept: FloatArray, center: FloatArray) -> Terms:
    """Terms of the softmax of coef (K, d) and intercept (K,), of which -inf excludes a class."""
    possible = intercept > -np.inf
    slopes, level = np.zeros(coef.T.shape), np.full(len(coef), -np.inf)
    slopes[:, possible] = (coef[possible] - coef[possible].mean(axis=0)).T
    at_center = intercept[possible] + center @ slopes[:, possible]
    level[possible] = at_center - at_center.mean()
    return Terms(slopes, center, level / len(center))


def feature_weights(X: FloatArray, terms: Terms) -> FloatArray:
    """Weight of evidence (n, d, K) that each feature gives to each class."""
    return (X - terms.center)[:, :, None] * terms.slopes + terms.share


def _weights_for_and_against(X: Any, terms: Terms) -> tuple[FloatArray, FloatArray]:
    """Sums over the features of the positive and of the negative weights, (n, K) both."""
    n_rows, n_classes = X.shape[0], len(terms.share)
    positive, negative = np.empty((2, n_rows, n_classes))
    at_once = max(1, _ENTRIES_AT_ONCE // terms.slopes.size)
    for start in range(0, n_rows, at_once):
        block = slice(start, start + at_once)
        weights = feature_weights(dense(X[block]), terms)
        positive[block] = np.maximum(weights, 0.0).sum(axis=1)
        negative[block] = np.maximum(-weights, 0.0).sum(axis=1)
    return positive, negative


def log_support(weight: FloatArray) -> FloatArray:
    """Logarithm of the mass 1 - exp(-w) that a weight gives to its set."""
    with np.errstate(divide="ignore"):
        return np.where(
            weight > 0.7, np.log1p(-np.exp(-weight)), np.log(-np.expm1(-np.minimum(weight, 1.0)))
        )


def _log_agreement(positive: FloatArray, negative: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Logarithm of the mass that is not in conflict, times exp(sum of positive weights).

    In two terms (n, 1) to add, the first of which may be so large that the second would be lost.
    The part of m- outside the empty set, 1 - prod_k (1 - exp(-w-_k)), is added up over the first
    class that is not excluded: no difference is taken.
    """
    excluded = log_support(negative)
    before = np.hstack([np.zeros((len(excluded), 1)), np.cumsum(excluded, axis=1)[:, :-1]])
    from_against = before - negative
    from_for = positive + log_support(positive) - negative
    parts = np.hstack([from_against, from_for])
    top = parts.max(axis=1, keepdims=True)
    return top, np.log(np.exp(parts - top).sum(axis=1, keepdims=True))


def contour_of_weights(positive: FloatArray, negative: FloatArray) -> FloatArray:
    """Plausibilities (n, K): exp(w+ - w-), divided by the mass that is not in conflict."""
    top, rest = _log_agreement(positive, negative)
    return np.exp(positive - negative - top - rest)


def _combined_masses(positive: FloatArray, negative: FloatArray) -> FloatArray:
    """Dense masses (n, 2^K) of the combination of all evidence, normalized."""
    excluded = log_support(negative)
    log_mass = np.zeros((len(positive), 1))
    for k in range(positive.shape[1]):
        without, within = log_mass + excluded[:, k : k + 1], log_mass - negative[:, k : k + 1]
        log_mass = np.hstack([without, within])
    single = 1 << np.arange(positive.shape[1])
    own = positive + log_support(positive) - negative
    log_mass[:, single] = np.logaddexp(log_mass[:, single], own)
    log_mass[:, 0] = -np.inf
    return softmax(log_mass, axis=1)


@dataclass(frozen=True, eq=False)
class Evidence:
    """What speaks for and against each class, in each row; see `weights_of_evidence`.

    Attributes
    ----------
    classes : array (K,)
    weights_for : array (n, K)
        Weight of evidence for each class: a weight w supports the class with mass 1 - exp(-w).
    weights_against : array (n, K)
        Weight of evidence for the complement of each class; infinite for an impossible class.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = [[0.0, 1.0], [1.0, 3.0], [2.0, 2.0], [3.0, 5.0]], ["a", "a", "b", "b"]
    >>> model = LogisticRegression().fit(X, y)
    >>> evidence = weights_of_evidence(model, [[3.0, 1.0]], center=[1.5, 2.75])
    >>> evidence.feature_weights()[0, :, 1].round(2)    # for b: the first feature, the second
    array([ 0.66, -0.17])
    >>> evidence.plausibility().round(2)
    array([[0.34, 0.91]])
    >>> evidence.mass().to_dicts(evidence.classes.tolist())[0].keys()
    dict_keys([('b',), ('a', 'b'), ('a',)])
    """

    classes: NDArray[Any]
    weights_for: FloatArray
    weights_against: FloatArray
    _terms: Terms = field(repr=False)
    _inputs: Any = field(repr=False)

    def feature_weights(self, rows: Any = None) -> FloatArray:
        """Weight of evidence (rows, d, K) of each feature: positive for a class, else against it.

        Parameters
        ----------
        rows : slice, mask or list of positions, optional
            All rows by default.
        """
        chosen = (
            self._inputs if rows is None else self._inputs[row_numbers(rows, len(self), "rows")]
        )
        chosen = dense(chosen)
        return feature_weights(chosen.reshape(-1, len(self._terms.center)), self._terms)

    def plausibility(self) -> FloatArray:
        """Plausibility (n, K) of each class, when all evidence is combined by Dempster's rule."""
        return contour_of_weights(self.weights_for, self.weights_against)

    def probability(self) -> FloatArray:
        """Plausibilities scaled to sum to one (n, K): the probabilities of the model."""
        return softmax(self.weights_for - self.weights_against, axis=1)

    def mass(self) -> SparseMasses:
        """Mass functions of all evidence, combined by Dempster's rule; up to 20 classes."""
        all_sets(len(self.classes))  # refuses a frame that is too large
        return to_sparse(_combined_masses(self.weights_for, self.weights_against))

    @property
    def conflict(self) -> FloatArray:
        """Mass (n,) on the empty set, before normalizing: how far features contradict another."""
        top, rest = _log_agreement(self.weights_for, self.weights_against)
        agreement = (top + rest).ravel() - self.weights_for.sum(axis=1)
        return np.maximum(-np.expm1(agreement), 0.0)

    def __len__(self) -> int:
        return len(self.weights_for)


def weights_of_evidence(model: Any, X: ArrayLike, center: ArrayLike | None = None) -> Evidence:
    """Read a logistic model as a combination of pieces of evidence, one from each feature.

    Parameters
    ----------
    model : fitted classifier, or Pipeline that ends in one
        Its probabilities must be the softmax of linear functions of the features, with the
        coefficients in `coef_` and `intercept_`: `LogisticRegression`, linear discriminant
        analysis, or any other with the same convention.
    X : array-like (n, d)
    center : array-like (d,), optional
        Where features say least: their means in the training data. A pipeline transforms it like
        any other row. By default the mean of X (as the last step of a pipeline sees it), so that
        weights depend on the rows given.

    Returns
    -------
    Evidence

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression(max_iter=1000).fit(X, y)
    >>> evidence = weights_of_evidence(model, X)
    >>> evidence.plausibility()[[0, 70]].round(2)       # a clear case, and one between two classes
    array([[0.98, 0.02, 0.  ],
           [0.  , 0.45, 0.57]])
    >>> bool(abs(evidence.probability() - model.predict_proba(X)).max() < 1e-10)
    True
    """
    if not hasattr(model, "fit") or isinstance(model, type):
        raise TypeError(
            f"model should be a fitted logistic regression, but {shown(model)} was given; fit one, "
            "or a pipeline that ends in one."
        )
    check_is_fitted(model)
    last = model[-1] if isinstance(model, Pipeline) else model
    coef, intercept, classes = _check_linear(last)
    probability = np.asarray(model.predict_proba(X))
    inputs = X
    if isinstance(model, Pipeline) and len(model) > 1:
        inputs = model[:-1].transform(X)
        center = None if center is None else _transform_center(model[:-1], X, center)
    inputs = check_array(inputs, accept_sparse="csr", dtype=np.float64)
    coef, intercept = _one_row_for_each_class(coef, intercept, probability)
    _check_softmax(last, inputs, coef, intercept, probability)
    terms = least_committed(coef, intercept, _check_center(center, inputs))
    positive, negative = _weights_for_and_against(inputs, terms)
    return Evidence(classes, positive, negative, terms, inputs)


# -- In --------------------------------------------------------------------------------------------


def dense(X: Any) -> FloatArray:
    """An array, if X is sparse."""
    return X.toarray() if hasattr(X, "toarray") else X


def _transform_center(steps: Pipeline, X: Any, center: ArrayLike) -> Any:
    """The center as the last step of a pipeline sees it."""
    point: Any = as_floats(center, "center").reshape(1, -1)
    if hasattr(X, "columns"):
        point = type(X)(dict(zip(X.columns, point.T, strict=True)))
    return np.ravel(dense(steps.transform(point)))


def _check_linear(model: Any) -> tuple[FloatArray, FloatArray, NDArray[Any]]:
    """Coefficients in double precision, and the classes."""
    missing = [name for name in _NEEDED if not hasattr(model, name)]
    if missing:
        raise InputError(
            f"The model should have {', '.join(_NEEDED)}",
            f"{type(model).__name__} has no {', no '.join(missing)}",
            "give a logistic regression, or a pipeline that ends in one",
        )
    classes = np.asarray(model.classes_)
    coef = np.atleast_2d(np.asarray(dense(model.coef_), dtype=np.float64))
    n_rows = 1 if len(classes) == 2 else len(classes)
    if len(coef) != n_rows:
        raise InputError(
            f"coef_ should have {n_rows} rows for {len(classes)} classes",
            f"has shape {coef.shape}",
            "give a model with one linear function for each class",
            parameter="coef_",
            value=coef.shape,
        )
    intercept = np.broadcast_to(np.asarray(model.intercept_, dtype=np.float64), n_rows)
    return coef, intercept, classes


def _one_row_for_each_class(
    coef: FloatArray, intercept: FloatArray, probability: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Coefficients (K, d) and intercepts (K,), where -inf stands for an impossible class.

    A class with coefficients that are no numbers is impossible if its probability is zero.
    """
    unknown = ~(np.isfinite(coef).all(axis=1) & np.isfinite(intercept))
    if probability.shape[1] == 2:
        unknown = unknown.repeat(2)
        coef, intercept = np.vstack([np.zeros_like(coef), coef]), np.append(0.0, intercept)
    impossible = unknown & (probability == 0.0).all(axis=0)
    if probability.shape[1] == 2 and impossible.any():
        coef, unknown = np.zeros_like(coef), impossible
    if (unknown & ~impossible).any():
        raise InputError(
            "coef_ and intercept_ should be finite for classes with a positive probability",
            f"class number {np.flatnonzero(unknown & ~impossible)[0]} has others",
            "fit the model again",
        )
    coef = np.where(impossible[:, None], 0.0, coef)
    level = np.where(np.isfinite(intercept), intercept, 0.0)
    return coef, np.where(impossible, -np.inf, level)


def _check_softmax(
    model: Any, X: Any, coef: FloatArray, intercept: FloatArray, probability: FloatArray
) -> None:
    """Refuse a model whose probabilities are not the softmax of its linear functions."""
    apart = np.abs(softmax(X @ coef.T + intercept, axis=1) - probability)
    allowed = 1e-6 if probability.dtype == np.float64 else 1e-3
    if not apart.max(initial=0.0) <= allowed:
        raise InputError(
            "Probabilities should be the softmax of the linear functions in coef_ and intercept_",
            f"those of {type(model).__name__} differ by {np.nanmax(apart):.2g} in row "
            f"{int(np.nanargmax(apart.max(axis=1)))}",
            "fit a multinomial model, or read each binary model of a one-versus-rest scheme by "
            "itself",
        )


def _check_center(center: ArrayLike | None, X: Any) -> FloatArray:
    """The given center, or the mean of X."""
    if center is None:
        return np.asarray(X.mean(axis=0), dtype=np.float64).reshape(-1)
    given = as_floats(center, "center")
    if given.shape != (X.shape[1],) or not np.isfinite(given).all():
        raise InputError(
            f"center should be one finite number for each of the {X.shape[1]} features of the "
            "logistic model",
            f"has shape {given.shape} or holds missing values",
            "give the means of the training data, X.mean(axis=0)",
            parameter="center",
            value=given.shape,
        )
    return given
