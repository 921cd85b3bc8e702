"""
Evidential neighbors know where they know nothing
=================================================

Near items are evidence, far ones hardly are. Where there is none, `EvidentialNeighborsClassifier`
leaves its mass on the whole frame, while probabilities of a plain neighbors rule go on as before.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.neighbors import KNeighborsClassifier

from plausible.neighbors import EvidentialNeighborsClassifier

X, y = make_moons(160, noise=0.13, random_state=0)
grid_x, grid_y = np.meshgrid(np.linspace(-3, 4, 141), np.linspace(-2.4, 2.8, 105))
plane = np.column_stack([grid_x.ravel(), grid_y.ravel()])

plain = KNeighborsClassifier(9).fit(X, y).predict_proba(plane)[:, 1]
model = EvidentialNeighborsClassifier(9, gamma="heuristic").fit(X, y)
bets = model.predict_proba(plane)[:, 1]
ignorance = model.score_novelty(plane)

# %%
# Blue for one class, orange for the other, white where nothing is known.
figure, panels = plt.subplots(1, 2, figsize=(8.6, 3.5), sharex=True, sharey=True)
blue, orange = np.array([8, 81, 156]) / 255, np.array([217, 95, 14]) / 255


def painted(share, strength):
    """Colors between the two classes, paler where they are less believed."""
    color = share[:, None] * orange + (1 - share[:, None]) * blue
    return (1 - strength[:, None] * (1 - color)).reshape(*grid_x.shape, 3)


strengths = {"plain neighbors": (plain, np.full(len(plane), 0.75))}
strengths["evidential neighbors"] = (bets, 0.75 * (1 - ignorance))
for axes, (name, (share, strength)) in zip(panels, strengths.items()):
    axes.imshow(painted(share, strength), extent=(-3, 4, -2.4, 2.8), origin="lower", aspect="auto")
    axes.scatter(
        *X.T, c=np.where(y[:, None] == 1, orange, blue), s=14, edgecolor="white", linewidth=0.5
    )
    axes.set(title=name, xticks=[], yticks=[])
    axes.grid(visible=False)
plt.show()

# %%
# **What one sees.** Near the moons both rules agree. Far away the plain one is as sure as ever,
# and the evidential one fades to white: nothing is known there, and `decide` can refuse.
