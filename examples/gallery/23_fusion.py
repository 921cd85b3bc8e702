"""
A sensor breaks
===============

Three classifiers each see some features. `EvidentialFusionClassifier` learns how far to trust
each of them and combines their beliefs; a source that fails loses its weight.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.ensemble import VotingClassifier
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, scale

from plausible.experts import EvidentialFusionClassifier

X, y = load_wine(return_X_y=True)
X = scale(X)
columns = {"body": slice(0, 5), "phenols": slice(5, 9), "color": slice(9, 13)}
static = 2 * np.random.default_rng(0).normal(size=(178, 4))


def only(part):
    """A classifier that sees some columns, as scikit-learn's vote needs it."""
    return make_pipeline(FunctionTransformer(lambda X: X[:, part]), GaussianNB())


def compare(noise):
    """Accuracies of both, and doubts, when the color sensor has some noise."""
    broken = X.copy()
    broken[:, 9:] = (1 - noise) * X[:, 9:] + noise * static
    A, B, a, b = train_test_split(broken, y, test_size=0.5, random_state=1, stratify=y)
    parts = [(name, GaussianNB(), part) for name, part in columns.items()]
    fused = EvidentialFusionClassifier(parts, calibrate="none").fit(A, a)
    vote = VotingClassifier([(name, only(part)) for name, part in columns.items()], voting="soft")
    return fused.score(B, b), vote.fit(A, a).score(B, b), *fused.doubts_


# %%
# The color sensor sends more and more noise.
noise = np.linspace(0, 1, 6)
fused, vote, *doubts = np.array([compare(share) for share in noise]).T
figure, (left, right) = plt.subplots(1, 2, figsize=(8.6, 3.3))
left.plot(noise, fused, "o-", color="C0", label="fusion with learned doubts")
left.plot(noise, vote, "o-", color="C1", label="soft vote")
left.set(xlabel="noise of the color sensor", ylabel="right on new wines", ylim=(0.7, 1.01))
left.set_title("Accuracy")
left.legend(loc="lower left")
for name, doubt, color in zip(columns, doubts, ["C4", "C3", "C0"]):
    right.plot(noise, doubt, "o-", color=color, label=name)
right.set(xlabel="noise of the color sensor", ylabel="learned doubt", ylim=(0, 1), title="Doubt")
right.legend(loc="upper left")
plt.show()

# %%
# **What one sees.** With the noise the doubt in the color sensor rises, and the other two carry
# the decision.
