"""The parts of the page that set classes against classes and annotators against annotators."""

from collections.abc import Sequence
from typing import Any

from plausible.report.drawing import bar
from plausible.report.tags import (
    Markup,
    amount,
    count,
    download,
    join,
    name,
    number,
    percent,
    table,
    tag,
)

Part = dict[str, Any]

N_SHADES = 5
FEW = 4  # rows of a matrix that is not drawn as wide as the page
SHORT = 10  # letters of names that fit above their columns, if these are
NARROW = 6  # at most


def matrix(
    caption: str, note: str, corner: str, names: Sequence[str], shares: list[list[float | None]]
) -> Markup:
    """Shares in percent, shaded; rows have numbers and names, columns at least the numbers."""
    fit = len(names) <= NARROW and all(len(text) <= SHORT for text in names)
    heads = [
        tag("th", f"{k}", name(text) if fit else "", scope="col", title=text, class_="number")
        for k, text in enumerate(names, start=1)
    ]
    body = [
        tag(
            "tr",
            tag("th", tag("span", f"{k}", class_="place"), " ", name(text), scope="row"),
            *(_cell(share, place == k) for place, share in enumerate(row, start=1)),
        )
        for k, (text, row) in enumerate(zip(names, shares, strict=True), start=1)
    ]
    whole = tag(
        "table",
        tag("caption", tag("b", caption), " ", tag("span", note)),
        tag("thead", tag("tr", tag("th", corner, scope="col"), *heads)),
        tag("tbody", *body),
    )
    shape = "scroll matrix short few" if len(names) <= FEW else "scroll matrix short"
    return tag("div", whole, class_=shape, role="region", aria_label=caption, tabindex="0")


def _cell(share: float | None, is_same: bool) -> Markup:
    kind = "number same" if is_same else "number"
    if share is None:
        return tag("td", "" if is_same else "-", class_=kind)
    shade = min(int(share * N_SHADES + 0.999), N_SHADES)
    words = "<1" if 0 < share < 0.005 else f"{100 * share:.0f}"
    return tag("td", words, class_=f"{kind} shade-{shade}")


def show_confusion(part: Part) -> list[Markup]:
    """Classes that people confuse, and those that the model does."""
    return [*_people(part["people"]), *_model(part["model"])]


def _left_out(found: Part) -> str:
    n = found["n_classes_left_out"]
    is_are = "is" if n == 1 else "are"
    return f" The {count(n, 'class')} confused least {is_are} left out." if n else ""


def _people(found: Part | None) -> list[Markup]:
    if found is None:
        return [tag("p", "No item has two hard answers that could be compared.")]
    n, differ = found["n_pairs"], found["n_differ"]
    said = (
        f"Of {count(n, 'pair')} of hard answers about one item, {differ:,} ({percent(differ, n)}) "
        f"name{'s' if differ == 1 else ''} different classes."
    )
    note = (
        "Where one annotator names the class of the row, how often another one names the class of "
        "the column, in percent." + _left_out(found)
    )
    rows = [
        (
            join([name(row["first"]), " and ", name(row["second"])]),
            number(row["count"]),
            percent(row["share"], 1),
            bar(row["share"]),
        )
        for row in found["pairs"]
    ]
    heads = ["classes", "pairs of answers", "share of disagreement", "|"]
    listed = [
        table("Classes that people confuse most", heads, rows, kind="broad"),
        *download(found["list"], "pairs of classes"),
    ]
    return [
        tag("h3", "By people"),
        tag("p", said),
        matrix("Answer against answer", note, "class", found["classes"], found["shares"]),
        *(listed if rows else []),
    ]


def _model(found: Part | None) -> list[Markup]:
    if found is None:
        return []
    seen = (
        "which the model has not seen"
        if found["about"] == "test items"
        else "which the model may have learned from, so that it looks better than it is"
    )
    said = (
        f"On {count(found['n_items'], found['about'][:-1])}, {seen}. Labels may be soft, so these "
        "are expected counts: an item counts as much as its label says (1 for one class, less if "
        "it is doubted, 0 for nothing), divided among the classes that the label leaves open. "
        f"They add up to {amount(found['weight'])}."
    )
    note = (
        "Of the items that the labels put into the class of the row, the share that the model puts "
        "into the class of the column, in percent." + _left_out(found)
    )
    rows = [
        (
            name(row["class"]),
            name(row["answer"]),
            amount(row["count"]),
            percent(row["share"], 1),
            bar(row["share"]),
        )
        for row in found["pairs"]
    ]
    heads = ["the label says", "the model says", "expected items", "share of the class", "|"]
    listed = [table("What the model confuses most", heads, rows, kind="broad")] if rows else []
    return [
        tag("h3", "By the model"),
        tag("p", said),
        matrix("Confusion matrix", note, "label", found["classes"], found["shares"]),
        *listed,
        *download(found["list"], "cells of the matrix"),
    ]


def show_peers(found: Part | None) -> list[Markup]:
    """Annotator against annotator."""
    if found is None:
        return []
    n, compared, shown = found["n_annotators"], found["n_compared"], len(found["annotators"])
    said = (
        "How often two annotators gave the same hard answer about an item that both have seen, in "
        "percent. Those who agree stand side by side."
    )
    few = f" The {shown} most active of {n:,} annotators are shown." if shown < n else ""
    return [
        tag("h3", "Annotator against annotator"),
        tag("p", said + few),
        matrix(
            "Who agrees with whom",
            "A dash means that they have no item in common.",
            "annotator",
            found["annotators"],
            found["agree"],
        ),
        *_pairs("Pairs who agree least", found["least"], found, compared),
        *_pairs("Pairs who agree most", found["most"], found, compared),
        *download(found["list"], "pairs"),
    ]


def _pairs(caption: str, pairs: list[Part], found: Part, compared: int) -> list[Markup]:
    if not pairs:
        return []
    among = f" among the {compared} most active" if compared < found["n_annotators"] else ""
    note = (
        f"By Cohen's kappa (1 is perfect, 0 is chance), of those{among} with at least "
        f"{found['least_common']} items in common."
    )
    rows = [
        (
            join([name(row["first"]), " and ", name(row["second"])]),
            number(row["common"]),
            percent(row["agree"], 1),
            number(row["kappa"]),
        )
        for row in pairs
    ]
    return [table(caption, ["annotators", "in common", "same", "kappa"], rows, note)]
