"""A newcomer's day, played: a fresh clone, a fresh environment, a terminal of 80 columns, and a notebook.

    python -m tests.newcomer.day          # prints the transcript
    python -m tests.newcomer.day --write  # keeps it as docs/evidence/newcomer.md

Commands are run word for word in a pseudo-terminal, and the transcript is what stood on the screen in the end. What
differs from run to run (ids, times, rates, fingerprints, paths) is masked.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "evidence" / "newcomer.md"
COLUMNS = 80

#: What a newcomer types, in the order of README and docs/start.md, docs/evaluate.md and docs/cli.md.
FILES = {
    "answers.csv": (
        "question;contexts;answer;topic\n"
        "When did it open?;It opened in 1990 in Rome.;It opened in 1990.;dates\n"
        "Where is it?;It opened in 1990 in Rome.;It is in Paris. It has 12 rooms.;places\n"
        "Who runs it?;;Nobody knows.;people\n"
    ),
    "first.py": (
        "from assay import evaluate\n\n"
        "result = evaluate([{\n"
        '    "question": "When did it open?",\n'
        '    "contexts": ["It opened in 1990 in Rome."],\n'
        '    "answer": "It opened in 1990. It has 12 rooms.",\n'
        '}], metrics=["faithfulness"])\n'
        "print(result)\n"
        'print(result.explain(1, "faithfulness"))\n'
    ),
    "notebook.py": (
        "import html\nimport re\n\nimport nbclient\nimport nbformat\n\n"
        'cells = ["from assay import evaluate\\n'
        "result = evaluate('answers.csv', ['faithfulness'], store=None)\\nresult\",\n"
        '         "result.explain(2)", "result.row(1)", "evaluate(3)"]\n'
        "book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])\n"
        "nbclient.NotebookClient(book, timeout=120, allow_errors=True).execute()\n"
        "for cell in book.cells:\n"
        "    print('In:', cell.source)\n"
        "    for output in cell.outputs:\n"
        "        data = output.get('data', {})\n"
        "        cells = re.sub('</(?:td|th)>', '  ', re.sub('</(?:tr|p)>', r'\\n', data.get('text/html', '')))\n"
        "        seen = html.unescape(re.sub('<[^>]+>', '', cells)).strip()\n"
        "        print(seen.strip('\\n') or data.get('text/plain') or output.get('text') or output.get('evalue'))\n"
        "    print()\n"
    ),
}
RUN = "uv run -q --no-dev --extra embedded"
STEPS = (
    f"{RUN} assay --version",
    f"{RUN} assay demo",
    f"{RUN} python first.py",
    f"{RUN} assay score answers.csv --metrics faithfulness --name monday --note 'first look'",
    f"{RUN} assay worst faithfulness monday -n 2",
    f"{RUN} assay errors monday",
    f"{RUN} assay runs",
    f"{RUN} assay score answers.csv --metrics faithfulness --slice topic --json",
    f"{RUN} assay score answers.csv --metrics faithfulness --name monday",
    f"{RUN} assay score answers.csv --metrics faithfullness",
    f"{RUN} assay score nowhere.csv",
    f"{RUN} --with nbclient --with ipykernel python notebook.py 2>/dev/null",
)

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07")
_MASKS = (
    (re.compile(r"\d{8}-\d{6}-[0-9a-f]{4,16}"), "RUN"),
    (re.compile(r"embedded([/ ])[0-9a-f]{8,16}"), r"embedded\1FINGERPRINT"),
    (re.compile(r"\b\d+(\.\d+)? (ms|s|min|seconds?|minutes?)\b"), "T s"),
    (re.compile(r"\b\d+(\.\d+)? rows/(s|min)"), "N rows/s"),
    (re.compile(r"\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}(:\d{2})?"), "DATE"),
    (re.compile(r"\(?\d+:\d{2}(:\d{2})?\)?"), "T"),
    (re.compile(r'("started"|"seconds"): [\d.]+'), r"\1: 0"),
    (re.compile(r"\b[\d,]+ cache hits?"), "N cache hits"),
)


@dataclass(frozen=True)
class Played:
    """One command: what was typed, what stood on the screen (masked), the exit code, and whether it was coloured."""

    command: str
    screen: tuple[str, ...]
    code: int
    coloured: bool


def masked(text: str, folder: str) -> str:
    """The text without what differs from run to run."""
    text = text.replace(folder, "FOLDER")
    for pattern, instead in _MASKS:
        text = pattern.sub(instead, text)
    return text


def screen_of(raw: str) -> list[str]:
    """The lines that are left when a terminal has drawn this: what a carriage return overwrote is gone."""
    lines: list[str] = []
    for line in raw.replace("\r\n", "\n").split("\n"):
        ups = line.count("\x1b[1A")
        if ups:
            del lines[-ups:]
        lines.append(_ESCAPES.sub("", line).split("\r")[-1].rstrip())
    while lines and not lines[-1]:
        lines.pop()
    return lines


def play(command: str, folder: Path, environment: dict[str, str], seconds: float = 300) -> Played:
    """Run one command in a terminal of 80 columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    process = subprocess.Popen(
        ["bash", "-c", command], stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, cwd=folder, env=environment
    )
    os.close(theirs)
    said, ends = b"", time.monotonic() + seconds
    while time.monotonic() < ends:
        if select.select([ours], [], [], 1)[0]:
            try:
                got = os.read(ours, 65536)
            except OSError:  # the other side is closed
                break
            if not got:
                break
            said += got
        elif process.poll() is not None:
            break
    os.close(ours)
    code = process.wait(10)
    raw = said.decode("utf-8", "replace")
    lines = screen_of(raw)
    return Played(command, tuple(masked(line, str(folder)) for line in lines), code, "\x1b[" in raw)


def clone(folder: Path) -> Path:
    """A clone of what is committed, and of what is not: the day is played before a commit as well."""
    into = folder / "assay"
    if (ROOT / ".git").exists():
        subprocess.run(["git", "clone", "-q", str(ROOT), str(into)], check=True)
    else:
        into.mkdir()
    left = shutil.ignore_patterns(
        "__pycache__", ".venv", ".assay", "site", ".git", ".mypy_cache", ".ruff_cache", ".hypothesis"
    )
    for name in ("pyproject.toml", "README.md", "src", "integrations", "docs"):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, into / name, dirs_exist_ok=True, ignore=left)
        else:
            shutil.copy(source, into / name)
    return into


def environment_of(folder: Path) -> dict[str, str]:
    """As after opening a terminal: no keys, no environment that is active, nothing of this project."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.endswith("_API_KEY")
        and not name.startswith(("VIRTUAL_ENV", "UV_PROJECT", "PYTHON", "ASSAY", "COV"))
    }
    return kept | {"TERM": "xterm-256color", "COLUMNS": str(COLUMNS), "LINES": "50", "LANG": "C.UTF-8"}


def day(steps: tuple[str, ...] = STEPS) -> list[Played]:
    """Play it. Takes a minute or two, most of it the judge's."""
    with tempfile.TemporaryDirectory() as name:
        folder = clone(Path(name))
        for file, text in FILES.items():
            (folder / file).write_text(text, encoding="utf-8")
        environment = environment_of(folder)
        subprocess.run(
            ["bash", "-c", f"{RUN} true"], cwd=folder, env=environment, check=True, timeout=600, capture_output=True
        )
        return [play(step, folder, environment) for step in steps]


def page(played: list[Played]) -> str:
    """The transcript as a page."""
    parts = [
        "# A newcomer's day\n",
        "A fresh clone and environment, a terminal of 80 columns; played by `python -m tests.newcomer.day`, which the",
        "tests compare with this page. Ids, times and fingerprints are masked. Before it, these files were written:\n",
    ]
    for name, text in FILES.items():
        parts.append(f"`{name}`\n\n```text\n{text.rstrip()}\n```\n")
    for one in played:
        ended = "" if one.code == 0 else f"\n[exit code {one.code}]"
        parts.append(f"```text\n$ {one.command}\n" + "\n".join(one.screen) + ended + "\n```\n")
    return "\n".join(parts)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    options.add_argument("--write", action="store_true")
    text = page(day())
    if options.parse_args().write:
        PAGE.write_text(text, encoding="utf-8")
    else:
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
