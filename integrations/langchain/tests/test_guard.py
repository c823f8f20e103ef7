"""Guards in real chains, agents and graphs: nothing blocked goes out, nothing else changes."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from assay_langchain.guard import GuardRunnable, guard_chain, in_place_of
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda, RunnableParallel, RunnablePassthrough
from langgraph.graph import END, START, MessagesState, StateGraph

from assay.capture import CaptureRules
from assay.errors import InputError
from assay.judges.embedded.judge import EmbeddedJudge
from assay.judges.scripted_judge import ScriptedJudge
from assay.live.guards import Guard, GuardBlocked, GuardDecision, guard

QUESTION = "Why do cats purr?"
TRUE = "Cats purr when they are calm."
FALSE = "Dogs were tamed by Napoleon in 1802."
NO = "I did not find that."
PASS: dict[str, Any] = {"on_timeout": "pass", "on_error": "pass", "on_skipped": "pass"}
PASSAGES = ("Cats purr when they are calm.", "Cats also purr to heal.")


class Watched:
    """A guard that reads literally, and what it decided."""

    def __init__(self, **options: Any) -> None:
        self.decisions: list[GuardDecision] = []
        judge = options.pop("judge", None) or ScriptedJudge(
            support=lambda claim, passage: "supported" if claim in passage else "not_mentioned"
        )
        options = {"deadline": 30, "fallback": NO, **options}
        self.guard: Guard = guard("faithfulness", judge, on_decision=self.decisions.append, **{**PASS, **options})

    @property
    def sample(self) -> Any:
        (decision,) = self.decisions
        assert decision.scored is not None
        return decision.scored.sample


@pytest.fixture
def watched() -> Iterator[Callable[..., Watched]]:
    made: list[Watched] = []

    def make(**options: Any) -> Watched:
        made.append(Watched(**options))
        return made[-1]

    yield make
    for one in made:
        one.guard.close()


def ask(runnable: Any, how: str, question: Any = QUESTION) -> Any:
    return {
        "invoke": lambda: runnable.invoke(question),
        "ainvoke": lambda: asyncio.run(runnable.ainvoke(question)),
        "batch": lambda: runnable.batch([question])[0],
        "abatch": lambda: asyncio.run(runnable.abatch([question]))[0],
        "stream": lambda: whole(list(runnable.stream(question))),
        "astream": lambda: asyncio.run(astreamed(runnable, question)),
    }[how]()


def whole(pieces: list[Any]) -> Any:
    assert len(pieces) == 1, "nothing may go out before the check"
    return pieces[0]


async def astreamed(runnable: Any, question: Any) -> Any:
    return whole([piece async for piece in runnable.astream(question)])


every_way = pytest.mark.parametrize("how", ["invoke", "ainvoke", "batch", "abatch", "stream", "astream"])
both = pytest.mark.parametrize(("answer", "out"), [(TRUE, TRUE), (FALSE, NO)])


# -- around a chain --------------------------------------------------------------------------------------------------


@every_way
@both
def test_a_guarded_chain(kit: Any, watched: Any, how: str, answer: str, out: str) -> None:
    it = watched()
    assert ask(guard_chain(kit.rag(llm=kit.model(answer)), it.guard), how) == out
    assert (it.sample.question, it.sample.answer, it.sample.passages) == (QUESTION, answer, PASSAGES)
    assert it.decisions[0].outcome == ("passed" if answer == TRUE else "blocked")


@both
def test_with_the_embedded_judge(kit: Any, watched: Any, answer: str, out: str) -> None:
    it = watched(judge=EmbeddedJudge(), threshold=0.8, deadline=60)
    assert guard_chain(kit.rag(llm=kit.model(answer)), it.guard).invoke(QUESTION) == out


def messages_chain(kit: Any, answer: str) -> Any:
    prompt = ChatPromptTemplate.from_template("{context} {question}")
    return {"context": kit.Shelf(), "question": RunnablePassthrough()} | prompt | kit.model(AIMessage(answer, id="m1"))


def test_a_message_gives_way_to_a_message(kit: Any, watched: Any) -> None:
    message = guard_chain(messages_chain(kit, FALSE), watched().guard).invoke(QUESTION)
    assert isinstance(message, AIMessage)
    assert message.content == NO


def test_a_message_that_passes_is_the_models_own(kit: Any, watched: Any) -> None:
    message = guard_chain(messages_chain(kit, TRUE), watched().guard).invoke(QUESTION)
    assert (message.content, message.id) == (TRUE, "m1")


@both
def test_a_dict_keeps_all_but_the_answer(kit: Any, watched: Any, answer: str, out: str) -> None:
    documents = list(kit.DOCUMENTS)
    chain = RunnableParallel(
        input=RunnablePassthrough(), context=kit.Shelf(), answer=kit.model(answer) | StrOutputParser()
    )
    result = guard_chain(chain, watched().guard).invoke(QUESTION)
    assert result == {"input": QUESTION, "context": documents, "answer": out}


@both
def test_a_graph_of_messages(kit: Any, watched: Any, answer: str, out: str) -> None:
    def say(state: MessagesState) -> Any:
        kit.Shelf().invoke(state["messages"][-1].content)
        return {"messages": [kit.model(answer).invoke(state["messages"])]}

    graph = StateGraph(MessagesState).add_node("say", say).add_edge(START, "say").add_edge("say", END)
    it = watched()
    state = guard_chain(graph.compile(), it.guard).invoke({"messages": [HumanMessage(QUESTION)]})
    assert [(type(message), message.content) for message in state["messages"]] == [
        (HumanMessage, QUESTION),
        (AIMessage, out),
    ]
    assert (it.sample.question, it.sample.answer, it.sample.passages) == (QUESTION, answer, PASSAGES)


@both
def test_keys_of_the_applications_own(kit: Any, watched: Any, answer: str, out: str) -> None:
    def run(values: Any) -> Any:
        return {"said": answer, "trace": "kept", "found": [Document(passage) for passage in PASSAGES]}

    it = watched()
    rules = CaptureRules(question_key="ask_me", answer_key="said", contexts_key="found")
    chain = guard_chain(RunnableLambda(run), it.guard, rules=rules)
    result = chain.invoke({"ask_me": QUESTION, "other": "text"})
    assert (result["said"], result["trace"]) == (out, "kept")
    assert (it.sample.question, it.sample.passages) == (QUESTION, PASSAGES)


def test_no_fallback_raises_and_says_why(kit: Any, watched: Any) -> None:
    chain = guard_chain(kit.rag(llm=kit.model(FALSE)), watched(fallback=None).guard)
    with pytest.raises(GuardBlocked, match=r"blocked: faithfulness = 0\.000") as caught:
        chain.invoke(QUESTION)
    assert caught.value.decision.scored is not None
    assert caught.value.decision.scored.sample.answer == FALSE


def test_one_blocked_answer_of_a_batch(kit: Any, watched: Any) -> None:
    answers = iter([TRUE, FALSE, TRUE])
    chain = {"context": kit.Shelf(), "question": RunnablePassthrough()} | RunnableLambda(lambda _: next(answers))
    safe = guard_chain(chain, watched(fallback=None).guard)
    out = safe.batch([QUESTION] * 3, config={"max_concurrency": 1}, return_exceptions=True)
    assert (out[0], type(out[1]), out[2]) == (TRUE, GuardBlocked, TRUE)


def test_a_function_as_fallback_may_give_anything(kit: Any, watched: Any) -> None:
    it = watched(fallback=lambda decision: {"refused": decision.failed})
    assert guard_chain(kit.rag(llm=kit.model(FALSE)), it.guard).invoke(QUESTION) == {"refused": ("faithfulness",)}


@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
def test_what_the_chain_raises_comes_through(kit: Any, watched: Any, how: str) -> None:
    it = watched()
    with pytest.raises(ConnectionError, match="no index"):
        ask(guard_chain(kit.rag(kit.Broken()), it.guard), how)
    assert it.decisions == []
    assert it.guard.health().checks == 0


@pytest.mark.parametrize(("on_timeout", "out"), [("pass", TRUE), ("block", NO)])
@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
def test_a_judge_that_hangs_goes_by_on_timeout(kit: Any, watched: Any, how: str, on_timeout: Any, out: str) -> None:
    free = threading.Event()
    judge = ScriptedJudge(support=lambda claim, passage: "supported" if free.wait() else "")
    it = watched(judge=judge, deadline=0.3, on_timeout=on_timeout)
    try:
        assert ask(guard_chain(kit.rag(llm=kit.model(TRUE)), it.guard), how) == out
        assert it.decisions[0].outcome == "timeout"
    finally:
        free.set()


@pytest.mark.parametrize(("on_skipped", "out"), [("pass", TRUE), ("block", NO)])
def test_no_contexts_go_by_on_skipped(kit: Any, watched: Any, on_skipped: Any, out: str) -> None:
    it = watched(on_skipped=on_skipped)
    chain = ChatPromptTemplate.from_template("{question}") | kit.model(TRUE) | StrOutputParser()
    assert guard_chain(chain, it.guard).invoke({"question": QUESTION}) == out
    assert it.decisions[0].outcome == "skipped"


def test_a_capture_that_fails_goes_by_on_skipped(kit: Any, watched: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("assay_langchain.guard._Caught.submit", lambda self, sample: 1 / 0)
    it = watched()
    assert guard_chain(kit.rag(llm=kit.model(TRUE)), it.guard).invoke(QUESTION) == TRUE
    assert (it.sample.question, it.sample.answer, it.sample.contexts) == (QUESTION, TRUE, None)
    assert it.decisions[0].outcome == "skipped"


class Numbered(BaseRetriever):
    """Finds the passage with the number that is asked for."""

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return [Document(f"Passage {query}.")]


async def test_fifty_requests_at_once(watched: Any) -> None:
    def answer(values: Any) -> str:
        number = int(values["question"])
        return f"Passage {number + number % 2}."

    it = watched(deadline=60)
    safe = guard_chain({"context": Numbered(), "question": RunnablePassthrough()} | RunnableLambda(answer), it.guard)
    out = await asyncio.gather(*(safe.ainvoke(str(number)) for number in range(50)))
    # an even question is answered from its own passage, an odd one from its neighbour's, which was not found
    assert out == [f"Passage {number}." if number % 2 == 0 else NO for number in range(50)]
    assert (it.guard.health().passed, it.guard.health().blocked) == (25, 25)


def test_other_callbacks_hear_what_they_would_without_a_guard(kit: Any, watched: Any, captured: Any) -> None:
    it = captured()
    assert guard_chain(kit.rag(llm=kit.model(FALSE)), watched().guard).invoke(QUESTION, config=it.config) == NO
    # one trace: the user was told the fallback, and these passages were found
    assert (it.sample.question, it.sample.answer, it.sample.passages) == (QUESTION, NO, PASSAGES)


def test_a_wrong_guard_is_named(kit: Any) -> None:
    with pytest.raises(InputError, match="guard: expected a Guard"):
        guard_chain(kit.rag(), "faithfulness")  # type: ignore[arg-type]


# -- at the end of a chain -------------------------------------------------------------------------------------------


def ends_with_a_dict(kit: Any, answer: str) -> Any:
    return {
        "question": RunnablePassthrough(),
        "contexts": kit.Shelf(),
        "answer": kit.model(answer) | StrOutputParser(),
    }


@every_way
@both
def test_the_last_step_of_a_chain(kit: Any, watched: Any, how: str, answer: str, out: str) -> None:
    it = watched()
    assert ask(ends_with_a_dict(kit, answer) | GuardRunnable(it.guard), how) == out
    assert (it.sample.question, it.sample.answer, it.sample.passages) == (QUESTION, answer, PASSAGES)


@pytest.mark.parametrize(
    "values",
    [
        {"input": QUESTION, "context": [Document(TRUE)], "answer": FALSE},
        {"query": QUESTION, "source_documents": [Document(TRUE)], "result": FALSE},
        {"user_input": QUESTION, "retrieved_contexts": [TRUE], "response": FALSE},
        {"question": HumanMessage(QUESTION), "documents": TRUE, "answer": AIMessage(FALSE)},
        {"question": QUESTION, "contexts": [{"page_content": TRUE}], "answer": FALSE, "more": 3},
    ],
    ids=lambda values: "-".join(values),
)
def test_accepted_names_and_shapes(watched: Any, values: dict[str, Any]) -> None:
    it = watched()
    out = GuardRunnable(it.guard).invoke(values)
    assert (out.content if isinstance(out, AIMessage) else out) == NO
    assert (it.sample.question, it.sample.answer, it.sample.passages) == (QUESTION, FALSE, (TRUE,))


def test_a_column_map_says_which_key_is_meant(watched: Any) -> None:
    values = {"question": QUESTION, "context": "all of it as one text", "documents": [Document(TRUE)], "answer": TRUE}
    it = watched()
    with pytest.raises(InputError, match="'context' and 'documents' can all be the contexts"):
        GuardRunnable(it.guard).invoke(values)
    assert GuardRunnable(it.guard, column_map={"contexts": "documents"}).invoke(values) == TRUE
    assert it.sample.passages == (TRUE,)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"question": "q", "contexts": []}, "no key of 'question', 'contexts' is the answer"),
        ({"contexts": [], "answer": "a"}, "is the question"),
        ({"question": "q", "answer": "a"}, "is the contexts"),
        ("Cats purr.", "expected a dict of question, contexts and answer, got str"),
    ],
)
def test_a_chain_that_is_wired_wrongly_is_told_so(watched: Any, values: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        GuardRunnable(watched().guard).invoke(values)


@pytest.mark.parametrize("contexts", [None, []])
def test_no_contexts_are_no_error(watched: Any, contexts: Any) -> None:
    it = watched()
    assert GuardRunnable(it.guard).invoke({"question": "q", "contexts": contexts, "answer": TRUE}) == TRUE
    assert it.decisions[0].outcome == "skipped"


# -- the shape of an output ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("output", "placed"),
    [
        ("text", NO),
        ({"answer": "a", "context": "c"}, {"answer": NO, "context": "c"}),
        ({"output": {"answer": "a"}, "n": 1}, {"output": {"answer": NO}, "n": 1}),
        ({"only": "a"}, {"only": NO}),
        ({"one": "a", "two": "b"}, NO),
        ({"role": "assistant", "content": "a"}, {"role": "assistant", "content": NO}),
        (
            {"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]},
            {"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": NO}]},
        ),
        (3, NO),
    ],
)
def test_the_fallback_takes_the_place_of_the_answer_alone(output: Any, placed: Any) -> None:
    assert in_place_of(output, NO) == placed
