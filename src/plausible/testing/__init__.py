"""Is an estimator one of them? Checks of the promises that all estimators here make.

`check_estimator` runs them all, `checks_for` gives them one by one for a file of tests. They are
for estimators of anybody: classifiers that take `Labels`, and clusterings.
"""

from plausible.testing.running import Checked, check_estimator, checks_for

__all__ = ["Checked", "check_estimator", "checks_for"]
