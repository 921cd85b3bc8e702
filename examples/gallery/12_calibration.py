"""
Is 0.9 really 0.9?
==================

A calibrated score is one number, whether ten rows were there to fit it or a thousand.
`EvidentialCalibratedClassifier` gives belief and plausibility: an interval that closes as data
come.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from plausible.models import EvidentialCalibratedClassifier

X, y = make_blobs(400, centers=[[0, 0], [2, 2]], cluster_std=1.5, random_state=0)
line = np.linspace(-4, 6, 51)
points = np.column_stack([line, line])
true = 1 / (1 + np.exp(-(4 * line - 4) / 1.5**2))  # what the two Gaussians say

# %%
# Along the diagonal through both centers, with more and more rows.
figure, panels = plt.subplots(1, 3, figsize=(8.8, 3.3), sharey=True)
for axes, n in zip(panels, [12, 60, 400]):
    model = EvidentialCalibratedClassifier(LinearSVC()).fit(X[:n], y[:n])
    masses = model.predict_mass(points).to_dense()
    axes.fill_between(line, masses[:, 2], 1 - masses[:, 1], color="#9ecae1", label="evidential")
    plain = LogisticRegression().fit(X[:n], y[:n]).predict_proba(points)[:, 1]
    axes.plot(line, plain, color="C1", label="logistic regression")
    axes.plot(line, true, color="#222222", linestyle=":", label="truth")
    axes.set(title=f"{n} rows", xlabel="place on the diagonal")
panels[0].set_ylabel("probability of the second class")
figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
plt.show()

# %%
# **What one sees.** With 12 rows the band from belief to plausibility is wide, and widest far
# from the data: little is known. With more rows it closes on the truth (dots). The single curve
# looks much the same with 12 rows as with 400, and does not tell how well it is known.
