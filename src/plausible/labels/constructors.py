"""Constructors of labels, each of which says what the numbers mean."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plausible.belief import MAX_CLASSES, SparseMasses, check_values
from plausible.checks import as_floats
from plausible.labels import contours
from plausible.labels.contours import check_conflict, check_possible, check_width
from plausible.labels.masses import contour_of_masses, masses_on_classes, sparse_masses
from plausible.labels.odd_classes import alike_names, in_order_of, unlabeled_mark
from plausible.labels.parsing import (
    NO_MARKER,
    check_classes,
    check_n_items,
    contour_of_hard,
    contour_of_sets,
    names_or_numbers,
)
from plausible.labels.warnings import AlikeClassesWarning, MinusOneWarning, warn

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]


class Constructors:
    """Constructors of `Labels`."""

    conflict: FloatArray | None
    _shares: BoolArray | None

    @classmethod
    def _trusted(
        cls, contour: FloatArray, classes: NDArray[Any], masses: SparseMasses | None = None
    ) -> Self:
        """Labels from checked parts that nobody else holds; their masses are known."""
        raise NotImplementedError

    @classmethod
    def _checked(cls, contour: ArrayLike, classes: Any) -> Self:
        """Labels from parts that have to be checked."""
        return cast(Self, cast(Any, cls)(contour, classes))

    @classmethod
    def from_crisp(
        cls, y: ArrayLike, classes: Sequence[Hashable] | None = None, missing: Any = NO_MARKER
    ) -> Self:
        """Hard labels, of which some may be missing.

        Parameters
        ----------
        y : array-like (n,)
        classes : sequence, optional
            Order of the classes; by default those that occur, sorted.
        missing : value or list of values
            What stands for "not labeled": None, ``np.nan``, "" or -1. Nothing does unless you say
            so; a `MinusOneWarning` tells of -1 beside several classes that count from 0 or 1, and
            of "nan" and the like beside several names.

        Examples
        --------
        >>> from plausible.labels import Labels
        >>> Labels.from_crisp([0, 1, -1], missing=-1).contour
        array([[1., 0.],
               [0., 1.],
               [1., 1.]])
        """
        contour, names = contour_of_hard(y, classes, missing)
        if classes is None and (mark := unlabeled_mark(names)) is not None:
            others = [name for name in names.tolist() if name != mark]
            warn(
                f"Classes should be told apart from a mark for 'not labeled', but {mark!r} stands "
                f"beside {others[0]} to {others[-1]} and was read as a class; say missing={mark!r} "
                "in Labels.from_crisp if it is such a mark, or list the classes.",
                MinusOneWarning,
            )
        if classes is None and (alike := alike_names(names)) is not None:
            warn(
                f"Classes should be told apart, but {alike[0]!r} and {alike[1]!r} {alike[2]} and "
                "were read as different ones; write them alike if they are one, or list the "
                "classes.",
                AlikeClassesWarning,
            )
        return cls._trusted(contour, names)

    @classmethod
    def from_sets(
        cls, sets: Iterable[Any] | ArrayLike, classes: Sequence[Hashable] | None = None
    ) -> Self:
        """Sets of possible classes, one for each item.

        Parameters
        ----------
        sets : iterable of collections of class names, or bool array (n, K)
            None stands for all classes.
        classes : sequence, optional
            Order of the classes; by default those that occur, sorted.

        Examples
        --------
        >>> from plausible.labels import Labels
        >>> Labels.from_sets([{"a"}, {"b", "c"}, None]).contour
        array([[1., 0., 0.],
               [0., 1., 1.],
               [1., 1., 1.]])
        """
        contour, names = contour_of_sets(sets, classes)
        check_width(contour, len(names))
        check_possible(contour)
        return cls._trusted(contour, names)

    @classmethod
    def from_plausibility(
        cls, plausibility: ArrayLike, classes: Sequence[Hashable] | None = None
    ) -> Self:
        """Plausibilities of the classes, (n, K) in [0, 1]: 1 possible without reserve, 0 excluded.

        They act as likelihoods of the classes, also where rows happen to sum to one: the reading
        that Côme et al. (2008) give to a Bayesian label.

        Examples
        --------
        >>> from plausible.labels import Labels
        >>> Labels.from_plausibility([[1.0, 0.3], [0.2, 1.0]], classes=["a", "b"]).contour
        array([[1. , 0.3],
               [0.2, 1. ]])
        """
        return cls._checked(plausibility, names_or_numbers(classes, plausibility))

    @classmethod
    def from_probability(
        cls, probability: ArrayLike, classes: Sequence[Hashable] | None = None
    ) -> Self:
        """Probabilities of the classes, (n, K), each row summing to one.

        Estimators take them for shares: items with the label (0.2, 0.8) should get these
        probabilities. Give `from_plausibility` the same numbers for a label that acts as a
        likelihood, of which many of a kind make a model sure.

        Examples
        --------
        >>> from plausible.labels import Labels
        >>> labels = Labels.from_probability([[0.2, 0.8]], classes=["a", "b"])
        >>> labels.contour, labels.is_probability
        (array([[0.2, 0.8]]), array([ True]))
        """
        names = check_classes(names_or_numbers(classes, probability))
        given = as_floats(in_order_of(probability, names), "probabilities")
        check_width(given, len(names))
        contour = check_values(given, "probabilities", "divide each row by its sum").copy()
        if len(names) > MAX_CLASSES:
            made = cls._checked(contour, names)
        else:
            made = cls._trusted(contour, names, masses_on_classes(contour))
        made._shares = contours.check_shares(np.ones(len(contour), dtype=bool), contour)
        return made

    @classmethod
    def from_doubt(
        cls,
        y: ArrayLike,
        doubt: ArrayLike,
        classes: Sequence[Hashable] | None = None,
        missing: Any = NO_MARKER,
    ) -> Self:
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
        >>> from plausible.labels import Labels
        >>> Labels.from_doubt(["a", "b"], doubt=[0.1, 0.6]).contour
        array([[1. , 0.1],
               [0.6, 1. ]])
        """
        made = cast(Any, cls.from_crisp(y, classes, missing))
        return cast(Self, made.discount(doubt))

    @classmethod
    def from_masses(
        cls,
        masses: ArrayLike | SparseMasses | Sequence[Mapping[Any, float]],
        classes: Sequence[Hashable] | None = None,
        conflict: ArrayLike | None = None,
    ) -> Self:
        """Mass functions: dense (n, 2^K), `SparseMasses`, or dictionaries {set of names: mass}.

        Parameters
        ----------
        masses : array (n, 2^K), SparseMasses (n, F), or sequence of n mappings
        classes : sequence, optional
            Order of the classes; by default numbers, or the names that occur, sorted.
        conflict : array-like (n,), optional
            Conflict among the sources behind the masses, kept with the labels.

        Examples
        --------
        >>> from plausible.labels import Labels
        >>> Labels.from_masses([{("a",): 0.7, ("a", "b"): 0.3}], classes=["a", "b"]).contour
        array([[1. , 0.3]])
        """
        sparse, names = sparse_masses(masses, classes)
        contour = contour_of_masses(sparse)
        check_width(contour, len(names))
        if 0 in sparse.focal_sets:
            check_possible(contour)
        made = cls._trusted(contour, names, sparse)
        made.conflict = check_conflict(conflict, len(contour))
        return made

    @classmethod
    def unknown(cls, n: int, classes: Sequence[Hashable]) -> Self:
        """Nothing known about n items.

        Examples
        --------
        >>> from plausible.labels import Labels
        >>> Labels.unknown(2, classes=["a", "b"]).is_unknown
        array([ True,  True])
        """
        names = check_classes(classes)
        return cls._trusted(np.ones((check_n_items(n), len(names))), names)
