"""Collections of Dask as columns of the same rows: arrays that are cut alike, block by block."""

import math
import warnings
from typing import Any

from plausible.engine.cluster import Watch, as_megabytes
from plausible.engine.rows import as_column, is_sparse
from plausible.errors import InputError


def import_dask() -> Any:
    """Dask, or words on how to install it."""
    try:
        import dask
        import dask.array
    except ImportError as error:
        raise ImportError(
            'Rows of dask collections need dask, which is not installed; run pip install "plausible'
            '[dask]".'
        ) from error
    return dask


def _is_known(array: Any) -> bool:
    return not any(math.isnan(size) for size in array.chunks[0])


def _as_dask_array(column: Any, like: Any) -> Any:
    """A dask array with all columns in one block; data in memory are cut `like` another."""
    if hasattr(column, "to_dask_array"):
        with warnings.catch_warnings():
            # That words become objects is what we want.
            warnings.filterwarnings("ignore", "Dask currently has limited support", UserWarning)
            column = column.to_dask_array()
    if not hasattr(column, "dask"):
        values = as_column(column, 0)
        values = values.toarray() if is_sparse(values) else values
        if _is_known(like) and len(values) != len(like):
            raise InputError(
                "Columns should have one length",
                f"have {[len(like), len(values)]} rows",
                "give one value for each row",
            )
        rows = like.chunks[0] if _is_known(like) else len(values)
        column = import_dask().array.from_array(values, chunks=(rows, *values.shape[1:]))
    return column.rechunk(dict.fromkeys(range(1, column.ndim), -1)) if column.ndim > 1 else column


def align(collections: tuple[Any, ...], watch: Watch) -> list[Any]:
    """Dask arrays with the row-chunks of the first, None where there was none."""
    lazy = [column for column in collections if hasattr(column, "dask")]
    if not lazy:
        raise TypeError(
            "At least one column should be a dask array or data frame, but they are "
            f"{[type(column).__name__ for column in collections]}; use ArrayRows for data in "
            "memory."
        )
    first = _as_dask_array(lazy[0], None)
    arrays = [None if c is None else _as_dask_array(c, first) for c in collections]
    given = [array for array in arrays if array is not None]
    if len({array.numblocks[0] for array in given}) > 1:
        # To cut them alike, all sizes must be known; a copy, as they are written into the array.
        arrays = [
            array
            if array is None or _is_known(array)
            else watch.ask(array.copy().compute_chunk_sizes)
            for array in arrays
        ]
        first = next(array for array, c in zip(arrays, collections, strict=True) if c is lazy[0])
    return [None if array is None else _cut_like(array, first) for array in arrays]


def _cut_like(array: Any, first: Any) -> Any:
    if not (_is_known(array) and _is_known(first)) or array.chunks[0] == first.chunks[0]:
        return array  # where sizes are not known, the blocks are checked when they are made
    if len(array) != len(first):
        raise InputError(
            "Columns should have one length",
            f"have {[len(first), len(array)]} rows",
            "give one value for each row",
        )
    return array.rechunk({0: first.chunks[0]})


def in_words(arrays: list[Any]) -> str:
    """How many rows there are to hold, and in how many blocks, as far as it is known."""
    given = [array for array in arrays if array is not None]
    n_blocks = given[0].numblocks[0]
    whole = sum(array.nbytes for array in given)
    if math.isnan(whole):
        return f"rows in {n_blocks} blocks"
    longest = max(given[0].chunks[0]) / max(len(given[0]), 1)
    return (
        f"{as_megabytes(whole)} of rows in {n_blocks} blocks of up to "
        f"{as_megabytes(whole * longest)}"
    )
