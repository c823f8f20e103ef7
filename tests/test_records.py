"""Every record survives JSON, and a Score refuses what is no number."""

import json
import math
from typing import Any

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
    Record,
    Sample,
    Score,
    ScoredSample,
    Span,
    Turn,
    Unscored,
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
UNSCORED = st.builds(Unscored, cause=st.sampled_from(list(Cause)), message=TEXT, raw=maybe(TEXT))


@st.composite
def scores(draw: st.DrawFn) -> Score:
    outcome: dict[str, Any] = {"value": draw(PROBABILITY)} if draw(st.booleans()) else {"unscored": draw(UNSCORED)}
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
    Span: SPANS, Context: CONTEXTS, Turn: TURNS, Sample: SAMPLES, Claim: CLAIMS, Evidence: EVIDENCE, Cell: CELLS,
    Verdict: VERDICTS, Usage: USAGES, Unscored: UNSCORED, Score: scores(), ScoredSample: SCORED,
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
    reason = Unscored(cause=Cause.PARSE, message="no JSON")
    with pytest.raises(InputError, match="either"):
        Score(metric="m")
    with pytest.raises(InputError, match="either"):
        Score(metric="m", value=0.5, unscored=reason)
    assert Score(metric="m", value=2.0, low=1.0, high=5.0).value == 2.0


def test_from_dict_refuses_bad_scores() -> None:
    """The range holds for stored scores as well, and the error names the field."""
    with pytest.raises(InputError, match=r"Score"):
        Score.from_dict({"metric": "m", "value": 7.0})
    with pytest.raises(InputError, match=r"field 'claim.span.end'"):
        Verdict.from_dict({"label": "yes", "claim": {"text": "t", "span": {"start": 0}}})


def test_equal_content_has_equal_keys() -> None:
    """Metadata is not content; contexts, history and language are."""
    sample = Sample(question="q", answer="a")
    assert sample.key() == Sample(question="q", answer="a", metadata={"x": 1}).key()
    assert sample.key() != Sample(question="q", answer="a", language="tr").key()
    assert Sample(question="q", id="mine").key() == "mine"
