"""Which documents are the contexts: what retrieval delivered to the step that answered, in order, each once."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.capture import CaptureRules, Document, Run, samples_of, traces_of
from assay.capture.contexts import contexts_under, unique_contexts
from assay.records import Context, Sample
from assay.records.images import data_uri
from tests._support.servers.sight import drawn

ANSWER = "Cats purr."


def found(*texts: str) -> list[Document]:
    return [Document(text, None, {}) for text in texts]


def chain(*below: Run, outputs: Any = ANSWER, documents: Any = None) -> Sample:
    """The sample of a root with these runs below it, in this order; runs without a parent are the root's children."""
    root = Run(
        "root", None, "chain", "rag", inputs="Why?", outputs=outputs, documents=documents, started=0.0, ended=99.0
    )
    for n, run in enumerate(below, 1):
        run.started = float(n)
        run.ended = float(n) + 0.5
        run.parent = run.parent or "root"
    (trace,) = traces_of([root, *below])
    (sample,) = samples_of(trace)
    return sample


def texts(sample: Sample) -> list[str] | None:
    return None if sample.contexts is None else [context.text for context in sample.contexts]


def retriever(id: str, *documents: str, parent: str | None = None) -> Run:
    return Run(id, parent, "retriever", documents=found(*documents))


def test_retrievers_in_order_of_start_each_text_once() -> None:
    assert texts(chain(retriever("r1", "a", "b"), retriever("r2", "b", "c"))) == ["a", "b", "c"]


def test_a_retriever_that_found_nothing_is_not_no_retriever() -> None:
    sample = chain(retriever("r1"))
    assert sample.contexts == ()
    assert "no_context" not in sample.metadata


@pytest.mark.parametrize(("score", "expected"), [(True, None), (0.5, 0.5), ("0.5", None), (float("nan"), None)])
def test_a_score_is_a_number(score: Any, expected: float | None) -> None:
    run = Run("r1", None, "retriever", documents=[Document("a", None, {"score": score})])
    (context,) = chain(run).contexts or ()
    assert context.score == expected


def test_only_the_outermost_retriever_counts() -> None:
    inner = retriever("inner", "a", "b", "c", parent="outer")
    middle = Run("middle", "outer", "chain")
    deep = retriever("deep", "d", parent="middle")
    assert texts(chain(retriever("outer", "b"), inner, middle, deep)) == ["b"]


def test_a_chain_around_a_retriever_that_passes_on_fewer_documents_delivered_those() -> None:
    around = Run("around", None, "chain", documents=found("c", "a"))
    assert texts(chain(around, retriever("r", "a", "b", "c", parent="around"))) == ["c", "a"]


def test_a_later_step_that_selects_among_what_was_found_replaces_it() -> None:
    select = Run("select", None, "chain", documents=found("b"), given={"docs": ("a", "b")})
    assert texts(chain(retriever("r1", "a", "b"), retriever("r2", "x"), select)) == ["b", "x"]
    without_inputs = Run("select", None, "chain", documents=found("b"))
    assert texts(chain(retriever("r1", "a", "b"), without_inputs)) == ["b"]


def test_a_later_step_that_rewrites_what_was_found_replaces_it() -> None:
    compress = Run("compress", None, "chain", documents=found("short a"), given={"": ("long a", "long b")})
    assert texts(chain(retriever("r", "long a", "long b"), compress)) == ["short a"]


def test_a_later_step_that_finds_more_adds_it() -> None:
    more = Run("more", None, "chain", documents=found("x"))
    assert texts(chain(retriever("r", "a"), more)) == ["a", "x"]
    searching = Run("node", None, "chain", documents=found("x"), given={"documents": ("a",)})
    assert texts(chain(retriever("r", "a"), searching, retriever("r2", "x", parent="node"))) == ["a", "x"]


def test_a_reranker_replaces_what_it_was_given_or_else_everything() -> None:
    given_some = Run("rank", None, "reranker", documents=found("b"), given={"": ("a", "b")})
    assert texts(chain(retriever("r", "a", "b"), retriever("r2", "z"), given_some)) == ["b", "z"]
    given_unknown = Run("rank", None, "reranker", documents=found("b"))
    assert texts(chain(retriever("r", "a", "b"), given_unknown)) == ["b"]


def test_what_the_answering_step_was_given_counts() -> None:
    node = Run("generate", None, "chain", given={"documents": ("b",)})
    call = Run("llm", "generate", "llm", outputs=ANSWER, prompt=("b",))
    assert texts(chain(retriever("r", "a", "b"), retriever("r2", "b", "c"), node, call)) == ["b"]


def test_a_step_that_retrieves_for_itself_is_not_judged_by_what_it_was_given() -> None:
    node = Run("node", None, "chain", given={"documents": ("old",)})
    call = Run("llm", "node", "llm", outputs=ANSWER)
    assert texts(chain(retriever("first", "old"), node, retriever("r", "new", parent="node"), call)) == ["old", "new"]


def test_a_tools_artifact_stands_for_the_retriever_below_it() -> None:
    tool = Run("tool", None, "tool", "search", documents=found("b"))
    assert texts(chain(tool, retriever("r", "a", "b", parent="tool"))) == ["b"]
    plain = Run("tool", None, "tool", "search")
    assert texts(chain(plain, retriever("r", "a", "b", parent="tool"))) == ["a", "b"]


def test_documents_of_the_root_stand_for_all() -> None:
    assert texts(chain(retriever("r", "a", "b"), documents=found("b"))) == ["b"]


def test_what_the_application_told_of_is_added() -> None:
    node = Run("node", None, "chain")
    node.recorded = tuple(found("told", "a"))
    assert texts(chain(retriever("r", "a"), node)) == ["a", "told"]
    alone = Run("node", None, "chain")
    alone.recorded = tuple(found("told"))
    assert texts(chain(alone)) == ["told"]


@pytest.mark.parametrize(
    ("runs", "why"),
    [
        ([], "no retriever run was seen"),
        ([Run("t", None, "tool", "clock")], "no retriever run was seen, and no tool returned documents (clock)"),
        ([Run("r", None, "retriever", error="OSError")], "the retriever failed"),
        ([Run("r", None, "retriever")], "the texts of what was retrieved were not recorded"),
    ],
)
def test_what_cannot_be_determined_is_declared(runs: list[Run], why: str) -> None:
    sample = chain(*runs)
    assert sample.contexts is None
    assert sample.metadata["no_context"] == why


def test_a_retriever_that_is_still_at_work_is_told_from_one_whose_texts_are_missing() -> None:
    root = Run("root", None, "chain", inputs="Why?", outputs=ANSWER, started=0.0, ended=9.0)
    (trace,) = traces_of([root, Run("r", "root", "retriever", started=1.0)])
    (sample,) = samples_of(trace)
    assert sample.metadata["no_context"] == "the retriever did not end"


def test_documents_attached_to_messages_of_this_turn_count_where_no_run_was_seen() -> None:
    def message(kind: str, content: str, artifact: Any = None) -> Any:
        return SimpleNamespace(type=kind, content=content, artifact=artifact)

    document = SimpleNamespace(page_content="p", id="1", metadata={})
    old = [message("human", "old"), message("tool", "…", [SimpleNamespace(page_content="o", id="0", metadata={})])]
    now = [message("human", "Why?"), message("tool", "…", [document]), message("ai", ANSWER)]
    sample = chain(outputs={"messages": [*old, message("ai", "old answer"), *now]})
    assert texts(sample) == ["p"]
    assert [(turn.question, texts_of_turn(turn)) for turn in sample.history] == [("old", ["o"])]


def texts_of_turn(turn: Any) -> list[str]:
    return [context.text for context in turn.contexts]


def test_contexts_are_marked_by_whether_they_stood_in_the_prompt_of_the_answer() -> None:
    documents = retriever("r", "Cats  purr\nat 25 Hz.", "Dogs bark.", 'She said "no".')
    early = Run("condense", None, "llm", outputs="a better question", prompt=("Dogs bark.",))
    prompt = ('{"passages": ["She said \\"no\\"."]}', "Context: Cats purr at 25 Hz.")
    sample = chain(documents, early, Run("llm", None, "llm", outputs=ANSWER, prompt=prompt))
    assert [context.in_prompt for context in sample.contexts or ()] == [True, False, True]


def test_the_call_that_answered_is_the_one_whose_text_is_the_answer() -> None:
    documents = retriever("r", "a")
    answering = Run("llm", None, "llm", outputs=ANSWER, prompt=("a",))
    title = Run("title", None, "llm", outputs="A title", prompt=("make a title",))
    sample = chain(documents, answering, title)
    assert [context.in_prompt for context in sample.contexts or ()] == [True]


def test_retrieved_pictures_are_pictures_and_their_prompts_are_not_known() -> None:
    """Retrievers hand over base64, data URIs or paths in the place of a text."""
    uri = data_uri(drawn("a bridge"))
    documents = found("A text.", "charts/a.png", uri.partition(",")[2], "charts/b.png", "charts/a.png")
    said = Run("m", None, "llm", "model", outputs=ANSWER, prompt=("A text. Why?",))
    sample = chain(Run("r", None, "retriever", "r", documents=documents), said)
    known = [(context.text, context.image, context.in_prompt) for context in sample.contexts or ()]
    pictures = [("", one, None) for one in ("charts/a.png", uri, "charts/b.png")]
    assert known == [("A text.", None, True), *pictures]


def test_without_a_prompt_nothing_is_said_about_it() -> None:
    assert [context.in_prompt for context in chain(retriever("r", "a")).contexts or ()] == [None]


def test_rules_name_runs_and_keys() -> None:
    def sample(rules: CaptureRules) -> Sample:
        search = Run("s", "root", "tool", "search", outputs={"hits": ["one", "two"], "n": 2}, started=1.0)
        again = Run("s2", "root", "tool", "search", outputs={"hits": ["two", "three"]}, started=2.0)
        rewrite = Run("w", "root", "chain", "rewrite", inputs={"text": "the question"}, started=3.0)
        write = Run("a", "root", "chain", "write", outputs={"draft": "the answer"}, started=4.0)
        root = Run("root", None, "chain", inputs={"x": "x", "y": "y"}, outputs={"a": "1", "b": "2"}, started=0.0)
        (trace,) = traces_of([root, search, again, rewrite, write])
        (made,) = samples_of(trace, rules)
        return made

    rules = CaptureRules(
        question_run="rewrite", question_key="text", answer_run="write", answer_key="draft",
        contexts_run="search", contexts_key="hits",
    )  # fmt: skip
    assert rules.runs == {"rewrite", "write", "search"}
    made = sample(rules)
    assert (made.question, made.answer, texts(made)) == ("the question", "the answer", ["one", "two", "three"])
    missing = sample(CaptureRules(answer_key="a", contexts_run="nobody"))
    assert (missing.answer, missing.contexts) == ("1", None)
    assert missing.metadata["no_context"] == "no run is named 'nobody'"


def test_adjust_has_the_last_word() -> None:
    root = Run("root", None, "chain", inputs="Why?", outputs=ANSWER)
    (trace,) = traces_of([root])
    assert samples_of(trace, CaptureRules(adjust=lambda sample, trace: None)) == []
    (made,) = samples_of(trace, CaptureRules(adjust=lambda sample, trace: Sample(id="mine", answer=trace.root.outputs)))
    assert (made.id, made.answer) == ("mine", ANSWER)


def test_a_web_server_around_the_chain_is_not_the_exchange() -> None:
    server = Run("http", None, "other", "GET /ask", started=0.0)
    first = Run("chain 1", "http", "chain", inputs="one?", outputs="1", started=1.0)
    inside = retriever("r", "a", parent="chain 1")
    inside.started = 1.5
    second = Run("chain 2", "http", "chain", inputs="two?", outputs="2", started=2.0)
    (trace,) = traces_of([second, inside, server, first])
    assert [(s.id, s.question, s.answer, texts(s)) for s in samples_of(trace)] == [
        ("chain 1", "one?", "1", ["a"]),
        ("chain 2", "two?", "2", None),
    ]


@given(st.lists(st.text(max_size=3), max_size=12))
def test_each_once_keeps_the_first_of_each_in_order(words: list[str]) -> None:
    kept = [context.text for context in unique_contexts(Context(text=word) for word in words)]
    assert kept == list(dict.fromkeys(words))


@st.composite
def trees(draw: st.DrawFn) -> list[Run]:
    """Runs of one to three traces; each run's parent is an earlier one of its trace."""
    runs: list[Run] = []
    for t in range(draw(st.integers(1, 3))):
        runs.append(Run(f"{t}:0", None, "chain", inputs=f"q{t}", outputs=f"a{t}", started=float(t)))
        for n in range(1, draw(st.integers(1, 7))):
            parent = f"{t}:{draw(st.integers(0, n - 1))}"
            kind = draw(st.sampled_from(["chain", "retriever", "tool", "reranker", "llm"]))
            documents = found(*draw(st.lists(st.sampled_from("abcd"), max_size=3))) if kind != "llm" else None
            runs.append(Run(f"{t}:{n}", parent, kind, documents=documents, started=t + n / 10))
    return runs


@given(trees(), st.randoms(use_true_random=False))
def test_the_order_in_which_runs_are_read_does_not_matter_nor_do_doubles(runs: list[Run], random: Any) -> None:
    def samples(of: list[Run]) -> list[Sample]:
        return [sample for trace in traces_of(of) for sample in samples_of(trace)]

    expected = samples(list(runs))
    shuffled = runs * 2
    random.shuffle(shuffled)
    assert samples(shuffled) == expected
    assert [sample.answer for sample in expected] == [f"a{t}" for t in range(len(expected))]
    known = {item.text for run in runs for item in run.documents or ()}
    for sample in expected:
        assert set(texts(sample) or ()) <= known


def test_parents_in_a_circle_end() -> None:
    runs = [Run("a", "b", "chain", inputs="q", outputs="x", started=1.0), Run("b", "a", "chain", started=2.0)]
    (trace,) = traces_of(runs)
    assert [sample.answer for sample in samples_of(trace)] == ["x"]


@pytest.mark.parametrize(
    ("documents", "expected"),
    [
        (["Item(namespace=['d'], key='1', value={'text': 'calm'})"], None),  # what a stored trace has of an object
        (["Cats purr (in general) when calm."], ["Cats purr (in general) when calm."]),
        (["Item(key='1')", "Cats purr."], ["Item(key='1')", "Cats purr."]),
        ([], []),
    ],
)
def test_objects_that_were_printed_are_no_passages(documents: list[str], expected: list[str] | None) -> None:
    found = contexts_under({"documents": documents})
    assert (None if found is None else [context.text for context in found]) == expected
