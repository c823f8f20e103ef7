"""What a job takes, by measured figures.

`python -m tests.evaluation.sharded.test_estimate` writes the tables of docs/sizing.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import evaluate
from assay.errors import InputError
from assay.evaluation.sharded.estimate import (
    ADDED,
    APART,
    CLIENT,
    READING,
    CostEstimate,
    duration,
    estimate,
    on_the_line,
)
from assay.judges import Prices
from assay.judges.resolve import resolve_judge
from tests._support.servers.openai_server import OpenAIServer
from tests.evaluation.test_llm_evaluation import row

PAGE = Path(__file__).parents[3] / "docs" / "sizing.md"
SMALL = Prices(prompt=0.4, completion=1.6)  # of some small model of 2026, dollars per million tokens
BLOCK = re.compile(r"(<!-- (\w+) -->\n).*?(\n<!-- end -->)", re.DOTALL)


def embedded() -> str:
    lines = ["| rows | passages | 2 cores | 16 cores | 64 cores | kept lean, at most |", "|---|---|---|---|---|---|"]
    for rows in (10_000, 1_000_000, 100_000_000):
        for contexts in (3, 5):
            found = [estimate(rows, contexts=contexts, cores=cores) for cores in (2, 16, 64)]
            hours = " | ".join(duration(one.hours) for one in found)
            lines.append(f"| {rows:,} | {contexts} | {hours} | {found[0].lean:,.2f} GB |")
    return "\n".join(lines)


def written() -> str:
    lines = ["| rows | passages | calls | tokens of prompts, of replies | dollars | in batches | client, 2 cores |",
             "|---|---|---|---|---|---|---|"]  # fmt: skip
    for rows in (10_000, 1_000_000, 100_000_000):
        for contexts in (3, 5, 10):
            one, half = (
                estimate(rows, judge=judge, contexts=contexts, prices=SMALL)
                for judge in ("openai:MODEL", "openai-batch:MODEL")
            )
            tokens = f"{one.prompt / 1e6:,.0f} M, {one.completion / 1e6:,.0f} M"
            dollars = f"{one.dollars:,.0f} | {half.dollars:,.0f}"
            lines.append(f"| {rows:,} | {contexts} | {one.calls:,} | {tokens} | {dollars} | {duration(one.hours)} |")
    return "\n".join(lines)


def example() -> str:
    """10^8 traces with three passages: all of them by the embedded judge, one in a hundred by an LLM."""
    whole = estimate(10**8, contexts=3, cores=64)
    part = estimate(10**6, judge="openai-batch:MODEL", contexts=3, cores=2, prices=SMALL)
    return f"```text\n{whole}\n{part}\n```"


TABLES = {"embedded": embedded, "written": written, "example": example}


def filled(page: str) -> str:
    return BLOCK.sub(lambda found: found[1] + TABLES[found[2]]() + found[3], page)


def test_the_page_has_the_tables_that_the_figures_give() -> None:
    page = PAGE.read_text("utf-8")
    assert {name for _, name, _ in BLOCK.findall(page)} == set(TABLES)
    assert page == filled(page), "python -m tests.evaluation.sharded.test_estimate"


def test_the_embedded_judge_takes_cores_and_no_dollars() -> None:
    one = estimate(36_000, contexts=3, cores=4)
    seconds = 36_000 * (READING[3] + ADDED)  # 0.110 of reading and 0.0001 that a job adds
    assert one.cpu == pytest.approx(seconds / 3600)
    assert one.hours == pytest.approx(seconds / 3600 / 4 / APART)
    assert (one.dollars, one.calls, one.bound) == (0.0, 0, "cores")


def test_an_endpoint_that_allows_little_decides() -> None:
    how: dict[str, Any] = {"judge": "openai:MODEL", "contexts": 5, "cores": 16}
    free = estimate(1000, **how)
    assert (free.bound, free.calls) == ("cores", 10_000)
    assert free.hours == pytest.approx(1000 * (CLIENT + ADDED) / 16 / APART / 3600)
    few = estimate(1000, calls_per_minute=500, **how)
    assert (few.bound, few.hours) == ("calls a minute", pytest.approx(20 / 60))  # 10,000 calls at 500 a minute
    tokens = estimate(1000, calls_per_minute=500, tokens_per_minute=100_000, **how)
    # 11,129 + 2,349 tokens a row
    assert (tokens.bound, tokens.hours) == ("tokens a minute", pytest.approx(13_478_000 / 100_000 / 60))


def test_batches_cost_half() -> None:
    one, half = (
        estimate(1000, judge=judge, contexts=5, prices=Prices(prompt=1.0, completion=10.0))
        for judge in ("openai:MODEL", "anthropic-batch:MODEL")
    )
    assert one.dollars == pytest.approx(11.129 + 23.49)  # 11.129 M tokens at 1 dollar, 2.349 M at 10
    assert half.dollars == pytest.approx(one.dollars / 2)
    assert estimate(1000, judge="openai:MODEL").dollars is None


@given(st.integers(1, 10**9), st.floats(0.5, 40), st.integers(1, 500), st.sampled_from(["embedded", "openai:M"]))
def test_more_rows_and_passages_take_longer_and_cores_less(rows: int, contexts: float, cores: int, judge: str) -> None:
    def hours(rows: int, contexts: float, cores: int) -> float:
        return estimate(rows, judge=judge, contexts=contexts, cores=cores).hours

    base = hours(rows, contexts, cores)
    assert base > 0
    assert hours(rows + 1, contexts, cores) > base
    assert hours(rows, contexts + 1, cores) >= base
    assert hours(rows, contexts, cores + 1) < base


def test_lines_go_through_what_was_measured_and_on() -> None:
    points = {3: 10.0, 5: 20.0, 10: 25.0}
    assert [on_the_line(points, at) for at in (1, 3, 4, 5, 8, 10, 20)] == [0, 10, 15, 20, 23, 25, 35]


def test_a_run_of_ones_own_says_what_a_row_takes(tmp_path: Path) -> None:
    with OpenAIServer() as server:
        judge = resolve_judge("openai:fake", base_url=server.base_url, api_key="none")
        run, again = (
            evaluate([row(n) for n in range(4)], "faithfulness", judge, store=tmp_path, progress=False) for _ in "ab"
        )
    found = estimate(4000, judge="openai:fake", like=run)
    assert found.calls == 1000 * run.usage.calls == 1000 * len(server.calls)
    assert found.prompt == 1000 * (run.usage.prompt_tokens or 0) > 0
    with pytest.raises(InputError, match="like: this run says no tokens"):
        estimate(10, judge="openai:fake", like=again)  # which asked nothing


@pytest.mark.parametrize("name", ["rows", "contexts", "cores", "calls_per_minute", "tokens_per_minute"])
@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), True])
def test_numbers_that_cannot_be_meant_are_named(name: str, value: float) -> None:
    given: dict[str, Any] = {"rows": 10, "judge": "openai:M", name: value}
    with pytest.raises(InputError, match=f"{name}: expected a number above 0"):
        estimate(given.pop("rows"), **given)


def test_it_is_said_in_words() -> None:
    one = estimate(1_000_000, judge="openai:M", contexts=3, cores=8, prices=SMALL, calls_per_minute=5000)
    assert isinstance(one, CostEstimate)
    assert str(one).splitlines() == [
        "1,000,000 rows: 33.3 hours, which calls a minute decide",
        "  1.8 core hours",
        "  10,000,000 calls, 9,224,000,000 tokens of prompts, 2,070,000,000 of replies",
        "  7,001.60 dollars",
        "  at most 1.0 GB with --lean and one metric",
    ]
    assert "a day for each round of batches" in str(estimate(10, judge="openai-batch:M"))
    assert [duration(hours) for hours in (0.01, 0.5, 3, 72)] == ["36 s", "30 min", "3.0 hours", "3.0 days"]


def test_the_command_says_the_same(command_line: Callable[..., tuple[int, str, str]]) -> None:
    code, out, _ = command_line("data", "plan", "--rows", "1000000", "--contexts", "3", "--cores", "16")
    assert (code, out.strip()) == (0, str(estimate(1_000_000, contexts=3, cores=16)))
    options = ["--judge", "openai-batch:M", "--prompt-price", "1", "--completion-price", "10", "--json"]
    found = json.loads(command_line("data", "plan", "--rows", "1000", *options)[1])
    assert (found["dollars"], found["batches"]) == (pytest.approx((11.129 + 23.49) / 2), True)
    code, _, err = command_line("data", "plan", "--rows", "1000", "--prompt-price", "1")
    assert (code, "--prompt-price, --completion-price: give both" in err) == (2, True)
    assert command_line("data", "plan", "--rows", "-5")[0] == 2


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text("utf-8")), encoding="utf-8")
