"""Names of a package that are loaded when they are first used, so that importing it is cheap."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def late_names(
    package: str, public: Sequence[str], homes: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a package, from the names that each of its modules holds.

    Parameters
    ----------
    package : str
        Name of the package.
    public : sequence of str
        Its ``__all__``.
    homes : mapping from str to sequence of str
        For each module the names that come from it.
    """
    home_of = {name: module for module, names in homes.items() for name in names}

    def load(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(home_of[name]), name)
        setattr(import_module(package), name, value)  # the next time is an ordinary look-up
        return value

    return load, lambda: sorted(public)
