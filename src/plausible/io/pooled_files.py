"""Labels of more items than fit into memory, pooled and written in parts."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from plausible.io.label_names import write_name
from plausible.io.large_answers import PooledPart, pool_in_parts
from plausible.io.writing import write_table
from plausible.tables import Source, arrow

# Sets that have a mass differ from part to part, and a table has the same columns throughout.
ONLY_PLAUSIBLE = "answers were pooled in parts: plausibilities are written, masses of sets are not"


@dataclass
class PoolCount:
    """What was pooled: sums over the parts."""

    classes: list[Any]
    notes: list[str]
    n_items: int = 0
    n_answers: int = 0
    n_unknown: int = 0
    conflict: float = 0.0
    worst: float = -1.0
    worst_item: Any = None

    def add(self, part: PooledPart) -> None:
        """Count a further part."""
        labels = part.labels
        self.n_items += len(labels)
        self.n_answers += part.n_answers
        self.n_unknown += int((labels.informativeness == 0).sum())
        if labels.conflict is not None and len(labels):
            self.conflict += float(labels.conflict.sum())
            at = int(labels.conflict.argmax())
            if labels.conflict[at] > self.worst:
                self.worst, self.worst_item = float(labels.conflict[at]), part.items[at]


def pool_to_file(table: Source, path: str | os.PathLike[str], **options: Any) -> PoolCount:
    """Pool the answers of a long table, and write plausibilities and conflict part by part.

    Parameters
    ----------
    table : opened table, with a row for each answer
    path : as for `write_table`
    **options
        Of `pool_in_parts`.
    """
    with pool_in_parts(table, **options) as pool:
        count = PoolCount(pool.classes, [*pool.notes, ONLY_PLAUSIBLE])
        tables = (as_table(part, count) for part in pool.parts)
        first = next(tables)

        def batches() -> Iterator[Any]:
            yield from first.to_batches()
            for one in tables:
                yield from one.cast(first.schema).to_batches()

        write_table(arrow().RecordBatchReader.from_batches(first.schema, batches()), path)
    return count


def as_table(part: PooledPart, count: PoolCount) -> Any:
    """A part as a table of Arrow, counted."""
    count.add(part)
    labels = part.labels
    columns: dict[str, Any] = {"item": part.items}
    for k, name in enumerate(labels.classes.tolist()):
        columns[f"plausibility:{write_name(name)}"] = labels.contour[:, k]
    if labels.conflict is not None:
        columns["conflict"] = labels.conflict
    return arrow().table(columns)
