"""A configuration file as a record: what is scored, by whom, what it may cost, where it is kept, and what must hold."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from assay.config.alerting import alerts_in
from assay.config.gating import GateSettings, gate_in
from assay.config.judging import budget_in, metrics_in
from assay.config.locate import find, opened, root_of
from assay.config.models import JudgeSettings, LiveSettings
from assay.config.table import Section
from assay.config.trust import is_trusted
from assay.config.validation import check
from assay.judges.budget.budget import Budget, Prices
from assay.live.alerts.rules import AlertRule
from assay.metrics.base import Metric
from assay.records.field_names import field_of
from assay.store.tables import is_database
from assay.store.windows import UTC_NAME


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Contents of a configuration file: data, judge, metrics, budget, store and gates.

    Attributes:
        file: Name of the file in messages.
        data: Files and named sources, as `assay score` takes them. Empty: the file names none.
        language: ISO 639-1 code of the rows that do not name their language. None: the file names none.
        store: Folder, file or database of the store. None: the file names none.
        columns: Field -> its columns. Only contexts may have several. Empty: the file maps none.
        judge: Judge and its options. A setting that the file does not have is None.
        metrics: Metrics with their parameters. Empty: the file names none.
        budget: Limits for the judge. None: the file has no budget.
        prices: Prices by judge ("openai:MODEL") or by model, before those that are known. Empty: none.
        gates: Quality gate and its baseline. None: the file has no gate.
        alerts: Alert rules on live runs. Empty: the file has none.
        timezone: IANA name of the time zone of windows and days.
        live: How live runs are kept. A setting that the file does not have is None.
        trusted: Whether the user named the file, or trusts it as it is (`assay judge trust`). Otherwise it was found in
            the folder or above it: `config.keys` says what such a file may name.
        root: Root of the repository that the file belongs to; outside of one, its folder.
        here: Folder that the paths of data and store are relative to.
        section: The whole file as a table, for errors that name a key and its line.
    """

    file: str
    data: tuple[str, ...] = ()
    language: str | None = None
    store: Path | None = None
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    judge: JudgeSettings = field(default_factory=JudgeSettings)
    metrics: tuple[Metric, ...] = ()
    budget: Budget | None = None
    prices: Mapping[str, Prices] = field(default_factory=dict)
    gates: GateSettings | None = None
    alerts: tuple[AlertRule, ...] = ()
    timezone: str = UTC_NAME
    live: LiveSettings = field(default_factory=LiveSettings)
    trusted: bool = False
    root: Path = field(default=Path(), compare=False)
    here: Path = field(default=Path(), compare=False)
    section: Section = field(default_factory=lambda: Section({}, "", {}), repr=False, compare=False)


def configuration(file: str | Path | None = None, folder: str | Path | None = None) -> Config | None:
    """Read a configuration file, or locate one for a folder and read it.

    Paths in a file are relative to the folder of the file.

    Args:
        file: The file, relative to `folder`. None: the nearest assay.toml or pyproject.toml with a table [tool.assay].
            The search begins in `folder` and goes up to the root of its repository. Outside of a repository it covers
            `folder` alone.
        folder: The folder. Paths of data and store in the result are relative to it. None: the working directory.

    Returns:
        The configuration. None where `file` is None and the search ends without a file.

    Raises:
        InputError: The file cannot be read, or a key or a value is wrong. The message names the key and its line.
    """
    here = Path.cwd() if folder is None else Path(folder)
    if file is not None:
        return _read(opened(here / file, here), (here / file).parent, here, trusted=True)
    found = find(here)
    if found is None:
        return None
    path, section = found
    return _read(section, path.parent, here, trusted=is_trusted(path, section.digest))


def _read(whole: Section, folder: Path, here: Path, *, trusted: bool) -> Config:
    tables = check(whole)
    metrics = metrics_in(whole, tables.metrics) if "metrics" in whole.values else ()
    store, judge = tables.store, tables.judge
    return Config(
        file=whole.file,
        data=tuple(_data(name, folder, here) for name in tables.data),
        language=tables.language,
        store=None if store is None else Path(store if is_database(store) else _from(folder, here, store)),
        columns=_columns(whole.section("columns"), tables.columns),
        judge=judge
        if judge.instructions is None
        else judge.model_copy(update={"instructions": folder / judge.instructions}),
        metrics=metrics,
        budget=budget_in(whole.section("budget"), tables.budget),
        prices={name: Prices(**table.model_dump()) for name, table in tables.prices.items()},
        gates=gate_in(whole.section("gates"), tables.gates, metrics, folder),
        alerts=alerts_in(whole.items("alerts"), tables.alerts, metrics),
        timezone=tables.timezone,
        live=tables.live
        if tables.live.canaries is None
        else tables.live.model_copy(update={"canaries": Path(_from(folder, here, str(tables.live.canaries)))}),
        trusted=trusted,
        root=root_of(folder),
        here=here,
        section=whole,
    )


def _columns(section: Section, columns: Mapping[str, tuple[str, ...]]) -> Mapping[str, tuple[str, ...]]:
    for key, names in columns.items():
        if len(names) > 1 and field_of(key) != "contexts":
            raise section.error(key, "expected one column; only contexts takes several")
    return columns


def _data(name: str, folder: Path, here: Path) -> str:
    """A file counts from the folder of the configuration; a named source, as otel:spans.jsonl, is what it is."""
    from assay.data.named_sources import is_source_name

    return name if name == "-" or is_source_name(name) else _from(folder, here, name)


def _from(folder: Path, here: Path, name: str) -> str:
    """A path in this folder, as it is called from the working directory."""
    if folder.resolve() == here.resolve() or Path(name).is_absolute():
        return name
    try:
        return os.path.relpath(folder / name, here)
    except ValueError:  # another drive
        return str(folder / name)
