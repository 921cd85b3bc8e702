r"""What an answer would teach: the expected drop of entropy of a pooled label.

Of an item whose class is k with probability :math:`p_k`, a person who is right with probability a,
and errs evenly, says l with probability

.. math:: P(l) = a \, p_l + \frac{1 - a}{K - 1} (1 - p_l),

and the entropy of the class is expected to drop by the mutual information of class and answer,

.. math:: I = H(P) - h(a), \qquad h(a) = -a \log a - (1 - a) \log \frac{1 - a}{K - 1}.

Where people err together, one more answer to n others is worth less than an independent one, and
the drop is that share of it; see `plausible.experts.dependence`.
"""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def information(probability: FloatArray, accuracy: float) -> FloatArray:
    """Expected drop (n,) of the entropy of classes (n, K), in bits, by one answer.

    Examples
    --------
    >>> information(np.array([[0.5, 0.5], [0.9, 0.1], [1.0, 0.0]]), 1.0).round(3)
    array([1.   , 0.469, 0.   ])
    >>> information(np.array([[0.5, 0.5]]), 0.5).round(3)  # who guesses teaches nothing
    array([0.])
    """
    n_classes = probability.shape[1]
    if n_classes < 2:
        return np.zeros(len(probability))
    wrong = (1 - accuracy) / (n_classes - 1)
    said = accuracy * probability + wrong * (1 - probability)
    noise = _surprise(np.array([accuracy])) + (n_classes - 1) * _surprise(np.array([wrong]))
    return np.maximum(_surprise(said).sum(axis=1) - noise, 0.0) / np.log(2)


def _surprise(share: FloatArray) -> FloatArray:
    """-p log p, and 0 at 0."""
    logs = np.log(share, out=np.zeros_like(share), where=share > 0)
    return np.asarray(-share * logs)


def worth_of_next(n_answers: FloatArray, shared: float) -> FloatArray:
    """Independent answers (n,) that one more is worth to items with so many.

    Examples
    --------
    >>> worth_of_next(np.array([0.0, 1.0, 2.0, 5.0]), 0.5).round(2)
    array([1.  , 0.33, 0.17, 0.05])
    """

    def worth(count: FloatArray) -> FloatArray:
        return count / (1 + np.maximum(count - 1, 0.0) * shared)

    return np.asarray(worth(n_answers + 1) - worth(n_answers))
