"""
What speaks for and against each class?
=======================================

A logistic regression can be read as many small pieces of evidence, one for each feature and
class: `weights_of_evidence`. Two items with the same probability can differ in how much of it is
conflict.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

from plausible.models import weights_of_evidence

iris = load_iris()
model = LogisticRegression(max_iter=1000).fit(iris.data, iris.target)
flower = iris.data[[70]]
evidence = weights_of_evidence(model, flower, center=iris.data.mean(axis=0))
weights = evidence.feature_weights()[0]  # features, classes
print(evidence.plausibility().round(2), evidence.conflict.round(2))

# %%
# Bars to the right speak for a class, bars to the left against it.
figure, panels = plt.subplots(1, 3, figsize=(8.8, 2.7), sharex=True, sharey=True)
names = [name.removesuffix(" (cm)") for name in iris.feature_names]
for k, axes in enumerate(panels):
    color = np.where(weights[:, k] > 0, "C0", "C1")
    axes.barh(names, weights[:, k], color=color, height=0.6)
    axes.axvline(0, color="#222222", linewidth=1)
    axes.set_title(f"{iris.target_names[k]}: {evidence.probability()[0, k]:.0%}")
    axes.grid(axis="y", visible=False)
panels[1].set_xlabel("weight of evidence")
panels[0].invert_yaxis()
plt.show()

# %%
# **What one sees.** Everything speaks against setosa. The petals of this flower speak for
# virginica, its sepals for versicolor: the probability of one half is a contradiction, not a lack
# of evidence.
