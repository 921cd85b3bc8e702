"""
Whom can I trust?
=================

Five people name the class of 150 items. Nobody knows the truth, but people who agree with those
who are right are right themselves: `Annotations.reliability` finds out how often, with an
interval that allows for errors that everybody makes.
"""

import matplotlib.pyplot as plt
import numpy as np

from plausible.experts import Annotations

rng = np.random.default_rng(0)
people = ["Ada", "Ben", "Cleo", "Dan", "Eve"]
truth = rng.integers(3, size=150)
is_right = rng.uniform(size=(150, 5)) < [0.92, 0.85, 0.7, 0.5, 0.25]
wrong = (truth[:, None] + rng.integers(1, 3, size=(150, 5))) % 3
said = np.where(is_right, truth[:, None], wrong)
answers = Annotations.from_answers(np.array(["burr", "crack", "healthy"])[said], annotators=people)

found = answers.reliability()
print(found)

# %%
# Estimates, their intervals, and the shares of right answers that only we know here.
figure, axes = plt.subplots(figsize=(6.4, 3.2))
place = np.arange(5)
axes.hlines(place, found.low, found.high, color="#9ecae1", linewidth=9)
axes.plot(found.accuracy, place, "o", color="C0", markersize=8, label="learned from agreement")
axes.plot((said == truth[:, None]).mean(axis=0), place, "D", color="C1", label="truth")
axes.axvline(1 / 3, color="#888888", linestyle=":", linewidth=1.5)
axes.text(1 / 3, 0.5, " luck", color="#555555", va="center")
axes.set_yticks(place, people)
axes.set(xlim=(0, 1), xlabel="share of right answers", title="Five people, and no truth to ask")
axes.invert_yaxis()
axes.grid(axis="y", visible=False)
figure.legend(loc="outside lower center", ncols=2)
plt.show()

# %%
# **What one sees.** The order of the five is right although nobody told the classes, the
# estimates (circles) lie near the truth (diamonds), and Eve, who is right less often than luck,
# is found out. The intervals are wide because agreement cannot show errors that everybody makes.
