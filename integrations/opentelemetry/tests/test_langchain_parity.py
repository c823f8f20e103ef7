"""What is read from the spans of LangChain's instrumentor is what a handler captured of the same run."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import pytest
from assay_langchain import AssayCallbackHandler
from assay_opentelemetry import read_traces, spans_to_samples

from assay.records import Sample
from integrations.langchain.tests.shapes import SHAPES, Shape, observed
from integrations.llama_index.tests.fakes import Kept
from integrations.opentelemetry.tests.conftest import Exported
from integrations.opentelemetry.tests.unknowns import other_values

#: Shapes of which the spans tell something else, and what.
DIFFERENT = {
    "message_history": "the spans have neither the history nor the name of its session",
    "artifacts_in_history": "the handler hears the second turn only, the instrumentor both",
    "chain_fallback": "the instrumentor loses the parents of what runs within fallbacks",
    "attached_twice": "the instrumentor gives the inner chain a trace of its own",
    "on_the_model": "the handler hears the model alone, the instrumentor the whole chain",
    "iterator": "the instrumentor reads what is the chain's to read, and the chain finds nothing",
    "iterator_listed": "the instrumentor reads what is the chain's to read, and the chain finds nothing",
    "draft_at_a_breakpoint": "a breakpoint raises no exception, and is in no span",
    "human_documents_for_code": "a breakpoint raises no exception, and is in no span",
    "return_direct_in_a_thread": "in spans a breakpoint after a tool would look the same",
    "recorded_in_a_function": "record_context goes to the handler, not into spans",
    "recorded_in_a_tool": "record_context goes to the handler, not into spans",
    "recorded_in_an_async_tool": "record_context goes to the handler, not into spans",
    "recorded_in_tasks_and_threads": "record_context goes to the handler, not into spans",
}
#: Two retrievers at the same moment: which of them started first is the clock's choice.
AT_ONCE = ("tasks_and_threads",)


def seen(samples: Any) -> list[str]:
    """What matters of samples, in an order in which they can be compared; contexts of earlier turns aside."""
    found = []
    for sample in samples:
        assert isinstance(sample, Sample), sample
        one = observed(sample)
        turns = [turn[:2] for turn in one.history]
        calls = [(call.name, call.arguments, call.output) for said in sample.messages for call in said.tool_calls]
        found.append(repr((one.question, one.answer, one.status, turns, one.contexts, sorted(map(repr, calls)))))
    return sorted(found)


def run(shape: Shape, exported: Exported) -> tuple[Kept, dict[str, Any]]:
    """Run a shape; the samples that its handlers captured, and the rules they were given."""
    kept = Kept()
    given: dict[str, Any] = {}

    handlers: list[AssayCallbackHandler] = []

    def attach(**options: Any) -> AssayCallbackHandler:
        given.update(options)
        handlers.append(AssayCallbackHandler(scorer=kept, **options))
        return handlers[-1]

    exported.clear()
    shape.run(attach)
    if shape.group == "Streams":
        gc.collect()  # those that were dropped end now
    for handler in handlers:
        handler.listener.give_up()
    return kept, given


SAME = [one for one in SHAPES if one.name not in (*DIFFERENT, *AT_ONCE)]


@pytest.mark.parametrize(
    "shape",  # every eighth is a short test
    [pytest.param(one, marks=[pytest.mark.long] if n % 8 else [], id=one.name) for n, one in enumerate(SAME)],
)
def test_imported_is_what_was_captured_live(shape: Shape, langchain_spans: Exported) -> None:
    kept, given = run(shape, langchain_spans)
    assert seen(spans_to_samples(langchain_spans.spans, given.get("rules"))) == seen(kept)


@pytest.mark.parametrize("name", sorted(DIFFERENT))
def test_shapes_that_spans_tell_differently_still_do(name: str, langchain_spans: Exported) -> None:
    """So that the list above, and what the documentation says of it, stays true."""
    (shape,) = (one for one in SHAPES if one.name == name)
    kept, _ = run(shape, langchain_spans)
    assert seen(spans_to_samples(langchain_spans.spans)) != seen(kept)


#: Those of them of which spans tell another value; of the others they leave a part unknown.
OTHER = (
    "draft_at_a_breakpoint",
    "human_documents_for_code",
    "artifacts_in_history",
    "chain_fallback",
    "on_the_model",
    "iterator",
    "iterator_listed",
)


@pytest.mark.parametrize("name", sorted(DIFFERENT))
def test_spans_tell_what_was_heard_or_nothing(name: str, langchain_spans: Exported) -> None:
    (shape,) = (one for one in SHAPES if one.name == name)
    kept, given = run(shape, langchain_spans)
    found = [one for one in spans_to_samples(langchain_spans.spans, given.get("rules")) if isinstance(one, Sample)]
    assert bool(other_values(found, kept)) == (name in OTHER)


@pytest.mark.short_cases(2)
@pytest.mark.parametrize("name", ["retrieval_chain", "retriever_tool_with_artifact", "tool_fails"])
def test_sent_over_otlp_it_is_the_same(name: str, langchain_spans: Exported, tmp_path: Path) -> None:
    """Exported by the real exporter, received, written to a file, and read."""
    (shape,) = (one for one in SHAPES if one.name == name)
    kept, _ = run(shape, langchain_spans)
    sent = list(read_traces(langchain_spans.to_otlp(tmp_path / "spans.jsonl")))
    assert seen(sent) == seen(kept)
    assert sent == list(spans_to_samples(langchain_spans.spans))
