"""What users do with an instrumentation, rightly and wrongly."""

from __future__ import annotations

import asyncio
import copy
import logging
import pickle
import subprocess
import sys
from typing import Any

import pytest
from assay_llama_index import AssayInstrumentation
from assay_llama_index import usage_errors as misuse
from llama_index.core.callbacks import CallbackManager
from llama_index_instrumentation import get_dispatcher

from assay.capture import CaptureRules
from assay.capture import missing_answer as unanswered
from assay.errors import InputError
from assay.live import LiveScorer
from integrations.llama_index.tests.fakes import ANSWER, PASSAGES, QUESTION


def test_what_was_captured_is_shown_without_metrics_and_without_a_judge(kit):
    with AssayInstrumentation(metrics=()) as assay:
        assert (assay.samples(), assay.last) == ([], None)
        kit.engine().query("q0")
        kit.engine().query(QUESTION)
        assert [sample.question for sample in assay.samples()] == ["q0", QUESTION]
        assert assay.last is not None
        assert (assay.last.answer, assay.last.passages) == (ANSWER, PASSAGES)
        assert assay.health().live.submitted == 2
    assert len(assay.samples()) == 2  # also when it is closed


def test_only_the_newest_are_remembered_and_none_if_so_wanted(kit, judge):
    with (
        AssayInstrumentation("faithfulness", judge, remember=2) as some,
        AssayInstrumentation(metrics=(), remember=0) as none,
    ):
        for number in range(4):
            kit.engine().query(f"q{number}")
        assert [sample.question for sample in some.samples()] == ["q2", "q3"]
        assert (none.samples(), none.last) == ([], None)
        assert some.flush(10)
    assert some.health().live.scored == 4  # each made once, whoever asked first


def test_two_instrumentations_of_one_scorer_give_one_sample(kit, judge):
    scorer = LiveScorer("faithfulness", judge)
    with AssayInstrumentation(scorer=scorer) as first, AssayInstrumentation(scorer=scorer) as second:
        kit.engine().query(QUESTION)
        assert scorer.flush(10)
        left_out = [dict(assay.health().left_out) for assay in (first, second)]
    assert sorted(left_out, key=len) == [{}, {"captured_twice": 1}]
    assert scorer.close().submitted == 1


def test_in_async_code_the_loop_goes_on_while_it_waits(kit, judge):
    async def main():
        ticks = 0

        async def tick():
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0)

        async with AssayInstrumentation("faithfulness", judge) as assay:
            await kit.engine().aquery(QUESTION)
            ticking = asyncio.create_task(tick())
            assert await assay.aflush(10)
            assert assay.health().live.scored == 1
        ticking.cancel()
        assert not assay.attached
        assert ticks > 0
        assert (await assay.aclose()).attached is False  # twice is once

    asyncio.run(main())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"sample_rate": 0.1}, r"AssayInstrumentation\(\) has no option 'sample_rate'; here that is sampling="),
        ({"project": "x"}, "AssayInstrumentation.*'project'; here that is sinks="),
        ({"model": "gpt"}, "here that is judge="),
        ({"samplin": 1}, "here that is sampling="),
        ({"xyzzy": 1}, "there are application, budget"),
    ],
)
def test_options_by_other_names_say_how_they_are_called_here(options: Any, said: str):
    with pytest.raises(TypeError, match=said):
        AssayInstrumentation(metrics=(), **options)


def test_metrics_that_need_a_reference_say_so_at_once(judge):
    with pytest.raises(InputError, match="AssayInstrumentation: context_recall needs a reference"):
        AssayInstrumentation("context_recall", judge)
    adds = CaptureRules(adjust=lambda sample, trace: sample)
    AssayInstrumentation("context_recall", judge, rules=adds).close()


@pytest.mark.parametrize("wrong", [AssayInstrumentation(metrics=()), AssayInstrumentation], ids=["object", "class"])
def test_it_is_no_callback_handler_and_says_so(kit, wrong):
    from llama_index.core import Settings

    before = Settings.callback_manager
    Settings.callback_manager = CallbackManager([wrong])
    try:
        with pytest.raises(InputError, match=r"no callback handler.*AssayInstrumentation\(\.\.\.\)\.attach\(\)"):
            Settings.callback_manager.start_trace("query")
        with pytest.raises(InputError, match="no callback handler"):
            kit.engine(callback_manager=Settings.callback_manager).query(QUESTION)
    finally:
        Settings.callback_manager = before


def test_in_a_dispatcher_it_says_so_where_exceptions_are_swallowed(kit, caplog, monkeypatch):
    monkeypatch.setattr(misuse, "_said", set())
    root = get_dispatcher()
    before = list(root.span_handlers)
    with caplog.at_level(logging.WARNING, "assay.capture"):
        root.span_handlers = [*before, AssayInstrumentation(metrics=())]
        try:
            assert str(kit.engine().query(QUESTION)) == ANSWER
        finally:
            root.span_handlers = before
    (line,) = [record.getMessage() for record in caplog.records]
    assert "no handler of a dispatcher; attach it" in line


def test_attributes_that_there_are_not_are_missing_as_ever():
    assay = AssayInstrumentation(metrics=())
    assert not hasattr(assay, "xyzzy")
    assert not hasattr(AssayInstrumentation, "xyzzy")


def test_copies_are_itself_and_a_pickle_says_what_it_is():
    assay = AssayInstrumentation(metrics=())
    assert copy.copy(assay) is copy.deepcopy(assay) is assay
    code = "import sys, pickle; print(repr(pickle.loads(sys.stdin.buffer.read())))"
    done = subprocess.run([sys.executable, "-c", code], input=pickle.dumps(assay), capture_output=True, check=True)
    assert b"an instrumentation of another process: nothing is captured here" in done.stdout
    assert b"captures nothing; make one where the work is done" in done.stderr


def test_what_ends_without_a_sample_says_why_once_for_each_name(kit, caplog, monkeypatch):
    monkeypatch.setattr(unanswered, "_said", type(unanswered._said)())
    with caplog.at_level(logging.WARNING, "assay.capture"), AssayInstrumentation(metrics=()) as assay:
        for _ in range(2):
            kit.engine(mode="no_text").query(QUESTION)
        assert assay.flush(10)
        assert assay.health().left_out == {"no_answer": 2}
    (line,) = [record.getMessage() for record in caplog.records]
    assert line.startswith("assay: 'RetrieverQueryEngine.query' gave no sample:")
    assert "CaptureRules(answer_run=)" in line
