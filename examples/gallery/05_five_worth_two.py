"""
Five people are worth two
=========================

What fools one person fools the next. Plain Dempster pooling takes people for independent and
becomes far too sure; `Annotations.pool` allows for shared errors, here with a share learned from
gold.
"""

import matplotlib.pyplot as plt
import numpy as np

from plausible.experts import Annotations

rng = np.random.default_rng(0)
n_items, n_people = 1500, 5
truth = rng.integers(3, size=n_items)
trap = (truth + rng.integers(1, 3, size=n_items)) % 3  # what the item looks like
is_hard = rng.uniform(size=n_items) < 0.3
right = np.where(is_hard, 0.45, 0.85)[:, None]
said = np.where(rng.uniform(size=(n_items, n_people)) < right, truth[:, None], trap[:, None])
answers = Annotations.from_answers(said)
gold = {item: int(truth[item]) for item in range(100)}
learned = answers.dependence(gold=gold)
print(learned)

# %%
# How often is the best class right, when its probability is about p?
figure, axes = plt.subplots(figsize=(4.6, 4.2))
pools = {
    "as if independent": answers.pool(doubt="fit"),
    "allowing for shared errors": answers.pool(dependence=learned),
}
for color, (name, labels) in zip(["C1", "C0"], pools.items()):
    p = labels.scaled() / labels.scaled().sum(axis=1, keepdims=True)
    best, correct = p.max(axis=1), p.argmax(axis=1) == truth
    bins = np.digitize(best, [0.55, 0.7, 0.8, 0.9, 0.97])
    groups = [bins == k for k in range(6) if (bins == k).sum() > 25]
    x, y = ([values[g].mean() for g in groups] for values in (best, correct))
    axes.plot(x, y, "o-", color=color, label=name)
axes.plot([0.33, 1], [0.33, 1], color="#888888", linestyle=":", linewidth=1.5)
axes.set(xlim=(0.4, 1.02), ylim=(0.3, 1.02), xlabel="stated probability", ylabel="share right")
axes.set_title("Pooled answers of five people")
axes.legend(loc="upper left")
plt.show()

# %%
# **What one sees.** On the dotted line a stated probability is what it turns out to be. Pooled as
# if people were independent, labels that claim near certainty are right much less often; with the
# dependence that 100 known items show, they stay close to the line.
