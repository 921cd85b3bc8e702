"""The list of all checks, and how a check is written.

A check is a function that takes an `Entry` of the register and raises an AssertionError if the
estimator breaks the promise. It returns nothing, or a few words on what it could not look at (an
optional package that is missing, a method that the estimator does not have).
"""

import functools
import re
from collections.abc import Callable
from typing import Any

from conformance.register import Entry

Check = Callable[[Entry], str | None]
CHECKS: list[Check] = []


def promised(check: Check) -> Check:
    """Add a check to the list; whatever an estimator raises in it is a broken promise."""

    @functools.wraps(check)
    def run(entry: Entry) -> str | None:
        try:
            return check(entry)
        except AssertionError:
            raise
        except Exception as error:
            raise AssertionError(f"{type(error).__name__} was raised: {error}") from error

    CHECKS.append(run)
    return run


def assert_refused(
    action: Callable[[], Any], *words: str | int, error: type[Exception] = ValueError
) -> None:
    """The action raises the error, with a message in which all the words occur."""
    try:
        action()
    except error as raised:
        message = str(raised)
    else:
        raise AssertionError(f"{error.__name__} should be raised, naming {words}; nothing was")
    missing = [word for word in words if not re.search(rf"\b{word}", message, re.IGNORECASE)]
    assert not missing, f"the message should say {missing}, but is: {message}"
