"""What a label says, in words."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from plausible._visible import name_of, set_in_words
from plausible.labels.kinds import CERTAIN

LONGEST = 160  # letters of a statement
MOST_CLASSES = 4  # classes with degrees that are named
LEAST = 0.005  # degrees below are not told


def statement_in_words(contour: NDArray[np.float64], names: Sequence[str]) -> str:
    """What plausibilities (K,) say: a class, a set, degrees, or nothing.

    Examples
    --------
    >>> statement_in_words(np.array([1.0, 0.4, 0.0]), ["cat", "dog", "eel"])
    'cat 1, dog 0.4'
    >>> statement_in_words(np.array([1.0, 0.001, 0.0]), ["cat", "dog", "eel"])
    'almost surely cat'
    >>> statement_in_words(np.array([1.0, 1.0, 0.0]), ["cat", "dog", "eel"])
    'cat or dog'
    >>> statement_in_words(np.ones(3), ["cat", "dog", "eel"])
    'cannot tell'
    """
    top = contour.max()
    if top <= 0:
        return "none of these"
    if contour.min() == top and len(names) > 1:
        return "cannot tell"
    is_crisp = ((contour <= CERTAIN) | (contour >= 1 - CERTAIN)).all()
    if is_crisp:
        possible = np.flatnonzero(contour > 0.5).tolist()
        return name_of(set_in_words([names[k] for k in possible]), LONGEST)
    order = np.argsort(-contour, kind="stable")
    worth = [int(k) for k in order if contour[k] >= LEAST]
    if len(worth) == 1 and contour[worth[0]] > 1 - LEAST:
        return f"almost surely {names[worth[0]]}"
    words = ", ".join(f"{names[k]} {round(contour[k], 2):g}" for k in worth[:MOST_CLASSES])
    more = ", ..." if len(worth) > MOST_CLASSES else ""
    return name_of(words + more, LONGEST)
