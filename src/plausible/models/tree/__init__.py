"""Belief decision trees: splits by what labels say and leave open, masses at the leaves.

`problem` has features as ranks, labels as masses and the impurity; `growth` finds the splits
(`growth_compiled` the same for large data, with `growth_search` and `growth_kernels`), `structure`
is the grown tree as arrays, `pruning` makes it smaller, `parameters` checks what users set;
`classifier` and `forest` are the estimators (`bags` what forests draw and combine), `export` writes
trees as text and as pictures.
"""

from plausible.models.tree.classifier import BeliefTreeClassifier
from plausible.models.tree.export import export_svg, export_text
from plausible.models.tree.forest import BeliefForestClassifier, OutOfBagWarning

__all__ = [
    "BeliefForestClassifier",
    "BeliefTreeClassifier",
    "OutOfBagWarning",
    "export_svg",
    "export_text",
]
