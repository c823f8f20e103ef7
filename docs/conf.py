"""How the pages become a site: `uv run --all-packages --group docs sphinx-build -n -W docs site`."""

from __future__ import annotations

import posixpath
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import reference_pages
from sphinx.util import logging

project = "assay"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
napoleon_use_ivar = True  # attributes that have comments are described by autodoc already
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["site", "_build"]
html_theme = "furo"
html_title = "assay"
# what is not installed with the rest, since half a gigabyte comes with it
sys.path.insert(0, str(Path(__file__).parents[1] / "integrations" / "ray" / "src"))
autodoc_mock_imports = reference_pages.MOCKED
myst_heading_anchors = 3
default_role = "code"
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_inherit_docstrings = False
# types of other libraries, and names under which only type checkers know a thing
nitpick_ignore_regex = [("py:.*", r".*")]

_ENTRY = re.compile(r"^(?P<name>[*\w][\w*, `|/.]*?)\s{2,}(?P<text>\S.*)$")


def _lists(lines: list[str]) -> list[str]:
    """Aligned lists of our docstrings, `name   what it is`, as lists of the site; other lines as they are."""
    made: list[str] = []
    inside = example = False
    for line in lines:
        if line.startswith("    ") and not inside and not example and (not made or not made[-1].strip()):
            made += ["::", ""]
            example = True
        elif line.strip() and not line.startswith("    "):
            example = False
        entry = _ENTRY.match(line)
        if entry:
            made += [] if inside else [""]
            made.append(f"* ``{entry['name']}``: {entry['text']}")
            inside = True
        elif inside and line.startswith(" ") and line.strip():
            made.append(f"  {line.strip()}")
        else:
            made += [""] if inside and line.strip() else []
            inside = False
            made.append(line)
    return made


def _prepare(app, what, name, obj, options, lines):  # type: ignore[no-untyped-def]
    lines[:] = _lists(lines)


def _write_reference(app):  # type: ignore[no-untyped-def]
    reference_pages.write_pages()


def _source(app, docname, source):  # type: ignore[no-untyped-def]
    """The index of the reference has its tables; links out of `docs` are no links of the site."""
    if docname == "reference":
        source[0] = reference_pages.fill_index(source[0])
    folder = posixpath.dirname(docname)

    def link(match: re.Match[str]) -> str:
        outside = posixpath.normpath(posixpath.join(folder, match[2])).startswith("..")
        return match[1] if outside else match[0]

    source[0] = re.sub(r"\[([^\]]+)\]\((\.\./[^)]+)\)", link, source[0])


def _check_sizes(app, error):  # type: ignore[no-untyped-def]
    """A page of the reference that is too large fails the build, as every warning does."""
    if error is None and app.builder.name == "html":
        for message in reference_pages.check_sizes(Path(app.outdir)):
            logging.getLogger(__name__).warning(message)


def setup(app):  # type: ignore[no-untyped-def]
    app.connect("builder-inited", _write_reference)
    app.connect("autodoc-process-docstring", _prepare)
    app.connect("source-read", _source)
    app.connect("build-finished", _check_sizes)
