"""
The pull of a suggestion
========================

A model's opinion saves time, and pulls people towards it. Whether a person sees it before they
answer is decided by a coin, item by item; the difference between the two halves is the pull
(``plausible annotate --suggest coin`` does this). Here it is simulated.
"""

import matplotlib.pyplot as plt
import numpy as np

from plausible.experts import Annotations

rng = np.random.default_rng(0)
n_items, people, follows = 600, ["Ada", "Ben", "Cleo"], np.array([0.0, 0.25, 0.6])
truth = rng.integers(3, size=n_items)
model = np.where(rng.uniform(size=n_items) < 0.75, truth, (truth + 1) % 3)  # right in 75 %
own = np.where(
    rng.uniform(size=(n_items, 3)) < 0.8, truth[:, None], rng.integers(3, size=(n_items, 3))
)
sees = rng.uniform(size=(n_items, 3)) < 0.5  # the coin
said = np.where(sees & (rng.uniform(size=sees.shape) < follows), model[:, None], own)

agrees = said == model[:, None]
seen, hidden = ((agrees & arm).sum(axis=0) / arm.sum(axis=0) for arm in (sees, ~sees))
error = 1.96 * np.sqrt(
    seen * (1 - seen) / sees.sum(axis=0) + hidden * (1 - hidden) / (~sees).sum(axis=0)
)

# %%
# Labels of items that the model gets wrong, from answers that were given before or after a look.
figure, (left, right) = plt.subplots(1, 2, figsize=(8.6, 3.2), width_ratios=[1.2, 1])
left.axvline(0, color="#888888", linestyle=":", linewidth=1.5)
left.errorbar(seen - hidden, people, xerr=error, fmt="o", color="C0", capsize=4, markersize=8)
left.set(
    xlabel="share that agrees with the model: seen, less hidden", title="Pull, with 95 % interval"
)
left.margins(y=0.2)
left.invert_yaxis()
wrong = model != truth
shares = []
for arm in (~sees, sees):
    answers = Annotations.from_answers(np.where(arm, said, -1), classes=[0, 1, 2], missing=-1)
    found = answers.pool(doubt=0.3).scaled()[wrong & arm.any(axis=1)]
    shares.append((found.argmax(axis=1) == truth[wrong & arm.any(axis=1)]).mean())
right.bar(["hidden", "seen"], shares, color=["C0", "C1"], width=0.55)
right.set(ylabel="labels that are right", ylim=(0, 1), title="Where the model errs")
right.grid(axis="x", visible=False)
plt.show()

# %%
# **What one sees.** Ada's answers are her own: her interval holds zero. Ben and Cleo agree with the
# model more often where they saw it. Where the model is wrong, labels from answers that were given
# after a look are wrong far more often: they and the model's opinion are not two opinions.
