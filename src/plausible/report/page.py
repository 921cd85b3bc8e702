"""The page: a dictionary of numbers as one HTML document."""

from collections.abc import Callable
from typing import Any

from plausible.report.confusion_sections import show_confusion
from plausible.report.expert_sections import (
    show_clash,
    show_labels,
    show_questions,
    show_reliability,
)
from plausible.report.feature_sections import show_features
from plausible.report.model_sections import show_belief, show_made, show_scores
from plausible.report.of_making import remedy, untold
from plausible.report.opening import opening
from plausible.report.style import STYLE
from plausible.report.tags import Markup, join, name, tag

SECTIONS: dict[str, tuple[str, Callable[[dict[str, Any]], list[Markup]]]] = {
    "labels": ("What do the labels say?", show_labels),
    "clash": ("Where do experts clash?", show_clash),
    "confusion": ("Which classes are confused?", show_confusion),
    "reliability": ("Who is reliable?", show_reliability),
    "questions": ("Which items should be asked again?", show_questions),
    "features": ("What do the features look like?", show_features),
    "belief": ("What does the model believe?", show_belief),
    "scores": ("How good is the model?", show_scores),
    "made": ("How was this made?", show_made),
}

# Nothing is fetched, and nothing runs.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def render(summary: dict[str, Any]) -> str:
    """One HTML document, without scripts and without anything from the network.

    Parameters
    ----------
    summary : dict
        As `summarize` gives it, perhaps through JSON.

    Examples
    --------
    >>> from plausible.labels import Labels
    >>> from plausible.report import summarize
    >>> page = render(summarize(Labels.from_crisp(["cat", "<dog>"])))
    >>> page.startswith("<!doctype html>"), "&lt;dog&gt;" in page, "<dog>" in page
    (True, True, False)
    """
    if not isinstance(summary, dict) or not {"title", *SECTIONS} <= set(summary):
        raise ValueError(
            f"render needs what summarize gives, but {type(summary).__name__} without all of its "
            "parts came; call summarize first."
        )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("link", rel="icon", href="data:,"),
        tag("title", summary["title"]),
        tag("style", Markup(STYLE)),
    )
    whole = _with_words(_with_contents(summary))
    sections = [_section(key, whole[key]) for key in SECTIONS]
    body = tag("body", _header(summary), _contents(), tag("main", *sections))
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


def _with_words(summary: dict[str, Any]) -> dict[str, Any]:
    """The same, with how labels came about beside them, in words of Python or of the command."""
    by_command = summary["made"]["by_command"]
    told = {"pooling": summary["pooling"], "untold": untold(by_command)}
    parts = {"labels": summary["labels"] | told}
    parts["reliability"] = summary["reliability"] | {"remedy": remedy(by_command)}
    return summary | parts


def _with_contents(summary: dict[str, Any]) -> dict[str, Any]:
    """The same, with texts and pictures beside the items that are listed."""
    contents = summary.get("contents")
    if not contents:
        return summary

    def beside(value: Any) -> Any:
        if isinstance(value, list):
            return [beside(part) for part in value]
        if not isinstance(value, dict):
            return value
        found = {key: beside(part) for key, part in value.items()}
        told = contents.get(value.get("item"))
        return found | {"content": told} if told else found

    places = {key: beside(summary[key]) for key in ("clash", "questions", "belief")}
    if summary["belief"].get("about") == "test items":
        places["belief"] = summary["belief"]
    return summary | places


def _header(summary: dict[str, Any]) -> Markup:
    date = summary["made"].get("date")
    when = [tag("p", name(date), class_="quiet")] if date else []
    return tag("header", tag("h1", name(summary["title"])), *when, *opening(summary))


def _contents() -> Markup:
    links = [tag("li", tag("a", SECTIONS[key][0], href=f"#{key}")) for key in SECTIONS]
    return tag("nav", tag("ol", *links), aria_label="Questions")


def _section(key: str, part: dict[str, Any]) -> Markup:
    question, show = SECTIONS[key]
    missing = part.get("missing")
    content = [tag("p", missing, class_="missing")] if missing else show(part)
    heading = tag("h2", question, id=f"{key}-heading")
    return tag("section", heading, join(content), id=key, aria_labelledby=f"{key}-heading")
