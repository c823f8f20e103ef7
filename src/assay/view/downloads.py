"""Downloads: rows as CSV, cases as JSONL, a row as JSON, the report file."""

from __future__ import annotations

import io
from collections.abc import Iterator
from urllib.parse import quote

from assay._util.csv_rows import write_table
from assay._util.terminal import json_text
from assay.store.rows import flat_record
from assay.view.open_store import OpenRun, OpenStore
from assay.view.row_query import Parameters, RowQuery, one, required

ROWS_AT_ONCE = 500


def rows_csv(store: OpenStore, given: Parameters) -> Iterator[str]:
    """The rows of a page, all of them, as CSV: piece by piece. Raises InputError before the first piece."""
    query = RowQuery.parse(given)
    run = store.open(query.run)
    keys = [key.number for key in query.rows(run).after(None, len(run.numbers))]
    return _csv(run, keys)


def _csv(run: OpenRun, numbers: list[int]) -> Iterator[str]:
    head = _table([], run)
    yield head
    for start in range(0, len(numbers), ROWS_AT_ONCE):
        yield _table(numbers[start : start + ROWS_AT_ONCE], run)[len(head) :]


def _table(numbers: list[int], run: OpenRun) -> str:
    found = io.StringIO(newline="")
    rows = run.result.store.rows_of(run.result.stored_run, numbers)
    write_table(found, (flat_record(row.number, row.scored) for row in rows), run.result.columns)
    return found.getvalue()


def cases_jsonl(store: OpenStore, given: Parameters) -> Iterator[str]:
    """The rows of a page as test cases that wait for a reference: one line of JSON each."""
    from assay.evaluation.regression_cases import case_of

    query = RowQuery.parse(given)
    run = store.open(query.run)
    numbers = [key.number for key in query.rows(run).after(None, len(run.numbers))]
    rows = run.result.store.rows_of(run.result.stored_run, numbers)
    return (json_text(case_of(run.result.stored_run, row)) + "\n" for row in rows if row.scored.sample.question)


def row_json(store: OpenStore, given: Parameters) -> str:
    """A row as it is stored."""
    run = store.open(required(given, "run"))
    row = run.result.get_row(required(given, "row"))
    return json_text({"row": row.number, **row.scored.to_dict()}, 2) + "\n"


def report_html(store: OpenStore, given: Parameters) -> Iterator[str]:
    """The report file of a run, against a baseline where one is named."""
    from assay.report.build import ReportOptions, report_of
    from assay.report.html.page import page

    run, baseline = store.open(required(given, "run")), one(given, "baseline")
    before = None if baseline is None else store.open(baseline).result
    return page(report_of(run.result, before, ReportOptions(any_judge=True)))


def disposition(name: str) -> str:
    """The header that names a download, whatever characters the run's name has."""
    return f"attachment; filename*=UTF-8''{quote(name, safe='')}"
