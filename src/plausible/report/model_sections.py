"""The parts of the page about a model, and about how the page was made."""

from typing import Any

from plausible.report.drawing import bar, curve, interval
from plausible.report.expert_sections import sizes_table
from plausible.report.tags import (
    Markup,
    amount,
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

LEAST = 0.005  # plausibilities below are not drawn

SCORES = {
    "soft_accuracy": ("soft accuracy", "share of right answers; more is better"),
    "soft_log_loss": ("soft log-loss", "of the probabilities; less is better"),
    "soft_brier_score": ("soft Brier score", "of the probabilities; less is better"),
    "set_coverage": ("coverage of sets", "share of sets that hold the truth; more is better"),
    "utility_discounted_accuracy": ("utility of sets (u65)", "right and precise; more is better"),
    "set_imprecision": ("imprecision of sets", "0 one class, 1 all classes"),
    "expected_calibration_error": ("calibration error", "confidence against truth; less is better"),
}


def show_belief(part: Part) -> list[Markup]:
    """Answers, sets, refusals, some items and suspicious labels."""
    n, refused = part["n_items"], part["n_refused"]
    said = (
        f"The model was asked about {n:,} {part['about']}. Where no class has a probability of at "
        f"least {number(1 - part['reject'])}, it would rather refuse: {refused:,} times "
        f"({percent(refused, n)})."
    )
    answers = [
        (name(row["class"]), number(row["count"]), percent(row["count"], n),
         bar(row["count"] / max(n, 1)))
        for row in part["answers"]
    ]  # fmt: skip
    return [
        tag("p", said),
        table("The most frequent answers", ["class", "items", "share", "|"], answers),
        sizes_table(
            "Answers as sets",
            "How many classes the model cannot rule out.",
            part["set_sizes"],
            n,
        ),
        *download(part["list"], "refusals"),
        _shown(part["shown"]),
        *_suspicious(part["suspicious"]),
    ]


def _shown(items: list[Part]) -> Markup:
    rows = []
    for one in items:
        refusal = [tag("span", " (refuses)", class_="warn")] if one["refused"] else []
        told = [row for k, row in enumerate(one["bars"]) if not k or row["plausibility"] >= LEAST]
        lines = tag("ul", *map(_line, told), class_="answers")
        rows.append((item(one), join([name(one["set"]), *refusal]), lines))
    note = (
        "The plausibility of a class is relative to that of the first. Classes with a strong bar "
        f"cannot be ruled out, those with a faint one can; below {LEAST:g} they are left out."
    )
    caption = "Some items, from the surest to the most open"
    return table(caption, ["item", "answer", "plausibility|"], rows, note, "stack")


def _line(told: Part) -> Markup:
    """A class of an item with its plausibility."""
    drawn = bar(told["plausibility"], "fill" if told["possible"] else "soft")
    degree = tag("span", number(told["plausibility"]), class_="number")
    return tag("li", name(told["class"]), degree, tag("span", drawn), class_="line-of-bar")


def _suspicious(found: Part | None) -> list[Markup]:
    if found is None:
        return []
    again = {0: ".", 1: ": look at it again."}.get(found["count"], ": look at them again.")
    has = "has" if found["count"] == 1 else "have"
    said = (
        f"By the model, {count(found['count'], 'label')} {has} a plausibility below "
        f"{found['limit']:g}{again} A model is lenient with labels that it has learned from, so "
        "there may be more."
    )
    rows = [
        (item(row), number(row["plausibility"], 3), name(row["label"]), name(row["model"]))
        for row in found["worst"]
    ]
    heads = ["item", "plausibility", "the label says", "the model says"]
    caption = "The least plausible first"
    listed = [table(caption, heads, rows, kind="stack")] if rows else []
    saved = download(found["list"], "suspicious labels")
    return [tag("h3", "Suspicious labels"), tag("p", said), *listed, *saved]


def show_scores(part: Part) -> list[Markup]:
    """Scores with intervals, calibration and refusals."""
    said = (
        f"On {count(part['n_items'], 'test item')}, of which {part['n_counted']:,} "
        f"{'has' if part['n_counted'] == 1 else 'have'} a label that says something. An item "
        "counts as much as its label says."
    )
    rows = [
        (
            SCORES[row["score"]][0],
            number(row["estimate"], 3),
            f"{number(row['low'], 3)} to {number(row['high'], 3)}",
            interval(row["low"], row["estimate"], row["high"]) if row["high"] <= 1 else "",
            SCORES[row["score"]][1],
        )
        for row in part["scores"]
    ]
    resamples = f"Intervals hold 95 % of {part['n_bootstrap']:,} resamples of the test items."
    drawn = tag("span", " They are drawn from 0 to 1.", class_="drawn")
    note = join([resamples, drawn])
    heads = ["score", "estimate", "95 % interval", "|", "meaning"]
    charts = tag("div", _calibration(part), _rejection(part), class_="charts")
    scores = table("Scores", heads, rows, note, "broad stack")
    return [tag("p", said), scores, *_by_class(part["by_class"]), charts, _numbers(part)]


def _by_class(found: Part) -> list[Markup]:
    """Precision, recall and F1."""
    rows = [
        (
            name(row["class"]),
            amount(row["weight"]),
            number(row["precision"]),
            number(row["recall"]),
            number(row["f1"]),
            bar(row["f1"] or 0.0),
        )
        for row in found["classes"]
    ]
    left = found["n_classes_left_out"]
    note = (
        "Precision: the share of what the model puts into the class that the labels put there. "
        "Recall: the share of what the labels put there that the model finds. F1: their harmonic "
        "mean. Items are expected counts, as in the confusion matrix. The mean recall of the "
        f"classes (balanced accuracy) is {number(found['balanced'], 3)}."
        + (
            f" {count(left, 'smaller class')} {'is' if left == 1 else 'are'} not listed."
            if left
            else ""
        )
    )
    heads = ["class", "items", "precision", "recall", "F1", "|"]
    listed = table("Scores by class", heads, rows, note, "broad")
    return [listed, *download(found["list"], "classes")]


def _calibration(part: Part) -> Markup:
    bins = part["calibration"]
    points = [(row["confidence"], row["right"]) for row in bins]
    total = sum(row["weight"] for row in bins)
    areas = [row["weight"] / total for row in bins]
    title = "Calibration: share of right answers against confidence; the diagonal is perfect"
    words = (
        "Does it know how sure it is? Where dots are below the dashed line, it is too sure; above "
        "it, not sure enough. Large dots hold many items."
    )
    return tag(
        "figure",
        curve("calibration", title, points, "confidence", "right", dots=areas, diagonal=True),
        tag("figcaption", words),
    )


def _rejection(part: Part) -> Markup:
    found = part["rejection"]
    points = list(zip(found["rejected"], found["accuracy"], strict=True))
    base = min(int(5 * min(found["accuracy"])) / 5, 0.8)  # so that ticks have two digits
    chosen = found["chosen"]
    at = None if chosen["accuracy"] is None else (chosen["rejected"], chosen["accuracy"])
    title = (
        f"Soft accuracy against the share of refused items; the area is {found['area']:.3f}. "
        f"{_chosen(chosen)}"
    )
    words = (
        "What does refusing gain? The least confident answers are refused first: choose how much "
        f"to leave to people. {_chosen(chosen)}"
    )
    return tag(
        "figure",
        curve("rejection", title, points, "share refused", "soft accuracy", base=base, chosen=at),
        tag("figcaption", words),
    )


def _chosen(found: Part) -> str:
    """The refusal that was chosen, in words."""
    said = f"at a loss of {number(found['reject'])} for a refusal"
    if found["accuracy"] is None:
        return f"{said.capitalize()}, the model would refuse every item."
    return (
        f"The mark is where you stand: {said}, the model refuses "
        f"{percent(found['rejected'], 1)}, and the soft accuracy of the other answers is "
        f"{number(found['accuracy'], 3)}."
    )


def _numbers(part: Part) -> Markup:
    caption = "Calibration: answers by confidence"
    rows = [
        (
            f"{row['from']:.1f} to {row['to']:.1f}",
            number(row["weight"], 1),
            number(row["confidence"], 3),
            number(row["right"], 3),
        )
        for row in part["calibration"]
    ]
    heads = ["confidence", "weight", "mean confidence", "right"]
    return folded("Numbers of the calibration", table(caption, heads, rows))


def show_made(part: Part) -> list[Markup]:
    """Versions, seed, model, command."""
    versions = part["versions"].items()
    model = part["model"] or "none"
    if part["parameters"]:
        model += f" ({', '.join(f'{key}={value}' for key, value in part['parameters'].items())})"
    command = part["command"]
    rows = [
        ("versions", ", ".join(f"{package} {version}" for package, version in versions)),
        ("seed", str(part["seed"])),
        ("model", name(model)),
        ("command", tag("code", name(command)) if command else "not given"),
        ("date", name(part["date"]) if part["date"] else "not given"),
    ]
    return [table("What made this page", ["what", "value"], rows)]
