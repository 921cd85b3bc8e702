"""All checks that an estimator has to pass, gathered from the files that hold them."""

from conformance import citizen, data, knowledge
from conformance.promises import CHECKS, Check

__all__ = ["CHECKS", "Check", "citizen", "data", "knowledge"]
