"""The interface of the handler: what was captured, waiting and closing in async code, and words on wrong use."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import pickle
import subprocess
import sys
import threading
from typing import Any

import assay_langchain
import pytest
from assay_langchain import AssayCallbackHandler
from langchain_core.runnables import RunnableLambda

from assay.capture import CaptureRules
from assay.errors import InputError
from assay.judges.scripted_judge import ScriptedJudge
from assay.live import LiveScorer
from assay.live.handlers.exchanges import PendingExchange, RecentExchanges
from assay.records import Sample

QUESTION = "Why do cats purr?"
ANSWER = "Cats purr when calm."
PASSAGES = ("Cats purr when they are calm.", "Cats also purr to heal.")


# -- what was captured ----------------------------------------------------------------------------------------------


def test_without_metrics_nothing_is_scored_and_samples_show_what_was_captured(kit: Any) -> None:
    handler = AssayCallbackHandler(metrics=())
    before = threading.active_count()
    for question in ("one?", "two?"):
        kit.rag().invoke(question, config={"callbacks": [handler]})
    assert [(sample.question, sample.answer, sample.passages) for sample in handler.samples()] == [
        ("one?", ANSWER, PASSAGES), ("two?", ANSWER, PASSAGES),
    ]  # fmt: skip
    assert handler.last is not None
    assert handler.last.question == "two?"
    assert threading.active_count() == before
    assert handler.flush()
    health = handler.close()
    assert (health.live.submitted, health.live.finished, health.errors) == (2, 0, {})


def test_what_was_captured_is_there_at_once_and_made_once(captured: Any, kit: Any, monkeypatch: Any) -> None:
    import assay_langchain.listener

    made = []
    make = assay_langchain.listener.sample_of
    monkeypatch.setattr(assay_langchain.listener, "sample_of", lambda *a, **k: made.append(1) or make(*a, **k))
    it = captured()
    kit.rag().invoke(QUESTION, it.config)
    assert it.handler.last.question == QUESTION
    assert it.sample == it.handler.last
    assert it.handler.samples() == [it.sample]
    assert len(made) == 1


def test_what_sampling_leaves_out_is_shown_all_the_same(captured: Any, kit: Any) -> None:
    it = captured(sampling=0.0)
    kit.rag().invoke(QUESTION, it.config)
    assert it.scored == []
    assert it.handler.last.answer == ANSWER


def test_so_many_are_remembered(kit: Any) -> None:
    for remember, expected in ((2, ["2", "3"]), (0, []), (9, ["0", "1", "2", "3"])):
        handler = AssayCallbackHandler(metrics=(), remember=remember)
        for number in range(4):
            kit.rag().invoke(str(number), config={"callbacks": [handler]})
        assert [sample.question for sample in handler.samples()] == expected
        assert (handler.last is None) is not expected
    with pytest.raises(InputError, match="remember"):
        AssayCallbackHandler(metrics=(), remember=-1)


def test_large_ones_are_remembered_for_less_long(monkeypatch: Any) -> None:
    monkeypatch.setattr("assay.live.handlers.exchanges.REMEMBERED_CHARS", 10)
    remembered = RecentExchanges(5)
    for number in range(5):
        remembered.add(PendingExchange(lambda n=number: Sample(question=str(n), contexts=None, answer="a"), 4))
    assert [sample.question for sample in remembered.samples()] == ["3", "4"]  # 4 + 4 <= 10 < 4 + 4 + 4
    remembered.add(PendingExchange(lambda: None, 100))
    assert remembered.samples() == []
    assert remembered.last() is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_has_none_of_its_parents(kit: Any) -> None:
    handler = AssayCallbackHandler(metrics=())
    kit.rag().invoke(QUESTION, config={"callbacks": [handler]})
    child = os.fork()
    if not child:
        ok = handler.samples() == []
        kit.rag().invoke("child?", config={"callbacks": [handler]})
        os._exit(0 if ok and [sample.question for sample in handler.samples()] == ["child?"] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert len(handler.samples()) == 1


def test_asked_from_many_threads_each_sample_is_made_once() -> None:
    made, started = [], threading.Barrier(8)

    def make() -> Sample:
        made.append(1)
        return Sample(question="q", contexts=None, answer="a")

    one = PendingExchange(make, 1)
    found: list[Any] = []

    def ask() -> None:
        started.wait()
        found.append(one())

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert len({id(sample) for sample in found}) == 1


# -- blocks, and async code -----------------------------------------------------------------------------------------


def scored(**options: Any) -> AssayCallbackHandler:
    judge = ScriptedJudge(support=lambda claim, passage: "supported")
    return AssayCallbackHandler("faithfulness", judge, **options)


def test_a_block_listens_and_closes(kit: Any) -> None:
    with scored() as handler:
        kit.rag().invoke(QUESTION)
        kit.rag().invoke(QUESTION, config={"callbacks": [handler]})  # given as well: still one sample each
    kit.rag().invoke("after?")
    health = handler.health()
    assert (health.live.finished, health.live.pending) == (2, 0)
    assert not handler.scorer.submit(handler.samples()[0])  # closed


async def test_an_async_block_listens_and_closes_while_the_loop_goes_on(kit: Any) -> None:
    turns = 0

    async def turn() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    other = asyncio.ensure_future(turn())
    async with scored() as handler:
        await kit.rag().ainvoke(QUESTION)
        seen = turns
        assert await handler.aflush(20)
        assert turns > seen
    assert handler.health().live.finished == 1
    other.cancel()


async def test_a_block_that_ends_in_another_context_closes_all_the_same(kit: Any) -> None:
    handler = scored()
    await asyncio.create_task(handler.__aenter__())
    await asyncio.create_task(handler.__aexit__(None, None, None))
    assert not handler.scorer.submit(Sample(question="q", contexts=None, answer="a"))


async def test_a_wait_that_is_cancelled_keeps_nobody(kit: Any) -> None:
    released = threading.Event()

    def hang(*args: Any) -> str:
        released.wait(20)
        return "supported"

    handler = AssayCallbackHandler("faithfulness", ScriptedJudge(support=hang))
    await kit.rag().ainvoke(QUESTION, config={"callbacks": [handler]})
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(handler.aflush(), 0.05)
    released.set()
    assert (await handler.aclose(10)).live.finished == 1


async def test_errors_of_a_wait_come_through(monkeypatch: Any) -> None:
    handler = scored()
    monkeypatch.setattr(handler.scorer, "flush", lambda timeout: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        await handler.aflush()
    monkeypatch.undo()
    handler.close(1)


# -- wrong use ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("use", [assay_langchain.install, lambda it: assay_langchain.capture(it).__enter__()])
@pytest.mark.parametrize("wrong", [AssayCallbackHandler, {}, "handler", LiveScorer])
def test_only_an_object_can_be_attached(use: Any, wrong: Any) -> None:
    with pytest.raises(InputError, match="is a class; give an object" if wrong is AssayCallbackHandler else "expected"):
        use(wrong)
    assert assay_langchain.uninstall() is None


async def test_the_class_among_the_callbacks_raises_with_the_right_way(kit: Any) -> None:
    config: Any = {"callbacks": [AssayCallbackHandler]}
    for runnable in (kit.rag(), RunnableLambda(str), kit.Shelf(), kit.model()):
        with pytest.raises(InputError, match=r"is a class; give an object of it: AssayCallbackHandler\(\.\.\.\)"):
            runnable.invoke(QUESTION, config=config)
        with pytest.raises(InputError, match="is a class"):
            await runnable.ainvoke(QUESTION, config=config)


def test_the_class_can_be_looked_at() -> None:
    import inspect

    assert "flush" in dict(inspect.getmembers(AssayCallbackHandler))
    assert AssayCallbackHandler(metrics=()).ignore_chain is False
    assert AssayCallbackHandler(metrics=()).raise_error is False


@pytest.mark.parametrize(
    ("option", "hint"),
    [
        ("sample_rate", "sampling="), ("project", "sinks="), ("model", "judge="), ("llm", "judge="),
        ("evaluators", "metrics="), ("timeout", "deadline="), ("session_id", "metadata of the request"),
        ("threshold", "assay.guard"), ("sampilng", "sampling="), ("sinks_", "sinks="),
        ("nonsense", "there are application, budget"),
    ],
)  # fmt: skip
def test_options_by_other_names_are_refused_with_ours(option: str, hint: str) -> None:
    with pytest.raises(TypeError, match=f"AssayCallbackHandler\\(\\) has no option '{option}'") as caught:
        AssayCallbackHandler(**{option: 1})
    assert hint in str(caught.value)


def test_the_class_that_the_user_called_is_named() -> None:
    class Ours(AssayCallbackHandler):
        pass

    with pytest.raises(TypeError, match=r"Ours\(\) has no option"):
        Ours(sample_rate=1)  # type: ignore[call-arg]


@pytest.mark.parametrize("metrics", ["context_recall", ["faithfulness", "answer_correctness"]])
def test_a_metric_that_needs_a_reference_is_refused(metrics: Any) -> None:
    with pytest.raises(InputError, match="needs a reference, and a live answer has none"):
        AssayCallbackHandler(metrics, ScriptedJudge())
    adds = CaptureRules(adjust=lambda sample, trace: sample)
    AssayCallbackHandler(metrics, ScriptedJudge(), rules=adds).close(1)


def test_capture_alone_takes_nothing_that_scores() -> None:
    with pytest.raises(InputError, match="judge, sinks: with metrics="):
        AssayCallbackHandler(metrics=(), judge=ScriptedJudge(), sinks=[])


def test_install_and_uninstall_return_who_was_there(kit: Any) -> None:
    first, second = AssayCallbackHandler(metrics=()), AssayCallbackHandler(metrics=())
    assert assay_langchain.uninstall() is None
    assert assay_langchain.install(first) is None
    assert assay_langchain.install(second) is first
    kit.rag().invoke(QUESTION)
    assert assay_langchain.uninstall() is second
    assert assay_langchain.uninstall() is None
    kit.rag().invoke(QUESTION)
    assert (len(first.samples()), len(second.samples())) == (0, 1)


# -- pickles --------------------------------------------------------------------------------------------------------

ELSEWHERE = """
import logging, pickle, sys
logging.basicConfig(stream=sys.stdout, format="%(message)s")
handlers = [pickle.loads(bytes.fromhex(sys.argv[1])) for _ in range(2)]
from langchain_core.runnables import RunnableLambda
print(RunnableLambda(str.upper).invoke("ran", config={"callbacks": [handlers[0]]}))
print(handlers[0])
"""


@pytest.mark.long
def test_a_pickled_handler_says_in_another_process_what_it_is() -> None:
    handler = AssayCallbackHandler(metrics=())
    pickled = pickle.dumps(handler)
    assert pickle.loads(pickled) is handler
    done = subprocess.run([sys.executable, "-c", ELSEWHERE, pickled.hex()], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert "sent here by pickle from another process, and captures nothing" in lines[0]
    assert lines[1:] == ["RAN", "<a handler of another process: nothing is captured here>"]


# -- a word when nothing comes --------------------------------------------------------------------------------------


def test_a_graph_without_an_answer_is_told_of_once(kit: Any, caplog: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("assay.capture.missing_answer._said", {})
    handler = AssayCallbackHandler(metrics=())
    says = kit.model(*["one word more"] * 6)
    chain = RunnableLambda(
        lambda question: {"a": says.invoke(question).text + " [1]", "b": "So: one word more", "n": 1}
    )
    with caplog.at_level(logging.WARNING, "assay.capture"):
        for _ in range(3):
            chain.invoke(QUESTION, config={"callbacks": [handler], "run_name": "triage"})
        assert handler.samples() == []
        gc.collect()
    [record] = [record for record in caplog.records if record.name == "assay.capture"]
    assert "'triage' gave no sample" in record.getMessage()
    assert handler.health().left_out == {"no_answer": 3}
