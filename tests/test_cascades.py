"""From rows to a plan to a cascade: the embedded judge first, a model behind a local endpoint second."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

import pytest

from assay.budgets.budget import Prices
from assay.cascades import calibrate
from assay.cli.main import main
from assay.errors import Cause, InputError, JudgeFailure
from assay.evaluation import evaluate
from assay.judges import resolve_judge
from assay.judges.cascade.items import EVERYTHING
from assay.judges.cascade.judge import CascadeJudge
from assay.judges.cascade.plan import CascadePlan
from assay.judges.scripted import ScriptedJudge
from assay.judges.writing.dialect import forget_dialects
from assay.judges.writing.openai import OpenAIJudge
from assay.store import Store
from tests.servers.decision_server import DecisionServer
from tests.servers.openai_server import Call, OpenAIServer

TOWNS = ("Ambridge", "Borchester", "Felpersham", "Penny Hassett", "Loxley Barrett", "Darrington", "Waterley Cross")
THINGS = ("bridge", "library", "mill", "station", "museum", "theatre", "harbour", "market", "school", "tower")


@pytest.fixture(autouse=True)
def nothing_learned() -> None:
    forget_dialects()


def rows(count: int, seed: int = 1) -> list[dict[str, Any]]:
    """Answers of two or three claims: from the passage, of something else, and now and then one that has the words of
    the passage and says something else with them, on which the two judges disagree."""
    rng = random.Random(seed)
    found = []
    for n in range(count):
        town, thing, year, height = rng.choice(TOWNS), rng.choice(THINGS), 1700 + n, rng.randint(10, 400)
        passage = f"The {thing} of {town} opened in {year}. It is {height} metres high and was built of granite."
        answer = [f"The {thing} of {town} opened in {year + rng.choice((0, 0, 0, 7))}."]
        answer.append(rng.choice((f"It is {height} metres high.", "Visitors admire its marble dome at night.")))
        if rng.random() < 0.4:
            answer.append(f"The {thing}, built of granite, is {height} metres high.")
        elif rng.random() < 0.4:
            answer.append(rng.choice(("It was not built of granite.", f"The granite {thing} opened slowly.")))
        found.append(
            {
                "id": f"row-{n}",
                "question": f"When did the {thing} of {town} open?",
                "contexts": [passage, "Rivers flow slowly through the wide valley."],
                "answer": " ".join(answer),
            }
        )
    return found


def second(server: OpenAIServer, **options: Any) -> OpenAIJudge:
    return OpenAIJudge("fake", base_url=server.base_url, retry_base=0.01, **options)


@pytest.mark.long
def test_a_plan_is_made_on_some_rows_and_holds_on_others(tmp_path: Path) -> None:
    """Both judges on 90 rows; then the cascade on 60 others, held against the second judge alone."""
    with OpenAIServer() as server:
        plan = calibrate(
            rows(90),
            second(server),
            metrics="faithfulness",
            store=tmp_path / "a",
            prices=Prices(prompt=1, completion=2),
        )
        asked = server.count("support")
        assert (asked, server.count("claims")) == (90, 0)  # claims are the first judge's, here as in the cascade
        band = plan.bands["support"]
        assert band.reached
        assert band.at_least >= 0.95
        assert band.agreement >= 0.95
        assert 0 < band.escalated < 1
        assert band.tested < band.verdicts
        assert plan.saving.calls_alone == 90
        assert plan.saving.calls < 90
        assert plan.saving.tokens is not None
        assert plan.saving.tokens_alone is not None
        assert plan.saving.tokens < plan.saving.tokens_alone
        assert plan.saving.dollars is not None
        assert plan.saving.dollars_alone is not None
        assert 0 < plan.saving.dollars < plan.saving.dollars_alone
        # of n tokens at 1 and 2 dollars a million, the price lies between n and 2 n millionths
        assert 1 <= plan.saving.dollars_alone * 1e6 / plan.saving.tokens_alone <= 2

        calibrate(rows(90), second(server), metrics="faithfulness", store=tmp_path / "a", agreement=0.9)
        assert server.count("support") == asked  # another target costs nothing

        others = rows(60, seed=2)
        judge = CascadeJudge("embedded", second(server), plan=plan)
        cascade = evaluate(others, "faithfulness", judge, store=tmp_path / "b")
        sent = server.count("support") - asked
        report = judge.report()
        assert sent == report.calls
        assert sent < 60
        # with the second judge alone: 60 requests for support, and 60 for claims or some less, for equal questions
        assert 110 < report.calls_alone <= 120
        assert report.calls_saved == report.calls_alone - sent

        both = CascadeJudge("embedded", second(server), band=EVERYTHING)
        alone = evaluate(others, "faithfulness", both, store=tmp_path / "c")
    agreeing, total = 0, 0
    for ours, theirs in zip(cascade, alone, strict=True):
        for one, other in zip(_verdicts(ours), _verdicts(theirs), strict=True):
            agreeing += (one.label == "supported") == (other.label == "supported")
            total += 1
    assert total > 120
    assert agreeing / total >= 0.95


def _verdicts(scored: Any) -> Any:
    return scored.scores["faithfulness"].verdicts["answer/contexts"]


@pytest.mark.long
def test_a_plan_survives_the_disk(tmp_path: Path) -> None:
    with OpenAIServer() as server:
        plan = calibrate(
            rows(30),
            "openai:fake",
            metrics=["faithfulness", "context_utilization"],
            then_options={"base_url": server.base_url, "api_key": "sk-very-secret", "max_attempts": 2},
            store=None,
        )
        path = tmp_path / "plan.json"
        plan.save(path)
        assert CascadePlan.load(path) == plan
        assert "very-secret" not in path.read_text()
        assert plan.options["then"] == {"base_url": server.base_url}
        judge = resolve_judge(f"cascade:{path}", api_key="sk-very-secret")
        assert isinstance(judge, CascadeJudge)
        assert judge.bands == {name: band.band for name, band in plan.bands.items()}
        assert judge.fingerprint == CascadeJudge(plan=plan).fingerprint
    assert set(plan.bands) == {"support", "usefulness"}
    assert "target: agree with openai/fake on 95% of verdicts; 30 rows" in plan.text()


def test_addresses_with_a_password_stay_out_of_the_plan() -> None:
    with OpenAIServer() as server:
        address = server.base_url.replace("http://", "http://user:password@")
        plan = calibrate(rows(4), "openai:fake", then_options={"base_url": address}, store=None)
    assert plan.options["then"] == {}
    assert "password" not in json.dumps(plan.to_dict())


def test_a_plan_for_other_judges_is_refused(tmp_path: Path) -> None:
    with OpenAIServer() as server:
        plan = calibrate(rows(4), second(server), metrics="faithfulness", store=None)
        with pytest.raises(InputError, match="as second judge"):
            CascadeJudge("embedded", second(server, window_tokens=8000), plan=plan)
        judge = CascadeJudge("embedded", second(server, window_tokens=8000), band=plan.bands)  # on one's own authority
        assert judge.bands == {"support": EVERYTHING}
    plan.save(tmp_path / "plan.json")
    with pytest.raises(InputError, match="does not say how to make its second judge"):
        resolve_judge(f"cascade:{tmp_path / 'plan.json'}")


def test_few_rows_show_nothing_and_the_plan_says_so() -> None:
    with OpenAIServer() as server:
        plan = calibrate(rows(6), second(server), metrics="faithfulness", store=None)
    band = plan.bands["support"]
    assert (band.reached, band.band, band.escalated, band.agreement) == (False, EVERYTHING, 1.0, 1.0)
    assert band.reason is not None
    assert "98 independent verdicts or more are needed to show 95%" in band.reason
    assert "everything goes to the second judge" in plan.text()


def test_failures_are_left_out_and_counted() -> None:
    def refuses(call: Call) -> str | None:
        return "no idea" if call.kind == "support" and "1703" in json.dumps(call.body) else None

    with OpenAIServer(plan=refuses) as server:
        plan = calibrate([*rows(10), {"id": 7, "contexts": 5}], second(server), metrics="faithfulness", store=None)
        everything = calibrate(rows(10), second(server), metrics="context_utilization", store=None)
    assert (plan.rows, plan.unreadable, plan.failures) == (10, 1, 1)
    assert everything.failures == 0
    assert "1 inquiries failed" in plan.text()


def test_what_cannot_be_compared_is_said() -> None:
    with OpenAIServer() as server:
        judge = second(server)
        with pytest.raises(InputError, match="agreement: expected a share"):
            calibrate(rows(3), judge, agreement=95)
        with pytest.raises(InputError, match="none asks for verdicts"):
            calibrate(rows(3), judge, metrics="answer_relevancy", store=None)
        with pytest.raises(InputError, match="columns are missing"):
            calibrate(rows(3), judge, metrics="context_recall", store=None)
        with pytest.raises(InputError, match="the same judge"):
            calibrate(rows(3), judge, judge, store=None)
        assert server.calls == []
    first = ScriptedJudge(support={}, name="first")
    failing = ScriptedJudge(support=lambda claim, passage: JudgeFailure(Cause.REFUSED, "I decline"), name="second")
    with pytest.raises(InputError, match="no verdicts of both judges to compare \\(3 failed\\): I decline"):
        calibrate(rows(3), failing, first, metrics="faithfulness", store=None)


def test_a_refused_key_ends_the_calibration() -> None:
    with OpenAIServer(key="right") as server, pytest.raises(JudgeFailure, match="refuses the key"):
        calibrate(rows(5), second(server, api_key="wrong"), metrics="faithfulness", store=None)


def test_a_decision_endpoint_may_be_the_first_judge(tmp_path: Path) -> None:
    with DecisionServer() as decisions, OpenAIServer() as server:
        plan = calibrate(
            rows(30),
            "openai:fake",
            "systemone:fake",
            metrics="faithfulness",
            first_options={"base_url": decisions.base_url},
            then_options={"base_url": server.base_url},
            store=Store(tmp_path),
        )
    assert len(decisions.requests) == 30
    assert decisions.problems == []
    assert plan.bands["support"].alone > 0.9  # both fakes think alike
    assert plan.specs == {"first": "systemone:fake", "then": "openai:fake"}


# ---- the command line


@pytest.fixture
def assay(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Any:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "110")

    def run(*args: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["assay", *args])
        code = 0
        try:
            main()
        except SystemExit as stopped:
            code = int(stopped.code or 0)
        return (code, *capsys.readouterr())

    return run


@pytest.mark.long
def test_calibrate_and_score_from_the_command_line(assay: Any, tmp_path: Path) -> None:
    data = tmp_path / "rows.jsonl"
    data.write_text("\n".join(map(json.dumps, rows(60))))
    with OpenAIServer() as server:
        where = ("--judge", "openai:fake", "--base-url", server.base_url)
        code, out, err = assay("cascade", str(data), *where, "--metrics", "faithfulness", "--out", "c.json")
        assert code == 0, err
        assert "support: in doubt" in out
        assert "of 60 calls saved" in out
        assert "--judge cascade:c.json" in out
        code, out, err = assay("score", str(data), "--judge", "cascade:c.json", "--metrics", "faithfulness")
        assert code == 0, err
        assert "faithfulness ↑" in out
        assert "verdicts" in err
        assert "calls saved" in err


def test_a_decision_endpoint_from_the_command_line(assay: Any, tmp_path: Path) -> None:
    data = tmp_path / "rows.jsonl"
    data.write_text("\n".join(map(json.dumps, rows(5))))
    with DecisionServer() as server:
        where = ("--judge", "systemone:fake", "--base-url", server.base_url)
        code, out, err = assay("score", str(data), *where, "--metrics", "faithfulness,context_utilization")
        assert code == 0, err
        assert "5/5" in out
        # usefulness is asked at once, support when the claims are there
        assert len(server.requests) == 10
        code, out, err = assay("doctor", *where)
        assert code == 0, err
        assert "ok   reachable: yes" in out
        assert "ok   known verdicts: both right" in out
    assert server.problems == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--judge", "systemone:m"), "base_url: systemone needs"),
        (("--judge", "systemone:m", "--base-url", "http://127.0.0.1:9/v1", "--embedding-model", "e"), "has no embedd"),
        (("--judge", "cascade:nowhere.json"), "cannot read 'nowhere.json'"),
    ],
)
def test_wrong_usage_is_one_line(assay: Any, tmp_path: Path, arguments: tuple[str, ...], says: str) -> None:
    data = tmp_path / "rows.jsonl"
    data.write_text(json.dumps(rows(1)[0]))
    code, _, err = assay("score", str(data), *arguments)
    assert (code, len(err.splitlines())) == (2, 1)
    assert says in err


def test_a_plan_from_elsewhere_is_no_plan(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    for content, says in (("[1]", "no plan that this version"), ("{", "no JSON"), ('{"format": 1}', "first")):
        path.write_text(content)
        with pytest.raises(InputError, match=says):
            CascadeJudge(plan=path)
