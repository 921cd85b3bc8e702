"""Every estimator of the register keeps every promise, ours and scikit-learn's."""

import re

import pytest
from sklearn.utils.estimator_checks import check_estimator

from conformance.checks import CHECKS
from conformance.register import ESTIMATORS

# Reasons that scikit-learn gives when an optional package is missing or not switched on.
OPTIONAL = r"not installed|not importable|SCIPY_ARRAY_API is not set"


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_keeps_the_promise(name, check):
    not_looked_at = check(ESTIMATORS[name])
    if not_looked_at:
        pytest.skip(not_looked_at)


# scikit-learn's checks leave classes with no or hardly any items, and so rightly cause warnings.
@pytest.mark.filterwarnings("ignore::plausible.models.EmptyClassWarning")
@pytest.mark.filterwarnings("ignore::plausible.models.SingularCovarianceWarning")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_passes_the_checks_of_scikit_learn(name):
    # Results are collected: a skipped check would be a warning, and so an error, otherwise.
    results = check_estimator(ESTIMATORS[name].make(), on_skip=None, on_fail=None)
    assert len(results) > 40
    failed = {
        result["check_name"]: repr(result["exception"])
        for result in results
        if result["status"] != "passed" and not _skipped_for_a_package(result)
    }
    assert not failed


def _skipped_for_a_package(result):
    return result["status"] == "skipped" and re.search(OPTIONAL, str(result["exception"]))
