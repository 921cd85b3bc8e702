"""Answers of people, with their doubts, and what they are worth."""

from plausible.experts.agreement import Agreement, agreement
from plausible.experts.annotations import Annotations
from plausible.experts.calibration import WordCalibration, calibrate_words
from plausible.experts.dependence import Dependence
from plausible.experts.fusion import EvidentialFusionClassifier
from plausible.experts.growing import AnswerPool
from plausible.experts.joint import JointAnnotatorClassifier
from plausible.experts.parts import AnnotationParts
from plausible.experts.questions import Question, next_items
from plausible.experts.reliability import Reliability
from plausible.experts.reliability_fit import fit_reliability
from plausible.experts.scrutiny import Drift, SharedErrors, find_drift, find_shared_errors

# isort: split
# For the rooms above; not part of the public interface.
from plausible.experts.constructors import ANYONE as ANYONE
from plausible.experts.contours import simple_masses as simple_masses
from plausible.experts.dependence import learn_shared as learn_shared
from plausible.experts.doubt_gaps import DoubtSums as DoubtSums
from plausible.experts.doubt_gaps import Gaps as Gaps
from plausible.experts.doubts import Scale as Scale
from plausible.experts.doubts import doubts_in_order as doubts_in_order
from plausible.experts.doubts import read_doubts as read_doubts
from plausible.experts.doubts import scale_of as scale_of
from plausible.experts.information import information as information
from plausible.experts.information import worth_of_next as worth_of_next
from plausible.experts.manners import manner as manner
from plausible.experts.meanings import understand as understand
from plausible.experts.parsing import ABSTAIN as ABSTAIN
from plausible.experts.parsing import KINDS as KINDS
from plausible.experts.parsing import NONE as NONE
from plausible.experts.parsing import StrangeAnswersError as StrangeAnswersError
from plausible.experts.parsing import from_masses as from_masses
from plausible.experts.parsing import sort_key as sort_key
from plausible.experts.parsing import understand_cells as understand_cells
from plausible.experts.peers import compare_peers as compare_peers
from plausible.experts.peers import side_by_side as side_by_side
from plausible.experts.pooling import check_doubt_word as check_doubt_word
from plausible.experts.pooling import counted_once as counted_once
from plausible.experts.pooling import default_model as default_model
from plausible.experts.pooling import pool_and_tell as pool_and_tell
from plausible.experts.pooling import who_err_together as who_err_together
from plausible.experts.reliability import equivalent_doubt as equivalent_doubt
from plausible.experts.repeats import Search as Search
from plausible.experts.repeats import count_repeats as count_repeats
from plausible.experts.repeats import tell_repeats as tell_repeats
from plausible.experts.saying import SUPPORT as SUPPORT
from plausible.experts.saying import Statement as Statement
from plausible.experts.saying import Worth as Worth
from plausible.experts.saying import contour_of as contour_of
from plausible.experts.saying import masses_of as masses_of
from plausible.experts.saying import worth_before as worth_before
from plausible.experts.saying import worth_learned as worth_learned
from plausible.experts.slips import is_free_text as is_free_text
from plausible.experts.tables import Codes as Codes
from plausible.experts.tables import canonical as canonical
from plausible.experts.tables import factorize as factorize
from plausible.experts.tables import factorize_cells as factorize_cells
from plausible.experts.tables import tell_blanks as tell_blanks
from plausible.experts.tables import tidy_names as tidy_names
from plausible.experts.words import CANNOT_TELL as CANNOT_TELL
from plausible.experts.words import NONE_OF_THESE as NONE_OF_THESE
from plausible.experts.words import STEP as STEP
from plausible.experts.words import fold as fold
from plausible.experts.words import names_in as names_in
from plausible.experts.words import says_nothing as says_nothing
from plausible.experts.words import split_quoted as split_quoted

__all__ = [
    "Agreement",
    "AnnotationParts",
    "Annotations",
    "AnswerPool",
    "Dependence",
    "Drift",
    "EvidentialFusionClassifier",
    "JointAnnotatorClassifier",
    "Question",
    "Reliability",
    "SharedErrors",
    "WordCalibration",
    "agreement",
    "calibrate_words",
    "find_drift",
    "find_shared_errors",
    "fit_reliability",
    "next_items",
]
