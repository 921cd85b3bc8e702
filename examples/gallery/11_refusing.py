"""
Refusing: accuracy against coverage
===================================

A model that may refuse is right more often where it answers. `rejection_curve` shows the price:
how many answers are left for which accuracy, also where the truth itself is soft.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

from plausible.labels import Labels
from plausible.metrics import rejection_curve
from plausible.models import GaussianMixtureClassifier

rng = np.random.default_rng(0)
X, y = load_wine(return_X_y=True)
X = X[:, [0, 1, 2, 9]]  # four features only: hard enough
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)
said = np.where(rng.uniform(size=len(y_train)) < 0.15, rng.integers(3, size=len(y_train)), y_train)
doubt = np.where(said == y_train, 0.1, 0.6)

models = {
    "labels with their doubts": Labels.from_doubt(said, doubt),
    "the same labels, taken as sure": said,
}

# %%
# From right to left, the least sure answers are refused one after the other.
figure, axes = plt.subplots(figsize=(6.2, 3.6))
for color, (name, labels) in zip(["C0", "C1"], models.items()):
    model = GaussianMixtureClassifier("tied").fit(X_train, labels)
    curve = rejection_curve(y_test, model.believe(X_test))
    axes.step(1 - curve.rejected, curve.accuracy, where="pre", color=color, label=name)
axes.set(xlabel="share of items that are answered", ylabel="share right of these", xlim=(0.4, 1))
axes.set_title("What a refusal buys")
axes.legend(loc="lower left")
plt.show()

# %%
# **What one sees.** Without refusals (right end) nearly one wine in five is named wrongly.
# Refusing the least sure third removes most of the errors, and labels that keep their doubts are
# better all the way.
