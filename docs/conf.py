"""How the pages become a site: `uv run --all-packages --group docs sphinx-build -n -W docs site`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

project = "assay"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["site", "_build"]
html_theme = "furo"
html_title = "assay"
# what is not installed with the rest, since half a gigabyte comes with it
sys.path.insert(0, str(Path(__file__).parents[1] / "integrations" / "ray" / "src"))
autodoc_mock_imports = ["ray"]
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


def _skip(app, what, name, obj, skip, options):  # type: ignore[no-untyped-def]
    """Each thing once: what `assay` itself has is not described again where it was made."""
    import assay

    module = app.env.current_document.autodoc_module
    if what == "module" and module != "assay" and name in assay.__all__:
        return True
    return None


def _repository(app, docname, source):  # type: ignore[no-untyped-def]
    """Links to what stands beside the pages, in the repository, are no links of the site."""
    source[0] = re.sub(r"\[([^\]]+)\]\(\.\./[^)]+\)", r"\1", source[0])


def setup(app):  # type: ignore[no-untyped-def]
    app.connect("autodoc-process-docstring", _prepare)
    app.connect("autodoc-skip-member", _skip)
    app.connect("source-read", _repository)
