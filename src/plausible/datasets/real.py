"""Real sets with human doubt, read from the folder that PLAUSIBLE_DATA names.

The sets are not bundled. Each is one npz file, ``<folder>/<name>/<file>.npz``:

===========  ==================  ==========================================================
ferplus      ferplus.npz         features, votes (n, 10: eight expressions, unknown, no face),
                                 split (0 train, 1 validation, 2 test)
cifar10h     cifar10h_test.npz   features, y, human_counts (n, 10)
labelme      labelme.npz         X_train, answers (n, workers; -1 none), y_train, X_valid, y_valid,
                                 X_test, y_test
music_genre  music_genre.npz     X_train, answers, y_train, X_test, y_test, classes
sjaffe       sjaffe.npz          X, distribution (n, 6)
===========  ==================  ==========================================================
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible.checks import check_option
from plausible.datasets.pooling import estimate_doubt, pool_votes
from plausible.labels import Labels

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Arrays = Mapping[str, NDArray[Any]]

VARIABLE = "PLAUSIBLE_DATA"
EXPRESSIONS = [
    "neutral",
    "happiness",
    "surprise",
    "sadness",
    "anger",
    "disgust",
    "fear",
    "contempt",
]
OBJECTS = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]
SCENES = [
    "highway",
    "inside city",
    "tall building",
    "street",
    "forest",
    "coast",
    "mountain",
    "open country",
]
EMOTIONS = ["happiness", "sadness", "surprise", "anger", "disgust", "fear"]


class MissingDataError(FileNotFoundError):
    """A data set that is not bundled was not found.

    Attributes
    ----------
    reason : str
        Why it was not, and what to do.

    Examples
    --------
    >>> error = MissingDataError("The set should be in a file", "the folder is empty; fill it")
    >>> print(error)
    The set should be in a file, but the folder is empty; fill it.
    """

    def __init__(self, expected: str, reason: str = "") -> None:
        super().__init__(f"{expected}, but {reason}." if reason else expected)
        self.reason = reason


@dataclass(frozen=True)
class RealData:
    """What `load` returns.

    Attributes
    ----------
    name : str
    X : array (n, d)
    classes : array (K,)
    votes : array (n, K)
        How many people chose each class, zeros where nobody was asked or nobody could tell; for
        "sjaffe", the mean rating as a share.
    labels : Labels
        Votes as doubted answers, pooled by Dempster's rule; for "sjaffe", the ratings relative to
        the highest as plausibilities.
    doubt : float or None
        Doubt of each vote behind `labels`.
    y : int array (n,) or None
        True classes as columns of `votes`, where they exist.
    split : array (n,) of "train", "valid" and "test", or None

    Examples
    --------
    >>> labels = Labels.from_crisp(["a", "b"])
    >>> X, names = np.zeros((2, 1)), labels.classes
    >>> RealData("two items", X, names, np.eye(2), labels, 0.1, None, None).doubt
    0.1
    """

    name: str
    X: FloatArray
    classes: NDArray[np.str_]
    votes: FloatArray
    labels: Labels
    doubt: float | None
    y: IntArray | None
    split: NDArray[np.str_] | None


def load(name: str, doubt: float | None = None) -> RealData:
    """Load a set with human doubt about its labels.

    Parameters
    ----------
    name : {"ferplus", "cifar10h", "labelme", "music_genre", "sjaffe"}
    doubt : float, optional
        Doubt of each vote; by default as `estimate_doubt` finds it on the training rows.

    Returns
    -------
    RealData

    Raises
    ------
    MissingDataError
        If the environment variable PLAUSIBLE_DATA is not set, or the file is not there.

    Examples
    --------
    >>> import os
    >>> folder = os.environ.pop("PLAUSIBLE_DATA", None)
    >>> try:
    ...     load("sjaffe")
    ... except MissingDataError as error:
    ...     print(error)                         # doctest: +ELLIPSIS
    The set 'sjaffe' should be in the file sjaffe/sjaffe.npz of the folder that ...
    >>> if folder is not None:
    ...     os.environ["PLAUSIBLE_DATA"] = folder
    """
    check_option(name, NAMES, "name")
    path = locate(name, FILES[name])
    with np.load(path, allow_pickle=False) as stored:
        arrays = {key: stored[key] for key in stored.files if key != "grey"}
    try:
        return READERS[name](arrays, doubt)
    except KeyError as error:
        raise ValueError(
            f"{FILES[name]} should hold an array {error}, but holds {sorted(arrays)}; compare it "
            "with the table in plausible.datasets.real."
        ) from None


def locate(name: str, file: str) -> Path:
    """Path of a set's file, or an error that says what is missing and where it should be."""
    folder = os.environ.get(VARIABLE)
    expected = f"The set {name!r} should be in the file {file} of the folder that {VARIABLE} names"
    if not folder:
        raise MissingDataError(
            expected,
            f"{VARIABLE} is not set; download the set and set {VARIABLE} to the folder above it",
        )
    path = Path(folder) / file
    if not path.is_file():
        raise MissingDataError(
            expected,
            f"there is no such file in {folder!r}; put it there, or set {VARIABLE} to another "
            "folder",
        )
    return path


def read_arrays(name: str, file: str, keys: tuple[str, ...]) -> dict[str, NDArray[Any]]:
    """Arrays of a file, or an error that names those it should hold."""
    with np.load(locate(name, file), allow_pickle=False) as stored:
        if set(keys) - set(stored.files):
            raise ValueError(
                f"{file} should hold the arrays {', '.join(keys)}, but holds "
                f"{sorted(stored.files)}; get the file again."
            )
        return {key: stored[key] for key in keys}


def make(
    name: str,
    X: NDArray[Any],
    classes: list[str],
    votes: NDArray[Any],
    doubt: float | None,
    y: NDArray[Any] | None = None,
    split: NDArray[np.str_] | None = None,
) -> RealData:
    """A set whose votes are pooled; doubt comes from the training rows unless it is given."""
    counts = votes.astype(np.float64)
    names = np.asarray(classes)
    if doubt is None:
        doubt = estimate_doubt(counts if split is None else counts[split == "train"])
    labels = pool_votes(counts, doubt, names.tolist())
    true = None if y is None else y.astype(np.int64)
    return RealData(name, X.astype(np.float64), names, counts, labels, doubt, true, split)


def _read_ferplus(arrays: Arrays, doubt: float | None) -> RealData:
    """Votes "unknown" and "not a face" say nothing about the expression, and are left out."""
    split = np.array(["train", "valid", "test"])[arrays["split"]]
    votes = arrays["votes"][:, : len(EXPRESSIONS)]
    return make("ferplus", arrays["features"], EXPRESSIONS, votes, doubt, split=split)


def _read_cifar10h(arrays: Arrays, doubt: float | None) -> RealData:
    """Counts of about fifty people; no split."""
    votes = arrays["human_counts"]
    return make("cifar10h", arrays["features"], OBJECTS, votes, doubt, y=arrays["y"])


def _read_labelme(arrays: Arrays, doubt: float | None) -> RealData:
    """Answers for the training images, truth for all."""
    return _read_crowd("labelme", arrays, SCENES, ("train", "valid", "test"), doubt)


def _read_music_genre(arrays: Arrays, doubt: float | None) -> RealData:
    """Answers for the training clips, truth for all."""
    return _read_crowd("music_genre", arrays, arrays["classes"].tolist(), ("train", "test"), doubt)


def _read_crowd(
    name: str, arrays: Arrays, classes: list[str], parts: tuple[str, ...], doubt: float | None
) -> RealData:
    """A set in which only the training part was shown to people."""
    X = np.concatenate([arrays[f"X_{part}"] for part in parts])
    y = np.concatenate([arrays[f"y_{part}"] for part in parts])
    split = np.repeat(parts, [len(arrays[f"y_{part}"]) for part in parts])
    votes = np.zeros((len(X), len(classes)))
    answers = arrays["answers"]
    votes[: len(answers)] = (answers[:, :, None] == np.arange(len(classes))).sum(axis=1)
    return make(name, X, classes, votes, doubt, y, split)


def _read_sjaffe(arrays: Arrays, doubt: float | None) -> RealData:
    """Mean ratings, as plausibilities relative to the highest; `doubt` discounts them."""
    ratings = arrays["distribution"].astype(np.float64)
    names = np.asarray(EMOTIONS)
    scaled = ratings / ratings.max(axis=1, keepdims=True)
    labels = Labels.from_plausibility(scaled, names.tolist())
    if doubt is not None:
        labels = labels.discount(doubt)
    X = arrays["X"].astype(np.float64)
    return RealData("sjaffe", X, names, ratings, labels, doubt, None, None)


READERS: dict[str, Callable[[Arrays, float | None], RealData]] = {
    "ferplus": _read_ferplus,
    "cifar10h": _read_cifar10h,
    "labelme": _read_labelme,
    "music_genre": _read_music_genre,
    "sjaffe": _read_sjaffe,
}
FILES = {
    "ferplus": "ferplus/ferplus.npz",
    "cifar10h": "cifar10h/cifar10h_test.npz",
    "labelme": "labelme/labelme.npz",
    "music_genre": "music_genre/music_genre.npz",
    "sjaffe": "sjaffe/sjaffe.npz",
}
NAMES = tuple(FILES)
