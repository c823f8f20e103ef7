"""`assay judge batching`: agrees, differs or cannot tell, and what is kept of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay import evaluate
from assay.analysis.judges.batching_check import BatchingReport, check_batching, overall
from assay.cli.main import app
from assay.errors import Cause, InputError, JudgeFailure
from assay.judges import question_batching
from assay.judges.llm.judge import Reply, Request
from assay.judges.scripted_judge import ScriptedJudge
from assay.prompts.base import PromptContent
from assay.store.store import Store
from tests._support.servers.openai_server import OpenAIServer
from tests.judges.plain import Plain, kind

WORDS = ("red", "green", "blue", "old", "new", "tall", "wide", "loud")


def rows(count: int) -> list[dict[str, Any]]:
    """Each of 2 claims of the answer, of which the first stands in a passage, and of 2 claims of the reference."""
    made = []
    for n in range(count):
        one, two, three = (f"Thing {n} is {WORDS[(n + k) % 8]}." for k in range(3))
        contexts = [f"{one} Indeed.", "It rained.", f"Once more: {three}"]
        made.append({"question": f"What is thing {n}?", "contexts": contexts,
                     "answer": f"{one} {two}", "reference": f"{three} {one}"})  # fmt: skip
    return made


def first_wins(prompt: PromptContent, reply: dict[str, Any]) -> dict[str, Any]:
    """A position bias: whatever is shown first is supported, and useful."""
    for name, label in (("C1", "supported"), ("P1", "useful")):
        for item in reply.get("items", ()):
            if item["id"] == name:
                item["label"] = label
    return reply


@pytest.mark.long
def test_a_judge_that_reads_texts_alone_agrees_and_is_asked_together_from_then_on(tmp_path: Path) -> None:
    store, judge = Store(tmp_path), Plain()
    found = check_batching(rows(80), judge, store=store, margin=5)
    assert found.verdict == "agrees", str(found)
    assert set(found.groups) == set(question_batching.GROUPS)
    assert {group: part.requests for group, part in found.groups.items()} == dict.fromkeys(question_batching.GROUPS, 80)
    # 3 groups of 2 members each in 80 rows
    assert (found.batched.calls, found.separate.calls) == (240, 480)
    again = Plain()
    result = evaluate(rows(80), ["faithfulness", "context_precision"], again, store=store)
    assert "answer, both_ways, reference" in result.notes[0]
    assert again.kinds() == []  # the check has asked all of it


@pytest.mark.long
def test_a_position_bias_is_caught(tmp_path: Path) -> None:
    found = check_batching(rows(60), Plain(first_wins), store=tmp_path)
    assert found.verdict == "differs", str(found)
    assert question_batching.batched_groups(Plain(), Store(tmp_path)) == frozenset()


def test_few_rows_cannot_tell(tmp_path: Path) -> None:
    found = check_batching(rows(5), Plain(), store=tmp_path)
    assert found.verdict == "inconclusive"
    assert question_batching.batched_groups(Plain(), Store(tmp_path)) == frozenset()


def test_a_rerun_asks_nothing_and_a_later_answer_takes_the_place_of_the_first(tmp_path: Path) -> None:
    check_batching(rows(20), Plain(), store=tmp_path, margin=50)
    assert question_batching.batched_groups(Plain(), Store(tmp_path)) == set(question_batching.GROUPS)
    judge = Plain()
    found = check_batching(rows(20), judge, store=tmp_path)
    assert judge.asked == []
    assert found.verdict == "inconclusive"
    assert question_batching.batched_groups(Plain(), Store(tmp_path)) == frozenset()


@pytest.mark.long
def test_a_bias_in_one_member_of_one_group_leaves_the_others(tmp_path: Path) -> None:
    def useful_with_the_answer(prompt: PromptContent, reply: dict[str, Any]) -> dict[str, Any]:
        expected = next((s.text for s in prompt.material if s.title == "EXPECTED ANSWER"), "")
        if kind(prompt) == "fused" and expected in answers:
            for item in reply["items"]:
                if item["id"].startswith("P"):
                    item["label"] = "useful"
        return reply

    answers = {row["answer"] for row in rows(80)}
    found = check_batching(rows(80), Plain(useful_with_the_answer), store=tmp_path, margin=5)
    verdicts = {group: part.verdict for group, part in found.groups.items()}
    assert verdicts == {"both_ways": "agrees", "answer": "differs", "reference": "agrees"}
    parts = found.groups["answer"].parts
    assert (parts["1 support"].verdict, parts["2 usefulness"].verdict) == ("agrees", "differs")
    assert question_batching.batched_groups(Plain(), Store(tmp_path)) == {"both_ways", "reference"}


def test_what_cannot_be_answered_together_is_counted() -> None:
    def halting(prompt: PromptContent, reply: dict[str, Any]) -> dict[str, Any]:
        return {"items": []} if kind(prompt) == "fused" else reply

    found = check_batching(rows(3), Plain(halting), store=None)
    assert found.verdict == "inconclusive"
    assert all((part.unusable, part.requests) == (3, 0) for part in found.groups.values())


def test_rows_that_fail_or_cannot_be_read_are_counted_and_the_others_compared() -> None:
    class Breaks(Plain):
        async def generate(self, request: Request) -> Reply:
            if any("Thing 1 " in section.text for section in request.content.material):
                raise JudgeFailure(Cause.CONNECTION, "gone")
            return await super().generate(request)

    found = check_batching([*rows(3), {"contexts": 7, "answer": "x"}], Breaks(), store=None)
    assert dict(found.failures) == {"connection": 1, "bad_row": 1}
    assert found.groups["answer"].requests == 2


def test_a_refused_key_ends_it() -> None:
    class Refused(Plain):
        async def generate(self, request: Request) -> Reply:
            raise JudgeFailure(Cause.AUTH, "key refused")

    with pytest.raises(JudgeFailure, match="key refused"):
        check_batching(rows(30), Refused(), store=None)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"margin": 0}, "margin: expected points between 0 and 100, got 0"),
        ({"margin": float("nan")}, "margin: expected points between 0 and 100, got nan"),
        ({"concurrency": 0}, "concurrency: expected at least 1, got 0"),
        ({"judge": ScriptedJudge()}, "goes with a judge that writes"),
        ({"judge": "openai-batch:m"}, "answers in batches cannot be checked"),
        ({"data": [{"question": "Why?"}]}, "no row has an answer or a reference"),
    ],
)
def test_what_cannot_work_is_said(how: dict[str, Any], said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    given: dict[str, Any] = {"data": rows(1), "judge": Plain(), "store": None, **how}
    with pytest.raises(InputError, match=said):
        check_batching(given.pop("data"), given.pop("judge"), **given)


def test_one_that_differs_decides_and_all_must_agree() -> None:
    assert overall(["agrees", "differs", "inconclusive"]) == "differs"
    assert overall(["agrees", "inconclusive"]) == overall([]) == "inconclusive"
    assert overall(["agrees", "agrees"]) == "agrees"


def test_the_command(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    data = tmp_path / "rows.jsonl"
    data.write_text("\n".join(map(json.dumps, rows(4))))
    with OpenAIServer() as server:
        judge = ["--judge", "openai:fake", "--base-url", server.base_url, "--store", str(tmp_path / "s")]
        shown = CliRunner().invoke(app, ["judge", "batching", str(data), *judge])
        assert shown.exit_code == 0, shown.output
        assert shown.stdout.startswith("inconclusive: 4 rows, margin 2 points\n")
        as_json = CliRunner().invoke(app, ["judge", "batching", str(data), *judge, "--json", "--margin", "99"])
        found = json.loads(as_json.stdout)
        assert (found["assay_batching_check"], found["verdict"]) == (1, "agrees")
        scored = CliRunner().invoke(app, ["score", str(data), *judge, "--metrics", "context_recall", "--quiet"])
        assert "asked in one request, by groups" in " ".join(scored.output.split())
        before = server.count("fused")
        apart = [*judge, "--metrics", "context_recall", "--quiet", "--batched-questions", "no"]
        scored = CliRunner().invoke(app, ["score", str(data), *apart])
        assert "asked in one request" not in " ".join(scored.output.split())
        assert server.count("fused") == before


def test_a_report_in_words_cannot_steer_a_terminal() -> None:
    assert "\x1b" not in str(BatchingReport("judge\x1b[2J", 2.0, "inconclusive", 0))


def test_a_configuration_says_how_it_is_asked(tmp_path: Path) -> None:
    from assay.config import configuration

    file = tmp_path / "assay.toml"
    file.write_text('[judge]\nname = "openai:m"\nbatched_questions = "yes"\n')
    found = configuration(file)
    assert found is not None
    assert found.judge.batched_questions == "yes"
    file.write_text('[judge]\nname = "openai:m"\nbatched_questions = "sometimes"\n')
    with pytest.raises(InputError, match=r"batched_questions.*expected 'auto', 'yes', 'no', got 'sometimes'"):
        configuration(file)
