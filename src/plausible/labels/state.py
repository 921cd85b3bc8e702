"""What labels hold, and what they say."""

from collections.abc import Hashable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plausible import belief
from plausible.belief import SparseMasses
from plausible.checks import as_floats, check_kind
from plausible.labels.parsing import check_classes, check_conflict, check_contour
from plausible.labels.warnings import ApproximationWarning, warn

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]


class LabelsState:
    """Contours, classes, and masses where they are known; see `Labels`."""

    def __init__(
        self,
        contour: ArrayLike,
        classes: Sequence[Hashable] | NDArray[Any],
        masses: SparseMasses | None = None,
        conflict: ArrayLike | None = None,
    ) -> None:
        self.classes = check_classes(classes)
        self.classes.flags.writeable = False
        self.contour = check_contour(as_floats(contour, "contour"), len(self.classes))
        self.contour.flags.writeable = False
        if masses is not None:
            check_kind(masses, SparseMasses, "masses", "use Labels.from_masses for other forms")
        if masses is not None and (*masses.shape[:-1], masses.n_classes) != self.contour.shape:
            raise ValueError(
                f"masses should have a row for each of the {len(self.contour)} items on a frame of "
                f"{len(self.classes)} classes, but have shape {masses.shape} on {masses.n_classes} "
                "classes."
            )
        self._masses = masses
        self._exact = masses is not None
        self.conflict = check_conflict(conflict, len(self.contour))
        self._crisp: NDArray[Any] | None = None

    def __len__(self) -> int:
        return len(self.contour)

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
        return np.asarray((self.contour > 0).sum(axis=1) == 1)

    @property
    def is_unknown(self) -> BoolArray:
        """Rows that favor no class over another."""
        if self.n_classes == 1:
            return np.zeros(len(self), dtype=np.bool_)
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
        >>> from plausible.labels import Labels
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
        >>> from plausible.labels import Labels
        >>> Labels.from_plausibility([[0.2, 1.0], [1.0, 1.0]]).crisp()
        array([ 1, -1])
        """
        if self._crisp is None:
            best = self._shown_classes[self.contour.argmax(axis=1)]
            self._crisp = np.where(self.is_unknown, np.asarray(self.marker_of_unknown), best)
        return self._crisp.copy()

    @property
    def _shown_classes(self) -> NDArray[Any]:
        """The classes (K,) as numpy sees them."""
        return self.classes.astype(np.int64) if self.classes.dtype == bool else self.classes

    @property
    def marker_of_unknown(self) -> str | int:
        """What stands for "nothing known" in `crisp`: "" or -1, or less where -1 is a class."""
        names = self._shown_classes
        if names.dtype.kind == "U":
            return ""
        return -1 if -1 not in names else int(np.floor(names.min())) - 1

    def to_dict(self) -> dict[Any, FloatArray]:
        """Columns by class name, ready for a data frame: ``pandas.DataFrame(labels.to_dict())``.

        Examples
        --------
        >>> from plausible.labels import Labels
        >>> Labels.from_crisp(["a", "b"]).to_dict()
        {'a': array([1., 0.]), 'b': array([0., 1.])}
        """
        return {name: self.contour[:, k].copy() for k, name in enumerate(self.classes.tolist())}

    @classmethod
    def _trusted(
        cls, contour: FloatArray, classes: NDArray[Any], masses: SparseMasses | None = None
    ) -> Self:
        """Labels from checked parts that nobody else holds; their masses are known."""
        made = object.__new__(cls)
        made.classes, made.contour, made._masses = classes, contour, masses
        made._exact, made.conflict, made._crisp = True, None, None
        made.classes.flags.writeable = made.contour.flags.writeable = False
        return made

    def _with(self, contour: FloatArray, masses: SparseMasses | None) -> Self:
        """Labels with other contours that need no check."""
        made = self._trusted(contour, self.classes, masses)
        made._exact, made.conflict = self._exact, self.conflict
        return made

    def _also(self, other: Self) -> Self:
        """What is known besides the contour of `other`."""
        self._exact = other._exact and (other._masses is None) == (self._masses is None)
        self.conflict = other.conflict
        return self

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.contour.flags.writeable = False
        self.classes.flags.writeable = False
