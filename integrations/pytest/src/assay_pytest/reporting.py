"""The report of a session's run."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path

from assay import InputError, Result
from assay.extension import json_text


def write(result: Result, path: Path) -> Path:
    """Write the report that the suffix asks for: JSON with every row, or whatever `assay report` writes.

    Raises InputError for a form that this assay does not write.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix.lower() == ".json":
        rows = [{"row": row.number, **row.scored.to_dict()} for row in result.numbered_rows()]
        path.write_text(json_text({**result.to_dict(), "samples": rows}, 2) + "\n", encoding="utf-8")
    elif importlib.util.find_spec("assay.report.build") is not None:
        written = importlib.import_module("assay.report.write")
        written.write_report(importlib.import_module("assay.report.build").report_of(result), path)
    elif path.suffix.lower() == ".md":
        path.write_text(_markdown(result), encoding="utf-8")
    else:
        raise InputError(f"--assay-report: this assay writes .json and .md, not {path.suffix}")
    return path


def _markdown(result: Result) -> str:
    lines = ["| metric | mean | scored |", "|---|---|---|"]
    for name, one in result.metrics.items():
        mean = "–" if one.mean is None else f"{one.mean:.3f}"
        lines.append(f"| `{name.replace('|', '¦').replace('`', chr(39))}` | {mean} | {one.scored}/{one.total} |")
    return "\n".join(lines) + "\n"
