"""The lists of all checks, and how a check is written.

A check is a function that takes a `Subject` and raises an AssertionError if the estimator breaks
the promise that the first line of its docstring makes. It returns nothing, or a few words on what
it could not look at (an optional package that is missing, a method that the estimator does not
have).
"""

import functools
import re
from collections.abc import Callable
from typing import Any

from plausible.testing.subject import Subject

Check = Callable[[Subject], str | None]
CLASSIFIER_CHECKS: dict[str, Check] = {}
CLUSTERING_CHECKS: dict[str, Check] = {}

OWN_Y = "its y is not Labels"  # why checks of kinds of y do not apply where fit= is given


def _guarded(check: Check) -> Check:
    """A check in which whatever an estimator raises is a broken promise."""

    @functools.wraps(check)
    def run(subject: Subject) -> str | None:
        try:
            return check(subject)
        except AssertionError:
            raise
        except Exception as error:
            raise AssertionError(f"{type(error).__name__} was raised: {error}") from error

    return run


def _name(check: Check) -> str:
    return check.__name__.removeprefix("check_")


def promised(check: Check) -> Check:
    """Add a check to those of classifiers."""
    return CLASSIFIER_CHECKS.setdefault(_name(check), _guarded(check))


def promised_by_clusterings(check: Check) -> Check:
    """Add a check to those of clusterings."""
    return CLUSTERING_CHECKS.setdefault(_name(check), _guarded(check))


def assert_refused(
    action: Callable[[], Any], *words: str | int, error: type[Exception] = ValueError
) -> None:
    """The action raises the error, with a message in which all the words occur."""
    try:
        action()
    except error as raised:
        assert_says(raised, *words)
    else:
        raise AssertionError(f"{error.__name__} should be raised, naming {words}; nothing was")


def assert_says(error: Exception, *words: str | int) -> None:
    """All the words occur in the message of an error."""
    message = str(error)
    missing = [word for word in words if not re.search(rf"\b{word}", message, re.IGNORECASE)]
    assert not missing, f"the message should say {missing}, but is: {message}"
