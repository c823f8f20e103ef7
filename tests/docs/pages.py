"""The pages that hold Python for readers, each as one script with the page's own line numbers.

What a reader sees are fenced blocks of `python`. What a page needs besides, a stand-in for the reader's own chain for
example, stands in a comment of the page that begins with `<!-- python` and ends with `-->`.
"""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]

BEGINS = {"```python": "```", "<!-- python": "-->"}


def script_of(page: Path) -> str:
    """The Python of a page. Lines of prose are empty, so that errors name the line of the page."""
    lines, end = [], None
    for line in page.read_text(encoding="utf-8").splitlines():
        if end is not None and line.strip() == end:
            end = None
        elif end is not None:
            lines.append(line)
            continue
        elif line.strip() in BEGINS:
            end = BEGINS[line.strip()]
        lines.append("")
    assert end is None, f"{page.name}: a block that does not end"
    return "\n".join(lines)


def pages() -> list[Path]:
    """All pages of users that hold Python."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted(ROOT.glob("integrations/*/README.md"))]
    return [page for page in found if script_of(page).strip()]


def name_of(page: Path) -> str:
    """`docs/start.md`: the page as people name it."""
    return page.relative_to(ROOT).as_posix()


#: What an interpreter writes about errors that nobody handles: in a destructor, at its exit, in a thread.
UNHANDLED = ("Exception ignored in", "was never awaited", "Traceback (most recent call last)", "Exception in thread")


def unhandled(stderr: str) -> list[str]:
    """The lines in which an example's interpreter reports an error that nobody handles."""
    return [line for line in stderr.splitlines() if any(mark in line for mark in UNHANDLED)]
