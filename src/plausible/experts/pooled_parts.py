"""What is learned of people before the first of many parts of answers is pooled.

The same as `pooling` learns of answers in memory, by default who errs together as well. Pairs of
people are compared on the items of all parts, or, of more than some millions of answers, on those
of the first ones.
"""

from functools import partial
from typing import Any

from plausible.experts.annotations import Annotations
from plausible.experts.dependence import Dependence, check_dependence
from plausible.experts.parts import MANY_ANSWERS, AnnotationParts
from plausible.experts.pooling import check_doubt_word, counted_once, default_model, learns

OF_POOLING = ("on_conflict", "dependence")  # options that are not those of reliability


def learn_people(
    parts: AnnotationParts, rule: str, doubt: Any, options: dict[str, Any]
) -> tuple[Any, dict[str, Any]]:
    """The doubt with which each part is to be pooled, and the options."""
    learning = {name: value for name, value in options.items() if name not in OF_POOLING}
    together = options.get("dependence", "auto")
    check_dependence(together, rule)
    if isinstance(doubt, str):
        check_doubt_word(doubt)
    must_learn = learns(parts.template(), doubt, None, learning)
    is_default = rule == "dempster" and doubt is None and not learning and must_learn
    if isinstance(together, str) and together == "auto":
        together = "fit" if is_default else "none"
    model = default_model(parts) if is_default and together == "fit" else "one_coin"
    if isinstance(together, str) and together == "fit":
        together = err_together(parts, doubt, learning)
    if must_learn:
        named = learning.pop("model", model)
        doubt, learning = _kept(parts, together).reliability(named, **learning), {}
    told = {name: value for name, value in options.items() if name == "on_conflict"}
    return doubt, told | learning | {"dependence": together}


def err_together(
    parts: AnnotationParts, doubt: Any = None, options: dict[str, Any] | None = None
) -> Dependence:
    """How far people err together, see `Annotations.dependence`."""
    some: list[Annotations] = []
    for part in parts.one_by_one():
        some.append(part)
        if sum(map(len, some)) >= MANY_ANSWERS:
            break
    answers = some[0] if len(some) == 1 else Annotations.concatenate(some)
    known = "fit" if isinstance(doubt, str) else doubt
    found: Dependence = answers.dependence(known, **(options or {}))
    return found


def _kept(parts: AnnotationParts, together: Any) -> AnnotationParts:
    """Answers from which people are learned: those of people who copy each other count once."""
    if not isinstance(together, Dependence) or not (together.copies or together.groups):
        return parts
    return parts.mapped(partial(counted_once, dependence=together))
