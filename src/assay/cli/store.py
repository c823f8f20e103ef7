"""The commands `assay store info` and `assay store prune`."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from assay._util.durations import seconds_in
from assay._util.terminal import pluralize
from assay.cli.options import JsonOption, StoreOption, WhereOption, opened, where_of
from assay.cli.output import say, say_json
from assay.errors import InputError

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


def info(store: StoreOption = Path(".assay"), as_json: JsonOption = False) -> None:
    """Show the runs, rows, judgements and size of a store."""
    with opened(store) as kept:
        runs, judges, size = kept.runs(), kept.judges(), kept.size()
        name = kept.name
    rows, judgements = sum(run.rows.stored for run in runs), sum(judges.values())
    if as_json:
        began = [run.started for run in runs]
        say_json(
            {"store": name, "bytes": size, "runs": len(runs), "rows": rows, "judgements": judgements,
             "oldest": min(began, default=None), "newest": max(began, default=None)}, indent=2,
        )  # fmt: skip
        return
    say(f"store {name}: {size_in_words(size)}")
    since = f", the first of {_day(min(run.started for run in runs))}" if runs else ""
    say(f"{pluralize(len(runs), 'run')} with {pluralize(rows, 'row')}{since}")
    say(f"{pluralize(judgements, 'judgement')} by {pluralize(len(judges), 'judge')}")


def prune(
    older_than: Annotated[str | None, typer.Option(help="Delete what is older: 90d, 12h.")] = None,
    max_size: Annotated[
        str | None, typer.Option(help="Delete the oldest until the store has this size: 500MB, 2GB.")
    ] = None,
    keep: Annotated[list[str] | None, typer.Option(help="Keep this run, or 'last'; repeatable.")] = None,
    where: WhereOption = None,
    run: Annotated[list[str] | None, typer.Option(help="With --where: delete from this run too; repeatable.")] = None,
    queue: Annotated[Path | None, typer.Option(help="With --where: delete from this queue too.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count what would be deleted.")] = False,
    store: StoreOption = Path(".assay"),
) -> None:
    """Delete the oldest rows and what nothing uses then; or, with --where, a person's rows of live runs."""
    from assay.store.pruning import prune as pruned

    if where:
        if older_than is not None or max_size is not None or keep:
            raise InputError("--where: goes with --run, --queue and --dry-run alone")
        _erase(where_of(where), run or (), queue, store, dry_run=dry_run)
        return
    if run or queue is not None:
        raise InputError("--run, --queue: go with --where, such as --where user=ann")
    if older_than is None and max_size is None:
        raise InputError("prune: name what to delete: --older-than, --max-size or --where")
    age = None if older_than is None else seconds_in(older_than, "--older-than")
    most = None if max_size is None else bytes_in(max_size, "--max-size")
    with opened(store) as kept:
        found = pruned(kept, older_than=age, max_bytes=most, keep=keep or (), dry_run=dry_run)
    verb = "would delete" if dry_run else "deleted"
    rows, runs = pluralize(found.rows, "row"), pluralize(len(found.runs), "run")
    say(f"{verb} {rows}, {runs} and {pluralize(found.judgements, 'judgement')}")
    if found.after is None:
        say(f"the store takes {size_in_words(found.before)}")
        return
    say(f"the store takes {size_in_words(found.after)}; before {size_in_words(found.before)}")
    if most is not None and found.after > most:
        say(f"that is more than {max_size}: the rest is of runs that are kept, or new", aside=True)


def _erase(where: dict[str, str], runs: Sequence[str], queue: Path | None, store: Path, *, dry_run: bool) -> None:
    from assay.live.erasure import erase
    from assay.store.tables import store_may_exist

    if queue is not None and not runs and not store_may_exist(store):
        found = erase(where, None, queue, dry_run=dry_run)
    else:
        with opened(store) as kept:
            found = erase(where, kept, queue, runs=runs, dry_run=dry_run)
    rows = pluralize(sum(found.rows.values()), "row")
    of_runs = f" ({', '.join(f'{run}: {count:,}' for run, count in found.rows.items())})" if found.rows else ""
    queued = f", {pluralize(found.samples, 'sample')} of the queue" if queue is not None else ""
    verb = "would delete" if dry_run else "deleted"
    say(f"{verb} {rows}{of_runs}, {pluralize(found.judgements, 'judgement')}{queued}")
    if found.unreadable:
        say(f"{pluralize(found.unreadable, 'row')} cannot be read, and stay: nobody knows whose they are", aside=True)
    if not dry_run and not found.scrubbed:
        say("deleted texts may be left in the file until other processes close it, or the server cleans up", aside=True)


def bytes_in(text: str, name: str) -> float:
    """A size in bytes, from 500MB or 2 GB; units are powers of 1,000."""
    found = re.fullmatch(r"\s*+(\d{1,15}(?:\.\d{1,9})?)\s*+([kmgt]?)b?\s*+", text.lower())
    if found is None:
        raise InputError(f"{name}: expected a size such as 500MB or 2GB, got {text!r}")
    return float(found[1]) * _UNITS[found[2]]


def size_in_words(size: float) -> str:
    """Bytes to two or three figures: 920 kB, 1.4 GB."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= factor:
            value = size / factor
            return f"{value:.0f} {unit}" if value >= 99.5 else f"{value:.1f} {unit}"
    return f"{size:.0f} bytes"


def _day(at: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(at))
