"""Every `assay ...` command that a text names exists, with its options: docs, README, cookbook and messages."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from assay.cli.main import app

ROOT = Path(__file__).parents[2]
PAGES = (
    ROOT / "README.md",
    *(page for page in (ROOT / "docs").rglob("*.md")),
    *ROOT.glob("integrations/*/README.md"),
    *(page for page in (ROOT / "cookbook").rglob("*") if page.suffix in (".md", ".py", ".yml", ".toml")),
)
SOURCES = frozenset((*(ROOT / "src").rglob("*.py"), *ROOT.glob("integrations/*/src/**/*.py")))

#: A command in backquotes; on a line of code, also after a prompt or "run:"; after a colon in a message.
QUOTED = re.compile(r"`assay ([^`]+)`")
FENCE = re.compile(r"^```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINE = re.compile(r"^(?: {4,}(?:# |- )?|\s*(?:\$ (?:.*\| )?|# |(?:- )?run: |uv run .*))assay ([a-z-].*)$", re.MULTILINE)
MESSAGE = re.compile(r": assay ([a-z-][^\n]*)")


def words_of(text: str) -> list[str]:
    """The words of a command line, without what follows a comment or another command."""
    line = re.split(r"\s{2,}|\s#|;|&&|\||\.\.\.|…|, ", " " + text.replace("\\\n", " "))
    first = next((part for part in line if part.strip()), "")
    try:
        return shlex.split(first)
    except ValueError:  # a quotation that goes on below
        return first.split()


@cache
def commands() -> Any:
    """The tree of commands."""
    return get_command(app)


def why_wrong(text: str) -> str | None:
    """What is wrong with `assay TEXT`; None where it could be called."""
    node: Any = commands()
    words = words_of(text)
    while words and hasattr(node, "commands"):
        if not re.fullmatch(r"[a-z][a-z-]*", words[0]):
            break  # an option of `assay`, or a placeholder
        if words[0] not in node.commands:
            return f"there is no command {words[0]!r}"
        node = node.commands[words.pop(0)]
    known = {option for param in node.params for option in param.opts} | {"--help"}
    for word in words:
        option = word.partition("=")[0]
        if re.fullmatch(r"--[a-z][a-z-]*", option) and option not in known:
            return f"{node.name} has no option {option}"
    return None


def texts_of(source: Path) -> Iterator[str]:
    """The strings of a module; what is filled in is X."""
    inside: set[int] = set()
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.JoinedStr):
            inside |= {id(part) for part in node.values}
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            yield node.value


@cache
def found_in(path: Path) -> list[str]:
    """The commands that a file names."""
    text = path.read_text(encoding="utf-8")
    if "assay" not in text:
        return []
    if path in SOURCES:
        texts = list(texts_of(path))
        return [match for text in texts for pattern in (QUOTED, MESSAGE) for match in pattern.findall(text)]
    code = [" " * 4 + line for block in FENCE.findall(text) for line in block.splitlines()]
    return [*QUOTED.findall(text), *LINE.findall(text), *LINE.findall("\n".join(code))]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_of_pages_exist(path: Path) -> None:
    wrong = {text: why for text in found_in(path) if (why := why_wrong(text)) is not None}
    assert not wrong


def test_commands_of_docstrings_and_messages_exist() -> None:
    wrong = {
        (str(path.relative_to(ROOT)), text): why
        for path in SOURCES
        for text in found_in(path)
        if (why := why_wrong(text)) is not None
    }
    assert not wrong


def test_commands_are_found_where_texts_name_them() -> None:
    assert sum(len(found_in(page)) for page in PAGES) > 80
    assert sum(len(found_in(source)) for source in SOURCES) > 40
    assert "show last ROWX" in found_in(ROOT / "src/assay/cli/demo.py")  # a message; the store is filled in
    assert "score --gate." in found_in(ROOT / "src/assay/cli/init.py")
    assert "score counting.jsonl --name counting" in found_in(ROOT / "cookbook/compare_two_retrievers.py")
    assert any(text.startswith("score answers.csv --metrics") for text in found_in(ROOT / "docs/cli.md"))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("explain last 1", "there is no command 'explain'"),
        ("store forget", "there is no command 'forget'"),
        ("score a.jsonl --fail-under m=0.5", "score has no option --fail-under"),
        ("judge align labels.jsonl --write FILE", None),
        ("score a.jsonl --gate --sequential   # and more", None),
        ("show RUN ROW", None),
        ("--debug COMMAND", None),
    ],
)
def test_a_command_that_does_not_exist_is_found(text: str, why: str | None) -> None:
    assert why_wrong(text) == why
