"""Log evidence as log probabilities."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

FloatArray = NDArray[np.float64]


def log_normalized(evidence: FloatArray) -> FloatArray:
    """Log probabilities (n, K) from log evidence, each row up to a constant."""
    shifted = evidence - evidence.max(axis=1, keepdims=True)
    return shifted - logsumexp(shifted, axis=1, keepdims=True)
