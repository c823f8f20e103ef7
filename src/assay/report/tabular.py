"""The scores of a run as a long table: one line for each sample and metric, for spreadsheets and data frames."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay._util.csv_rows import write_table
from assay._util.install_hints import install_extra
from assay._util.output_files import output_file
from assay.data.outputs.score_tables import SAMPLE, SCORE
from assay.data.outputs.table_facts import RUN_METADATA, run_facts
from assay.errors import MissingExtra

if TYPE_CHECKING:
    from assay.evaluation.result import Result
    from assay.report.model import Report

COLUMNS = (
    *("run", "row", "id", "metric", "value", "error", "message", "low", "high", "direction", "baseline", "difference"),
    *("cause", "question", "answer"),
)
_TEXT = frozenset({"run", "id", "metric", "error", "message", "direction", "cause", "question", "answer"})
_BATCH = 5_000


def flat_rows(report: Report, *, evidence: bool = False) -> Iterator[dict[str, Any]]:
    """A dict for each sample and metric, in the order of `Result.all_rows`; None where there is nothing.

    value, baseline, difference  measured values alone, and this run's less the baseline's
    error, message               the cause of a missing value, and its sentence; one "by_convention" was not measured
    sample, score                with `evidence`: both as JSON, the sample on the first line of its row alone
    """
    before = _values(report.baseline, report.metrics) if report.baseline is not None else {}
    for number, scored in report.result.all_rows():
        cause = None if number is None else report.cause_of(number)
        old = {} if number is None else before.get(report.pairs.get(number, 0), {})
        sample = json.dumps(scored.sample.to_dict(), ensure_ascii=False) if evidence else None
        for name in report.metrics:
            score = scored.scores.get(name)
            if score is None:
                continue
            value = score.value if score.measured else None
            was = old.get(name)
            line = {
                "run": report.result.run,
                "row": number,
                "id": scored.sample.id,
                "metric": name,
                "value": value,
                "error": score.why_unmeasured,
                "message": score.convention if score.error is None else score.error.message,
                "low": score.low,
                "high": score.high,
                "direction": score.direction,
                "baseline": was,
                "difference": None if value is None or was is None else value - was,
                "cause": None if cause is None else cause[0],
                "question": scored.sample.question,
                "answer": scored.sample.answer,
            }
            if evidence:
                line |= {SAMPLE: sample, SCORE: json.dumps(score.to_dict(), ensure_ascii=False)}
                sample = None
            yield line


def _values(result: Result, metrics: list[str]) -> dict[int, dict[str, float]]:
    """The measured values of each row."""
    found: dict[int, dict[str, float]] = {}
    for row in result.numbered_rows():
        scores = ((name, row.scored.scores.get(name)) for name in metrics)
        found[row.number] = {n: s.value for n, s in scores if s is not None and s.measured and s.value is not None}
    return found


def write_flat_csv(report: Report, path: str | Path) -> Path:
    """Write the long table as CSV. Returns the path."""
    with output_file(path, errors="replace", newline="") as out:
        write_table(out, flat_rows(report), COLUMNS)
    return Path(path)


def write_parquet(report: Report, path: str | Path) -> Path:
    """Write the long table as Parquet, with evidence (extra `parquet`). Returns the path. Raises MissingExtra.

    `score` is the score as JSON, with its verdicts and quotes. `sample` is the sample as JSON, on the first line of
    each row. What is known of the run is in the metadata of the file, under `assay`. `open_run` reads all of it back.
    """
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtra(f"Parquet files need pyarrow: {install_extra('parquet')}") from error
    kinds = {name: pyarrow.string() if name in _TEXT else pyarrow.float64() for name in COLUMNS}
    kinds |= {"row": pyarrow.int64(), SAMPLE: pyarrow.string(), SCORE: pyarrow.string()}
    facts = json.dumps(run_facts(report.result.to_dict()))
    schema = pyarrow.schema(list(kinds.items()), metadata={RUN_METADATA: facts})
    rows = flat_rows(report, evidence=True)
    with output_file(path, "wb") as file, parquet.ParquetWriter(file, schema) as out:
        while batch := list(islice(rows, _BATCH)):
            out.write_table(pyarrow.Table.from_pylist(batch, schema=schema))
    return Path(path)
