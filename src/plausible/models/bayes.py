r"""Bayes' rule where the prior is known in part, or not at all.

With densities :math:`f_k` of the classes and relative likelihoods
:math:`l_k(x) = f_k(x) / \max_j f_j(x)`, the Generalized Bayesian Theorem believes before any prior

.. math:: m_x(A) = \prod_{k \in A} l_k(x) \prod_{k \notin A} (1 - l_k(x)),

whose plausibilities are the :math:`l_k`. Dempster's rule joins it with masses that stand for the
prior: with probabilities :math:`p_k` this is Bayes' rule, without any prior nothing changes.

References
----------
T. Denoeux, P. Smets, Classification using belief functions: relationship between case-based and
model-based approaches, IEEE Transactions on Systems, Man and Cybernetics B 36 (2006) 1395-1406.
A. Appriou, Uncertain data aggregation in classification and tracking processes, Studies in
Fuzziness and Soft Computing 12 (1998) 231-260.
"""

from collections.abc import Mapping
from numbers import Number
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from plausible.base import (
    MassClassifier,
    by_class,
    check_features,
    check_labels_and_weights,
    takes_labels,
)
from plausible.belief import (
    SparseMasses,
    generalized_bayes,
    masses_from_dicts,
    membership,
    normalize,
    to_sparse,
)
from plausible.checks import as_floats, check_number, shown
from plausible.errors import InputError
from plausible.labels import Labels

FloatArray = NDArray[np.float64]

MOST_CLASSES = 12  # whose sets are all listed


def _relative_likelihoods(logs: FloatArray) -> FloatArray:
    """Likelihoods (n, K) relative to the largest of each row; all ones where all vanish."""
    best = logs.max(axis=1, keepdims=True)
    return np.where(np.isfinite(best), np.exp(logs - np.where(np.isfinite(best), best, 0.0)), 1.0)


def _bounds_of_posterior(
    likelihoods: FloatArray, prior: SparseMasses
) -> tuple[FloatArray, FloatArray]:
    """Least and largest posterior probabilities (n, K) over all priors that the masses allow.

    A prior shares the mass of each set among its members. Class k has most if it gets all that it
    can, and the least likely member gets the mass of other sets; it has least the other way round.
    """
    inside = membership(prior.focal_sets, prior.n_classes)
    values = np.asarray(prior.values).reshape(-1)
    lower, upper = np.empty_like(likelihoods), np.empty_like(likelihoods)
    for k in range(likelihoods.shape[1]):
        least, most = np.zeros(len(likelihoods)), np.zeros(len(likelihoods))
        for mass, members in zip(values, inside.astype(bool), strict=True):
            others = members & (np.arange(len(members)) != k)
            if others.any():
                most += mass * likelihoods[:, others].max(axis=1)
            if not members[k]:
                least += mass * likelihoods[:, others].min(axis=1)
        gets = likelihoods[:, k] * values[inside[:, k].astype(bool)].sum()
        keeps = likelihoods[:, k] * values[(inside[:, k] == 1) & (inside.sum(axis=1) == 1)].sum()
        upper[:, k] = np.divide(gets, gets + least, out=np.zeros_like(gets), where=gets > 0)
        lower[:, k] = np.divide(keeps, keeps + most, out=np.zeros_like(keeps), where=keeps > 0)
    return lower, upper


class GeneralizedBayesClassifier(MassClassifier):
    """Classes by their densities, with a prior that may be imprecise or missing.

    Parameters
    ----------
    estimator : estimator, optional
        Where densities come from: a classifier with a method `class_log_density` that takes labels
        of any kind (the Gaussian mixtures of this library, the default), or a density estimator
        with `score_samples`, such as scikit-learn's `KernelDensity`, of which one is fitted for
        each class. To that, rows count for each class by their plausibility, if it takes weights,
        and else for the class that they favor; rows that say nothing are left out.
    prior : optional
        What is known of a class before its features are: nothing by default; probabilities (K,) in
        the order of the sorted classes or a mapping from classes to them; or masses, as a mapping
        from tuples of classes to masses, or `SparseMasses`. Where labels have their classes in
        another order, only mappings are taken, which name them.
    unseen : name of a class, optional
        A class of which there are no items: its density is the same everywhere, namely that below
        which a share `level` of the items lies.
    level : float

    Attributes
    ----------
    classes_ : array (K,)
        With the class that was never seen, if there is one.
    focal_sets_ : int array (2^K - 1,)
    prior_ : SparseMasses
    estimator_ or estimators_ : the fitted density estimators

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [5.0], [6.0], [7.5]], ["a", "a", "a", "b", "b", "b"]
    >>> model = GeneralizedBayesClassifier().fit(X, y)
    >>> model.predict_plausibility([[3.5]]).round(3)  # without a prior: relative likelihoods
    array([[0.336, 1.   ]])
    >>> GeneralizedBayesClassifier(prior=[0.9, 0.1]).fit(X, y).predict_proba([[3.5]]).round(3)
    array([[0.752, 0.248]])
    """

    estimator_: Any
    estimators_: list[Any]

    def __init__(
        self,
        estimator: Any = None,
        prior: Any = None,
        *,
        unseen: Any = None,
        level: float = 0.01,
    ) -> None:
        self.estimator = estimator
        self.prior = prior
        self.unseen = unseen
        self.level = level

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the densities.

        Parameters
        ----------
        X : array-like (n, d)
        y : Labels, or all that `as_labels` takes
        sample_weight : array-like (n,), optional

        Returns
        -------
        self
        """
        check_number(self.level, "level", 0.0, 1.0)
        data = check_features(self, X, dtype=np.float64)
        labels, weight = check_labels_and_weights(self, y, sample_weight, len(data), X)
        names = self._names(labels)
        self._fit_densities(data, labels, weight)
        self.classes_, self._seen = names, np.isin(names, labels.classes)
        if self.unseen is not None:
            highest = self._log_densities(data).max(axis=1)
            self.unseen_density_ = float(
                np.quantile(highest[weight > 0], self.level, method="lower")
            )
        self.prior_ = _read_prior(self._ordered_prior(names), names)
        self.focal_sets_ = np.arange(1, 1 << len(names))
        return self

    def _names(self, labels: Labels) -> NDArray[Any]:
        """All classes, sorted."""
        names = labels.classes.tolist()
        if self.unseen is not None and not isinstance(self.unseen, str | Number):
            raise InputError(
                "unseen should be the name of a class, text or a number",
                f"{shown(self.unseen)} was given",
                "name it, as in unseen='other'",
                parameter="unseen",
                value=self.unseen,
            )
        if self.unseen is not None and self.unseen in names:
            raise InputError(
                "unseen should be the name of a class without items",
                f"labels know {self.unseen!r}",
                "give another name",
                parameter="unseen",
                value=self.unseen,
            )
        names = [*names, *([] if self.unseen is None else [self.unseen])]
        if len(names) > MOST_CLASSES:
            raise InputError(
                f"Masses on all sets should be of at most {MOST_CLASSES} classes",
                f"there are {len(names)}",
                "merge rare classes, or choose another model",
            )
        return np.sort(Labels.unknown(1, names).classes)

    def _ordered_prior(self, names: NDArray[Any]) -> Any:
        """The prior, which must name its classes where labels have an order of their own."""
        if isinstance(self.prior, Mapping):
            return self.prior
        if isinstance(self.prior, SparseMasses):
            by_class(self, self.prior.focal_sets, "prior", names)
            return self.prior
        return by_class(self, self.prior, "prior", names)

    def _fit_densities(self, data: FloatArray, labels: Labels, weight: FloatArray) -> None:
        estimator = self.estimator
        if estimator is None:
            from plausible.models.gaussian import GaussianMixtureClassifier

            estimator = GaussianMixtureClassifier()
        if takes_labels(estimator) and hasattr(estimator, "class_log_density"):
            self.estimators_ = []
            self.estimator_ = clone(estimator).fit(data, labels, sample_weight=weight)
            return
        if not hasattr(estimator, "score_samples"):
            raise InputError(
                "estimator should have a method class_log_density or score_samples",
                f"{type(estimator).__name__} has neither",
                "give KernelDensity() or GaussianMixtureClassifier()",
                parameter="estimator",
            )
        self.estimator_ = None
        self.estimators_ = [
            _fit_density(estimator, data, labels, weight, k) for k in range(labels.n_classes)
        ]

    def _log_densities(self, data: FloatArray) -> FloatArray:
        """Log densities (n, K) of the classes that have items."""
        if self.estimator_ is not None:
            return np.asarray(self.estimator_.class_log_density(data))
        return np.column_stack([one.score_samples(data) for one in self.estimators_])

    def _likelihoods(self, data: FloatArray) -> FloatArray:
        logs = np.empty((len(data), len(self.classes_)))
        logs[:, self._seen] = self._log_densities(data)
        logs[:, ~self._seen] = getattr(self, "unseen_density_", 0.0)
        return _relative_likelihoods(logs)

    def _masses(self, X: Any) -> SparseMasses:
        found = generalized_bayes(self._likelihoods(X), self.prior_, normalize=True)
        dense = np.zeros((len(X), len(self.focal_sets_)))
        for place, focal_set in enumerate(found.focal_sets.tolist()):
            if focal_set:
                dense[:, focal_set - 1] += found.values[:, place]
        return SparseMasses(dense, self.focal_sets_, len(self.classes_))

    def predict_bounds(self, X: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Least and largest posterior probabilities (n, K) over all priors that are possible.

        Every prior that shares the masses of `prior` among the members of their sets is possible.
        These bounds hold the answer of Bayes' rule for each of them; beliefs and plausibilities
        need not, because Dempster's rule weighs the sets by what they predict.

        Examples
        --------
        >>> X, y = [[0.0], [1.0], [2.0], [5.0], [6.0], [7.5]], ["a", "a", "a", "b", "b", "b"]
        >>> prior = {("a",): 0.3, ("a", "b"): 0.7}
        >>> model = GeneralizedBayesClassifier(prior=prior).fit(X, y)
        >>> lower, upper = model.predict_bounds([[3.5]])
        >>> lower.round(3), upper.round(3)
        (array([[0.126, 0.   ]]), array([[1.   , 0.874]]))
        """
        return _bounds_of_posterior(self._likelihoods(self._read(X)), self.prior_)


def _fit_density(
    estimator: Any, data: FloatArray, labels: Labels, weight: FloatArray, k: int
) -> Any:
    """A density estimator fitted to the rows of one class."""
    shares = labels.contour / labels.contour.sum(axis=1, keepdims=True)
    says = (labels.informativeness > 0) | labels.is_probability
    weighted = has_fit_parameter(estimator, "sample_weight")
    if not weighted:
        shares = (labels.contour == labels.contour.max(axis=1, keepdims=True)).astype(float)
        says &= shares.sum(axis=1) == 1
    given = np.where(says, weight * shares[:, k], 0.0)
    kept = given > 0
    if not kept.any():
        raise InputError(
            "Every class should be favored by some items",
            f"{labels.classes.tolist()[k]!r} is by none",
            "label some items, or leave the class out",
        )
    options = {"sample_weight": given[kept]} if weighted else {}
    return clone(estimator).fit(data[kept], **options)


def _read_prior(prior: Any, classes: NDArray[Any]) -> SparseMasses:
    """Masses (1, F) on the classes, from whatever a prior came as."""
    names, whole = classes.tolist(), (1 << len(classes)) - 1
    if prior is None:
        return SparseMasses(np.ones((1, 1)), np.array([whole]), len(names))
    if isinstance(prior, SparseMasses):
        given = prior
    elif isinstance(prior, Mapping):
        sets = {key if isinstance(key, tuple) else (key,): value for key, value in prior.items()}
        total = as_floats(list(sets.values()), "prior").sum()
        if not abs(total - 1.0) < 1e-6:
            raise InputError(
                "prior should be masses or probabilities that sum to one",
                f"they sum to {total:g}",
                "give what is missing to the tuple of all classes, which says nothing",
                parameter="prior",
                value=prior,
            )
        given = to_sparse(masses_from_dicts([sets], classes=names))
    else:
        shares = as_floats(prior, "prior")
        if shares.shape != (len(names),) or (shares < 0).any() or not shares.sum() > 0:
            raise InputError(
                f"prior should be {len(names)} probabilities, one for each of the classes {names}",
                f"has shape {shares.shape} or holds negative or no numbers",
                "give a list in the order of the sorted classes, or a dictionary",
                parameter="prior",
            )
        singles = 1 << np.arange(len(names))
        given = SparseMasses(shares[None, :] / shares.sum(), singles, len(names))
    values = np.atleast_2d(np.asarray(given.values, dtype=np.float64))
    if given.n_classes != len(names) or len(values) != 1:
        raise InputError(
            f"prior should be one mass function on {len(names)} classes",
            f"is {len(values)} on {given.n_classes}",
            f"give masses on sets of {names}",
            parameter="prior",
        )
    return to_sparse(normalize(SparseMasses(values, given.focal_sets, len(names))))
