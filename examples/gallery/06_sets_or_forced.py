"""
Allow a set, or force a choice?
===============================

Somebody who hesitates between two classes may say so, or is forced to name one. Answers that are
sets keep what the person knows; how much, in bits, depends on the number of classes.
"""

import matplotlib.pyplot as plt
import numpy as np

from plausible.experts import Annotations
from plausible.metrics import soft_log_loss

rng = np.random.default_rng(0)
n_items, n_people, doubt = 600, 4, 0.15
n_classes = [3, 5, 8, 12]


def simulate(K):
    """Log losses of labels from forced answers and from sets of candidates."""
    truth = rng.integers(K, size=n_items)
    look = rng.normal(size=(n_items, n_people, K)) + 2.0 * np.eye(K)[truth][:, None]
    best = look.max(axis=2, keepdims=True)
    candidates = look > best - 0.8  # the best, and what looks nearly as good
    losses = []
    for chosen in (look == best, candidates):
        sets = [set(np.flatnonzero(row).tolist()) for row in chosen.reshape(-1, K)]
        items = np.repeat(np.arange(n_items), n_people)
        people = np.tile(np.arange(n_people), n_items)
        answers = Annotations.from_long(items, people, sets, classes=range(K))
        contour = answers.pool(doubt=doubt).scaled()
        bets = contour / contour.sum(axis=1, keepdims=True)
        losses.append(soft_log_loss(truth, bets, classes=range(K)))
    return losses


# %%
# Log loss in bits, less than that of knowing nothing.
forced, sets = np.array([simulate(K) for K in n_classes]).T / np.log(2)
bits = np.log2(n_classes)
figure, axes = plt.subplots(figsize=(6.2, 3.4))
axes.plot(n_classes, bits, color="#888888", linestyle=":", label="all there is to know")
axes.plot(n_classes, bits - sets, "o-", color="C0", label="sets allowed")
axes.plot(n_classes, bits - forced, "o-", color="C1", label="one class forced")
axes.set(xlabel="number of classes", ylabel="bits learned about an item", xticks=n_classes, ylim=0)
axes.set_title("Four people, who may hesitate")
axes.legend(loc="upper left")
plt.show()

# %%
# **What one sees.** The labels from sets know more about the truth, and the more classes there
# are to hesitate between, the more a forced choice throws away.
