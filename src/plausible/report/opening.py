"""What comes first on the page: the few numbers that matter, and what to do about them."""

from typing import Any

from plausible.report.tags import Markup, count, join, name, number, percent, tag

Summary = dict[str, Any]

MOST_NAMES = 3  # in one piece of advice
TOO_SURE = 0.05  # gap between confidence and truth that is worth a word


def opening(summary: Summary) -> list[Markup]:
    """Numbers at a glance, and advice."""
    pairs = [
        tag("div", tag("dt", what), tag("dd", value), tag("dd", note, class_="quiet"))
        for what, value, note in at_a_glance(summary)
    ]
    if not pairs:
        return []
    found = advice(summary)
    lines = [tag("li", tag("a", link, href=f"#{key}"), rest) for key, link, rest in found]
    first = tag("p", tag("b", "What to do first"), id="first")
    todo = [first, tag("ul", *lines, aria_labelledby="first")]
    calm = [tag("p", "Nothing calls for action: no clash, no empty label, no suspicion.")]
    return [tag("dl", *pairs, class_="glance"), tag("div", *(todo if lines else calm))]


def at_a_glance(summary: Summary) -> list[tuple[str, str, str]]:
    """The few numbers that come first: what, how much, and a word on it."""
    labels, clash, belief = summary["labels"], summary["clash"], summary["belief"]
    found = []
    if "n_items" in labels:
        empty = percent(labels["kinds"]["nothing"], labels["n_items"])
        found.append(
            ("items", number(labels["n_items"]), f"in {count(labels['n_classes'], 'class')}")
        )
        found.append(("empty labels", empty, "say nothing"))
    if clash.get("agreement"):
        told = clash["agreement"]
        people = "person" if told["n_annotators"] == 1 else "people"
        by = f"by {told['n_annotators']:,} {people}"
        found.append(("answers", number(told["n_answers"]), by))
    if clash.get("mean") is not None:
        high = f"{clash['n_above_half']:,} above 0.5"
        found.append(("mean conflict", number(clash["mean"]), high))
    if belief.get("suspicious"):
        found.append(("suspicious labels", number(belief["suspicious"]["count"]), "by the model"))
    score = _score(summary, "soft_accuracy")
    if score is not None:
        interval = f"{number(score['low'])} to {number(score['high'])}"
        found.append(("soft accuracy", number(score["estimate"]), interval))
    return found


def advice(summary: Summary) -> list[tuple[str, str, Markup]]:
    """What to do, as (section, the deed, why); nothing where all is well."""
    steps = (_empty, _clash, _guessers, _ask, _suspicious, _too_sure)
    found = (step(summary) for step in steps)
    return [piece for piece in found if piece is not None]


def _empty(summary: Summary) -> tuple[str, str, Markup] | None:
    part = summary["labels"]
    n = part["kinds"]["nothing"] if "kinds" in part else 0
    if not n:
        return None
    share = percent(n, part["n_items"])
    return (
        "labels",
        f"Label {count(n, 'item')}",
        join([f" ({share}) about which nothing is known."]),
    )


def _clash(summary: Summary) -> tuple[str, str, Markup] | None:
    part = summary["clash"]
    n = part.get("n_above_half")
    if not n:
        return None
    share = percent(n, sum(part["histogram"]["counts"]))
    worst = [" The worst is ", name(part["worst"][0]["item"]), "."]
    return (
        "clash",
        f"Settle {count(n, 'item')}",
        join([f" ({share}) on which experts clash.", *worst]),
    )


def _guessers(summary: Summary) -> tuple[str, str, Markup] | None:
    """Annotators whose interval reaches down to luck, the worst first."""
    part = summary["reliability"]
    people = part.get("annotators", [])
    poor = [row["annotator"] for row in people if row["low"] <= part["chance"]][::-1]
    if not poor:
        return None
    deed = f"Check {count(len(poor), 'annotator')}"
    return "reliability", deed, join([" who may only be guessing: ", *_names(poor), "."])


def _ask(summary: Summary) -> tuple[str, str, Markup] | None:
    urgent = [row["item"] for row in summary["questions"].get("items", []) if row["priority"] > 0]
    if not urgent:
        return None
    rest = [" where another answer is worth most: ", *_names(urgent), "."]
    return "questions", "Ask again", join(rest)


def _suspicious(summary: Summary) -> tuple[str, str, Markup] | None:
    part = summary["belief"].get("suspicious")
    if not part or not part["count"]:
        return None
    rest = [" that the model finds implausible: ", *_names(_items(part), part["count"]), "."]
    return "belief", f"Look at {count(part['count'], 'label')}", join(rest)


def _too_sure(summary: Summary) -> tuple[str, str, Markup] | None:
    """A model whose confidence is off, and surely so."""
    score = _score(summary, "expected_calibration_error")
    if score is None or score["low"] < TOO_SURE:
        return None
    bins = summary["scores"]["calibration"]
    gap = sum(row["weight"] * (row["confidence"] - row["right"]) for row in bins)
    how = "too sure" if gap > 0 else "not sure enough"
    rest = f" of the model: it is {how}, by {number(score['estimate'])} on average."
    return "scores", "Do not take the probabilities at their word", join([rest])


def _score(summary: Summary, wanted: str) -> dict[str, Any] | None:
    rows = summary["scores"].get("scores", [])
    return next((row for row in rows if row["score"] == wanted), None)


def _items(part: dict[str, Any]) -> list[str]:
    return [row["item"] for row in part["worst"]]


def _names(names: list[str], whole: int | None = None) -> list[Any]:
    """The first few of some names."""
    shown = [name(text) for text in names[:MOST_NAMES]]
    more = " and more" if (whole or len(names)) > len(shown) else ""
    return [piece for k, part in enumerate(shown) for piece in ([", "] if k else []) + [part]] + [
        more
    ]
