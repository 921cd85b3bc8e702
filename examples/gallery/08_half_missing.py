"""
Half of the labels are missing
==============================

Unlabeled items are no waste: they show where the classes lie. `GaussianMixtureClassifier` learns
from hard, doubted and missing labels in one likelihood.
"""

import matplotlib.pyplot as plt
import numpy as np

from plausible.labels import Labels
from plausible.models import GaussianMixtureClassifier
from plausible.plots import MixtureDisplay

rng = np.random.default_rng(3)
truth = rng.integers(3, size=300)
shapes = np.array([[[1.6, 0.9], [0.9, 0.8]], [[0.5, 0], [0, 1.6]], [[1.2, -0.8], [-0.8, 0.9]]])
centers = np.array([[-2.2, 0], [1.2, 2.4], [1.6, -2.0]])
X = np.array([rng.multivariate_normal(centers[k], shapes[k]) for k in truth])
is_known = rng.uniform(size=300) < 0.05
labels = Labels.from_crisp(np.where(is_known, truth, -1), classes=[0, 1, 2], missing=-1)

models = {
    "the labeled items alone": GaussianMixtureClassifier().fit(X[is_known], truth[is_known]),
    "all items": GaussianMixtureClassifier().fit(X, labels),
}

# %%
# Ellipses that hold 95 % of each class; dots with a rim have a label.
figure, panels = plt.subplots(1, 2, figsize=(8.6, 3.9), sharex=True, sharey=True)
for axes, (name, model) in zip(panels, models.items()):
    MixtureDisplay.from_estimator(model, X, labels).plot(ax=axes)
    axes.scatter(*X[is_known].T, s=46, facecolor="none", edgecolor="#222222", zorder=3)
    axes.set(xlabel="", ylabel="", xticks=[], yticks=[])
    axes.set_title(f"{name}: {(model.predict(X) == truth).mean():.0%} right")
plt.show()

# %%
# **What one sees.** From a handful of labels for each class the shapes on the left are guesswork.
# On the right the same labels only say which cluster is which class, and the other 95 % of the
# items give the shapes.
