"""The pages of a run's failures, by cause and theme, and of its trend."""

from __future__ import annotations

from typing import Any

from assay.evaluation.display.marks import share
from assay.report.trend_view import trend_facts
from assay.view.open_store import OpenStore
from assay.view.page import MOST_VALUES, Page, link, run_head
from assay.view.row_query import Parameters, one, required


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
            "labels": [(label, count, share(count, causes.failed), first[label],
                        link("/rows", run=run.name, label=label))
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
    ][:MOST_VALUES]  # fmt: skip
    return Page("failures.html", values)


def trend_page(store: OpenStore, given: Parameters) -> Page:
    """The means of a run by hour, day or version."""
    run, per = store.open(required(given, "run")), one(given, "per") or "day"
    found = store.trend(run, per)
    periods = [(name, link("/trend", run=run.name, per=name)) for name in ("hour", "day", "version")]
    return Page("run_trend.html", {
        **run_head(run, link("/trend", run=run.name, per=per)), **trend_facts(found), "per": per, "periods": periods,
    })  # fmt: skip
