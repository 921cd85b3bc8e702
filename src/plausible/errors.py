"""The error of the whole house: one sentence in three parts, which are its attributes.

What was expected, what came, and what to do. Whoever shows the error may say its last part in other
words: the command line names options where the library names parameters.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:  # the command line names this error before it needs numpy
    import numpy as np
    from numpy.typing import NDArray


class InputError(ValueError):
    """Something that came in is not what it should be.

    Parameters
    ----------
    expected : str
        ``"doubt should be in [0, 1]"``, or a whole sentence with all three parts.
    came : str
        ``"is not in 2 rows (rows 4, 9)"``
    remedy : str or sequence of str
        ``"write 0 for a sure answer"``, or several things to do, of which one is enough. A name in
        braces, ``"say {kind}"``, stands for one of the `settings`.
    parameter : str, optional
        Which parameter was given what it should not be.
    value : optional
        What came, or a first example of it.
    rows : bool array or int array, optional
        The rows that are wrong, counted from 0: a mask, or numbers as `numpy.argwhere` gives them.
    settings : dict, optional
        Parameters that would fix it, with a value to give, or None.

    Attributes
    ----------
    expected, came, parameter, value, rows, settings
        As above.
    remedy : str
        What to do, as the library says it.
    remedies : tuple of str
        The same one by one, with the names of settings in braces.

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
        remedy: str | Sequence[str] = "",
        *,
        parameter: str | None = None,
        value: Any = None,
        rows: "NDArray[Any] | np.bool_ | None" = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self.expected, self.came = expected, came
        given = (remedy,) if isinstance(remedy, str) else tuple(remedy)
        self.remedies = tuple(one for one in given if one)
        self.parameter, self.value = parameter, value
        self.rows = None if rows is None else _as_numbers(rows)
        self.settings = dict(settings or {})
        self.remedy = self.remedy_in_words(as_argument)
        super().__init__(self.in_words(as_argument))

    def in_words(self, name_setting: Callable[[str, Any], str | None]) -> str:
        """The sentence, with settings as a function of their name and value writes them.

        Where the function answers None, the caller has no such setting, and what would have to be
        done with it is not said.
        """
        sentence = f"{self.expected}, but {self.came}" if self.came else self.expected
        last = self.remedy_in_words(name_setting)
        whole = f"{sentence}; {last}" if last else sentence
        return whole if whole.endswith((".", "?")) else f"{whole}."

    def remedy_in_words(self, name_setting: Callable[[str, Any], str | None]) -> str:
        """What to do, as in `in_words`; empty where nothing is left that the caller can do."""
        named = {name: name_setting(name, value) for name, value in self.settings.items()}
        missing = [f"{{{name}}}" for name, words in named.items() if words is None]
        left = [one for one in self.remedies if not any(name in one for name in missing)]
        for name, words in named.items():
            left = [one.replace(f"{{{name}}}", words or "") for one in left]
        last = ", or ".join(left[-2:])
        return ", ".join([*left[:-2], last])

    def prefixed(self, words: str, kind: "type[InputError] | None" = None) -> "InputError":
        """The same error with words before it, such as the name of a file."""
        again = _restored(kind or type(self), self.__dict__, self.args)
        again.expected = words + self.expected
        again.args = (again.in_words(as_argument),)
        return again

    def without(self, *names: str) -> Self:
        """The same error for a caller who does not have the settings of these names."""
        self.remedies = tuple(
            one for one in self.remedies if not any(f"{{{name}}}" in one for name in names)
        )
        self.settings = {name: v for name, v in self.settings.items() if name not in names}
        self.remedy = self.remedy_in_words(as_argument)
        self.args = (self.in_words(as_argument),)
        return self

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

    def in_words(self, name_setting: Callable[[str, Any], str | None]) -> str:
        """The note, with settings as a function of their name and value writes them."""
        return with_settings(self.template, self.settings, name_setting)


def with_settings(
    text: str, settings: Mapping[str, Any], name_setting: Callable[[str, Any], str | None]
) -> str:
    """A text in which settings take the places of their names in braces."""
    for name, value in settings.items():
        text = text.replace(f"{{{name}}}", name_setting(name, value) or as_argument(name, value))
    return text


def in_context(error: Exception, words: str, kind: type[InputError]) -> InputError:
    """An error of another kind, with words before it; it keeps what it knows."""
    if isinstance(error, InputError):
        return error.prefixed(words, kind)
    return kind(f"{words}{error}")


def as_argument(name: str, value: Any) -> str:
    """How the library names a setting: ``kind='probability'``, or ``kind=`` without a value."""
    return f"{name}=" if value is None else f"{name}={value!r}"


def _restored(cls: type[InputError], state: dict[str, Any], args: tuple[Any, ...]) -> InputError:
    error = cls.__new__(cls)
    error.__dict__.update(state)
    error.args = args
    return error


def _as_numbers(rows: "NDArray[Any] | np.bool_") -> "NDArray[np.int64]":
    import numpy as np

    given = np.asarray(rows)
    if given.dtype != bool:
        return given
    found = np.argwhere(given)
    return found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found
