"""What displays share: axes to draw on, and the colors of clusters."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

INK = "#333333"


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
    return load_pyplot().subplots(figsize=size, layout="constrained")[1] if ax is None else ax


def cluster_colors(n_clusters: int) -> FloatArray:
    """A color (n_clusters, 3) for each cluster, told apart also by color-blind people if few."""
    few = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]
    from matplotlib import colormaps
    from matplotlib.colors import to_rgb

    if n_clusters <= len(few):
        return np.array([to_rgb(color) for color in few[:n_clusters]])
    return np.asarray(colormaps["turbo"](np.linspace(0.05, 0.95, n_clusters)))[:, :3]
