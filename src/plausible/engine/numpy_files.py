"""Rows of ``.npy`` files as a source of a stream."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from plausible.checks import existing_file
from plausible.engine.rows import Array
from plausible.engine.sources import PathLike, rows_in_chunk
from plausible.errors import InputError


class NpySource:
    """What `read_npy` returns."""

    def __init__(
        self,
        path: PathLike,
        labels: PathLike | None,
        weight: PathLike | None,
        chunk_rows: int | None,
    ) -> None:
        others = [None if file is None else existing_file(file) for file in (labels, weight)]
        self.paths = [existing_file(path), *others]
        X, *beside = [None if file is None else _mapped(file) for file in self.paths]
        assert X is not None
        given = [X, *(array for array in beside if array is not None)]
        if len({len(array) for array in given}) != 1:
            raise InputError(
                "The files should have one number of rows",
                f"have {[len(a) for a in given]} rows",
                "check that they belong together",
            )
        if X.ndim != 2 or X.dtype.kind not in "fiub":
            raise InputError(
                f"{Path(path).name} should hold a matrix of numbers",
                f"has shape {X.shape} and type {X.dtype}",
                "save X of shape (rows, features)",
                value=X.shape,
            )
        self.dtype = np.dtype(np.float32 if X.dtype == np.float32 else np.float64)
        self.n_rows = len(X)
        self.chunk_rows = rows_in_chunk(chunk_rows, sum(array[:1].nbytes for array in given))

    def __iter__(self) -> Iterator[tuple[Array, Array | None, Array | None]]:
        for start in range(0, self.n_rows, self.chunk_rows):
            rows = slice(start, start + self.chunk_rows)
            # Mapped again for each chunk: what is mapped and was read counts as memory.
            X, y, weight = (
                None if path is None else np.array(_mapped(path)[rows]) for path in self.paths
            )
            assert X is not None
            yield X.astype(self.dtype, copy=False), y, weight


def _mapped(path: Path) -> Array:
    try:
        array = np.load(path, mmap_mode="r")
    except (ValueError, EOFError) as error:
        raise InputError(
            f"{path.name} should be a .npy file of numbers",
            f"cannot be read as one ({error})",
            "write it with numpy.save",
        ) from None
    if not isinstance(array, np.ndarray) or not array.ndim:
        raise InputError(
            f"{path.name} should hold one entry for each row",
            "holds a single value",
            "save an array",
        )
    return array


def read_npy(
    path: PathLike,
    labels: PathLike | None = None,
    weight: PathLike | None = None,
    *,
    chunk_rows: int | None = None,
) -> NpySource:
    """Rows of a ``.npy`` file as a source for `StreamRows`.

    Parameters
    ----------
    path : path of X, of shape (n, d)
        float32 is kept, other numbers become float64. Either order of memory will do.
    labels : path of y, of shape (n,) or (n, K), optional
    weight : path of the weights, of shape (n,), optional
    chunk_rows : int, optional
        Rows in a chunk; by default some megabytes, at most 65536 rows.

    Examples
    --------
    >>> import tempfile, pathlib, numpy as np
    >>> from plausible.engine import StreamRows
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "X.npy"
    ...     np.save(path, np.arange(10.0).reshape(5, 2))
    ...     StreamRows(read_npy(path, chunk_rows=2)).reduce(lambda columns: columns[0].sum(axis=0))
    array([20., 25.])
    """
    return NpySource(path, labels, weight, chunk_rows)
