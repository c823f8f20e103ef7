"""Retrieval calls: what share of an agent's retrieval calls brings evidence that the calls before did not?

    calls whose output supports a claim on its own that no earlier output did / calls

The claims are those of the reference, without one those of the answer. A retrieval call is a tool call of the messages
that gave back text; `tools` names those that retrieve, where not all do. Range 0 to 1, higher is better. Our own
definition. What stands in `parts`:

    calls                 retrieval calls
    relevant_calls        those whose output supports some claim
    new_claims_N          claims that call N is the first to support
    duplicate_queries     calls that ask what an earlier one asked: the same words, or nearly (`ALIKE`, `MOST`)
    claims                claims looked for
    claims_missing        those that all outputs together do not support: the agent stopped too early
    sufficed_at           the call after which nothing new came, where something came at all
    calls_after           calls after that one: the agent stopped too late
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics.base import Metric
from assay.metrics.shared_prompts import Field, claims_of, support, texts_not_judged, with_cells
from assay.metrics.tool_calls import calls
from assay.prompts import Claims, Support
from assay.records import Sample, Score, ToolCall, Verdict

ALIKE = 0.8  # shared words / words of either, from which on two queries are one
#: Earlier queries that differ, the latest ones, with which each is compared for that; the same words are found in all.
MOST = 500


def new_claims(verdicts: Sequence[Verdict], count: int) -> list[int]:
    """For each of `count` calls, how many claims it is the first to support on its own."""
    new = [0] * count
    for verdict in verdicts:
        first = next((n for n, cell in enumerate(verdict.cells) if cell.label == "supported"), None)
        if first is not None:
            new[first] += 1
    return new


def share_new(new: Sequence[int]) -> float:
    """Calls with something new / calls. Expects at least one."""
    return sum(count > 0 for count in new) / len(new)


def duplicates(queries: Sequence[str]) -> int:
    """How many queries have the words of an earlier one, or nearly those of one of the `MOST` before them."""
    before: set[frozenset[str]] = set()
    latest: deque[frozenset[str]] = deque(maxlen=MOST)
    count = 0
    for words in (frozenset(_words(query)) for query in queries):
        if words in before:
            count += 1
            continue
        count += any(_alike(words, earlier) for earlier in latest)
        before.add(words)
        latest.append(words)
    return count


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    fewer, more = sorted((len(one), len(other)))
    if fewer < ALIKE * more:  # even if all were shared
        return False
    shared = len(one & other)
    return shared >= ALIKE * (fewer + more - shared)


def _words(text: str) -> list[str]:
    return "".join(sign if sign.isalnum() else " " for sign in text.casefold()).split()


def query_of(call: ToolCall) -> str:
    """What a call asks for: the texts and numbers among its arguments, in the order of their names."""
    return " ".join(_texts(dict(sorted(call.arguments.items()))))


def _texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for inner in value.values() for text in _texts(inner)]
    if isinstance(value, list):
        return [text for inner in value for text in _texts(inner)]
    return [] if value is None else [str(value)]


def stopping(new: Sequence[int]) -> dict[str, float]:
    """After which call nothing new came, and how many calls followed; nothing where no call brought anything."""
    last = max((n for n, count in enumerate(new, 1) if count), default=None)
    return {} if last is None else {"sufficed_at": float(last), "calls_after": float(len(new) - last)}


@dataclass(frozen=True)
class RetrievalCalls(Metric):
    """Retrieval calls that bring new evidence / retrieval calls."""

    name: ClassVar[str] = "retrieval_calls"
    asks: ClassVar = (Claims, Support)

    #: the names of the tools that retrieve; () for all
    tools: tuple[str, ...] = ()

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        made = [call for call in calls(sample.messages) if not self.tools or call.name in self.tools]
        found = [call for call in made if call.output is not None]
        if not found:
            return self.skip(
                Cause.MISSING_INPUT, f"{self.label} needs 'messages' with calls of tools and their outputs"
            )
        field: Field = "reference" if (sample.reference or "").strip() else "answer"
        if field == "answer" and not (sample.answer or "").strip():
            return self.skip(Cause.MISSING_INPUT, f"{self.label} needs 'reference' or 'answer'")
        claims = await judge.find(claims_of(sample, field))
        if not claims:
            return self.skip(Cause.NO_CLAIMS, f"the {field} makes no checkable claim")
        texts = tuple(call.output or "" for call in found)
        verdicts = await with_cells(await support(claims, texts, sample, judge), texts, sample, judge)
        return self.make_score(
            share_new(new := new_claims(verdicts, len(found))),
            verdicts={f"{field}/calls": verdicts},
            parts={**_counts(verdicts, found, new), **stopping(new)},
            texts={"calls": texts, **texts_not_judged(sample, claims, field)},
        )


def _counts(verdicts: Sequence[Verdict], found: Sequence[ToolCall], new: Sequence[int]) -> dict[str, float]:
    relevant = sum(any(verdict.cells[n].label == "supported" for verdict in verdicts) for n in range(len(found)))
    return {
        "calls": float(len(found)),
        "relevant_calls": float(relevant),
        "duplicate_queries": float(duplicates([query_of(call) for call in found])),
        "claims": float(len(verdicts)),
        "claims_missing": float(sum(verdict.label != "supported" for verdict in verdicts)),
        **{f"new_claims_{n}": float(count) for n, count in enumerate(new, 1)},
    }
