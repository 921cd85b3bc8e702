"""Operations that turn labels into other labels."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from plausible import belief
from plausible.belief import SparseMasses
from plausible.belief.forms import check_unit_interval
from plausible.checks import name_rows
from plausible.labels.parsing import check_classes
from plausible.labels.state import LabelsState


class Operations(LabelsState):
    """Operations of `Labels`."""

    def discount(self, doubt: ArrayLike) -> Self:
        """Trust the labels less: a part `doubt` of each becomes "anything is possible".

        Parameters
        ----------
        doubt : float or array-like (n,) in [0, 1]

        Examples
        --------
        >>> from plausible.labels import Labels
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

    def condition(self, classes: Iterable[Hashable]) -> Self:
        """Learn for sure that every class is among the given ones; the others become impossible.

        Examples
        --------
        >>> from plausible.labels import Labels
        >>> Labels.unknown(1, classes=["a", "b", "c"]).condition(["a", "c"]).contour
        array([[1., 0., 1.]])
        """
        kept = check_classes([classes] if isinstance(classes, str) else classes)
        strange = sorted(set(kept.tolist()) - set(self.classes.tolist()), key=str)
        if strange:
            raise ValueError(
                f"The given classes should be among {self.classes.tolist()}, but {strange[0]!r} is "
                "not; correct it."
            )
        inside = np.isin(self.classes, kept)
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

    def reorder(self, classes: Sequence[Hashable]) -> Self:
        """The same labels with the classes in another order, perhaps with more classes.

        A new class is as plausible as the least plausible of the others: impossible for a hard
        label, fully plausible where nothing is known. (Labels on a single class are hard ones.) A
        class can only be left out if it is impossible everywhere.

        Examples
        --------
        >>> from plausible.labels import Labels
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
        masses = self._reordered_masses(place) if same else None
        return type(self)(contour, names, masses)._also(self)

    def rename(self, names: Mapping[Any, Hashable] | Sequence[Hashable]) -> Self:
        """The same labels under other class names: a mapping, or all names in order.

        Examples
        --------
        >>> from plausible.labels import Labels
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
        return type(self)(self.contour, names, self._masses)._also(self)

    @classmethod
    def concatenate(cls, parts: Iterable[Self]) -> Self:
        """Labels of several groups of items, one after the other.

        Examples
        --------
        >>> from plausible.labels import Labels
        >>> a = Labels.from_crisp(["x", "y"])
        >>> len(Labels.concatenate([a, Labels.unknown(3, a.classes)]))
        5
        """
        groups = [] if isinstance(parts, LabelsState) else list(parts)
        if not groups or not all(isinstance(group, LabelsState) for group in groups):
            raise ValueError(
                "concatenate needs a list of Labels, at least one group, but something else came; "
                "write Labels.concatenate([first, second])."
            )
        for i, group in enumerate(groups):
            if set(group.classes.tolist()) != set(groups[0].classes.tolist()):
                raise ValueError(
                    f"All labels should have the same classes, but group 0 has "
                    f"{groups[0].classes.tolist()} and group {i} has {group.classes.tolist()}; "
                    "bring them together with reorder(classes)."
                )
        groups = [group.reorder(groups[0].classes.tolist()) for group in groups]
        result = cls(np.concatenate([g.contour for g in groups]), groups[0].classes)
        result._exact = all(g._exact for g in groups)
        if result._exact and any(g._masses is not None for g in groups):
            result._masses = belief.concatenate([g.masses() for g in groups])
        if all(g.conflict is not None for g in groups):
            result.conflict = np.concatenate([g.conflict for g in groups])
        return result

    def _reordered_masses(self, place: list[int]) -> SparseMasses:
        masses = self.masses()
        inside = belief.membership(masses.focal_sets, self.n_classes)[:, place]
        sets = belief.sets_from_membership(inside)
        return SparseMasses(masses.values, sets, self.n_classes)


def own_copy(masses: SparseMasses) -> SparseMasses:
    """Masses that nobody else can write to."""
    values = masses.values.copy()
    values.flags.writeable = False
    return SparseMasses(values, masses.focal_sets, masses.n_classes)
