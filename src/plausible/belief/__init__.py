"""The algebra of belief functions, vectorized over many mass functions at once.

Numbers in, numbers out. Masses come in dense form, an array (..., 2^K), or as `SparseMasses`; see
`plausible.belief.forms`. Sets of classes are bit masks; see `plausible.belief.sets`.

Examples
--------
Two experts, one of them doubtful, on the frame (a, b):

>>> from plausible.belief import decide, dempster, discount
>>> first = [0.0, 0.7, 0.1, 0.2]  # nothing, {a}, {b}, {a, b}
>>> second = discount([0.0, 0.0, 1.0, 0.0], doubt=0.4)
>>> dempster(first, second).round(3)
array([0.   , 0.483, 0.379, 0.138])
>>> print(decide(dempster(first, second), kind="masses", reject=0.3).names(["a", "b"]))
None
"""

from plausible.belief.bayes import generalized_bayes, plausibility_given_sets, total_plausibility
from plausible.belief.comparisons import is_at_least_as_committed
from plausible.belief.decisions import Decision, decide, expected_losses
from plausible.belief.errors import TotalConflictError
from plausible.belief.forms import SparseMasses, concatenate, to_dense, to_sparse
from plausible.belief.frames import (
    coarsen,
    cylinders,
    marginalize,
    refine,
    vacuous_extension,
    with_unknown,
)
from plausible.belief.masses import (
    bayesian,
    categorical,
    consonant,
    contour_of_bets,
    masses_from_dicts,
    normalize,
    vacuous,
)
from plausible.belief.measures import (
    conflict,
    confusion,
    deng_entropy,
    discord,
    dissonance,
    interval_width,
    jousselme_distance,
    nonspecificity,
    pignistic_entropy,
    plausibility_entropy,
    strife,
)
from plausible.belief.operations import condition, contextual_discount, discount, negate
from plausible.belief.rules import (
    bold,
    cautious,
    combine,
    conjunctive,
    dempster,
    disjunctive,
    dubois_prade,
    mean,
    pcr6,
    yager,
)
from plausible.belief.sets import (
    MAX_CLASSES,
    MAX_DENSE_CLASSES,
    all_sets,
    cardinality,
    decode_sets,
    encode_sets,
    full_set,
    membership,
    sets_from_membership,
)
from plausible.belief.transforms import (
    belief,
    commonality,
    contour,
    implicability,
    masses_from_belief,
    masses_from_commonality,
    masses_from_implicability,
    masses_from_plausibility,
    pignistic,
    plausibility,
    plausibility_probability,
)
from plausible.belief.weights import (
    conjunctive_weights,
    disjunctive_weights,
    masses_from_conjunctive_weights,
    masses_from_disjunctive_weights,
)

# isort: split
# For the rooms above; not part of the public interface.
from plausible.belief.degrees import belief_of_contour as belief_of_contour
from plausible.belief.degrees import not_ruled_out as not_ruled_out
from plausible.belief.degrees import pignistic_of as pignistic_of
from plausible.belief.forms import ROUNDING as ROUNDING
from plausible.belief.forms import SUM_TOLERANCE as SUM_TOLERANCE
from plausible.belief.forms import check_masses as check_masses
from plausible.belief.forms import check_unit_interval as check_unit_interval
from plausible.belief.forms import check_values as check_values
from plausible.belief.forms import sparse_form as sparse_form
from plausible.belief.masses import least_committed as least_committed
from plausible.belief.moebius import superset_difference as superset_difference
from plausible.belief.rules import RULES as RULES
from plausible.belief.sets import can_be_looked_up as can_be_looked_up
from plausible.belief.sets import check_n_classes as check_n_classes
from plausible.belief.sets import class_names as class_names

__all__ = [
    "MAX_CLASSES",
    "MAX_DENSE_CLASSES",
    "Decision",
    "SparseMasses",
    "TotalConflictError",
    "all_sets",
    "bayesian",
    "belief",
    "bold",
    "cardinality",
    "categorical",
    "cautious",
    "coarsen",
    "combine",
    "commonality",
    "concatenate",
    "condition",
    "conflict",
    "confusion",
    "conjunctive",
    "conjunctive_weights",
    "consonant",
    "contextual_discount",
    "contour",
    "contour_of_bets",
    "cylinders",
    "decide",
    "decode_sets",
    "dempster",
    "deng_entropy",
    "discord",
    "discount",
    "disjunctive",
    "disjunctive_weights",
    "dissonance",
    "dubois_prade",
    "encode_sets",
    "expected_losses",
    "full_set",
    "generalized_bayes",
    "implicability",
    "interval_width",
    "is_at_least_as_committed",
    "jousselme_distance",
    "marginalize",
    "masses_from_belief",
    "masses_from_commonality",
    "masses_from_conjunctive_weights",
    "masses_from_dicts",
    "masses_from_disjunctive_weights",
    "masses_from_implicability",
    "masses_from_plausibility",
    "mean",
    "membership",
    "negate",
    "nonspecificity",
    "normalize",
    "pcr6",
    "pignistic",
    "pignistic_entropy",
    "plausibility",
    "plausibility_entropy",
    "plausibility_given_sets",
    "plausibility_probability",
    "refine",
    "sets_from_membership",
    "strife",
    "to_dense",
    "to_sparse",
    "total_plausibility",
    "vacuous",
    "vacuous_extension",
    "with_unknown",
    "yager",
]
