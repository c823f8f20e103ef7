"""Whatever breaks in our hooks: the host's result is the same, the error is counted, and nothing stays behind."""

from __future__ import annotations

import asyncio
import logging

import pytest
from assay_llama_index import AssayInstrumentation, answers, capture, requests, responses, samples, tool_retrievers
from assay_llama_index.answers import Answers
from assay_llama_index.capture import Capture
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.chat_engine import ContextChatEngine
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.tools import RetrieverTool

from assay.capture import CaptureRules, RunCollector
from assay.judges.scripted_judge import ScriptedJudge
from integrations.llama_index.tests.fakes import ANSWER, QUESTION, settled
from integrations.llama_index.tests.shapes.agents import ASK, calls


class Catastrophe(BaseException):
    """Not an Exception."""


def query(kit):
    return str(kit.engine().query(QUESTION))


def stream(kit):
    return "".join(kit.engine(streaming=True).query(QUESTION).response_gen)


def aquery(kit):
    return str(asyncio.run(kit.engine().aquery(QUESTION)))


def astream(kit):
    async def read():
        response = await kit.engine(streaming=True).aquery(QUESTION)
        return "".join([token async for token in response.response_gen])

    return asyncio.run(read())


def chat_stream(kit):
    memory = ChatMemoryBuffer.from_defaults(token_limit=3000)
    engine = ContextChatEngine(kit.Shelf(), llm=kit.FakeLLM(), memory=memory, prefix_messages=[])
    return "".join(engine.stream_chat(QUESTION).response_gen)


def reranked(kit):
    return str(kit.engine(node_postprocessors=[kit.Last()]).query(QUESTION))


def agent(kit):
    async def run():
        tool = RetrieverTool.from_defaults(kit.Shelf(), name="cats", description="about cats")
        return str(await FunctionAgent(tools=[tool], llm=kit.Caller(say=calls(ASK))).run(user_msg=QUESTION))

    return asyncio.run(run())


CALLS = [query, aquery, stream, astream, chat_stream, reranked, agent]
INNER = [
    (Capture, "enter"), (Capture, "exit"), (Capture, "delta"), (Capture, "written"), (Capture, "_begin"),
    (Capture, "_go_on"), (Capture, "_over"), (Answers, "returned"), (Answers, "wrote"), (Answers, "heard"),
    (Answers, "_listen"), (Answers, "_stream"), (Answers, "_end"), (Answers, "wrote_all"), (Capture, "_remember"),
    (RunCollector, "identify"),
    (RunCollector, "start"), (RunCollector, "end"), (RunCollector, "run_of"),
    (capture, "kind_of"), (capture, "is_of_the_application"), (capture, "is_evaluated"), (capture, "items_of"),
    (capture, "noted"), (capture, "notes_of"), (tool_retrievers, "are_tools"), (tool_retrievers, "of"),
    (capture, "root_ids"), (capture, "span_ids"), (capture, "document_of"), (capture, "copies_of"),
    (capture, "name_of"),
    (responses, "copies_of"), (responses, "are_copies"), (responses, "is_plain_answer"), (requests, "texts_in"),
    (answers, "streams"),
    (capture, "metadata_of"), (answers, "answer_of"), (answers, "root_ids"),
    (requests, "engine_inputs"), (requests, "workflow_inputs"), (requests, "prompt_of"), (requests, "node_texts"),
    (requests, "query_of"), (requests, "session_of"), (requests, "messages_of"),
    (responses, "documents_of"), (responses, "outputs_of"), (responses, "written_by"), (responses, "is_stream"),
    (samples, "sample_of"),
]  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
@pytest.mark.parametrize("error", [ValueError("x"), Catastrophe(), asyncio.CancelledError(), GeneratorExit()], ids=repr)
def test_a_broken_hook_changes_nothing(kit, heard, call, error):
    """Each of our functions breaks in turn; the host's answer is the same, and each error is counted once."""
    for owner, name in INNER:
        with pytest.MonkeyPatch.context() as patch:
            broke: list[str] = []

            def broken(*args, broke=broke, name=name, **kwargs):
                broke.append(name)
                raise error

            patch.setattr(owner, name, broken)
            assert call(kit) == ANSWER, name
            settled(lambda: len(heard.capture.collector), 0.1)
        counted, heard.errors = sum(heard.errors.values()), type(heard.errors)()
        if name in ("run_of", "end"):  # called by the handling of the error too, which is not counted once more
            assert (0 < counted <= len(broke)) or not broke, name
        else:
            assert counted == len(broke), name
        heard.capture.abandon()
        assert heard.idle(), name
    heard.errors.clear()
    heard.clear()
    assert call(kit) == ANSWER
    assert settled(lambda: len(heard.capture.collector))
    assert heard.one.answer == ANSWER


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
@pytest.mark.parametrize("broken", ["submit", "count_error"])
def test_a_broken_intake_changes_nothing(kit, call, broken):
    class Breaks(kit.Kept):
        """Takes no samples, or does not even count errors."""

        def submit(self, sample):
            raise Catastrophe

    if broken == "count_error":
        Breaks.count_error = lambda self, error, where: 1 / 0  # type: ignore[method-assign]
    kept = Breaks()
    with AssayInstrumentation(scorer=kept) as assay:
        assert call(kit) == ANSWER
        assert settled(lambda: len(assay._capture.collector))
    assert kept.errors == ({"Catastrophe": 1} if broken == "submit" else {})


@pytest.mark.parametrize("error", [ValueError("x"), Catastrophe(), SystemExit(3)], ids=repr)
def test_a_broken_rule_is_counted_and_loses_only_its_sample(kit, judge, error):
    def adjust(sample, trace):
        if sample.question == "broken":
            raise error
        return sample

    with AssayInstrumentation("faithfulness", judge, rules=CaptureRules(adjust=adjust)) as assay:
        assert str(kit.engine().query("broken")) == ANSWER
        assert str(kit.engine().query(QUESTION)) == ANSWER
        assert assay.flush(20)
        health = assay.health()
    assert dict(health.errors) == {type(error).__name__: 1}
    assert (health.live.skipped, health.live.finished) == (1, 1)


def test_a_broken_hook_does_not_hide_the_hosts_error(kit, heard, monkeypatch):
    monkeypatch.setattr(Capture, "drop", lambda *args: 1 / 0)
    with pytest.raises(ConnectionError, match="sk-123"):
        kit.engine(llm=kit.FakeLLM(fail_after=0)).query(QUESTION)
    assert heard.errors["ZeroDivisionError"] >= 1
    assert heard.idle()


def test_the_first_error_of_a_kind_is_logged_with_its_span(kit, monkeypatch, caplog):
    monkeypatch.setattr(responses, "outputs_of", lambda result: 1 / 0)
    judge = ScriptedJudge()
    with caplog.at_level(logging.WARNING, "assay"), AssayInstrumentation("faithfulness", judge) as assay:
        for _ in range(3):
            kit.engine().query(QUESTION)
        assert dict(assay.health().errors) == {"ZeroDivisionError": 3}
    (record,) = caplog.records
    assert "ZeroDivisionError in LlamaIndex exit (span RetrieverQueryEngine.query-" in record.getMessage()


def test_a_broken_node_loses_only_its_contexts(kit, heard):
    class Broken(kit.TextNode):
        def get_content(self, metadata_mode=None):
            if metadata_mode is None:  # as we ask; the engine asks for what the model shall see
                raise RuntimeError("no text")
            return "text"

    class Custom(kit.Shelf):
        pass

    from llama_index.core.query_engine import CustomQueryEngine

    class Asks(CustomQueryEngine):
        def custom_query(self, query_str):
            return f"{len(Custom(Broken(text='x')).retrieve(query_str))} found."

    Asks().query(QUESTION)
    (sample,) = heard
    assert (sample.answer, sample.contexts) == ("1 found.", None)
    assert sample.metadata["no_context"] == "the retriever did not end"
    assert heard.errors == {"RuntimeError": 1}
    assert heard.idle()


def test_ctrl_c_in_a_stream_reaches_the_user(kit, heard):
    """LlamaIndex swallows it in span hooks; our ear on the stream does not."""
    response = kit.engine(streaming=True).query(QUESTION)

    class Interrupts(list):
        def append(self, token):
            raise KeyboardInterrupt

    (stream,) = heard.capture.answers.streams.values()
    stream.pieces = Interrupts()
    with pytest.raises(KeyboardInterrupt):
        next(response.response_gen)
    assert heard.idle()
