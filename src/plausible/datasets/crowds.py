"""Answers of crowds with the truth, read from the folder that PLAUSIBLE_DATA names.

==================  ==========================================================================
labelme             labelme/labelme.npz: X_train, answers (n, workers; -1 none), y_train, X_test,
                    y_test
music_genre         music_genre/music_genre.npz: the same, and classes
sentiment_polarity  sentiment_polarity/sentiment_polarity.npz: X_train, y_train, X_test, y_test,
                    answer_item, answer_annotator, answer_label
cifar10n            cifar10n/cifar10n_train.npz: features, y, annotations (n, 3). Who gave an answer
                    is not known: the three columns stand for three annotators. The first 10,000
                    images are for training, the next 10,000 for tests
bluebirds, dogs,    crowd_answers_only/<name>.npz: item, worker, label, y. No features
face_sentiment,
product
==================  ==========================================================================
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plausible.checks import check_option
from plausible.datasets.real import OBJECTS, SCENES, Arrays, FloatArray, IntArray, locate
from plausible.experts import Annotations

N_IMAGES = 10_000  # of cifar10n, for training and again for tests


@dataclass(frozen=True)
class CrowdData:
    """What `load_crowd` returns.

    Attributes
    ----------
    name : str
    annotations : Annotations
        An item for each training row, in their order; annotators are numbers.
    y : int array (n,)
        True classes of the items, places in `annotations.classes`.
    X : array (n, d) or None
    X_test, y_test : arrays (m, d), (m,), or None

    Examples
    --------
    >>> from plausible.experts import Annotations
    >>> answers = Annotations.from_answers([[0, 1], [1, 1]])
    >>> CrowdData("two items", answers, np.array([0, 1])).X is None
    True
    """

    name: str
    annotations: Annotations
    y: IntArray
    X: FloatArray | None = None
    X_test: FloatArray | None = None
    y_test: IntArray | None = None


def load_crowd(name: str) -> CrowdData:
    """Load answers of a crowd, with the truth.

    Parameters
    ----------
    name : {"labelme", "music_genre", "sentiment_polarity", "cifar10n", "bluebirds", "dogs", \
"face_sentiment", "product"}

    Returns
    -------
    CrowdData

    Raises
    ------
    MissingDataError
        If the environment variable PLAUSIBLE_DATA is not set, or the file is not there.

    Examples
    --------
    >>> import os
    >>> from plausible.datasets import MissingDataError
    >>> folder = os.environ.pop("PLAUSIBLE_DATA", None)
    >>> try:
    ...     load_crowd("dogs")
    ... except MissingDataError as error:
    ...     print(error)                         # doctest: +ELLIPSIS
    The set 'dogs' should be in the file crowd_answers_only/dogs.npz of the folder that ...
    >>> if folder is not None:
    ...     os.environ["PLAUSIBLE_DATA"] = folder
    """
    check_option(name, CROWD_NAMES, "name")
    with np.load(locate(name, FILES[name]), allow_pickle=False) as stored:
        arrays = {key: stored[key] for key in stored.files if key != "grey16"}
    try:
        return READERS.get(name, read_answers)(name, arrays)
    except KeyError as error:
        raise ValueError(
            f"{FILES[name]} should hold an array {error}, but holds {sorted(arrays)}; compare it "
            "with the table in plausible.datasets.crowds."
        ) from None


def _read_split(name: str, arrays: Arrays) -> CrowdData:
    """A column of answers for each worker, and a test set."""
    classes = SCENES if name == "labelme" else arrays["classes"].tolist()
    return _with_features(name, arrays, arrays["answers"], classes)


def _read_sentiment(name: str, arrays: Arrays) -> CrowdData:
    """A row for each answer, and a test set."""
    table = spread(
        arrays["answer_item"],
        arrays["answer_annotator"],
        arrays["answer_label"],
        len(arrays["y_train"]),
    )
    return _with_features(name, arrays, table, ["negative", "positive"])


def _read_cifar10n(name: str, arrays: Arrays) -> CrowdData:
    """Three answers for each image; a training and a test part of equal size."""
    size = min(N_IMAGES, len(arrays["y"]) // 2)
    parts = {
        f"{key}_{part}": arrays[source][first : first + size]
        for key, source in (("X", "features"), ("y", "y"))
        for part, first in (("train", 0), ("test", size))
    }
    return _with_features(name, parts, arrays["annotations"][:size], OBJECTS)


def read_answers(name: str, arrays: Arrays) -> CrowdData:
    """A row for each answer, and nothing else."""
    y = arrays["y"].astype(np.int64)
    table = spread(arrays["item"], arrays["worker"], arrays["label"], len(y))
    return CrowdData(name, _annotate(table, [str(k) for k in range(table.max() + 1)]), y)


def _with_features(
    name: str, arrays: Arrays, answers: NDArray[np.integer], classes: list[str]
) -> CrowdData:
    """A set with training and test rows."""
    y, y_test = (arrays[f"y_{part}"].astype(np.int64) for part in ("train", "test"))
    X, X_test = (arrays[f"X_{part}"].astype(np.float64) for part in ("train", "test"))
    return CrowdData(name, _annotate(answers, classes), y, X, X_test, y_test)


def spread(
    item: NDArray[np.integer], worker: NDArray[np.integer], said: NDArray[np.integer], n: int
) -> IntArray:
    """A row for each item and a column for each worker; -1 where there is no answer."""
    table = np.full((n, int(worker.max()) + 1), -1)
    table[item, worker] = said
    return table


def _annotate(answers: NDArray[np.integer], classes: list[str]) -> Annotations:
    """Answers by the names of the classes; every row is an item, even one without answers."""
    named = np.append(np.asarray(classes), "")  # -1, the last one, is no answer
    return Annotations.from_answers(named[answers], classes)


FILES = {
    "labelme": "labelme/labelme.npz",
    "music_genre": "music_genre/music_genre.npz",
    "sentiment_polarity": "sentiment_polarity/sentiment_polarity.npz",
    "cifar10n": "cifar10n/cifar10n_train.npz",
    "bluebirds": "crowd_answers_only/bluebirds.npz",
    "dogs": "crowd_answers_only/dogs.npz",
    "face_sentiment": "crowd_answers_only/face_sentiment.npz",
    "product": "crowd_answers_only/product.npz",
}
READERS: dict[str, Callable[[str, Arrays], CrowdData]] = {
    "labelme": _read_split,
    "music_genre": _read_split,
    "sentiment_polarity": _read_sentiment,
    "cifar10n": _read_cifar10n,
}
CROWD_NAMES = tuple(FILES)
