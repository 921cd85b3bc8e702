"""
Labels for unlabeled items
==========================

A first rule labels the items without a label, with degrees; a second rule learns from all.
`Relabeller` does the first step, and nothing has to be decided on the way.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from plausible.labels import Labels
from plausible.neighbors import EvidentialNeighborsClassifier, Relabeller

X, truth = make_moons(240, noise=0.12, random_state=2)
is_known = np.zeros(240, dtype=bool)
is_known[np.random.default_rng(4).choice(240, 14, replace=False)] = True
labels = Labels.from_crisp(np.where(is_known, truth, -1), classes=[0, 1], missing=-1)

first = EvidentialNeighborsClassifier(n_neighbors=5, gamma=1.5, unknown="skip")
soft = Relabeller(first).fit(X, labels).labels_
bets = soft.scaled() / soft.scaled().sum(axis=1, keepdims=True)

# %%
# Strong colors are sure labels, pale ones stay unsure.
figure, panels = plt.subplots(1, 2, figsize=(8.4, 3.4), sharex=True, sharey=True)
colors = np.array([[8, 81, 156], [217, 95, 14]]) / 255
panels[0].scatter(*X[~is_known].T, s=16, color="#d0d0d0")
panels[0].set_title(f"{is_known.sum()} labels for 240 items")
shade = 1 - (1 - colors[bets.argmax(axis=1)]) * (2 * bets.max(axis=1, keepdims=True) - 1)
panels[1].scatter(*X.T, s=22, color=shade, edgecolor="#999999", linewidth=0.3)
panels[1].set_title(f"relabeled: {np.mean(bets.argmax(axis=1) == truth):.0%} right")
for axes in panels:
    for k in (0, 1):
        here = is_known & (truth == k)
        axes.scatter(*X[here].T, s=60, color=colors[k], edgecolor="#222222", zorder=3)
    axes.set(xticks=[], yticks=[])
    axes.grid(visible=False)
plt.show()

# %%
# **What one sees.** A few labels (with a rim) color their moons. Items far from every label, and
# those where both colors meet, stay pale: a model that learns from these labels does not take
# them for facts.
