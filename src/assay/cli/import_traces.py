"""The command `assay data import`: traces of a store or a file into the queue of `assay live worker`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay._util.durations import seconds_in
from assay.cli.output import say, say_json
from assay.errors import InputError, MissingExtra, StoreError

if TYPE_CHECKING:
    from assay.live.ingest import IngestReport
    from assay.live.queue.sample_queue import SampleQueue

OK, REFUSED = 0, 1


def import_traces(
    source: Annotated[str, typer.Argument(help="NAME:ADDRESS, for example otel:spans.jsonl.")],
    queue: Annotated[Path, typer.Argument(help="The folder of the queue; it is made if needed.")],
    since: Annotated[
        str | None, typer.Option(help="Traces completed then or later, as 2026-11-21; else from where it last ended.")
    ] = None,
    until: Annotated[str | None, typer.Option(help="Traces completed before then.")] = None,
    limit: Annotated[int | None, typer.Option(help="Read at most this many samples.")] = None,
    project: Annotated[str | None, typer.Option(help="Project or experiment, of stores that have them.")] = None,
    metadata: Annotated[
        list[str] | None, typer.Option(help="KEY=VALUE, added to the metadata of each sample. Repeatable.")
    ] = None,
    sampling: Annotated[float, typer.Option(help="Share of the traces to take, chosen by their ids.")] = 1.0,
    overlap: Annotated[str, typer.Option(help="How late a trace may come and still be seen: 90s, 10m, 1h.")] = "1h",
    every: Annotated[str | None, typer.Option(help="Go on, with a pass each time this is over: 60s, 5m.")] = None,
    follow: Annotated[bool, typer.Option("--follow", help="Go on, with a pass each minute.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the reports as JSON lines.")] = False,
) -> None:
    """Import traces into a queue for `assay live worker`; samples that it has already are skipped."""
    from assay.live.queue.sample_queue import SampleQueue

    pause = seconds_in(every, "--every") if every is not None else 60.0 if follow else None
    options = {
        "since": since,
        "until": until,
        "limit": limit,
        "project": project,
        "metadata": _pairs(metadata or ()),
        "overlap": seconds_in(overlap, "--overlap"),
    }
    target = SampleQueue(queue, sampling=sampling)
    try:
        while True:
            began = time.monotonic()
            report = _pass(source, target, options, again=pause is not None)
            if report is not None:
                _print(report, as_json)
            if pause is None:
                raise typer.Exit(REFUSED if report is not None and report.refused else OK)
            time.sleep(max(0.0, pause - (time.monotonic() - began)))
    finally:
        target.close(10)


def _pass(source: str, queue: SampleQueue, options: dict[str, Any], *, again: bool) -> IngestReport | None:
    """One pass. A source that cannot be reached now may be there the next time, if there is to be one."""
    from assay.live.ingest import ingest as read_once

    try:
        return read_once(source, queue, **options)
    except (InputError, MissingExtra, StoreError):
        raise
    except Exception as error:
        if not again:
            raise
        say(f"assay: {type(error).__name__} while reading {source.partition(':')[0]}: {error}", aside=True)
        return None


def _print(report: IngestReport, as_json: bool) -> None:
    if as_json:
        say_json(report.to_dict())
    else:
        say(report.text())
    for message in report.errors:
        say(f"assay: {message}", aside=True)


def _pairs(items: Sequence[str]) -> dict[str, str]:
    pairs = [item.partition("=") for item in items]
    for key, sign, value in pairs:
        if not (key and sign):
            raise InputError(f"--metadata: expected KEY=VALUE, got {key + sign + value!r}")
    return {key: value for key, _, value in pairs}
