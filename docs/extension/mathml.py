"""Formulas as MathML, made when the site is built: no script, no font, nothing from another host.

Every browser of today draws MathML. A formula that cannot be read is a warning, and with ``-W`` an
error.
"""

import re
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.util import logging

logger = logging.getLogger(__name__)


def as_mathml(formula: str, display: str) -> str:
    """One formula of LaTeX as a ``<math>`` element.

    >>> as_mathml(r"pl_{ik} > 0", "inline")[:40]
    '<math xmlns="http://www.w3.org/1998/Math'
    >>> as_mathml(r"a b", "block").count("<mi>")
    2
    """
    text = re.sub(r"\\lvert|\\rvert", "|", formula)
    return convert(text, display=display)


def _write(translator: Any, node: Any, display: str) -> None:
    try:
        mathml = as_mathml(node.astext(), display)
    except Exception as error:
        logger.warning("This formula cannot be read (%r): %s", error, node.astext(), location=node)
        mathml = f"<code>{translator.encode(node.astext())}</code>"
    if display == "block":
        mathml = f'<div class="formula">{mathml}</div>'
    translator.body.append(mathml)
    raise nodes.SkipNode


def inline(translator: Any, node: Any) -> None:
    """Write a formula in a line."""
    _write(translator, node, "inline")


def block(translator: Any, node: Any) -> None:
    """Write a formula of its own."""
    _write(translator, node, "block")


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
