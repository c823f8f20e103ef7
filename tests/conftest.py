"""Fixtures for the whole suite."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.judges.scripted_judge import ScriptedJudge
from assay.text import split_sentences


def pytest_configure(config: pytest.Config) -> None:
    """Started in the background, a process ignores Ctrl-C, and so would those that the tests start and interrupt."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def literal_support(claim: str, passage: str) -> str:
    """Supported when the passage says the claim word for word."""
    return "supported" if claim.rstrip(".").lower() in passage.lower() else "not_mentioned"


@pytest.fixture
def judge() -> ScriptedJudge:
    """A judge that reads literally: it has a rule for every prompt and no opinions."""
    return ScriptedJudge(
        support=literal_support,
        usefulness=lambda question, passage: "useless" not in passage,
        directness=lambda question, answer: "evade" not in answer,
        back_questions=lambda text: [f"What says: {text}"] * 3,
        entities=lambda passage: [word for word in passage.split() if word[:1].isupper()],
        criterion=lambda question, vote: True,
        rating=lambda question: 3,
        key_questions=lambda text: [f"Is it said that {s.of(text)}" for s in split_sentences(text)],
        similarity=lambda text, other: 1.0 if text == other else 0.5,
    )


@pytest.fixture
def command_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Callable[..., tuple[int, str, str]]:
    """Run `assay ...` in a folder of its own, in a terminal of 110 columns; gives exit code, stdout and stderr."""
    from assay.cli.main import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "110")

    def run(*args: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["assay", *args])
        code = 0
        try:
            main()
        except SystemExit as stopped:
            code = int(stopped.code or 0)
        return (code, *capsys.readouterr())

    return run
