"""
Clusters from dissimilarities
=============================

`EVCLUS` needs no features, only how unlike items are. It finds masses whose conflicts are as
large as the dissimilarities; the Shepard diagram shows how well that worked.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.distance import pdist, squareform

from plausible.cluster import EVCLUS
from plausible.plots import CredalPartitionDisplay, ShepardDisplay

rng = np.random.default_rng(0)
centers = np.repeat([[0, 0], [4, 0], [2, 3.5]], 30, axis=0)
X = centers + 0.75 * rng.normal(size=(90, 2))
D = squareform(pdist(X))
model = EVCLUS(3, metric="precomputed", random_state=0).fit(D)

# %%
# On the left the items, which the clustering has never seen; on the right each pair of them.
figure, (left, right) = plt.subplots(1, 2, figsize=(8.8, 3.8))
CredalPartitionDisplay(X, model.partition_).plot(ax=left)
left.set_title("Found from distances alone")
ShepardDisplay.from_estimator(model).plot(ax=right)
plt.show()

# %%
# **What one sees.** The three clusters and the items between them are found without coordinates.
# Pairs that are far apart have masses in conflict, pairs that are near do not.
