"""
What is decided where
=====================

A classifier may name a class, refuse where two are as good, and say where an item is like nothing
it has seen. `DecisionRegionDisplay` shows these answers over the plane.
"""

import matplotlib.pyplot as plt
import numpy as np

from plausible.labels import Labels
from plausible.neighbors import EvidentialNeighborsClassifier
from plausible.plots import DecisionRegionDisplay

rng = np.random.default_rng(2)
truth = rng.integers(3, size=180)
X = 0.8 * rng.normal(size=(180, 2)) + np.array([[0, 0], [2.6, 0.2], [1.2, 2.4]])[truth]
names = np.array(["ash", "elm", "oak"])
doubt = rng.uniform(0, 0.6, size=180)
said = np.where(rng.uniform(size=180) < 0.3 * doubt, (truth + 1) % 3, truth)
labels = Labels.from_doubt(names[said], doubt)
model = EvidentialNeighborsClassifier(12, gamma="heuristic").fit(X, labels)

# %%
# Refusing costs a fifth of an error.
figure, panels = plt.subplots(1, 2, figsize=(8.8, 4.0))
for axes, reject in zip(panels, [None, 0.2]):
    options = {"reject": reject, "novelty": 0.2, "margin": 0.3}
    DecisionRegionDisplay.from_estimator(model, X, labels, **options).plot(ax=axes)
    axes.set_title("always a class" if reject is None else "a class, or a refusal")
plt.show()

# %%
# **What one sees.** On the right, items between the classes are refused, where a wrong answer would
# be likely. Both sides mark the places that are far from everything that was learned.
