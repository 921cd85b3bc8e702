"""Two things that Sphinx and numpydoc would do a thousand times, and nobody would see.

numpydoc compiles its template for each docstring; here it is compiled once. autodoc evaluates the
annotations of each signature, although `autodoc_typehints` says not to show them; here they are
left out before it looks. Together that is a quarter of a build.
"""

import functools
from typing import Any


def template_once() -> None:
    """Keep the bytecode of numpydoc's template."""
    from jinja2 import BytecodeCache
    from numpydoc import docscrape_sphinx

    class InMemory(BytecodeCache):
        kept: dict[str, bytes] = {}  # noqa: RUF012

        def load_bytecode(self, bucket: Any) -> None:
            if bucket.key in self.kept:
                bucket.bytecode_from_string(self.kept[bucket.key])

        def dump_bytecode(self, bucket: Any) -> None:
            self.kept[bucket.key] = bucket.bytecode_to_string()

    plain = docscrape_sphinx.SandboxedEnvironment
    docscrape_sphinx.SandboxedEnvironment = functools.partial(plain, bytecode_cache=InMemory())


def without_annotations(app: Any, value: Any, is_bound: bool) -> None:
    """Take the annotations off a function of ours, in this process."""
    function = getattr(value, "__func__", value)
    if (getattr(function, "__module__", None) or "").startswith("plausible"):
        getattr(function, "__annotations__", {}).clear()


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    template_once()
    app.connect("autodoc-before-process-signature", without_annotations)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
