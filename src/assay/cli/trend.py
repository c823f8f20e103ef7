"""The command `assay live trend`: means over time, and when they changed."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from assay.cli.config_defaults import configuration_in_use
from assay.cli.options import JsonOption, MetricsOption, StoreOption, opened
from assay.cli.output import say, say_json, show
from assay.errors import InputError


def trend(
    run: Annotated[str, typer.Argument(help="A run, or the name of a live run's application.")],
    per: Annotated[str, typer.Option(metavar="hour|day|version", help="Rows that make one mean.")] = "day",
    metrics: MetricsOption = None,
    since: Annotated[str | None, typer.Option(metavar="TIME", help="Leave out rows before this time.")] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="Leave out rows from this time on.")] = None,
    where: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="Take rows with this value only; repeatable.")
    ] = None,
    cluster: Annotated[str, typer.Option(metavar="KEY", help="Slice key of correlated rows.")] = "conversation",
    timezone: Annotated[
        str | None, typer.Option(metavar="NAME", help="Time zone, such as Europe/Rome. Default: assay.toml, else UTC.")
    ] = None,
    cost: Annotated[bool, typer.Option("--cost", help="Count the judge's calls and tokens; reads every row.")] = False,
    out: Annotated[Path | None, typer.Option(metavar="FILE.html", help="Write the trend as an HTML file.")] = None,
    store: StoreOption = Path(".assay"),
    as_json: JsonOption = False,
) -> None:
    """Show how means change over time, with intervals, volume and change points."""
    from assay._util.timestamps import seconds_at
    from assay.live.trends import trend as trend_of_run
    from assay.report.trend_view import trend_tables, write_trend_page

    if out is not None and out.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"--out: expected a file that ends in .html, got {str(out)!r}")
    held = opened(store)
    found = trend_of_run(
        run if held.has_run(run) or not held.has_run(f"live/{run}") else f"live/{run}",
        held,
        per=per,  # type: ignore[arg-type]  # it is checked there
        timezone=timezone or str(getattr(configuration_in_use(), "timezone", "UTC")),
        metrics=None if metrics is None else [name.strip() for name in metrics.split(",") if name.strip()],
        cluster=cluster,
        since=seconds_at(since, "--since"),
        until=seconds_at(until, "--until"),
        where=dict(_pair(one) for one in where or ()),
        costs=cost,
    )
    if as_json:
        say_json(
            {
                "run": found.run,
                "per": found.per,
                "timezone": found.timezone,
                "points": [point._record() for point in found.points],
                "changes": {name: [one._record() for one in some] for name, some in found.changes.items()},
                "notes": list(found.notes),
                "at": time.time(),
            },
            indent=2,
        )
    else:
        show(trend_tables(found))
    if out is not None:
        write_trend_page(found, out)
        say(f"trend as HTML: {out}", aside=True)


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise InputError(f"--where: expected KEY=VALUE, got {text!r}")
    return key, value
