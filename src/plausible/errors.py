"""The error of the whole house: one sentence in three parts, which are its attributes.

What was expected, what came, and what to do. Whoever shows the error may say its last part in other
words: the command line names options where the library names parameters.
"""

from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray


class InputError(ValueError):
    """Something that came in is not what it should be.

    Parameters
    ----------
    expected : str
        ``"doubt should be in [0, 1]"``
    came : str
        ``"is not in 2 rows (rows 4, 9)"``
    remedy : str
        ``"write 0 for a sure answer"``. A name in braces, ``"say {kind}"``, stands for one of the
        `settings`.
    parameter : str, optional
        Which parameter was given what it should not be.
    value : optional
        What came, or a first example of it.
    rows : bool array or int array, optional
        The rows that are wrong, counted from 0: a mask, or numbers as `numpy.argwhere` gives them.
    settings : dict, optional
        Parameters that would mend it, with a value to give, or None.

    Attributes
    ----------
    expected, came, remedy, parameter, value, rows, settings

    Examples
    --------
    >>> error = InputError(
    ...     "Counts should be whole numbers", "0.5 was found", "say {kind} for shares",
    ...     parameter="table", settings={"kind": "probability"},
    ... )
    >>> print(error)
    Counts should be whole numbers, but 0.5 was found; say kind='probability' for shares.
    >>> error.in_words(lambda name, value: f"--{name} {value}")
    'Counts should be whole numbers, but 0.5 was found; say --kind probability for shares.'
    """

    def __init__(
        self,
        expected: str,
        came: str = "",
        remedy: str = "",
        *,
        parameter: str | None = None,
        value: Any = None,
        rows: NDArray[Any] | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self.expected, self.came, self.remedy = expected, came, remedy
        self.parameter, self.value = parameter, value
        self.rows = None if rows is None else _as_numbers(rows)
        self.settings = dict(settings or {})
        super().__init__(self.in_words(as_argument))

    def in_words(self, name_setting: Callable[[str, Any], str]) -> str:
        """The sentence, with settings as a function of their name and value writes them."""
        sentence = f"{self.expected}, but {self.came}" if self.came else self.expected
        if not self.remedy:
            return f"{sentence}."
        last = with_settings(self.remedy, self.settings, name_setting)
        return f"{sentence}; {last}{'' if last.endswith('?') else '.'}"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.__dict__, self.args)


class Note(str):
    """Something worth knowing about what was read, in words.

    Parameters
    ----------
    text : str
        A name in braces, ``"say {kind}"``, stands for one of the `settings`.
    **settings
        Parameters that would change what was done, with a value to give, or None.

    Examples
    --------
    >>> note = Note("'n/a' (3 answers) says nothing; {map} keeps it", map={"n/a": "n/a"})
    >>> note
    "'n/a' (3 answers) says nothing; map={'n/a': 'n/a'} keeps it"
    >>> note.in_words(lambda name, value: f"--{name}")
    "'n/a' (3 answers) says nothing; --map keeps it"
    """

    template: str
    settings: dict[str, Any]

    def __new__(cls, text: str, **settings: Any) -> Self:
        """A note whose settings are named as the library names them."""
        note = super().__new__(cls, with_settings(text, settings, as_argument))
        note.template, note.settings = text, settings
        return note

    def in_words(self, name_setting: Callable[[str, Any], str]) -> str:
        """The note, with settings as a function of their name and value writes them."""
        return with_settings(self.template, self.settings, name_setting)


def with_settings(
    text: str, settings: Mapping[str, Any], name_setting: Callable[[str, Any], str]
) -> str:
    """A text in which settings take the places of their names in braces."""
    for name, value in settings.items():
        text = text.replace(f"{{{name}}}", name_setting(name, value))
    return text


def as_argument(name: str, value: Any) -> str:
    """How the library names a setting: ``kind='probability'``, or ``kind=`` without a value."""
    return f"{name}=" if value is None else f"{name}={value!r}"


def _restored(cls: type[InputError], state: dict[str, Any], args: tuple[Any, ...]) -> InputError:
    error = cls.__new__(cls)
    error.__dict__.update(state)
    error.args = args
    return error


def _as_numbers(rows: NDArray[Any]) -> NDArray[np.int64]:
    given = np.asarray(rows)
    if given.dtype != bool:
        return given
    found = np.argwhere(given)
    return found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found
