"""Causes of whole runs: what counts as failed, one label a row, what is read and what that costs, and the command."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from assay import Budget, ScriptedJudge, evaluate
from assay.analysis.diagnosis import Causes, find_causes
from assay.cli.main import app
from assay.errors import InputError, JudgeFailure
from assay.evaluation.result import Result
from assay.judges.protocol import SPENDING, Answer
from assay.metrics import AnswerCorrectness
from assay.prompts import JudgePrompt

#: What a report says of a run whose failed row was not read.
UNREAD = "failed row: not read 100%"
SUN, RAIN, SNOW = "The sun is a star.", "It rains in Wales.", "Snow is cold."
CORRECT = AnswerCorrectness(weights=(1, 0))


def judge() -> ScriptedJudge:
    """A claim is supported where its words stand, and contradicted where "not: " and its words do, or the reverse."""

    def says(claim: str, text: str) -> str:
        if claim.startswith("not: ") and claim not in text:
            return "contradicted" if claim.removeprefix("not: ") in text else "not_mentioned"
        return "contradicted" if f"not: {claim}" in text else "supported" if claim in text else "not_mentioned"

    return ScriptedJudge(
        claims=lambda text: [part.strip() + "." for part in text.split(".") if part.strip() and "know" not in part],
        support=says,
    )


def row(answer: str, contexts: Sequence[Any], reference: str | None = SUN, **more: Any) -> dict[str, Any]:
    asked = {} if reference is None else {"reference": reference}
    return {"question": "What?", "contexts": list(contexts), "answer": answer, **asked, **more}


FISH = "Fish swim."
ROWS = {
    "good": row(SUN, [SUN]),
    "not retrieved": row(RAIN, [SNOW, RAIN]),
    "ranked too low": row(FISH, [SNOW, RAIN, "Wind.", "Fog.", "Ice.", SUN]),
    "truncated": row(SNOW, [{"text": SNOW, "in_prompt": True}, {"text": SUN, "in_prompt": False}]),
    "conflicting passages": row(SNOW, [f"{SUN} not: {SNOW}", f"not: {SUN} {SNOW}"]),
    "hallucination: contradicts the passage": row(f"not: {SUN}", [SUN, RAIN]),
    "context not used": row(FISH, [SUN, SNOW]),
    "off-topic answer": row(SNOW, [SUN, SNOW]),
    "incomplete answer": row(SUN, [SUN, SNOW], f"{SUN} {SNOW}"),
    "hallucination: unsupported": row(f"{SUN} {RAIN} {SNOW}", [SUN]),
    "format failure": row('{"answer": "The sun', [SUN]),
    "wrong or incomplete reference": row(RAIN, [RAIN], f"not: {RAIN}"),
    "unanswerable and answered": row(SNOW, [RAIN], "I do not know."),
    "answerable and refused": row("I do not know.", [SUN, RAIN]),
}


def test_a_judge_that_takes_silence_for_contradiction_does_not_blame_the_generator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [row(SNOW, [f"not: {SNOW}", RAIN], None)]
    result = scored(tmp_path, rows, "faithfulness")
    assert find_causes(result, judge=judge(), read=True).per_row[1].label == "hallucination: contradicts the passage"
    monkeypatch.setattr("assay.analysis.diagnosis.causes.UNSURE", (judge().fingerprint,))
    found = find_causes(result).per_row[1]
    assert (found.label, found.reads) == ("hallucination: unsupported", 0)
    assert "no passage supports" in found.because


def scored(folder: Path, rows: Sequence[dict[str, Any]], metrics: Any = None, name: str = "one") -> Result:
    chosen = metrics or ["faithfulness", "context_recall", CORRECT]
    return evaluate(rows, chosen, judge(), store=folder, run=name, replace=True)


def labels(found: Causes) -> dict[int, str]:
    return {number: cause.label for number, cause in found.per_row.items()}


def test_each_kind_of_failure_has_its_label(tmp_path: Path) -> None:
    found = find_causes(scored(tmp_path, [{**one, "id": name} for name, one in ROWS.items()]))
    assert {cause.id: cause.label for cause in found.per_row.values()} == {
        name: name for name in ROWS if name != "good"
    }
    assert (found.failed, found.rows, found.unmeasured) == (13, 14, 0)
    assert found.shares == dict.fromkeys(list(ROWS)[1:], 1 / 13)


def test_only_a_measured_value_on_the_wrong_side_fails_a_row(tmp_path: Path) -> None:
    """1 of 2 claims supported is 0.5. The third row has no context, so its faithfulness is skipped."""
    rows = [row(SUN, [SUN], None), row(f"{SUN} {RAIN}", [SUN], None), row(SUN, [], None)]
    result = scored(tmp_path, rows, "faithfulness")
    assert labels(find_causes(result)) == {2: "hallucination: unsupported"}
    assert labels(find_causes(result, {"faithfulness": 0.5})) == {}
    assert find_causes(result).unmeasured == 1
    more = scored(tmp_path, rows, "hallucination", "two")  # less is better: 0.5 is above 0.2
    assert labels(find_causes(more)) == {2: "hallucination: unsupported"}
    assert labels(find_causes(more, {"hallucination": 0.5})) == {}


def test_a_run_without_failures_has_no_shares(tmp_path: Path) -> None:
    found = find_causes(scored(tmp_path, [row(SUN, [SUN])]))
    assert (found.failed, dict(found.per_row), found.shares) == (0, {}, {})
    assert "0 of 1 row of one failed" in str(found)


def test_what_is_missing_is_counted_and_read_when_asked(tmp_path: Path) -> None:
    """Faithfulness alone read the claims of the answer. What answer and reference say of each other takes the claims of
    the reference and two readings, and a reading of the reference against the passages: 4 prompts. Neither the
    reference's claim nor the answer's is in the passages."""
    result = scored(tmp_path, [row(SNOW, [RAIN]), row(RAIN, [RAIN])], "faithfulness")
    before = find_causes(result)
    assert (labels(before), before.reads, before.asked) == ({1: "not read"}, 4, 0)
    assert "what the passages say of the reference (4 prompts)" in before.per_row[1].because
    script = judge()
    after = find_causes(result, judge=script, read=True)
    assert (labels(after), after.reads, after.asked) == ({1: "not retrieved"}, 0, 4)
    assert after.per_row[1].also == ("hallucination: unsupported",)
    assert script.asked == {"claims": 2, "support": 3}  # a script keeps nothing: the claims of the answer come again
    assert after.usage.calls == 5


def test_without_leave_to_read_a_judge_is_asked_nothing(tmp_path: Path) -> None:
    script = judge()
    found = find_causes(scored(tmp_path, [row(SNOW, [RAIN])], "faithfulness"), judge=script)
    assert (labels(found), script.asked) == ({1: "not read"}, {})


def test_a_judge_that_cannot_leaves_the_row_unread_with_its_reason(tmp_path: Path) -> None:
    mute = ScriptedJudge(claims={}, support={})
    found = find_causes(scored(tmp_path, [row(SNOW, [RAIN])], "faithfulness"), judge=mute, read=True)
    assert labels(found) == {1: "not read"}
    assert "the judge: the script's claims has no entry for" in found.per_row[1].because


class Charged(ScriptedJudge):
    """A script that is paid by the call, as an endpoint is."""

    async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        answers: list[Answer] = []
        for prompt in prompts:
            try:
                if (budget := SPENDING.get()) is not None:
                    budget.reserve(1, 1)
                answers += await super().answer([prompt])
            except JudgeFailure as failure:
                answers.append(Answer(failure=failure))
        return answers


def test_a_budget_is_kept_and_says_why_a_row_stays_unread(tmp_path: Path) -> None:
    """Two failed rows of four calls each (two claims, two readings); there is room for five."""
    result = scored(tmp_path, [row(SNOW, [RAIN]), row(RAIN, [SNOW])], "faithfulness")
    script = Charged(claims=lambda text: [text], support=lambda claim, text: "not_mentioned")
    found = find_causes(result, judge=script, read=True, budget=Budget(calls_per_day=5))
    assert sum(script.asked.values()) == 5
    unread = [cause for cause in found.per_row.values() if cause.label == "not read"]
    assert unread
    assert all("budget calls_per_day=5" in cause.because for cause in unread)


def test_another_judge_than_the_runs_and_thresholds_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    result = scored(tmp_path, [row(SUN, [SUN])])
    with pytest.raises(InputError, match="judge: the run is by scripted, not by other"):
        find_causes(result, judge=ScriptedJudge(name="other"))
    with pytest.raises(InputError, match="read: say which judge reads"):
        find_causes(result, read=True)
    with pytest.raises(InputError, match="thresholds: 'grounded' is not in this run"):
        find_causes(result, {"grounded": 0.5})
    for wrong in (float("nan"), 2.0, True, "0.5"):
        with pytest.raises(InputError, match="thresholds: faithfulness: expected"):
            find_causes(result, {"faithfulness": wrong})  # type: ignore[dict-item]
    for wrong_by in (3, ["topic", 3], None):
        with pytest.raises(InputError, match="by: expected a column or a list of columns, got"):
            find_causes(result, by=wrong_by)  # type: ignore[arg-type]
    for wrong_seconds in (float("nan"), -1, "60"):
        with pytest.raises(InputError, match="seconds: expected a number of 0 or more, got"):
            find_causes(result, seconds=wrong_seconds)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="top: expected at least 1, got 0"):
        find_causes(result, top=0)
    with pytest.raises(InputError, match="no metric that says by itself what failed; name one of retrieval_calls"):
        find_causes(scored(tmp_path, [row(SUN, [SUN])], "retrieval_calls", "calls"))


def test_a_column_says_what_can_be_answered_and_its_name_is_the_users(tmp_path: Path) -> None:
    rows = [row(SNOW, [RAIN], None, known=said) for said in ("no", "FALSE", 0, False, "yes", "perhaps", None)]
    found = find_causes(scored(tmp_path, rows, "faithfulness"), answerable="known")
    assert list(labels(found).values()) == 4 * ["unanswerable and answered"] + 3 * ["hallucination: unsupported"]
    assert found.answered.to_dict() == {
        "answerable, retrieval not read": {"answered": 1, "refused": 0, "unknown": 0},
        "unanswerable": {"answered": 4, "refused": 0, "unknown": 0},
        "unknown": {"answered": 2, "refused": 0, "unknown": 0},
    }


def test_refusals_are_told_apart(tmp_path: Path) -> None:
    no, rows = "I do not know.", [SUN]
    made = [row(SUN, rows), row(no, rows), row(no, [RAIN]), row(no, rows, no), row(SUN, rows, no), row(SUN, rows, None)]
    found = find_causes(scored(tmp_path, made)).answered
    assert found.to_dict() == {
        "answerable": {"answered": 1, "refused": 1, "unknown": 0},
        "answerable, not retrieved": {"answered": 0, "refused": 1, "unknown": 0},
        "unanswerable": {"answered": 1, "refused": 1, "unknown": 0},
        "unknown": {"answered": 1, "refused": 0, "unknown": 0},
    }
    assert found.rows["unanswerable", "refused"] == [4]


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.permutations(list(ROWS)), st.integers(1, len(ROWS)))
def test_a_rows_cause_does_not_depend_on_its_neighbours(tmp_path: Path, order: list[str], count: int) -> None:
    chosen = order[:count]
    found = find_causes(scored(tmp_path, [{**ROWS[name], "id": name} for name in chosen]))
    assert labels(found) == {n: name for n, name in enumerate(chosen, 1) if name != "good"}
    assert sum(found.shares.values()) == pytest.approx(1.0 if found.failed else 0.0)


def test_the_command_says_all_of_it_within_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    scored(tmp_path, [{**one, "id": name} for name, one in ROWS.items()])
    done = CliRunner().invoke(app, ["causes", "one", "--store", str(tmp_path), "-n", "1"])
    assert done.exit_code == 0, done.output
    assert "13 of 14 rows of one failed" in done.output
    assert "  8%  truncated (1 row)" in done.output
    assert max(map(len, done.output.splitlines())) <= 80
    as_json = CliRunner().invoke(app, ["causes", "--store", str(tmp_path), "--json"])
    told = json.loads(as_json.output)
    assert told["counts"]["not retrieved"] == 1
    assert told["causes"][0]["row"] == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["--threshold", "faithfulness"],
            "--threshold: expected METRIC=NUMBER, as faithfulness=0.8, got 'faithfulness'",
        ),
        (["--threshold", "=0.5"], "--threshold: expected METRIC=NUMBER, as faithfulness=0.8, got '=0.5'"),
        (["-n", "-1"], "-n: expected 0 or more, got -1"),
        (["--max-calls", "3"], "--max-calls: goes with --read"),
    ],
)
def test_options_that_mean_nothing_are_refused(tmp_path: Path, arguments: list[str], said: str) -> None:
    scored(tmp_path, [row(SUN, [SUN])])
    done = CliRunner().invoke(app, ["causes", "one", "--store", str(tmp_path), *arguments])
    assert said in str(done.exception)


def test_hostile_texts_reach_no_terminal(tmp_path: Path) -> None:
    evil = "\x1b[2J\x1b]0;x\x07 <script> [bold]"
    told = str(find_causes(scored(tmp_path, [{**row(f"{evil} is here.", [SNOW]), "id": evil}])))
    assert "\x1b" not in told
    assert "<script>" in told


@pytest.mark.long
def test_a_report_knows_what_was_read(tmp_path: Path) -> None:
    """By the run's judge, which is the embedded one; by another's name nothing is looked up, and nothing asked."""
    pytest.importorskip("assay_embedded")
    store = ["--store", str(tmp_path / "s")]
    rows = tmp_path / "rows.jsonl"
    passages = ["The museum opened in 1990 in Rome."]
    told = row("The museum stands in Lisbon.", passages, "The museum opened in 1990.")
    rows.write_text(json.dumps(told), encoding="utf-8")

    def run(*arguments: str) -> str:
        done = CliRunner().invoke(app, [*arguments, *store])
        assert done.exit_code == 0, done.output
        return done.output

    def reported(*arguments: str) -> str:
        page = tmp_path / "r.md"
        run("report", "-o", str(page), *arguments)
        return page.read_text(encoding="utf-8")

    run("score", str(rows), "--metrics", "faithfulness", "--quiet")
    assert UNREAD in reported()
    run("causes", "--read")
    assert UNREAD not in reported()
    assert UNREAD in reported("--judge", "openai:m", "--base-url", "http://127.0.0.1:9/v1")
