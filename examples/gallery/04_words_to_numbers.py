"""
Words to numbers
================

People say "sure", "rather" or "a guess". What these words are worth differs between people, and
is learned from items whose class is known (gold) by `calibrate_words`.
"""

import matplotlib.pyplot as plt
import numpy as np

from plausible.experts import Annotations, calibrate_words

rng = np.random.default_rng(0)
n_items, people = 400, ["Ada", "Ben", "Cleo"]
truth = rng.integers(4, size=n_items)
words = rng.integers(3, size=(n_items, 3))  # 0 sure, 1 rather, 2 a guess
worth = np.array([[0.97, 0.85, 0.6], [0.8, 0.6, 0.4], [0.6, 0.45, 0.3]])  # Cleo is overconfident
is_right = rng.uniform(size=words.shape) < worth[np.arange(3), words]
said = np.where(is_right, truth[:, None], (truth[:, None] + rng.integers(1, 4, words.shape)) % 4)
stands_for = np.array([0.05, 0.3, 0.6])  # the words, read as doubts
stated = stands_for[words]
answers = Annotations.from_answers(said, annotators=people, doubt=stated)

gold = {item: int(truth[item]) for item in range(120)}
calibrated = calibrate_words(answers, gold)
print(calibrated)
fair = calibrated.apply(answers)

# %%
# Doubts before and after, and the doubts that the simulation has: 1 - the share right beyond
# luck.
figure, axes = plt.subplots(figsize=(6.8, 3.4))
person, word = np.arange(n_items * 3) % 3, words.ravel()
shade = ["#08519c", "#6baed6", "#c6dbef"]
for k, name in enumerate(["sure", "rather", "a guess"]):
    learned = [fair.doubt[(person == j) & (word == k)].mean() for j in range(3)]
    place = np.arange(3) + 0.26 * (k - 1)
    axes.bar(place, learned, width=0.24, color=shade[k], label=f'"{name}", learned')
    beyond_luck = (worth[:, k] - 0.25) / 0.75
    axes.plot(place, 1 - beyond_luck, "D", color="C1", label="truth" if k == 2 else None)
    face = "at face value" if k == 2 else None
    axes.hlines(
        [stands_for[k]] * 3, place - 0.12, place + 0.12, color="#222222", lw=1.5, label=face
    )
axes.set_xticks(range(3), people)
axes.set(ylabel="doubt", ylim=(0, 1), title="What three words are worth, by person")
axes.grid(axis="x", visible=False)
axes.legend(ncols=2, loc="upper left")
plt.show()

# %%
# **What one sees.** The black lines are the doubts that the words stand for at face value, the
# same for everybody. From 120 items of gold the bars move to where each person's truth is: Ada
# can be believed even when she guesses, and Cleo's "sure" is worth no more than Ada's "a guess".
