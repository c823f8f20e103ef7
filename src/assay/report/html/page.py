"""The report as one HTML file: no server, nothing fetched, no script but its own (extra `report`).

The page is Jinja2 templates in `html/`, where every text is escaped; its rows are `packing`, opened by its scripts.
A Content-Security-Policy names the hashes of its style and its script, and forbids all else.
"""

from __future__ import annotations

import base64
import hashlib
import json
import time
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay._util.install_hints import install_extra
from assay._util.output_files import output_file
from assay._util.terminal import pluralize
from assay._util.version import __version__
from assay.analysis.comparison.sentences import regressions, regressions_there
from assay.errors import MissingExtra, printable
from assay.evaluation.completeness import rows_in_words
from assay.evaluation.display.cost import cost_in_words, costs_by_metric
from assay.evaluation.display.marks import scale, share
from assay.evaluation.display.overview_table import answer_lines, overview_note, share_cells
from assay.evaluation.summary import CONFIDENCE
from assay.metrics.meanings import meaning_of
from assay.records import Usage
from assay.report.html.charts import EXTRA, histogram
from assay.report.html.packing import pieces_of
from assay.report.lines import lines_of, slices_of
from assay.report.matrix import matrix_caption, matrix_facts, matrix_rows

if TYPE_CHECKING:
    from jinja2 import Environment, PackageLoader

    from assay.analysis.comparison.matrix import ComparisonMatrix
    from assay.evaluation.result import Result
    from assay.report.model import Report

#: Put together in this order.
SCRIPTS = ("dom.js", "data.js", "labels.js", "paint.js", "sample.js", "table.js", "start.js")
REGRESSIONS = 15  # that are listed
LOWEST = 5  # rows of a metric
_NOT_READ = "Not known: no metric of this run says by itself which rows failed."


def write_page(report: Report, path: str | Path) -> Path:
    """Write the report as an HTML file. Returns the path. Raises MissingExtra."""
    with output_file(path, errors="replace", newline="\n") as out:
        out.writelines(page(report))
    return Path(path)


def page(report: Report) -> Iterator[str]:
    """The file, piece by piece."""
    environment = template_environment()
    from markupsafe import Markup

    own = Markup  # for what is ours, or was drawn or packed here: no text of the data is in it as it was
    style, script = source("report.css"), "\n".join(map(source, SCRIPTS))
    found = {
        **_facts(report),
        "scale": lambda line: own(scale(line)),
        "share": lambda some, every: own(share(some, every)),
        "style": own(style),
        "script": own(script),
        "policy": policy(style, script),
        "charts": [(name, own(drawing)) for name, drawing in _charts(report)],
        "pieces": list(pieces_of(report)),
    }
    found["meta"] = own(_in_script(_meta(report, found["pieces"])))
    return environment.get_template("report.html").generate(found)


def write_matrix_page(matrix: ComparisonMatrix, path: str | Path) -> Path:
    """Write several runs compared as an HTML file. Returns the path. Raises MissingExtra."""
    environment = template_environment()
    from markupsafe import Markup

    style = source("report.css")
    found = {
        "matrix": matrix,
        "tables": [(matrix_caption(matrix, metric), matrix_rows(matrix, metric)) for metric in matrix.metrics],
        "facts": matrix_facts(matrix),
        "style": Markup(style),  # noqa: S704  # it is ours
        "policy": policy(style, ""),
        "version": __version__,
    }
    with output_file(path, errors="replace", newline="\n") as out:
        out.writelines(environment.get_template("matrix.html").generate(found))
    return Path(path)


def template_environment(*more: PackageLoader) -> Environment:
    """How templates are read: every text in them is escaped. Those of `more` come first. Raises MissingExtra."""
    try:
        from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise MissingExtra(f"an HTML report needs Jinja2: {install_extra(EXTRA)}") from error

    def seen(value: Any) -> Any:
        return printable(value) if type(value) is str else value

    return Environment(
        loader=ChoiceLoader([*more, PackageLoader("assay.report", "html")]),
        autoescape=True,
        finalize=seen,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def source(name: str) -> str:
    """A file of the page's own."""
    return resources.files("assay.report").joinpath("html", name).read_text(encoding="utf-8").strip() + "\n"


def policy(style: str, script: str) -> str:
    """What the page may do: its own style and its own script, and pictures that stand in it."""
    allowed = (f"{kind}-src 'sha256-{_hash(text)}'" for kind, text in (("script", script), ("style", style)))
    return "; ".join(["default-src 'none'", *allowed, "img-src data:", "base-uri 'none'", "form-action 'none'"])


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _in_script(value: Any) -> str:
    """JSON that ends no element: what HTML could read in it is written as escapes."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _meta(report: Report, pieces: list[Any]) -> dict[str, Any]:
    """What the scripts have to know before the rows."""
    result, baseline = report.result, report.baseline
    summaries = {name: report.figures.of[name].summary for name in report.metrics}
    return {
        "run": result.run,
        "started": result.started,
        "baseline": None if baseline is None else baseline.run,
        "metrics": [{"name": name, "higher": one.direction == "higher", "low": _end(one.low), "high": _end(one.high)}
                    for name, one in summaries.items()],
        "slices": list(report.figures.columns),
        "causes": report.causes is not None and report.causes.failed > 0,
        "count": report.listed,
        "rows": [piece.first for piece in pieces],
    }  # fmt: skip


def _end(value: float) -> float | None:
    return value if abs(value) != float("inf") else None


def _facts(report: Report) -> dict[str, Any]:

    result = report.result
    when = None if result.started is None else time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(result.started))
    facts = [rows_in_words(result.rows, result.lost), result.data, when, f"judged by {result.judge}", result.note]
    notes = [*result.notes, *(report.comparison.notes if report.comparison is not None else ())]
    notes += report.notes
    if report.most_listed is not None and report.listed < result.rows:
        notes.append(f"Samples lists the first {report.listed:,} of {result.rows:,} rows; `assay report` lists more.")
    elif report.listed < result.rows:
        which = "the worst by each metric, those that moved most, and some without a score"
        notes.append(f"Samples lists {report.listed:,} of {result.rows:,} rows: {which}.")
    notes[:0] = [f"Incomplete: {reason}" for reason in result.incomplete]
    causes = [] if report.causes is None else sorted(report.causes.shares.items(), key=lambda item: -item[1])
    return {
        "report": report,
        "version": __version__,
        "facts": [fact for fact in facts if fact],
        "notes": list(dict.fromkeys(notes)),
        "lines": lines_of(report),
        "confidence": f"{CONFIDENCE:.0%}",
        "cluster": report.figures.cluster,
        "fallen": regressions(report.comparison),
        "fallen_there": regressions_there(report.comparison),
        "shown": REGRESSIONS,
        "lowest": [(name, worst) for name in report.metrics if (worst := report.figures.of[name].worst(LOWEST))],
        "causes": causes,
        "counted": pluralize,
        "no_causes": _NOT_READ if report.causes is None else "No row failed.",
        "slices": slices_of(report),
        "costs": [_cost(one) for one in (result, report.baseline) if one is not None],
        **_overview(report),
    }


def _overview(report: Report) -> dict[str, Any]:
    """The shares of rows, the table of questions and replies, and what the metrics measure."""
    head, lines = answer_lines(report.overview.answerability)
    meanings = {name: meaning_of(name) for name in report.metrics}
    return {
        "shares": [(share, share_cells(share)) for share in report.overview.shares()],
        "overview_note": overview_note(report.overview),
        "answer_head": head,
        "answer_lines": lines,
        "meanings": {name: meaning for name, meaning in meanings.items() if meaning},
    }


def _charts(report: Report) -> Iterator[tuple[str, str]]:
    for name in report.metrics:
        figures = report.figures.of[name]
        before = [] if report.before is None else report.before.of[name].values
        drawing = histogram(figures.values, figures.summary.low, figures.summary.high, before)
        if drawing:
            yield name, drawing


def _cost(result: Result) -> dict[str, Any]:
    usage: Usage = result.usage
    counts = {"prompt": usage.prompt_tokens, "cached": usage.cached_tokens, "completion": usage.completion_tokens}
    return {
        "run": result.run,
        "judge": result.judge,
        "calls": f"{usage.calls:,}",
        **{name: "unknown" if count is None else f"{count:,}" for name, count in counts.items()},
        "price": cost_in_words(usage, result.rows, result.prices) if usage.calls else "",
        "by_metric": costs_by_metric(result.metric_usage, result.prices),
        "cache_hits": f"{result.cache_hits:,}",
        "seconds": f"{result.seconds:,.1f}",
    }
