"""The command `assay live trend`: means over time, and when they changed."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.config_defaults import configuration_in_use
from assay.cli.options import JsonOption, MetricsOption, StoreOption, opened
from assay.cli.output import say, say_json, show
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.store.store import Store
    from assay.store.windows import Window


def trend(
    run: Annotated[str, typer.Argument(help="A run, an application, or one of these with a window: shop@7d.")],
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
    from assay.store.windows import UTC_NAME

    if out is not None and out.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"--out: expected a file that ends in .html, got {str(out)!r}")
    held, config = opened(store), configuration_in_use()
    zone = timezone or (UTC_NAME if config is None else config.timezone)
    name, window = _run_and_window(run, held, zone)
    if window is not None and (since or until):
        raise InputError("--since, --until: give either these or a window of the run")
    found = trend_of_run(
        name,
        held,
        per=per,  # type: ignore[arg-type]  # it is checked there
        timezone=zone,
        metrics=None if metrics is None else [name.strip() for name in metrics.split(",") if name.strip()],
        cluster=cluster,
        since=seconds_at(since, "--since") if window is None else window.since,
        until=seconds_at(until, "--until") if window is None else window.until,
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
                "attributions": {name: list(some) for name, some in found.attributions.items()},
                "judge": [one._record() for one in found.judge],
                "notes": list(found.notes),
            },
            indent=2,
        )
    else:
        show(trend_tables(found))
    if out is not None:
        write_trend_page(found, out)
        say(f"trend as HTML: {out}", aside=True)


def _run_and_window(run: str, store: Store, timezone: str) -> tuple[str, Window | None]:
    """The run that is meant, and its window: "shop@7d" is the window of "live/shop". Raises InputError."""
    from assay.store.windows import parse_window

    if store.has_run(run):
        return run, None
    name, at, text = run.rpartition("@")
    window = parse_window(text, time.time(), timezone) if at else None
    name = name if at else run
    return (f"live/{name}" if not store.has_run(name) and store.has_run(f"live/{name}") else name), window


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise InputError(f"--where: expected KEY=VALUE, got {text!r}")
    return key, value
