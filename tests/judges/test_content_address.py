"""A judgement's address holds all that could change it: nothing old or foreign is ever served."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.judges.classifier.judge import SystemOneJudge
from assay.judges.llm.openai import OpenAIJudge
from assay.judges.prompt_rendering import name_of_mask
from assay.prompts import Criterion, JudgePrompt
from assay.prompts.base import PromptContent, PromptSection
from assay.prompts.schemas import TEXT, record
from assay.testing.judges import a_prompt_of_each_kind

URL = "http://127.0.0.1:1/v1"


def prompt_asking(task: str, title: str = "TEXT", label: str = "said") -> JudgePrompt[Any]:
    @dataclass(frozen=True)
    class Own(JudgePrompt[str]):
        name: ClassVar[str] = "own"
        judgement: ClassVar[Any] = str
        text: str

        def content(self) -> PromptContent:
            return PromptContent((PromptSection(title, self.text),), task, record(**{label: TEXT}), 10)

    return Own("some text")


def test_an_edited_prompt_is_another_question_without_anybody_raising_a_version() -> None:
    asked = prompt_asking("Is it polite?")
    assert asked.key("j") == prompt_asking("Is it polite?").key("j")
    others = [prompt_asking("Is it very polite?"), prompt_asking("Is it polite?", "ANSWER"),
              prompt_asking("Is it polite?", label="verdict")]  # fmt: skip
    assert len({one.key("j") for one in (asked, *others)}) == 4


@given(st.lists(st.text(max_size=4), min_size=2, max_size=4), st.lists(st.text(max_size=4), min_size=2, max_size=4))
def test_no_two_materials_make_one_address(one: list[str], other: list[str]) -> None:
    keys = [Criterion("q", tuple(("T", text) for text in texts)).key("j") for texts in (one, other)]
    assert (keys[0] == keys[1]) == (one == other)


def openai(**options: Any) -> str:
    return OpenAIJudge("m", **{"base_url": URL, "api_key": "k", **options}).address


def test_whatever_can_change_an_answer_changes_the_address() -> None:
    different = [
        openai(),
        openai(base_url=f"{URL}?deployment=a"),
        openai(base_url=f"{URL}?deployment=b"),
        openai(base_url="http://127.0.0.1:2/v1"),
        openai(headers={"x-model": "a"}),
        openai(headers={"x-model": "b"}),
        openai(extra_body={"top_p": 0.5}),
        openai(temperature=1.0),
        openai(seed=None),
        openai(max_output_tokens=100),
        openai(window_tokens=8000),
        openai(structured=False),
        openai(logprobs=True),
        openai(mask=str.upper),
        openai(mask=lambda text: text.lower()),
        openai(mask=lambda text: text.upper()),
        openai(mask=functools.partial(str.replace, __old="a", __new="b")),
        *(
            OpenAIJudge("m", azure_endpoint="http://127.0.0.1:1", api_version=version, api_key="k").address
            for version in ("2024-10-21", "2025-01-01")
        ),
    ]
    assert len(set(different)) == len(different)


def test_what_cannot_change_an_answer_does_not() -> None:
    how = {"api_key": "other", "timeout": 1.0, "deadline": 9.0, "max_attempts": 1, "max_concurrency": 2}
    assert openai() == openai(**how) == openai(prefix_cache=False)


def test_an_identity_stands_for_the_address() -> None:
    """The same local model on another port is the same judge, where the user says so."""
    at = [openai(base_url=f"http://127.0.0.1:{port}/v1", identity="our-llama") for port in (8000, 8001)]
    assert at[0] == at[1] != openai()
    assert "our-llama" in at[0]
    systemone = [SystemOneJudge("m", base_url=f"http://127.0.0.1:{port}/v1", identity="x") for port in (1, 2)]
    assert systemone[0].address == systemone[1].address


def hide(text: str) -> str:
    return text.replace("secret", "x")


class Hider:
    name = "hider 1"

    def __call__(self, text: str) -> str:
        return text


def test_masks_are_told_apart_and_those_without_a_name_are_never_the_same() -> None:
    assert name_of_mask(None) is None
    assert name_of_mask(hide) == name_of_mask(hide)
    assert name_of_mask(Hider()) == name_of_mask(Hider()) == "hider 1"
    for unnamed in (lambda text: text, functools.partial(str.upper), str.lower):
        assert name_of_mask(unnamed) != name_of_mask(unnamed)


def test_a_judge_with_an_unnamed_mask_is_itself_for_as_long_as_it_lives() -> None:
    judge = OpenAIJudge("m", base_url=URL, mask=lambda text: text)
    assert judge.address == judge.address


@pytest.mark.parametrize("secret", ["key-12345678", "header-12345678", "query-12345678"])
def test_no_secret_stands_in_an_address(secret: str) -> None:
    options = {"api_key": "key-12345678", "headers": {"x": "header-12345678"}}
    judge = OpenAIJudge("m", base_url=f"{URL}?token=query-12345678", **options)
    assert secret not in judge.address + judge.fingerprint + repr(judge) + repr(judge.endpoint)


#: What is asked in the kit's prompts, as of schema 4 of the store. A change of wording or of a reader's version changes
#: an address, and is written here; a change of a name alone must not: it would lose the judgements of every store.
ADDRESSES = [
    ("Claims", "10985b5fd7708f9f"),
    ("Support", "10d6ab77d1bf72c0"),
    ("SupportCells", "28ef8cdfe4e07513"),
    ("Usefulness", "4bdbb64df4435df0"),
    ("UsefulSentences", "9e7d7b17fe635b83"),
    ("Directness", "7dcf6e70076c7033"),
    ("Criterion", "9241d4905e9973bb"),
    ("Checklist", "00678ae2c132a5c1"),
    ("Question", "ed1a177c61ae7e81"),
    ("Question", "b2dd91a1656e0028"),
    ("MultipleChoice", "5cd7900bf300fc77"),
    ("Rating", "b54051959e496a36"),
    ("BackQuestions", "924c44d820cd69a8"),
    ("Entities", "73f8b76c9b5c6de4"),
    ("KeyQuestions", "bfe51deef2fb60c0"),
    ("Extraction", "d1c67328b4214452"),
    ("Classification", "ef57a0151f95da4b"),
    ("Similarity", "955f7614d0dd46eb"),
    ("Distance", "40767caeaff7527d"),
]


def test_a_prompt_that_is_renamed_keeps_its_address() -> None:
    assert [(type(prompt).__name__, prompt.key("j")[:16]) for prompt in a_prompt_of_each_kind()] == ADDRESSES
