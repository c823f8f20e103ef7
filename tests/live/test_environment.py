"""The switches of operators: on and off, rate, judge, queue; arguments in the code win, mistakes are named."""

from __future__ import annotations

import logging
import threading
from pathlib import Path
from typing import Any

import pytest

from assay.errors import InputError
from assay.judges.scripted_judge import ScriptedJudge
from assay.live import LiveScorer, SampleQueue, open_intake
from assay.live.disabled_intake import DisabledIntake
from assay.live.intake import is_off
from assay.records import Context, Sample

SAMPLE = Sample(question="q", contexts=(Context(text="p"),), answer="a")


def threads() -> set[str]:
    return {thread.name for thread in threading.enumerate() if thread.name.startswith("assay-")}


@pytest.mark.parametrize("word", ["false", "FALSE", "0", "no", " off "])
def test_off_is_an_intake_that_takes_nothing(monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    monkeypatch.setenv("ASSAY_ENABLED", word)
    monkeypatch.setenv("ASSAY_JUDGE", "nonsense")  # nothing is made, so nothing can be wrong
    before = threads()
    for scorer in (None, LiveScorer("faithfulness", ScriptedJudge())):
        intake = open_intake(None, None, scorer, {})
        assert is_off(intake)
        assert not intake.submit(SAMPLE)
        assert intake.flush(0)
        assert intake.close().submitted == 0
    assert not threads() - before  # those of earlier tests may end meanwhile


@pytest.mark.parametrize("word", ["true", "1", "Yes", "on", "", "  "])
def test_on_is_as_without_the_variable(monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    monkeypatch.setenv("ASSAY_ENABLED", word)
    assert isinstance(open_intake(None, ScriptedJudge(), None, {}), LiveScorer)


def test_the_code_may_switch_on_what_the_environment_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_ENABLED", "false")
    assert isinstance(open_intake(None, ScriptedJudge(), None, {}, enabled=True), LiveScorer)
    monkeypatch.delenv("ASSAY_ENABLED")
    assert is_off(open_intake(None, None, None, {}, enabled=False))


def test_rate_and_judge_come_from_the_environment_where_the_code_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_SAMPLING", "0")
    monkeypatch.setenv("ASSAY_JUDGE", "systemone:laya")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with pytest.raises(InputError, match="ASSAY_JUDGE=systemone:laya"):
        LiveScorer("faithfulness")  # it needs a base_url
    monkeypatch.setenv("ASSAY_JUDGE", "openai:gpt-test")
    assert LiveScorer("faithfulness").judge.fingerprint.startswith("openai/gpt-test")
    silent = LiveScorer("faithfulness", ScriptedJudge(support=lambda claim, passage: "supported"))
    assert isinstance(silent.judge, ScriptedJudge)
    assert silent.submit(SAMPLE)
    assert silent.flush(10)
    assert silent.close().sampled_out == 1
    told = LiveScorer("faithfulness", ScriptedJudge(support=lambda claim, passage: "supported"), sampling=1.0)
    assert told.submit(SAMPLE)
    assert told.flush(10)
    assert told.close().sampled_out == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ASSAY_ENABLED", "maybe"),
        ("ASSAY_SAMPLING", "lots"),
        ("ASSAY_SAMPLING", "1.5"),
        ("ASSAY_SAMPLING", "nan"),
        ("ASSAY_SAMPLING", "-0.1"),
        ("ASSAY_JUDGE", "gpt-5"),
        ("ASSAY_JUDGE", "openai:"),
    ],
)
def test_a_bad_value_is_an_error_that_names_the_variable(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(InputError, match=name):
        open_intake(None, None, None, {})


def test_a_queue_takes_the_place_of_scoring(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("ASSAY_QUEUE", str(tmp_path / "queue"))
    monkeypatch.setenv("ASSAY_SAMPLING", "0")
    queue: Any = open_intake(None, None, None, {})
    assert isinstance(queue, SampleQueue)
    assert queue.path == tmp_path / "queue"
    assert queue.submit(SAMPLE)
    assert queue.flush(10)
    assert queue.health().sampled_out == 1
    queue.close()
    with caplog.at_level(logging.WARNING, logger="assay"):
        scorer = open_intake("faithfulness", ScriptedJudge(), None, {})
    assert isinstance(scorer, LiveScorer)  # the code says how to score
    assert "ASSAY_QUEUE is not used" in caplog.text


def test_an_intake_that_takes_nothing_is_an_intake() -> None:
    from assay.live import Intake

    assert isinstance(DisabledIntake("for a test"), Intake)
    assert not is_off(DisabledIntake("for a test"))
