"""The pages: each function reads the parameters of an address and makes the values of its template."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from assay._util.terminal import shortened
from assay.analysis.comparison.flips import flips_of
from assay.analysis.comparison.independent import are_independent
from assay.analysis.diagnosis.causes import find_row_cause
from assay.errors import InputError, StoreError
from assay.evaluation.completeness import rows_in_words
from assay.evaluation.display.lines import NOTHING, line_of
from assay.evaluation.display.marks import scale, share
from assay.judges.no_judge import same_judge
from assay.metrics.meanings import meaning_of
from assay.report.matrix import matrix_caption, matrix_facts, matrix_rows
from assay.report.trend_view import trend_facts
from assay.view.compared_rows import MOVES, compared_rows
from assay.view.open_store import OpenRun, OpenStore, RunEntry
from assay.view.row_order import PAGE, RowKey, RowOrder
from assay.view.row_query import ORDERS, Parameters, RowQuery, one, required
from assay.view.row_texts import TextBudget, answer_of, row_texts, shown_text
from assay.view.sparkline import sparkline

if TYPE_CHECKING:
    from assay.evaluation.summary import Summary
    from assay.store.rows import Row

RUNS = 50  # on a page
METRICS = 6  # columns of metrics that a table has at most
SLICES = 3  # columns of slice keys
HISTORY = 20  # runs that are looked at for a row
SPARKS = 60  # runs in a sparkline
MOST_RUNS = 6  # that are compared
COMPARED = 8  # rows on a page of a comparison
_NO_COLUMN = ("language", "status")  # slice keys that stand in no row's metadata
_CUT = 160  # characters of a question in a table
_MOST_VALUES = 50  # values of a slice key, and causes, that a form offers


@dataclass(frozen=True, slots=True)
class Page:
    """A page: the name of its template and its values."""

    template: str
    values: dict[str, Any]


def link(path: str, *pairs: tuple[str, Any], **more: Any) -> str:
    """An address; parameters that are None are left out."""
    return f"{path}?{urlencode([(name, value) for name, value in (*pairs, *more.items()) if value is not None])}"


def when(seconds: float | None) -> str:
    """A time as pages show it."""
    try:
        return "" if seconds is None else time.strftime("%Y-%m-%d %H:%M", time.gmtime(seconds))
    except (ValueError, OverflowError, OSError):  # a damaged start
        return "unknown"


# ---- runs


def runs_page(store: OpenStore, given: Parameters) -> Page:
    """The runs of the store: filtered by words and kind, sorted, a page at a time."""
    words, kind, sort = one(given, "q"), one(given, "kind"), one(given, "sort") or "started"
    entries = store.entries()
    metrics = _frequent_metrics(entries)
    found = [entry for entry in entries if _is_wanted(entry, words, kind)]
    found = _sorted_runs(found, sort, [name for name in _all_metrics(entries)])
    start = _place_after(found, one(given, "after"))
    shown = found[start : start + RUNS]
    state = (("q", words), ("kind", kind), ("sort", None if sort == "started" else sort))
    following = link("/", *state, after=shown[-1].line.run) if start + RUNS < len(found) else None
    return Page("runs.html", {
        "title": "Runs", "q": words or "", "kind": kind or "", "sort": sort, "metrics": metrics,
        "all_metrics": _all_metrics(entries)[:_MOST_VALUES],
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


# ---- the rows of a run


def rows_page(store: OpenStore, given: Parameters) -> Page:
    """The rows of a run: filtered, sorted, a page by keys."""
    query = RowQuery.parse(given)
    run = store.open(query.run)
    order = query.rows(run)
    keys, earlier, later = page_of(order, given, PAGE)
    rows = {row.number: row for row in run.result.store.rows_of(run.result.stored_run, [key.number for key in keys])}
    metrics = _shown_metrics(run, query)
    keys_there = run.result.score_columns().slice_keys()
    slices = [name for name in keys_there if name not in _NO_COLUMN]
    return Page("rows.html", {
        **run_head(run, query.link("/rows")), "query": query, "orders": ORDERS,
        "lines": [_row_line(run, query, key.number, rows.get(key.number), metrics, slices[:SLICES]) for key in keys],
        "metrics": metrics, "slices": slices[:SLICES], "all_slices": keys_there[:_MOST_VALUES],
        "count": int(order.mask.sum()), "causes": _missing_causes(run), "hidden_metrics": len(run.result.metrics) - len(metrics),
        "next": None if not later else query.link("/rows", after=str(keys[-1])),
        "previous": None if not earlier else query.link("/rows", before=str(keys[0])),
        "csv": query.link("/rows.csv"), "cases": query.link("/cases.jsonl"),
        "without": [(condition, _without(query, place)) for place, condition in enumerate(query.where)],
    })  # fmt: skip


def page_of(order: RowOrder, given: Parameters, size: int) -> tuple[list[RowKey], bool, bool]:
    """The rows of a page, and whether there are earlier and later ones. Raises InputError for a key that is none."""
    after, before = one(given, "after"), one(given, "before")
    if before is not None:
        found = order.before(RowKey.parse(before, "before"), size + 1)
        earlier, keys = len(found) > size, found[-size:]
        return keys, earlier, bool(keys and order.after(keys[-1], 1))
    key = None if after is None else RowKey.parse(after, "after")
    found = order.after(key, size + 1)
    keys = found[:size]
    return keys, bool(keys and key is not None and order.before(keys[0], 1)), len(found) > size


def run_head(run: OpenRun, here: str) -> dict[str, Any]:
    """What stands at the top of every page of a run."""
    result = run.result
    return {
        "title": result.run, "run": result.run, "stored_run": result.stored_run, "here": here,
        "facts": [fact for fact in (rows_in_words(result.rows, result.lost), result.data, when(result.started),
                                    f"judged by {shortened(result.judge, 80)}", result.note) if fact],
        "notes": [*(f"Incomplete: {reason}." for reason in result.incomplete), *result.notes][:20],
        "summaries": [(line_of(one), scale(line_of(one)), meaning_of(name)) for name, one in result.metrics.items()],
        "links": [("Rows", link("/rows", run=result.run)), ("Failures", link("/failures", run=result.run)),
                  ("Trend", link("/trend", run=result.run)), ("Report file", link("/report.html", run=result.run))],
    }  # fmt: skip


def _shown_metrics(run: OpenRun, query: RowQuery) -> list[str]:
    """The first metrics of the run, that of the order among them."""
    names = list(run.result.metrics)
    if query.metric in names[METRICS:]:
        names.insert(0, names.pop(names.index(query.metric)))
    return names[:METRICS]


def _row_line(
    run: OpenRun, query: RowQuery, number: int, row: Row | None, metrics: Sequence[str], slices: Sequence[str]
) -> dict[str, Any]:
    base = {"number": number, "href": query.link("/row", row=f"row:{number}")}
    if row is None:
        return {**base, "damaged": True}
    sample, cause = row.scored.sample, find_row_cause(run.result, row)
    cells = []
    for name in metrics:
        score = row.scored.scores.get(name)
        if score is None:
            cells.append((NOTHING, ""))
        elif score.value is None:
            cells.append(("", str(score.error.cause.value) if score.error is not None else NOTHING))
        else:
            cells.append((f"{score.value:.3f}", "by convention" if score.convention is not None else ""))
    return {
        **base, "damaged": False, "id": shortened(sample.id or "", 60), "cells": cells,
        "question": shortened(sample.question or sample.answer or "no texts of this row are kept", _CUT),
        "cause": None if cause is None else str(cause.label),
        "slices": [shortened(_plain(sample.metadata.get(name)), 40) for name in slices],
    }  # fmt: skip


def _plain(value: Any) -> str:
    return "" if value is None else str(value)


def _missing_causes(run: OpenRun) -> list[str]:
    """The causes of missing values of any metric."""
    found: dict[str, None] = {}
    for summary in run.result.metrics.values():
        found |= dict.fromkeys(str(cause) for cause, count in summary.causes.items() if count)
    return list(found)[:_MOST_VALUES]


def _without(query: RowQuery, place: int) -> str:
    pairs = [pair for pair in query.parameters() if pair != ("where", "=".join(query.where[place]))]
    return link("/rows", *pairs)


# ---- one row


def row_page(store: OpenStore, given: Parameters) -> Page:
    """One row, with the rows before and after it in the list that it was opened from."""
    query = RowQuery.parse(given)
    run = store.open(query.run)
    row = run.result.get_row(required(given, "row"))
    order = query.rows(run)
    key = order.key_of(row.number)
    later = order.after(key, 1) if key is not None else []
    earlier = order.before(key, 1) if key is not None else []
    sample, budget, cause = row.scored.sample, TextBudget(), find_row_cause(run.result, row)
    question = shown_text(sample.question, budget)
    texts = row_texts(row.scored, budget)
    here = query.link("/row", row=f"row:{row.number}")
    return Page("row.html", {
        **run_head(run, here), "title": f"Row {row.number} of {run.name}", "number": row.number,
        "id": sample.id, "question": question, "texts": texts, "reference": shown_text(sample.reference, budget),
        "has_texts": sample.has_texts, "contexts_known": sample.contexts is not None,
        "turns": [(shown_text(turn.question, budget), shown_text(turn.answer, budget)) for turn in sample.history[-10:]],
        "ids": [(name, shortened(value, 200)) for name, value in list(sample.ids.items())[:20]],
        "metadata": [(shortened(name, 80), shortened(_plain(value), 300))
                     for name, value in list(sample.metadata.items())[:30]],
        "cause": cause, "history": _history(store, run, row), "raw": link("/row.json", run=query.run, row=f"row:{row.number}"),
        "cut": budget.left <= 0, "list": query.link("/rows"),
        "next": query.link("/row", row=f"row:{later[0].number}") if later else None,
        "previous": query.link("/row", row=f"row:{earlier[0].number}") if earlier else None,
    })  # fmt: skip


def _history(store: OpenStore, run: OpenRun, row: Row) -> list[dict[str, Any]]:
    """The row with the same id in the latest runs, with its values; empty for a row without an id."""
    name = row.scored.sample.id
    if name is None:
        return []
    found = []
    for entry in store.entries()[: HISTORY + 1]:
        other = entry.line.run
        if other == run.result.stored_run:
            there = row
        else:
            try:
                there = store.store.get_row(other, name)
            except (InputError, StoreError):
                continue
            if there.scored.sample.id != name:  # the number of a row, in a run without this id
                continue
        values = [there.scored.scores[one].value if one in there.scored.scores else None
                  for one in list(run.result.metrics)[:METRICS]]  # fmt: skip
        found.append({
            "run": other, "is_this": there is row, "started": when(entry.line.started),
            "href": link("/row", run=other, row=f"row:{there.number}"),
            "values": [NOTHING if value is None else f"{value:.3f}" for value in values],
        })  # fmt: skip
    return found


# ---- comparison


def compare_page(store: OpenStore, given: Parameters) -> Page:
    """Two or more runs: the verdicts, then the rows that moved, side by side."""
    names = list(dict.fromkeys(name for name in given.get("run", []) if name))
    if not 2 <= len(names) <= MOST_RUNS:
        raise InputError(f"run: expected 2 to {MOST_RUNS} different runs to compare, got {len(names)}")
    runs = _baseline_first([store.open(name) for name in names], one(given, "baseline"))
    any_judge, move = one(given, "any_judge") == "1", one(given, "moved") or "worse"
    state = [
        *(("run", run.name) for run in runs),
        ("baseline", runs[0].name),
        ("any_judge", "1" if any_judge else None),
    ]
    values: dict[str, Any] = {
        "title": f"{len(runs)} runs compared", "runs": [run.name for run in runs], "moves": MOVES, "move": move,
        "any_judge": any_judge, "here": link("/compare", *state), "others": _other_baselines(runs, state), "metrics": [],
        "report": link("/report.html", run=runs[1].name, baseline=runs[0].name) if len(runs) == 2 else None,
    }  # fmt: skip
    if not any_judge and not all(same_judge(runs[0].result.judge, other.result.judge) for other in runs[1:]):
        judges = list(dict.fromkeys(run.result.judge for run in runs))
        anyway = link("/compare", *state, any_judge="1")
        return Page("compare.html", {**values, "judges": judges, "anyway": anyway})
    if any(are_independent(runs[0].result, other.result) for other in runs[1:]):
        found = store.compare_windows(runs, any_judge)
        return Page("compare.html", {**values, "windows": found})
    matrix = store.compare(runs, any_judge)
    metric = one(given, "metric") or _most_moved(matrix)
    if metric not in matrix.metrics:
        raise InputError(f"metric: {metric!r} is not in all of these runs; they have {', '.join(matrix.metrics)}")
    rows = compared_rows(runs, metric, move)
    keys, earlier, later = page_of(rows.order, given, COMPARED)
    state += [("metric", metric), ("moved", move)]
    return Page("compare.html", {
        **values, "matrix": matrix, "metrics": matrix.metrics, "metric": metric, "here": link("/compare", *state),
        "tables": [(matrix_caption(matrix, name), matrix_rows(matrix, name)) for name in matrix.metrics],
        "matrix_facts": matrix_facts(matrix), "worse": rows.worse, "better": rows.better,
        "count": int(rows.order.mask.sum()),
        "rows": [_compared_row(runs, rows.numbers(runs, key.number), metric) for key in keys],
        "next": link("/compare", *state, after=str(keys[-1])) if later else None,
        "previous": link("/compare", *state, before=str(keys[0])) if earlier else None,
    })  # fmt: skip


def _baseline_first(runs: list[OpenRun], baseline: str | None) -> list[OpenRun]:
    """The baseline first: the one named, else the run that started first."""
    runs = sorted(runs, key=lambda run: run.result.started or 0.0)
    if baseline is not None:
        if baseline not in [run.name for run in runs]:
            raise InputError(f"baseline: expected one of the runs, got {baseline[:60]!r}")
        runs.sort(key=lambda run: run.name != baseline)
    return runs


def _other_baselines(runs: Sequence[OpenRun], state: Sequence[tuple[str, Any]]) -> list[tuple[str, str]]:
    kept = [pair for pair in state if pair[0] != "baseline"]
    return [(run.name, link("/compare", *kept, baseline=run.name)) for run in runs[1:]]


def _most_moved(matrix: Any) -> str:
    """The metric of the strongest evidence: that with the smallest p-value."""

    def p(name: str) -> float:
        return min(2.0 if one.metrics[name].p is None else one.metrics[name].p for one in matrix.comparisons)

    return min(matrix.metrics, key=p)


def _compared_row(runs: Sequence[OpenRun], numbers: Sequence[int | None], metric: str) -> dict[str, Any]:
    """One row in each run: value, answer with claims in colour, and what flipped against the first run."""
    budget, sides, first = TextBudget(7_000), [], None
    name, question = f"row {numbers[0]}", ""
    for run, number in zip(runs, numbers, strict=True):
        found = None if number is None else next(iter(run.result.store.rows_of(run.result.stored_run, [number])), None)
        if found is None:
            sides.append({"run": run.name, "missing": True})
            continue
        score = found.scored.scores.get(metric)
        if run is runs[0]:
            first, question = score, shortened(found.scored.sample.question or "", 300)
            name = found.scored.sample.id or name
        flips = flips_of(first, score) if first is not None and score is not None and run is not runs[0] else []
        value = None if score is None else score.value
        change = None if first is None or first.value is None or value is None else value - first.value
        sides.append({
            "run": run.name, "missing": False, "href": link("/row", run=run.name, row=f"row:{number}"),
            "value": NOTHING if value is None else f"{value:.3f}",
            "change": "" if run is runs[0] or not change else f"{change:+.3f}",
            "answer": answer_of(found.scored, budget, 1_500),
            "flips": [flip.line(240) for flip in list(flips)[:3]], "more": max(0, len(flips) - 3),
        })  # fmt: skip
    return {"name": shortened(name, 100), "question": question, "sides": sides}


# ---- failures and trends


def failures_page(store: OpenStore, given: Parameters) -> Page:
    """Failed rows by root cause and, where asked for, by theme."""
    name, themes = required(given, "run"), one(given, "themes") == "1"
    run = store.open(name)
    here = link("/failures", run=run.name, themes="1" if themes else None)
    causes = run.causes(themes)
    values: dict[str, Any] = {**run_head(run, here), "causes": causes, "themes_wanted": themes}
    if causes is not None:
        first: dict[str, Any] = {}
        for cause in causes.per_row.values():
            first.setdefault(cause.label, cause)
        values |= {
            "labels": [(label, count, share(count, causes.failed), first[label], link("/rows", run=run.name, label=label))
                       for label, count in causes.counts.items()],
            "themes": [(" ".join(theme.terms), theme, link("/rows", run=run.name, theme=" ".join(theme.terms)))
                       for theme in causes.themes],
            "thresholds": [(metric, limit, run.result.metrics[metric].direction)
                           for metric, limit in causes.thresholds.items()],
            "with_themes": link("/failures", run=run.name, themes="1"), "looked_at": causes.rows,
        }  # fmt: skip
    values["missing"] = [
        (metric, str(cause), count, link("/rows", run=run.name, metric=metric, missing=str(cause)))
        for metric, summary in run.result.metrics.items() for cause, count in summary.causes.most_common()
    ][:_MOST_VALUES]  # fmt: skip
    return Page("failures.html", values)


def trend_page(store: OpenStore, given: Parameters) -> Page:
    """The means of a run by hour, day or version."""
    run, per = store.open(required(given, "run")), one(given, "per") or "day"
    found = store.trend(run, per)
    periods = [(name, link("/trend", run=run.name, per=name)) for name in ("hour", "day", "version")]
    return Page("run_trend.html", {
        **run_head(run, link("/trend", run=run.name, per=per)), **trend_facts(found), "per": per, "periods": periods,
    })  # fmt: skip
