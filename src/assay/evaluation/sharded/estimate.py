"""How long scoring takes and what it costs, before it is begun, from what was measured.

print(estimate(10_000_000, judge="embedded", contexts=5, cores=16))
print(estimate(10_000_000, judge="openai-batch:MODEL", prices=Prices(prompt=0.4, completion=1.6)))
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay._util.tabular import Tabular
from assay.errors import InputError, printable
from assay.judges.budget.budget import NANO, Prices, dollars_of
from assay.records import ScoredSample, Usage

if TYPE_CHECKING:
    from assay.evaluation.result import Result

#: CPU seconds of the embedded judge for a row with so many passages: `faithfulness` and `context_utilization`, on one
#: thread (`tests/benchmarks/bench_embedded_rows.py`).
READING: Mapping[int, float] = {3: 0.110, 5: 0.141}
#: Of an LLM judge with the default metrics and passages of some 170 tokens: chat calls, and tokens of prompts and
#: replies for so many passages (`bench_tokens.py`; words and marks are counted there).
CALLS = 10
PROMPT: Mapping[int, float] = {3: 9_224, 5: 11_129, 10: 15_880}
REPLY: Mapping[int, float] = {3: 2_070, 5: 2_349, 10: 3_433}
CLIENT = 0.0065  # CPU seconds of a row at an LLM judge, over aiohttp (`bench_client_cpu.py`)
ADDED = 0.0001  # CPU seconds that a job adds to a row, rounded up (`bench_jobs.py`)
APART = 0.9  # of what as many cores could do, what as many processes do (`bench_jobs.py`, two of them)
LEAN = 1000  # bytes of a row that is kept lean, at most
BATCH = 0.5  # of the usual price


@dataclass(frozen=True, slots=True)
class CostEstimate(Tabular):
    """What so many rows take.

    Attributes:
        hours: On these cores, and at this endpoint.
        bound: What they wait for: "cores", "calls a minute" or "tokens a minute".
        cpu: Hours of one core.
        calls, prompt, completion: Requests and tokens of an LLM judge; 0 of the embedded one.
        dollars: Of the judge; None where no prices are known, 0.0 where it is the embedded one. Cached input counts at
            its own price where it is known from a run like this one.
        lean: Gigabytes at most of what is kept with `--lean` and one metric.
        batches: Up to a day for each round of them comes on top of the hours.
        dollars_low, dollars_high: Ends of the 95% prediction interval of `dollars`, from how much the rows of `like`
            differ. None: there is no such run, or it has fewer than 2 rows with tokens.
    """

    rows: int
    hours: float
    bound: str
    cpu: float
    calls: int
    prompt: int
    completion: int
    dollars: float | None
    lean: float
    batches: bool = False
    dollars_low: float | None = None
    dollars_high: float | None = None

    def __str__(self) -> str:
        lines = [f"{self.rows:,} rows: {duration(self.hours)}, which {self.bound} decide"]
        if self.batches:
            lines.append("up to a day for each round of batches besides")
        lines.append(f"{self.cpu:,.1f} core hours")
        if self.calls:
            lines.append(f"{self.calls:,} calls, {self.prompt:,} tokens of prompts, {self.completion:,} of replies")
        if self.dollars:
            known = self.dollars_low is not None and self.dollars_high is not None
            spread = f" (95% between {self.dollars_low:,.2f} and {self.dollars_high:,.2f})" if known else ""
            lines.append(f"{self.dollars:,.2f} dollars{spread}")
        elif self.dollars is None:
            lines.append("dollars: the prices are not known")
        return printable("\n  ".join([*lines, f"at most {self.lean:,.1f} GB with --lean and one metric"]))


def estimate(
    rows: int,
    *,
    judge: str = "embedded",
    contexts: float = 5,
    cores: int = 2,
    prices: Prices | None = None,
    calls_per_minute: float | None = None,
    tokens_per_minute: float | None = None,
    like: Result | None = None,
) -> CostEstimate:
    """What scoring so many rows takes on so many cores, of one machine or of several.

    Raises InputError for numbers that cannot be meant, and for a run that has asked nothing.

    Args:
        judge: "embedded": faithfulness and context_utilization. Any other name is an LLM judge's, with the default
            metrics; one that answers in batches costs half, and takes the up to 24 hours of each round besides.
        contexts: Passages of a row. Measured for 3 to 10, for the embedded judge 3 to 5; beyond, the last line is drawn
            on.
        prices: Of the judge; None: no dollars.
        calls_per_minute, tokens_per_minute: What the endpoint, or the budget, allows.
        like: A run of your own rows with the judge that is meant, none of which were in the store: calls and tokens of
            a row are taken from it.
    """
    given = {
        "rows": rows, "contexts": contexts, "cores": cores, "calls_per_minute": calls_per_minute,
        "tokens_per_minute": tokens_per_minute,
    }  # fmt: skip
    for name, value in given.items():
        if value is not None and (isinstance(value, bool) or not 0 < value < math.inf):
            raise InputError(f"{name}: expected a number above 0, got {value!r}")
    lean = rows * LEAN / 1e9
    if judge == "embedded":
        cpu = rows * (on_the_line(READING, contexts) + ADDED)
        return CostEstimate(rows, cpu / cores / APART / 3600, "cores", cpu / 3600, 0, 0, 0, 0.0, lean)
    calls, prompt, completion = _like(like) if like is not None else _measured(contexts)
    cpu = rows * (CLIENT * calls / CALLS + ADDED)
    seconds = {
        "cores": cpu / cores / APART,
        "calls a minute": 60 * rows * calls / calls_per_minute if calls_per_minute else 0.0,
        "tokens a minute": 60 * rows * (prompt + completion) / tokens_per_minute if tokens_per_minute else 0.0,
    }
    bound = max(seconds, key=lambda name: seconds[name])
    batches = judge.partition(":")[0].endswith("-batch")
    total = math.ceil(rows * prompt), math.ceil(rows * completion)
    share = BATCH if batches else 1.0
    dollars = None if prices is None else share * prices.of(*total) / NANO
    low = high = None
    if like is not None and prices is not None:
        dollars, low, high = _dollars_like(like, rows, prices.scaled(share), dollars)
    asked = math.ceil(rows * calls), *total
    return CostEstimate(rows, seconds[bound] / 3600, bound, cpu / 3600, *asked, dollars, lean, batches, low, high)


def _dollars_like(
    run: Result, rows: int, prices: Prices, otherwise: float | None
) -> tuple[float | None, float | None, float | None]:
    """Dollars of so many rows like those of a run, and the ends of their 95% prediction interval.

    The sum of m new rows differs from m times the mean of n old ones with the variance m² s² (1/m + 1/n); the normal
    quantile is taken, which is too small for a few rows only.
    """
    spent = [dollars for row in run if (dollars := _dollars_of_row(row, prices)) is not None]
    if not spent:
        return otherwise, None, None
    whole = dollars_of(run.usage, prices)
    dollars = rows * (statistics.fmean(spent) if whole is None else whole / run.rows)
    if len(spent) < 2:
        return dollars, None, None
    half = 1.96 * rows * statistics.stdev(spent) * math.sqrt(1 / rows + 1 / len(spent))
    return dollars, max(0.0, dollars - half), dollars + half


def _dollars_of_row(row: ScoredSample, prices: Prices) -> float | None:
    usage = sum((score.usage for score in row.scores.values()), Usage())
    return dollars_of(usage, prices) if usage.calls else None


def on_the_line(points: Mapping[int, float], at: float) -> float:
    """The value at a place between the points that were measured, on straight lines; the outer ones are drawn on."""
    known = sorted(points.items())
    pairs = list(itertools.pairwise(known))
    (a, low), (b, high) = next((pair for pair in pairs if at <= pair[1][0]), pairs[-1])
    return max(0.0, low + (high - low) * (at - a) / (b - a))


def _measured(contexts: float) -> tuple[float, float, float]:
    return CALLS, on_the_line(PROMPT, contexts), on_the_line(REPLY, contexts)


def _like(run: Result) -> tuple[float, float, float]:
    """Calls, tokens of prompts and tokens of replies for a row."""
    usage = run.usage
    if not run.rows or not usage.calls or usage.prompt_tokens is None or usage.completion_tokens is None:
        raise InputError("like: this run says no tokens: its judge told none, or all that it asked was in the store")
    return usage.calls / run.rows, usage.prompt_tokens / run.rows, usage.completion_tokens / run.rows


def duration(hours: float) -> str:
    """In words: seconds, minutes, hours or days."""
    if hours < 2:
        return f"{60 * hours:.0f} min" if hours > 2 / 60 else f"{3600 * hours:.0f} s"
    return f"{hours:.1f} hours" if hours < 48 else f"{hours / 24:.1f} days"
