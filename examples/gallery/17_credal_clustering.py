"""
Clusters with doubt
===================

Evidential c-means, `ECM`, does not force each item into one cluster: mass on two clusters says
that it lies between them, mass on none that it is far from all.
"""

import matplotlib.pyplot as plt
import numpy as np

from plausible.cluster import ECM
from plausible.plots import CredalPartitionDisplay

rng = np.random.default_rng(1)
centers = np.array([[0, 0], [5, 0.5], [2.5, 4.5]])
X = np.vstack([rng.normal(size=(70, 2)) * 1.05 + center for center in centers])
X = np.vstack([X, [[10.5, 6.5], [-6, 5.5], [9, -5]]])  # and three that belong nowhere

model = ECM(3, outlier_distance=5.0, random_state=0).fit(X)
print(model.partition_.summary())

# %%
# Solid lines hold what is surely in a cluster, broken lines what may be.
figure, axes = plt.subplots(figsize=(6.6, 4.4))
CredalPartitionDisplay.from_estimator(model, X).plot(ax=axes)
axes.set_title("Sure, possible, and nowhere")
plt.show()

# %%
# **What one sees.** Inside the solid lines there is no question. Items between two clusters
# belong to the broken lines of both, and the three far ones to none.
