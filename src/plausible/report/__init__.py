"""One page about labels, experts and a model: numbers first, then HTML."""

from plausible.report.page import render
from plausible.report.summary import summarize
from plausible.report.writing import Report, label_report

__all__ = ["Report", "label_report", "render", "summarize"]
