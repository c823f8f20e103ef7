"""The page of one row: texts with evidence, scores with verdicts, cause, the same id in other runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay._util.terminal import shortened
from assay.analysis.diagnosis.causes import find_row_cause
from assay.errors import InputError, StoreError
from assay.evaluation.display.lines import NOTHING
from assay.view.open_store import OpenRun, OpenStore
from assay.view.page import METRICS, Page, link, plain, run_head, when
from assay.view.row_query import Parameters, RowQuery, required
from assay.view.row_texts import TextBudget, clip_text, row_texts

if TYPE_CHECKING:
    from assay.store.rows import Row


HISTORY = 20  # runs that are looked at for a row


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
    question = clip_text(sample.question, budget)
    texts = row_texts(row.scored, budget)
    here = query.link("/row", row=f"row:{row.number}")
    return Page("row.html", {
        **run_head(run, here), "title": f"Row {row.number} of {run.name}", "number": row.number,
        "id": sample.id, "question": question, "texts": texts, "reference": clip_text(sample.reference, budget),
        "has_texts": sample.has_texts, "contexts_known": sample.contexts is not None,
        "turns": [(clip_text(turn.question, budget), clip_text(turn.answer, budget))
                  for turn in sample.history[-10:]],
        "ids": [(name, shortened(value, 200)) for name, value in list(sample.ids.items())[:20]],
        "metadata": [(shortened(name, 80), shortened(plain(value), 300))
                     for name, value in list(sample.metadata.items())[:30]],
        "cause": cause, "history": _history(store, run, row),
        "raw": link("/row.json", run=query.run, row=f"row:{row.number}"),
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
