"""Answers with degrees: the best class, a second one, and classes held to be impossible.

"cifar10s" is read from the folder that PLAUSIBLE_DATA names, cifar10s/cifar10s.npz (a row for each
answer: image_id, top1, p1 and p2 in percent, top2 or -1, impossible (10,), y) and the features of
cifar10h/cifar10h_test.npz. An answer is a mass function: p1 on its best class, p2 on the second,
and the rest on all classes that were not excluded. Answers are discounted and combined by
Dempster's rule.
"""

import numpy as np
from numpy.typing import NDArray

from plausible.belief import dempster, discount
from plausible.checks import check_number, check_option
from plausible.datasets.pooling import estimate_doubt
from plausible.datasets.real import OBJECTS, Arrays, FloatArray, RealData, read_arrays
from plausible.labels import Labels

FILE = "cifar10s/cifar10s.npz"
KEYS = ("image_id", "top1", "p1", "top2", "p2", "impossible", "y")
N_CLASSES = len(OBJECTS)


def _answer_masses(arrays: Arrays) -> FloatArray:
    """Masses (answers, 2^K) of single answers."""
    first = np.nan_to_num(arrays["p1"].astype(np.float64), nan=100.0) / 100.0
    has_second = arrays["top2"] >= 0
    second = np.where(has_second, np.nan_to_num(arrays["p2"].astype(np.float64)) / 100.0, 0.0)
    total = np.maximum(first + second, 1.0)
    first, second = first / total, second / total
    possible = arrays["impossible"] == 0
    rows = np.arange(len(first))
    possible[rows, arrays["top1"]] = True
    possible[rows[has_second], arrays["top2"][has_second]] = True
    masses = np.zeros((len(first), 1 << N_CLASSES))
    np.add.at(masses, (rows, 1 << arrays["top1"].astype(np.int64)), first)
    np.add.at(masses, (rows, 1 << np.maximum(arrays["top2"], 0).astype(np.int64)), second)
    rest = possible @ (1 << np.arange(N_CLASSES))
    np.add.at(masses, (rows, rest), 1.0 - first - second)
    return masses


def _pooled_answers(masses: FloatArray, item: NDArray[np.int64], doubt: float) -> FloatArray:
    """Masses (items, 2^K) of all answers about each item, combined one by one."""
    turn = np.zeros(len(item), dtype=np.int64)
    for number in np.unique(item):
        turn[item == number] = np.arange((item == number).sum())
    pooled = np.zeros((int(item.max()) + 1, masses.shape[1]))
    pooled[:, -1] = 1.0
    for place in range(int(turn.max()) + 1):
        now = turn == place
        pooled[item[now]] = dempster(pooled[item[now]], discount(masses[now], doubt))
    return pooled


def load_elicited(name: str = "cifar10s", doubt: float | None = None) -> RealData:
    """Load a set whose people gave degrees.

    Parameters
    ----------
    name : {"cifar10s"}
    doubt : float, optional
        Doubt of each answer; by default as `estimate_doubt` finds it from the best classes.

    Returns
    -------
    RealData
        Its votes count the best classes; its labels are the pooled answers.

    Raises
    ------
    MissingDataError
        If the environment variable PLAUSIBLE_DATA is not set, or a file is not there.

    Examples
    --------
    >>> import os
    >>> from plausible.datasets import MissingDataError
    >>> folder = os.environ.pop("PLAUSIBLE_DATA", None)
    >>> try:
    ...     load_elicited("cifar10s")
    ... except MissingDataError as error:
    ...     print(error)                         # doctest: +ELLIPSIS
    The set 'cifar10s' should be in the file cifar10s/cifar10s.npz of the folder that ...
    >>> if folder is not None:
    ...     os.environ["PLAUSIBLE_DATA"] = folder
    """
    check_option(name, ("cifar10s",), "name")
    if doubt is not None:
        check_number(doubt, "doubt", 0.0, 1.0)
    arrays = read_arrays(name, FILE, KEYS)
    features = read_arrays(name, "cifar10h/cifar10h_test.npz", ("features",))["features"]
    images, first, item = np.unique(arrays["image_id"], return_index=True, return_inverse=True)
    votes = np.zeros((len(images), N_CLASSES))
    np.add.at(votes, (item, arrays["top1"]), 1.0)
    doubt = estimate_doubt(votes) if doubt is None else doubt
    masses = _pooled_answers(_answer_masses(arrays), item, doubt)
    labels = Labels.from_masses(masses, OBJECTS)
    y = arrays["y"][first].astype(np.int64)
    X = features[images].astype(np.float64)
    return RealData(name, X, np.asarray(OBJECTS), votes, labels, doubt, y, None)
