"""What comes first on the page: the few numbers that matter, and what to do about them."""

from typing import Any, NamedTuple

from plausible.report.tags import Markup, commas, count, join, name, number, percent, safe, tag

Summary = dict[str, Any]

MOST_NAMES = 3  # in one piece of advice
TOO_SURE = 0.05  # gap between confidence and truth that is worth a word
LITTLE = 0.5  # doubt from which an annotator says little
MUCH = 0.4  # share of all disagreement that is worth a word about two classes
SOME = 10  # pairs of answers from which that is told
URGENT = 0.25  # priority from which a question is worth asking


class Advice(NamedTuple):
    """A deed, with the section that tells more, and the rest of the sentence."""

    section: str
    deed: str
    why: Markup


def opening(summary: Summary) -> list[Markup]:
    """Numbers at a glance, and advice."""
    tiles = [
        tag("div", tag("dt", what), tag("dd", value), tag("dd", note, class_="quiet"))
        for what, value, note in at_a_glance(summary)
    ]
    if not tiles:
        return []
    lines = [
        tag("li", tag("a", found.deed, href=f"#{found.section}"), found.why)
        for found in advice(summary)
    ]
    todo = [
        tag("p", tag("b", "What to do first"), id="first"),
        tag("ul", *lines, aria_labelledby="first"),
    ]
    calm = [tag("p", "Nothing in what was given calls for action.")]
    return [tag("dl", *tiles, class_="glance"), *(todo if lines else calm)]


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
        found.append(("suspicious", number(belief["suspicious"]["count"]), "labels"))
    score = _score(summary, "soft_accuracy")
    if score is not None:
        interval = f"{number(score['low'])} to {number(score['high'])}"
        found.append(("soft accuracy", number(score["estimate"]), interval))
    return found


def advice(summary: Summary) -> list[Advice]:
    """What to do, in the order of the sections; nothing where all is well."""
    steps = (_empty, _clash, _confused, _guessers, _ask, _suspicious, _too_sure)
    found = (step(summary) for step in steps)
    return [piece for piece in found if piece is not None]


def _empty(summary: Summary) -> Advice | None:
    part = summary["labels"]
    n = part["kinds"]["nothing"] if "kinds" in part else 0
    if not n:
        return None
    why = f" ({percent(n, part['n_items'])}) about which nothing is known."
    return Advice("labels", f"Label {count(n, 'item')}", safe(why))


def _clash(summary: Summary) -> Advice | None:
    part = summary["clash"]
    n = part.get("n_above_half")
    if not n:
        return None
    share = percent(n, sum(part["histogram"]["counts"]))
    worst = name(part["worst"][0]["item"])
    why = join([f" ({share}) on which experts clash. The worst is ", worst, "."])
    return Advice("clash", f"Settle {count(n, 'item')}", why)


def _confused(summary: Summary) -> Advice | None:
    """Two classes that make up much of what people disagree about."""
    part = summary["confusion"].get("people")
    if not part or len(part["classes"]) < 3 or not part["pairs"]:
        return None
    worst = part["pairs"][0]
    if worst["share"] < MUCH or worst["count"] < SOME:
        return None
    names = [name(worst["first"]), " from ", name(worst["second"])]
    why = f": they make up {percent(worst['share'], 1)} of what annotators disagree about."
    return Advice("confusion", "Say how to tell", join([" ", *names, why]))


def _guessers(summary: Summary) -> Advice | None:
    """Annotators whose answers say little, or whose agreement may be that of chance."""
    part = summary["reliability"]
    people = part.get("annotators", [])
    poor = [
        row for row in people if row["agreement_low"] <= part["chance"] or row["doubt"] >= LITTLE
    ]
    if not poor:
        return None
    not_all_are_listed = len(people) < part["n_annotators"] and 2 * len(poor) >= len(people)
    deed = f"Check {count(len(poor), 'annotator')}{' or more' if not_all_are_listed else ''}"
    names = _names([row["annotator"] for row in reversed(poor)], len(poor))
    return Advice("reliability", deed, join([" who may be no better than chance: ", names, "."]))


def _ask(summary: Summary) -> Advice | None:
    rows = summary["questions"].get("items", [])
    urgent = [row["item"] for row in rows if row["priority"] >= URGENT]
    if not urgent:
        return None
    why = join([" where another answer is worth most: ", _names(urgent, len(urgent)), "."])
    return Advice("questions", "Ask again", why)


def _suspicious(summary: Summary) -> Advice | None:
    part = summary["belief"].get("suspicious")
    if not part or not part["count"]:
        return None
    names = _names([row["item"] for row in part["worst"]], part["count"])
    why = join([" that the model finds implausible: ", names, "."])
    return Advice("belief", f"Look at {count(part['count'], 'label')}", why)


def _too_sure(summary: Summary) -> Advice | None:
    """A model whose confidence is off, and surely so."""
    score = _score(summary, "expected_calibration_error")
    if score is None or score["low"] < TOO_SURE:
        return None
    bins = summary["scores"]["calibration"]
    gap = sum(row["weight"] * (row["confidence"] - row["right"]) for row in bins)
    gap /= sum(row["weight"] for row in bins)
    if abs(gap) < TOO_SURE:
        return None
    how = "too sure" if gap > 0 else "not sure enough"
    why = f": the model is {how}, by {number(abs(gap))} on average."
    return Advice("scores", "Do not take its probabilities at their word", safe(why))


def _score(summary: Summary, wanted: str) -> dict[str, Any] | None:
    rows = summary["scores"].get("scores", [])
    return next((row for row in rows if row["score"] == wanted), None)


def _names(names: list[str], whole: int) -> Markup:
    """The first few of some names, of which there are so many in all."""
    more = " and more" if whole > MOST_NAMES else ""
    return join([commas(name(text) for text in names[:MOST_NAMES]), more])
