"""docs/cli.md is true: its commands print what it says.

`python -m tests.docs.test_cli_page` writes their output into it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)
DATA = re.compile(r"```text\n(id,.*?)```", re.DOTALL)
MASKS = (
    (re.compile(r"in \d+\.\d s"), "in 0.1 s"),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d"), "2026-01-31 12:00"),
    (re.compile(r"embedded([/\s])[0-9a-f]{16}"), r"embedded\g<1>0123456789abcdef"),
    (re.compile(r"\b\d{8}-\d{6}-[0-9a-f]{16}\b"), "20260131-120000-0123456789abcdef"),
)


def commands(block: str) -> list[str]:
    return [line[2:] for line in block.splitlines() if line.startswith("$ ")]


def masked(text: str) -> str:
    for pattern, words in MASKS:
        text = pattern.sub(words, text)
    return "\n".join(line.rstrip() for line in text.splitlines())


def run(command: str, folder: Path) -> str:
    """What a terminal of 80 columns shows of it, but for the blank lines around."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    quiet = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    done = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env={**quiet, "PATH": path, "COLUMNS": "80", "PYTHONIOENCODING": "utf-8"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )
    return masked(done.stdout).strip("\n")


def played(page: str, folder: Path) -> str:
    """The page with what its commands print now."""
    found = DATA.search(page)
    assert found is not None
    (folder / "answers.csv").write_text(found[1], encoding="utf-8")

    def fill(block: re.Match[str]) -> str:
        shown = [f"$ {command}\n{run(command, folder)}" for command in commands(block[1])]
        return "```console\n" + "\n\n".join(shown) + "\n```"

    return BLOCK.sub(fill, page)


@pytest.mark.long
def test_the_page_shows_what_its_commands_print(tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert played(page, tmp_path) == page


def test_no_line_of_the_output_is_wider_than_a_terminal() -> None:
    for block in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        for line in block.splitlines():
            assert len(line) <= 80 or line.startswith(("$ ", "assay: error", "r", "| ")) or '"' in line, line


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        PAGE.write_text(played(PAGE.read_text(encoding="utf-8"), Path(folder)), encoding="utf-8")
