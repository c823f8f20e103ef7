"""What of a sample is asked together: fixed groups, the same scores, and failures that stay where they are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay import evaluate
from assay.errors import Cause, InputError, JudgeFailure
from assay.evaluation.score_sample import score_sample
from assay.judges import question_batching
from assay.judges.cache import JudgementCache
from assay.judges.llm.judge import Reply, Request
from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics.joint_prompts import BatchingJudge, may_hold, members_of
from assay.metrics.names import resolve_metrics
from assay.prompts import Claims, Support, question_batch
from assay.prompts.base import PromptContent
from assay.records import Claim, Context, Sample, Span
from assay.records.images import Image
from assay.store.store import Store
from tests.judges.plain import Plain, kind

METRICS = "faithfulness,context_utilization,context_precision,context_recall,noise_sensitivity_relevant"
TEXT = {"question": "What is red?", "contexts": ["It is red. It is big.", "It is blue.", "Nothing here"]}
ROW = {**TEXT, "answer": "It is red. It is very tall.", "reference": "It is red. It is blue."}
SAMPLE = Sample(
    question=ROW["question"], contexts=tuple(Context(text=text) for text in ROW["contexts"]),
    answer=ROW["answer"], reference=ROW["reference"],
)  # fmt: skip


async def scores(judge: Any, metrics: str = METRICS, sample: Sample = SAMPLE) -> dict[str, Any]:
    scored = await score_sample(sample, resolve_metrics(metrics.split(",")), judge)
    return {name: (score.value, score.error and score.error.cause) for name, score in scored.scores.items()}


async def test_scores_are_those_of_single_readings_for_fewer_calls() -> None:
    """Two texts into claims; then 3 groups, where alone it is 3 readings of claims and 2 of usefulness."""
    alone, together = Plain(), Plain().with_batched_questions("yes")
    assert await scores(together) == await scores(alone.with_batched_questions("no"))
    assert together.kinds() == ["claims", "claims", "fused", "fused", "fused"]
    # twins share the list of what was asked
    assert alone.kinds().count("alone") == 5
    assert "fused" not in alone.kinds()


@pytest.mark.parametrize("name", METRICS.split(","))
async def test_what_a_metric_finds_depends_on_no_other(name: str) -> None:
    """All that a group needs is asked even where one metric needs one member."""

    def marks(content: PromptContent, reply: dict[str, Any]) -> dict[str, Any]:
        for item in reply.get("items", ()):
            item["reason"] = str(hash(content.material))
        return reply

    together = await score_sample(
        SAMPLE, resolve_metrics(METRICS.split(",")), Plain(marks).with_batched_questions("yes")
    )
    alone = await score_sample(SAMPLE, resolve_metrics(name), Plain(marks).with_batched_questions("yes"))
    assert alone.scores[name].verdicts == together.scores[name].verdicts


async def test_without_anything_said_or_stored_it_is_asked_one_by_one() -> None:
    judge = Plain()
    assert judge.batched_questions == "auto"
    await scores(judge)
    assert "fused" not in judge.kinds()


async def test_judgements_of_both_ways_of_asking_never_mix(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for batched_questions, times in (("yes", 1), ("no", 1), ("yes", 2), ("no", 2)):
        judge = Plain()
        evaluate([ROW], METRICS.split(","), judge, store=store, batched_questions=batched_questions)  # type: ignore[arg-type]
        readings = [what for what in judge.kinds() if what != "claims"]
        assert readings == ([] if times == 2 else ["fused"] * 3 if batched_questions == "yes" else ["alone"] * 5)


def lacks(which: str) -> Any:
    """A judge that leaves out of fused replies the items that begin so."""

    def spoil(content: PromptContent, reply: dict[str, Any]) -> dict[str, Any]:
        if kind(content) == "fused":
            reply["items"] = [item for item in reply["items"] if not item["id"].startswith(which)]
        return reply

    return spoil


@pytest.mark.parametrize("which", ["P", "C", "C1"])
async def test_a_judge_that_answers_a_part_is_asked_one_by_one(which: str) -> None:
    judge = Plain(lacks(which)).with_batched_questions("yes")
    assert await scores(judge, "context_recall,context_precision") == await scores(
        Plain(), "context_recall,context_precision"
    )
    # claims; the group, three times; then each alone
    assert judge.kinds() == ["claims", *["fused"] * 3, "alone", "alone"]


async def test_a_failure_is_that_of_its_own_prompt() -> None:
    """Neither together nor alone does this judge say what is useful: what it says of claims stays."""

    def spoil(content: PromptContent, reply: dict[str, Any]) -> dict[str, Any]:
        reply["items"] = [item for item in reply.get("items", ()) if not item["id"].startswith("P")]
        return reply if "claims" not in content.required else {"claims": reply["claims"]}

    found = await scores(Plain(spoil).with_batched_questions("yes"), "context_recall,context_precision")
    assert found["context_recall"] == (1.0, None)
    assert found["context_precision"] == (None, Cause.PARSE)


@pytest.mark.parametrize("cause", [Cause.REFUSED, Cause.TRUNCATED, Cause.CONTENT_FILTER])
async def test_what_is_too_much_together_is_asked_alone(cause: Cause) -> None:
    class Refuses(Plain):
        async def generate(self, request: Request) -> Reply:
            if kind(request.content) == "fused":
                self.asked.append(request.content)
                raise JudgeFailure(cause, "no")
            return await super().generate(request)

    assert await scores(Refuses().with_batched_questions("yes")) == await scores(Plain())


async def test_a_broken_connection_is_not_asked_around() -> None:
    class Breaks(Plain):
        async def generate(self, request: Request) -> Reply:
            if kind(request.content) == "fused":
                self.asked.append(request.content)
                raise JudgeFailure(Cause.CONNECTION, "gone")
            return await super().generate(request)

    judge = Breaks().with_batched_questions("yes")
    assert await scores(judge, "context_recall") == {"context_recall": (None, Cause.CONNECTION)}
    assert judge.kinds() == ["claims", "fused"]


async def test_a_text_that_claims_nothing_belongs_to_no_group() -> None:
    def none(content: PromptContent, reply: dict[str, Any]) -> dict[str, Any]:
        return {"claims": []} if "claims" in content.required else reply

    judge = Plain(none).with_batched_questions("yes")
    found = await scores(judge, "context_precision,context_recall")
    assert found["context_precision"][0] is not None
    assert found["context_recall"] == (None, Cause.NO_CLAIMS)
    assert judge.kinds() == ["claims", "alone"]


@pytest.mark.parametrize("changes", [{"answer": ""}, {"reference": " "}, {"contexts": ()}, {"question": None},
                                     {"contexts": (Context(text=""),)}])  # fmt: skip
async def test_texts_that_are_not_there_change_nothing(changes: dict[str, Any]) -> None:
    from dataclasses import replace

    sample = replace(SAMPLE, **changes)
    assert await scores(Plain().with_batched_questions("yes"), sample=sample) == await scores(Plain(), sample=sample)


async def test_texts_that_are_the_same_are_told_apart_by_their_place() -> None:
    """One passage twice, that is the reference and the answer too."""
    from dataclasses import replace

    text = "It is red."
    sample = replace(SAMPLE, answer=text, reference=text, contexts=(Context(text=text),) * 2)
    assert await scores(Plain().with_batched_questions("yes"), sample=sample) == await scores(Plain(), sample=sample)


async def test_members_follow_from_the_sample() -> None:
    judge = JudgementCache(Plain())
    names = {group: [m.name for m in await members_of(SAMPLE, group, judge)] for group in question_batching.GROUPS}
    assert names == {
        "both_ways": ["support", "support"], "answer": ["support", "usefulness"],
        "reference": ["support", "usefulness"],
    }  # fmt: skip


def test_auto_obeys_what_is_stored_for_this_wording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, judge = Store(tmp_path), Plain()
    assert question_batching.batched_groups(judge, store) == frozenset()
    question_batching.store_check(judge, store, "answer", {"verdict": "agrees"})
    question_batching.store_check(judge, store, "reference", {"verdict": "differs"})
    assert question_batching.batched_groups(judge, store) == {"answer"}
    assert question_batching.batched_groups(judge.with_batched_questions("no"), store) == frozenset()
    assert question_batching.batched_groups(judge.with_batched_questions("yes"), store) == set(question_batching.GROUPS)
    assert question_batching.batched_groups(judge.with_instructions({"support": "Prices count."}), store) == frozenset()
    question_batching.store_check(judge, store, "answer", {"verdict": "inconclusive"})
    assert question_batching.batched_groups(judge, store) == frozenset()
    question_batching.store_check(judge, store, "answer", {"verdict": "agrees"})
    monkeypatch.setattr(question_batch, "TASK", question_batch.TASK + " Be quick.")
    assert question_batching.batched_groups(judge, store) == frozenset()


def test_a_run_says_what_it_asked_together(tmp_path: Path) -> None:
    store, judge = Store(tmp_path), Plain()
    question_batching.store_check(judge, store, "answer", {"verdict": "agrees"})
    result = evaluate([ROW], METRICS.split(","), judge, store=store)
    assert result.notes == ["asked in one request, by groups: answer"]
    assert judge.kinds().count("fused") == 1
    with pytest.raises(InputError, match="batched_questions: expected 'auto', 'yes', 'no', got 'both'"):
        evaluate([ROW], METRICS.split(","), judge, store=store, batched_questions="both")  # type: ignore[arg-type]


def test_judges_that_do_not_write_are_asked_one_by_one() -> None:
    judge = ScriptedJudge(support=lambda claim, passage: "supported", usefulness=lambda question, passage: True)
    assert (
        judge.with_batched_questions("auto").batched_groups
        == judge.with_batched_questions("no").batched_groups
        == frozenset()
    )
    with pytest.raises(InputError, match="goes with a judge that writes"):
        judge.with_batched_questions("yes")


def test_a_store_that_cannot_be_read_asks_one_by_one(tmp_path: Path) -> None:
    class Broken(Store):
        def get_judgement(self, key: str) -> bytes | None:
            raise OSError("gone")

    cache = JudgementCache(Plain(), Broken(tmp_path))
    assert cache.batched_groups == frozenset()
    assert cache.store_error is not None


class Claiming:
    """Makes a claim of every text but these, and says what it was asked."""

    def __init__(self, *silent: str) -> None:
        self.silent = silent
        self.asked: list[Any] = []

    async def find(self, prompt: Any) -> Any:
        self.asked.append(prompt)
        if not isinstance(prompt, Claims):
            return ()
        return () if prompt.text in self.silent else (Claim(text=prompt.text, span=Span(0, len(prompt.text))),)


@pytest.mark.parametrize(
    ("group", "change"),
    [
        ("both_ways", {"answer": " "}), ("both_ways", {"reference": " "}), ("answer", {"answer": " "}),
        ("answer", {"question": None}), ("answer", {"contexts": (Context(text=" "), Context(text=""))}),
    ],
)  # fmt: skip
async def test_where_something_is_missing_nothing_is_asked_for_a_group(group: Any, change: dict[str, Any]) -> None:
    judge: Any = Claiming()
    assert await members_of(replace(SAMPLE, **change), group, judge) == ()
    assert judge.asked == []


async def test_a_text_that_claims_nothing_is_not_read_together_with_the_other() -> None:
    for silent in (ROW["answer"], ROW["reference"]):
        assert await members_of(SAMPLE, "both_ways", Claiming(silent)) == ()  # type: ignore[arg-type]


async def test_one_passage_without_text_does_not_matter() -> None:
    sample = replace(SAMPLE, contexts=(Context(text=""), *SAMPLE.contexts))
    assert len(await members_of(sample, "answer", Claiming())) == 2  # type: ignore[arg-type]


async def test_what_is_of_no_group_is_asked_alone_and_nothing_else() -> None:
    judge: Any = Claiming()
    fusing_ = BatchingJudge(judge, SAMPLE, ("answer",))
    claim = Claim(text="It is red.", span=Span(0, 10))
    picture = (("PASSAGE P1", Image(digest="d", url="https://example.org/a.png")),)
    seen = Support((claim,), SAMPLE.passages, SAMPLE.question, SAMPLE.spoken, images=picture)
    assert await fusing_.find(seen) == ()
    assert judge.asked == [seen]
    assert not may_hold(SAMPLE, "answer", Claims("It is red."))
