"""Summaries that were just taken, remembered: a pass over the rows costs more than its sums."""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

N_PASSES = 2  # the last step of a loop may be taken back


def remembering(
    summarize: Callable[[list[Any]], Sequence[Any]],
) -> Callable[[list[Any]], list[Any]]:
    """The same summaries, of which those of the last two passes are not taken again.

    Parameters are told apart as objects: they must not change once they were summarized.

    Examples
    --------
    >>> def summarize(points):
    ...     print("a pass over the rows")
    ...     return [point[0] ** 2 for point in points]
    >>> squares, start = remembering(summarize), (3.0,)
    >>> squares([start]), squares([start])
    a pass over the rows
    ([9.0], [9.0])
    """
    last: deque[list[tuple[Any, Any]]] = deque(maxlen=N_PASSES)

    def known(point: Any) -> list[Any]:
        return [found for one_pass in last for other, found in one_pass if other is point]

    def remembered(points: list[Any]) -> list[Any]:
        before = [known(point) for point in points]
        if all(before):
            return [found[0] for found in before]
        found = list(summarize(points))
        last.append(list(zip(points, found, strict=True)))
        return found

    return remembered
