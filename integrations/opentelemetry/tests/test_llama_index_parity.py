"""What is read from the spans of LlamaIndex' instrumentor is what an instrumentation captured of the same run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from assay_llama_index import AssayInstrumentation
from assay_opentelemetry import read_traces, spans_to_samples
from llama_index.core import Settings

from assay.capture import CaptureRules
from assay.records import Sample
from integrations.llama_index.tests import fakes
from integrations.llama_index.tests.shapes import SHAPES, Shape, observed
from integrations.opentelemetry.tests.conftest import Exported
from integrations.opentelemetry.tests.unknowns import other_values

#: Groups of shapes in which spans tell as much as capture hears.
GROUPS = ("Query engines", "Response modes", "Retrievers and post-processors", "Agents", "Errors", "Tools' results")

#: Shapes in them of which the spans tell less, and what.
LESS = {
    "citations": "passages made by the engine are named by ids that no span explains",
    "multi_modal": "images have no text",
    "multi_modal_retriever_query_engine": "images have no text",
    "multi_modal_async": "images have no text",
    "metadata_replacement": "the new text of a node is written nowhere",
    "rewritten": "the new text of a node is written nowhere",
    "added": "nodes that a post-processor adds are named by ids alone",
    "cancelled": "the root of a cancelled agent is never sent",
    "iterator": "what an iterator held stands in the span of whoever read it",
    **dict.fromkeys(
        (
            "engine_synthesize",
            "engine_synthesize_async",
            "synthesizer_alone",
            "synthesizer_with_more",
            "synthesizer_streaming",
            "synthesizer_without_nodes",
            "synthesizer_that_fails",
        ),
        "the span of a synthesizer does not hold the nodes that it was given",
    ),
}


def seen(samples: Any) -> list[str]:
    found = []
    for sample in samples:
        assert isinstance(sample, Sample), sample
        one = observed(sample)
        turns = [turn[:2] for turn in one.history]
        calls = [(call.name, call.arguments, call.output) for said in sample.messages for call in said.tool_calls]
        found.append(repr((one.question, one.answer, one.status, turns, one.contexts, sorted(map(repr, calls)))))
    return sorted(found)


def run(shape: Shape, exported: Exported) -> tuple[fakes.Kept, CaptureRules | None]:
    """Run a shape; the samples that were captured, and the rules that it gave."""
    kept = fakes.Kept()
    given: dict[str, Any] = {}
    attached: list[AssayInstrumentation] = []

    def attach(**options: Any) -> AssayInstrumentation:
        given.update(options)
        attached.append(AssayInstrumentation(scorer=kept, **options).attach())
        return attached[-1]

    exported.clear()
    try:
        shape.run(attach)
        for assay in attached:
            fakes.settled(lambda assay=assay: assay.health().open)
    finally:
        for assay in attached:
            assay.close()
    return kept, given.get("rules")


@pytest.fixture(autouse=True)
def default_llm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Settings, "_llm", fakes.FakeLLM())


CHOSEN = [one for one in SHAPES if one.group in GROUPS]


@pytest.mark.parametrize(
    "shape",  # every eighth is a short test
    [
        pytest.param(one, marks=[pytest.mark.long] if n % 8 else [], id=f"{one.group}-{one.name}")
        for n, one in enumerate(one for one in CHOSEN if one.name not in LESS)
    ],
)
def test_imported_is_what_was_captured_live(shape: Shape, llama_index_spans: Exported) -> None:
    kept, rules = run(shape, llama_index_spans)
    assert seen(spans_to_samples(llama_index_spans.spans, rules)) == seen(kept)


@pytest.mark.parametrize("shape", [one for one in CHOSEN if one.name in LESS], ids=lambda s: f"{s.group}-{s.name}")
def test_shapes_that_spans_tell_less_of_still_do(shape: Shape, llama_index_spans: Exported) -> None:
    """So that the list above stays true. The question, at least, is the same wherever there is a sample."""
    kept, _ = run(shape, llama_index_spans)
    found = list(spans_to_samples(llama_index_spans.spans))
    assert seen(found) != seen(kept)
    assert {one.question for one in found if isinstance(one, Sample)} <= {one.question for one in kept}


def test_sent_over_otlp_it_is_the_same(llama_index_spans: Exported, tmp_path: Path) -> None:
    (shape,) = (one for one in CHOSEN if one.name == "compact")
    kept, _ = run(shape, llama_index_spans)
    assert seen(read_traces(llama_index_spans.to_otlp(tmp_path / "spans.jsonl"))) == seen(kept)


#: Chat engines that the instrumentor hears whole. What it writes does not hold the engine's memory. Of `stream_chat`,
#: which reads the model in a thread of its own, it makes two traces, of which none has question and answer.
CHATS = (
    "simple_chat", "context_chat", "condense_question_chat", "condense_plus_context_chat", "simple_achat",
    "context_achat", "condense_question_achat", "condense_plus_context_achat", "simple_astream_chat",
    "context_astream_chat", "condense_question_streaming_astream_chat", "condense_plus_context_astream_chat",
)  # fmt: skip
HEARD_WHOLE = [*(("Chat engines", name) for name in CHATS), ("Streams", "stream_async")]


@pytest.mark.parametrize(("group", "name"), HEARD_WHOLE)
def test_chats_and_streams_have_all_but_the_memory(group: str, name: str, llama_index_spans: Exported) -> None:
    """Held against what the shape itself says is to be captured."""
    (shape,) = (one for one in SHAPES if (one.group, one.name) == (group, name))
    run(shape, llama_index_spans)
    found = [observed(one) for one in spans_to_samples(llama_index_spans.spans) if isinstance(one, Sample)]
    assert [(one.question, one.answer, one.status, one.contexts) for one in found] == [
        (one.question, one.answer, one.status, one.contexts) for one in shape.expect
    ]


#: Shapes of which spans tell another value, and why.
OTHER = {
    "iterator": "what an iterator held stands in the span of whoever read it",
    "condense_question_streaming_astream_chat": "the stream hides its nodes from a handler",
    "condense_plus_context_astream_chat": "the prompt of an async stream stands in spans alone",
    "own_evaluator": "an evaluator of one's own is in no span, the engine that it asks is",
}


@pytest.mark.parametrize(
    "shape",  # every tenth is a short test
    [
        pytest.param(one, marks=[pytest.mark.long] if n % 10 else [], id=f"{one.group}-{one.name}")
        for n, one in enumerate(SHAPES)
    ],
)
def test_spans_tell_what_was_heard_or_nothing(shape: Shape, llama_index_spans: Exported) -> None:
    kept, rules = run(shape, llama_index_spans)
    found = [one for one in spans_to_samples(llama_index_spans.spans, rules) if isinstance(one, Sample)]
    assert bool(other_values(found, kept)) == (shape.name in OTHER)
