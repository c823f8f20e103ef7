"""Metrics of other systems by their names, their profile, and what they give where there is nothing to measure."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import assay
from assay.errors import InputError, JudgeFailure
from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics import ragas, systems
from assay.metrics.names import resolve_metrics
from assay.metrics.systems.base import Entry, given, spelled, table
from assay.records import Context, Sample
from assay.sinks.annotations import annotations_of

JUDGE = ScriptedJudge(support=lambda claim, passage: "supported")
BLANK = Sample(question="When?", contexts=(Context(text=" "),), answer="It opened in 1990.", id="blank")
FULL = replace(BLANK, contexts=(Context(text="It opened in 1990."),), id="full")


def test_a_system_and_a_name() -> None:
    (metric,) = resolve_metrics("ragas:faithfulness")
    assert metric.label == "ragas:faithfulness"
    assert [one.label for one in resolve_metrics("faithfulness, ragas:faithfulness, ragas:faithfulness@original")] == [
        "faithfulness",
        "ragas:faithfulness",
        "ragas:faithfulness@original",
    ]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("ragsa:faithfulness", "there is no system 'ragsa'; did you mean 'ragas'?"),
        ("ragas:faithfullness", "did you mean 'ragas:faithfulness'"),
        ("ragas:faithfulness@2.0", "the only profile is 'original'"),
        ("ragas:", "there is no metric 'ragas:'"),
        # without a system, or with another mark after it
        ("FaithfulnessMetric", "did you mean 'deepeval:faithfulness' or 'multimodal:deepeval_faithfulness'?"),
        ("Builtin.Correctness", "did you mean 'bedrock:correctness'?"),
        ("groundedness_measure_with_cot_reasons", "did you mean 'trulens:groundedness'?"),
        ("ragas.faithfulness", "did you mean 'ragas:faithfulness'?"),
        ("ragas_Faithfulness", "did you mean 'ragas:faithfulness'?"),
        ("faithfulness@original", "did you mean 'ragas:faithfulness@original' or 'deepeval:faithfulness@original'"),
        # of several forms of ours, before what a system calls so
        ("noise_sensitivity", "did you mean 'noise_sensitivity_relevant' or 'noise_sensitivity_irrelevant' or 'ragas:"),
        ("Nugget-Recall", "did you mean 'nugget_recall_answer' or 'nugget_recall_contexts'?"),
        ("ragas_nothing", "`assay metrics` lists all"),
    ],
)
def test_wrong_names_say_what_is_meant(name: str, said: str) -> None:
    with pytest.raises(InputError) as raised:
        resolve_metrics(name)
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("ragas:LLMContextPrecisionWithReference", "ragas:context_precision"),
        ("ragas:LLMContextPrecisionWithReference@original", "ragas:context_precision@original"),
        ("ragas:answer_similarity", "ragas:semantic_similarity"),
        ("ragas:Faithfulness", "ragas:faithfulness"),
        ("ragas:FactualCorrectness", "ragas:factual_correctness"),  # the first of the three modes is the default
        ("ragas:AspectCritique", "ragas:aspect_critique"),  # of an early version
        ("deepeval:FaithfulnessMetric", "deepeval:faithfulness"),
        ("deepeval:HallucinationMetric", "deepeval:hallucination"),
        ("trulens:groundedness_measure_with_cot_reasons", "trulens:groundedness"),
        ("openevals:CORRECTNESS_PROMPT", "openevals:correctness"),
        ("openevals:create_llm_as_judge", "openevals:llm_as_judge"),
        ("bedrock:Builtin.Faithfulness", "bedrock:faithfulness"),
        ("llamaindex:ResponseEvaluator", "llamaindex:faithfulness"),
    ],
)
def test_the_names_that_a_system_has_for_a_metric(name: str, label: str) -> None:
    (metric,) = resolve_metrics(name)
    assert metric.label == label


@pytest.mark.parametrize("system", systems.SYSTEMS)
def test_every_other_name_means_the_metric_that_lists_it(system: str) -> None:
    for name, entry in systems.system_entries(system).items():
        labels = [systems.named(f"{system}:{other}").label for other in entry.also]
        assert labels == [f"{system}:{name}"] * len(labels)


def entry(metric: str, *also: str) -> Entry:
    """An entry of a metric with this name."""
    kind = type(systems.named("ragas:faithfulness"))
    made = type("Made", (kind,), {"name": f"some:{metric}"})
    return replace(systems.system_entries("ragas")["faithfulness"], make=made, also=also)


@pytest.mark.parametrize(
    "listed",
    [
        (entry("one"), entry("one")),
        (entry("one", "Same"), entry("two", "Same")),
        (entry("one", "two"), entry("two")),
        (entry("one"), entry("two", "one")),
    ],
)
def test_a_name_that_means_two_metrics_is_refused(listed: tuple[Entry, ...]) -> None:
    with pytest.raises(InputError, match=r"two metrics are called '(one|two|Same)'"):
        table(*listed)
    assert list(table(entry("one", "One", "Uno"), entry("two", "Two"))) == ["one", "two"]


NEW = """
from dataclasses import replace
from assay.metrics.ragas.faithfulness import ENTRIES as KNOWN, Faithfulness

class Added(Faithfulness):
    name = "ragas:added"

ENTRIES = (replace(KNOWN[0], make=Added, also=(), source="ragas.metrics.Added"),)
"""


def test_a_new_file_in_the_folder_of_a_system_is_all_that_a_metric_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "added.py").write_text(NEW)
    monkeypatch.setattr(ragas, "__path__", [*ragas.__path__, str(tmp_path)])
    monkeypatch.setattr(systems, "_read_folder", systems._read_folder.__wrapped__)
    assert resolve_metrics("ragas:Added")[0].label == "ragas:added"
    assert "ragas:added" in systems.names("ragas")
    sys.modules.pop("assay.metrics.ragas.added")


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("ragas.metrics.Faithfulness", "Faithfulness"),
        ("ragas.metrics.AnswerRelevancy, of 0.0.11", "AnswerRelevancy"),
        ("pack.Similarity(mode='cosine')", "Similarity"),
        ("Amazon Bedrock evaluations, Builtin.Faithfulness", ""),
        ("LangSmith's tutorial on evaluating RAG", ""),
        ("", ""),
    ],
)
def test_what_a_source_calls_it(source: str, name: str) -> None:
    assert spelled(source) == name


@pytest.mark.parametrize(
    ("name", "argument"),
    [
        ("ragas:response_relevancy", "strictness"),
        ("ragas:summarization_score", "questions"),
        ("deepeval:turn_relevancy", "window_size"),
        ("deepeval:summarization", "n"),
        ("llamaindex:hit_rate", "k"),
        ("multimodal:image_coherence", "max_context_size"),
    ],
)
@pytest.mark.parametrize("value", [-1, 2.5, float("nan"), "3", True])
def test_a_number_of_things_is_a_whole_number(name: str, argument: str, value: object) -> None:
    said = "a whole number of at least [01]" if value == -1 else "a whole number( or None)?"
    with pytest.raises(InputError, match=rf"\w+: {argument}: expected {said}, not {value!r}"):
        replace(systems.named(name), **{argument: value})
    replace(systems.named(name), **{argument: 2})


def test_a_value_by_convention_is_marked_and_counts_in_no_mean() -> None:
    result = assay.evaluate(
        [BLANK, FULL], ["ragas:faithfulness", "ragas:faithfulness@original"], judge=JUDGE, store=None
    )
    blank, full = (row.scores["ragas:faithfulness@original"] for row in result)
    assert (blank.value, blank.convention) == (0.0, "nothing was retrieved")
    assert "0.000 by convention: nothing was retrieved" in str(blank)
    assert full.value == 1.0
    assert full.convention is None
    summary = result.metrics["ragas:faithfulness@original"]
    assert (summary.mean, summary.scored, summary.total) == (1.0, 1, 2)
    assert dict(summary.causes) == {"by_convention": 1}
    assert summary.bounds == (0.5, 1.0)  # (0 + 1) / 2 and (1 + 1) / 2
    assert dict(result.metrics["ragas:faithfulness"].causes) == {"no_context": 1}
    worst = result.worst("ragas:faithfulness@original")
    assert worst is not None
    assert worst.scored.sample.id == "full"


def test_trace_stores_are_told_no_number_that_was_not_measured() -> None:
    result = assay.evaluate([BLANK], ["ragas:faithfulness@original"], judge=JUDGE, store=None)
    (annotation,) = annotations_of(next(iter(result)))
    assert (annotation.value, annotation.label, annotation.cause) == (None, "skipped", "by_convention")
    assert annotation.explanation is not None
    assert "by convention" in annotation.explanation


def test_what_two_systems_ask_alike_is_asked_once() -> None:
    judge = ScriptedJudge(support=lambda claim, passage: "supported")
    asyncio.run(assay.aevaluate([FULL], ["faithfulness", "ragas:faithfulness"], judge=judge, store=None))
    assert dict(judge.asked) == {"claims": 1, "support": 1}


@pytest.mark.parametrize("name", ["ragas:bleu_score", "ragas:bleu_score@original"])
def test_without_its_extra_a_metric_says_how_to_install_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    result = assay.evaluate(
        [replace(FULL, reference="It opened in 1990.")],
        [name, "ragas:faithfulness"],
        judge=JUDGE,
        store=None,
    )
    (failure,) = result.errors
    assert (failure.metric, failure.cause) == (name, "missing_extra")
    assert "sacrebleu" in failure.message
    assert "lexical" in failure.message
    assert result.metrics["ragas:faithfulness"].mean == 1.0


def test_what_a_row_is_given_for_a_metric_is_of_its_kind() -> None:
    """True is 1 in Python, and no whole number here."""
    metric = systems.named("ragas:faithfulness")
    sample = Sample(metadata={"yes": True, "one": 1, "text": "a"})
    assert given(sample, metric, "yes", bool) is True
    assert given(sample, metric, "one", int) == 1
    assert given(sample, metric, "none", int, 7) == 7
    for key, kind, expected in (
        ("yes", int, "int, found bool"),
        ("one", bool, "bool, found int"),
        ("text", list, "a list, found str"),
    ):
        with pytest.raises(JudgeFailure, match=f"metadata.'{key}'.: expected {expected}"):
            given(sample, metric, key, kind)
