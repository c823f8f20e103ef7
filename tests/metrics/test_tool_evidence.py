"""What tools gave back to an agent is evidence where no contexts are known, and only there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from assay import Context, EmbeddedJudge, Sample
from assay._util.sync import run_sync
from assay.evaluation.display.explanation import score_in_words
from assay.metrics._context_relevance import ContextRelevance
from assay.metrics._faithfulness import Faithfulness
from assay.metrics._grounded import Grounded
from assay.metrics._hallucination import Hallucination
from assay.metrics.base import Metric
from assay.records import Message, Score, ToolCall, Turn

LENGTH = "The bridge is 503 metres long."
YEAR = "The bridge was opened in 1932 by the premier."
WAY = (
    Message(role="user", content="How long is it, and when was it opened?"),
    Message(role="assistant", tool_calls=(ToolCall(name="length"), ToolCall(name="year", output=YEAR))),
    Message(role="tool", content=LENGTH),
    Message(role="assistant", content="The bridge was opened in 1932."),
)
AGENT = Sample(question="When was it opened?", answer="The bridge was opened in 1932.", messages=WAY)


def score(metric: Metric, sample: Sample) -> Score:
    return run_sync(lambda: metric.score(sample, EmbeddedJudge()))


def test_an_answer_from_a_tool_is_faithful_and_its_evidence_says_which_output() -> None:
    found = score(Faithfulness(), AGENT)
    assert found.value == 1.0
    assert found.texts["tools"] == (LENGTH, YEAR)
    (verdict,) = found.verdicts["answer/tools"]
    quote = verdict.evidence[0]
    assert quote.span.of(found.texts["tools"][quote.passage]) == quote.text
    assert f"tool output 2, characters {quote.span.start}–" in score_in_words(found, AGENT)
    assert score(Hallucination(), AGENT).value == 0.0
    assert score(Grounded(), AGENT).parts["grounded"] == 1.0


def test_what_no_tool_said_is_not_faithful() -> None:
    wrong = replace(AGENT, answer="Its architect was Maria Lopez.")
    assert score(Faithfulness(), wrong).value == 0.0
    assert score(Hallucination(), wrong).value == 1.0


def test_contexts_that_are_known_stay_what_counts() -> None:
    of_contexts = score(Faithfulness(), replace(AGENT, contexts=(Context(text=LENGTH),)))
    assert (of_contexts.value, list(of_contexts.verdicts)) == (0.0, ["answer/contexts"])
    nothing = score(Faithfulness(), replace(AGENT, contexts=())).error
    assert nothing is not None
    assert nothing.cause == "no_context"
    earlier = Turn(question="q", answer="a", contexts=(Context(text=LENGTH),))
    assert list(score(Faithfulness(), replace(AGENT, history=(earlier,))).verdicts) == ["answer/conversation"]


@pytest.mark.parametrize("messages", [(), WAY[:1], (Message(role="assistant", tool_calls=(ToolCall(name="year"),)),)])
def test_without_an_output_the_contexts_are_missing(messages: tuple[Message, ...]) -> None:
    missing = score(Faithfulness(), replace(AGENT, messages=messages)).error
    assert missing is not None
    assert missing.cause == "missing_input"


def test_metrics_of_the_retrieval_do_not_read_tools() -> None:
    missing = score(ContextRelevance(), AGENT).error
    assert missing is not None
    assert missing.cause == "missing_input"
