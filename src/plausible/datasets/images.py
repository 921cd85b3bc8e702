"""Images in classes of several kinds, read from the folder that PLAUSIBLE_DATA names.

=========  ============================================================================
mnist_3_5  mnist_3_5/mnist_3_5.npz: X (n, 784), y 3 or 5, is_test
cifar10    cifar10n/cifar10n_train.npz: grey16 (n, 256), y 0 to 9;
           cifar10h/cifar10h_test.npz: grey (n, 1024), which is averaged to 16 x 16, y
emnist     emnist_balanced/emnist47.npz: X (n, 784), y 0 to 46, group 0 to 2, is_test
=========  ============================================================================
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plausible.checks import check_option
from plausible.datasets.real import OBJECTS, IntArray, read_arrays

TRANSPORT = ("airplane", "automobile", "ship", "truck")


@dataclass(frozen=True)
class ImageData:
    """What `load_images` returns.

    Attributes
    ----------
    name : str
    X : float32 array (n, pixels)
        Grays from 0 to 1.
    y : int array (n,)
        Class, a place in `classes`.
    kinds : int array (n,)
        Kind within all classes: the digit, object or character.
    classes : tuple of str
    is_test : bool array (n,)

    Examples
    --------
    >>> X, y = np.zeros((2, 4), dtype=np.float32), np.array([0, 1])
    >>> ImageData("two", X, y, y, ("a", "b"), np.array([False, True])).classes
    ('a', 'b')
    """

    name: str
    X: NDArray[np.float32]
    y: IntArray
    kinds: IntArray
    classes: tuple[str, ...]
    is_test: NDArray[np.bool_]


def load_images(name: str) -> ImageData:
    """Load images in classes of several kinds.

    Parameters
    ----------
    name : {"mnist_3_5", "cifar10", "emnist"}

    Returns
    -------
    ImageData

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
    ...     load_images("emnist")
    ... except MissingDataError as error:
    ...     print(error)                         # doctest: +ELLIPSIS
    The set 'emnist' should be in the file emnist_balanced/emnist47.npz of the folder that ...
    >>> if folder is not None:
    ...     os.environ["PLAUSIBLE_DATA"] = folder
    """
    check_option(name, IMAGE_NAMES, "name")
    return READERS[name]()


def grays(values: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Bytes as numbers from 0 to 1."""
    return values.astype(np.float32) / np.float32(255.0)


def _read_mnist_3_5() -> ImageData:
    """Digits 3 and 5."""
    file = "mnist_3_5/mnist_3_5.npz"
    arrays = read_arrays("mnist_3_5", file, ("X", "y", "is_test"))
    digits = arrays["y"].astype(np.int64)
    classes = ("digit 3", "digit 5")
    y = (digits == 5).astype(np.int64)
    return ImageData("mnist_3_5", grays(arrays["X"]), y, digits, classes, arrays["is_test"])


def _read_cifar10() -> ImageData:
    """Animals and means of transport, in 16 x 16 grays."""
    train = read_arrays("cifar10", "cifar10n/cifar10n_train.npz", ("grey16", "y"))
    test = read_arrays("cifar10", "cifar10h/cifar10h_test.npz", ("grey", "y"))
    blocks = grays(test["grey"]).reshape(-1, 16, 2, 16, 2)
    X = np.concatenate([grays(train["grey16"]), blocks.mean(axis=(2, 4)).reshape(-1, 256)])
    kinds = np.concatenate([train["y"], test["y"]]).astype(np.int64)
    y = np.array([name in TRANSPORT for name in OBJECTS])[kinds].astype(np.int64)
    is_test = np.arange(len(y)) >= len(train["y"])
    return ImageData("cifar10", X, y, kinds, ("animal", "transport"), is_test)


def _read_emnist() -> ImageData:
    """Digits, capitals and lower case letters."""
    arrays = read_arrays("emnist", "emnist_balanced/emnist47.npz", ("X", "y", "group", "is_test"))
    kinds, y = (arrays[key].astype(np.int64) for key in ("y", "group"))
    classes = ("digits", "capitals", "lower case")
    return ImageData("emnist", grays(arrays["X"]), y, kinds, classes, arrays["is_test"])


READERS: dict[str, Callable[[], ImageData]] = {
    "mnist_3_5": _read_mnist_3_5,
    "cifar10": _read_cifar10,
    "emnist": _read_emnist,
}
IMAGE_NAMES = tuple(READERS)
