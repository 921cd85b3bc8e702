"""
An expert who gives probabilities only
======================================

An expert says "20 % malignant" and plays it down. `StochasticSupervisionClassifier` takes an
assessment for an observation like any other, and learns what it means.
"""

import matplotlib.pyplot as plt
import numpy as np

from plausible.models import StochasticSupervisionClassifier

rng = np.random.default_rng(0)
sick = rng.uniform(size=800) < 0.3
X = rng.normal(size=(800, 2)) + 1.6 * sick[:, None]
log_odds = np.where(sick, -0.8, -4.0) + rng.normal(size=800)
z = 1 / (1 + np.exp(-log_odds))
truth = np.where(sick, "sick", "well")

model = StochasticSupervisionClassifier("g1", random_state=0)
model.fit(X, z, classes=["sick", "well"])
right = {
    "expert, at the word": ((z > 0.5) == sick).mean(),
    "model, features alone": model.score(X, truth),
    "model, features and expert": model.score(X, truth, assessments=z),
}

# %%
# What the expert says in each class, and who is right how often.
figure, (left, bars) = plt.subplots(1, 2, figsize=(8.8, 3.2), width_ratios=[1.2, 1])
bins = np.linspace(-7, 3, 41)
left.hist(log_odds[~sick], bins, color="C0", alpha=0.55, density=False, label="well")
left.hist(log_odds[sick], bins, color="C1", alpha=0.65, label="sick")
left.axvline(0, color="#222222", linestyle=":", linewidth=1.5)
for mean in model.assessment_means_.ravel():
    left.axvline(mean, color="#222222", linewidth=2.5)
left.set(
    xlabel="log odds that the expert gives", ylabel="patients", title="An expert who plays it down"
)
left.legend()
bars.barh(list(right), list(right.values()), color=["C1", "#9ecae1", "C0"], height=0.55)
for place, value in enumerate(right.values()):
    bars.text(
        value - 0.01, place, f"{value:.0%}", ha="right", va="center", color="white", weight="bold"
    )
bars.set(xlim=(0.5, 1), title="Share right")
bars.invert_yaxis()
bars.grid(axis="y", visible=False)
plt.show()

# %%
# **What one sees.** Taken at the word (dotted line), the expert misses many of the sick. The
# model finds what the expert says of each class on average (black lines), without a single known
# class, and is right far more often.
