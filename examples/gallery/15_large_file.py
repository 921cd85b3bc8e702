"""
A file larger than memory
=========================

Estimators read rows in chunks, as often as they need them. The answer is the same as in memory,
and nothing is kept that grows with the number of rows. Here the files have up to 200,000 rows,
for the sake of the clock; ten million are read in the same way.
"""

import tempfile
import tracemalloc
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from plausible.engine import StreamRows, read_npy
from plausible.labels import Labels
from plausible.models import GaussianMixtureClassifier

rng = np.random.default_rng(0)
truth = rng.integers(3, size=200_000)
X = rng.normal(size=(200_000, 8)) + 2.0 * np.eye(3, 8)[truth]
labels = Labels.from_doubt(truth, rng.uniform(0, 0.5, size=200_000)).contour


model = GaussianMixtureClassifier("tied", tol=1e-3)


def fit_from_file(at):
    model.fit(StreamRows(read_npy(at / "X.npy", at / "y.npy", chunk_rows=10_000)))


def fit_in_memory(at):
    model.fit(np.load(at / "X.npy"), np.load(at / "y.npy"))


def peak(fit, at):
    """Megabytes that a fit holds at most, beyond what is there."""
    tracemalloc.start()
    fit(at)
    megabytes = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return megabytes


sizes, memory = [50_000, 100_000, 200_000], {"in memory": [], "from a file": []}
with tempfile.TemporaryDirectory() as folder:
    at = Path(folder)
    for n in sizes:
        np.save(at / "X.npy", X[:n])
        np.save(at / "y.npy", labels[:n])
        memory["from a file"].append(peak(fit_from_file, at))
        memory["in memory"].append(peak(fit_in_memory, at))

# %%
# The most that was held at any time.
figure, axes = plt.subplots(figsize=(5.8, 3.4))
for color, (name, used) in zip(["C1", "C0"], memory.items()):
    axes.plot(np.array(sizes) / 1000, used, "o-", color=color, label=name)
axes.set(xlabel="thousand rows", ylabel="megabytes", ylim=0, title="Memory of a fit, data included")
axes.legend()
plt.show()

# %%
# **What one sees.** In memory, a fit needs what the rows need. From a file it needs the same few
# megabytes, however long the file is.
