"""How Sphinx makes the site, `make docs`. What the pages show is tested by tests/test_readme.py."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import dipc  # noqa: E402 - from the checkout, whatever is installed

project = "dipc"
author = "The dipc authors"
copyright = "The dipc authors"  # noqa: A001 - the name is Sphinx's
release = version = dipc.__version__
extensions = ["myst_nb", "sphinx_click", "sphinx.ext.autodoc", "generated_pages"]
exclude_patterns = ["_build", "playground", "programs"]

html_theme = "furo"
html_title = "dipc"
html_static_path = ["static"]
html_css_files = ["site.css"]

myst_heading_anchors = 3
myst_enable_extensions = ["dollarmath"]

#: Formulas are typeset as MathML by the browser itself: a page loads nothing for them.
html_math_renderer = "mathml"
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 600

#: Options begin with two hyphens, which are no dash.
smartquotes_action = "qe"

autodoc_member_order = "groupwise"
autodoc_typehints = "signature"


def _as_restructured_text(
    app: Sphinx,  # noqa: ARG001 - the signature is Sphinx's
    what: str,  # noqa: ARG001
    name: str,  # noqa: ARG001
    thing: object,  # noqa: ARG001
    options: object,  # noqa: ARG001
    lines: list[str],
) -> None:
    """Docstrings are plain text: what would be markup in them is not meant as such."""
    for at, line in enumerate(lines):
        if not line.lstrip().startswith(">>>"):
            lines[at] = line.replace("`", "``").replace("*", "\\*").replace("|", "\\|")


def _as_text(app: Sphinx, ctx: object, lines: list[str]) -> None:  # noqa: ARG001 - the signature is sphinx-click's
    """The help of commands is plain text, too; its bars at the beginning of lines keep them apart."""
    for at, line in enumerate(lines):
        bar, rest = ("| ", line[2:]) if line.startswith("| ") else ("", line)
        if not line.lstrip().startswith(".. "):
            plain = rest.replace("`", "``").replace("*", "\\*").replace("|", "\\|")
            lines[at] = bar + plain.replace("\\*\\*Required\\*\\*", "**Required**")


_CODE = re.compile(r"<pre>.*?</pre>|<code[ >].*?</code>", re.DOTALL)
_OPTION = re.compile(r"(?<![^\s>`\"'\[])--?[a-zA-Z][\w-]*(?![^<]*>)")


def with_whole_options(body: str) -> str:
    """The page with options in code that no line breaks within: a browser breaks `--inputs` behind its hyphens."""
    return _CODE.sub(lambda code: _OPTION.sub(r'<span class="whole-option">\g<0></span>', code[0]), body)


def _whole_options(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: object) -> None:  # noqa: ARG001 - the signature is Sphinx's
    if "body" in context:
        context["body"] = with_whole_options(context["body"])


def _visit_math(self: Any, node: Any) -> None:
    from docutils.nodes import SkipNode
    from latex2mathml.converter import convert

    display = "block" if node.tagname == "math_block" else "inline"
    self.body.append(convert(node.astext(), display=display))
    raise SkipNode


def setup(app: Sphinx) -> None:
    """What Sphinx calls."""
    app.add_html_math_renderer("mathml", (_visit_math, None), (_visit_math, None))
    app.connect("html-page-context", _whole_options)
    for part in ("description", "epilog", "options", "arguments"):
        app.connect(f"sphinx-click-process-{part}", _as_text)
    app.connect("autodoc-process-docstring", _as_restructured_text)
