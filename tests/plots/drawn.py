"""What is on axes, and labels of every kind on three classes that are not sorted."""

import numpy as np

from plausible.labels import Labels

CLASSES = ["wren", "owl", "kite"]


def mixed_labels(n=90, seed=0):
    """Hard, doubted and unknown labels, sets and probabilities, and unequal weights."""
    rng = np.random.default_rng(seed)
    third = n // 3
    doubted = Labels.from_doubt(
        rng.choice(CLASSES, third), rng.choice([0, 0.25, 0.6, 1], third), classes=CLASSES
    )
    sets = Labels.from_sets(rng.uniform(size=(third, 3)) < [0.7, 0.5, 1.1], classes=CLASSES)
    probable = Labels.from_probability(rng.dirichlet([2, 1, 1], n - 2 * third), classes=CLASSES)
    labels = Labels.concatenate([doubted, sets, probable])
    return labels, rng.uniform(0.2, 3.0, n)


def three_blobs(n=90, seed=1):
    """Items of three classes in the plane."""
    rng = np.random.default_rng(seed)
    place = np.arange(n) % 3
    X = rng.normal(size=(n, 2)) + 3.0 * np.array([[0, 0], [1, 0], [0, 1]])[place]
    return X, np.array(CLASSES)[place]


def lengths(ax):
    """Lengths of horizontal bars."""
    return np.array([bar.get_width() for bar in ax.patches])


def heights(ax):
    """Heights of vertical bars."""
    return np.array([bar.get_height() for bar in ax.patches])


def line(ax, label):
    """Points (m, 2) of the line of this label."""
    (found,) = [one for one in ax.lines if one.get_label() == label]
    return np.column_stack([found.get_xdata(), found.get_ydata()])


def in_legend(ax):
    """Words of the legend."""
    legend = ax.get_legend()
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


def texts(ax):
    """Words on the axes."""
    return [text.get_text() for text in ax.texts]


def ticks(axis):
    """Words at the ticks."""
    return [text.get_text() for text in axis.get_ticklabels()]
