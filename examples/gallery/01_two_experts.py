"""
Two experts clash, or say little
================================

Two experts name mushrooms from photographs. Each puts masses on sets of species; Dempster's rule
combines them. A probability of one half can mean that they contradict each other, or that neither
of them knows: belief intervals tell these apart.
"""

import matplotlib.pyplot as plt

from plausible.belief import (
    belief,
    conflict,
    contour,
    dempster,
    discount,
    masses_from_dicts,
    pignistic,
)

C, F, J = species = ["chanterelle", "false chanterelle", "jack-o'-lantern"]
first = masses_from_dicts(
    [{(C,): 0.9, (C, F, J): 0.1}, {(C,): 0.9, (C, F): 0.1}, {(C, F, J): 1.0}], species
)
second = masses_from_dicts(
    [{(C,): 0.6, (C, F): 0.4}, {(J,): 0.9, (F, J): 0.1}, {(F, J): 0.3, (C, F, J): 0.7}], species
)
first, second = discount(first, doubt=0.1), discount(second, doubt=0.1)  # nobody is infallible
pooled = dempster(first, second)

# %%
# The bar goes from belief to plausibility, the mark is the bet.
figure, panels = plt.subplots(1, 3, figsize=(8.6, 2.6), sharey=True)
for row, (axes, title) in enumerate(zip(panels, ["they agree", "they clash", "they say little"])):
    low, high = belief(pooled[row], [1, 2, 4]), contour(pooled[row])
    axes.barh(species, high - low, left=low, height=0.5, color="#9ecae1")
    axes.plot(pignistic(pooled[row]), species, "|", color="C0", markersize=22, markeredgewidth=3)
    axes.set(xlim=(0, 1.02), title=title, xlabel=f"conflict {conflict(first, second)[row]:.2f}")
    axes.grid(axis="y", visible=False)
panels[0].invert_yaxis()
plt.show()

# %%
# **What one sees.** In the first photograph one species is believed and the bar is short. In the
# second, two species have short bars in the middle: the experts contradict each other. In the
# third all bars are long: nobody knows. The bets of the last two look much alike.
