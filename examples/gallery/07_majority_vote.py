"""
Majority vote goes wrong, doubts do not
=======================================

One expert knows, beginners guess and say so. A vote counts everybody alike; pooling counts
doubts.
"""

import matplotlib.pyplot as plt
import numpy as np

from plausible.experts import Annotations

rng = np.random.default_rng(0)
n_items = 1000
truth = rng.integers(3, size=n_items)


def right_by(n_beginners):
    """Share of right labels by vote, with stated doubts, and with doubts learned from agreement."""
    right = np.array([0.95] + [0.42] * n_beginners)
    answered = rng.uniform(size=(n_items, len(right))) < right
    said = np.where(answered, truth[:, None], rng.integers(3, size=answered.shape))
    doubts = np.array([0.08] + [0.6] * n_beginners)
    plain = Annotations.from_answers(said)
    stated = Annotations.from_answers(said, doubt=np.broadcast_to(doubts, said.shape))
    ways = plain.votes(), stated.pool(doubt=0.0).scaled(), plain.pool(doubt="fit").scaled()
    return [(way.argmax(axis=1) == truth).mean() for way in ways]


# %%
# More and more beginners join.
beginners = [0, 2, 4, 6, 8, 12]
vote, doubted, learned = np.array([right_by(n) for n in beginners]).T
figure, axes = plt.subplots(figsize=(6.4, 3.4))
axes.plot(beginners, doubted, "o-", color="C0", label="pooled with the doubts that people state")
axes.plot(beginners, learned, "o-", color="C2", label="pooled with doubts learned from agreement")
axes.plot(beginners, vote, "o-", color="C1", label="majority vote")
axes.set(xlabel="beginners beside one expert", ylabel="labels that are right", ylim=(0.6, 1.01))
axes.set_title("One who knows, and many who guess")
axes.legend(loc="lower left")
plt.show()

# %%
# **What one sees.** A few beginners outvote the expert. Where answers count by their doubts,
# stated or learned, the labels stay as good as the expert's, however many beginners join.
