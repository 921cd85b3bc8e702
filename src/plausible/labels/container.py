r"""What is known about the class of each of n items.

The knowledge about one item is a contour: the plausibility pl(k) in [0, 1] of each of K classes.

====================  ================================================================
a hard label          (0, 1, 0)
a set of classes      (1, 1, 0)
a doubtful label      (d, 1, d), with the doubt d
probabilities         (0.2, 0.6, 0.2), remembered as such
nothing               (1, 1, 1)
====================  ================================================================

A contour is enough for every estimator that maximizes the likelihood
:math:`\sum_k pl_k p_k`; it is known up to a factor, and such a label acts as a likelihood.
Probabilities are no likelihood: who says (0.6, 0.4) of five hundred like items means that three in
five are of the first class, and not that all are. Rows that were given as probabilities are
remembered (`is_probability`), and estimators take them for shares, by the cross-entropy
:math:`\sum_k p_k \log q_k`. Mass functions carry more than a contour, and are kept where they
were given.

References
----------
E. Come, L. Oukhellou, T. Denoeux, P. Aknin, Mixture model estimation with soft labels, Soft
Methods in Probability and Statistics 2008, 165-174.
P. Vannoorenberghe, Reasoning with unlabeled samples and belief functions (table I).
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from plausible import belief
from plausible.belief import SparseMasses
from plausible.checks import as_floats, as_list, check_ordered, counted
from plausible.errors import InputError
from plausible.labels import contours
from plausible.labels.constructors import Constructors
from plausible.labels.contours import check_conflict, check_contour
from plausible.labels.hardening import note_hardening
from plausible.labels.masses import check_fit, reordered_masses
from plausible.labels.notebooks import brief_list, labels_page
from plausible.labels.odd_classes import in_order_of
from plausible.labels.parsing import check_classes, check_same_classes, index_of_rows
from plausible.labels.warnings import ApproximationWarning, warn
from plausible.short_rows import row_max, row_sum

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]


class Labels(Constructors):
    """What is known about the classes of n items: a plausibility for each item and class.

    Use the constructors that say what the numbers mean: `from_crisp`, `from_sets`,
    `from_plausibility`, `from_probability`, `from_doubt`, `from_masses`, `unknown`.

    To numpy and to scikit-learn, labels look like the 1-D array of the most plausible classes,
    with -1 (or "" for names) where a row says nothing. So they pass through pipelines,
    `train_test_split`, `cross_validate` and grid search, and keep their degrees on the way.
    Classifiers of scikit-learn's own learn from the hard classes only, also voting, stacking,
    bagging, boosting, calibration and one-versus-rest, and `cross_val_predict` of probabilities: a
    `HardenedLabelsWarning` says so at that moment, and an error where a row says nothing.
    `SoftVotingClassifier`, `SoftBaggingClassifier`, `SoftStackingClassifier`,
    `EvidentialCalibratedClassifier` and `cross_val_beliefs` of `plausible.models` keep the degrees.

    Parameters
    ----------
    contour : array (n, K)
    classes : sequence of K distinct class names, all numbers or all strings
    masses : SparseMasses, optional
        Masses behind the contour, where they are known.
    conflict : array (n,), optional
        Conflict among the sources that were pooled.
    is_probability : bool array (n,), optional
        Rows whose numbers are probabilities; none by default.

    Attributes
    ----------
    classes : array (K,)
    contour : array (n, K), read-only
    conflict : array (n,) or None
    is_probability : bool array (n,)

    Examples
    --------
    >>> labels = Labels.from_sets([{"cat"}, {"cat", "dog"}, {"dog"}])
    >>> labels.contour
    array([[1., 0.],
           [1., 1.],
           [0., 1.]])
    >>> import numpy as np
    >>> np.asarray(labels)
    array(['cat', '', 'dog'], dtype='<U3')
    """

    def __init__(
        self,
        contour: ArrayLike,
        classes: Sequence[Hashable] | NDArray[Any],
        masses: SparseMasses | None = None,
        conflict: ArrayLike | None = None,
        is_probability: ArrayLike | None = None,
    ) -> None:
        check_ordered(classes)
        self.classes = check_classes(classes)
        self.classes.flags.writeable = False
        given = as_floats(in_order_of(contour, self.classes), "contour")
        self.contour = check_contour(given, len(self.classes))
        self.contour.flags.writeable = False
        if masses is not None:
            check_fit(masses, self.contour.shape)
        self._masses = masses
        self._exact = masses is not None
        self.conflict = check_conflict(conflict, len(self.contour))
        self._shares = contours.check_shares(is_probability, self.contour)
        self._crisp: NDArray[Any] | None = None

    @classmethod
    def concatenate(cls, parts: Iterable[Self]) -> Self:
        """Labels of several groups of items, one after the other.

        Examples
        --------
        >>> a = Labels.from_crisp(["x", "y"])
        >>> len(Labels.concatenate([a, Labels.unknown(3, a.classes)]))
        5
        """
        groups = [] if isinstance(parts, Labels) else as_list(parts, "parts", "Labels")
        if not groups or not all(isinstance(group, Labels) for group in groups):
            raise InputError(
                "concatenate needs a list of Labels, at least one group",
                "something else was given",
                "write Labels.concatenate([first, second])",
                parameter="parts",
            )
        check_same_classes([group.classes.tolist() for group in groups])
        groups = [group.reorder(groups[0].classes.tolist()) for group in groups]
        result = cls(np.concatenate([g.contour for g in groups]), groups[0].classes)
        result._exact = all(g._exact for g in groups)
        if result._exact and any(g._masses is not None for g in groups):
            result._masses = belief.concatenate([g.masses() for g in groups])
        if any(g._shares is not None for g in groups):
            result._shares = np.concatenate([g.is_probability for g in groups])
        if all(g.conflict is not None for g in groups):
            result.conflict = np.concatenate([g.conflict for g in groups])
        return result

    # What labels say.

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @property
    def has_masses(self) -> bool:
        """Whether the masses are known, and not only the contour (never beyond 62 classes)."""
        return self._exact and self.n_classes <= belief.MAX_CLASSES

    @property
    def is_hard(self) -> BoolArray:
        """Rows in which one class alone is possible."""
        return np.asarray(row_sum(self.contour > 0) == 1)

    @property
    def is_probability(self) -> BoolArray:
        """Rows given as probabilities of several classes; hard ones have no need of it."""
        return np.zeros(len(self), dtype=bool) if self._shares is None else self._shares.copy()

    @property
    def is_unknown(self) -> BoolArray:
        """Rows that favor no class over another."""
        return contours.unknown_rows(self.contour)

    @property
    def informativeness(self) -> FloatArray:
        """How much each row says, in [0, 1]: 1 - min / max of its contour.

        One if some class is excluded, ``1 - doubt`` for a doubted label, zero if nothing is known.
        """
        return contours.informativeness(self.contour)

    @property
    def imprecision(self) -> FloatArray:
        """How many classes are left, less one, as a share: 0 for one class, 1 for nothing known.

        Classes count by their plausibility relative to the most plausible one.
        """
        return contours.imprecision(self.contour)

    def scaled(self) -> FloatArray:
        """Contour with the most plausible class of each row at one."""
        return self.contour / row_max(self.contour)[:, None]

    def masses(self) -> SparseMasses:
        """Mass functions behind the labels.

        Where only plausibilities are known, these are the least committed masses that have them
        (consonant, with nested focal sets), and an `ApproximationWarning` says so.

        Examples
        --------
        >>> Labels.from_doubt(["a", "b"], 0.1).masses().to_dense()
        array([[0. , 0.9, 0. , 0.1],
               [0. , 0. , 0.9, 0.1]])
        """
        if self._masses is not None:
            return self._masses
        if not self._exact:
            warn(
                "Only plausibilities are known, so these masses are their least committed version "
                "(consonant); give masses with Labels.from_masses to have them exactly.",
                ApproximationWarning,
            )
        return belief.consonant(self.contour)

    def crisp(self) -> NDArray[Any]:
        """Most plausible class of each row; -1 or "" where the row says nothing.

        Ties between some but not all classes go to the first of them. If -1 is itself a class, a
        number below all classes stands for "nothing".

        Examples
        --------
        >>> Labels.from_plausibility([[0.2, 1.0], [1.0, 1.0]]).crisp()
        array([ 1, -1])
        """
        if self._crisp is None:
            best = self._shown_classes[self.contour.argmax(axis=1)]
            self._crisp = np.where(self.is_unknown, np.asarray(self.marker_of_unknown), best)
        return self._crisp.copy()

    @property
    def marker_of_unknown(self) -> str | int:
        """What stands for "nothing known" in `crisp`: "" or -1, or less where -1 is a class."""
        names = self._shown_classes
        if names.dtype.kind == "U":
            return ""
        return -1 if -1 not in names else int(np.floor(names.min())) - 1

    @property
    def _shown_classes(self) -> NDArray[Any]:
        """The classes (K,) as numpy sees them."""
        return self.classes.astype(np.int64) if self.classes.dtype == bool else self.classes

    def to_dict(self) -> dict[Any, FloatArray]:
        """Columns by class name, ready for a data frame: ``pandas.DataFrame(labels.to_dict())``.

        Examples
        --------
        >>> Labels.from_crisp(["a", "b"]).to_dict()
        {'a': array([1., 0.]), 'b': array([0., 1.])}
        """
        return {name: self.contour[:, k].copy() for k, name in enumerate(self.classes.tolist())}

    # Operations that give other labels.

    def discount(self, doubt: ArrayLike) -> Self:
        """Trust the labels less: a part `doubt` of each becomes "anything is possible".

        Probabilities that are doubted are none any more, but plausibilities.

        Parameters
        ----------
        doubt : float or array-like (n,) in [0, 1]

        Examples
        --------
        >>> Labels.from_crisp(["a", "b"]).discount(0.2).contour
        array([[1. , 0.2],
               [0.2, 1. ]])
        """
        delta = contours.check_doubt(doubt, len(self))
        masses = None if self._masses is None else belief.discount(self._masses, delta)
        made = self._with(contours.discounted(self.contour, delta), masses)
        if made._shares is not None:
            made._shares = made._shares & (delta == 0)
        return made

    def condition(self, classes: Iterable[Hashable]) -> Self:
        """Learn for sure that every class is among the given ones; the others become impossible.

        Examples
        --------
        >>> Labels.unknown(1, classes=["a", "b", "c"]).condition(["a", "c"]).contour
        array([[1., 0., 1.]])
        """
        inside = contours.inside_of(self.classes, classes)
        contour = contours.conditioned(self.contour, inside)
        masses = self._masses
        if masses is not None:
            masses = belief.condition(masses, belief.sets_from_membership(inside))
        made = self._with(contour, masses)
        if made._shares is not None:
            made._shares = contours.check_shares(made._shares, contour)
        return made

    def reorder(self, classes: Sequence[Hashable]) -> Self:
        """The same labels with the classes in another order, perhaps with more classes.

        A new class is as plausible as the least plausible of the others: impossible for a hard
        label, fully plausible where nothing is known. (Labels on a single class are hard ones.)
        Probabilities leave it none. A
        class can only be left out if it is impossible everywhere.

        Examples
        --------
        >>> Labels.from_crisp(["a", "b"]).reorder(["b", "c", "a"]).contour
        array([[0., 0., 1.],
               [1., 0., 0.]])
        """
        names = check_classes(classes)
        place = contours.places(self.classes.tolist(), names.tolist(), self.contour)
        same = self._masses is not None and sorted(place) == list(range(self.n_classes))
        masses = reordered_masses(self.masses(), place) if same else None
        return type(self)(
            contours.reordered(self.contour, place, self._shares), names, masses
        )._also(self)

    def rename(self, names: Mapping[Any, Hashable] | Sequence[Hashable]) -> Self:
        """The same labels under other class names: a mapping, or all names in order.

        Examples
        --------
        >>> Labels.from_crisp(["a", "b"]).rename({"a": "cat"}).classes
        array(['cat', 'b'], dtype='<U3')
        """
        if isinstance(names, Mapping):
            names = contours.renamed(self.classes, names)
        return type(self)(self.contour, names, self._masses)._also(self)

    # Labels as numpy, scikit-learn and notebooks see them: a 1-D array of classes.

    def __len__(self) -> int:
        return len(self.contour)

    @property
    def shape(self) -> tuple[int]:
        """(n,): to numpy, labels are one-dimensional."""
        return (len(self.contour),)

    @property
    def ndim(self) -> int:
        """One: to numpy, labels are one-dimensional."""
        return 1

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the classes, as numpy sees them."""
        return self.crisp().dtype

    def __iter__(self) -> Iterator[Any]:
        return iter(self.crisp().tolist())

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("Labels cannot be seen as an array without copying; drop copy=False.")
        note_hardening(self)
        return self.crisp().astype(dtype) if dtype is not None else self.crisp()

    def __getitem__(self, rows: Any) -> Self:
        """Select items by position, slice, list of positions or mask; always `Labels`."""
        rows = index_of_rows(rows)
        masses = None if self._masses is None else self._masses[rows]
        part = self._with(self.contour[rows], masses)
        part.conflict = None if self.conflict is None else self.conflict[rows]
        part._shares = None if self._shares is None else self._shares[rows]
        return part

    def __eq__(self, other: object) -> bool:
        """Whether all is the same: classes, contours and kinds, masses where both know them."""
        if not isinstance(other, Labels):
            return NotImplemented
        if len(self) != len(other) or self.classes.tolist() != other.classes.tolist():
            return False
        if not np.allclose(self.contour, other.contour, rtol=0.0, atol=1e-12):
            return False
        if not np.array_equal(self.is_probability, other.is_probability):
            return False
        if (self._masses is None and other._masses is None) or not (self._exact and other._exact):
            return True
        both = belief.jousselme_distance(self.masses(), other.masses())
        return bool(np.max(both, initial=0.0) < 1e-7)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        counts = f"{counted(len(self), 'item')}, classes {brief_list(self.classes)}"
        precise = int(self.is_hard.sum())
        unknown = int(self.is_unknown.sum())
        shares = f", {int(self._shares.sum())} probabilities" if self._shares is not None else ""
        return f"<Labels: {counts}; {precise} hard, {unknown} unknown{shares}>"

    def _repr_html_(self) -> str:
        return labels_page(self)

    # Copies that share what was checked already.

    @classmethod
    def _trusted(
        cls, contour: FloatArray, classes: NDArray[Any], masses: SparseMasses | None = None
    ) -> Self:
        """Labels from checked parts that nobody else holds; their masses are known."""
        made = object.__new__(cls)
        made.classes, made.contour, made._masses = classes, contour, masses
        made._exact, made.conflict, made._crisp, made._shares = True, None, None, None
        made.classes.flags.writeable = made.contour.flags.writeable = False
        return made

    def _with(self, contour: FloatArray, masses: SparseMasses | None) -> Self:
        """Labels with other contours that need no check."""
        made = self._trusted(contour, self.classes, masses)
        made._exact, made.conflict, made._shares = self._exact, self.conflict, self._shares
        return made

    def _also(self, other: Self) -> Self:
        """What is known besides the contour of `other`."""
        self._exact = other._exact and (other._masses is None) == (self._masses is None)
        self.conflict, self._shares = other.conflict, other._shares
        return self

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({"_shares": None, **state})  # labels of before did not know
        self.contour.flags.writeable = False
        self.classes.flags.writeable = False
