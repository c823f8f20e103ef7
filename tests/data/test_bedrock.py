"""Data sets and results of Amazon Bedrock's evaluation jobs: read, written and read again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from assay.cli.main import app
from assay.data import RowError, open_data
from assay.data.bedrock.results import bedrock_result, metric_name
from assay.data.bedrock.write import bedrock_record, write_bedrock
from assay.data.missing_words import is_missing_passage
from assay.errors import Cause, InputError
from assay.metrics.systems import system_entries
from assay.records import Context, Sample, Score, ScoredSample, ScoreError, Turn, Verdict


def text(said: str) -> dict[str, Any]:
    return {"content": [{"text": said}]}


def citation(said: str, start: int, *sources: str) -> dict[str, Any]:
    part = {"textResponsePart": {"span": {"start": start, "end": start + len(said) - 1}, "text": said}}
    return {"generatedResponsePart": part, "retrievedReferences": [{"content": {"text": one}} for one in sources]}


GENERATED = {
    "conversationTurns": [
        {
            "prompt": text("How long is the bridge?"),
            "referenceResponses": [text("88 metres.")],
            "output": {
                "text": "It is 88 metres long.",
                "modelIdentifier": "a-model",
                "knowledgeBaseIdentifier": "a-base",
                "retrievedPassages": {
                    "retrievalResults": [
                        {"name": "p1", "content": {"text": "88 metres long."}, "metadata": {"page": 3}},
                        {"content": {"text": "Painted green."}},
                    ]
                },
                "citations": [citation("It is 88 metres long.", 0, "88 metres long.")],
            },
        }
    ]
}
RETRIEVED = {
    "conversationTurns": [
        {
            "prompt": text("How long is the bridge?"),
            "referenceResponses": [text("88 metres.")],
            "output": {
                "knowledgeBaseIdentifier": "a-base",
                "retrievedResults": {"retrievalResults": [{"name": "p1", "content": {"text": "88 metres long."}}]},
            },
        }
    ]
}
ASKED = {"conversationTurns": [{"prompt": text("How long is the bridge?"), "referenceResponses": [text("88 metres.")]}]}
TALKED = {
    "conversationTurns": [
        {
            "prompt": text("Which bridge?"),
            "referenceResponses": [text("The old one.")],
            "output": {"knowledgeBaseIdentifier": "a-base", "text": "The old one."},
        },
        *GENERATED["conversationTurns"],
    ]
}


def read(record: dict[str, Any]) -> Sample:
    ((_, sample),) = list(open_data([record]))
    assert isinstance(sample, Sample), sample
    return sample


def test_a_row_with_an_answer_of_its_own() -> None:
    sample = read(GENERATED)
    assert (sample.question, sample.answer, sample.reference) == (
        "How long is the bridge?", "It is 88 metres long.", "88 metres.",
    )  # fmt: skip
    assert sample.contexts == (
        Context(text="88 metres long.", id="p1", metadata={"page": 3}),
        Context(text="Painted green."),
    )
    part = sample.metadata["citations"][0]["generatedResponsePart"]["textResponsePart"]
    assert part["span"] == {"start": 0, "end": 20}
    assert (sample.metadata["knowledgeBaseIdentifier"], sample.metadata["modelIdentifier"]) == ("a-base", "a-model")


def test_a_row_that_only_retrieves_has_no_answer() -> None:
    sample = read(RETRIEVED)
    assert sample.answer is None
    assert sample.passages == ("88 metres long.",)


def test_a_row_that_only_asks_has_no_contexts() -> None:
    sample = read(ASKED)
    assert (sample.contexts, sample.answer, sample.reference) == (None, None, "88 metres.")


def test_earlier_turns_are_the_history() -> None:
    sample = read(TALKED)
    assert sample.question == "How long is the bridge?"
    assert [(turn.question, turn.answer) for turn in sample.history] == [("Which bridge?", "The old one.")]


def test_the_passages_that_should_be_found() -> None:
    record = {"conversationTurns": [{"prompt": text("Q?"), "referenceContexts": [text("88 metres long.")]}]}
    assert [context.text for context in read(record).reference_contexts or ()] == ["88 metres long."]


@pytest.mark.parametrize(
    "record", [GENERATED, RETRIEVED, ASKED, TALKED], ids=["generated", "retrieved", "asked", "talked"]
)
def test_what_is_read_is_written_as_it_was(record: dict[str, Any]) -> None:
    assert bedrock_record(read(record)) == record


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), min_size=1).filter(
    lambda text: not is_missing_passage(text)  # "undefined" and the like are gaps
)
METADATA = st.dictionaries(WORDS, st.none() | st.booleans() | st.integers(-9, 9) | WORDS, max_size=2)
CONTEXTS = st.lists(
    st.builds(
        Context,
        text=WORDS,
        id=st.none() | WORDS,
        score=st.none() | st.floats(-9, 9),
        metadata=METADATA.map(lambda found: {key: value for key, value in found.items() if key != "location"}),
    ),
    max_size=3,
).map(tuple)
CITATIONS = st.lists(st.builds(citation, WORDS, st.integers(0, 99), WORDS, WORDS), max_size=2)


@st.composite
def samples(draw: st.DrawFn) -> Sample:
    """Samples of what the format can hold."""
    said = draw(st.none() | WORDS)
    found = draw(st.none() | CONTEXTS)
    generated = said is not None or found is None
    turn = st.builds(Turn, question=WORDS, answer=WORDS, contexts=CONTEXTS)
    turns = draw(st.lists(turn, max_size=4)) if generated else []
    metadata: dict[str, Any] = {}
    if said is not None or found is not None:
        metadata["knowledgeBaseIdentifier"] = draw(WORDS)
        if draw(st.booleans()):
            metadata["citations"] = draw(CITATIONS)
    if turns:
        metadata["earlier_turns"] = [{"knowledgeBaseIdentifier": draw(WORDS)} for _ in turns]
    return Sample(
        question=draw(WORDS),
        answer=said,
        contexts=found,
        reference=draw(st.none() | WORDS),
        history=tuple(turns),
        metadata=metadata,
    )


@pytest.mark.long
@settings(max_examples=150, deadline=None)
@given(samples())
def test_what_is_written_reads_as_it_was(sample: Sample) -> None:
    line = json.dumps(bedrock_record(sample), ensure_ascii=False)
    assert read(json.loads(line)) == sample


def test_files_are_written_and_read(tmp_path: Path) -> None:
    rows = [{"question": "Q?", "answer": "A.", "contexts": ["P."], "ground_truth": "R.", "id": 7}]
    path = write_bedrock(rows, tmp_path / "set.jsonl", source="my-rag")
    (line,) = path.read_text(encoding="utf-8").splitlines()
    (turn,) = json.loads(line)["conversationTurns"]
    assert turn["output"]["knowledgeBaseIdentifier"] == "my-rag"
    assert turn["output"]["retrievedPassages"] == {"retrievalResults": [{"content": {"text": "P."}}]}
    ((_, sample),) = list(open_data(path))
    assert isinstance(sample, Sample)
    assert (sample.question, sample.answer, sample.reference, sample.passages) == ("Q?", "A.", "R.", ("P.",))


@pytest.mark.parametrize(
    ("sample", "said"),
    [
        (Sample(answer="A."), "needs a question"),
        (Sample(question="Q?", contexts=(), history=(Turn(question="Q", answer="A"),)), "takes 1 turns"),
        (Sample(question="Q?", answer="A.", history=(Turn(question="Q", answer="A"),) * 5), "takes 5 turns"),
    ],
)
def test_what_bedrock_does_not_take_is_said(sample: Sample, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=said):
        bedrock_record(sample)
    with pytest.raises(InputError, match="row 1"):
        write_bedrock([sample], tmp_path / "set.jsonl")


DETAILS = [{"modelIdentifier": "a-judge", "explanation": "Right."}]
SCORES = [
    {"metricName": "Builtin.Correctness", "result": 1.0, "evaluatorDetails": DETAILS},
    {"metricName": "Builtin.Helpfulness", "result": 0.8333333333333334},
]


def test_results_of_jobs_on_models() -> None:
    record = {
        "automatedEvaluationResult": {"scores": SCORES},
        "inputRecord": {"prompt": "How long?", "referenceResponse": "88 metres.", "category": "bridges"},
        "modelResponses": [{"response": "It is 88 metres long.", "modelIdentifier": "a-model"}],
    }
    sample = read(record)
    assert (sample.question, sample.answer, sample.reference) == ("How long?", "It is 88 metres long.", "88 metres.")
    assert sample.metadata["bedrock_scores"] == {
        "Builtin.Correctness": 1.0, "Builtin.Helpfulness": 0.8333333333333334,
    }  # fmt: skip
    assert sample.metadata["bedrock_explanations"]["Builtin.Correctness"] == ["Right."]
    assert (sample.metadata["category"], sample.metadata["modelIdentifier"]) == ("bridges", "a-model")


def test_results_of_jobs_on_retrieval_and_generation() -> None:
    turn = GENERATED["conversationTurns"][0]
    asked = {key: turn[key] for key in ("prompt", "referenceResponses")}
    record = {"conversationTurns": [{"inputRecord": asked, "output": turn["output"], "results": SCORES}]}
    sample = read(record)
    assert sample.answer == "It is 88 metres long."
    assert sample.reference == "88 metres."
    assert sample.metadata["bedrock_scores"]["Builtin.Correctness"] == 1.0


JUDGED = {
    "bedrock:correctness": Score(
        metric="bedrock:correctness",
        value=1.0,
        judge="a-judge",
        verdicts={"answer/question": (Verdict(label="yes", reason="Right."),)},
    ),
    "bedrock:professional_style@original": Score(
        metric="bedrock:professional_style@original", value=0.75, texts={"reason": ("Plain.",)}
    ),
    "faithfulness": Score(
        metric="faithfulness", error=ScoreError(cause=Cause.NO_CONTEXT, message="nothing was retrieved")
    ),
    "deepeval:bias@original": Score(metric="deepeval:bias@original", value=1.0, convention="no opinions"),
}


def test_scores_are_written_as_results_of_a_job_and_read_again() -> None:
    line = bedrock_result(ScoredSample(sample=read(TALKED), scores=JUDGED))
    earlier, turn = line["conversationTurns"]
    assert "results" not in earlier
    assert turn["inputRecord"] == {
        key: GENERATED["conversationTurns"][0][key] for key in ("prompt", "referenceResponses")
    }
    assert turn["output"] == GENERATED["conversationTurns"][0]["output"]
    assert turn["results"] == [
        {
            "metricName": "Builtin.Correctness",
            "result": 1.0,
            "evaluatorDetails": [{"modelIdentifier": "a-judge", "explanation": "Right."}],
        },
        {
            "metricName": "Builtin.ProfessionalStyleAndTone",
            "result": 0.75,
            "evaluatorDetails": [{"modelIdentifier": "", "explanation": "Plain."}],
        },
        {
            "metricName": "faithfulness",
            "result": None,
            "evaluatorDetails": [{"modelIdentifier": "", "explanation": "no_context: nothing was retrieved"}],
        },
        {
            "metricName": "deepeval:bias@original",
            "result": None,
            "evaluatorDetails": [{"modelIdentifier": "", "explanation": "by convention: no opinions"}],
        },
    ]
    again = read(json.loads(json.dumps(line)))
    assert again.metadata["bedrock_scores"]["Builtin.Correctness"] == 1.0
    assert again.metadata["bedrock_explanations"]["Builtin.Correctness"] == ["Right."]
    assert (again.question, again.answer, again.passages) == (
        "How long is the bridge?", "It is 88 metres long.", ("88 metres long.", "Painted green."),
    )  # fmt: skip


def test_metrics_of_bedrock_have_their_names_there() -> None:
    for name, entry in system_entries("bedrock").items():
        if name != "custom":
            assert entry.source.endswith(metric_name(f"bedrock:{name}")), name
    assert metric_name("bedrock:custom:tone") == "bedrock:custom:tone"
    assert metric_name("ragas:faithfulness@original") == "ragas:faithfulness@original"


@settings(max_examples=60, deadline=None)
@given(samples())
def test_results_hold_the_whole_sample(sample: Sample) -> None:
    line = json.dumps(bedrock_result(ScoredSample(sample=sample, scores={})), ensure_ascii=False)
    assert read(json.loads(line)) == sample


def test_a_file_of_answers_becomes_a_data_set_and_its_scores_results_from_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "answers.csv").write_text(
        "question,contexts,answer,reference\nHow long?,88 metres long.,88 metres.,88 metres.\n"
    )
    one, other, store = tmp_path / "set.jsonl", tmp_path / "results.jsonl", str(tmp_path / "store")
    made = CliRunner().invoke(
        app,
        ["data", "export", str(tmp_path / "answers.csv"), "--format", "bedrock", "--out", str(one), "--source", "mine"],
    )
    assert made.exit_code == 0, made.output
    score = ["score", str(one), "--metrics", "ragas:exact_match", "--store", store, "--bedrock", str(other)]
    scored = CliRunner().invoke(app, [*score, "--quiet"])
    assert scored.exit_code == 0, scored.output
    (line,) = other.read_text(encoding="utf-8").splitlines()
    (turn,) = json.loads(line)["conversationTurns"]
    assert turn["output"]["knowledgeBaseIdentifier"] == "mine"
    assert [(result["metricName"], result["result"]) for result in turn["results"]] == [("ragas:exact_match", 1.0)]
    again = CliRunner().invoke(app, ["show", "last", "--store", store, "--bedrock", str(tmp_path / "b.jsonl")])
    assert again.exit_code == 0, again.output
    assert (tmp_path / "b.jsonl").read_text() == other.read_text()
    refused = CliRunner().invoke(app, ["data", "export", str(one), "--format", "bedrock", "--out", str(one)])
    assert isinstance(refused.exception, InputError)
    assert "is read as data" in str(refused.exception)


def test_data_sets_of_jobs_on_models() -> None:
    sample = read({"prompt": "How long?", "modelResponses": [{"response": "88 metres.", "modelIdentifier": "a-model"}]})
    assert (sample.question, sample.answer) == ("How long?", "88 metres.")


def test_a_passage_that_is_none_is_named() -> None:
    record = json.loads(json.dumps(RETRIEVED))
    record["conversationTurns"][0]["output"]["retrievedResults"]["retrievalResults"].append(5)
    ((_, found),) = list(open_data([record]))
    assert isinstance(found, RowError)
    assert "passage 2 of 2" in found.message
