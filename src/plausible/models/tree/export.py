"""Trees to read: as indented text, and as a picture in SVG, which every browser shows."""

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from plausible.belief import SparseMasses, decode_sets, membership, pignistic
from plausible.checks import check_kind, check_texts, check_whole
from plausible.errors import InputError
from plausible.models.tree.classifier import BeliefTreeClassifier
from plausible.models.tree.structure import Tree

FloatArray = NDArray[np.float64]

SMALLEST = 0.005  # masses below are not written out
COLORS = (
    "#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bb5500", "#44aa99",
    "#882255", "#777700",
)  # fmt: skip
OPEN = "#d5d8dd"  # of the whole frame
BOX_WIDTH, BOX_HEIGHT, GAP_X, GAP_Y, MARGIN = 190, 66, 14, 40, 12
BAR_HEIGHT, LETTER = 12, 6.4  # width of a letter, about


class Node(NamedTuple):
    """A node in words, and where it is.

    number : of the node in the tree
    depth : below the root
    condition : what sends items here; empty at the root
    question : what is asked here; empty at a leaf, and where the picture ends
    answer : the class with the best bet
    masses : of sets in words, largest first
    items : number of items, by weight
    cut : whether there is more below
    """

    number: int
    depth: int
    condition: str
    question: str
    answer: str
    masses: str
    items: str
    cut: bool


def _check_tree(model: Any, feature_names: Sequence[str] | None, max_depth: int) -> list[str]:
    """Refuse what is no fitted tree, and give the names of its features."""
    check_kind(model, BeliefTreeClassifier, "model", "of a forest, take one of estimators_")
    check_is_fitted(model)
    check_whole(max_depth, "max_depth", 0)
    d = model.n_features_in_
    if feature_names is None:
        return list(map(str, getattr(model, "feature_names_in_", [f"x{j}" for j in range(d)])))
    names = check_texts(feature_names, "feature_names", "names of features")
    if len(names) != d:
        raise InputError(
            f"feature_names should name each of the {d} features",
            f"{len(names)} came",
            "give one name for each column of X",
            parameter="feature_names",
        )
    return names


def _masses_of_nodes(model: BeliefTreeClassifier) -> FloatArray:
    """Mass functions (N, F) of all nodes."""
    tree = model.tree_
    return tree.masses(np.arange(tree.node_count), len(model.focal_sets_))


def _set_names(model: BeliefTreeClassifier) -> list[str]:
    """Focal sets in words."""
    classes = model.classes_.tolist()
    return [
        "anything" if len(inside) == len(classes) > 1 else "{" + ", ".join(map(str, inside)) + "}"
        for inside in decode_sets(model.focal_sets_, classes)
    ]


def _conditions(
    model: BeliefTreeClassifier, node: int, names: list[str], decimals: int
) -> tuple[str, str]:
    """What sends items to the left and to the right of an inner node."""
    tree = model.tree_
    feature, threshold = int(tree.feature[node]), float(tree.threshold[node])
    if np.isinf(threshold):
        return f"{names[feature]} is known", f"{names[feature]} is missing"
    # As many decimals as it takes to tell the threshold from zero and from its neighbors.
    bound = f"{threshold:.{decimals}f}" if 1e-3 <= abs(threshold) < 1e6 else f"{threshold:.4g}"
    sides = [f"{names[feature]} <= {bound}", f"{names[feature]} > {bound}"]
    if model.has_missing_[feature]:
        sides[not tree.missing_go_to_left[node]] += " or missing"
    return sides[0], sides[1]


def walk(
    model: BeliefTreeClassifier, names: list[str], max_depth: int, decimals: int
) -> Iterator[Node]:
    """Nodes in words, from left to right, children after their parents."""
    tree, classes = model.tree_, model.classes_.tolist()
    masses, sets = _masses_of_nodes(model), _set_names(model)
    bets = pignistic(SparseMasses(masses, model.focal_sets_, len(classes)))
    stack = [(0, 0, "")]
    while stack:
        number, depth, condition = stack.pop()
        is_leaf = bool(tree.is_leaf[number])
        order = np.argsort(-masses[number], kind="stable")
        kept = [column for column in order if masses[number, column] >= SMALLEST]
        said = ", ".join(f"{sets[column]} {masses[number, column]:.2f}" for column in kept)
        answer = str(classes[bets[number].argmax()])
        items = f"{tree.weighted_n_node_samples[number]:.6g}"
        items += " item" if items == "1" else " items"
        ends = is_leaf or depth >= max_depth
        sides = ("", "") if is_leaf else _conditions(model, number, names, decimals)
        question = "" if ends else sides[0]
        cut = ends and not is_leaf
        yield Node(number, depth, condition, question, answer, said, items, cut)
        if not ends:
            stack.append((int(tree.children_right[number]), depth + 1, sides[1]))
            stack.append((int(tree.children_left[number]), depth + 1, sides[0]))


def export_text(
    model: BeliefTreeClassifier,
    *,
    feature_names: Sequence[str] | None = None,
    max_depth: int = 10,
    decimals: int = 2,
) -> str:
    """A fitted tree as indented text, with the class and the masses at its leaves.

    Parameters
    ----------
    model : BeliefTreeClassifier
    feature_names : sequence of text, optional
        By default the columns of the data frame it was fitted on, or x0, x1, ...
    max_depth : int
        What is deeper is left out, and it is said where.
    decimals : int
        Of thresholds.

    Returns
    -------
    str

    Examples
    --------
    >>> X = [[1.0], [2.0], [3.0], [7.0], [8.0], [9.0]]
    >>> y = [{"a"}, {"a"}, {"a", "b"}, {"b"}, {"b"}, {"b", "c"}]
    >>> print(export_text(BeliefTreeClassifier().fit(X, y), feature_names=["size"]))
    |--- size <= 5.00
    |   |--- a: {a} 0.50, {a, b} 0.25, anything 0.25 (3 items)
    |--- size > 5.00
    |   |--- b: {b} 0.50, {b, c} 0.25, anything 0.25 (3 items)
    """
    names = _check_tree(model, feature_names, max_depth)
    check_whole(decimals, "decimals", 0, 17)
    lines = []
    for node in walk(model, names, max_depth, decimals):
        if node.condition:
            lines.append("|   " * (node.depth - 1) + "|--- " + node.condition)
        if not node.question:
            more = ", more below" if node.cut else ""
            lines.append(
                "|   " * node.depth + f"|--- {node.answer}: {node.masses} ({node.items}{more})"
            )
    return "\n".join(lines)


def export_svg(
    model: BeliefTreeClassifier,
    *,
    feature_names: Sequence[str] | None = None,
    max_depth: int = 4,
    decimals: int = 2,
) -> str:
    """A fitted tree as a picture, in SVG: write it into a file, or show it in a notebook.

    Each node has a bar of its masses, in the colors of the classes: a set of several classes has
    all of their colors, and gray is the mass of the whole frame, what the node does not know.

    Parameters
    ----------
    model, feature_names, decimals
        As for `export_text`.
    max_depth : int
        What is deeper is left out, and marked by a dashed frame.

    Returns
    -------
    str

    Examples
    --------
    >>> model = BeliefTreeClassifier().fit([[1.0], [2.0], [8.0], [9.0]], ["a", "a", "b", "b"])
    >>> export_svg(model)[:38]
    '<svg xmlns="http://www.w3.org/2000/svg'
    """
    names = _check_tree(model, feature_names, max_depth)
    check_whole(decimals, "decimals", 0, 17)
    nodes = list(walk(model, names, max_depth, decimals))
    x, y = places(model.tree_, nodes)
    classes = list(map(str, model.classes_.tolist()))
    legend = sum(30 + LETTER * len(name) for name in [*classes, "anything"])
    width = max(max(x.values()) + BOX_WIDTH / 2, legend) + MARGIN
    height = max(y.values()) + BOX_HEIGHT + MARGIN
    masses, inside = _masses_of_nodes(model), membership(model.focal_sets_, len(classes))
    parts = [_draw_legend(classes)]
    parts += [_draw_edges(model.tree_, node, x, y) for node in nodes if node.question]
    for node in nodes:
        at = (x[node.number] - BOX_WIDTH / 2, y[node.number])
        parts.append(_draw_node(node, at, masses[node.number], inside))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" role="img" font-family="sans-serif" '
        'font-size="12"><title>Belief decision tree</title>'
        f'<rect width="100%" height="100%" fill="#ffffff"/>{"".join(parts)}</svg>'
    )


def places(tree: Tree, nodes: list[Node]) -> tuple[dict[int, float], dict[int, float]]:
    """Middle of the top of each box: leaves side by side, parents above their children."""
    ends = [node.number for node in nodes if not node.question]
    step = BOX_WIDTH + GAP_X
    x = {number: MARGIN + BOX_WIDTH / 2 + step * i for i, number in enumerate(ends)}
    for node in reversed(nodes):
        if node.question:
            children = tree.children_left[node.number], tree.children_right[node.number]
            x[node.number] = (x[int(children[0])] + x[int(children[1])]) / 2
    top = MARGIN + 24
    return x, {node.number: top + node.depth * (BOX_HEIGHT + GAP_Y) for node in nodes}


def color(k: int) -> str:
    """Color of a class; beyond those that are chosen, hues far from each other."""
    return COLORS[k] if k < len(COLORS) else f"hsl({(137.5 * k) % 360:.0f}, 55%, 50%)"


def _draw_legend(classes: list[str]) -> str:
    """Names of the classes beside their colors."""
    parts, at = [], float(MARGIN)
    for k, name in enumerate([*classes, "anything"]):
        fill = OPEN if k == len(classes) else color(k)
        parts.append(f'<rect x="{at:.1f}" y="8" width="12" height="12" fill="{fill}"/>')
        parts.append(f'<text x="{at + 16:.1f}" y="18">{escape(name)}</text>')
        at += 30 + LETTER * len(name)
    return "".join(parts)


def _draw_edges(tree: Tree, node: Node, x: dict[int, float], y: dict[int, float]) -> str:
    """Lines from a node to its children: yes to the left, no to the right."""
    parts = []
    bottom = y[node.number] + BOX_HEIGHT
    answers = ("yes", tree.children_left, -1), ("no", tree.children_right, 1)
    for word, children, side in answers:
        child = int(children[node.number])
        middle = (x[node.number] + x[child]) / 2 + side * 9
        anchor = "end" if side < 0 else "start"
        parts.append(
            f'<path d="M{x[node.number]:.1f} {bottom}L{x[child]:.1f} {y[child]}" '
            'stroke="#6b7078" fill="none"/>'
            f'<text x="{middle:.1f}" y="{bottom + GAP_Y / 2 + 2}" text-anchor="{anchor}" '
            f'fill="#565b63" font-size="11">{word}</text>'
        )
    return "".join(parts)


def _draw_node(
    node: Node, at: tuple[float, float], masses: FloatArray, inside: NDArray[np.bool_]
) -> str:
    """A box with the question or the answer, a bar of masses, and the number of items."""
    left, top = at
    most = int((BOX_WIDTH - 16) / LETTER)
    first = f"{node.question}?" if node.question else node.answer
    shown = first if len(first) <= most else first[: most - 1] + "\u2026"
    dash = ' stroke-dasharray="4 3"' if node.cut else ""
    weight = "normal" if node.question else "bold"
    title = f"{node.condition}\n{node.question}\n{node.answer}\n{node.items}".strip()
    return (
        f'<g><title>{escape(title)}</title><rect x="{left:.1f}" y="{top}" width="{BOX_WIDTH}" '
        f'height="{BOX_HEIGHT}" rx="4" fill="#f4f6f8" stroke="#6b7078"{dash}/>'
        f'<text x="{left + 8:.1f}" y="{top + 18}" font-weight="{weight}">{escape(shown)}</text>'
        f"{_draw_bar(left + 8, top + 27, masses, inside)}"
        f'<text x="{left + 8:.1f}" y="{top + 56}" fill="#565b63" font-size="11">'
        f"{escape(node.items)}{', more below' if node.cut else ''}</text></g>"
    )


def _draw_bar(left: float, top: float, masses: FloatArray, inside: NDArray[np.bool_]) -> str:
    """Masses as lengths, sets of one class first; a set of several has a band for each class."""
    sizes = inside.sum(axis=1)
    parts = []
    for column in np.lexsort((np.arange(len(masses)), sizes)):
        length = (BOX_WIDTH - 16) * masses[column]
        if masses[column] < SMALLEST:
            continue
        members = np.flatnonzero(inside[column]).tolist()
        whole = len(members) == inside.shape[1] > 1
        fills = [OPEN] if whole else [color(k) for k in members]
        band = BAR_HEIGHT / len(fills)
        parts += [
            f'<rect x="{left:.1f}" y="{top + i * band:.2f}" width="{length:.2f}" '
            f'height="{band:.2f}" fill="{fill}"/>'
            for i, fill in enumerate(fills)
        ]
        left += length
    return "".join(parts)
