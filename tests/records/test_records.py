"""Every record survives JSON, and a Score refuses what is no number."""

import json
import math
import re
from collections import OrderedDict
from dataclasses import replace
from datetime import date
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay import records
from assay.errors import Cause, InputError
from assay.records import (
    Cell,
    Claim,
    Context,
    Evidence,
    Message,
    Record,
    Sample,
    Score,
    ScoredSample,
    ScoreError,
    Span,
    ToolCall,
    Turn,
    Usage,
    Verdict,
)

TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
COUNT = st.integers(0, 2**53)
PROBABILITY = st.floats(0, 1)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
METADATA = st.dictionaries(TEXT, JSON, max_size=3)


def tuples(items: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(items, max_size=3).map(tuple)


def maybe(items: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | items


SPANS = st.builds(Span, COUNT, COUNT)
CONTEXTS = st.builds(
    Context,
    text=TEXT,
    id=maybe(TEXT),
    score=maybe(st.floats(allow_nan=False, allow_infinity=False)),
    metadata=METADATA,
)
TURNS = st.builds(Turn, question=TEXT, answer=TEXT, contexts=tuples(CONTEXTS))
TOOL_CALLS = st.builds(ToolCall, name=TEXT, arguments=METADATA, output=maybe(TEXT), id=maybe(TEXT))
ROLES = st.sampled_from(["system", "user", "assistant", "tool"])
MESSAGES = st.builds(Message, role=ROLES, content=TEXT, tool_calls=tuples(TOOL_CALLS))
SAMPLES = st.builds(
    Sample,
    question=maybe(TEXT),
    contexts=maybe(tuples(CONTEXTS)),
    answer=maybe(TEXT),
    reference=maybe(TEXT),
    reference_contexts=maybe(tuples(CONTEXTS)),
    history=tuples(TURNS),
    id=maybe(TEXT),
    ids=st.dictionaries(TEXT, TEXT, max_size=2),
    language=TEXT,
    status=st.sampled_from(["complete", "abandoned", "cancelled", "failed"]),
    metadata=METADATA,
    messages=tuples(MESSAGES),
)
CLAIMS = st.builds(Claim, text=TEXT, span=SPANS)
EVIDENCE = st.builds(Evidence, passage=COUNT, span=SPANS, text=TEXT)
CELLS = st.builds(
    Cell, label=st.sampled_from(["supported", "contradicted", "not_mentioned"]), probability=maybe(PROBABILITY)
)
VERDICTS = st.builds(
    Verdict,
    label=TEXT,
    probability=maybe(PROBABILITY),
    reason=maybe(TEXT),
    claim=maybe(CLAIMS),
    passage=maybe(COUNT),
    cells=tuples(CELLS),
    evidence=tuples(EVIDENCE),
    unlocated=COUNT,
)
USAGES = st.builds(
    Usage,
    calls=COUNT,
    prompt_tokens=maybe(COUNT),
    completion_tokens=maybe(COUNT),
    cached_tokens=maybe(COUNT),
)
SCORE_ERRORS = st.builds(ScoreError, cause=st.sampled_from(list(Cause)), message=TEXT, raw=maybe(TEXT))


@st.composite
def scores(draw: st.DrawFn) -> Score:
    outcome: dict[str, Any] = {"value": draw(PROBABILITY)} if draw(st.booleans()) else {"error": draw(SCORE_ERRORS)}
    if "value" in outcome:
        outcome["convention"] = draw(maybe(TEXT))
    return Score(
        metric=draw(TEXT),
        **outcome,
        direction=draw(st.sampled_from(["higher", "lower"])),
        verdicts=draw(st.dictionaries(TEXT, tuples(VERDICTS), max_size=2)),
        parts=draw(st.dictionaries(TEXT, st.floats(allow_nan=False, allow_infinity=False), max_size=2)),
        texts=draw(st.dictionaries(TEXT, tuples(TEXT), max_size=2)),
        judge=draw(maybe(TEXT)),
        usage=draw(USAGES),
    )


SCORED = st.builds(ScoredSample, sample=SAMPLES, scores=st.dictionaries(TEXT, scores(), max_size=2))
RECORDS: dict[type[Record], st.SearchStrategy[Any]] = {
    Span: SPANS, Context: CONTEXTS, Turn: TURNS, ToolCall: TOOL_CALLS, Message: MESSAGES,
    Sample: SAMPLES, Claim: CLAIMS, Evidence: EVIDENCE, Cell: CELLS,
    Verdict: VERDICTS, Usage: USAGES, ScoreError: SCORE_ERRORS, Score: scores(), ScoredSample: SCORED,
}  # fmt: skip


KINDS = [pytest.param(kind, id=kind.__name__) for kind in RECORDS]


def test_every_record_is_tested_here() -> None:
    """A new record joins the table above."""
    found = {item for item in vars(records).values() if isinstance(item, type) and issubclass(item, Record)}
    assert set(RECORDS) == found - {Record}


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_every_record_survives_json(kind: type[Record], data: st.DataObject) -> None:
    """Through `to_dict`, JSON text as UTF-8 bytes, and `from_dict`."""
    record = data.draw(RECORDS[kind])
    line = json.dumps(record.to_dict(), ensure_ascii=False, allow_nan=False).encode()
    assert kind.from_dict(json.loads(line)) == record


def test_no_contexts_and_unknown_contexts_stay_apart() -> None:
    """An empty tuple means that nothing was retrieved, None that it is not known."""
    empty, unknown = Sample(contexts=()), Sample()
    assert Sample.from_dict(empty.to_dict()).contexts == ()
    assert Sample.from_dict(unknown.to_dict()).contexts is None
    assert empty.content_hash() != unknown.content_hash()


PLAIN = Sample(question="q", contexts=(Context(text="t"),), history=(Turn(question="a", answer="b"),))
PASSAGE = Context(text="t")


@pytest.mark.parametrize(
    "other",
    [
        replace(PLAIN, metadata={"criteria": "Is it polite?"}),
        replace(PLAIN, ids={"otel_trace_id": "1"}),
        replace(PLAIN, contexts=(replace(PASSAGE, id="a"),)),
        replace(PLAIN, contexts=(replace(PASSAGE, id="b"),)),
        replace(PLAIN, contexts=(replace(PASSAGE, score=0.0),)),
        replace(PLAIN, contexts=(replace(PASSAGE, in_prompt=False),)),
        replace(PLAIN, contexts=(replace(PASSAGE, metadata={"id": "a"}),)),
        replace(PLAIN, reference_contexts=(replace(PASSAGE, id="a"),)),
        replace(PLAIN, reference_contexts=(PASSAGE,)),
        replace(PLAIN, history=(Turn(question="a", answer="b", contexts=(replace(PASSAGE, id="a"),)),)),
        replace(PLAIN, messages=(Message(role="user", content="q"),)),
        replace(PLAIN, status="failed"),
    ],
)
def test_samples_that_a_metric_can_tell_apart_have_keys_of_their_own(other: Sample) -> None:
    assert other.key() != PLAIN.key()
    assert Sample.from_dict(json.loads(json.dumps(other.to_dict()))).key() == other.key()


def test_passages_with_the_same_ids_in_other_places_are_told_apart() -> None:
    named = replace(PASSAGE, id="a")
    there = [
        replace(PLAIN, contexts=(named, PASSAGE)),
        replace(PLAIN, contexts=(PASSAGE, named)),
        replace(PLAIN, contexts=(PASSAGE, PASSAGE), reference_contexts=(named,)),
    ]
    assert len({sample.key() for sample in there}) == 3


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_a_stored_sample_is_found_under_the_key_that_it_had(data: st.DataObject) -> None:
    sample = data.draw(RECORDS[Sample])
    assert Sample.from_dict(json.loads(json.dumps(sample.to_dict()))).content_hash() == sample.content_hash()
    assert replace(sample, id="mine").content_hash() == sample.content_hash()


def test_unknown_tokens_stay_unknown() -> None:
    """None is not the default of a token count, and must survive all the same."""
    usage = Usage(calls=1, prompt_tokens=None)
    assert Usage.from_dict(usage.to_dict()) == usage
    assert (usage + Usage(calls=1, prompt_tokens=5)).prompt_tokens is None


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, -0.001, 1.001])
def test_a_score_refuses_what_is_outside_its_range(value: float) -> None:
    """NaN is outside every range."""
    with pytest.raises(InputError, match="outside"):
        Score(metric="m", value=value)


def test_a_score_has_a_value_or_a_reason() -> None:
    """Exactly one of the two."""
    reason = ScoreError(cause=Cause.PARSE, message="no JSON")
    with pytest.raises(InputError, match="either"):
        Score(metric="m")
    with pytest.raises(InputError, match="either"):
        Score(metric="m", value=0.5, error=reason)
    assert Score(metric="m", value=2.0, low=1.0, high=5.0).value == 2.0


def test_from_dict_refuses_bad_scores() -> None:
    """The range holds for stored scores as well, and the error names the field."""
    with pytest.raises(InputError, match=r"Score"):
        Score.from_dict({"metric": "m", "value": 7.0})
    with pytest.raises(InputError, match=r"field 'claim.span.end'"):
        Verdict.from_dict({"label": "yes", "claim": {"text": "t", "span": {"start": 0}}})


def test_equal_content_has_equal_keys() -> None:
    """Metadata is content, since metrics read it; the order of its keys is not."""
    sample = Sample(question="q", answer="a")
    assert sample.key() == Sample(question="q", answer="a", metadata={}, contexts=None).key()
    one, other = ({"x": 1, "y": 2}, {"y": 2, "x": 1})
    assert Sample(question="q", metadata=one).key() == Sample(question="q", metadata=other).key()
    assert sample.key() != Sample(question="q", answer="a", language="tr").key()
    assert Sample(question="q", id="mine").key() == "mine"


# ---- what a sample is given, and what it holds ----

HALF = "cut \ud83d"
WHOLE = "cut \ufffd"


def test_half_an_emoji_is_replaced_at_every_door() -> None:
    """Samples, contexts and turns clean their texts themselves, one character for one."""
    sample = Sample(
        question=HALF,
        answer=HALF,
        reference=HALF,
        contexts=(Context(text=HALF, id=HALF, metadata={HALF: [HALF]}),),
        reference_contexts=(Context(text=HALF),),
        history=(Turn(question=HALF, answer=HALF, contexts=(Context(text=HALF),)),),
        id=HALF,
        ids={HALF: HALF},
        language=HALF,
        metadata={HALF: {HALF: HALF}},
    )
    assert HALF not in str(sample)
    assert (sample.question, sample.id, sample.ids) == (WHOLE, WHOLE, {WHOLE: WHOLE})
    assert sample.metadata == {WHOLE: {WHOLE: WHOLE}}
    json.dumps(sample.to_dict(), ensure_ascii=False).encode()


def test_whole_texts_are_kept_as_they_are() -> None:
    for text in ("", "plain", "naïve 😀", "\x00"):
        assert Sample(answer=text).answer is text


@settings(max_examples=60, deadline=None)
@given(
    text=st.text(st.characters(), max_size=20),  # surrogates included
    metadata=st.dictionaries(
        st.text(st.characters(), max_size=5) | st.integers(),
        st.recursive(
            st.none() | st.floats() | st.integers() | st.text(st.characters(), max_size=9) | st.binary(max_size=3)
            | st.dates() | st.uuids() | st.builds(object),
            lambda inner: st.lists(inner, max_size=3) | st.tuples(inner) | st.dictionaries(st.text(max_size=3), inner),
            max_leaves=6,
        ),
        max_size=4,
    ),
)  # fmt: skip
def test_whatever_a_sample_is_given_it_can_be_stored(text: str, metadata: dict[Any, Any]) -> None:
    """UTF-8, JSON without NaN, and back; cleaning what is clean changes nothing."""
    sample = Sample(question=text, contexts=(Context(text=text, metadata=metadata),), metadata=metadata)
    stored = json.dumps(sample.to_dict(), ensure_ascii=False, allow_nan=False).encode()
    assert Sample.from_dict(json.loads(stored)) == sample
    assert Sample(metadata=sample.metadata).metadata == sample.metadata
    assert len(sample.question or "") == len(text)


def test_metadata_keeps_what_json_can_hold() -> None:
    """The rule of rows: dates in ISO form, numpy's values as Python's, the rest left out."""
    deep: Any = "bottom"
    for _ in range(400):
        deep = [deep]
    given_metadata = {
        "page": 3, "day": date(2026, 11, 22), "numbers": np.arange(2), "one": np.float32(0.5), "object": object(),
        "nan": math.nan, "huge": 10**5000, "nested": {"object": object(), "kept": 1}, "deep": deep, 7: "seven",
    }  # fmt: skip
    kept = dict(Sample(metadata=given_metadata).metadata)
    assert json.dumps(kept.pop("deep")).count("[") <= 25
    assert kept == {
        "page": 3, "day": "2026-11-22", "numbers": [0, 1], "one": 0.5, "nested": {"kept": 1}, "7": "seven",
    }  # fmt: skip
    assert "object" in given_metadata  # the caller's own dict stays as it is


def test_metadata_of_the_caller_is_not_kept() -> None:
    mine: dict[str, Any] = {"page": 1, "tags": ["a"]}
    sample = Sample(metadata=mine)
    mine["page"] = object()
    mine["tags"].append(object())
    assert sample.metadata == {"page": 1, "tags": ["a"]}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Sample(answer=5), "Sample: answer: expected a text, found int"),
        (
            lambda: Sample(contexts=("a text",)),
            "Sample: contexts: expected Context objects, such as Context(text='...'), found str",
        ),
        (lambda: Sample(contexts="a text"), "Sample: contexts: expected a tuple of Context, found str"),
        (lambda: Sample(history=({"question": "q"},)), "Sample: history: expected Turn objects, found dict"),
        (lambda: Sample(status="done"), "Sample: status: expected complete"),
        (lambda: Sample(id=1.5), "Sample: id: expected a text, found float"),
        (lambda: Context(text=None), "Context: text: expected a text, found NoneType"),
        (lambda: Turn(question="q", answer=None), "Turn: answer: expected a text, found NoneType"),
    ],
)
def test_what_is_no_text_is_refused_by_name(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        make()


@pytest.mark.parametrize("empty", [MappingProxyType({}), None, OrderedDict()])
def test_mappings_of_other_kinds_can_be_stored(empty: Any) -> None:
    sample = Sample(ids=empty, metadata=empty, contexts=(Context(text="a", metadata=empty),))
    assert (sample.ids, sample.metadata) == ({}, {})
    sample.to_dict()
    full = Sample(ids=MappingProxyType({"run": "1"}), metadata=MappingProxyType({"page": 1}))
    assert Sample.from_dict(full.to_dict()) == full


def test_lists_and_numbers_as_ids_are_taken() -> None:
    sample = Sample(contexts=[Context(text="a", id=7)], id=7)  # type: ignore[arg-type]
    assert (sample.contexts, sample.id) == ((Context(text="a", id="7"),), "7")
    assert Context(text="a", score=math.inf).score is None
