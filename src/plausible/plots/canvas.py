"""What displays share: axes to draw on, names as text, and colors."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plausible._visible import name_of as cut_name
from plausible.errors import InputError

FloatArray = NDArray[np.float64]

INK = "#333333"
QUIET = "#767676"
REFUSED = "#d9d9d9"
LONGEST = 28  # letters of a name
# Told apart also by color-blind people (Okabe and Ito), darkest first.
FEW = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]


class Display:
    """A picture that was computed; `plot` draws it.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure, after `plot`
    """

    ax_: Any
    figure_: Any

    def _open(self, ax: Any, size: tuple[float, float] = (5.0, 4.2)) -> Any:
        """The axes that were given, or those of a new figure, kept as `ax_`."""
        self.ax_ = open_axes(ax, size)
        self.figure_ = self.ax_.figure
        return self.ax_


def load_pyplot() -> Any:
    """Matplotlib's pyplot, or how to get it."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            'Pictures need matplotlib, which is not installed; run pip install "plausible[plots]".'
        ) from error
    return pyplot


def open_axes(ax: Any, size: tuple[float, float] = (5.0, 4.2)) -> Any:
    """The axes that were given, or those of a new figure."""
    pyplot = load_pyplot()
    if ax is None:
        return pyplot.subplots(figsize=size, layout="constrained")[1]
    if not hasattr(ax, "plot") or not hasattr(ax, "figure"):
        raise InputError(
            "ax should be axes of matplotlib",
            f"{type(ax).__name__} was given",
            "write figure, ax = matplotlib.pyplot.subplots(), or leave it out",
            parameter="ax",
            value=ax,
        )
    return ax


def cluster_colors(n_clusters: int) -> FloatArray:
    """A color (n_clusters, 3) for each cluster, told apart also by color-blind people if few."""
    from matplotlib import colormaps
    from matplotlib.colors import to_rgb

    if n_clusters <= len(FEW):
        return np.array([to_rgb(color) for color in FEW[:n_clusters]]).reshape(-1, 3)
    return np.asarray(colormaps["turbo"](np.linspace(0.05, 0.95, n_clusters)))[:, :3]


def lighter(colors: ArrayLike, part: float) -> FloatArray:
    """Colors mixed with a part of white."""
    return np.asarray(np.asarray(colors) * (1.0 - part) + part)


def name_of(value: Any, longest: int = LONGEST) -> str:
    r"""A name as it is written in a picture: on one line, cut, and never a formula.

    Examples
    --------
    >>> print(name_of("two\nlines of $x$"), len(name_of("x" * 1000)))
    two\nlines of \$x\$ 28
    """
    return cut_name(value, longest).replace("$", r"\$")


def names_of(values: Iterable[Any]) -> list[str]:
    """Names as they are written in a picture."""
    return [name_of(value) for value in values]


def key(text: str) -> str:
    """A name for a legend, which leaves out those that begin with an underscore."""
    return f" {text}" if text.startswith("_") else text


def tidy(ax: Any) -> None:
    """Axes without a box around them."""
    ax.spines[["top", "right"]].set_visible(False)


def add_legend(ax: Any, **options: Any) -> None:
    """A legend without a frame, if anything is in it."""
    if ax.get_legend_handles_labels()[1]:
        ax.legend(**{"frameon": False, "fontsize": "small", **options})


def percent(share: float) -> str:
    """A share in words: "12 %", "0.4 %"."""
    value = 100.0 * share
    return f"{value:.0f} %" if value >= 0.95 or value == 0 else f"{value:.1g} %"
