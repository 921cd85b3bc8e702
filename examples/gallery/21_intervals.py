"""
Numbers that are intervals
==========================

Durations were noted in whole weeks, and some lamps still burn. `E2M` estimates a law from what is
plausible; midpoints, or lamps left out, give another one.
"""

import matplotlib.pyplot as plt
import numpy as np

from plausible.models import E2M, Exponential, UncertainValues

rng = np.random.default_rng(1)
weeks = rng.exponential(6.0, size=400)
low = 3 * np.floor(weeks / 3)  # looked at every three weeks
still_burns = weeks > 9  # and for nine weeks
low, high = np.where(still_burns, 9.0, low), np.where(still_burns, np.inf, low + 3)
model = E2M(Exponential()).fit(UncertainValues.from_intervals(low, high))
print(model.params_, model.intervals(0.95))

# %%
# Survival by three ways to read the same notes.
at = np.linspace(0, 20, 200)
middle = np.where(still_burns, 9.0, low + 1.5)
rates = {
    "E2M, from the intervals": (model.params_["rate"], "C0"),
    "midpoints, and 9 for those that burn": (1 / middle.mean(), "C1"),
    "midpoints, without those that burn": (1 / middle[~still_burns].mean(), "C2"),
}
figure, axes = plt.subplots(figsize=(6.6, 3.7))
slow, fast = model.intervals(0.95)["rate"]
axes.fill_between(at, np.exp(-fast * at), np.exp(-slow * at), color="#9ecae1", alpha=0.6)
for name, (rate, color) in rates.items():
    axes.plot(at, np.exp(-rate * at), color=color, label=name)
axes.plot(at, np.exp(-at / 6), color="#222222", linestyle=":", label="truth")
axes.axvspan(9, 20, color="#f3f3f3", zorder=0)
axes.text(14.5, 0.45, "nobody looked", color="#777777", ha="center")
axes.set(xlabel="weeks", ylabel="share that still burns", xlim=(0, 20), ylim=(0, 1))
axes.set_title("How long do the lamps burn?")
axes.legend()
plt.show()

# %%
# **What one sees.** The estimate from intervals lies close to the truth, which is inside its 95 %
# band. Numbers made up for what nobody saw make the lamps die too early.
