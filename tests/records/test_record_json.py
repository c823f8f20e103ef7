"""Records as JSON in one step: what `to_dict` gives, and copies that are not checked again."""

import json
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.records import Context, Message, Sample, Score, ScoredSample, ToolCall, Turn
from assay.records.base import with_clean

TEXTS = st.text(st.characters(exclude_categories=[]), max_size=12)  # half of an emoji, too
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
METADATA = st.dictionaries(TEXTS, VALUES, max_size=3)
CONTEXTS = st.builds(Context, text=TEXTS, id=st.none() | TEXTS, score=st.none() | st.floats(), metadata=METADATA)
SAMPLES = st.builds(
    Sample,
    question=st.none() | TEXTS,
    answer=st.none() | TEXTS,
    contexts=st.none() | st.lists(CONTEXTS, max_size=2).map(tuple),
    history=st.lists(st.builds(Turn, question=TEXTS, answer=TEXTS), max_size=2).map(tuple),
    messages=st.lists(
        st.builds(
            Message,
            role=st.just("assistant"),
            content=TEXTS,
            tool_calls=st.lists(st.builds(ToolCall, name=TEXTS, arguments=METADATA), max_size=2).map(tuple),
        ),
        max_size=2,
    ).map(tuple),
    id=st.none() | TEXTS,
    metadata=METADATA,
)


@given(SAMPLES)
def test_to_json_is_the_json_of_to_dict(sample: Sample) -> None:
    text = sample.to_json()
    assert json.loads(text) == sample.to_dict()
    text.encode()  # UTF-8 can hold it
    assert Sample.from_dict(json.loads(text)) == sample


def test_half_of_an_emoji_in_a_score_is_escaped() -> None:
    score = Score(metric="m", value=1.0, texts={"a": ("\ud83d",)})
    assert json.loads(score.to_json()) == {**score.to_dict(), "texts": {"a": ["\ud83d"]}}
    score.to_json().encode()


def test_what_json_cannot_hold_is_an_error() -> None:
    strange: Any = {"a": (object(),)}
    with pytest.raises(ValueError, match="serialize"):
        Score(metric="m", value=1.0, texts=strange).to_json()


@given(CONTEXTS, st.none() | st.booleans())
def test_a_copy_with_clean_values_is_what_replace_makes(context: Context, in_prompt: bool | None) -> None:
    assert with_clean(context, in_prompt=in_prompt) == replace(context, in_prompt=in_prompt)


def test_a_class_that_a_user_made_of_a_record_is_copied_whole() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Noted(Score):
        note: str = ""

    found = with_clean(Noted(metric="m", value=0.5, note="mine"), judge="j")
    assert (found.note, found.judge, found.value) == ("mine", "j", 0.5)


def test_scored_samples_too() -> None:
    scored = ScoredSample(sample=Sample(id="1", answer="é"), scores={"m": Score(metric="m", value=1.0)})
    assert json.loads(scored.to_json()) == scored.to_dict()
