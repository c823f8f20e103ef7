"""The answer of a structured object is one field of it, for every reader."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel

from assay.capture import Run, Trace, sample_of
from assay.capture.assemble import answer_of
from assay.capture.structured_answers import structured_answer


class Cited(BaseModel):
    answer: str
    citations: list[int] = []


class Reply(BaseModel):
    text_to_say: str


class Animal(BaseModel):
    name: str
    sound: str


@dataclass
class Said:
    response: str
    number: int = 1


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Cited(answer="Calm."), "Calm."),
        ({"answer": "Calm.", "citations": [1]}, "Calm."),
        (Said("Calm."), "Calm."),
        (SimpleNamespace(result="Calm.", n=1), "Calm."),
        (Reply(text_to_say="Calm."), "Calm."),
        ({"anything": "Calm."}, "Calm."),
        (Animal(name="cat", sound="purr"), None),
        ({"answer": {"text": "Calm."}, "n": 1}, None),
        (42, None),
        (None, None),
    ],
)
def test_the_field_of_the_answer(value: Any, expected: str | None) -> None:
    assert structured_answer(value) == expected


def test_a_key_names_the_field() -> None:
    assert structured_answer(Animal(name="cat", sound="purr"), "sound") == "purr"
    assert structured_answer(Cited(answer="Calm."), "sound") is None


@pytest.mark.parametrize(
    ("parsed", "raw", "key", "expected"),
    [
        (Cited(answer="Calm."), "", None, "Calm."),
        ({"answer": "Calm.", "n": 1}, "", None, "Calm."),
        (Animal(name="cat", sound="purr"), "", "sound", "purr"),
        (None, "Calm.", None, "Calm."),
        (Animal(name="cat", sound="purr"), "", None, None),
    ],
)
def test_with_the_message_that_it_was_read_from(parsed: Any, raw: str, key: str | None, expected: str | None) -> None:
    outputs = {"raw": SimpleNamespace(type="ai", content=raw), "parsed": parsed, "parsing_error": None}
    assert answer_of(outputs, key) == expected


@pytest.mark.parametrize("error", [ValueError("secret"), "1 validation error: secret"])
def test_an_object_that_could_not_be_read_is_a_failed_exchange(error: Any) -> None:
    outputs = {"raw": SimpleNamespace(type="ai", content=""), "parsed": None, "parsing_error": error}
    sample = sample_of(Trace(Run("r", None, "chain", inputs="Why?", outputs=outputs, ended=1.0)))
    assert sample is not None
    assert (sample.status, sample.answer, sample.metadata["error"]) == ("failed", None, "parsing_error")
    assert "secret" not in repr(sample)
