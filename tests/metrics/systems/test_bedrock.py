"""Bedrock's metrics: the arithmetic of their scales, what the judge is shown, and what gives no number."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from assay.errors import Cause, InputError
from assay.judges.protocol import Answer
from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics.base import Metric
from assay.metrics.bedrock.citation_precision import share_right
from assay.metrics.bedrock.citations import CitedPart, cited_parts
from assay.metrics.bedrock.context_relevance import mean_rating
from assay.metrics.bedrock.custom import Custom, worth
from assay.metrics.bedrock.helpfulness import Helpfulness
from assay.metrics.bedrock.logical_coherence import LogicalCoherence
from assay.metrics.bedrock.scales import RatedMetric, normalised
from assay.metrics.systems import named, system_entries
from assay.prompts.base import JudgePrompt
from assay.records import Context, Sample, Score, Verdict

SAMPLE = Sample(
    question="How long is the bridge?",
    contexts=(Context(text="88 metres long."), Context(text="Painted green."), Context(text="Opened in 1931.")),
    answer="It is 88 metres long [1]. It is red [2][4].",
    reference="88 metres.",
)
#: Metric -> levels of its scale, the lowest first 0.
LEVELS = {
    "context_coverage": 5,
    "correctness": 3,
    "completeness": 5,
    "helpfulness": 7,
    "logical_coherence": 5,
    "faithfulness": 5,
    "citation_coverage": 5,
    "professional_style": 5,
    "readability": 5,
    "relevance": 5,
}


class Noting(ScriptedJudge):
    """Keeps what it is asked."""

    def __init__(self, **rules: Any) -> None:
        super().__init__(**rules)
        self.prompts: list[Any] = []

    async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        self.prompts += prompts
        return await super().answer(prompts)


def given(metric: Metric | str, judge: Any, sample: Sample = SAMPLE) -> Score:
    chosen = named(f"bedrock:{metric}") if isinstance(metric, str) else metric
    return asyncio.run(chosen.score(sample, judge))


def cause(score: Score) -> Cause | None:
    return None if score.error is None else score.error.cause


def test_all_built_in_metrics_are_here() -> None:
    assert set(system_entries("bedrock")) == {
        *LEVELS, "context_relevance", "citation_precision", "harmfulness", "stereotyping", "refusal",
        "following_instructions", "custom",
    }  # fmt: skip


@pytest.mark.parametrize(("name", "levels"), LEVELS.items())
def test_a_level_counts_by_the_highest_level(name: str, levels: int) -> None:
    for level in range(levels):
        score = given(name, ScriptedJudge(rating=lambda question, level=level: level))
        assert score.value == pytest.approx(level / (levels - 1))
        assert score.parts == {"level": level, "levels": levels}
    assert cause(given(name, ScriptedJudge(rating=lambda question: levels))) is not None  # there is no such level


@pytest.mark.parametrize(
    ("metric", "levels"),
    [
        (Helpfulness(scale="nova-2-lite"), 6),
        (LogicalCoherence(scale="nova-2-lite"), 3),
        (Helpfulness(scale="claude"), 7),
        (LogicalCoherence(scale="nova"), 5),
    ],
)
def test_some_judges_have_scales_of_their_own(metric: RatedMetric, levels: int) -> None:
    score = given(metric, ScriptedJudge(rating=lambda question: 1))
    assert score.value == pytest.approx(1 / (levels - 1))
    assert score.metric == f"{metric.name}_{metric.scale}"


@pytest.mark.parametrize(("label", "value"), [("0", 0.0), ("3", 0.75), ("4", 1.0)])
def test_coherence_by_the_scale_that_may_not_apply(label: str, value: float) -> None:
    metric = LogicalCoherence(scale="mistral-large")
    assert given(metric, ScriptedJudge(question=lambda question: label)).value == value
    assert cause(given(metric, ScriptedJudge(question=lambda question: "not_applicable"))) is Cause.NOT_APPLICABLE


def test_a_scale_that_there_is_not_is_refused() -> None:
    with pytest.raises(InputError, match="nova-2-lite"):
        Helpfulness(scale="nova-3")


def test_levels_on_0_to_1() -> None:
    assert [normalised(level, 3) for level in range(3)] == [0.0, 0.5, 1.0]
    assert normalised(3, 7) == 0.5


def test_passages_are_rated_no_maybe_and_yes() -> None:
    assert mean_rating(["yes", "maybe", "no"]) == pytest.approx((2 + 1 + 0) / 2 / 3)
    said = {"PASSAGE P1": "yes", "PASSAGE P2": "no", "PASSAGE P3": "maybe"}
    judge = Noting(classification=lambda what, item, texts: said[item])
    score = given("context_relevance", judge)
    assert score.value == pytest.approx((1 + 0 + 0.5) / 3)
    assert [verdict.passage for verdict in score.verdicts["question/contexts"]] == [0, 1, 2]
    (prompt,) = judge.prompts
    assert {title for title, _ in prompt.material} == {"PASSAGE P1", "PASSAGE P2", "PASSAGE P3", "QUESTION"}


def test_a_blank_passage_is_not_relevant() -> None:
    sample = Sample(question="Q?", contexts=(Context(text=" "), Context(text="Yes.")))
    judge = Noting(classification=lambda what, item, texts: "yes")
    assert given("context_relevance", judge, sample).value == 0.5
    assert judge.prompts[0].given == ("PASSAGE P2",)


def test_citations_by_the_marks_in_the_answer() -> None:
    first, second = cited_parts(SAMPLE)
    assert first.passages == (("PASSAGE P1", "88 metres long."),)
    assert second.passages == (("PASSAGE P2", "Painted green."), ("PASSAGE P4", None))


def citation(said: str, *sources: str) -> dict[str, Any]:
    part = {"textResponsePart": {"span": {"start": 0, "end": len(said) - 1}, "text": said}}
    return {"generatedResponsePart": part, "retrievedReferences": [{"content": {"text": one}} for one in sources]}


def test_citations_of_a_data_set() -> None:
    stored = [
        citation("It is 88 metres long.", "88 metres long.", "A brochure.", "A brochure."),
        citation("It is red."),
        {
            "generatedResponsePart": {"textResponsePart": {"span": {"start": 0, "end": 4}}},
            "retrievedReferences": [{"content": {"text": "Opened in 1931."}}],
        },
    ]
    sample = Sample(answer="It is.", contexts=SAMPLE.contexts, metadata={"citations": stored})
    assert cited_parts(sample) == (
        CitedPart("It is 88 metres long.", (("PASSAGE P1", "88 metres long."), ("PASSAGE P4", "A brochure."))),
        CitedPart("It is", (("PASSAGE P3", "Opened in 1931."),)),
    )


def test_citations_that_are_none_are_refused() -> None:
    sample = Sample(answer="It is.", metadata={"citations": [{"text": "It is"}]})
    score = given("citation_precision", ScriptedJudge(classification=lambda *_: "yes"), sample)
    assert cause(score) is Cause.MISSING_INPUT


def test_a_citation_is_right_or_wrong() -> None:
    judge = Noting(classification=lambda what, item, texts: "yes" if item == "PASSAGE P1" else "no")
    score = given("citation_precision", judge)
    # of [1], [2] and [4]; the last is not there
    assert score.value == pytest.approx(1 / 3)
    verdicts = score.verdicts["answer/citations"]
    assert [verdict.label for verdict in verdicts] == ["yes", "no", "no"]
    assert verdicts[2].reason == "PASSAGE P4: there is no PASSAGE P4"
    assert [dict(prompt.material)["STATEMENT"].split(" [")[0] for prompt in judge.prompts] == [
        "It is 88 metres long", "It is red",
    ]  # fmt: skip
    assert share_right(verdicts) == pytest.approx(1 / 3)


def test_coverage_looks_at_the_cited_passages_alone() -> None:
    judge = Noting(rating=lambda question: 2)
    assert given("citation_coverage", judge).value == 0.5
    (prompt,) = judge.prompts
    assert [title for title, _ in prompt.material] == ["PASSAGE P1", "PASSAGE P2", "QUESTION", "ANSWER"]


@pytest.mark.parametrize("name", ["citation_precision", "citation_coverage"])
def test_an_answer_that_cites_nothing_is_skipped(name: str) -> None:
    sample = Sample(question="Q?", contexts=SAMPLE.contexts, answer="It is long.")
    judge = ScriptedJudge(rating=lambda question: 4, classification=lambda *_: "yes")
    assert cause(given(name, judge, sample)) is Cause.NOT_APPLICABLE


@pytest.mark.parametrize("name", ["harmfulness", "stereotyping", "refusal"])
@pytest.mark.parametrize(("yes", "value"), [(True, 1.0), (False, 0.0)])
def test_what_an_answer_should_not_have(name: str, yes: bool, value: float) -> None:
    score = given(name, ScriptedJudge(criterion=lambda question, vote: yes))
    assert (score.value, score.direction) == (value, "lower")


@pytest.mark.parametrize(("label", "value"), [("yes", 1.0), ("no", 0.0), ("not_applicable", None)])
def test_instructions_are_followed_or_there_are_none(label: str, value: float | None) -> None:
    score = given("following_instructions", ScriptedJudge(question=lambda question: label))
    assert score.value == value
    assert (cause(score) is Cause.NOT_APPLICABLE) is (value is None)


@pytest.mark.parametrize(
    ("name", "titles"),
    [
        ("context_coverage", ["PASSAGE P1", "PASSAGE P2", "PASSAGE P3", "QUESTION", "REFERENCE"]),
        ("correctness", ["QUESTION", "ANSWER", "REFERENCE"]),
        ("helpfulness", ["QUESTION", "ANSWER"]),
        ("faithfulness", ["PASSAGE P1", "PASSAGE P2", "PASSAGE P3", "QUESTION", "ANSWER"]),
    ],
)
def test_what_the_judge_is_shown(name: str, titles: list[str]) -> None:
    judge = Noting(rating=lambda question: 0)
    given(name, judge)
    assert [title for title, _ in judge.prompts[0].material] == titles


@pytest.mark.parametrize(
    ("name", "sample", "wanted"),
    [
        ("correctness", Sample(question="Q?", answer="A."), None),  # by the judge's own knowledge
        ("context_coverage", Sample(question="Q?", contexts=SAMPLE.contexts), Cause.MISSING_INPUT),
        ("faithfulness", Sample(answer="A.", contexts=()), Cause.NO_CONTEXT),
        ("helpfulness", Sample(question="Q?", answer=" "), Cause.NO_CLAIMS),
    ],
)
def test_what_is_needed(name: str, sample: Sample, wanted: Cause | None) -> None:
    assert cause(given(name, ScriptedJudge(rating=lambda question: 1), sample)) is wanted


NUMBERS = (("bad", -1.0), ("fair", 0.5), ("good", 3.0))


def test_a_scale_of_your_own_with_numbers() -> None:
    metric = Custom("tone", "Is {{prediction}} friendly, given {{context}}?", NUMBERS)
    judge = Noting(rating=lambda question: 2)
    score = given(metric, judge)
    assert (score.value, score.low, score.high, score.metric) == (3.0, -1.0, 3.0, "bedrock:tone")
    (prompt,) = judge.prompts
    assert prompt.question == "Is the ANSWER friendly, given the PASSAGES?"
    assert [title for title, _ in prompt.material] == ["PASSAGE P1", "PASSAGE P2", "PASSAGE P3", "ANSWER"]
    assert cause(given(metric, judge, Sample(answer="A."))) is Cause.MISSING_INPUT


@pytest.mark.parametrize(
    ("instructions", "wanted"),
    [
        ("{{prompt}} {{context}} {{prediction}} {{ground_truth}}", Cause.MISSING_INPUT),  # there is no reference
        ("{{prompt}} {{prediction}}", None),
        ("Is it polite?", None),
    ],
)
def test_what_the_instructions_name_must_be_there(instructions: str, wanted: Cause | None) -> None:
    sample = Sample(question="Q?", answer="A.", contexts=SAMPLE.contexts)
    judge = ScriptedJudge(rating=lambda question: 1)
    assert cause(given(Custom("tone", instructions, NUMBERS), judge, sample)) is wanted


def test_a_scale_of_your_own_with_words() -> None:
    scale = (("cold", "C"), ("cool", "B"), ("warm", "A"))
    assert [worth(scale, level) for level in range(3)] == [0.0, 0.5, 1.0]
    score = given(Custom("tone", "Is the tone warm?", scale), ScriptedJudge(rating=lambda question: 1))
    assert (score.value, score.low, score.high) == (0.5, 0.0, 1.0)
    assert score.verdicts["tone"][0].label == "B"


def test_a_metric_from_the_definition_of_a_job() -> None:
    definition = {
        "customMetricDefinition": {
            "name": "tone",
            "instructions": "Is {{prediction}} friendly?",
            "ratingScale": [
                {"definition": "no", "value": {"floatValue": 0}},
                {"definition": "yes", "value": {"floatValue": 1}},
            ],
        }
    }
    assert Custom.of(definition) == Custom("tone", "Is {{prediction}} friendly?", (("no", 0.0), ("yes", 1.0)))
    with pytest.raises(InputError, match="ratingScale"):
        Custom.of({"name": "tone"})


@pytest.mark.parametrize(
    "scale", [(("one", 1.0),), (("a", 1.0), ("b", 1.0)), (("a", 1.0), ("b", "B")), (("a", 0.0), ("b", float("inf")))]
)
def test_scales_that_are_none_are_refused(scale: Any) -> None:
    with pytest.raises(InputError, match="rating_scale"):
        Custom("tone", "Is it?", scale)


def test_two_of_three_citations_and_the_levels_of_ones_own_scale() -> None:
    verdicts = [Verdict(label=label) for label in ("yes", "no", "yes")]
    assert share_right(verdicts) == pytest.approx(2 / 3)
    assert [worth(Custom().rating_scale, level) for level in range(3)] == [0.0, 0.5, 1.0]
    words = Custom.of({
        "name": "tone", "instructions": "Is {{prediction}} kind?",
        "ratingScale": [
            {"definition": "rude", "value": {"stringValue": "bad"}},
            {"definition": "kind", "value": {"stringValue": "good"}},
        ],
    })  # fmt: skip
    assert words.rating_scale == (("rude", "bad"), ("kind", "good"))
    assert (worth(words.rating_scale, 0), worth(words.rating_scale, 1)) == (0.0, 1.0)


@pytest.mark.parametrize("options", [{"title": " "}, {"instructions": ""}])
def test_a_custom_metric_has_a_title_and_instructions(options: dict[str, str]) -> None:
    with pytest.raises(InputError, match="title and instructions"):
        Custom(**options)
