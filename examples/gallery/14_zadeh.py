"""
Zadeh's example in four rules
=============================

Two doctors are nearly sure, of different diseases, and agree only that a third is possible at 1
%. What should one believe? Rules of combination differ in what they do with the conflict.
"""

import matplotlib.pyplot as plt

from plausible.belief import combine, discount, masses_from_dicts

M, C, T = diseases = ["meningitis", "concussion", "tumor"]
first = masses_from_dicts([{(M,): 0.99, (T,): 0.01}], diseases)
second = masses_from_dicts([{(C,): 0.99, (T,): 0.01}], diseases)
doubted = [discount(doctor, doubt=0.1) for doctor in (first, second)]

answers = {
    "Dempster": combine([first, second], "dempster"),
    "Dempster, doctors doubted by 0.1": combine(doubted, "dempster"),
    "Yager": combine([first, second], "yager"),
    "Dubois and Prade": combine([first, second], "dubois_prade"),
    "PCR6": combine([first, second], "pcr6"),
}

# %%
# Where the mass goes.
sets = {(M,): "C0", (C,): "C2", (T,): "C1", (M, C): "#9ecae1", (M, T): "#cab2d6", (C, T): "#b2df8a"}
sets[M, C, T] = "#d9d9d9"
figure, axes = plt.subplots(figsize=(7.8, 3.0))
start = [0.0] * len(answers)
for focal, color in sets.items():
    width = [masses.to_dicts(diseases)[0].get(focal, 0.0) for masses in answers.values()]
    name = " or ".join(focal) if len(focal) < 3 else "any of them"
    if max(width) > 0.02:
        axes.barh(list(answers), width, left=start, color=color, label=name, height=0.6)
    start = [a + b for a, b in zip(start, width)]
axes.set(xlabel="mass", xlim=(0, 1))
axes.invert_yaxis()
axes.grid(axis="y", visible=False)
figure.legend(loc="outside right center")
plt.show()

# %%
# **What one sees.** Dempster's rule with doctors who cannot be wrong leaves the tumor, which both
# of them thought nearly impossible. A doubt of 0.1 in each is enough to bring their diagnoses
# back. Yager's rule calls the conflict ignorance, Dubois and Prade's keeps "one of the two", and
# PCR6 gives it back to those who caused it.
