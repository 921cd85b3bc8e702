"""What ensembles share: members that are classifiers of any kind, and their bets."""

import warnings
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_classifier
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted

from plausible.base import (
    EvidenceClassifier,
    FarPointWarning,
    believe,
    check_labels_and_weights,
    takes_labels,
)
from plausible.checks import check_n_jobs, name_rows
from plausible.errors import InputError
from plausible.labels import Labels
from plausible.models.gaussian import DiscriminantClassifier
from plausible.models.learners import read_features, take_rows
from plausible.models.logistic import PartialLogisticRegression

FloatArray = NDArray[np.float64]
Named = list[tuple[str, Any]]


class MemberRows(NamedTuple):
    """Rows to learn from."""

    X: Any
    labels: Labels
    weight: FloatArray

    def counted(self) -> "MemberRows":
        """The rows that have weight."""
        kept = self.weight > 0.0
        return MemberRows(take_rows(self.X, kept), self.labels[kept], self.weight[kept])


def bets_of(model: Any, X: Any, classes: NDArray[Any]) -> FloatArray:
    """Bets (n, K) of a fitted classifier, zero for classes that it has not met.

    One that loses itself far from all that it knows, and bets on nothing, bets on all alike.
    """
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        if not takes_labels(model):
            warnings.simplefilter("ignore", RuntimeWarning)  # of others' arithmetic
        beliefs = believe(model, X)
        found = beliefs.probability
    lost = np.asarray(~np.isfinite(found).all(axis=1))
    if lost.any():
        warnings.warn(
            f"Members should bet on every item, but {type(model).__name__} has no number for "
            f"{name_rows(lost)}, where all classes count as equally likely; scale the features.",
            FarPointWarning,
            stacklevel=7,
        )
        found = np.where(lost[:, None], 1 / found.shape[1], found)
    place = {name: k for k, name in enumerate(classes.tolist())}
    bets = np.zeros((X.shape[0], len(classes)))
    bets[:, [place[name] for name in beliefs.classes.tolist()]] = found
    return bets


def check_members(members: list[Any]) -> None:
    """Refuse members that are no classifiers, or have no bets."""
    for member in members:
        is_one = hasattr(member, "fit") and not isinstance(member, type) and is_classifier(member)
        if not is_one:
            raise InputError(
                "Members of an ensemble should be classifiers",
                f"{member!r} is not one",
                "give one with predict_proba",
                value=member,
            )
        if not any(hasattr(member, name) for name in ("believe", "predict_mass", "predict_proba")):
            raise InputError(
                "Members of an ensemble should bet on classes",
                f"{type(member).__name__} has no predict_proba",
                "wrap it into EvidentialCalibratedClassifier, which calibrates its scores",
            )


def pairs(estimators: Any) -> Named:
    """Names and members, none where they are given in no such form."""
    try:
        return [(name, member) for name, member in estimators or []]
    except (TypeError, ValueError):
        return []


def check_names(estimators: Any, own: dict[str, Any]) -> None:
    """Refuse what are not pairs of a name and a member, and names by which none can be reached."""
    names = [name for name, _ in pairs(estimators)]
    bad = [
        name
        for name in names
        if not isinstance(name, str) or name in own or "__" in name or names.count(name) > 1
    ]
    if bad or not names:
        came = f"the name {bad[0]!r} came" if bad else f"{estimators!r} came"
        raise InputError(
            "estimators should be pairs of a name and a classifier, each name once, no "
            "parameter and without __",
            f"{came}",
            "write [('first', classifier), ...]",
            parameter="estimators",
        )


class Ensemble(EvidenceClassifier):
    """Base of classifiers that ask others: `_members` before fit, `_bets` after it."""

    n_jobs: int | None

    def _members(self) -> list[Any]:
        """Unfitted members."""
        raise NotImplementedError

    def _check_members(self) -> None:
        check_members(self._members())

    def _bets(self, X: Any) -> FloatArray:
        """Bets (n, K) on checked items."""
        raise NotImplementedError

    def _training(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> MemberRows:
        """What fit does first: members and data are checked."""
        self._check_members()
        check_n_jobs(self.n_jobs)
        data = read_features(self, X)
        labels, weight = check_labels_and_weights(self, y, sample_weight, data.shape[0], X)
        if not (weight > 0.0).any():
            raise InputError(
                "At least one row should count",
                "all labels have zero sample weight",
                "give some rows a positive weight",
            )
        self.classes_ = labels.classes
        return MemberRows(data, labels, weight)

    def _log_evidence(self, X: Any) -> FloatArray:
        with np.errstate(divide="ignore"):
            return np.log(self._bets(X))

    def _finite_evidence(self, X: Any) -> FloatArray:
        return self._log_evidence(X)  # bets of zero are certain

    def _read(self, X: Any) -> Any:
        check_is_fitted(self)
        return read_features(self, X, reset=False)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = [get_tags(member).input_tags for member in self._members()]
        tags.input_tags.sparse = all(one.sparse for one in inner)
        tags.input_tags.allow_nan = all(one.allow_nan for one in inner)
        return tags


class NamedEnsemble(Ensemble):
    """Base of ensembles of different members, whose parameters are reached by their names."""

    estimators: Named | None

    def _named(self) -> Named:
        if self.estimators is None:
            return [
                ("discriminant", DiscriminantClassifier()),
                ("logistic", PartialLogisticRegression()),
            ]
        return list(self.estimators)

    def _members(self) -> list[Any]:
        return [member for _, member in self._named()]

    def _training(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> MemberRows:
        if self.estimators is not None:
            check_names(self.estimators, self.get_params(deep=False))
        return super()._training(X, y, sample_weight)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters, and with `deep` the members and theirs: ``name`` and ``name__parameter``."""
        params = super().get_params(deep)
        for name, member in pairs(self.estimators) if deep else []:
            params[name] = member
            inner = member.get_params() if hasattr(member, "get_params") else {}
            params |= {f"{name}__{key}": value for key, value in inner.items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters, members by their names, and parameters of members."""
        if "estimators" in params:
            self.estimators = params.pop("estimators")
        own = self.get_params(deep=False)
        named = pairs(self.estimators)
        new = {name: params.pop(name) for name, _ in named if name in params and name not in own}
        if new:
            self.estimators = [(name, new.get(name, member)) for name, member in named]
        return super().set_params(**params)
