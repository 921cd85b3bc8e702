r"""Answers that do not fit into memory, pooled in parts.

The label of an item depends on its own answers and on the doubts in people. Answers are dealt out
by item into parts that fit, on disk; doubts that have to be learned are learned from as many of the
parts as fit into memory, which hold a random choice of the items; then each part is pooled by
itself, here or on a worker of a cluster.
"""

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from plausible.io.lookup import hash_names
from plausible.io.pieces import pieces
from plausible.labels import Labels
from plausible.tables import Source, arrow

PART_BYTES = 1 << 26  # of answers in memory at a time
LEARNED_PARTS = 4  # from which doubts are learned


class PooledPart(NamedTuple):
    """Labels of some items, and how many answers there were about them."""

    items: Any
    labels: Labels
    n_answers: int


class LargePool(NamedTuple):
    """Labels of items, in parts that are made one after another; of `pool_in_parts`."""

    parts: Iterator[PooledPart]
    classes: list[Any]
    notes: list[str]


@contextmanager
def dealt_out(table: Source, item: str, n_parts: int) -> Iterator[list[Path]]:
    """Files of Arrow among which the rows of a table are dealt out by item."""
    pa = arrow()
    schema = table.schema(table.names)
    with tempfile.TemporaryDirectory(prefix="plausible-") as folder:
        paths = [Path(folder) / f"{number}.arrow" for number in range(n_parts)]
        with ExitStack() as stack:
            writers = [
                stack.enter_context(arrow(".ipc").new_file(str(path), schema)) for path in paths
            ]
            for piece in pieces(table, table.names):
                number = hash_names(piece.table.column(item)) % np.uint64(n_parts)
                for part, writer in enumerate(writers):
                    chosen = piece.table.filter(pa.array(number == part))
                    if chosen.num_rows:
                        writer.write_table(chosen)
        yield paths
