"""Items that resemble one another: by their words, or by what people say of them.

Whoever settles a clash should settle its likes in the same way.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible.web.live import Live

MOST = 5  # items that are shown
LEAST = 0.1  # similarity from which an item is one
MOST_COMPARED = 20_000  # items; beyond these, only such with answers are looked at


class Similar:
    """Finds similar items; what it has read of them is kept."""

    def __init__(self, live: Live) -> None:
        self.live = live
        self.read: tuple[NDArray[np.int64], Any] | None = None  # rows, and their words

    def to(self, item: int) -> list[int]:
        """Places of items that resemble one, the likest first."""
        one = self.live.items[item]
        has_words = one.kind in ("text", "row") and any(map(str.isalpha, one.content))
        rows, likeness = self._by_words(item) if has_words else self._by_answers(item)
        likeness = np.where(rows == item, -1.0, likeness)
        order = np.argsort(-likeness, kind="stable")[:MOST]
        return [int(rows[k]) for k in order if likeness[k] >= LEAST]

    def _by_words(self, item: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Cosines of rare words in common."""
        from sklearn.feature_extraction.text import TfidfVectorizer

        live = self.live
        if self.read is None or item not in self.read[0]:
            rows = np.arange(len(live.items))
            if len(rows) > MOST_COMPARED:
                rows = np.union1d(np.flatnonzero(live.count), [item])
            texts = [live.items[row].content for row in rows.tolist()]
            reader = TfidfVectorizer(token_pattern=r"(?u)\b\w+\b", sublinear_tf=True)
            self.read = rows, reader.fit_transform(texts)
        rows, words = self.read
        place = int(np.searchsorted(rows, item))
        return rows, np.asarray((words @ words[place].T).todense()).ravel()

    def _by_answers(self, item: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """How near plausibilities are, among items with answers."""
        live = self.live
        rows = np.flatnonzero(live.count)
        contours = live.contours(rows)
        apart = np.abs(contours - live.contours(np.array([item]))).mean(axis=1)
        return rows, np.asarray(1 - apart)
