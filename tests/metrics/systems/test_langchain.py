"""LangChain's evaluators: its numbers on scripted samples and ours, and where there is no number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from assay.errors import Cause, InputError
from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics.langchain.embedding_distance import EmbeddingDistance
from assay.metrics.langchain.matching import ExactMatch
from assay.metrics.langchain.string_distance import PairwiseStringDistance, StringDistance
from assay.metrics.systems import named, system_entries
from assay.metrics.systems.base import SystemMetric
from assay.prompts import Criterion, Distance, JudgePrompt, Question, Rating
from assay.records import Message, Sample, ToolCall
from tests.metrics.systems.golden import CASES, agrees, golden, sample_of
from tests.metrics.systems.scoring import score

import texts  # isort: skip  # beside worlds, on the path that golden.py adds
import worlds  # isort: skip

GOLDEN: Mapping[str, Mapping[str, float | None]] = golden("langchain")["values"]
TEXTS = texts.text_pairs()
JSON = texts.json_pairs()


def metric_of(key: str) -> SystemMetric:
    """The metric that a name of the golden file means: the type, and after a space how it was made."""
    name, _, how = key.partition(" ")
    metric = named(f"langchain:{name}@original")
    if how == "counted":
        assert isinstance(metric, StringDistance)
        return StringDistance(metric.distance, normalize_score=False, profile="original")
    return ExactMatch(True, True, True, profile="original") if how else metric


def judge_for(name: str, case: str) -> ScriptedJudge:
    """The judge that says what the driver's script said."""
    chance = worlds.share(name, case)
    return ScriptedJudge(
        criterion=lambda question, vote: chance < 0.5,
        rating=lambda question: 1 + int(chance * (5 if name == "trajectory" else 10)),
        question=lambda question: worlds.pick(("first", "second", "neither"), name, case),
        similarity=worlds.cosine,
        rules={"distance": apart},
    )


def apart(a: str, b: str, measure: Any) -> float:
    import numpy as np

    return Distance(a, (b,), measure).compare(np.array(worlds.embedding(a)), np.array(worlds.embedding(b)))


def sample_for(name: str, case: str) -> Sample:
    if name == "json_schema_validation":
        return Sample(id=case, answer=JSON[case][0], metadata={"schema": texts.SCHEMA})
    if name.startswith("json"):
        return Sample(id=case, answer=JSON[case][0], reference=JSON[case][1])
    if (
        case not in CASES
        or name.split(" ")[0] in ("exact_match", "regex_match")
        or ("embedding" not in name and (name.split(" ")[0].endswith("distance") and not name.startswith("pairwise")))
    ):
        return Sample(id=case, answer=TEXTS[case][0], reference=TEXTS[case][1])
    call = ToolCall(name="search", arguments={"query": "x"}, output="y")
    return sample_of(
        CASES[case],
        metadata={"prediction_b": texts.second(CASES[case])},
        messages=(Message(role="assistant", tool_calls=(call,)),),
    )


@pytest.mark.parametrize("name", sorted(GOLDEN))
def test_every_number_of_langchain_is_ours(name: str) -> None:
    assert len(GOLDEN[name]) >= 40
    for case, expected in GOLDEN[name].items():
        agrees(score(metric_of(name), sample_for(name, case), judge_for(name, case)), expected)


def test_every_type_of_evaluator_has_an_entry() -> None:
    assert set(golden("langchain")["exports"]) <= set(system_entries("langchain"))


def test_every_entry_has_a_label_of_its_own() -> None:
    labels = [entry.make().label for entry in system_entries("langchain").values()]
    assert len(set(labels)) == len(labels)


# ---- where there is no number


@pytest.mark.parametrize(
    ("name", "sample", "cause"),
    [
        ("qa", Sample(question="q", answer="a"), Cause.MISSING_INPUT),
        ("qa", Sample(question="q", answer=" ", reference="r"), Cause.NO_CLAIMS),
        ("context_qa", Sample(question="q", answer="a", contexts=()), Cause.NO_CONTEXT),
        ("criteria", Sample(answer="a"), Cause.MISSING_INPUT),
        ("labeled_criteria", Sample(question="q", answer="a"), Cause.MISSING_INPUT),
        ("score_string", Sample(answer="a"), Cause.MISSING_INPUT),
        ("pairwise_string", Sample(question="q", answer="a"), Cause.MISSING_INPUT),
        ("trajectory", Sample(question="q", answer="a"), Cause.MISSING_INPUT),
        ("string_distance", Sample(answer="", reference="r"), Cause.NO_CLAIMS),
        ("pairwise_string_distance", Sample(answer="a"), Cause.MISSING_INPUT),
        ("embedding_distance", Sample(answer="a"), Cause.MISSING_INPUT),
        ("exact_match", Sample(answer="a"), Cause.MISSING_INPUT),
        ("exact_match@original", Sample(answer="a"), Cause.MISSING_INPUT),
        ("regex_match", Sample(answer="a", reference="(["), Cause.MISSING_INPUT),
        ("json_equality", Sample(answer="no json", reference="{}"), Cause.NOT_APPLICABLE),
        ("json_edit_distance", Sample(answer="{}", reference="no json"), Cause.NOT_APPLICABLE),
        ("json_schema_validation", Sample(answer="{}"), Cause.MISSING_INPUT),
        ("json_schema_validation", Sample(answer="{}", reference='{"type": "nothing"}'), Cause.NOT_APPLICABLE),
    ],
)
def test_nothing_to_measure_is_skipped(name: str, sample: Sample, cause: Cause) -> None:
    judge = ScriptedJudge(
        criterion=lambda *_: True, rating=lambda _: 1, question=lambda _: "first", similarity=worlds.cosine
    )
    found = score(named(f"langchain:{name}"), sample, judge)
    assert found.value is None
    assert found.error is not None
    assert found.error.cause is cause


@pytest.mark.parametrize(
    ("kind", "argument"), [(StringDistance, "cosine"), (EmbeddingDistance, "jaro"), (PairwiseStringDistance, "x")]
)
def test_unknown_distances_are_refused(kind: Any, argument: str) -> None:
    with pytest.raises(InputError, match="distance"):
        kind(argument)


def test_what_is_judged_stands_in_no_question() -> None:
    seen: list[JudgePrompt[Any]] = []

    class Listening(ScriptedJudge):
        async def answer(self, prompts: Any) -> Any:
            seen.extend(prompts)
            return await super().answer(prompts)

    sample = Sample(
        question="QQQ",
        answer="AAA",
        reference="RRR",
        metadata={"prediction_b": "BBB"},
        messages=(Message(role="assistant", tool_calls=(ToolCall(name="TTT"),)),),
    )
    judge = Listening(criterion=lambda *_: True, rating=lambda _: 1, question=lambda _: "first")
    for name in ("qa", "labeled_criteria", "labeled_score_string", "labeled_pairwise_string", "trajectory"):
        assert score(named(f"langchain:{name}"), sample, judge).value is not None
    assert {type(prompt) for prompt in seen} == {Criterion, Rating, Question}
    for prompt in seen:
        content = prompt.content()
        assert content is not None
        assert not any(text in content.task for text in ("QQQ", "AAA", "RRR", "BBB", "TTT"))
