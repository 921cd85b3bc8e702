r"""What is believed about items: one computation, and every kind of answer from it.

Beliefs come in two ways. A classifier that gives masses has all answers at once: bets are pignistic
probabilities, plausibilities the contour. One that gives log probabilities has the bets p; of all
mass functions that bet like this, the least committed one is taken, whose focal sets are nested and
whose plausibilities are

.. math:: pl_k = \sum_l \min(p_k, p_l).

Either way the answers tell one story: masses sum to one, the plausibilities are theirs, the bets
are their pignistic probabilities, and bel <= bet <= pl.

References
----------
D. Dubois, H. Prade, P. Smets, A definition of subjective possibility, International Journal of
Approximate Reasoning 48 (2008) 352-364.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.pipeline import Pipeline

from plausible.base.class_order import align_loss
from plausible.base.normalization import log_normalized
from plausible.base.notebooks import beliefs_page
from plausible.belief import (
    MAX_CLASSES,
    Decision,
    SparseMasses,
    belief,
    belief_of_contour,
    concatenate,
    consonant,
    contour,
    decide,
    least_committed,
    normalize,
    not_ruled_out,
    pignistic,
    to_sparse,
)
from plausible.errors import InputError
from plausible.labels import Labels

FloatArray = NDArray[np.float64]

BETTING_RULES = ("pignistic",)


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What is believed about the classes of n items; made by `believe`, or by its constructors.

    Attributes
    ----------
    classes : array (K,)
    log_probability : array (n, K) or None
        Log bets, where beliefs came as these.
    given_masses : SparseMasses or None
        Normalized masses, where beliefs came as these.
    given_sets : bool array (n, K) or None
        Sets of classes, where a classifier has a way of its own to them (`ConformalClassifier`).

    Examples
    --------
    >>> beliefs = Beliefs.from_probability([[0.6, 0.3, 0.1], [0.4, 0.35, 0.25]], ["a", "b", "c"])
    >>> beliefs.contour
    array([[1.  , 0.7 , 0.3 ],
           [1.  , 0.95, 0.75]])
    >>> masses = beliefs.masses()
    >>> masses.focal_sets, masses.values[0].round(10)  # {a}, {a, b}, {a, b, c}
    (array([1, 3, 7]), array([0.3, 0.4, 0.3]))
    >>> beliefs.decide(reject=0.5).names()
    ['a', None]
    """

    classes: NDArray[Any]
    log_probability: FloatArray | None = None
    given_masses: SparseMasses | None = None
    given_sets: NDArray[np.bool_] | None = None

    @classmethod
    def from_log_evidence(cls, evidence: FloatArray, classes: ArrayLike) -> "Beliefs":
        """From log probabilities (n, K), each row up to a constant.

        Examples
        --------
        >>> Beliefs.from_log_evidence(np.log([[3.0, 1.0]]), ["a", "b"]).probability
        array([[0.75, 0.25]])
        """
        return cls(np.asarray(classes), log_probability=log_normalized(evidence))

    @classmethod
    def from_probability(cls, probability: ArrayLike, classes: ArrayLike) -> "Beliefs":
        """From bets (n, K), each row summing to one.

        Examples
        --------
        >>> Beliefs.from_probability([[0.5, 0.5]], ["a", "b"]).predicted
        array(['a'], dtype='<U1')
        """
        with np.errstate(divide="ignore"):
            logs = np.log(np.asarray(probability, dtype=np.float64))
        return cls(np.asarray(classes), log_probability=log_normalized(logs))

    @classmethod
    def from_masses(cls, masses: SparseMasses, classes: ArrayLike) -> "Beliefs":
        """From mass functions (n, F); mass on the empty set is normalized away.

        Examples
        --------
        >>> masses = SparseMasses([[0.2, 0.8]], focal_sets=[1, 3], n_classes=2)
        >>> Beliefs.from_masses(masses, ["a", "b"]).probability
        array([[0.6, 0.4]])
        """
        if (masses.focal_sets == 0).any():
            masses = to_sparse(normalize(masses, on_conflict="vacuous"))
        return cls(np.asarray(classes), given_masses=masses)

    @classmethod
    def concatenate(cls, parts: Sequence["Beliefs"]) -> "Beliefs":
        """Beliefs about the items of one part after the other, all about the same classes.

        Examples
        --------
        >>> one = Beliefs.from_probability([[0.9, 0.1]], ["a", "b"])
        >>> other = Beliefs.from_probability([[0.2, 0.8]], ["a", "b"])
        >>> Beliefs.concatenate([one, other]).predicted
        array(['a', 'b'], dtype='<U1')
        """
        if len(parts) == 0 or any(
            not np.array_equal(part.classes, parts[0].classes) for part in parts
        ):
            raise InputError(
                "Beliefs should be about the same classes, in one order",
                "there are none" if len(parts) == 0 else "their classes differ",
                "ask one model",
            )
        if len(parts) == 1:
            return parts[0]
        if all(part.log_probability is not None for part in parts):
            return cls(parts[0].classes, np.concatenate([p.log_probability for p in parts]))
        masses = concatenate([part.masses() for part in parts])
        return cls(parts[0].classes, given_masses=masses)

    def __len__(self) -> int:
        source = self.given_masses if self.log_probability is None else self.log_probability
        assert source is not None
        return len(source)

    def __getitem__(self, rows: Any) -> "Beliefs":
        """Beliefs about some of the items, by a slice, numbers or a mask."""
        logs, masses, sets = self.log_probability, self.given_masses, self.given_sets
        return Beliefs(
            self.classes,
            None if logs is None else logs[rows],
            None if masses is None else masses[rows],
            None if sets is None else sets[rows],
        )

    def _repr_html_(self) -> str:
        return beliefs_page(self)

    @cached_property
    def probability(self) -> FloatArray:
        """Bets (n, K): they sum to one, and lie between belief and plausibility."""
        if self.given_masses is not None:
            return pignistic(self.given_masses)
        assert self.log_probability is not None
        return np.exp(self.log_probability)

    @cached_property
    def contour(self) -> FloatArray:
        """Plausibilities (n, K) of the classes."""
        if self.given_masses is not None:
            return contour(self.given_masses)
        return least_committed(self.probability)

    @cached_property
    def belief(self) -> FloatArray:
        """Degrees of belief (n, K) in each class."""
        if self.given_masses is not None:
            return belief(self.given_masses, 1 << np.arange(len(self.classes), dtype=np.int64))
        return belief_of_contour(self.contour)

    def masses(self) -> SparseMasses:
        """Mass functions (n, F); see `Labels.masses`."""
        if self.given_masses is not None:
            return self.given_masses
        return consonant(self.contour)

    @cached_property
    def best(self) -> NDArray[np.intp]:
        """Number (n,) of the class with the best bet."""
        bets = self.probability if self.log_probability is None else self.log_probability
        return bets.argmax(axis=1)

    @cached_property
    def predicted(self) -> NDArray[Any]:
        """Class (n,) with the best bet."""
        return self.classes[self.best]

    @cached_property
    def sets(self) -> NDArray[np.bool_]:
        """Classes (n, K) that cannot be ruled out: by interval dominance, unless they are given."""
        if self.given_sets is not None:
            return self.given_sets
        if self.given_masses is not None:
            return self.decide("interval_dominance").chosen
        return not_ruled_out(self.contour)

    def decide(self, rule: str = "pignistic", **options: Any) -> Decision:
        """A class, a set of classes, or a refusal, for each item: see `plausible.belief.decide`.

        A `loss` may also be a dict {act: {class: loss}}, or a data frame with classes as columns.

        Examples
        --------
        >>> beliefs = Beliefs.from_probability([[0.9, 0.1], [0.6, 0.4]], ["cat", "dog"])
        >>> beliefs.decide(reject=0.3).names()
        ['cat', None]
        """
        if options.get("loss") is not None:
            options["loss"] = align_loss(None, options["loss"], self.classes)
        if self.given_masses is not None:
            return decide(self.given_masses, rule, classes=self.classes, **options)
        if isinstance(rule, str) and rule in BETTING_RULES and not options.get("unknown"):
            return decide(
                self.probability, rule, kind="probability", classes=self.classes, **options
            )
        return decide(self.contour, rule, kind="plausibility", classes=self.classes, **options)

    def labels(self) -> Labels:
        """The beliefs as labels: masses where they are known, else the bets.

        Examples
        --------
        >>> Beliefs.from_probability([[0.9, 0.1]], ["cat", "dog"]).labels().contour
        array([[0.9, 0.1]])
        """
        if self.given_masses is not None:
            return Labels.from_masses(self.given_masses, self.classes.tolist())
        return Labels.from_probability(self.probability, self.classes.tolist())


def believe(model: Any, X: Any, labels: Any = None) -> Beliefs:
    """Ask a fitted classifier what it believes; of one with bets alone, these are taken.

    Parameters
    ----------
    model : classifier, or pipeline that ends in one
        With a method `believe` (all of this library), or, in this order, `predict_mass`,
        `predict_plausibility` or `predict_proba`.
    X : array-like (n, d)
    labels : Labels, or all that `as_labels` takes, optional
        What is known about the items already, for classifiers with a method `believe`.

    Returns
    -------
    Beliefs

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from plausible.models import PartialLogisticRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]
    >>> model = make_pipeline(StandardScaler(), PartialLogisticRegression()).fit(X, y)
    >>> believe(model, [[0.5], [1.5]]).contour.round(2)
    array([[1.  , 0.45],
           [1.  , 1.  ]])
    """
    if isinstance(model, type):
        raise InputError(
            "model should be a fitted classifier",
            f"the class {model.__name__} itself was given",
            f"write {model.__name__}().fit(X, y)",
            parameter="model",
        )
    if isinstance(model, Pipeline) and len(model) > 1:
        return believe(model[-1], model[:-1].transform(X), labels)
    if callable(getattr(model, "believe", None)):
        return model.believe(X, labels)
    if labels is not None:
        raise InputError(
            "labels of new items should go to a classifier that takes them",
            f"{type(model).__name__} has no method believe",
            "leave them out",
        )
    if not hasattr(model, "classes_") or not (
        hasattr(model, "predict_mass") or hasattr(model, "predict_proba")
    ):
        raise InputError(
            "model should be a fitted classifier with predict_proba and classes_",
            f"{type(model).__name__} lacks one of them",
            "fit it, or give another model",
            parameter="model",
        )
    if hasattr(model, "predict_mass"):
        return Beliefs.from_masses(model.predict_mass(X), model.classes_)
    if hasattr(model, "predict_plausibility") and len(model.classes_) <= MAX_CLASSES:
        return Beliefs.from_masses(consonant(model.predict_plausibility(X)), model.classes_)
    return Beliefs.from_probability(model.predict_proba(X), model.classes_)
