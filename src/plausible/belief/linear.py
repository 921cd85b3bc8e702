"""The linear programs behind E-admissibility and specialization."""

from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

from plausible.belief.sets import FloatArray, IntArray

TOLERANCE = 1e-9  # how far a solution may be off; the solver works to a tenth of it
_OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def least_value(objective: FloatArray, **constraints: Any) -> float:
    """Minimum of a linear function under constraints as in `scipy.optimize.linprog`."""
    result = linprog(objective, options=_OPTIONS, **constraints)
    if result.status != 0:
        raise RuntimeError(f"A linear program could not be solved: {result.message}")
    return float(result.fun)


def incidence(owner: IntArray, n_owners: int) -> csr_array:
    """Matrix (owners, items) with a one where an item belongs to an owner."""
    items = np.arange(len(owner))
    return csr_array((np.ones(len(owner)), (owner, items)), shape=(n_owners, len(owner)))
