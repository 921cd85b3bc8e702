"""Ways to make labels, each of which says what the numbers mean."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from plausible import belief
from plausible.belief import MAX_CLASSES, SparseMasses
from plausible.belief.forms import check_masses, check_values, sparse_form
from plausible.checks import as_array, as_floats, as_list, is_whole, name_rows, shown
from plausible.labels.operations import Operations, own_copy
from plausible.labels.parsing import (
    NOTHING,
    bool_table,
    check_classes,
    check_conflict,
    check_possible,
    check_width,
    codes_of,
    contour_of_sets,
    find_missing,
)

MAX_ITEMS = 1 << 40  # beyond the memory of any machine


class Constructors(Operations):
    """Constructors of `Labels`."""

    @classmethod
    def from_crisp(
        cls, y: ArrayLike, classes: Sequence[Hashable] | None = None, missing: Any = NOTHING
    ) -> Self:
        """Hard labels, of which some may be missing.

        Parameters
        ----------
        y : array-like (n,)
        classes : sequence, optional
            Order of the classes; by default those that occur, sorted.
        missing : value or list of values
            What stands for "not labeled": None, ``np.nan``, "" or -1. Nothing does unless you say
            so.

        Examples
        --------
        >>> from plausible.labels import Labels
        >>> Labels.from_crisp([0, 1, -1], missing=-1).contour
        array([[1., 0.],
               [0., 1.],
               [1., 1.]])
        """
        values, is_missing = find_missing(y, missing)
        names, codes = codes_of(values, ~is_missing, classes)
        if len(names) == 1 and classes is None and is_missing.any():
            raise ValueError(
                "A missing label needs at least two classes to choose from, but only "
                f"{names.tolist()[0]!r} occurs, and labels are missing in {name_rows(is_missing)}; "
                "say which classes there are with classes=."
            )
        contour = np.zeros((len(values), len(names)))
        contour[np.arange(len(values)), codes] = 1.0
        contour[is_missing] = 1.0
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
        table = bool_table(sets)
        if table is not None:
            names = check_classes(_names_or_numbers(classes, sets))  # type: ignore[arg-type]
            check_width(table, len(names))
            check_possible(table)
            return cls._trusted(table.astype(np.float64), names)
        contour, names = contour_of_sets(as_list(sets, "sets", "sets of class names"), classes)
        check_possible(contour)
        return cls._trusted(contour, names)

    @classmethod
    def from_plausibility(
        cls, plausibility: ArrayLike, classes: Sequence[Hashable] | None = None
    ) -> Self:
        """Plausibilities of the classes, (n, K) in [0, 1]: 1 possible without reserve, 0 excluded.

        Examples
        --------
        >>> from plausible.labels import Labels
        >>> Labels.from_plausibility([[1.0, 0.3], [0.2, 1.0]], classes=["a", "b"]).contour
        array([[1. , 0.3],
               [0.2, 1. ]])
        """
        return cls(plausibility, _names_or_numbers(classes, plausibility))

    @classmethod
    def from_probability(
        cls, probability: ArrayLike, classes: Sequence[Hashable] | None = None
    ) -> Self:
        """Probabilities of the classes, (n, K), each row summing to one.

        The plausibility of a class is then its probability, and estimators multiply it by the
        prior of the class: the label acts as a likelihood, not as a posterior.

        Examples
        --------
        >>> from plausible.labels import Labels
        >>> Labels.from_probability([[0.2, 0.8]], classes=["a", "b"]).contour
        array([[0.2, 0.8]])
        """
        names = check_classes(_names_or_numbers(classes, probability))
        given = as_floats(probability, "probabilities")
        check_width(given, len(names))
        contour = check_values(given, "probabilities", "divide each row by its sum").copy()
        if len(names) > MAX_CLASSES:
            return cls(contour, names)
        singles = 1 << np.arange(len(names), dtype=np.int64)
        return cls._trusted(contour, names, SparseMasses(contour, singles, len(names)))

    @classmethod
    def from_doubt(
        cls,
        y: ArrayLike,
        doubt: ArrayLike,
        classes: Sequence[Hashable] | None = None,
        missing: Any = NOTHING,
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
        return cls.from_crisp(y, classes, missing).discount(doubt)

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
        if isinstance(masses, Sequence) and len(masses) and isinstance(masses[0], Mapping):
            if classes is None:
                classes = sorted(check_classes(_names_in(masses)).tolist())
            sparse = belief.masses_from_dicts(masses, check_classes(classes).tolist())  # type: ignore[arg-type]
        else:
            checked = check_masses(masses)  # type: ignore[arg-type]
            sparse = (
                own_copy(checked) if isinstance(checked, SparseMasses) else sparse_form(checked)
            )
        if sparse.values.ndim != 2:
            raise ValueError(
                f"masses should be two-dimensional, one row for each item, but have shape "
                f"{sparse.shape}; write [masses] for a single item."
            )
        names = check_classes(range(sparse.n_classes) if classes is None else classes)
        inside = belief.membership(sparse.focal_sets, sparse.n_classes)
        contour = sparse.values @ inside.astype(np.float64)
        np.minimum(contour, 1.0, out=contour)  # sums of masses may exceed one by rounding
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
        if not is_whole(n) or not 0 <= n <= MAX_ITEMS:
            raise ValueError(
                f"n should be a number of items, 0 or more, but {shown(n)} was given; count them."
            )
        return cls._trusted(np.ones((n, len(names))), names)


def _names_in(rows: Sequence[Any]) -> set[Any]:
    """The classes in the sets of mass functions that are written as mappings."""
    sets = [key for row in rows if isinstance(row, Mapping) for key in row]
    return {name for key in sets for name in as_list(key, "A set", "class names")}


def _names_or_numbers(classes: Sequence[Hashable] | None, table: ArrayLike) -> Sequence[Hashable]:
    """The class names, or numbers for the columns of a table."""
    if classes is not None:
        return classes
    if hasattr(table, "columns"):  # a data frame
        return as_list(table.columns, "columns", "class names")
    shape = as_array(table, "the table").shape
    return list(range(shape[-1])) if len(shape) == 2 and shape[-1] else [0]
