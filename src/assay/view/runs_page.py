"""The page of all runs: means over time, words and kinds to filter by, runs to compare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from assay._util.terminal import shortened
from assay.errors import InputError
from assay.evaluation.display.lines import NOTHING, line_of
from assay.view.open_store import OpenStore, RunEntry
from assay.view.page import METRICS, MOST_VALUES, Page, link, when
from assay.view.row_query import Parameters, one
from assay.view.sparkline import sparkline

if TYPE_CHECKING:
    from assay.evaluation.summary import Summary


RUNS = 50  # on a page
SPARKS = 60  # runs in a sparkline


def runs_page(store: OpenStore, given: Parameters) -> Page:
    """The runs of the store: filtered by words and kind, sorted, a page at a time."""
    words, kind, sort = one(given, "q"), one(given, "kind"), one(given, "sort") or "started"
    entries = store.entries()
    metrics = _frequent_metrics(entries)
    found = [entry for entry in entries if _is_wanted(entry, words, kind)]
    found = _sorted_runs(found, sort, _all_metrics(entries))
    start = _place_after(found, one(given, "after"))
    shown = found[start : start + RUNS]
    state = (("q", words), ("kind", kind), ("sort", None if sort == "started" else sort))
    following = link("/", *state, after=shown[-1].line.run) if start + RUNS < len(found) else None
    return Page("runs.html", {
        "title": "Runs", "q": words or "", "kind": kind or "", "sort": sort, "metrics": metrics,
        "all_metrics": _all_metrics(entries)[:MOST_VALUES],
        "lines": [_run_line(entry, metrics) for entry in shown], "count": len(found), "total": len(entries),
        "start": start, "next": following, "first": link("/", *state) if start else None,
        "sparks": _sparks(entries, metrics), "lost": store.store.lost_runs(),
    })  # fmt: skip


def _all_metrics(entries: Sequence[RunEntry]) -> list[str]:
    counts: dict[str, int] = {}
    for entry in entries:
        for name in entry.line.metrics:
            counts[name] = counts.get(name, 0) + 1
    return sorted(counts, key=lambda name: -counts[name])


def _frequent_metrics(entries: Sequence[RunEntry]) -> list[str]:
    """The metrics that most runs have, as many as a table has room for."""
    return _all_metrics(entries)[:METRICS]


def _is_wanted(entry: RunEntry, words: str | None, kind: str | None) -> bool:
    if (kind == "live" and not entry.is_live) or (kind == "unfinished" and not entry.state):
        return False
    line = entry.line
    text = " ".join(str(part) for part in (line.run, line.note, line.data, line.judge) if part).lower()
    return all(word in text for word in (words or "").lower().split())


def _sorted_runs(found: list[RunEntry], sort: str, metrics: Sequence[str]) -> list[RunEntry]:
    """In the order asked for: by start, name or rows, or the worst means of a metric first."""
    if sort == "started":
        return found
    if sort == "name":
        return sorted(found, key=lambda entry: entry.line.run)
    if sort == "rows":
        return sorted(found, key=lambda entry: -entry.line.rows)
    if sort not in metrics:
        raise InputError(f"sort: expected started, name, rows or a metric of the runs; got {sort!r}")

    def badness(entry: RunEntry) -> float:
        summary = entry.line.metrics.get(sort)
        if summary is None or summary.mean is None:
            return float("inf")
        return summary.mean if summary.direction == "higher" else -summary.mean

    return sorted(found, key=badness)


def _place_after(found: Sequence[RunEntry], run: str | None) -> int:
    return next((place + 1 for place, entry in enumerate(found) if entry.line.run == run), 0)


def _run_line(entry: RunEntry, metrics: Sequence[str]) -> dict[str, Any]:
    line, usage = entry.line, entry.usage
    tokens = None if usage is None or usage.prompt_tokens is None or usage.completion_tokens is None else (
        usage.prompt_tokens + usage.completion_tokens)  # fmt: skip
    return {
        "run": line.run, "started": when(line.started), "rows": line.rows, "state": shortened(entry.state, 200),
        "is_live": entry.is_live, "judge": shortened(line.judge or "", 80), "note": shortened(line.note or "", 200),
        "data": shortened(line.data or "", 120), "missing": line.missing, "pruned": line.pruned,
        "means": [_mean(line.metrics.get(name)) for name in metrics],
        "calls": None if usage is None else usage.calls, "tokens": tokens,
        "href": link("/rows", run=line.run), "failures": link("/failures", run=line.run),
        "trend": link("/trend", run=line.run) if entry.is_live else None,
    }  # fmt: skip


def _mean(summary: Summary | None) -> tuple[str, str]:
    """The mean of a metric, and its interval with the number of rows."""
    if summary is None or summary.mean is None:
        return NOTHING, ""
    line = line_of(summary)
    return line.mean, f"{line.interval}; {line.scored} of {line.total} rows"


def _sparks(entries: Sequence[RunEntry], metrics: Sequence[str]) -> list[tuple[str, str, str]]:
    """Of each metric its course over the latest runs, as SVG, and its last mean."""
    found = []
    for name in metrics:
        means = [entry.line.metrics[name].mean for entry in reversed(entries[:SPARKS]) if name in entry.line.metrics]
        known = [mean for mean in means if mean is not None]
        if len(known) > 1:
            found.append((name, sparkline(known), f"{known[-1]:.3f}"))
    return found
