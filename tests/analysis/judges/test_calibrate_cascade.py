"""From rows to a plan to a cascade: the embedded judge first, a model behind a local endpoint second."""

from __future__ import annotations

import inspect
import json
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay._util.call_repr import host_of
from assay.analysis.judges.calibrate_cascade import acalibrate, calibrate
from assay.errors import Cause, InputError, JudgeFailure
from assay.evaluation.evaluate import evaluate
from assay.judges.budget.budget import Prices
from assay.judges.cascade.items import EVERYTHING
from assay.judges.cascade.judge import CascadeJudge
from assay.judges.cascade.plan import CascadePlan, Saving
from assay.judges.llm.capabilities import forget_dialects
from assay.judges.llm.openai import OpenAIJudge
from assay.judges.protocol import Answer
from assay.judges.resolve import resolve_judge
from assay.judges.scripted_judge import ScriptedJudge
from assay.prompts import JudgePrompt
from assay.records import Verdict
from assay.store.store import Store
from tests._support.servers.decision_server import DecisionServer
from tests._support.servers.openai_server import Call, OpenAIServer
from tests.judges.test_cascade_guarantee import WRONG, bound, flat

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


def test_a_plan_with_earlier_names_of_prompts_is_read(tmp_path: Path) -> None:
    data, first, then = whole_rows(40, per_question=2)
    path = tmp_path / "plan.json"
    calibrate(data, then, first, metrics="faithfulness", store=None).save(path)
    said = json.loads(path.read_text())
    said["bands"] = {"ask": said["bands"]["support"]}
    path.write_text(json.dumps(said))
    assert list(CascadePlan.load(path).bands) == ["question"]


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
        judge = resolve_judge(f"cascade:{path}", api_key="sk-very-secret", base_url=server.base_url)
        assert isinstance(judge, CascadeJudge)
        assert judge.bands == {name: band.band for name, band in plan.bands.items()}
        assert judge.fingerprint == CascadeJudge(plan=plan).fingerprint
    assert set(plan.bands) == {"support", "usefulness"}
    assert "target: agree with openai/fake on 95% of verdicts; 30 rows" in plan.text()


EVIL = "https://user:word@elsewhere.example:8443/v1"


def written(tmp_path: Path, then: str = "openai:fake", **options: str) -> str:
    """A plan as anybody might send it: where it points is for whoever uses it to find out."""
    plan = CascadePlan(
        first="a",
        then="b",
        target=0.95,
        confidence=0.95,
        rows=1,
        bands={},
        saving=Saving(calls_alone=0, calls=0),
        specs={"first": "embedded", "then": then},
        options={"then": options},
    )
    plan.save(tmp_path / "sent.json")
    return f"cascade:{tmp_path / 'sent.json'}"


@pytest.mark.parametrize("key", [{"api_key": "sk-mine"}, {"headers": {"X-Api-Key": "mine"}}])
@pytest.mark.parametrize("address", ["base_url", "azure_endpoint"])
def test_a_file_does_not_decide_where_a_key_goes(tmp_path: Path, key: dict[str, Any], address: str) -> None:
    spec = written(tmp_path, **{address: EVIL, "api_version": "1"})
    (tmp_path / "outer").mkdir()
    outer = written(tmp_path / "outer", spec)
    with pytest.raises(InputError, match=r"would send your key to elsewhere\.example:8443; .*base_url= or --base-url"):
        resolve_judge(spec, **key)
    with pytest.raises(InputError, match="would send your key"):  # one plan in another
        resolve_judge(outer, **key)
    with pytest.raises(InputError, match="was made for a as first judge"):  # the address is confirmed: one step further
        resolve_judge(spec, **key, base_url=EVIL)
    with pytest.raises(InputError, match="was made for a as first judge"):  # without a key nothing is given away
        resolve_judge(spec)


def test_the_users_own_address_comes_before_that_of_the_plan(tmp_path: Path) -> None:
    written(tmp_path, base_url=EVIL, embedding_model="e")
    plan = CascadePlan.load(tmp_path / "sent.json")
    given = {"api_key": "k", "base_url": "http://127.0.0.1:1/v1"}
    assert plan.with_options("then", given) == {**given, "embedding_model": "e"}
    written(tmp_path, azure_endpoint=EVIL)
    plan = CascadePlan.load(tmp_path / "sent.json")
    with pytest.raises(InputError, match="would send your key to elsewhere"):  # both would be there
        plan.with_options("then", given)
    assert plan.with_options("then", {"api_key": "k", "base_url": EVIL}) == {"azure_endpoint": EVIL, "api_key": "k"}


def test_a_plan_holds_no_options_but_its_own(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="options that no plan may: extra_body, headers"):
        resolve_judge(written(tmp_path, headers="x", extra_body="y"))


@pytest.mark.parametrize("host", ["http://\x1b[2Jx/v1", "http://[::1/v1", "nowhere"])
def test_a_host_is_safe_to_print(host: str) -> None:
    assert host_of(host).isprintable()


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


class Guess(ScriptedJudge):
    """A script whose verdicts have a probability, which says nothing."""

    async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        return [self._guessed(answer) for answer in await super().answer(prompts)]

    def _guessed(self, answer: Answer) -> Answer:
        verdicts = isinstance(answer.judgement, tuple) and all(isinstance(one, Verdict) for one in answer.judgement)
        if not verdicts:
            return answer
        said = [f"{self.fingerprint} {one.claim} {one.passage} {one.evidence}" for one in answer.judgement]
        found = [replace(v, probability=random.Random(s).random()) for v, s in zip(answer.judgement, said, strict=True)]
        return replace(answer, judgement=tuple(found))


def whole_rows(
    count: int, per_question: int = 1, wrong: Callable[[int], bool] = lambda row: row % 5 == 0, name: str = "first"
) -> tuple[list[dict[str, Any]], ScriptedJudge, ScriptedJudge]:
    """Rows of the same form, and two judges that agree on all of a row or on nothing of it, where it is `wrong`.

    Neighbours in groups of `per_question` share question and contexts, and nothing else.
    """

    def judge(name: str) -> ScriptedJudge:
        def says(text: str) -> bool:
            return name == "second" or not wrong(int(re.findall(r"\d+", text)[0]) // per_question)

        return Guess(
            claims=lambda text: [f"{part.strip()}." for part in text.split(".") if part.strip()],
            support=lambda claim, passage: "supported" if says(claim) else "not_mentioned",
            usefulness=lambda question, passage: says(passage),
            back_questions=lambda text: ["What?"],
            similarity=lambda text, other: 0.5,
            name=name,
        )

    found = []
    for n in range(count):
        shared = n // per_question * per_question
        found.append(
            {
                "id": f"row-{n}",
                "question": f"What of {shared}?",
                "contexts": [f"Fact {shared} a.", f"Fact {shared} b."],
                "answer": f"Answer {n} a. Answer {n} b.",
                "reference": f"Reference {n} a. Reference {n} b.",
            }
        )
    return found, judge(name), judge("second")


SEVERAL = ["faithfulness", "context_recall", "answer_correctness", "context_precision", "context_utilization"]


@pytest.mark.parametrize("concurrency", [1, 16])  # batches of one row, and batches of many
def test_a_row_is_one_cluster_whatever_the_metrics_ask_about_it(concurrency: int) -> None:
    """Verdicts on one row are all right or all wrong: 30 rows that test the bands are 30 witnesses, not 120."""
    data, first, then = whole_rows(50)
    plan = calibrate(data, then, first, metrics=SEVERAL, store=None, concurrency=concurrency)
    support, useful = plan.bands["support"], plan.bands["usefulness"]
    assert (support.verdicts, support.tested, support.effective) == (400, 240, 30)  # 4 readings of 2 claims
    assert (useful.verdicts, useful.tested, useful.effective) == (200, 120, 30)  # 2 readings of 2 passages
    assert support.alone == useful.alone  # the same rows test both, whole


@pytest.mark.parametrize("concurrency", [1, 16])
def test_rows_that_ask_the_same_are_one_cluster(concurrency: int) -> None:
    """50 rows on 25 questions: usefulness for a question is found once for two rows, which makes them one."""
    data, first, then = whole_rows(50, per_question=2)
    plan = calibrate(
        data, then, first, metrics=["faithfulness", "context_relevance_passage"], store=None, concurrency=concurrency
    )
    assert then.asked["usefulness"] == 25
    support, useful = plan.bands["support"], plan.bands["usefulness"]
    assert (useful.verdicts, useful.tested, useful.effective) == (50, 30, 15)
    assert (support.verdicts, support.tested, support.effective) == (100, 60, 15)
    alone = calibrate(data, then, first, metrics="faithfulness", store=None, concurrency=concurrency)
    assert alone.bands["support"].effective == 30  # nothing is shared here


@pytest.mark.long
@pytest.mark.parametrize("runs", [40, 120])
def test_few_rows_and_many_metrics_certify_nothing_that_does_not_hold(runs: int) -> None:
    """30 rows, 6 % of which the first judge gets wrong as a whole: with prompts on one row as witnesses of their
    own a band is certified in 20 % of runs, and each escalates too little."""
    false = 0
    for run in range(runs):
        rng = random.Random(run)
        odd = frozenset(row for row in range(30) if rng.random() < WRONG)
        data, first, then = whole_rows(30, wrong=odd.__contains__, name=f"first {run}")
        plan = calibrate(data, then, first, store=None, progress=False, seed=run)
        assert set(plan.bands) == {"support", "usefulness", "useful_sentences"}
        false += any(band.reached and flat(band.band) < band.at_least for band in plan.bands.values())
    assert false <= bound(runs, 3 * 0.05)  # 5 % for each kind


@pytest.mark.long
def test_the_order_in_which_rows_are_done_changes_nothing() -> None:
    data, first, then = whole_rows(40, per_question=2)
    plans = [
        calibrate(rows, then, first, metrics=SEVERAL, store=None, concurrency=width)
        for rows, width in ((data, 1), (data, 16), (data[::-1], 7))
    ]
    assert plans[0].bands == plans[1].bands == plans[2].bands


def test_what_a_calibration_costs_is_counted_once(tmp_path: Path) -> None:
    """A second calibration finds everything at hand: no requests, and what they would cost is unknown, not 0."""
    with OpenAIServer() as server:
        paid = calibrate(rows(5), second(server), metrics="faithfulness", store=tmp_path).saving
        assert paid.tokens_alone is not None
        tokens = server.count("support")
        again = calibrate(rows(5), second(server), metrics="faithfulness", store=tmp_path).saving
        assert server.count("support") == tokens
    assert (again.calls_alone, again.tokens_alone) == (paid.calls_alone, None)


def test_calibrate_has_the_options_of_acalibrate_and_no_others() -> None:
    assert inspect.signature(calibrate) == inspect.signature(acalibrate)
    assert calibrate.__name__ == "calibrate"
    with pytest.raises(TypeError, match="agreemnt"):
        calibrate([], "embedded", agreemnt=0.9)  # type: ignore[call-arg]


def test_failures_are_left_out_and_counted() -> None:
    def refuses(call: Call) -> str | None:
        return "no idea" if call.kind == "support" and "1703" in json.dumps(call.body) else None

    with OpenAIServer(plan=refuses) as server:
        plan = calibrate([*rows(10), {"id": 7, "contexts": 5}], second(server), metrics="faithfulness", store=None)
        everything = calibrate(rows(10), second(server), metrics="context_utilization", store=None)
    assert (plan.rows, plan.unreadable, plan.failures) == (10, 1, 1)
    assert everything.failures == 0
    assert "1 prompts failed" in plan.text()


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


@pytest.mark.long
def test_calibrate_and_score_from_the_command_line(
    command_line: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "rows.jsonl"
    data.write_text("\n".join(map(json.dumps, rows(60))))
    with OpenAIServer() as server:
        where = ("--judge", "openai:fake", "--base-url", server.base_url)
        code, out, err = command_line(
            "judge", "cascade", str(data), *where, "--metrics", "faithfulness", "--out", "c.json"
        )
        assert code == 0, err
        assert "support: in doubt" in out
        assert "of 60 calls saved" in out
        assert "--judge cascade:c.json" in out
        code, out, err = command_line("score", str(data), "--judge", "cascade:c.json", "--metrics", "faithfulness")
        assert code == 0, err
        assert "faithfulness ↑" in out
        assert "verdicts" in err
        assert "calls saved" in err
        monkeypatch.setenv("MY_KEY", "sk-mine")
        keyed = ("score", str(data), "--judge", "cascade:c.json", "--api-key-env", "MY_KEY")
        code, _, err = command_line(*keyed)
        assert (code, len(err.splitlines())) == (2, 1)
        host = server.base_url.removeprefix("http://").removesuffix("/v1")
        assert f"would send your key to {host}" in err
        code, out, err = command_line(*keyed, "--base-url", server.base_url, "--metrics", "faithfulness")
        assert code == 0, err
        assert f"the key of MY_KEY goes to {host}" in err


def test_a_decision_endpoint_from_the_command_line(command_line: Any, tmp_path: Path) -> None:
    data = tmp_path / "rows.jsonl"
    data.write_text("\n".join(map(json.dumps, rows(5))))
    with DecisionServer() as server:
        where = ("--judge", "systemone:fake", "--base-url", server.base_url)
        code, out, err = command_line("score", str(data), *where, "--metrics", "faithfulness,context_utilization")
        assert code == 0, err
        assert "5/5" in out
        # usefulness is asked at once, support when the claims are there
        assert len(server.requests) == 10
        code, out, err = command_line("judge", "check", *where)
        assert code == 0, err
        assert "ok   reachable: yes" in out
        assert "ok   known verdicts: both right" in out
    assert server.problems == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--judge", "systemone:m"), "--base-url: systemone needs"),
        (("--judge", "systemone:m", "--base-url", "http://127.0.0.1:9/v1", "--embedding-model", "e"), "has no embedd"),
        (("--judge", "cascade:nowhere.json"), "'nowhere.json' cannot be read"),
    ],
)
def test_wrong_usage_is_one_line(command_line: Any, tmp_path: Path, arguments: tuple[str, ...], says: str) -> None:
    data = tmp_path / "rows.jsonl"
    data.write_text(json.dumps(rows(1)[0]))
    code, _, err = command_line("score", str(data), *arguments)
    assert (code, len(err.splitlines())) == (2, 1)
    assert says in err


def test_a_plan_from_elsewhere_is_no_plan(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    for content, says in (
        ("[1]", "no plan that this version"),
        ("{", "no JSON"),
        ('{"format": 2}', "first"),
        ('{"format": 1}', "calibrate again"),
        ('{"format": 3}', "reads$"),
    ):
        path.write_text(content)
        with pytest.raises(InputError, match=says):
            CascadeJudge(plan=path)
