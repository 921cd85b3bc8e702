"""Running the checks: all at once, or each as a test of its own."""

import unittest
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from textwrap import indent
from typing import Any

from sklearn.base import is_classifier, is_clusterer

from plausible.checks import check_option
from plausible.errors import InputError

# Importing a file of checks puts them on the lists.
from plausible.testing import answers, citizen, clusterings, data, knowledge
from plausible.testing.promises import CLASSIFIER_CHECKS, CLUSTERING_CHECKS, Check
from plausible.testing.subject import Fit, Habit, Subject

__all__ = ["answers", "citizen", "clusterings", "data", "knowledge"]


@dataclass(frozen=True)
class Checked:
    """What came of the checks of an estimator that keeps its promises.

    Attributes
    ----------
    passed : tuple of str
        Checks that found nothing.
    skipped : dict
        Checks that did not look, with the reason.

    Examples
    --------
    >>> Checked(("row_scale",), {"masses": "has no predict_mass"})
    1 check passed; not looked at:
      masses: has no predict_mass
    """

    passed: tuple[str, ...]
    skipped: dict[str, str]

    def __repr__(self) -> str:
        count = f"{len(self.passed)} {'check' if len(self.passed) == 1 else 'checks'} passed"
        if not self.skipped:
            return f"{count}, and nothing was left out"
        lines = [f"  {name}: {reason}" for name, reason in self.skipped.items()]
        return "\n".join([f"{count}; not looked at:", *lines])


def checks_of(subject: Subject) -> dict[str, Check]:
    """Checks for the kind of estimator; names that are left out must be among them."""
    if is_classifier(subject.estimator):
        checks = CLASSIFIER_CHECKS
    elif is_clusterer(subject.estimator):
        checks = CLUSTERING_CHECKS
    else:
        raise InputError(
            "estimator should be a classifier or a clustering by its tags",
            f"{type(subject.estimator).__name__} is neither",
            "derive it from ClassifierMixin or ClusterMixin of scikit-learn, before BaseEstimator",
            parameter="estimator",
        )
    for name in subject.leave_out:
        check_option(name, tuple(checks), "A check in leave_out")
    return checks


def run_check(subject: Subject, name: str) -> None:
    """Run one check: AssertionError for a broken promise, SkipTest for what it does not look at."""
    check = checks_of(subject)[name]
    reason = subject.leave_out[name] if name in subject.leave_out else check(subject)
    if reason:
        raise unittest.SkipTest(reason)


def checks_for(
    estimator: Any,
    *,
    fit: Fit | None = None,
    weighted: bool | None = None,
    unknown: Habit | None = None,
    y_none: Habit | None = None,
    leave_out: Mapping[str, str] | None = None,
) -> Iterator[tuple[str, Callable[[], None]]]:
    """The checks of an estimator one by one, so that each can be a test.

    Each raises an AssertionError if the promise is broken, and `unittest.SkipTest`, which pytest
    understands, with the reason if it does not look.

    Parameters
    ----------
    estimator, fit, weighted, unknown, y_none, leave_out
        As for `check_estimator`.

    Yields
    ------
    name : str
    check : function without arguments

    Examples
    --------
    In a file of tests, with ``@pytest.mark.parametrize("name", CHECKS)`` above the test:

    >>> from plausible.models import SoftNearestCentroid
    >>> CHECKS = dict(checks_for(SoftNearestCentroid()))
    >>> def test_keeps_its_promise(name):
    ...     CHECKS[name]()
    >>> test_keeps_its_promise("row_scale")
    """
    subject = Subject(estimator, fit, weighted, unknown, y_none, leave_out or {})
    for name in checks_of(subject):
        yield name, partial(run_check, subject, name)


def check_estimator(
    estimator: Any,
    *,
    fit: Fit | None = None,
    weighted: bool | None = None,
    unknown: Habit | None = None,
    y_none: Habit | None = None,
    leave_out: Mapping[str, str] | None = None,
) -> Checked:
    """Whether an estimator keeps the promises that all estimators of this library make.

    Parameters
    ----------
    estimator : classifier or clustering
        Not fitted, with a fixed random_state where it has one; each check takes a clone of it.
    fit : function (estimator, X, labels, sample_weight) -> fitted estimator, optional
        How to fit an estimator whose y is not Labels. It is given Labels (None for a clustering)
        and weights (or None). Checks of what y may be do not look then.
    weighted : bool, optional
        Whether fit takes sample_weight; by default found out from its signature.
    unknown, y_none : {"works", "refuses"}, optional
        What fit does with labels that say nothing, and with y=None. By default both are good: to
        work, or to refuse with a message that asks for labels.
    leave_out : dict, optional
        Checks to leave out by their names, each with the reason.

    Returns
    -------
    Checked
        What passed, and what was not looked at, with the reasons.

    Raises
    ------
    AssertionError
        Which lists all promises that are broken, and what was found.

    Examples
    --------
    Clusterings of scikit-learn are at home here, too, as far as they go:

    >>> from sklearn.cluster import KMeans
    >>> later = {"scikit_learn": "takes some seconds"}
    >>> check_estimator(KMeans(2, n_init=3, random_state=0), leave_out=later)
    11 checks passed; not looked at:
      scikit_learn: takes some seconds
      clustering_masses: has no masses_
      clustering_partition: has no partition_ with masses_

    A classifier that hears hard labels only is not one of us:

    >>> from sklearn.naive_bayes import GaussianNB
    >>> try:
    ...     dict(checks_for(GaussianNB()))["degrees_matter"]()
    ... except AssertionError:
    ...     print("doubted labels count like sure ones")
    doubted labels count like sure ones
    """
    passed: list[str] = []
    skipped: dict[str, str] = {}
    broken: dict[str, str] = {}
    checks = checks_for(
        estimator, fit=fit, weighted=weighted, unknown=unknown, y_none=y_none, leave_out=leave_out
    )
    for name, check in checks:
        try:
            check()
        except unittest.SkipTest as skip:
            skipped[name] = str(skip)
        except AssertionError as error:
            broken[name] = str(error).strip()
        else:
            passed.append(name)
    if broken:
        raise AssertionError(_complaint(type(estimator).__name__, broken, len(passed)))
    return Checked(tuple(passed), skipped)


def _complaint(name: str, broken: Mapping[str, str], n_kept: int) -> str:
    """All broken promises of an estimator, by the names of the checks."""
    promises = "promise" if len(broken) == 1 else "promises"
    lines = [f"{check}: {indent(found, '    ').strip()}" for check, found in broken.items()]
    return "\n".join([f"{name} breaks {len(broken)} {promises} and keeps {n_kept}:", *lines])
