"""
All labels in one triangle
==========================

With three classes a label is a place in a triangle: sure labels are the corners, sets of two
classes lie on the sides, and an unknown label is the middle. `LabelTriangleDisplay` shows a whole
set of labels at once.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from plausible.labels import Labels
from plausible.plots import LabelTriangleDisplay

rng = np.random.default_rng(0)
iris = load_iris()
species = iris.target_names[iris.target]
likeness = np.where(iris.target == 0, 0.1, 0.9)  # two of the species look alike
sure = Labels.from_crisp(species[::3])
sets = [
    {"versicolor", "virginica"} if rng.uniform() < p else {str(name)}
    for name, p in zip(species[1::3], likeness[1::3])
]
hesitant = Labels.from_sets(sets, classes=iris.target_names.tolist())
doubted = Labels.from_doubt(species[2::3], rng.choice([0.2, 0.5, 0.8, 1.0], size=50))
labels = Labels.concatenate([sure, hesitant, doubted])

# %%
# Larger dots stand for more labels.
figure, axes = plt.subplots(figsize=(5.6, 4.6))
LabelTriangleDisplay.from_labels(labels).plot(ax=axes)
axes.set_title("What three experts say about 150 flowers")
plt.show()

# %%
# **What one sees.** Sure labels sit in the corners, the set "versicolor or virginica" in the middle
# of one side. Doubt pulls labels from their corners towards the middle, where a label says nothing.
