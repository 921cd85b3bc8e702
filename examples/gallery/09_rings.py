"""
Partial labels in rings
=======================

Every item comes with a set of candidate classes, one of which is right. `partial_label_loss`
brings such labels to any model with logits, and evidential neighbors take them as they are.
"""

import matplotlib.pyplot as plt
import numpy as np

from plausible.labels import Labels
from plausible.neighbors import EvidentialNeighborsClassifier

rng = np.random.default_rng(0)
truth = rng.integers(3, size=450)
radius = 1.0 + truth + 0.22 * rng.normal(size=450)
angle = rng.uniform(0, 2 * np.pi, size=450)
X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
candidates = rng.uniform(size=(450, 3)) < 0.45
candidates[np.arange(450), truth] = True
labels = Labels.from_sets([set(np.flatnonzero(row).tolist()) for row in candidates])
model = EvidentialNeighborsClassifier(n_neighbors=12).fit(X, labels)

# %%
# Left what was known: one color for a class that is sure, gray for several candidates.
grid = np.linspace(-4, 4, 161)
plane = np.column_stack([axis.ravel() for axis in np.meshgrid(grid, grid)])
bets = model.predict_proba(plane)
colors = np.array([[8, 81, 156], [217, 95, 14], [49, 163, 84]]) / 255
figure, panels = plt.subplots(1, 2, figsize=(7.6, 3.9), sharex=True, sharey=True)
size = candidates.sum(axis=1)
panels[0].scatter(*X[size > 1].T, s=14, color=np.array(["#dddddd", "#aaaaaa"])[3 - size[size > 1]])
panels[0].scatter(*X[size == 1].T, s=18, color=colors[truth[size == 1]])
panels[0].set_title(f"{np.mean(size == 1):.0%} of the labels are sure")
mixed = 1 - (1 - colors[bets.argmax(axis=1)]) * (bets.max(axis=1, keepdims=True) - 1 / 3) * 0.9
panels[1].imshow(mixed.reshape(161, 161, 3), extent=(-4, 4, -4, 4), origin="lower")
panels[1].scatter(*X.T, s=5, color=colors[truth])
panels[1].set_title(f"learned: {np.mean(model.predict(X) == truth):.0%} right")
for axes in panels:
    axes.set(xticks=[], yticks=[], aspect="equal")
    axes.grid(visible=False)
plt.show()

# %%
# **What one sees.** Only the colored dots on the left have a sure label, the gray ones name two
# or all three classes. The rings appear nevertheless: candidates that are wrong do not agree with
# their neighbors. On the right, dots have their true colors, and pale areas are unsure.
