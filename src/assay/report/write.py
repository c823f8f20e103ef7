"""A report in the form that the name of its file asks for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from assay._util.output_files import write_output
from assay._util.terminal import json_text
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.analysis.comparison.matrix import ComparisonMatrix
    from assay.evaluation.result import Result
    from assay.report.model import Report

FORMS = (".html", ".md", ".xml", ".csv", ".parquet", ".json")
MATRIX_FORMS = (".html", ".md")


def check_form(path: str | Path) -> str:
    """The suffix of the file. Raises InputError for one that names no form of a report, and for a folder."""
    suffix = Path(path).suffix.lower()
    if suffix not in FORMS:
        raise InputError(f"-o: expected a file that ends in {', '.join(FORMS)}; found {str(path)!r}")
    if Path(path).is_dir():
        raise InputError(f"-o: {str(path)!r} is a folder")
    return suffix


def write_report(report: Report, path: str | Path, least: Mapping[str, float] | None = None) -> Path:
    """Write a report as HTML, Markdown, JUnit XML, CSV, Parquet or JSON, by the suffix of `path`. Returns the path.

    `least` has thresholds by metric, for JUnit. Raises InputError for another suffix, MissingExtra.
    """
    suffix = check_form(path)
    if suffix == ".xml":
        from assay.report.junit import write_junit

        return write_junit(report, path, least)
    if suffix == ".html":
        from assay.report.html.page import write_page

        return write_page(report, path)
    if suffix == ".md":
        from assay.report.markdown import write_markdown

        return write_markdown(report, path)
    if suffix == ".json":
        return _write_json(report.result, path)
    from assay.report.tabular import write_flat_csv, write_parquet

    return write_flat_csv(report, path) if suffix == ".csv" else write_parquet(report, path)


def check_matrix_form(path: str | Path) -> str:
    """The suffix of the file. Raises InputError for one that is neither .html nor .md."""
    suffix = Path(path).suffix.lower()
    if suffix not in MATRIX_FORMS:
        raise InputError(f"-o: expected a file that ends in {' or '.join(MATRIX_FORMS)}; found {str(path)!r}")
    return suffix


def write_matrix(matrix: ComparisonMatrix, path: str | Path) -> Path:
    """Write the matrices as HTML or Markdown, by the suffix of `path`. Returns the path.

    Raises InputError for another suffix, MissingExtra.
    """
    if check_matrix_form(path) == ".html":
        from assay.report.html.page import write_matrix_page

        return write_matrix_page(matrix, path)
    from assay.report.matrix import matrix_markdown

    return write_output(path, "\n".join(matrix_markdown(matrix)) + "\n", errors="replace")


def report_run(result: Result, path: str | Path) -> Path:
    """Write a report of a run, in the form that the suffix of the file names.

    Args:
        result: The run.
        path: The file, which ends in .html, .md, .xml, .csv, .parquet or .json; one that exists is replaced.

    Returns:
        The path.

    Raises:
        InputError: The suffix names no form of a report.
        MissingExtra: The form needs an extra that is not installed.
    """
    from assay.report.build import report_of

    return write_report(report_of(result), path)


def _write_json(result: Result, path: str | Path) -> Path:
    """The run, with every row and its scores."""
    rows = [{"row": number, **scored.to_dict()} for number, scored in result.all_rows()]
    return write_output(path, json_text({**result.to_dict(), "samples": rows}, 2) + "\n")
