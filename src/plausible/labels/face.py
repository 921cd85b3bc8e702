"""Labels as numpy, scikit-learn and notebooks see them."""

import html
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from plausible import belief
from plausible.labels.hardening import note_hardening
from plausible.labels.state import LabelsState


class Face(LabelsState):
    """What makes `Labels` look like a one-dimensional array of classes."""

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
        if isinstance(rows, tuple) and len(rows) == 2 and rows[1] is Ellipsis:
            rows = rows[0]  # scikit-learn writes y[rows, ...]
        if np.ndim(rows) == 0 and not isinstance(rows, slice) and rows is not None:
            rows = np.atleast_1d(rows)
        if isinstance(rows, tuple) or rows is None or np.ndim(rows) > 1:
            raise IndexError(
                "Labels should be indexed by a position, a slice, a list of positions or a mask, "
                f"but {rows!r} was given."
            )
        masses = None if self._masses is None else self._masses[rows]
        part = self._with(self.contour[rows], masses)
        part.conflict = None if self.conflict is None else self.conflict[rows]
        return part

    def __eq__(self, other: object) -> bool:
        """Whether all is the same: classes, contours, and masses where both know them."""
        if not isinstance(other, LabelsState):
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

    def __repr__(self) -> str:
        counts = f"{len(self)} items, classes {self.classes.tolist()}"
        precise = int(self.is_hard.sum())
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
