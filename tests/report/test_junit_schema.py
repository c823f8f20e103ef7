"""All JUnit XML that assay writes, held to the schema in `junit.xsd`."""

from __future__ import annotations

from pathlib import Path

import pytest
import xmlschema
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.analysis.gates import Gate, check
from assay.analysis.gates.rules import GateRule
from assay.errors import Cause
from assay.evaluation.external_runs import result_of
from assay.evaluation.result import Result
from assay.records import Sample, Score, ScoredSample, ScoreError
from assay.report.build import report_of
from assay.report.junit import as_junit, write_junit

SCHEMA = xmlschema.XMLSchema(str(Path(__file__).with_name("junit.xsd")))
HOSTILE = '"><x/>]]>&amp;\x00\x1b[31m\ud83d\ufffe\uffff\u202e\t\n é 😀'
TEXTS = st.text(max_size=12) | st.just(HOSTILE)


def result(name: str = "run", ids: tuple[str | None, ...] = ("a", "b", "c", "d"), said: str = "why") -> Result:
    """A row of each outcome: a good one, a bad one, one with nothing to measure, one whose judge failed."""
    scores = [
        Score(metric="m", value=1.0),
        Score(metric="m", value=0.25),
        Score(metric="m", error=ScoreError(cause=Cause.NO_CLAIMS, message=said)),
        Score(metric="m", error=ScoreError(cause=Cause.TIMEOUT, message=said)),
    ]
    rows = [
        ScoredSample(sample=Sample(id=one, question=f"q{n}", answer="a"), scores={"m": score})
        for n, (one, score) in enumerate(zip(ids, scores, strict=True))
    ]
    return result_of(name, "scripted", rows)


def test_a_report_of_every_outcome_is_valid(tmp_path: Path) -> None:
    path = write_junit(report_of(result()), tmp_path / "r.xml", {"m": 0.5})
    SCHEMA.validate(str(path))
    text = path.read_text("utf-8")
    assert [text.count(f"<{tag} ") for tag in ("failure", "skipped", "error")] == [1, 1, 1]


def test_ids_that_come_twice_are_cases_of_their_own(tmp_path: Path) -> None:
    SCHEMA.validate(str(write_junit(report_of(result(ids=("a", "a", "a", "a"))), tmp_path / "r.xml")))


def held(folder: Path, run: Result) -> None:
    SCHEMA.validate(str(write_junit(report_of(run), folder / "r.xml")))
    SCHEMA.validate(as_junit(check(Gate((GateRule("m", "at_least", 0.9),)), run, None)))


def test_hostile_names_ids_and_messages_are_valid(tmp_path: Path) -> None:
    held(tmp_path, result(f"r {HOSTILE}", (HOSTILE, "b", HOSTILE, None), HOSTILE))


@pytest.mark.long
@settings(max_examples=100, deadline=None)
@given(TEXTS, TEXTS, TEXTS)
def test_whatever_the_data_say_it_is_valid(
    tmp_path_factory: pytest.TempPathFactory, name: str, one: str, said: str
) -> None:
    held(tmp_path_factory.mktemp("junit"), result(f"r {name}", (one, "b", one, None), said))


@pytest.mark.parametrize(
    "wrong",
    [
        "<testsuites><testcase name='a' classname='b'/></testsuites>",
        "<testsuites><testsuite name='s' tests='1' failures='0' errors='-1'/></testsuites>",
        "<testsuites><testsuite name='s' tests='1' failures='0' errors='0'><testcase name='a'/></testsuite>"
        "</testsuites>",
        "<testsuites><testsuite name='s' tests='2' failures='0' errors='0'><testcase name='a' classname='b'/>"
        "<testcase name='a' classname='b'/></testsuite></testsuites>",
        "<testsuites time='1e5'/>",
    ],
)
def test_the_schema_refuses_what_readers_misread(wrong: str) -> None:
    assert not SCHEMA.is_valid(wrong)
