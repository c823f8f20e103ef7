"""What must hold for every metric, run over all of them.

`OUTCOMES` is the table of docs/metrics.md: what each metric gives for the cases that decide whether users can trust a
mean. "scored" is a number by the metric's own formula.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.errors import Cause, JudgeFailure
from assay.evaluation.score_sample import score_sample
from assay.judges.base import BaseJudge
from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics import METRICS, HarmonicMean
from assay.metrics._answer_correctness import blend, counts, f_beta
from assay.metrics._answer_directness import directness
from assay.metrics._answer_relevancy import mean_cosine
from assay.metrics._aspect_critique import ASPECTS, majority
from assay.metrics._composite import harmonic_mean
from assay.metrics._context_entity_recall import entity_recall
from assay.metrics._context_precision import average_precision, share_useful
from assay.metrics._faithfulness import share_supported
from assay.metrics._grounded import probability_grounded
from assay.metrics._hallucination import share_hallucinated
from assay.metrics._noise_sensitivity import relevant_passages, share_noise
from assay.metrics._nugget_recall import weighted_recall
from assay.metrics._retrieval_calls import new_claims, share_new
from assay.metrics._summarization_score import qa_score
from assay.prompts import JudgePrompt
from assay.records import Context, Message, Sample, Score, ToolCall
from tests._support.laws import check_laws, laws_of

PASSAGES = (
    "Albert Einstein was born in Ulm. Ulm lies on the Danube.",
    "Bread is baked in Ulm.",
    "Einstein was born in 1879. He was born in Spain.",
)
SAMPLE = Sample(
    question="Where and when was Albert Einstein born?",
    contexts=tuple(Context(text=text) for text in PASSAGES),
    answer="Einstein was born in 1879. [3] He was born in Spain. [1] He liked bread.",
    reference="Einstein was born in 1879. He was born in Ulm.",
    id="einstein",
    messages=tuple(
        Message(role="assistant", tool_calls=(ToolCall(name="search", arguments={"query": text[:9]}, output=text),))
        for text in PASSAGES
    ),
)
REFUSAL = "I don't know."
SAID = ("Einstein was born in 1879.", "He was born in Spain.", "He liked bread.")
RIGHT = ("Einstein was born in 1879.", "He was born in Ulm.")
CLAIMS = {SAMPLE.answer: SAID, SAMPLE.reference: RIGHT, f"{SAMPLE.reference}\n": RIGHT, REFUSAL: ()}
SUPPORT = {
    (SAID[0], PASSAGES[2]): SAID[0],
    (SAID[1], PASSAGES[2]): SAID[1],
    (SAID[1], PASSAGES[0]): "contradicted",
    (SAID[0], SAMPLE.reference): SAID[0],
    (RIGHT[0], PASSAGES[2]): RIGHT[0],
    (RIGHT[1], PASSAGES[0]): "Albert Einstein was born in Ulm.",
    (RIGHT[0], SAMPLE.answer): RIGHT[0],
    (RIGHT[1], SAMPLE.reference): RIGHT[1],
}
USEFUL = {
    (SAMPLE.question, text): True for text in (PASSAGES[0], PASSAGES[2], "Albert Einstein was born in Ulm.", SAID[0])
}
ENTITIES = ("Albert Einstein", "Ulm", "Danube", "1879", "Spain", "Einstein")


def entities(text: str) -> list[str]:
    return [name for name in ENTITIES if name in text]


def criterion(question: str, vote: int) -> bool:
    return question not in (ASPECTS["harmfulness"].definition, "Is Ulm named?")


def back_questions(text: str) -> list[str] | None:
    return None if text == REFUSAL else ["When was Einstein born?", "Where was he born?", "What did he like?"]


RULES: dict[str, Any] = {
    "claims": CLAIMS,
    "support": SUPPORT,
    "usefulness": USEFUL,
    "directness": lambda question, answer: answer != REFUSAL,
    "back_questions": back_questions,
    "entities": entities,
    "criterion": criterion,
    "rating": lambda question: 1,
    "key_questions": lambda text: ["Was Einstein born in 1879?", "Is Ulm named?"],
    "similarity": lambda text, other: 0.5,
    "classification": lambda what, item, texts: "vital" if "1879" in item else "okay",
}

#: The values for SAMPLE, with their arithmetic.
VALUES = {
    "faithfulness": 2 / 3,  # 1879 and Spain stand in the contexts, bread does not
    "grounded": 0.0,  # this judge gives no probability, and bread is not supported
    "hallucination": 1 / 3,
    "hallucination_contradicted": 0.0,  # one passage contradicts "Spain", another supports it: support wins
    "citation_accuracy": 1 / 2,  # passage 3 supports the first claim; passage 1 contradicts the second
    "answer_relevancy": 0.5,  # (0.5 + 0.5 + 0.5) / 3
    "answer_directness": 1.0,  # by the label: this judge gives no probability
    "answer_correctness": 0.425,  # TP 1, FP 2, FN 1: F1 = 1 / (1 + 1.5) = 0.4; 0.75 * 0.4 + 0.25 * 0.5
    "semantic_similarity": 0.5,
    "context_precision": 5 / 6,  # useful, not, useful: (1/1 + 2/3) / 2
    "context_utilization": 5 / 6,
    "context_recall": 1.0,
    "context_entity_recall": 1.0,  # 1879, Ulm, Einstein
    "nugget_recall_answer": 1 / 1.5,  # 1879 is vital and there, Ulm okay and not: 1 / (1 + 0.5)
    "nugget_recall_contexts": 1.0,
    "context_relevance": 2 / 5,  # sentences
    "context_relevance_passage": 2 / 3,
    "noise_sensitivity_relevant": 1 / 3,  # "Spain" is wrong and stands in a passage that supports "1879"
    "noise_sensitivity_irrelevant": 0.0,
    "summarization_score": 0.5 * 1 / 2 + 0.5 * (1 - 72 / 130),  # one of two questions; 72 of 130 characters
    "retrieval_calls": 2 / 3,  # the first brings Ulm, the second nothing, the third 1879
    "harmfulness": 0.0,
    "maliciousness": 1.0,
    "coherence": 1.0,
    "correctness": 1.0,
    "conciseness": 1.0,
    "harmonic_mean": 4 / (5 / 2 + 3 / 2 + 1 + 2),  # context relevance, faithfulness, context recall, answer relevancy
}

CASES: dict[str, Sample] = {
    "no claims": replace(SAMPLE, answer=REFUSAL),
    "blank answer": replace(SAMPLE, answer=" \n"),
    "empty retrieval": replace(SAMPLE, contexts=()),
    "no contexts known": replace(SAMPLE, contexts=None, messages=()),
    "no reference": replace(SAMPLE, reference=None),
    "answer = reference": replace(SAMPLE, answer=f"{SAMPLE.reference}\n"),
}
SCORED = "scored"
OUTCOMES: dict[str, tuple[str, ...]] = {
    # metric: no claims, blank answer, empty retrieval, no contexts known, no reference, answer = reference
    "faithfulness": ("no_claims", "no_claims", "no_context", "missing_input", SCORED, SCORED),
    "grounded": ("no_claims", "no_claims", "no_context", "missing_input", SCORED, SCORED),
    "hallucination": ("no_claims", "no_claims", "no_context", "missing_input", SCORED, SCORED),
    "hallucination_contradicted": ("no_claims", "no_claims", "no_context", "missing_input", SCORED, SCORED),
    "citation_accuracy": ("no_claims", "no_claims", "no_context", "missing_input", SCORED, "not_applicable"),
    "answer_relevancy": ("0", "no_claims", SCORED, SCORED, SCORED, SCORED),
    "answer_directness": (SCORED, "no_claims", SCORED, SCORED, SCORED, SCORED),
    "answer_correctness": (SCORED, "no_claims", SCORED, SCORED, "missing_input", "1"),
    "semantic_similarity": (SCORED, "no_claims", SCORED, SCORED, "missing_input", "1"),
    "context_precision": (SCORED, SCORED, "no_context", "missing_input", "missing_input", SCORED),
    "context_utilization": (SCORED, "no_claims", "no_context", "missing_input", SCORED, SCORED),
    "context_recall": (SCORED, SCORED, "0", "missing_input", "missing_input", SCORED),
    "context_entity_recall": (SCORED, SCORED, "0", "missing_input", "missing_input", SCORED),
    "nugget_recall_answer": ("0", "no_claims", SCORED, SCORED, "missing_input", SCORED),
    "nugget_recall_contexts": (SCORED, SCORED, "0", "missing_input", "missing_input", SCORED),
    "context_relevance": (SCORED, SCORED, "no_context", "missing_input", SCORED, SCORED),
    "context_relevance_passage": (SCORED, SCORED, "no_context", "missing_input", SCORED, SCORED),
    "noise_sensitivity_relevant": ("no_claims", "no_claims", "no_context", "missing_input", "missing_input", "0"),
    "noise_sensitivity_irrelevant": ("no_claims", "no_claims", "no_context", "missing_input", "missing_input", "0"),
    "summarization_score": (SCORED, "no_claims", "no_context", "missing_input", SCORED, SCORED),
    "retrieval_calls": (SCORED, SCORED, SCORED, "missing_input", SCORED, SCORED),
    **dict.fromkeys(ASPECTS, (SCORED, "no_claims", SCORED, SCORED, SCORED, SCORED)),
    "harmonic_mean": ("no_claims", "no_claims", "no_context", "missing_input", "missing_input", SCORED),
}

#: How each value follows from what the score itself stores.
RECOMPUTED: dict[str, Callable[[Score], float]] = {
    "faithfulness": lambda s: share_supported(s.verdicts["answer/contexts"]),
    "grounded": lambda s: probability_grounded(s.verdicts["answer/contexts"]),
    "hallucination": lambda s: share_hallucinated(s.verdicts["answer/contexts"]),
    "hallucination_contradicted": lambda s: share_hallucinated(s.verdicts["answer/contexts"], "contradicted"),
    "citation_accuracy": lambda s: share_supported(s.verdicts["answer/citations"]),
    "answer_relevancy": lambda s: mean_cosine(list(s.parts.values())),
    "answer_directness": lambda s: directness(s.verdicts["question/answer"][0]),
    "answer_correctness": lambda s: blend(
        f_beta(*counts(s.verdicts["answer/reference"], s.verdicts["reference/answer"])),
        s.parts["similarity"],
        (0.75, 0.25),
    ),
    "semantic_similarity": lambda s: s.value or 0.0,
    "context_precision": lambda s: average_precision(useful(s, "question+reference/contexts")),
    "context_utilization": lambda s: average_precision(useful(s, "question+answer/contexts")),
    "context_recall": lambda s: share_supported(s.verdicts["reference/contexts"]),
    "context_entity_recall": lambda s: entity_recall(s.texts["reference"], s.texts["contexts"]),
    "nugget_recall_answer": lambda s: nuggets(s, "answer"),
    "nugget_recall_contexts": lambda s: nuggets(s, "contexts"),
    "context_relevance": lambda s: share_useful(s.verdicts["question/sentences"]),
    "context_relevance_passage": lambda s: share_useful(s.verdicts["question/contexts"]),
    "noise_sensitivity_relevant": lambda s: noise(s, "relevant"),
    "noise_sensitivity_irrelevant": lambda s: noise(s, "irrelevant"),
    "summarization_score": lambda s: 0.5 * qa_score(s.verdicts["key_questions/answer"]) + 0.5 * s.parts["conciseness"],
    "retrieval_calls": lambda s: share_new(new_claims(next(iter(s.verdicts.values())), int(s.parts["calls"]))),
    **{name: lambda s: majority(s.verdicts[s.metric]) for name in ASPECTS},
    "harmonic_mean": lambda s: harmonic_mean(list(s.parts.values())),
}

ORDER_MATTERS = {"citation_accuracy", "context_precision", "context_utilization"}


def useful(score: Score, key: str) -> list[bool]:
    return [verdict.label == "useful" for verdict in score.verdicts[key]]


def nuggets(score: Score, against: str) -> float:
    found = [verdict.label == "supported" for verdict in score.verdicts[f"reference/{against}"]]
    return weighted_recall(found, [verdict.label == "vital" for verdict in score.verdicts["importance/reference"]])


def noise(score: Score, mode: Any) -> float:
    verdicts = score.verdicts
    relevant = relevant_passages(verdicts["reference/contexts"])
    return share_noise(verdicts["answer/reference"], verdicts["answer/contexts"], relevant, mode)


def judge(**changes: Any) -> ScriptedJudge:
    return ScriptedJudge(**{**RULES, **changes})


def failing(cause: Cause) -> ScriptedJudge:
    return judge(**dict.fromkeys(RULES, lambda *_: JudgeFailure(cause, "no answer", raw="???")))


class Unable(BaseJudge):
    """A judge that answers nothing, and says so."""

    fingerprint = "unable"

    def cannot(self, prompt: type[JudgePrompt[Any]], language: str = "en") -> JudgeFailure:
        return JudgeFailure(Cause.JUDGE_CANNOT, f"this judge cannot do {prompt.name}")

    async def answer(self, prompts: Any) -> Any:
        raise AssertionError("it was asked")


def outcome(score: Score) -> str:
    if score.error is not None:
        return str(score.error.cause)
    return f"{score.value:g}" if score.value in (0, 1) else SCORED


def test_tables_name_every_metric() -> None:
    assert list(METRICS) == list(OUTCOMES) == list(VALUES) == list(RECOMPUTED)


def law_name_is_the_label(name: str) -> None:
    assert METRICS[name]().label == name


async def law_complete_sample_has_the_value_of_the_formula(name: str) -> None:
    score = await METRICS[name]().score(SAMPLE, judge())
    assert score.error is None
    assert score.value == pytest.approx(VALUES[name], abs=1e-12)


async def law_recomputing_from_what_is_stored_gives_the_same_value(name: str) -> None:
    score = await METRICS[name]().score(SAMPLE, judge())
    assert RECOMPUTED[name](Score.from_dict(json.loads(json.dumps(score.to_dict())))) == score.value


async def law_documented_outcome(name: str) -> None:
    """A case that is documented as a number must not be skipped, nor the other way round."""
    for case in CASES:
        expected = OUTCOMES[name][list(CASES).index(case)]
        found = outcome(await METRICS[name]().score(CASES[case], judge()))
        assert found == expected or (expected == SCORED and found in ("0", "1"))


def test_documentation_has_the_same_table() -> None:
    page = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text(encoding="utf-8")
    lines = page.partition("## What the hard cases give")[2].partition("\n## ")[0].splitlines()
    rows = [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    assert rows[0] == ["metric", *CASES]
    assert {row[0]: tuple(row[1:]) for row in rows[2:]} == OUTCOMES


def law_documentation_says_range_and_direction(name: str) -> None:
    page = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text(encoding="utf-8")
    row = next(line for line in page.splitlines() if line.startswith(f"| `{name}` |"))
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    metric = METRICS[name]()
    assert cells[1] == ", ".join(metric.needs)
    assert cells[3] == f"{metric.low:g} to {metric.high:g}"
    assert cells[4] == metric.direction
    assert cells[5] == ", ".join(prompt.__name__ for prompt in metric.asks)


async def law_missing_input_asks_nothing(name: str) -> None:
    for case in CASES:
        metric, scripted = METRICS[name](), judge()
        score = await metric.score(CASES[case], scripted)
        if metric.missing(CASES[case]) is not None:
            assert not scripted.asked
            assert score.usage.calls == 0
            if score.error is not None and score.error.cause == Cause.MISSING_INPUT:
                assert any(repr(field) in score.error.message for field in metric.needs)


async def law_failed_judge_is_skipped_with_its_cause(name: str) -> None:
    for cause in (Cause.PARSE, Cause.TIMEOUT, Cause.REFUSED):
        score = await METRICS[name]().score(SAMPLE, failing(cause))
        assert score.value is None
        assert score.error is not None
        assert (score.error.cause, score.error.raw) == (cause, "???")


async def law_one_failed_prompt_is_never_a_number(name: str) -> None:
    for rule in RULES:
        metric = METRICS[name]()
        score = await metric.score(SAMPLE, judge(**{rule: lambda *_: JudgeFailure(Cause.TIMEOUT, "too slow")}))
        assert (score.value is None) == (rule in {prompt.rule_name or prompt.name for prompt in metric.asks})


async def law_judge_that_cannot_is_never_asked(name: str) -> None:
    score = await METRICS[name]().score(SAMPLE, Unable())
    assert score.error is not None
    assert score.error.cause == Cause.JUDGE_CANNOT


async def law_score_is_in_range_says_who_judged_and_survives_json(name: str) -> None:
    for case in ("complete", *CASES):
        metric = METRICS[name]()
        score = await metric.score(CASES.get(case, SAMPLE), judge())
        assert (score.metric, score.low, score.high) == (name, metric.low, metric.high)
        assert (score.direction, score.version) == (metric.direction, metric.version)
        numbers = [*score.parts.values(), *([] if score.value is None else [score.value])]
        assert all(map(math.isfinite, numbers))
        assert score.value is None or metric.low <= score.value <= metric.high
        assert Score.from_dict(json.loads(json.dumps(score.to_dict(), allow_nan=False))) == score
        assert score.judge == (None if metric.missing(CASES.get(case, SAMPLE)) else "scripted")


async def law_evidence_stands_where_it_says(name: str) -> None:
    score = await METRICS[name]().score(SAMPLE, judge())
    for key, verdicts in score.verdicts.items():
        against = key.partition("/")[2]
        texts = {
            "contexts": SAMPLE.passages,
            "citations": SAMPLE.passages,
            "calls": SAMPLE.passages,
            "reference": (SAMPLE.reference,),
            "answer": (SAMPLE.answer,),
            "sentences": score.texts.get("sentences", ()),
        }.get(against, ())
        for evidence in (quote for verdict in verdicts for quote in verdict.evidence):
            assert evidence.span.of(texts[evidence.passage] or "") == evidence.text


async def law_order_of_passages_matters_only_to_rankings(name: str) -> None:
    metric, scripted = METRICS[name](), judge()
    orders = itertools.permutations(SAMPLE.contexts or ())
    values = {(await metric.score(replace(SAMPLE, contexts=order), scripted)).value for order in orders}
    assert (len(values) > 1) == (name in ORDER_MATTERS)


async def law_blank_passages_are_an_empty_retrieval(name: str) -> None:
    blank = replace(SAMPLE, contexts=(Context(text=" "), Context(text="\n")))
    empty = await METRICS[name]().score(replace(SAMPLE, contexts=()), judge())
    assert outcome(await METRICS[name]().score(blank, judge())) == outcome(empty)


async def law_same_sample_same_score(name: str) -> None:
    assert await METRICS[name]().score(SAMPLE, judge()) == await METRICS[name]().score(SAMPLE, judge())


LAWS = laws_of(globals())


@pytest.mark.parametrize("name", METRICS)
def test_every_law_holds(name: str) -> None:
    check_laws(LAWS, name)


async def test_all_metrics_together_ask_each_thing_once() -> None:
    """26 metrics, one reading of the texts: two texts split into claims, four matrices, four usefulness vectors.

    Citations are read passage by passage: each of two claims against the one it cites, the wrong one against two more.
    """
    scripted = judge()
    scored = await score_sample(SAMPLE, [make() for make in METRICS.values()], scripted)
    assert scored.values == pytest.approx(VALUES, abs=1e-12)
    assert scripted.asked == {
        "claims": 2,
        "classification": 1,
        "support": 4 + 2 + 2,
        "usefulness": 3,
        "useful_sentences": 1,
        "directness": 1,
        "back_questions": 1,
        "similarity": 2,
        "entities": 2,
        "key_questions": 1,
        "criterion": len(ASPECTS),
        "checklist": 1,
    }
    assert sum(score.usage.calls for score in scored.scores.values()) == scripted.asked.total()


async def test_numbers_from_the_same_verdicts_cannot_contradict_each_other() -> None:
    scored = await score_sample(SAMPLE, [METRICS[n]() for n in ("faithfulness", "hallucination")], judge())
    assert sum(scored.values[name] or 0 for name in scored.values) == 1


async def test_harmonic_mean_agrees_with_its_parts_scored_alone() -> None:
    metric = METRICS["harmonic_mean"]()
    assert isinstance(metric, HarmonicMean)
    whole = await metric.score(SAMPLE, judge())
    for part in metric.metrics:
        assert whole.parts[part.label] == (await part.score(SAMPLE, judge())).value
