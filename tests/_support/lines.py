"""Count lines of code, without docstrings, comments and blank lines: `python -m tests._support.lines`."""

from __future__ import annotations

import ast
import io
import tokenize
from pathlib import Path

ROOT = Path(__file__).parents[2]
_LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def lines_of_code(source: str) -> int:
    """The number of lines of a Python source that hold code."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _LAYOUT:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - _docstrings(source))


def _docstrings(source: str) -> set[int]:
    """The lines of all docstrings, those of attributes included."""
    lines: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            lines.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return lines


def count(*folders: Path) -> tuple[int, int]:
    """Files and lines of code below these folders."""
    files = [file for folder in folders for file in sorted(folder.rglob("*.py"))]
    return len(files), sum(lines_of_code(file.read_text(encoding="utf-8")) for file in files)


def main() -> None:
    """Print the lines of `src`, by folder, and of the integrations."""
    for folder in sorted(path for path in (ROOT / "src" / "assay").iterdir() if path.is_dir()):
        files, lines = count(folder)
        print(f"{lines:7,} lines in {files:4} files  src/assay/{folder.name}")
    for name, folders in (
        ("src", [ROOT / "src"]),
        ("integrations/*/src", sorted((ROOT / "integrations").glob("*/src"))),
    ):
        files, lines = count(*folders)
        print(f"{lines:7,} lines in {files:4} files  {name}")


if __name__ == "__main__":
    main()
