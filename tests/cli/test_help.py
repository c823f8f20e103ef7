"""Help that fits one screen of 80 columns and 40 lines."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from typer.main import get_command

from assay.cli.main import app

Run = Callable[..., tuple[int, str, str]]
LINES, COLUMNS = 40, 80


@pytest.fixture
def screen(command_line: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("COLUMNS", str(COLUMNS))
    monkeypatch.setenv("TERMINAL_WIDTH", str(COLUMNS))
    return command_line


@pytest.mark.parametrize("arguments", [("--help",), ("score", "--help")])
def test_help_fits_one_screen(screen: Run, arguments: tuple[str, ...]) -> None:
    code, out, _ = screen(*arguments)
    assert code == 0
    lines = out.rstrip().splitlines()
    assert len(lines) <= LINES
    assert max(map(len, lines)) <= COLUMNS


def test_the_top_has_three_panels_with_19_commands_at_most(screen: Run) -> None:
    out = screen("--help")[1]
    panels = re.findall(r"╭─ (\S.*?) ─+╮", out)
    assert panels == ["Options", "Do", "Look", "Set up"]
    commands = get_command(app).commands  # type: ignore[attr-defined]
    assert len(commands) <= 19
    assert all(f"│ {name} " in out for name in commands)


def options_in(out: str) -> set[str]:
    return set(re.findall(r"^│ (--[a-z-]+)", out, re.MULTILINE))


def test_help_all_shows_every_option_of_score_and_help_the_most_used(screen: Run) -> None:
    command = get_command(app).commands["score"]  # type: ignore[attr-defined]
    known = {option for param in command.params for option in param.opts if option.startswith("--")}
    shown, everything = options_in(screen("score", "--help")[1]), options_in(screen("score", "--help-all")[1])
    assert everything == known | {"--help"}
    assert {"--metrics", "--judge", "--gate", "--fail-below", "--help-all"} <= shown
    assert len(shown) <= 16
    assert "--rows-in-flight" not in shown
