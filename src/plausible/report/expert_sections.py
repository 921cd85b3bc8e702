"""The parts of the page about labels and experts, each from its part of the summary."""

from typing import Any

from plausible.report.confusion_sections import show_peers
from plausible.report.drawing import bar, histogram, interval
from plausible.report.of_pooling import RULES
from plausible.report.tags import (
    Markup,
    commas,
    count,
    download,
    folded,
    item,
    join,
    name,
    number,
    percent,
    table,
    tag,
)

Part = dict[str, Any]

MOST_OPEN = 10  # items in conflict that are listed without a click
KINDS = {
    "one class": "one class for sure",
    "a set of classes": "a set of classes, one of which is right",
    "degrees": "degrees: doubt, probabilities or plausibilities",
    "nothing": "nothing: not labeled, or all classes alike",
}


def show_labels(part: Part) -> list[Markup]:
    """Kinds, sizes and classes."""
    n = part["n_items"]
    kinds = [
        (KINDS[kind], number(found), percent(found, n), bar(found / max(n, 1)))
        for kind, found in part["kinds"].items()
    ]
    said = f"{count(n, 'item')} in {count(part['n_classes'], 'class')}."
    return [
        tag("p", said),
        table("What a label says", ["a label says", "items", "share", "|"], kinds),
        sizes_table(
            "How many classes a label leaves open",
            "Degrees count as fractions; their sum is rounded.",
            part["sizes"],
            n,
        ),
        *_classes(part),
        *download(part["list"], "items without a label"),
        *_pooling(part["pooling"], part["untold"]),
    ]


def _pooling(found: Part | None, untold: str) -> list[Markup]:
    """How answers became labels, and what was assumed when they were read."""
    if found is None:
        return []
    notes = tag("ul", *(tag("li", name(note)) for note in found["notes"]), class_="notes")
    read = [tag("p", "When the data were read, this was understood:"), notes]
    has_answers = found["has_answers"]
    return [
        tag("h3", "How answers became labels" if has_answers else "How the labels were read"),
        *([tag("p", _how(found, untold))] if has_answers else []),
        *(read if found["notes"] else []),
    ]


def _how(found: Part, untold: str) -> str:
    """The rule and the doubts in words."""
    own, doubt = found["own_doubt"], found["doubt"]
    came = "" if own is None else (
        f" The doubts that came with the answers go from {number(own['least'])} to "
        f"{number(own['most'])}, {number(own['mean'])} on average"
        + (f"; {count(own['n_sure'], 'answer')} came without any." if own["n_sure"] else ".")
    )  # fmt: skip
    if found["rule"] is None:
        return untold + came
    rule = RULES.get(found["rule"], f"the rule {found['rule']}")
    beside = "" if own is None else ", beyond those that came with the answers"
    if doubt == "own":
        doubts = "the doubts that came with them (at least 0.01)"
    elif doubt == "learned":
        doubts = f"doubts learned from how far annotators agree{beside}"
    elif doubt == "given":
        doubts = f"doubts that were given for annotators or answers{beside}"
    else:
        doubts = f"a doubt of {number(doubt)} in every answer{beside}"
    return f"The answers about an item were pooled by {rule}, with {doubts}.{came}"


def sizes_table(caption: str, note: str, sizes: list[Part], n_items: int) -> Markup:
    """How many classes are left open, up to the most that occurs."""
    used = [row["size"] for row in sizes if row["count"]]
    rows = [
        (
            f"{row['size']:,}{' or more' if row['or_more'] else ''}",
            number(row["count"]),
            percent(row["count"], n_items),
            bar(row["count"] / max(n_items, 1)),
        )
        for row in sizes
        if min(used, default=1) <= row["size"] <= max(used, default=1)
    ]
    return table(caption, ["classes left", "items", "share", "|"], rows, note)


def _classes(part: Part) -> list[Markup]:
    most = max((row["share"] for row in part["classes"]), default=1.0) or 1.0
    rows = [
        (
            name(row["class"]),
            number(row["alone"]),
            number(row["most_plausible"]),
            percent(row["share"], 1.0),
            bar(row["share"] / most),
        )
        for row in part["classes"]
    ]
    left_out = part["n_classes_left_out"]
    more = [tag("p", f"{left_out:,} rarer classes are not listed.", class_="quiet")]
    note = (
        "How often each is the only one possible, how often the most plausible, and its share of "
        "all plausibility; the longest bar is the largest share."
    )
    heads = ["class", "for sure", "most plausible", "share", "|"]
    return [table("Classes", heads, rows, note), *(more if left_out else [])]


def show_clash(part: Part) -> list[Markup]:
    """Histogram of conflict, agreement, and the worst items."""
    n, above = sum(part["histogram"]["counts"]), part["n_above_half"]
    summary = (
        "Conflict is how far the answers about an item contradict each other, from 0 to 1. "
        f"Its mean is {number(part['mean'])}; {above:,} of {count(n, 'item')} "
        f"({percent(above, n)}) {'is' if above == 1 else 'are'} above 0.5."
    )
    return [
        tag("p", summary),
        *_agreement(part["agreement"]),
        *_histogram(part, n),
        *_worst(part),
        *download(part["list"], "items in conflict"),
    ]


def _histogram(part: Part, n_items: int) -> list[Markup]:
    counts, edges = part["histogram"]["counts"], part["histogram"]["edges"]
    title = f"Histogram of conflict of {count(n_items, 'item')}, mean {number(part['mean'])}"
    rows = [
        (f"{low:.2f} to {high:.2f}", number(found))
        for low, high, found in zip(edges, edges[1:], counts, strict=False)
    ]
    words = "Items by conflict. Those on the right need another look; the worst are listed below."
    chart = histogram("conflict", title, edges, counts, "conflict")
    numbers = folded("Numbers of this picture", table(title, ["conflict", "items"], rows))
    return [tag("figure", chart, tag("figcaption", words)), numbers]


def _agreement(found: Part | None) -> list[Markup]:
    if found is None:
        return []
    each = found["answers_of_an_item"]
    each_item = (
        f"{each['least']:,} to {each['most']:,} for an item, {number(each['mean'], 1)} on average"
    )
    if each["least"] == each["most"]:
        each_item = f"{each['most']:,} for each item"
    people = count(found["n_annotators"], "annotator")
    said = f"{count(found['n_answers'], 'answer')} of {people}, {each_item}. "
    return [tag("p", said + _pairs(found))]


def _pairs(found: Part) -> str:
    """How often two hard answers about one item are the same."""
    if found["pairs"] is None:
        return ""
    said = (
        f"Two hard answers about one item are the same in {percent(found['pairs'], 1)} of all pairs"
    )
    if found["alpha"] is None:
        return f"{said}; all name one class, so that nothing tells agreement from chance."
    return (
        f"{said}; beyond chance, Krippendorff's alpha is {number(found['alpha'])} and "
        f"Fleiss' kappa {number(found['kappa'])} (1 is perfect, 0 is chance)."
    )


def _worst(part: Part) -> list[Markup]:
    if not part["worst"]:
        return [tag("p", "No item is in conflict.")]
    told = any(row["answers"] for row in part["worst"])
    rows = [
        (item(row), number(row["conflict"]), *([_answers(row)] if told else []))
        for row in part["worst"]
    ]
    caption = f"The {count(len(rows), 'item')} with the most conflict"
    caption = caption.replace("The 1 item ", "The item ")
    heads = ["item", "conflict", *(["answers|"] if told else [])]
    note = "Who said what, and the mean doubt of those who said it." if told else ""
    kind = "stack" if told else ""
    first, rest = rows[:MOST_OPEN], rows[MOST_OPEN:]
    shown = table(caption, heads, first, note, kind)
    more = count(len(rest), "more item")
    return [shown, *([folded(more, table(more, heads, rest, kind=kind), "more")] if rest else [])]


def _answers(row: Part) -> Markup:
    lines = []
    for answer in row["answers"]:
        people = commas(name(person) for person in answer["annotators"])
        rest = answer["count"] - len(answer["annotators"])
        who = f" and {rest:,} more" if rest and answer["annotators"] else ""
        if not answer["annotators"]:
            who = count(rest, "answer")
        doubt = answer["doubt"]
        doubted = "" if not doubt else f" (doubt {number(doubt)})"
        lines.append(tag("li", tag("b", name(answer["said"])), ": ", people, who, doubted))
    return tag("ul", *lines, class_="answers")


def show_reliability(part: Part) -> list[Markup]:
    """Annotators with their probability of being right."""
    people, n = part["annotators"], part["n_annotators"]
    low, _, middle, _, high = part["quantiles"]
    said = (
        "How often each annotator is right, learned from their agreement. Be careful with anyone "
        "who may agree with the others no more than chance would "
        f"({number(part['chance'])}): collect more answers, or talk to them."
    )
    drawn = (
        " In the drawings, which go from 0 to 1, the interval is the band, the estimate the thick "
        "mark, and chance the thin line."
    )
    holds = (
        "The interval is wide on purpose, and no reproach to anybody: it allows for few answers, "
        "at 95 %, and for errors that all annotators make together, which agreement cannot show, "
        f"here on up to {percent(part['consensus_error'], 1)} of the items. That is the same for "
        "everybody: to compare annotators with each other, look at how often they are right."
    )
    spread = (
        f"Of {n:,} annotators the worst is right with probability {number(low)}, the middle one "
        f"with {number(middle)}, the best with {number(high)}; the best and the worst are listed."
    )
    has_own = any(row.get("own_doubt") is not None for row in people)
    own = " Doubt is the mean of what they say they doubt themselves." if has_own else ""
    note = join([holds, own, tag("span", drawn, class_="drawn")])
    slow = f"The estimate had not settled when its iterations ran out; {part['remedy']}"
    rows = [
        (
            name(row["annotator"]),
            number(row["n_answers"]),
            number(row["right"]),
            f"{number(row['low'])} to {number(row['high'])}",
            interval(row["low"], row["right"], row["high"], part["chance"]),
            number(row["own_doubt" if has_own else "doubt"]),
        )
        for row in people
    ]
    heads = ["annotator", "answers", "right", "95 % interval", "|", "doubt"]
    return [
        tag("p", said),
        *([tag("p", spread)] if len(people) < n else []),
        *([] if part["converged"] else [tag("p", slow, class_="warn")]),
        table("Annotators, the most reliable first", heads, rows, note, "broad"),
        *download(part["list"], "annotators"),
        *_together(part.get("together")),
        *show_peers(part["peers"]),
    ]


def _together(found: Part | None) -> list[Markup]:
    """Groups of annotators who copy each other, or err together."""
    if found is None or (found["is_searched"] and not found["groups"]):
        return []
    if not found["is_searched"]:
        said = (
            "Whether some annotators copy each other was not looked at: there are too many pairs "
            "of answers about the same items."
        )
        return [tag("p", said, class_="quiet")]
    rows = [
        (
            join([commas(name(person) for person in row["annotators"]), _more(row)]),
            "copy each other" if row["is_copies"] else "err together",
            percent(row["shared"], 1),
            f"{number(row['n_annotators'])} as {number(row['worth'])}",
        )
        for row in found["groups"]
    ]
    note = (
        "In common is the share of the items about which members of a group follow one another, as "
        "far as they agree more often than people who err on their own would. Where labels are "
        "pooled with what people have in common (dependence fit), they count as so many people."
    )
    heads = ["annotators", "they", "in common", "count"]
    return [
        tag("h3", "Annotators who err together"),
        table("Groups who give the same wrong answers", heads, rows, note, "broad"),
    ]


def _more(row: Part) -> str:
    left = row["n_annotators"] - len(row["annotators"])
    return f" and {left:,} more" if left else ""


def show_questions(part: Part) -> list[Markup]:
    """Items to ask about, with the reasons."""
    rows = [
        (
            item(row),
            number(row["priority"]),
            bar(row["priority"]),
            number(row["few"]),
            number(row["conflict"]),
            number(row["imprecision"]),
        )
        for row in part["items"]
    ]
    heads = ["item", "priority", "|", "few answers", "conflict", "still open"]
    said = (
        "Another answer is worth most where there are few, where they clash, and where the class "
        "is still open. Start at the top."
    )
    note = "The priority is the mean of the three numbers on the right; all are from 0 to 1."
    caption = "Items to ask about, the most urgent first"
    listed = table(caption, heads, rows, note, "broad")
    return [tag("p", said), listed, *download(part["list"], "items, the most urgent first,")]
