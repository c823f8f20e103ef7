"""The newcomer's day is as its page says."""

from __future__ import annotations

import json

import pytest

from tests.newcomer.day import COLUMNS, PAGE, Played, day, masked, page, screen_of


@pytest.fixture(scope="module")
def played() -> list[Played]:
    return day()


@pytest.mark.long
@pytest.mark.timeout(900)
def test_the_day_is_as_the_page_says(played: list[Played]) -> None:
    assert page(played).splitlines() == PAGE.read_text(encoding="utf-8").splitlines()


@pytest.mark.long
@pytest.mark.timeout(900)
def test_no_line_is_wider_than_the_terminal(played: list[Played]) -> None:
    drawn = [one for one in played if "--json" not in one.command and "notebook.py" not in one.command]
    wide = [line for one in drawn for line in one.screen if len(line) > COLUMNS]
    assert [line for line in wide if not line.startswith("assay: error")] == []  # those are for grep


@pytest.mark.long
@pytest.mark.timeout(900)
def test_the_terminal_has_colour_and_machines_can_read(played: list[Played]) -> None:
    (demo,) = [one for one in played if one.command.endswith("assay demo")]
    assert demo.coloured
    (machine,) = [one for one in played if one.command.endswith("--json")]
    first = next(number for number, line in enumerate(machine.screen) if line.startswith(("{", "[")))
    json.loads("\n".join(machine.screen[first:]))


def test_what_is_overwritten_is_not_on_the_screen() -> None:
    assert screen_of("a\r\nprogress 1\rprogress 2\r\x1b[2Kdone\r\nb\r\n") == ["a", "done", "b"]


def test_masks() -> None:
    text = "run 20261122-100521-7d6db0e1a969ce6d: 1 row in 0.9 s; judge: embedded 9e7db07040644824"
    assert masked(text, "/tmp/x") == "run RUN: 1 row in T s; judge: embedded FINGERPRINT"
