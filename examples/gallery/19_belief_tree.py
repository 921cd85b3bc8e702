"""
A tree that one can read, with doubt in its leaves
==================================================

`BeliefTreeClassifier` learns from labels of any kind. Each leaf holds a mass function, so that a
leaf with few or doubtful items says so.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from plausible.labels import Labels
from plausible.models import BeliefTreeClassifier, export_text

rng = np.random.default_rng(0)
iris = load_iris()
X, species = iris.data[:, 2:], iris.target_names[iris.target].tolist()
hesitates = (iris.target > 0) & (rng.uniform(size=150) < 0.4)
either = {"versicolor", "virginica"}
labels = Labels.from_sets([either if h else {name} for h, name in zip(hesitates, species)])
model = BeliefTreeClassifier(0.3, max_depth=3).fit(X, labels)
print(export_text(model, feature_names=["petal length", "petal width"]))

# %%
# Regions of the leaves, in the color of their best class, paler where the bet is lower.
length, width = np.meshgrid(np.linspace(0.8, 7.1, 211), np.linspace(0, 2.6, 131))
bets = model.predict_proba(np.column_stack([length.ravel(), width.ravel()]))
colors = np.array([[8, 81, 156], [217, 95, 14], [49, 163, 84]]) / 255
strength = (bets.max(axis=1, keepdims=True) - 1 / 3) * 1.2
painted = 1 - strength * (1 - colors[bets.argmax(axis=1)])
figure, axes = plt.subplots(figsize=(6.6, 3.9))
axes.imshow(
    painted.reshape(*length.shape, 3), extent=(0.8, 7.1, 0, 2.6), origin="lower", aspect="auto"
)
axes.scatter(*X[hesitates].T, s=26, facecolor="white", edgecolor="#444444", label="hesitation")
for k, name in enumerate(iris.target_names):
    sure = ~hesitates & (iris.target == k)
    axes.scatter(*X[sure].T, s=26, color=colors[k], edgecolor="white", linewidth=0.6, label=name)
axes.set(xlabel="petal length (cm)", ylabel="petal width (cm)", title="Leaves of a belief tree")
axes.grid(visible=False)
axes.legend(loc="lower right", frameon=True, framealpha=0.9)
plt.show()

# %%
# **What one sees.** White dots are flowers about which the expert said "versicolor or virginica".
# The leaf of setosa is deep blue. The other leaves are paler: mass stays on the set of both, and
# the answer there is a weaker bet.
