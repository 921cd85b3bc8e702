"""
From Label Studio's export to a report
======================================

The JSON that Label Studio exports is read as it is: several choices of a person are a set, a
skipped task says nothing. `label_report` writes one HTML page; here we look at its numbers.
"""

import json
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from plausible.io import read_annotations
from plausible.report import label_report

rng = np.random.default_rng(0)
classes = np.array(["invoice", "letter", "receipt"])
truth = rng.integers(3, size=60)


def one_answer(person, k):
    """What Label Studio writes when a person has looked at a task."""
    right = [0.95, 0.85, 0.6][person]
    chosen = {int(truth[k] if rng.uniform() < right else rng.integers(3))}
    if rng.uniform() < 0.25:
        chosen.add(int(truth[k]))
    choices = [str(classes[c]) for c in sorted(chosen)]
    result = [{"type": "choices", "from_name": "kind", "value": {"choices": choices}}]
    return {"completed_by": ["ada", "ben", "cleo"][person], "result": result}


tasks = [{"id": k, "annotations": [one_answer(p, k) for p in range(3)]} for k in range(60)]
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "export.json"
    path.write_text(json.dumps(tasks))
    answers = read_annotations(path)
    labels = answers.pool()
    report = label_report(Path(folder) / "report.html", labels, answers)
    size = (Path(folder) / "report.html").stat().st_size
print(answers)
print(f"a report of {size // 1000} kB; Krippendorff's alpha {answers.agreement().alpha:.2f}")

# %%
# The pooled labels: a column for each document, dark where a class is plausible.
contour = labels.scaled()
order = np.lexsort([np.sort(contour, axis=1)[:, -2], contour.argmax(axis=1)])
figure, (top, bottom) = plt.subplots(2, 1, figsize=(8.4, 2.9), height_ratios=[3, 1], sharex=True)
top.imshow(contour[order].T, aspect="auto", vmin=0, vmax=1)
top.set_yticks(range(3), labels.classes)
top.set_title("Sixty documents, and what they may be")
bottom.bar(np.arange(60), labels.conflict[order], color="C1", width=0.8)
bottom.set(ylabel="conflict", xlabel="document", ylim=(0, 1))
for axes in (top, bottom):
    axes.grid(visible=False)
plt.show()

# %%
# **What one sees.** Most documents are dark in one row only: clear. Where two rows are dark,
# people contradict each other, and the orange bars say how much; the report lists these to be
# looked at.
