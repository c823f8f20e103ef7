"""What a user tells a judge about single kinds of prompt: it is sent, and it is part of the judgements' addresses."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import assay
from assay.cli.main import app
from assay.errors import InputError
from assay.judges.classifier.judge import SystemOneJudge
from assay.judges.instructions import Example, JudgeInstructions
from assay.judges.llm.judge import Reply, Request, TextJudge
from assay.judges.resolve import resolve_judge
from assay.judges.scripted_judge import ScriptedJudge
from assay.prompts import Claims, Question, Support
from assay.records import Claim, Context, Sample, Span
from tests._support.servers.openai_server import OpenAIServer

RULE = "Prices are claims of their own."
EXAMPLE = {"texts": {"TEXT": "[1] Tea is 2 euros."}, "reply": {"claims": [{"sentence": 1, "claim": "Tea is 2 euros."}]}}
SAMPLE = Sample(question="How much?", contexts=(Context(text="Tea is 2 euros."),), answer="Tea is 2 euros.")


class Noting(TextJudge):
    """Keeps the tasks that it was given."""

    fingerprint = "noting"
    durable = True

    def __init__(self) -> None:
        self.tasks: list[str] = []

    async def generate(self, request: Request) -> Reply:
        self.tasks.append(request.content.task)
        empty: dict[str, Any] = {"claims": [], "items": [], "sentences": []}
        return Reply(json.dumps({name: empty.get(name, "yes") for name in request.content.schema["properties"]}))


def test_it_follows_the_task_of_its_prompt_and_of_no_other() -> None:
    judge = Noting().with_instructions({"claims": {"text": RULE, "examples": [EXAMPLE]}})
    asyncio.run(judge.find(Claims("Tea is 2 euros.")))
    asyncio.run(judge.find(Question("Is it tea?", {"ANSWER": "Tea."})))
    told, other = judge.tasks
    assert told.startswith("Break the TEXT into claims.")
    assert f"GUIDANCE FOR THIS TASK\n{RULE}" in told
    assert 'TEXT: [1] Tea is 2 euros.\nReply: {"claims": [{"sentence": 1, "claim": "Tea is 2 euros."}]}' in told
    assert "GUIDANCE" not in other


def test_it_changes_the_addresses_of_its_prompt_alone() -> None:
    plain = Claims("Tea is 2 euros.")
    guided = JudgeInstructions.of({"claims": RULE}).add_to(plain)
    other = JudgeInstructions.of({"claims": RULE + " So are dates."}).add_to(plain)
    assert len({one.key("judge") for one in (plain, guided, other)}) == 3
    support = Support((Claim(text="a", span=Span(0, 1)),), ("b",))
    assert JudgeInstructions.of({"claims": RULE}).add_to(support) is support
    assert JudgeInstructions.of({"claims": RULE}).add_to(guided) is guided


@pytest.mark.parametrize("judge", [Noting(), ScriptedJudge(), SystemOneJudge("m", base_url="http://127.0.0.1:9/v1")])
def test_the_judge_that_was_given_stays_as_it_was(judge: assay.judges.BaseJudge) -> None:
    guided = judge.with_instructions({"claims": RULE})
    assert judge.instructions is None
    assert guided.instructions is not None
    assert guided.fingerprint == judge.fingerprint


def test_parts_of_a_prompt_are_asked_with_it_too() -> None:
    whole = JudgeInstructions.of({"claims": RULE}).add_to(Claims("One is two. " * 40))
    division = whole.fit(250)
    assert division is not None
    assert len(division.parts) > 1
    for part in division.parts:
        assert part.full_content is not None
        assert RULE in part.full_content.task
    asked = JudgeInstructions.of({"question": RULE}).add_to(Question("Is it?", {"ANSWER": "Yes."}))
    again = replace(asked, vote=1)
    assert again.full_content is not None
    assert RULE in again.full_content.task


def test_decisions_are_asked_with_it() -> None:
    plain = Support((Claim(text="a", span=Span(0, 1)),), ("b",))
    guided = JudgeInstructions.of({"support": RULE}).add_to(plain)
    assert [question.instructions for question in guided.decisions] == [
        f"{question.instructions}\n\nGUIDANCE FOR THIS TASK\n{RULE}" for question in plain.questions()
    ]


def test_a_rerun_asks_again_only_for_what_the_instructions_are_about(tmp_path: Path) -> None:
    def run(instructions: Any) -> int:
        with OpenAIServer() as server:
            judge = resolve_judge("openai:m", base_url=server.base_url, instructions=instructions, identity="same")
            result = assay.evaluate([SAMPLE], ["faithfulness", "context_recall"][:1], judge=judge, store=tmp_path)
            assert result.metrics["faithfulness"].mean == 1.0
            return len(server.chats)

    assert run(None) == 2  # claims, support
    assert run(None) == 0
    assert run({"claims": RULE}) == 1  # the claims alone: they come out as before, so their support is known
    assert run({"claims": RULE}) == 0
    assert run({"entities": RULE}) == 0


class Raises:
    def __repr__(self) -> str:
        raise RuntimeError("never")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"claim": RULE}, "there is no prompt 'claim'; did you mean 'claims'?"),
        ({"claims": ""}, "instructions: claims: it is empty"),
        ({"claims": 3}, "instructions: claims: expected a text, or a table"),
        ({"claims": Raises()}, "instructions: claims: expected a text, or a table with text and examples, got Raises"),
        ({"claims": {"text": [Raises()]}}, "instructions: claims: expected a text and a list of examples, got dict"),
        ([1], "instructions: expected a table, or the path of a file, got list [1]"),
        (None, "instructions: expected a table, or the path of a file, got NoneType"),
        ({"claims": {"txt": RULE}}, "expected a text, or a table with text and examples"),
        ({"claims": {"examples": [{"texts": {"TEXT": "a"}}]}}, "claims: example 1: reply: expected an object"),
        ({"claims": {"examples": [{"texts": {"TEXT": 1}, "reply": {}}]}}, "claims: example 1: texts: expected a table"),
        ({"claims": "x" * 9000}, "expected at most 8,000 characters, got 9,023"),
    ],
)
def test_wrong_instructions_are_named(given: Any, said: str) -> None:
    with pytest.raises(InputError) as raised:
        JudgeInstructions.of(given)
    assert said in str(raised.value)


def test_files(tmp_path: Path) -> None:
    toml = tmp_path / "rules.toml"
    toml.write_text(
        f'[claims]\ntext = "{RULE}"\n[[claims.examples]]\ntexts = {{ TEXT = "a" }}\nreply = {{ claims = [] }}\n'
    )
    as_json = tmp_path / "rules.json"
    as_json.write_text(
        json.dumps({"claims": {"text": RULE, "examples": [{"texts": {"TEXT": "a"}, "reply": {"claims": []}}]}})
    )
    in_code = JudgeInstructions.of({"claims": {"text": RULE, "examples": [Example({"TEXT": "a"}, {"claims": []})]}})
    assert JudgeInstructions.of(toml) == JudgeInstructions.of(str(as_json)) == in_code
    broken = tmp_path / "broken.toml"
    broken.write_text("[claims")
    with pytest.raises(InputError, match="is neither TOML nor JSON"):
        JudgeInstructions.of(broken)
    with pytest.raises(InputError, match="cannot be read"):
        JudgeInstructions.of(tmp_path / "none.toml")
    broken.write_text("# nothing yet")
    with pytest.raises(InputError, match="says nothing: expected a table for each kind of prompt"):
        JudgeInstructions.of(broken)


def test_judges_that_read_no_instructions_say_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the embedded judge reads no instructions"):
        resolve_judge("embedded", instructions={"claims": RULE})
    rules = tmp_path / "rules.json"
    rules.write_text(json.dumps({"claims": RULE}))
    data = tmp_path / "rows.jsonl"
    data.write_text(json.dumps({"answer": "a", "contexts": ["a"]}) + "\n")
    told = CliRunner().invoke(app, ["score", str(data), "--instructions", str(rules), "--store", str(tmp_path / "s")])
    assert isinstance(told.exception, InputError)
    assert "reads no instructions" in str(told.exception)
