"""
Something that was never seen
=============================

A network of prototypes gives its mass to nothing in particular where no prototype is near.
`EvidentialNetworkClassifier` can so say that an item is of no class that it knows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from plausible.models import EvidentialNetworkClassifier

X, y = load_digits(return_X_y=True)
X = PCA(8, random_state=0).fit_transform(X / 16.0)
seen = y < 5  # fives to nines are kept away
train = seen & (np.arange(len(y)) % 2 == 0)
model = EvidentialNetworkClassifier(15, random_state=0).fit(X[train], y[train])
novelty = model.score_novelty(X)

# %%
# How new each image looks, by whether the model has seen its kind.
figure, axes = plt.subplots(figsize=(6.4, 3.4))
bins = np.linspace(0, max(novelty), 41)
axes.hist(
    novelty[seen & ~train], bins, color="C0", alpha=0.6, density=True, label="0 to 4, held out"
)
axes.hist(novelty[~seen], bins, color="C1", alpha=0.6, density=True, label="5 to 9, never seen")
axes.set(xlabel="novelty: mass on all classes together", ylabel="density")
axes.set_title("Digits that a model knows, and others")
axes.legend()
plt.show()

# %%
# **What one sees.** Held-out images of known digits look familiar. Most of the digits that were
# never shown have more mass on "anything": the model says that it does not know them.
