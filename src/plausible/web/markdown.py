"""A guide in Markdown: headings, lists, paragraphs, emphasis, code. HTML in it is text."""

import re

from markupsafe import Markup, escape

SPANS = (
    (re.compile(r"`([^`]+)`"), r"<code>\1</code>"),
    (re.compile(r"\*\*([^*]+)\*\*"), r"<strong>\1</strong>"),
    (re.compile(r"(?<![\w*])\*([^*\s][^*]*)\*(?!\w)"), r"<em>\1</em>"),
)


def _spans(text: str) -> str:
    """A line with its emphasis; everything else is escaped."""
    found = str(escape(text))
    for pattern, tag in SPANS:
        found = pattern.sub(tag, found)
    return found


def to_html(text: str) -> Markup:
    r"""A guide as HTML.

    Examples
    --------
    >>> print(to_html("# Trees\n\nLook at the **bark**.\n\n- oak\n- <b>elm</b>"))
    <h2>Trees</h2>
    <p>Look at the <strong>bark</strong>.</p>
    <ul><li>oak</li><li>&lt;b&gt;elm&lt;/b&gt;</li></ul>
    """
    made = []
    for block in re.split(r"\n\s*\n", text.strip().replace("\r\n", "\n")):
        lines = [line.rstrip() for line in block.splitlines() if line.strip()]
        if not lines:
            continue
        heading = re.match(r"(#{1,4})\s+(.*)", lines[0])
        if heading:
            level = min(len(heading[1]) + 1, 4)
            made.append(f"<h{level}>{_spans(heading[2])}</h{level}>")
            lines = lines[1:]
        made += _blocks(lines)
    return Markup("\n".join(made))


def _blocks(lines: list[str]) -> list[str]:
    """A list, or a paragraph."""
    if not lines:
        return []
    for pattern, tag in ((r"[-*]\s+", "ul"), (r"\d+[.)]\s+", "ol")):
        if all(re.match(pattern, line) for line in lines):
            entries = "".join(f"<li>{_spans(re.sub(pattern, '', x, count=1))}</li>" for x in lines)
            return [f"<{tag}>{entries}</{tag}>"]
    return [f"<p>{_spans(' '.join(lines))}</p>"]
