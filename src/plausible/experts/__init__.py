"""Answers of people, with their doubts, and what they are worth."""

from plausible.experts.agreement import Agreement, agreement
from plausible.experts.annotations import Annotations
from plausible.experts.joint import JointAnnotatorClassifier
from plausible.experts.questions import Question, next_items
from plausible.experts.reliability import Reliability, fit_reliability

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
