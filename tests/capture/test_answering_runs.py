"""Answers that one step puts together from the texts of several calls, and what hooks may tell a collector."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from assay.capture import Document, Run, RunCollector, Trace, sample_of, traces_of
from assay.capture.answering_call import answering_runs


def trace(*runs: Run, answer: str) -> Trace:
    return traces_of([Run("root", inputs="q?", outputs=answer, started=0.0, ended=99.0), *runs])[0]


def step(id: str, at: float) -> Run:
    return Run(id, "root", "chain", started=at, ended=at + 10)


def llm(id: str, parent: str, at: float, says: str | None, prompt: str = "p") -> Run:
    return Run(id, parent, "llm", prompt=(prompt,), outputs=says, started=at, ended=at + 1)


def ids(runs: Any) -> list[Any]:
    return [run.id for run in runs]


def test_calls_of_one_step_whose_texts_stand_in_the_answer_gave_it_together() -> None:
    runs = (step("s", 1), llm("a", "s", 2, "Calm."), llm("b", "s", 3, "To heal."), llm("c", "s", 4, "Unused."))
    assert ids(answering_runs(trace(*runs, answer="1: Calm.\n2: To heal."), "1: Calm.\n2: To heal.")) == ["a", "b"]


def test_a_call_in_another_step_whose_text_stands_in_the_answer_by_chance_did_not() -> None:
    answer = "Yes, when calm. And to heal."
    runs = (step("grade", 1), llm("g", "grade", 2, "Yes"), step("s", 3), llm("a", "s", 4, "when calm. And to heal."))
    assert ids(answering_runs(trace(*runs, answer=answer), answer)) == ["a"]


@given(
    st.lists(st.sampled_from([None, "", " ", "Calm.", "To heal.", "Calm. To heal.", "Calm.  To heal.", "Else."])),
    st.sampled_from([" ", "Calm.", "To heal.", "Calm. To heal.", "Calm.\nTo heal."]),
)
def test_spaces_of_the_answer_do_not_matter(texts: list[str | None], answer: str) -> None:
    """An answer that a call gave to the letter is found without comparing words, and so as one that is spaced apart."""
    runs = [step("s", 1), *(llm(str(at), "s", at, says) for at, says in enumerate(texts, 2))]
    spaced = f" {answer.replace(' ', '  ')} "
    assert ids(answering_runs(trace(*runs, answer=answer), answer)) == ids(
        answering_runs(trace(*runs, answer=spaced), spaced)
    )


def test_a_call_that_gave_the_whole_answer_gave_it_alone() -> None:
    runs = (step("s", 1), llm("a", "s", 2, "Calm."), llm("b", "s", 3, "Calm. To heal."))
    assert ids(answering_runs(trace(*runs, answer="Calm. To heal."), "Calm. To heal.")) == ["b"]
    assert answering_runs(trace(answer="Calm."), "Calm.") == ()
    assert ids(answering_runs(trace(*runs, answer="Else."), "Else.")) == ["b"]


def test_contexts_stood_in_the_prompt_of_any_call_that_answered() -> None:
    found = Run("r", "root", "retriever", documents=[Document(t, None, {}) for t in ("one", "two", "three")],
                started=0.5, ended=0.6)  # fmt: skip
    runs = (found, step("s", 1), llm("a", "s", 2, "Calm.", "of one"), llm("b", "s", 3, "To heal.", "of two"))
    sample = sample_of(trace(*runs, answer="Calm. To heal."))
    assert sample is not None
    assert [(c.text, c.in_prompt) for c in sample.contexts or ()] == [("one", True), ("two", True), ("three", False)]


@given(st.lists(st.text(max_size=6), max_size=5), st.text(max_size=20))
def test_every_call_that_answered_is_a_call_and_the_answering_one_is_among_them(said: list[str], answer: str) -> None:
    runs = [llm(str(number), "root", float(number + 1), text) for number, text in enumerate(said)]
    found = answering_runs(trace(*runs, answer=answer), answer)
    assert len(found) == len(set(ids(found)))
    assert set(ids(found)) <= set(ids(runs))
    assert bool(found) == bool(runs)
    if len(found) > 1:
        assert all("".join(str(run.outputs).split()) in "".join(answer.split()) for run in found)


def test_a_collector_is_told_what_a_run_was_given_where_its_inputs_do_not_tell() -> None:
    collector = RunCollector()
    collector.start("root", None, "chain", inputs={"question": "q?"})
    collector.start("r", "root", "retriever")
    collector.end("r", documents=[Document("one", "1", {}), Document("two", "2", {})])
    collector.start("rerank", "root", "reranker", given=["one", "two"])
    collector.end("rerank", documents=[Document("two", "2", {})])
    trace = collector.end("root", "a")
    assert trace is not None
    sample = sample_of(trace)
    assert sample is not None
    assert sample.passages == ("two",)


def test_a_collector_tells_what_is_open() -> None:
    collector = RunCollector(max_traces=7)
    for root in ("a", "b"):
        collector.start(root, None, "chain")
        collector.start(root + "1", root, "tool", name="t")
    assert (collector.max_traces, collector.open_runs, ids(collector.open_roots())) == (7, 4, ["a", "b"])
    run = collector.run_of("b1")
    assert run is not None
    assert (run.name, run.trace.root.id) == ("t", "b")
    collector.end("b", "answer")
    assert (collector.open_runs, ids(collector.open_roots()), collector.run_of("b1")) == (2, ["a"], None)


def test_one_step_that_ran_side_by_side_is_one_step() -> None:
    def work(id: str, at: float, parent: str = "root") -> Run:
        return Run(id, parent, "chain", "work", started=at, ended=at + 10)

    runs = (work("s", 1), llm("a", "s", 2, "Calm."), work("t", 3), llm("b", "t", 4, "To heal."))
    assert ids(answering_runs(trace(*runs, answer="Calm. To heal."), "Calm. To heal.")) == ["a", "b"]
    elsewhere = (
        step("x", 0.5),
        work("s", 1, "x"),
        llm("a", "s", 2, "Calm."),
        work("t", 3),
        llm("b", "t", 4, "To heal."),
    )
    assert ids(answering_runs(trace(*elsewhere, answer="Calm. To heal."), "Calm. To heal.")) == ["b"]
