"""
A label that is suspicious
==========================

Does what an item looks like contradict its label? Beliefs of models that have not seen the item,
`cross_val_beliefs`, say how plausible the label is.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from plausible.models import PartialLogisticRegression, cross_val_beliefs

rng = np.random.default_rng(0)
X, truth = load_digits(return_X_y=True)
X, truth = X[:900] / 16, truth[:900]
said = truth.copy()
slips = rng.choice(900, 27, replace=False)
said[slips] = (truth[slips] + rng.integers(1, 10, size=27)) % 10

beliefs = cross_val_beliefs(PartialLogisticRegression(alpha=1.0), X, said, cv=3)
plausibility = beliefs.contour[np.arange(900), said]
order = np.argsort(plausibility, kind="stable")

# %%
# The ten least plausible labels, and how many of the wrong ones are among the first.
figure = plt.figure(figsize=(8.2, 3.2))
left, right = figure.subfigures(1, 2, width_ratios=[1.25, 1])
for axes, row in zip(left.subplots(2, 5).ravel(), order):
    axes.imshow(X[row].reshape(8, 8), cmap="gray_r")
    color = "C1" if said[row] != truth[row] else "#222222"
    axes.set_title(f'"{said[row]}"', color=color, loc="center")
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
found = np.cumsum((said != truth)[order])
axes = right.subplots()
axes.plot(np.arange(1, 101), found[:100], color="C0")
axes.axhline(27, color="#888888", linestyle=":", linewidth=1.5)
axes.set(xlabel="labels looked at, least plausible first", ylabel="wrong ones found", ylim=0)
axes.set_title("27 of 900 labels are wrong")
plt.show()

# %%
# **What one sees.** Whoever checks the labels in the order of their plausibility finds nearly all
# wrong ones (orange) among the first few dozen of 900.
