"""The groups of commands: data, judge, live and store."""

from __future__ import annotations

import typer

from assay.cli.add_cases import add
from assay.cli.align import align
from assay.cli.batches import batches
from assay.cli.batching import batching
from assay.cli.canary import canary
from assay.cli.capture import capture
from assay.cli.cascade import cascade
from assay.cli.clear_cache import clear_cache
from assay.cli.config_defaults import configured
from assay.cli.export import export
from assay.cli.import_traces import import_traces
from assay.cli.judge_check import check
from assay.cli.label import label
from assay.cli.noise import noise
from assay.cli.plan import plan
from assay.cli.probe import probe
from assay.cli.store import info, prune
from assay.cli.store_check import check as check_store
from assay.cli.store_check import repair
from assay.cli.trend import trend
from assay.cli.trust import trust
from assay.cli.watch import watch
from assay.cli.worker import worker


def _group(description: str) -> typer.Typer:
    return typer.Typer(add_completion=False, no_args_is_help=True, help=description)


data = _group("Data sets: plan, label, add, import, export.")
data.command()(configured(plan))
data.command()(configured(label))
data.command()(configured(add))
data.command("import")(import_traces)
data.command()(configured(export))

judge = _group("Judges: check, align, noise, probe, batching, cascade, trust.")
for command in (check, align, noise, probe, batching, cascade):
    judge.command()(configured(command))
judge.command()(trust)

live = _group("Live traffic: queue worker, trends, alerts, canary rows, capture check.")
live.command()(configured(worker))
live.command()(configured(trend))
live.command()(configured(watch))
live.command()(configured(canary))
live.command()(capture)

store = _group("The store: size, check, repair, pruning, cache, provider batches.")
for command in (info, prune, repair):
    store.command()(configured(command))
store.command("check")(configured(check_store))
store.command("clear-cache")(configured(clear_cache))
store.add_typer(batches, name="batches")
