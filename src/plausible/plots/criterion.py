"""The path of a criterion from iteration to iteration."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plausible.checks import as_floats
from plausible.errors import InputError
from plausible.plots.canvas import Display, add_legend, cluster_colors, key, name_of, tidy

FloatArray = NDArray[np.float64]


@dataclass
class CriterionDisplay(Display):
    """The criterion that a fit maximizes or minimizes, at its start and after each iteration.

    Parameters
    ----------
    histories : dict of arrays, by name
    converged : dict of bool, by name
        Whether a fit stopped by itself; names may be missing.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure, after `plot`

    Examples
    --------
    >>> from plausible.models import GaussianMixtureClassifier
    >>> X = [[0.0], [0.2], [0.3], [0.5], [1.9], [2.1], [2.3], [1.0]]
    >>> y = ["a", "a", "a", None, "b", "b", "b", None]
    >>> model = GaussianMixtureClassifier("tied").fit(X, y)
    >>> display = CriterionDisplay.from_estimator(model)
    >>> bool((np.diff(display.histories["GaussianMixtureClassifier"]) >= -1e-9).all())
    True
    """

    histories: dict[str, FloatArray]
    converged: dict[str, bool]

    @classmethod
    def from_estimator(cls, estimator: Any, name: str | None = None) -> Self:
        """A fitted estimator with `history_`, or a `Reliability`.

        Parameters
        ----------
        estimator : fitted estimator
        name : str, optional
            By default that of the class.
        """
        history = getattr(estimator, "history_", getattr(estimator, "history", None))
        if history is None:
            raise InputError(
                "estimator should be fitted, and keep the path of its criterion in history_",
                f"{type(estimator).__name__} has none",
                "fit it first",
                parameter="estimator",
            )
        name = type(estimator).__name__ if name is None else str(name)
        done = getattr(estimator, "converged_", getattr(estimator, "converged", None))
        found = cls.from_histories({name: history})
        return cls(found.histories, {} if done is None else {name: bool(done)})

    @classmethod
    def from_histories(cls, histories: Mapping[str, ArrayLike]) -> Self:
        """Several paths, which are drawn together.

        Parameters
        ----------
        histories : dict of arrays (number of iterations + 1,), by name
        """
        if not isinstance(histories, Mapping) or not histories:
            raise InputError(
                "histories should be a dict of arrays by name, at least one",
                f"{type(histories).__name__} was given",
                "write {'first': model.history_}",
                parameter="histories",
            )
        paths = {str(name): as_floats(path, f"history {name}") for name, path in histories.items()}
        for name, path in paths.items():
            if path.ndim != 1 or not len(path):
                raise InputError(
                    "A history should be one number for each iteration",
                    f"that of {name_of(name)!r} has shape {path.shape}",
                    "give history_ of a fitted estimator",
                    parameter="histories",
                )
        return cls(paths, {})

    def plot(self, ax: Any = None, *, gap: bool = False) -> Self:
        """Draw a line for each path, and a dot at its end, hollow where a fit was cut short.

        Parameters
        ----------
        ax : matplotlib axes, optional
        gap : bool
            Draw the distance to the last value, on a logarithmic scale.
        """
        ax = self._open(ax, (5.0, 3.6))
        for color, (name, path) in zip(
            cluster_colors(len(self.histories)), self.histories.items(), strict=True
        ):
            steps = np.arange(len(path))
            if gap:
                apart = np.abs(path - path[-1])
                here = apart > 0
                ax.semilogy(steps[here], apart[here], "-", color=color, label=key(name_of(name)))
                continue
            done = self.converged.get(name, True)
            label = name_of(name) if done else f"{name_of(name)} (cut short)"
            ax.plot(steps, path, "-", color=color, lw=1.6, label=key(label))
            ax.plot(steps[-1], path[-1], "o", color=color, mfc=color if done else "w", ms=6)
        ax.set_xlabel("iteration")
        ax.set_ylabel("distance to the last value" if gap else "criterion")
        ax.xaxis.get_major_locator().set_params(integer=True)
        tidy(ax)
        add_legend(ax)
        return self
