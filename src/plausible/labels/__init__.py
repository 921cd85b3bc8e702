"""Labels: what is known about the class of each item.

Examples
--------
The four kinds of label of Vannoorenberghe's table I, on three classes:

>>> from plausible.labels import Labels
>>> Labels.from_crisp(["b"], classes="abc").contour            # hard
array([[0., 1., 0.]])
>>> Labels.from_sets([{"a", "b"}], classes="abc").contour      # imprecise
array([[1., 1., 0.]])
>>> Labels.from_probability([[0.2, 0.6, 0.2]], classes="abc").contour
array([[0.2, 0.6, 0.2]])
>>> Labels.from_masses([{("c",): 0.7, ("a", "c"): 0.2, ("a", "b", "c"): 0.1}]).contour.round(10)
array([[0.3, 0.1, 1. ]])
"""

from plausible.labels.container import Labels
from plausible.labels.door import as_labels
from plausible.labels.warnings import (
    AlikeClassesWarning,
    ApproximationWarning,
    HardenedLabelsWarning,
    MinusOneWarning,
)

# isort: split
# For the rooms above; not part of the public interface.
from plausible.labels.contours import let_in as let_in
from plausible.labels.door import MISSING as MISSING
from plausible.labels.door import RowSums as RowSums
from plausible.labels.door import holds_sets as holds_sets
from plausible.labels.door import holds_shares as holds_shares
from plausible.labels.door import row_sums as row_sums
from plausible.labels.kinds import CERTAIN as CERTAIN
from plausible.labels.kinds import KINDS as KINDS
from plausible.labels.kinds import is_single as is_single
from plausible.labels.kinds import kinds_of as kinds_of
from plausible.labels.notebooks import highest as highest
from plausible.labels.odd_classes import in_order_of as in_order_of
from plausible.labels.parsing import check_classes as check_classes
from plausible.labels.parsing import find_missing as find_missing
from plausible.labels.words import statement_in_words as statement_in_words

__all__ = [
    "AlikeClassesWarning",
    "ApproximationWarning",
    "HardenedLabelsWarning",
    "Labels",
    "MinusOneWarning",
    "as_labels",
]
