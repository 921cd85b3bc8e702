"""Answers of people, with their doubts, and what they are worth."""

from plausible.experts.agreement import Agreement, agreement
from plausible.experts.annotations import Annotations
from plausible.experts.joint import JointAnnotatorClassifier
from plausible.experts.questions import Question, next_items
from plausible.experts.reliability import Reliability, fit_reliability

# isort: split
# For the rooms above; not part of the public interface.
from plausible.experts.contours import simple_masses as simple_masses
from plausible.experts.parsing import ABSTAIN as ABSTAIN
from plausible.experts.parsing import NONE as NONE
from plausible.experts.tables import Codes as Codes
from plausible.experts.tables import canonical as canonical

__all__ = [
    "Agreement",
    "Annotations",
    "JointAnnotatorClassifier",
    "Question",
    "Reliability",
    "agreement",
    "fit_reliability",
    "next_items",
]
