"""From an attached instrumentation to scores."""

from __future__ import annotations

import subprocess
import sys

import pytest
from assay_llama_index import AssayInstrumentation
from llama_index_instrumentation import get_dispatcher

from assay import record_context
from assay.capture import CaptureRules
from assay.errors import InputError
from assay.judges.scripted_judge import ScriptedJudge

QUESTION = "Why do cats purr?"


def test_scores_arrive_with_evidence(kit, judge):
    scored = []
    with AssayInstrumentation(["faithfulness"], judge, on_score=scored.append) as assay:
        kit.engine().query(QUESTION)
        assert assay.flush(10)
        (one,) = scored
        assert one.values == {"faithfulness": 1.0}
        (verdict,) = one.scores["faithfulness"].verdicts["answer/contexts"]
        assert verdict.evidence[0].text == "Cats purr when calm."
        span_id = one.sample.ids["llama_index_span_id"]
        assert assay.result(span_id, timeout=1) == one
        health = assay.health()
    assert (health.attached, health.exchanges, health.open, health.open_spans) == (True, 1, 0, 0)
    assert (health.live.submitted, health.live.scored, health.live.delivered) == (1, 1, 1)
    assert health.errors == {}
    assert not assay.health().attached


def test_default_metrics(kit, judge):
    with AssayInstrumentation(judge=judge) as assay:
        assert [metric.label for metric in assay.scorer.metrics] == ["faithfulness", "context_utilization"]


def test_a_wrong_metric_is_refused_at_once(judge):
    with pytest.raises(InputError, match="fathfulness"):
        AssayInstrumentation("fathfulness", judge)


@pytest.mark.parametrize(("partial", "value"), [(False, None), (True, 1.0)])
def test_partial_answers_are_scored_only_on_demand(kit, judge, partial, value):
    scored = []
    with AssayInstrumentation("faithfulness", judge, on_score=scored.append, score_partial=partial) as assay:
        stream = kit.engine(streaming=True).query(QUESTION).response_gen
        next(stream)
        stream.close()
        assay.flush(10)
    assert scored[0].sample.status == "abandoned"
    assert scored[0].values == {"faithfulness": value}


def test_detached_hears_nothing(kit, judge):
    assay = AssayInstrumentation("faithfulness", judge)
    kit.engine().query(QUESTION)
    assay.attach()
    assay.attach()  # twice is once
    kit.engine().query(QUESTION)
    assay.detach()
    kit.engine().query(QUESTION)
    assert assay.health().exchanges == 1
    assay.close()


def test_detach_takes_only_its_own_handlers(kit, judge):
    root = get_dispatcher()
    before = list(root.span_handlers)
    first, second = (AssayInstrumentation("faithfulness", judge).attach() for _ in range(2))
    second.detach()
    kit.engine().query(QUESTION)
    assert (first.health().exchanges, second.health().exchanges) == (1, 0)
    first.close()
    second.close()
    assert root.span_handlers == before


def test_streams_under_way_survive_detach_other_calls_are_given_up(kit, judge):
    scored = []
    assay = AssayInstrumentation("faithfulness", judge, on_score=scored.append).attach()
    response = kit.engine(streaming=True).query(QUESTION)

    class Detaches(kit.FakeLLM):
        def complete(self, prompt, formatted=False, **kwargs):
            assay.detach()
            return super().complete(prompt)

    kit.engine(llm=Detaches()).query("Who is cut off?")
    assert str(response) == "Cats purr when calm."
    assay.flush(10)
    assert {s.sample.question: s.sample.status for s in scored} == {
        "Who is cut off?": "abandoned",
        QUESTION: "complete",
    }
    assert assay.close().open == 0


def test_one_dispatcher_only(kit, judge):
    """A dispatcher of one module hears that module and no other."""
    elsewhere = AssayInstrumentation("faithfulness", judge, dispatcher=get_dispatcher("somewhere.else"))
    engines = get_dispatcher("llama_index.core.base.base_query_engine")
    here = AssayInstrumentation("faithfulness", judge, dispatcher=engines)
    with elsewhere, here:
        kit.engine().query(QUESTION)
        assert (elsewhere.health().exchanges, here.health().exchanges) == (0, 1)


def test_a_failing_judge_and_sink_leave_the_host_alone(kit):
    class Sink:
        def write(self, scored):
            raise OSError("disk full")

        def close(self):
            raise OSError("disk full")

    judge = ScriptedJudge(support=lambda claim, passage: 1 / 0)
    with AssayInstrumentation("faithfulness", judge, sinks=[Sink()]) as assay:
        assert str(kit.engine().query(QUESTION)) == "Cats purr when calm."
        assay.flush(10)
        health = assay.health()
    assert health.live.no_value == 1
    assert health.live.undelivered == 1


def test_dispatcher_shutdown_gives_up_what_is_open(kit, judge):
    with AssayInstrumentation("faithfulness", judge) as assay:
        response = kit.engine(streaming=True).query(QUESTION)
        assay._spans.close()
        assert assay.health().open == 0
        assert str(response) == "Cats purr when calm."


def test_a_scorer_of_ones_own_stays_open(kit):
    kept = kit.Kept()
    with AssayInstrumentation(scorer=kept) as assay:
        kit.engine().query(QUESTION)
    assert [sample.question for sample in kept] == [QUESTION]
    assert assay.scorer is kept
    with pytest.raises(InputError, match="metrics, max_queue: belongs to the scorer"):
        AssayInstrumentation("faithfulness", scorer=kept, max_queue=3)


def test_a_question_without_an_answer_is_counted(kit, judge):
    with AssayInstrumentation("faithfulness", judge) as assay:
        kit.engine(mode="no_text").query(QUESTION)
        assert assay.flush(10)
        health = assay.health()
    assert (dict(health.left_out), health.live.skipped, health.live.finished) == ({"no_answer": 1}, 1, 0)


def test_runs_that_rules_name_give_question_and_contexts(kit, heard):
    """Runs have the names of their spans."""
    from llama_index.core.query_engine import CustomQueryEngine

    class First(kit.Shelf):
        pass

    kept = kit.Kept()
    rules = CaptureRules(question_run="RetrieverQueryEngine.query", answer_run="RetrieverQueryEngine.query")

    class Wraps(CustomQueryEngine):
        def custom_query(self, query_str):
            return f"So: {kit.engine(First()).query('inner question')}"

    with AssayInstrumentation(scorer=kept, rules=rules):
        Wraps().query(QUESTION)
    assert [(sample.question, sample.answer) for sample in kept] == [("inner question", "Cats purr when calm.")]
    kept.clear()
    with AssayInstrumentation(scorer=kept, rules=CaptureRules(contexts_run="First.retrieve")):
        kit.engine(First()).query(QUESTION)
    assert [sample.passages for sample in kept] == [("Cats purr when calm.", "Cats also purr to heal.")]


def test_a_model_that_retrieves_by_itself(kit, heard):
    class Rag(kit.FakeLLM):
        def complete(self, prompt, formatted=False, **kwargs):
            kit.Shelf().retrieve(prompt)
            return super().complete(prompt)

    from llama_index.core.chat_engine import SimpleChatEngine

    SimpleChatEngine.from_defaults(llm=Rag()).chat(QUESTION)
    assert heard.one.passages == ("Cats purr when calm.", "Cats also purr to heal.")


def test_recording_outside_of_a_request_says_so(kit, heard):
    assert record_context("a passage") is False
    kit.engine().query(QUESTION)
    assert record_context("a passage") is False
    assert heard.one.passages == ("Cats purr when calm.", "Cats also purr to heal.")


def test_attaching_does_not_import_llama_index_core():
    code = "import sys, assay_llama_index; assert 'llama_index.core' not in sys.modules, 'imported'"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.long
def test_lazy_names():
    code = (
        "import assay_llama_index as a; from assay_llama_index import AssayEvaluator, evaluators;"
        "assert callable(evaluators) and a.evaluators is evaluators and a.AssayEvaluator is AssayEvaluator"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
