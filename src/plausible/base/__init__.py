"""What every estimator shares: what fit does first, kinds of answer, beliefs, tags, warnings.

A classifier writes one method: `_log_evidence` (`EvidenceClassifier`) or `_masses`
(`MassClassifier`), and every kind of answer follows. A clustering writes `_cluster`
(`CredalClustering`), and behind its answers stands a `CredalPartition`.
"""

from plausible.base.beliefs import Beliefs, believe
from plausible.base.classifier import BeliefClassifier
from plausible.base.clustering import Clustered, CredalClustering
from plausible.base.clustering import check_reach as check_reach
from plausible.base.evidence import EvidenceClassifier
from plausible.base.features import check_features, count_rows
from plausible.base.mass import MassClassifier
from plausible.base.named import FeatureTable, NamedArray, names_of_columns
from plausible.base.normalization import log_normalized, normalized
from plausible.base.partition import CredalPartition, Relations, RoughPartition
from plausible.base.partition_tools import PartitionSummary
from plausible.base.refusals import HeldOut
from plausible.base.scoring import RowScores, score_rows
from plausible.base.tags import LabelTags, takes_labels, with_labels
from plausible.base.training import (
    TrainingRows,
    check_labels_and_weights,
    check_weights,
    is_dask,
    training_rows,
)
from plausible.base.warnings import (
    EmptyClassWarning,
    FarPointWarning,
    OutlierWarning,
    RowOrderWarning,
    SharpenedLabelsWarning,
)

# isort: split
# For the rooms above; not part of the public interface.
from plausible.base.bets import bets_of_masses as bets_of_masses
from plausible.base.class_order import align_loss as align_loss
from plausible.base.class_order import by_class as by_class
from plausible.base.class_order import order_of_labels as order_of_labels
from plausible.base.class_order import refuse_order as refuse_order
from plausible.base.class_order import remember_order as remember_order
from plausible.base.class_order import stack_by_class as stack_by_class
from plausible.base.elsewhere import are_elsewhere as are_elsewhere
from plausible.base.elsewhere import with_names as with_names
from plausible.base.features import check_names as check_names
from plausible.base.features import remember_features as remember_features
from plausible.base.gathering import check_room as check_room
from plausible.base.gathering import fill as fill
from plausible.base.gathering import gather as gather
from plausible.base.mass import combined as combined
from plausible.base.refusals import reject_for as reject_for
from plausible.base.training import is_mark as is_mark
from plausible.base.training import warn_of_order as warn_of_order
from plausible.base.training import warn_of_sharpening as warn_of_sharpening
from plausible.base.whole import WholeFit as WholeFit

__all__ = [
    "BeliefClassifier",
    "Beliefs",
    "Clustered",
    "CredalClustering",
    "CredalPartition",
    "EmptyClassWarning",
    "EvidenceClassifier",
    "FarPointWarning",
    "FeatureTable",
    "HeldOut",
    "LabelTags",
    "MassClassifier",
    "NamedArray",
    "OutlierWarning",
    "PartitionSummary",
    "Relations",
    "RoughPartition",
    "RowOrderWarning",
    "RowScores",
    "SharpenedLabelsWarning",
    "TrainingRows",
    "believe",
    "check_features",
    "check_labels_and_weights",
    "check_weights",
    "count_rows",
    "is_dask",
    "log_normalized",
    "names_of_columns",
    "normalized",
    "score_rows",
    "takes_labels",
    "training_rows",
    "with_labels",
]
