"""The page of the rows of a run: a table by filters, in an order, a page by keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from assay._util.terminal import shortened
from assay.analysis.diagnosis.causes import find_row_cause
from assay.evaluation.display.lines import NOTHING
from assay.view.open_store import OpenRun, OpenStore
from assay.view.page import METRICS, MOST_VALUES, Page, link, page_of, plain, run_head
from assay.view.row_order import PAGE
from assay.view.row_query import ORDERS, Parameters, RowQuery

if TYPE_CHECKING:
    from assay.store.rows import Row


SLICES = 3  # columns of slice keys
_NO_COLUMN = ("language", "status")  # slice keys that stand in no row's metadata
_CUT = 160  # characters of a question in a table


def rows_page(store: OpenStore, given: Parameters) -> Page:
    """The rows of a run: filtered, sorted, a page by keys."""
    query = RowQuery.parse(given)
    run = store.open(query.run)
    order = query.rows(run)
    keys, earlier, later = page_of(order, given, PAGE)
    rows = {row.number: row for row in run.result.store.rows_of(run.result.stored_run, [key.number for key in keys])}
    metrics = _metric_columns(run, query)
    keys_there = run.result.score_columns().slice_keys()
    slices = [name for name in keys_there if name not in _NO_COLUMN]
    return Page("rows.html", {
        **run_head(run, query.link("/rows")), "query": query, "orders": ORDERS,
        "lines": [_row_line(run, query, key.number, rows.get(key.number), metrics, slices[:SLICES]) for key in keys],
        "metrics": metrics, "slices": slices[:SLICES], "all_slices": keys_there[:MOST_VALUES],
        "count": int(order.mask.sum()), "causes": _missing_causes(run),
        "hidden_metrics": len(run.result.metrics) - len(metrics),
        "next": None if not later else query.link("/rows", after=str(keys[-1])),
        "previous": None if not earlier else query.link("/rows", before=str(keys[0])),
        "csv": query.link("/rows.csv"), "cases": query.link("/cases.jsonl"),
        "without": [(condition, _without(query, place)) for place, condition in enumerate(query.where)],
    })  # fmt: skip


def _metric_columns(run: OpenRun, query: RowQuery) -> list[str]:
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
        "slices": [shortened(plain(sample.metadata.get(name)), 40) for name in slices],
    }  # fmt: skip


def _missing_causes(run: OpenRun) -> list[str]:
    """The causes of missing values of any metric."""
    found: dict[str, None] = {}
    for summary in run.result.metrics.values():
        found |= dict.fromkeys(str(cause) for cause, count in summary.causes.items() if count)
    return list(found)[:MOST_VALUES]


def _without(query: RowQuery, place: int) -> str:
    pairs = [pair for pair in query.parameters() if pair != ("where", "=".join(query.where[place]))]
    return link("/rows", *pairs)
