r"""What is known about the class of each of n items.

The knowledge about one item is a contour: the plausibility pl(k) in [0, 1] of each of K classes.

====================  ================================================================
a hard label          (0, 1, 0)
a set of classes      (1, 1, 0)
a doubtful label      (d, 1, d), with the doubt d
probabilities         (0.2, 0.6, 0.2)
nothing               (1, 1, 1)
====================  ================================================================

A contour is enough for every estimator that maximises the likelihood
:math:`\sum_k pl_k p_k`; it is known up to a factor, so that a label acts as a likelihood and not as
a posterior. Mass functions carry more, and are kept where they were given.

References
----------
E. Come, L. Oukhellou, T. Denoeux, P. Aknin, Mixture model estimation with soft labels, Soft
Methods in Probability and Statistics 2008, 165-174.
P. Vannoorenberghe, Reasoning with unlabeled samples and belief functions (table I).
"""

import html
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from plausible import belief
from plausible.belief import MAX_CLASSES, SparseMasses
from plausible.belief.errors import as_floats, name_rows
from plausible.belief.forms import check_unit_interval, check_values
from plausible.labels.parsing import (
    NOTHING,
    check_classes,
    check_contour,
    codes_of,
    contour_of_sets,
    find_missing,
)
from plausible.labels.warnings import ApproximationWarning, warn

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]


class Labels:
    """What is known about the classes of n items: a plausibility for each item and class.

    Use the constructors that say what the numbers mean: `from_crisp`, `from_sets`,
    `from_plausibility`, `from_probability`, `from_doubt`, `from_masses`, `unknown`.

    To numpy and to scikit-learn, labels look like the 1-D array of the most plausible classes,
    with -1 (or "" for names) where a row says nothing. So they pass through pipelines,
    `train_test_split`, cross-validation and grid search, and keep their degrees on the way.

    Parameters
    ----------
    contour : array (n, K)
    classes : sequence of K distinct class names, all numbers or all strings
    masses : SparseMasses, optional
        Masses behind the contour, where they are known.
    conflict : array (n,), optional
        Conflict among the sources that were pooled.

    Attributes
    ----------
    classes : array (K,)
    contour : array (n, K), read-only
    conflict : array (n,) or None

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
        _exact: bool = False,
    ) -> None:
        self.classes = check_classes(classes)
        self.classes.flags.writeable = False
        self.contour = check_contour(as_floats(contour, "contour"), len(self.classes))
        self.contour.flags.writeable = False
        self._masses = masses
        self._exact = _exact or masses is not None
        self.conflict = None if conflict is None else as_floats(conflict, "conflict")
        self._crisp: NDArray[Any] | None = None

    # -- Constructors ---------------------------------------------------------------------------

    @classmethod
    def from_crisp(
        cls, y: ArrayLike, classes: Sequence[Hashable] | None = None, missing: Any = NOTHING
    ) -> "Labels":
        """Hard labels, of which some may be missing.

        Parameters
        ----------
        y : array-like (n,)
        classes : sequence, optional
            Order of the classes; by default those that occur, sorted.
        missing : value or list of values
            What stands for "not labelled": None, ``np.nan``, "" or -1. Nothing does unless you say
            so.

        Examples
        --------
        >>> Labels.from_crisp([0, 1, -1], missing=-1).contour
        array([[1., 0.],
               [0., 1.],
               [1., 1.]])
        """
        values, is_missing = find_missing(y, missing)
        names, codes = codes_of(values, ~is_missing, classes)
        contour = np.zeros((len(values), len(names)))
        contour[np.arange(len(values)), codes] = 1.0
        contour[is_missing] = 1.0
        return cls(contour, names, _exact=True)

    @classmethod
    def from_sets(
        cls, sets: Iterable[Any] | ArrayLike, classes: Sequence[Hashable] | None = None
    ) -> "Labels":
        """Sets of possible classes, one for each item.

        Parameters
        ----------
        sets : iterable of collections of class names, or bool array (n, K)
            None stands for all classes.
        classes : sequence, optional
            Order of the classes; by default those that occur, sorted.

        Examples
        --------
        >>> Labels.from_sets([{"a"}, {"b", "c"}, None]).contour
        array([[1., 0., 0.],
               [0., 1., 1.],
               [1., 1., 1.]])
        """
        if isinstance(sets, np.ndarray) and sets.dtype == bool:
            return cls(sets, _names_or_numbers(classes, sets), _exact=True)
        contour, names = contour_of_sets(list(sets), classes)  # type: ignore[arg-type]
        return cls(contour, names, _exact=True)

    @classmethod
    def from_plausibility(
        cls, plausibility: ArrayLike, classes: Sequence[Hashable] | None = None
    ) -> "Labels":
        """Plausibilities of the classes, (n, K) in [0, 1]: 1 possible without reserve, 0 excluded.

        Examples
        --------
        >>> Labels.from_plausibility([[1.0, 0.3], [0.2, 1.0]], classes=["a", "b"]).contour
        array([[1. , 0.3],
               [0.2, 1. ]])
        """
        return cls(plausibility, _names_or_numbers(classes, plausibility))

    @classmethod
    def from_probability(
        cls, probability: ArrayLike, classes: Sequence[Hashable] | None = None
    ) -> "Labels":
        """Probabilities of the classes, (n, K), each row summing to one.

        The plausibility of a class is then its probability, and estimators multiply it by the
        prior of the class: the label acts as a likelihood, not as a posterior.

        Examples
        --------
        >>> Labels.from_probability([[0.2, 0.8]], classes=["a", "b"]).contour
        array([[0.2, 0.8]])
        """
        names = _names_or_numbers(classes, probability)
        values = check_values(
            as_floats(probability, "probabilities"), "probabilities", "divide each row by its sum"
        )
        if len(names) > MAX_CLASSES:
            return cls(values, names)
        return cls(values, names, SparseMasses(values, 1 << np.arange(len(names)), len(names)))

    @classmethod
    def from_doubt(
        cls,
        y: ArrayLike,
        doubt: ArrayLike,
        classes: Sequence[Hashable] | None = None,
        missing: Any = NOTHING,
    ) -> "Labels":
        """Hard labels that are doubted: plausibility 1 for the label, `doubt` for the others.

        Parameters
        ----------
        y : array-like (n,)
        doubt : float or array-like (n,) in [0, 1]
            0 sure, 1 says nothing.
        classes, missing
            As for `from_crisp`.

        Examples
        --------
        >>> Labels.from_doubt(["a", "b"], doubt=[0.1, 0.6]).contour
        array([[1. , 0.1],
               [0.6, 1. ]])
        """
        return cls.from_crisp(y, classes, missing).discount(doubt)

    @classmethod
    def from_masses(
        cls,
        masses: ArrayLike | SparseMasses | Sequence[Mapping[Any, float]],
        classes: Sequence[Hashable] | None = None,
    ) -> "Labels":
        """Mass functions: dense (n, 2^K), `SparseMasses`, or dictionaries {set of names: mass}.

        Examples
        --------
        >>> Labels.from_masses([{("a",): 0.7, ("a", "b"): 0.3}], classes=["a", "b"]).contour
        array([[1. , 0.3]])
        """
        if isinstance(masses, Sequence) and len(masses) and isinstance(masses[0], Mapping):
            if classes is None:
                found = {name for row in masses for key in row for name in key}  # type: ignore[union-attr]
                classes = sorted(check_classes(found).tolist())
            sparse = belief.masses_from_dicts(masses, list(classes))  # type: ignore[arg-type]
        else:
            sparse = belief.to_sparse(masses)  # type: ignore[arg-type]
        if sparse.values.ndim != 2:
            raise ValueError(
                f"masses should be two-dimensional, one row for each item, but have shape "
                f"{sparse.shape}; write [masses] for a single item."
            )
        names = list(range(sparse.n_classes)) if classes is None else classes
        return cls(belief.contour(sparse), names, sparse)

    @classmethod
    def unknown(cls, n: int, classes: Sequence[Hashable]) -> "Labels":
        """Nothing known about n items.

        Examples
        --------
        >>> Labels.unknown(2, classes=["a", "b"]).is_unknown
        array([ True,  True])
        """
        return cls(np.ones((n, len(classes))), classes, _exact=True)

    # -- What they say --------------------------------------------------------------------------

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @property
    def has_masses(self) -> bool:
        """Whether the masses are known, and not only the contour."""
        return self._exact

    @property
    def is_unknown(self) -> BoolArray:
        """Rows that favour no class over another."""
        if self.n_classes == 1:
            return np.zeros(len(self), dtype=bool)
        return np.asarray((self.contour == self.contour[:, :1]).all(axis=1))

    @property
    def informativeness(self) -> FloatArray:
        """How much each row says, in [0, 1]: 1 - min / max of its contour.

        One if some class is excluded, ``1 - doubt`` for a doubted label, zero if nothing is known.
        """
        if self.n_classes == 1:
            return np.ones(len(self))
        return 1.0 - self.contour.min(axis=1) / self.contour.max(axis=1)

    @property
    def imprecision(self) -> FloatArray:
        """How many classes are left, less one, as a share: 0 for one class, 1 for nothing known.

        Classes count by their plausibility relative to the most plausible one.
        """
        if self.n_classes == 1:
            return np.zeros(len(self))
        left = self.contour.sum(axis=1) / self.contour.max(axis=1)
        return (left - 1.0) / (self.n_classes - 1)

    def scaled(self) -> FloatArray:
        """Contour with the most plausible class of each row at one."""
        return self.contour / self.contour.max(axis=1, keepdims=True)

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
            names = self.classes.astype(np.int64) if self.classes.dtype == bool else self.classes
            best = names[self.contour.argmax(axis=1)]
            self._crisp = np.where(self.is_unknown, _marker_of_unknown(names), best)
        return self._crisp.copy()

    def to_dict(self) -> dict[Any, FloatArray]:
        """Columns by class name, ready for a data frame: ``pandas.DataFrame(labels.to_dict())``.

        Examples
        --------
        >>> Labels.from_crisp(["a", "b"]).to_dict()
        {'a': array([1., 0.]), 'b': array([0., 1.])}
        """
        return {name: self.contour[:, k].copy() for k, name in enumerate(self.classes.tolist())}

    # -- Operations -----------------------------------------------------------------------------

    def discount(self, doubt: ArrayLike) -> "Labels":
        """Trust the labels less: a part `doubt` of each becomes "anything is possible".

        Parameters
        ----------
        doubt : float or array-like (n,) in [0, 1]

        Examples
        --------
        >>> Labels.from_crisp(["a", "b"]).discount(0.2).contour
        array([[1. , 0.2],
               [0.2, 1. ]])
        """
        delta = check_unit_interval(doubt, "doubt", last_axis_is_row=False)
        if delta.shape not in ((), (len(self),)):
            raise ValueError(
                f"doubt should be one number or one for each of the {len(self)} items, but has "
                f"shape {delta.shape}; give an array ({len(self)},)."
            )
        column = delta[..., None]
        masses = None if self._masses is None else belief.discount(self._masses, delta)
        return self._with((1.0 - column) * self.contour + column, masses)

    def condition(self, classes: Iterable[Hashable]) -> "Labels":
        """Learn for sure that every class is among the given ones; the others become impossible.

        Examples
        --------
        >>> Labels.unknown(1, classes=["a", "b", "c"]).condition(["a", "c"]).contour
        array([[1., 0., 1.]])
        """
        inside = np.isin(self.classes, check_classes(classes))
        contour = self.contour * inside
        impossible = ~contour.any(axis=1)
        if impossible.any():
            raise ValueError(
                f"The labels should leave one of the given classes possible, but none is in "
                f"{name_rows(impossible)}; discount the labels first, or give more classes."
            )
        masses = self._masses
        if masses is not None:
            masses = belief.condition(masses, belief.sets_from_membership(inside))
        return self._with(contour, masses)

    def reorder(self, classes: Sequence[Hashable]) -> "Labels":
        """The same labels with the classes in another order, perhaps with more classes.

        A new class is as plausible as the least plausible of the others: impossible for a hard
        label, fully plausible where nothing is known. (Labels on a single class are hard ones.) A
        class can only be left out if it is impossible everywhere.

        Examples
        --------
        >>> Labels.from_crisp(["a", "b"]).reorder(["b", "c", "a"]).contour
        array([[0., 0., 1.],
               [1., 0., 0.]])
        """
        names = check_classes(classes)
        old = {name: k for k, name in enumerate(self.classes.tolist())}
        place = [old.pop(name, -1) for name in names.tolist()]
        lost = self.contour[:, list(old.values())].any(axis=1)
        if lost.any():
            raise ValueError(
                f"Classes that are left out should be impossible, but one of {list(old)} is "
                f"possible in {name_rows(lost)}; keep it, or condition the labels first."
            )
        least = self.contour.min(axis=1, keepdims=True) * (self.n_classes > 1)
        contour = np.hstack([self.contour, least])[:, place]
        same = self._masses is not None and sorted(place) == list(range(self.n_classes))
        return Labels(contour, names, self._reordered_masses(place) if same else None)._also(self)

    def rename(self, names: Mapping[Any, Hashable] | Sequence[Hashable]) -> "Labels":
        """The same labels under other class names: a mapping, or all names in order.

        Examples
        --------
        >>> Labels.from_crisp(["a", "b"]).rename({"a": "cat"}).classes
        array(['cat', 'b'], dtype='<U3')
        """
        if isinstance(names, Mapping):
            unknown = [name for name in names if name not in self.classes.tolist()]
            if unknown:
                raise ValueError(
                    f"The mapping should rename classes of {self.classes.tolist()}, but names "
                    f"{unknown[0]!r}; correct it."
                )
            names = [names.get(name, name) for name in self.classes.tolist()]
        return Labels(self.contour, names, self._masses)._also(self)

    @staticmethod
    def concatenate(parts: Iterable["Labels"]) -> "Labels":
        """Labels of several groups of items, one after the other.

        Examples
        --------
        >>> a = Labels.from_crisp(["x", "y"])
        >>> len(Labels.concatenate([a, Labels.unknown(3, a.classes)]))
        5
        """
        groups = list(parts)
        if not groups:
            raise ValueError("concatenate needs at least one group of labels; none was given.")
        for i, group in enumerate(groups):
            if set(group.classes.tolist()) != set(groups[0].classes.tolist()):
                raise ValueError(
                    f"All labels should have the same classes, but group 0 has "
                    f"{groups[0].classes.tolist()} and group {i} has {group.classes.tolist()}; "
                    "bring them together with reorder(classes)."
                )
        groups = [group.reorder(groups[0].classes.tolist()) for group in groups]
        result = Labels(np.concatenate([g.contour for g in groups]), groups[0].classes)
        result._exact = all(g._exact for g in groups)
        if result._exact and any(g._masses is not None for g in groups):
            result._masses = belief.concatenate([g.masses() for g in groups])
        if all(g.conflict is not None for g in groups):
            result.conflict = np.concatenate([g.conflict for g in groups])
        return result

    # -- As scikit-learn and numpy see them -----------------------------------------------------

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

    def __len__(self) -> int:
        return len(self.contour)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.crisp().tolist())

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("Labels cannot be seen as an array without copying; drop copy=False.")
        return self.crisp().astype(dtype) if dtype is not None else self.crisp()

    def __getitem__(self, rows: Any) -> "Labels":
        """Select items by position, slice, list of positions or mask; always `Labels`."""
        if isinstance(rows, tuple):  # scikit-learn writes y[rows, ...]
            rows = rows[0]
        if isinstance(rows, (int, np.integer)):
            rows = [rows]
        masses = None if self._masses is None else self._masses[rows]
        part = self._with(self.contour[rows], masses)
        part.conflict = None if self.conflict is None else self.conflict[rows]
        return part

    def __eq__(self, other: object) -> bool:
        """Whether all is the same: classes, contours, and masses where both know them."""
        if not isinstance(other, Labels):
            return NotImplemented
        if len(self) != len(other) or self.classes.tolist() != other.classes.tolist():
            return False
        if not np.allclose(self.contour, other.contour, rtol=0.0, atol=1e-12):
            return False
        if (self._masses is None and other._masses is None) or not (self._exact and other._exact):
            return True
        both = belief.jousselme_distance(self.masses(), other.masses())
        return bool(np.max(both, initial=0.0) < 1e-7)

    __hash__ = None  # type: ignore[assignment]

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.contour.flags.writeable = False
        self.classes.flags.writeable = False

    def __repr__(self) -> str:
        counts = f"{len(self)} items, classes {self.classes.tolist()}"
        precise = int(((self.contour > 0).sum(axis=1) == 1).sum())
        unknown = int(self.is_unknown.sum())
        return f"<Labels: {counts}; {precise} hard, {unknown} unknown>"

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(str(name))}</th>" for name in self.classes)
        rows = "".join(
            f"<tr><th>{i}</th>" + "".join(f"<td>{value:.3g}</td>" for value in row) + "</tr>"
            for i, row in enumerate(self.contour[:10])
        )
        more = f"<p>{len(self) - 10} more rows</p>" if len(self) > 10 else ""
        title = html.escape(repr(self)[1:-1])
        return f"<p>{title}</p><table><tr><th></th>{head}</tr>{rows}</table>{more}"

    def _with(self, contour: FloatArray, masses: SparseMasses | None) -> "Labels":
        """Labels with other contours that need no check."""
        made = object.__new__(Labels)
        made.classes, made.contour, made._masses = self.classes, contour, masses
        made._exact, made.conflict, made._crisp = self._exact, self.conflict, None
        contour.flags.writeable = False
        return made

    def _also(self, other: "Labels") -> "Labels":
        """What is known besides the contour of `other`."""
        self._exact = other._exact and (other._masses is None) == (self._masses is None)
        self.conflict = other.conflict
        return self

    def _reordered_masses(self, place: list[int]) -> SparseMasses:
        masses = self.masses()
        inside = belief.membership(masses.focal_sets, self.n_classes)[:, place]
        sets = belief.sets_from_membership(inside)
        return SparseMasses(masses.values, sets, self.n_classes)


def _marker_of_unknown(names: NDArray[Any]) -> NDArray[Any]:
    """What stands for "nothing known" among hard labels: "" or -1, or less where -1 is a class."""
    if names.dtype.kind == "U":
        return np.asarray("")
    return np.asarray(-1 if -1 not in names else int(np.floor(names.min())) - 1)


def _names_or_numbers(classes: Sequence[Hashable] | None, table: ArrayLike) -> Sequence[Hashable]:
    """The class names, or numbers for the columns of a table."""
    if classes is not None:
        return classes
    shape = np.shape(table)
    return list(range(shape[-1])) if len(shape) == 2 and shape[-1] else [0]
