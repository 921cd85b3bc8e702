"""Parts of a stream that one pass keeps for the next ones, all of them or some of their rows."""

from collections.abc import Callable, Generator
from contextlib import closing
from functools import partial
from pathlib import Path
from threading import Lock

from plausible.engine.rows import Columns
from plausible.engine.scratch import Scratch

Opener = Callable[[], Columns | None]  # of a part, called by the thread that works on it
Parts = Generator[Opener, None, None]


class KeptParts:
    """Parts that the first pass keeps, and the next ones read.

    Where there is no room for them, or a pass is not run to its end, nothing is kept.

    Parameters
    ----------
    made : function that gives the parts, made anew
    first : the first of them, which is None if it has no rows
    folder : where they are kept
    """

    def __init__(self, made: Callable[[], Parts], first: Opener, folder: Path) -> None:
        self._made, self._first, self._folder = made, first, folder
        self._scratch: Scratch | None = Scratch(folder)
        self._n_parts: int | None = None
        self._lock = Lock()

    def head(self) -> Columns | None:
        """The first part; None if it has no rows."""
        scratch = self._scratch
        if scratch is not None and self._n_parts == len(scratch) > 0:
            return scratch.get(0)
        return self._first()

    def read(self) -> Parts:
        """The parts, from where they can be had."""
        scratch = self._scratch
        if scratch is not None and self._n_parts == len(scratch):
            yield from (partial(scratch.get, number) for number in range(len(scratch)))
        elif scratch is None or not self._lock.acquire(blocking=False):
            yield from self._made()
        else:
            try:
                yield from self.fill(self._made(), lambda part: part())
            finally:
                self._lock.release()

    def fill(self, parts: Parts, chosen: Callable[[Opener], Columns | None]) -> Parts:
        """The same parts; of each that is opened, what is chosen is kept."""
        self._scratch = scratch = Scratch(self._folder)
        self._n_parts, n_parts = None, 0
        with closing(parts):
            for number, part in enumerate(parts):
                yield partial(self._keep, scratch, number, part, chosen)
                n_parts = number + 1
        self._n_parts = n_parts

    def _keep(
        self,
        scratch: Scratch,
        number: int,
        part: Opener,
        chosen: Callable[[Opener], Columns | None],
    ) -> Columns | None:
        columns = part()
        if self._scratch is scratch and not scratch.put(number, chosen(lambda: columns)):
            self._scratch = None
        return columns


class SurveyedParts:
    """Parts of which each pass keeps some rows elsewhere.

    Parameters
    ----------
    made, first : as of `KeptParts`
    kept : where the rows go
    chosen : function that gives those of a part
    """

    def __init__(
        self,
        made: Callable[[], Parts],
        first: Opener,
        kept: KeptParts,
        chosen: Callable[[Opener], Columns | None],
    ) -> None:
        self._made, self.head, self._kept, self._chosen = made, first, kept, chosen

    def read(self) -> Parts:
        """All parts."""
        return self._kept.fill(self._made(), self._chosen)
