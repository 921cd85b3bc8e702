"""The part of the page about the features."""

from typing import Any

from plausible.report.drawing import spark
from plausible.report.tags import (
    Markup,
    commas,
    count,
    folded,
    join,
    name,
    number,
    percent,
    rounded,
    table,
    tag,
)

Part = dict[str, Any]


def show_features(part: Part) -> list[Markup]:
    """Kind, gaps, range and histogram of each feature, and means by class."""
    n, listed = part["n_features"], part["features"]
    gaps = part["n_with_gaps"]
    said = f"{count(n, 'feature')} of {count(part['n_items'], part['about'][:-1])}. "
    said += (
        f"{count(gaps, 'feature')} {'has' if gaps == 1 else 'have'} gaps: "
        f"{count(part['n_missing'], 'value')} {'is' if part['n_missing'] == 1 else 'are'} missing."
        if gaps
        else "No value is missing."
    )
    return [
        tag("p", said),
        *([tag("p", _few(n, len(listed)), class_="quiet")] if len(listed) < n else []),
        *([_overview(part)] if listed else []),
        *_means(part),
    ]


def _few(n: int, n_listed: int) -> str:
    return f"Of {n:,} features, the {n_listed} that tell the classes apart best are listed."


def _overview(part: Part) -> Markup:
    has_classes = bool(part["classes"])
    rows = [
        (
            name(row["feature"]),
            _kind(row),
            *_range(row),
            percent(row["missing"], 1),
            *([number(row["separation"])] if has_classes else []),
            spark(row["histogram"]) if "histogram" in row else "",
        )
        for row in part["features"]
    ]
    apart = ["tells classes apart"] if has_classes else []
    heads = ["feature", "kind", "lowest to highest", "median", "missing", *apart, "histogram|"]
    note = (
        "How far a feature alone tells the classes apart is the share of its variance that lies "
        "between their means: 0 is not at all, 1 completely."
    )
    return table("Features", heads, rows, note if has_classes else "", "stack features")


def _kind(row: Part) -> Markup | str:
    if row["kind"] != "text":
        return str(row["kind"])
    common = commas(
        join([name(found["value"]), f" ({found['count']:,})"]) for found in row["common"]
    )
    many = count(row["n_values"], "different value")
    return join([f"text, {many}", *([": ", common] if row["n_values"] else [])])


def _range(row: Part) -> tuple[str, str]:
    """The lowest and the highest value, and the median."""
    if "histogram" not in row:
        return "-", "-"
    low, middle, high = (rounded(row[key]) for key in ("low", "median", "high"))
    return (low if low == high else f"{low} to {high}"), middle


def _means(part: Part) -> list[Markup]:
    """Means of the features in each class."""
    measured = [row for row in part["features"] if row.get("means")]
    if not measured:
        return []
    rows = [(name(row["feature"]), *map(rounded, row["means"])) for row in measured]
    note = "An item counts for a class as far as its label says so."
    heads = ["feature", *map(name, part["classes"])]
    return [folded("Means by class", table("Means by class", heads, rows, note, "stack means"))]
