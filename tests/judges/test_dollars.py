"""What judging costs: prices by name, the arithmetic by hand, and a limit that holds across processes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import evaluate
from assay.cli.amounts import budget_of_amount, dollars_in
from assay.errors import Cause, InputError
from assay.evaluation.display.cost import cost_in_words, dollars_in_words
from assay.evaluation.sharded.estimate import estimate
from assay.judges.budget.budget import Budget, Prices, dollars_of
from assay.judges.budget.known_prices import own_prices, prices_of_judge, prices_of_name
from assay.judges.budget.sqlite_ledger import FileLedger
from assay.judges.providers.checks import caching_of, models_at, models_in_words, names_in
from assay.judges.resolve import resolve_judge
from assay.records import Usage
from tests._support.servers.openai_server import OpenAIServer
from tests.judges.test_native_providers import KEY, server_of

USED = Usage(calls=3, prompt_tokens=10_000, completion_tokens=1_000, cached_tokens=4_000)

#: Dollars per million tokens as the providers listed them in 2025: prompt, completion, cached prompt.
BY_HAND = {
    # 6,000 × 0.40 + 4,000 × 0.10 + 1,000 × 1.60 = 2,400 + 400 + 1,600 = 4,400 millionths of a dollar
    "openai:gpt-4.1-mini": 0.0044,
    # 6,000 × 0.15 + 4,000 × 0.075 + 1,000 × 0.60 = 900 + 300 + 600 = 1,800
    "openai:gpt-4o-mini": 0.0018,
    # 6,000 × 3.00 + 4,000 × 0.30 + 1,000 × 15.00 = 18,000 + 1,200 + 15,000 = 34,200
    "anthropic:claude-sonnet-4-5": 0.0342,
    # 6,000 × 0.30 + 4,000 × 0.03 + 1,000 × 2.50 = 1,800 + 120 + 2,500 = 4,420
    "gemini:gemini-2.5-flash": 0.00442,
    # no price of cached tokens is listed, so they cost what the others do: 10,000 × 0.59 + 1,000 × 0.79 = 6,690
    "groq:llama-3.3-70b-versatile": 0.00669,
}


def words(result: object) -> str:
    """What is printed, without the ends of its lines."""
    return " ".join(str(result).split())


@pytest.mark.parametrize("name", sorted(BY_HAND))
def test_five_models_by_hand(name: str) -> None:
    prices = prices_of_name(name)
    assert prices is not None
    assert dollars_of(USED, prices) == pytest.approx(BY_HAND[name], abs=1e-9)
    assert dollars_of(USED, prices.scaled(0.5)) == pytest.approx(BY_HAND[name] / 2, abs=2e-9)  # in batches
    judge: Any = resolve_judge(name, api_key="k")
    assert prices_of_judge(judge.fingerprint) == prices


def test_tokens_written_to_a_cache_have_a_price_of_their_own() -> None:
    prices = prices_of_name("anthropic:claude-sonnet-4-5")
    assert prices is not None
    written = Usage(calls=1, prompt_tokens=10_000, completion_tokens=0, cached_tokens=2_000, cache_write_tokens=5_000)
    # 3,000 × 3.00 + 2,000 × 0.30 + 5,000 × 3.75 = 9,000 + 600 + 18,750 = 28,350 millionths
    assert dollars_of(written, prices) == pytest.approx(0.02835)


@pytest.mark.parametrize(
    "name",
    ["openai:no-such-model-7", "ollama:llama3", "vllm:x", "embedded", "local:x", "any-llm:nobody:x", "openai:", ""],
)
def test_what_is_not_known_stays_unknown(name: str) -> None:
    assert prices_of_name(name) is None
    assert prices_of_judge(name) is None


@given(st.text(max_size=60))
def test_no_fingerprint_breaks_the_lookup(text: str) -> None:
    prices_of_judge(text)
    prices_of_judge(f"openai/{text}@https://api.openai.com/v1#0123456789abcdef")


def test_prices_of_your_own_come_first() -> None:
    ours, theirs = Prices(prompt=1, completion=2), Prices(prompt=3, completion=4)
    judge: Any = resolve_judge("groq:llama-3.3-70b-versatile", api_key="k")
    with own_prices({"groq:llama-3.3-70b-versatile": ours, "qwen": theirs}):
        assert prices_of_name("groq:llama-3.3-70b-versatile") == ours
        assert prices_of_judge(judge.fingerprint) == ours
        assert prices_of_name("ollama:qwen") == theirs
    assert prices_of_name("ollama:qwen") is None


@given(
    *(st.integers(0, 10**7) for _ in range(4)),
    st.tuples(*(st.floats(0, 1000) for _ in range(4))),
)
def test_no_request_costs_more_than_what_was_set_aside(
    prompt: int, completion: int, cached: int, written: int, rates: tuple[float, float, float, float]
) -> None:
    prices = Prices(prompt=rates[0], completion=rates[1], cached=rates[2], cache_write=rates[3])
    assert prices.of(prompt, completion, cached, written) <= prices.most(prompt, completion) + 1  # rounded up


_LOOKUP = """
import socket
sent = []
def refuse(*args, **more):
    sent.append(args)
    raise OSError("no network")
socket.socket.connect = socket.getaddrinfo = refuse
from assay.judges.budget.known_prices import prices_of_name
assert prices_of_name("openai:gpt-4.1-mini") is not None
print(len(sent))
"""


@pytest.mark.long  # a process of its own; the small case: test_five_models_by_hand
def test_a_lookup_opens_no_connection() -> None:
    done = subprocess.run([sys.executable, "-c", _LOOKUP], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "0"), done.stderr


# ---- amounts


@pytest.mark.parametrize(
    ("text", "dollars"), [("5USD", 5.0), ("0.50 usd", 0.5), ("$5", 5.0), ("5$", 5.0), (" $ 0.001 ", 0.001)]
)
def test_amounts(text: str, dollars: float) -> None:
    assert dollars_in(text) == dollars


@pytest.mark.parametrize("text", ["5", "USD", "-5USD", "0USD", "5EUR", "1.2.3USD", "nanUSD", "", "5USD5", "1e9USD"])
def test_what_is_no_amount(text: str) -> None:
    with pytest.raises(InputError, match="such as 5USD"):
        dollars_in(text)


def test_a_budget_needs_a_price() -> None:
    unknown: Any = resolve_judge("ollama:llama3")
    with pytest.raises(InputError, match=r"\[prices\]"):
        budget_of_amount("5USD", unknown, None)
    known: Any = resolve_judge("openai:gpt-4.1-mini", api_key="k")
    both = budget_of_amount("5USD", known, Budget(calls_per_day=7))
    assert "dollars=5.0" in repr(both)
    assert "calls_per_day=7" in repr(both)


@pytest.mark.parametrize(
    ("dollars", "said"),
    [(0, "$0.00"), (12.4, "$12.40"), (1234.5, "$1,234.50"), (0.0123, "$0.0123"), (0.00012, "$0.00012")],
)
def test_dollars_in_words(dollars: float, said: str) -> None:
    assert dollars_in_words(dollars) == said


def test_cost_in_words() -> None:
    # 0.0044 for 2 rows: 2.20 for 1,000
    assert cost_in_words(USED, 2, prices_of_name("openai:gpt-4.1-mini")) == "$0.0044 ($2.20 per 1,000 rows)"
    assert cost_in_words(USED, 2, None) == "unknown price"
    assert cost_in_words(Usage(calls=1, prompt_tokens=None), 2, Prices(prompt=1, completion=1)) == "unknown price"


# ---- runs

ROWS = [
    {"question": f"When was house {n} built?", "contexts": [f"House {n} was built in {1500 + n}."],
     "answer": f"House {n} was built in {1500 + n}."}
    for n in range(8)
]  # fmt: skip
METRICS = ["faithfulness", "context_utilization"]


def judge_at(server: OpenAIServer) -> Any:
    return resolve_judge("openai:fake", base_url=server.base_url, retry_base=0.01)


def test_a_run_says_what_it_cost_and_keeps_it(tmp_path: Path) -> None:
    prices = Prices(prompt=0.4, completion=1.6)
    with OpenAIServer() as server, own_prices({"fake": prices}):
        run = evaluate(ROWS, METRICS, judge_at(server), store=tmp_path, progress=False, run="first")
        # the server counts a token for four characters, read and written; nothing was cached
        used = run.usage
        assert run.dollars == pytest.approx((used.prompt_tokens * 0.4 + used.completion_tokens * 1.6) / 1e6, abs=1e-8)
        assert sum(dollars_of(one, prices) or 0 for one in run.metric_usage.values()) == pytest.approx(
            run.dollars, abs=1e-7
        )
        assert set(run.metric_usage) == set(METRICS)
        assert f"{dollars_in_words(run.dollars)} ({dollars_in_words(run.dollars / 8 * 1000)} per 1,000 rows)" in words(
            run
        )
        assert "cost by metric: faithfulness $" in words(run)
        again = evaluate(ROWS, METRICS, judge_at(server), store=tmp_path, progress=False)
        assert again.dollars == 0.0  # every judgement was in the store
    from assay.evaluation.result import Result
    from assay.evaluation.run_names import runs_of
    from assay.store.store import Store

    kept = Result.load("first", Store(tmp_path))
    assert (kept.dollars, kept.metric_usage) == (run.dollars, run.metric_usage)
    assert {line.run: line.dollars for line in runs_of(Store(tmp_path))}["first"] == run.dollars


def test_unknown_prices_are_said_to_be_unknown(tmp_path: Path) -> None:
    with OpenAIServer() as server:
        run = evaluate(ROWS[:2], METRICS, judge_at(server), store=tmp_path, progress=False)
    assert run.dollars is None
    assert "unknown price" in words(run)


def test_an_estimate_from_a_run_has_its_spread(tmp_path: Path) -> None:
    prices = Prices(prompt=0.4, completion=1.6)
    with OpenAIServer() as server:
        run = evaluate(ROWS, METRICS, judge_at(server), store=tmp_path, progress=False)
    found = estimate(800, judge="openai:fake", prices=prices, like=run)
    assert found.dollars == pytest.approx(100 * (dollars_of(run.usage, prices) or 0))  # 800 rows are 100 times 8
    assert found.dollars_low is not None
    assert found.dollars_high is not None
    assert found.dollars_low <= found.dollars <= found.dollars_high
    assert "95% between" in words(found)
    halved = estimate(800, judge="openai-batch:fake", prices=prices, like=run)
    assert halved.dollars == pytest.approx(found.dollars / 2, rel=1e-6)


def test_a_limit_on_all_dollars_is_never_exceeded(tmp_path: Path) -> None:
    # a request may write 3 × what is expected + 500 tokens: some cents are set aside for each
    prices = Prices(prompt=10, completion=100)
    with OpenAIServer() as server:
        budget = Budget(dollars=0.1, prices=prices)
        run = evaluate(ROWS, METRICS, judge_at(server), store=tmp_path, progress=False, budget=budget, concurrency=2)
    assert run.dollars is not None
    assert 0 < run.dollars <= 0.1
    assert budget.state()["dollars"]["spent"] == pytest.approx(run.dollars, abs=1e-6)
    assert {error.cause for error in run.errors} == {Cause.BUDGET.value}


_SPEND = """
import sys
from assay import evaluate
from assay.judges.budget.budget import Budget, Prices
from assay.judges.budget.sqlite_ledger import FileLedger
from assay.judges.resolve import resolve_judge
from tests.judges.test_dollars import METRICS, ROWS
ledger, address, store = sys.argv[1:]
budget = Budget(dollars=0.2, prices=Prices(prompt=10, completion=100), ledger=FileLedger(ledger))
judge = resolve_judge("openai:fake", base_url=address)
run = evaluate(ROWS, METRICS, judge, store=store, progress=False, budget=budget)
print(run.dollars)
"""


@pytest.mark.long  # two processes; the small case: test_a_limit_on_all_dollars_is_never_exceeded
def test_processes_share_a_limit_on_all_dollars(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.db"
    with OpenAIServer() as server:
        command = [sys.executable, "-c", _SPEND, str(ledger), server.base_url]
        both = [
            subprocess.Popen([*command, str(tmp_path / f"store{n}")], stdout=subprocess.PIPE, text=True) for n in (1, 2)
        ]
        spent = [float(one.communicate(timeout=100)[0]) for one in both]
    assert [one.returncode for one in both] == [0, 0]
    assert 0 < sum(spent) <= 0.2
    later = Budget(dollars=0.2, prices=Prices(prompt=10, completion=100), ledger=FileLedger(ledger))
    assert later.state()["dollars"]["spent"] == pytest.approx(sum(spent), abs=1e-6)  # and it does not leave with a day


# ---- the command line

Run = Callable[..., tuple[int, str, str]]

CONFIG = """
[prices."openai:fake"]
prompt = 10
completion = 100
"""


def test_the_command_line_keeps_to_a_budget_and_lists_what_was_spent(command_line: Run, tmp_path: Path) -> None:
    data, config = tmp_path / "answers.jsonl", tmp_path / "assay.toml"
    data.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    config.write_text(CONFIG, encoding="utf-8")
    with OpenAIServer() as server:
        asked = ["score", str(data), "--metrics", ",".join(METRICS), "--judge", "openai:fake"]
        asked += ["--base-url", server.base_url, "--concurrency", "2"]
        _, out, _ = command_line(*asked, "--budget", "0.1USD", "--name", "cheap")
        assert "budget" in out
        assert "per 1,000 rows" in " ".join(out.split())
        (line,) = json.loads(command_line("runs", "--json")[1])
        assert 0 < line["dollars"] <= 0.1
        assert "$0." in command_line("runs")[1]
        config.write_text("", encoding="utf-8")
        code, _, err = command_line(*asked, "--budget", "0.1USD")
        assert code == 2
        assert "[prices]" in err
        config.write_text('[prices."openai:fake"]\nprompt = 1\n', encoding="utf-8")
        code, _, err = command_line(*asked)
        assert code == 2
        assert "give both prompt and completion" in err


def test_a_plan_knows_the_price_of_a_model(command_line: Run) -> None:
    found = json.loads(command_line("data", "plan", "--rows", "1000", "--judge", "openai:gpt-4.1-mini", "--json")[1])
    # without cached tokens: prompts at 0.40, replies at 1.60 dollars a million
    assert found["dollars"] == pytest.approx((found["prompt"] * 0.4 + found["completion"] * 1.6) / 1e6)
    assert "the prices are not known" in command_line("data", "plan", "--rows", "1000", "--judge", "ollama:llama3")[1]


@pytest.mark.long  # it loads the embedded judge; the small case: test_what_a_check_asks_besides_a_verdict
def test_check_by_name_says_what_the_endpoint_does(command_line: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    with server_of("anthropic") as server:
        where = ["--base-url", server.base_url, "--api-key-env", "MY_KEY"]
        code, out, _ = command_line("judge", "check", "anthropic:fake", *where)
        text = " ".join(out.split())
        for said in ("reachable: yes", "structured: json_schema", "caching: yes", "known verdicts: both right"):
            assert said in text
        assert "price: unknown" in text
    with server_of("gemini", models={"gemini-pro", "gemini-flash"}) as server:
        where = ["--base-url", f"{server.origin}/v1beta", "--api-key-env", "MY_KEY"]
        code, out, _ = command_line("judge", "check", "gemini:gemini-flsh", *where)
        assert code == 3
        assert "the endpoint has gemini-flash, gemini-pro" in " ".join(out.split())


async def test_what_a_check_asks_besides_a_verdict() -> None:
    with server_of("anthropic", models={"fake", "fable"}) as server:
        judge: Any = resolve_judge("anthropic:fake", base_url=server.base_url, api_key=KEY)
        assert await models_at(judge) == ["fable", "fake"]
        assert (await caching_of(judge)).startswith("yes: ")
        await judge.release()
    nobody: Any = resolve_judge("openai:fake", base_url="http://127.0.0.1:9/v1", max_attempts=1)
    assert await models_at(nobody) == ()
    assert (await caching_of(nobody)).startswith("not found out: ")
    await nobody.release()


def test_lists_of_models() -> None:
    assert names_in({"models": [{"name": "models/a"}, {"name": 3}, 7]}) == ["a"]
    for odd in (None, 3, [], {}, {"data": 3}, {"data": [None]}, "x"):
        assert list(names_in(odd)) == []
    assert len(names_in({"data": [{"id": "x" * 201}, *({"id": str(n)} for n in range(3000))]})) == 2000
    names = [f"m{n}" for n in range(30)]
    assert models_in_words("m29", names, most=2) == "the endpoint has m29, m9 and 28 more"


def test_the_prices_of_the_page_are_those_of_the_estimate() -> None:
    page = (Path(__file__).parents[2] / "docs" / "choose.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+:[\w.-]+)` \| ([\d.]+) \|$", page, re.MULTILINE)
    assert len(listed) == 5
    for name, dollars in listed:
        assert estimate(1000, judge=name, contexts=5, prices=prices_of_name(name)).dollars == pytest.approx(
            float(dollars), abs=0.006
        )
