"""The parts of the page about labels and experts, each from its part of the summary."""

from typing import Any

from plausible.report.drawing import bar, histogram, interval
from plausible.report.tags import Markup, folded, join, name, number, percent, table, tag

Part = dict[str, Any]

KINDS = {
    "one class": "one class for sure",
    "a set of classes": "a set of classes, one of which is right",
    "degrees": "degrees: doubt, probabilities or plausibilities",
    "nothing": "nothing: not labelled, or all classes alike",
}


def show_labels(part: Part) -> list[Markup]:
    """Kinds, sizes and classes."""
    n = part["n_items"]
    kinds = [
        (KINDS[kind], number(count), percent(count, n), bar(count / max(n, 1)))
        for kind, count in part["kinds"].items()
    ]
    sizes = [
        (
            size_in_words(row),
            number(row["count"]),
            percent(row["count"], n),
            bar(row["count"] / max(n, 1)),
        )
        for row in part["sizes"]
    ]
    most = max((row["share"] for row in part["classes"]), default=1.0) or 1.0
    classes = [
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
    return [
        tag("p", f"{n:,} items on {part['n_classes']:,} classes."),
        table("What labels say", ["a label says", "items", "share", "|"], kinds),
        table(
            "How many classes a label leaves open; degrees count as fractions, and are rounded",
            ["classes left", "items", "share", "|"],
            sizes,
        ),
        table(
            "Classes: how often each is the only one possible, how often the most plausible, and "
            "its share of all plausibility",
            ["class", "for sure", "most plausible", "share", "|"],
            classes,
        ),
        *(more if left_out else []),
    ]


def show_clash(part: Part) -> list[Markup]:
    """Histogram of conflict, agreement, and the worst items."""
    counts = part["histogram"]["counts"]
    n, above = sum(counts), part["n_above_half"]
    summary = (
        f"Conflict is the mass of answers that cannot all be right: 0 is harmony, 1 contradiction. "
        f"Its mean is {number(part['mean'])}; {above:,} of {n:,} items ({percent(above, n)}) are "
        "above 0.5."
    )
    edges = part["histogram"]["edges"]
    title = f"Histogram of conflict of {n:,} items, mean {number(part['mean'])}"
    rows = [
        (f"{low:.2f} to {high:.2f}", number(count))
        for low, high, count in zip(edges, edges[1:], counts, strict=False)
    ]
    chart = tag(
        "figure",
        histogram("conflict", title, edges, counts, "conflict"),
        tag("figcaption", "How many items have which conflict."),
    )
    numbers = folded("Numbers of this picture", table(title, ["conflict", "items"], rows))
    return [tag("p", summary), *_agreement(part["agreement"]), chart, numbers, _worst(part)]


def _agreement(found: Part | None) -> list[Markup]:
    if found is None:
        return []
    each = found["answers_of_an_item"]
    each_item = (
        f"{each['least']:,} to {each['most']:,} for an item, {number(each['mean'], 1)} on average"
    )
    if each["least"] == each["most"]:
        each_item = f"{each['most']:,} for each item"
    said = f"{found['n_answers']:,} answers of {found['n_annotators']:,} annotators, {each_item}. "
    if found["observed"] is not None:
        said += (
            f"Two hard answers about one item are the same in {percent(found['observed'], 1)} of "
            f"all pairs; beyond chance, Krippendorff's alpha is {number(found['alpha'])} and "
            f"Fleiss' kappa {number(found['kappa'])} (1 is perfect, 0 is chance)."
        )
    return [tag("p", said)]


def _worst(part: Part) -> Markup:
    if not part["worst"]:
        return tag("p", "No item is in conflict.")
    told = any(row["answers"] for row in part["worst"])
    rows = [
        (name(row["item"]), number(row["conflict"]), *([_answers(row)] if told else []))
        for row in part["worst"]
    ]
    caption = f"The {len(rows)} items with the most conflict" + (", and who said what" * told)
    return table(caption, ["item", "conflict", *(["answers|"] if told else [])], rows)


def _answers(row: Part) -> Markup:
    lines = []
    for answer in row["answers"]:
        people = join(_commas([name(person) for person in answer["annotators"]]))
        rest = answer["count"] - len(answer["annotators"])
        who = f" and {rest:,} more" if rest and answer["annotators"] else ""
        if not answer["annotators"]:
            who = f"{rest:,} answers"
        doubt = answer["doubt"]
        doubted = "" if not doubt else f" (doubt {doubt:.2g})"
        lines.append(tag("li", tag("b", name(answer["said"])), ": ", people, who, doubted))
    return tag("ul", *lines, class_="answers")


def _commas(parts: list[Markup]) -> list[Any]:
    return [piece for k, part in enumerate(parts) for piece in ([", "] if k else []) + [part]]


def show_reliability(part: Part) -> list[Markup]:
    """Annotators with their probability of being right."""
    people, n = part["annotators"], part["n_annotators"]
    low, _, middle, _, high = part["quantiles"]
    said = (
        "How often each annotator is right, learnt from agreement, with the interval that holds it "
        f"with probability 0.95. The thin grey mark is luck alone ({number(part['chance'])})."
    )
    spread = (
        f"Of {n:,} annotators the worst is right with probability {number(low)}, the middle one "
        f"with {number(middle)}, the best with {number(high)}; the best and the worst are listed."
    )
    slow = "The estimate had not settled; give more iterations by reliability={'max_iter': 5000}."
    rows = [
        (
            name(row["annotator"]),
            number(row["n_answers"]),
            number(row["right"]),
            f"{number(row['low'])} to {number(row['high'])}",
            interval(row["low"], row["right"], row["high"], part["chance"]),
            number(row["doubt"]),
        )
        for row in people
    ]
    heads = ["annotator", "answers", "right", "95 % interval", "|", "doubt"]
    return [
        tag("p", said),
        *([tag("p", spread)] if len(people) < n else []),
        *([] if part["converged"] else [tag("p", slow, class_="warn")]),
        table("Annotators, the most reliable first", heads, rows),
    ]


def show_questions(part: Part) -> list[Markup]:
    """Items to ask about, with the reasons."""
    rows = [
        (
            name(row["item"]),
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
        "Another answer is worth most where there are few, where they clash, and where the classes "
        "are still open; the priority is the mean of the three."
    )
    return [tag("p", said), table("Items to ask about, the most urgent first", heads, rows)]


def size_in_words(row: Part) -> str:
    """A size of sets, or the least of large ones."""
    return f"{row['size']:,}{' or more' if row['or_more'] else ''}"
