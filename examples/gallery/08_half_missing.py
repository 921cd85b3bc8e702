"""
Half of the labels are missing
==============================

Unlabeled items are no waste: they show where the classes lie. `GaussianMixtureClassifier` learns
from hard, doubted and missing labels in one likelihood.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Ellipse

from plausible.labels import Labels
from plausible.models import GaussianMixtureClassifier

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
# Ellipses at one and two deviations; dots with a rim have a label.
figure, panels = plt.subplots(1, 2, figsize=(8.4, 3.8), sharex=True, sharey=True)
for axes, (name, model) in zip(panels, models.items()):
    axes.scatter(*X[~is_known].T, s=10, color="#bbbbbb")
    for k in range(3):
        axes.scatter(
            *X[is_known & (truth == k)].T, s=46, color=f"C{k}", edgecolor="#222222", zorder=3
        )
        values, vectors = np.linalg.eigh(model.covariances_[k])
        angle = np.degrees(np.arctan2(vectors[1, 1], vectors[0, 1]))
        for size in (2, 4):
            width, height = size * np.sqrt(values[::-1])
            axes.add_patch(
                Ellipse(
                    model.means_[k], width, height, angle=angle, fill=False, color=f"C{k}", lw=2
                )
            )
    axes.set_title(f"{name}: {(model.predict(X) == truth).mean():.0%} right")
    axes.set_xticks([])
    axes.set_yticks([])
plt.show()

# %%
# **What one sees.** From a handful of labels for each class the shapes on the left are guesswork.
# On the right the same labels only say which cluster is which class, and the other 95 % of the
# items give the shapes.
