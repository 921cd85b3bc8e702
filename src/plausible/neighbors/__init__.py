"""Classifiers by evidence from near items, and labels for unlabeled items from them.

Examples
--------
>>> from plausible.labels import Labels
>>> from plausible.neighbors import EvidentialNeighborsClassifier
>>> X = [[0.0], [1.0], [2.0], [6.0], [7.0], [8.0]]
>>> y = Labels.from_sets([{"a"}, {"a", "b"}, {"a"}, {"b", "c"}, {"c"}, {"c"}], classes="abc")
>>> model = EvidentialNeighborsClassifier(n_neighbors=3).fit(X, y)
>>> model.predict([[0.5], [7.5]])
array(['a', 'c'], dtype='<U1')
"""

from plausible.neighbors.classifier import EvidentialNeighborsClassifier
from plausible.neighbors.contextual import ContextualNeighborsClassifier
from plausible.neighbors.relabelling import Relabeller, RelabellingClassifier

# isort: split
# For the rooms above; not part of the public interface.
from plausible.neighbors.search import Lists as Lists
from plausible.neighbors.search import Search as Search
from plausible.neighbors.search import check_search as check_search

__all__ = [
    "ContextualNeighborsClassifier",
    "EvidentialNeighborsClassifier",
    "Relabeller",
    "RelabellingClassifier",
]
