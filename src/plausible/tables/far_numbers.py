"""Numbers so far from zero that they may be identifiers, and numbers that are none.

Nearly all columns have neither, which one quick look at all numbers tells.
"""

from typing import Any

import numpy as np

from plausible.tables.errors import arrow

FAR = 1e18  # whole numbers beyond it do not fit into 64 bits


def furthest(numbers: Any) -> float:
    """How far from zero numbers are, NaN if one is; also those below cells that are missing.

    Examples
    --------
    >>> import pyarrow as pa
    >>> furthest(pa.array([1.5, None, -3.0])), furthest(pa.array([1.5, float("nan")]))
    (3.0, nan)
    """
    found = [0.0]
    for chunk in numbers.chunks if hasattr(numbers, "chunks") else [numbers]:
        if len(chunk):
            values = np.frombuffer(chunk.buffers()[1], chunk.type.to_pandas_dtype())
            values = values[chunk.offset : chunk.offset + len(chunk)]
            found += [-values.min(), values.max()]
    return float(np.max(found))


def are_far(numbers: Any) -> bool:
    """Whether some numbers are so far from zero that they may be long identifiers.

    Examples
    --------
    >>> import pyarrow as pa
    >>> are_far(pa.array([1.5, None])), are_far(pa.array([None, -1e20]))
    (False, True)
    """
    if not arrow().types.is_floating(numbers.type) or furthest(numbers) < FAR:
        return False
    pc = arrow(".compute")
    return bool(pc.any(pc.greater_equal(pc.abs(numbers), FAR)).as_py())
