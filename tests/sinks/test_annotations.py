"""Annotations: ids that depend on what was measured alone, and texts that are hidden whole before they are cut."""

from __future__ import annotations

import json
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import Cause, InputError
from assay.records import Claim, Context, Evidence, Sample, Score, ScoredSample, ScoreError, Span, Verdict
from assay.sinks.annotations import UNKNOWN_TIME, annotations_of, time_of
from assay.testing.bench import exchange


def one(score: Score, sample: Sample | None = None, **options: object) -> dict[str, object]:
    scored = ScoredSample(sample=sample or Sample(id="s"), scores={score.metric: score})
    return annotations_of(scored, **options)[0].to_dict()  # type: ignore[arg-type]


def with_claim(text: str, quote: str = "") -> Score:
    evidence = (Evidence(passage=0, span=Span(0, len(quote)), text=quote),) if quote else ()
    verdict = Verdict(label="not_mentioned", claim=Claim(text=text, span=Span(0, len(text))), evidence=evidence)
    return Score(metric="faithfulness", value=0.0, verdicts={"answer/contexts": (verdict,)})


def test_id_depends_on_target_metric_version_and_judge() -> None:
    base = Score(metric="m", value=0.5, judge="a", version="1")
    ids = {
        one(base)["id"],
        one(base, target="elsewhere")["id"],
        one(Score(metric="other", value=0.5, judge="a"))["id"],
        one(Score(metric="m", value=0.5, judge="b"))["id"],
        one(Score(metric="m", value=0.5, judge="a", version="2"))["id"],
    }
    assert len(ids) == 5
    again = Score(metric="m", value=0.75, judge="a", version="1", parts={"n": 3.0})
    error = Score(metric="m", error=ScoreError(cause=Cause.TIMEOUT, message="late"), judge="a")
    assert one(base)["id"] == one(again)["id"] == one(error)["id"]
    assert uuid.UUID(str(one(base)["id"])).version == 5


def test_a_secret_at_the_cut_of_a_quote_is_masked() -> None:
    """Explanations show 240 characters of a quote: a mask that ran afterwards would see half of the number."""
    number = "4929-1234-5678"
    quote = "x" * 232 + number
    said = one(with_claim("c", quote), mask=lambda text: text.replace(number, "[number]"))
    assert "4929" not in json.dumps(said)
    assert "[number]" in str(said["metadata"])


def test_a_secret_at_the_limit_of_the_explanation_is_masked() -> None:
    number = "4929-1234-5678"
    for filler in range(60, 90):
        said = one(
            with_claim("y" * filler + number),
            mask=lambda text: text.replace(number, "[number]"),
            explanation_limit=100,
        )
        assert "4929" not in json.dumps(said)


@given(st.text(min_size=1, max_size=60), st.integers(20, 400), st.integers(2, 400))
def test_limits_hold_whatever_the_text(text: str, explanation: int, evidence: int) -> None:
    verdict = Verdict(label="supported", claim=Claim(text=text, span=Span(0, len(text))), reason=text)
    score = Score(metric="m", value=1.0, verdicts={"answer/contexts": (verdict,) * 7})
    said = annotations_of(
        ScoredSample(sample=Sample(id="s"), scores={"m": score}),
        explanation_limit=explanation,
        evidence_limit=evidence,
    )[0]
    assert len(said.explanation) <= explanation
    kept = said.metadata["assay.evidence"]
    assert len(kept) <= evidence
    assert len(json.loads(kept)) + said.metadata.get("assay.evidence_left_out", 0) == 7
    json.dumps(said.to_dict()).encode()


def test_unfavourable_verdicts_come_first_where_there_is_little_room() -> None:
    claims = [Verdict(label="supported", claim=Claim(text=f"s{n}", span=Span(0, 2))) for n in range(50)]
    claims.append(Verdict(label="contradicted", claim=Claim(text="wrong", span=Span(0, 5))))
    score = Score(metric="m", value=0.9, verdicts={"answer/contexts": tuple(claims)})
    said = annotations_of(ScoredSample(sample=Sample(id="s"), scores={"m": score}), evidence_limit=300)[0]
    assert json.loads(said.metadata["assay.evidence"])[0]["claim"] == "wrong"
    assert said.metadata["assay.evidence_left_out"] > 0


def test_a_verdict_that_is_too_long_does_not_push_out_the_others() -> None:
    long = Verdict(label="contradicted", claim=Claim(text="x" * 500, span=Span(0, 500)))
    short = Verdict(label="supported", claim=Claim(text="short", span=Span(0, 5)))
    score = Score(metric="m", value=0.5, verdicts={"answer/contexts": (long, short)})
    said = annotations_of(ScoredSample(sample=Sample(id="s"), scores={"m": score}), evidence_limit=200)[0]
    assert [item["claim"] for item in json.loads(said.metadata["assay.evidence"])] == ["short"]
    assert said.metadata["assay.evidence_left_out"] == 1


def test_without_texts_the_numbers_still_explain() -> None:
    measured, _, error = annotations_of(exchange({}), texts=False)
    assert measured.explanation == "faithfulness = 0.500 (supported 1, claims 2)"
    assert error.explanation == "Not scored (timeout)"
    claims = [item["claim"] for item in json.loads(measured.metadata["assay.evidence"])]
    assert all(claim.startswith("sha256:") for claim in claims)


def test_quotes_name_the_ids_of_their_passages() -> None:
    sample = Sample(id="s", contexts=(Context(text="the passage", id="doc-7"),))
    said = one(with_claim("c", "the passage"), sample)
    assert json.loads(said["metadata"]["assay.evidence"])[0]["quotes"][0]["id"] == "doc-7"  # type: ignore[index]


def test_half_an_emoji_is_replaced() -> None:
    said = one(with_claim("cut \ud83d"))
    assert json.loads(said["metadata"]["assay.evidence"])[0]["claim"] == "cut \ufffd"  # type: ignore[index]


@pytest.mark.parametrize("mask", [lambda text: None, lambda text: 3, lambda text: 1 / 0])
def test_a_mask_that_gives_no_text_is_an_error(mask: object) -> None:
    with pytest.raises(InputError, match=r"^mask: "):
        annotations_of(exchange({}), mask=mask)  # type: ignore[arg-type]


def test_time_is_that_of_the_exchange() -> None:
    assert time_of(Sample(metadata={"ended": 12.5, "started": 10.0})) == 12.5
    assert time_of(Sample(metadata={"started": 10.0, "ended": True})) == 10.0
    # the first 48 bits of a version 7 UUID are milliseconds: 0x0195a3f01234 = 1742212174388
    assert time_of(Sample(id="0195a3f0-1234-7abc-8def-0123456789ab")) == 1742212174.388
    assert time_of(Sample(id="row")) == UNKNOWN_TIME
