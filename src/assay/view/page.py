"""What pages have in common: their record, addresses, times, the head of a run's pages, pages by key."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay._util.terminal import shortened
from assay.evaluation.completeness import rows_in_words
from assay.evaluation.display.lines import line_of
from assay.evaluation.display.marks import scale
from assay.metrics.meanings import meaning_of
from assay.view.row_order import RowKey, RowOrder
from assay.view.row_query import Parameters, address, one

if TYPE_CHECKING:
    from assay.view.open_store import OpenRun

METRICS = 6  # columns of metrics that a table has at most
MOST_VALUES = 50  # values of a slice key, and causes, that a form offers


@dataclass(frozen=True, slots=True)
class Page:
    """A page: the name of its template and its values."""

    template: str
    values: dict[str, Any]


def link(path: str, *pairs: tuple[str, Any], **more: Any) -> str:
    """An address; parameters that are None are left out."""
    return address(path, [(name, str(value)) for name, value in (*pairs, *more.items()) if value is not None])


def when(seconds: float | None) -> str:
    """A time as pages show it."""
    try:
        return "" if seconds is None else time.strftime("%Y-%m-%d %H:%M", time.gmtime(seconds))
    except (ValueError, OverflowError, OSError):  # a damaged start
        return "unknown"


def run_head(run: OpenRun, here: str) -> dict[str, Any]:
    """What stands at the top of every page of a run."""
    result = run.result
    facts = (rows_in_words(result.rows, result.lost), result.data, when(result.started),
             f"judged by {shortened(result.judge, 80)}", result.note)  # fmt: skip
    return {
        "title": result.run, "run": result.run, "stored_run": result.stored_run, "here": here,
        "facts": [shortened(fact, 300) for fact in facts if fact],
        "notes": [shortened(note, 500)
                  for note in [*(f"Incomplete: {reason}." for reason in result.incomplete), *result.notes][:20]],
        "summaries": [(line_of(one), scale(line_of(one)), meaning_of(name)) for name, one in result.metrics.items()],
        "links": [("Rows", link("/rows", run=result.run)), ("Failures", link("/failures", run=result.run)),
                  ("Trend", link("/trend", run=result.run)), ("Report file", link("/report.html", run=result.run))],
    }  # fmt: skip


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


def plain(value: Any) -> str:
    """A value of the metadata as text."""
    return "" if value is None else str(value)
