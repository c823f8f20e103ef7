"""assay as a middleware of `create_agent`: the same sample as with the handler, and one where both are attached."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import Any

import assay_langchain
import pytest
from assay_langchain import AssayCallbackHandler, AssayMiddleware
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage
from langchain_core.tools import create_retriever_tool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

from assay.errors import InputError
from assay.judges.scripted_judge import ScriptedJudge
from assay.live import LiveScorer
from integrations.langchain.tests.shapes.base import observed

QUESTION = "Why do cats purr?"
ANSWER = "Cats purr when calm."
ASKED = {"messages": [("user", QUESTION)]}


def agent(kit: Any, *middleware: Any, says: Any = None, tools: Any = None, **options: Any) -> Any:
    found = create_retriever_tool(kit.Shelf(), "search", "finds documents")
    said = says or kit.model(*[kit.call("cats"), ANSWER] * 9)
    return create_agent(said, tools or [found], middleware=list(middleware), **options)


@pytest.mark.parametrize("how", ["invoke", "ainvoke", "stream", "astream"])
def test_the_same_sample_as_with_the_handler(kit: Any, how: str) -> None:
    async def astreamed(it: Any, config: Any) -> None:
        async for _ in it.astream(ASKED, config):
            pass

    def run(it: Any, config: Any) -> None:
        if how == "invoke":
            it.invoke(ASKED, config)
        elif how == "ainvoke":
            asyncio.run(it.ainvoke(ASKED, config))
        elif how == "stream":
            list(it.stream(ASKED, config))
        else:
            asyncio.run(astreamed(it, config))

    handler, middleware = AssayCallbackHandler(metrics=()), AssayMiddleware(metrics=())
    run(agent(kit), {"callbacks": [handler]})
    run(agent(kit, middleware), {})
    [by_handler], [by_middleware] = handler.samples(), middleware.handler.samples()
    assert observed(by_middleware) == observed(by_handler)
    assert [context.in_prompt for context in by_middleware.contexts or ()] == [True, True]
    health = middleware.handler.health()
    assert (health.open_traces, health.errors, health.left_out) == (0, {}, {})


def test_both_attached_give_one_sample(kit: Any) -> None:
    handler = AssayCallbackHandler(metrics=())
    it = agent(kit, AssayMiddleware(handler=handler))
    it.invoke(ASKED, {"callbacks": [handler]})
    with assay_langchain.capture(handler):
        it.invoke(ASKED)
    it.invoke(ASKED)  # the middleware alone
    assert [sample.metadata["name"] for sample in handler.samples()] == ["LangGraph", "LangGraph", "agent"]
    assert handler.health().left_out == {}


def test_a_handler_of_the_same_scorer_gives_one_sample(kit: Any) -> None:
    scorer = LiveScorer("faithfulness", ScriptedJudge(support=lambda claim, passage: "supported"))
    handler, other = AssayCallbackHandler(scorer=scorer), AssayCallbackHandler(scorer=scorer)
    agent(kit, AssayMiddleware(handler=other)).invoke(ASKED, {"callbacks": [handler]})
    assert (len(handler.samples()), len(other.samples())) == (1, 0)
    assert scorer.close(10).finished == 1


def test_it_scores(kit: Any) -> None:
    middleware = AssayMiddleware("faithfulness", ScriptedJudge(support=lambda claim, passage: "supported"))
    agent(kit, middleware).invoke(ASKED)
    health = middleware.handler.close(20)
    assert (health.live.finished, health.live.scored) == (1, 1)


def test_many_at_once_do_not_mix(kit: Any) -> None:
    @tool(response_format="content_and_artifact")
    def search(query: str) -> Any:
        """Finds documents."""
        return query, [{"text": f"passage for {query}", "source": "x"}]

    class Model(type(kit.model("x"))):  # type: ignore[misc]
        def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
            from langchain_core.outputs import ChatGeneration, ChatResult

            last = messages[-1]
            said = kit.call(last.content) if last.type == "human" else AIMessage(f"answer to {last.content}")
            return ChatResult(generations=[ChatGeneration(message=said)])

    handler = AssayCallbackHandler(metrics=(), remember=50)
    middleware = AssayMiddleware(handler=handler)
    it = create_agent(Model(messages=iter(())), [search], middleware=[middleware])

    async def main() -> None:
        await asyncio.gather(*(it.ainvoke({"messages": [("user", f"q{n}")]}) for n in range(50)))

    asyncio.run(main())
    assert sorted((sample.question, sample.passages, sample.answer) for sample in handler.samples()) == sorted(
        (f"q{n}", (f"passage for q{n}",), f"answer to q{n}") for n in range(50)
    )


def test_the_state_and_the_checkpoint_stay_as_they_are(kit: Any) -> None:
    saver = InMemorySaver()
    config: Any = {"configurable": {"thread_id": "t"}}
    middleware = AssayMiddleware(metrics=())
    says = kit.model(kit.call("cats"), ANSWER, kit.call("more"), ANSWER)
    it = agent(kit, middleware, says=says, checkpointer=saver)
    out = [it.invoke(ASKED, config) for _ in range(2)]
    assert set(out[0]) == {"messages"}
    assert "assay_run" not in it.get_state(config).values
    assert "assay_run" not in it.get_input_jsonschema().get("properties", {})
    first, second = middleware.handler.samples()
    assert [turn.question for turn in second.history] == [QUESTION]
    assert first.metadata["thread_id"] == "t"


def test_a_model_that_fails_is_a_failed_sample(kit: Any) -> None:
    middleware = AssayMiddleware(metrics=())

    def fail() -> Any:
        raise ConnectionError("no model")
        yield

    with pytest.raises(ConnectionError):
        agent(kit, middleware, says=type(kit.model("x"))(messages=fail())).invoke(ASKED)
    assert middleware.handler.last is not None
    assert (middleware.handler.last.status, middleware.handler.last.metadata["error"]) == ("failed", "ConnectionError")
    assert middleware.handler.health().open_traces == 0


def test_an_agent_in_a_tool_belongs_to_the_one_outside(kit: Any) -> None:
    handler = AssayCallbackHandler(metrics=())

    @tool
    def ask(query: str) -> str:
        """Asks an expert."""
        return agent(kit, AssayMiddleware(handler=handler)).invoke(ASKED)["messages"][-1].text  # type: ignore[no-any-return]

    says = kit.model(kit.call("cats", name="ask"), ANSWER)
    agent(kit, AssayMiddleware(handler=handler), says=says, tools=[ask]).invoke(ASKED)
    [sample] = handler.samples()
    assert len(sample.passages) == 2


def test_after_an_interrupt_there_is_one_sample(kit: Any) -> None:
    @tool
    def confirm(query: str) -> str:
        """Asks a human."""
        return str(interrupt("sure?"))

    middleware = AssayMiddleware(metrics=())
    says = kit.model(kit.call("x", name="confirm"), ANSWER)
    it = agent(kit, middleware, says=says, tools=[confirm], checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}
    it.invoke(ASKED, config)
    assert middleware.handler.samples() == []
    it.invoke(Command(resume="yes"), config)
    [sample] = middleware.handler.samples()
    assert (sample.question, sample.answer, sample.contexts) == (QUESTION, ANSWER, None)


def test_beside_other_middleware(kit: Any) -> None:
    class Other(AgentMiddleware):  # type: ignore[type-arg]
        calls = 0

        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            Other.calls += 1
            return handler(request)

    middleware = AssayMiddleware(metrics=())
    agent(kit, middleware, Other()).invoke(ASKED)
    assert Other.calls == 2
    assert len(middleware.handler.samples()) == 1


@pytest.mark.parametrize("place", ["start", "end", "knows"])
def test_what_fails_of_ours_does_not_reach_the_agent(kit: Any, monkeypatch: Any, place: str) -> None:
    middleware = AssayMiddleware(metrics=())

    def fail(*args: Any, **kwargs: Any) -> None:
        raise SystemError("x")

    monkeypatch.setattr(middleware.handler.listener, place, fail)
    assert agent(kit, middleware).invoke(ASKED)["messages"][-1].text == ANSWER
    assert set(middleware.handler.health().errors) == {"SystemError"}


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((AssayCallbackHandler(metrics=()),), {}, "by name"),
        ((), {"handler": AssayCallbackHandler}, "is a class"),
        (("faithfulness",), {"handler": AssayCallbackHandler(metrics=())}, "belongs to the handler"),
    ],
)
def test_wrong_uses_raise(arguments: Any, options: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        AssayMiddleware(*arguments, **options)


def test_options_name_the_middleware() -> None:
    with pytest.raises(TypeError, match=r"AssayMiddleware\(\) has no option 'sample_rate'; here that is sampling="):
        AssayMiddleware(sample_rate=1)  # type: ignore[call-arg]


@pytest.mark.long
def test_without_langchain_the_rest_can_be_used() -> None:
    code = (
        "import sys; sys.modules['langchain'] = None\n"
        "import assay_langchain\n"
        "assert 'langgraph' not in sys.modules\n"
        "assay_langchain.AssayCallbackHandler(metrics=())\n"
        "try: assay_langchain.AssayMiddleware\n"
        "except ImportError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "AssayMiddleware needs langchain: pip install" in done.stdout
