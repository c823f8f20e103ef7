"""The command `assay live watch`: check alert rules, once or again and again."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay._util.durations import seconds_in
from assay._util.terminal import pluralize
from assay.cli.config_defaults import configuration_in_use
from assay.cli.options import StoreOption, named_again
from assay.cli.output import say, say_json
from assay.errors import InputError
from assay.store.tables import FOLDER, store_may_exist

if TYPE_CHECKING:
    from assay.live.alerts.check import AlertCheck, SlotCheck
    from assay.live.alerts.rules import AlertRule
    from assay.live.alerts.watcher import AlertWatcher

OK, UNSETTLED, OPEN = 0, 1, 5


def watch(
    store: StoreOption = Path(".assay"),
    once: Annotated[bool, typer.Option("--once", help="Check once, deliver, then end (for cron).")] = False,
    interval: Annotated[str, typer.Option(help="Time between two checks: 60s, 5m.")] = "60s",
    prometheus: Annotated[
        str | None,
        typer.Option(metavar="[HOST:]PORT", help="Serve the state for Prometheus, on 127.0.0.1 unless HOST is given."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print each check as a line of JSON.")] = False,
) -> None:
    """Check the alert rules of the configuration, and deliver alerts.

    Exit codes with --once: 0 no alert is open, 5 an alert is open, 1 none is open, but a rule could not be checked or a
    delivery failed, 2 wrong usage or configuration.
    """
    from assay.live.alerts.watcher import AlertWatcher

    rules = rules_in_use()
    if not rules:
        raise InputError("watch: the configuration has no alert rules; add tables [[alerts]] to assay.toml")
    if once and prometheus is not None:
        raise InputError("--prometheus: goes without --once")
    if not store_may_exist(store):  # looking makes no store
        raise InputError(f"store: there is none in {str(store)!r}; name yours with --store")
    seconds = seconds_in(interval, "--interval")
    watcher = AlertWatcher(
        store,
        rules,
        interval=seconds,
        store_option=named_again(store),
        on_check=None if once else lambda check: _print(check, as_json, only_events=True),
    )
    if once:
        raise typer.Exit(_once(watcher, as_json))
    _run(watcher, rules, prometheus, f"{pluralize(len(rules), 'alert rule')}, checked every {seconds:g} s")


def rules_in_use() -> tuple[AlertRule, ...]:
    """The alert rules of the configuration of the command that is running.

    Returns:
        The rules; () where there is none.

    Raises:
        InputError: The configuration may not send to an address of a rule.
    """
    from assay.config.keys import check_alerts

    config = configuration_in_use()
    if config is None:
        return ()
    check_alerts(config)
    return config.alerts


def watcher_in_use(store: Path | None = None) -> AlertWatcher | None:
    """The alert watcher that a queue worker runs, on the store of its live runs.

    Args:
        store: The store. None: that of the configuration, or the default one.

    Returns:
        The watcher; None where the configuration has no rules.

    Raises:
        InputError: The configuration may not send to an address of a rule, or may not name its store.
    """
    from assay.config.keys import check_store
    from assay.live.alerts.watcher import AlertWatcher

    config, rules = configuration_in_use(), rules_in_use()
    if config is None or not rules:
        return None
    if store is None:
        check_store(config)
        store = config.store or Path(FOLDER)
    return AlertWatcher(store, rules, store_option=named_again(store))


def _once(watcher: AlertWatcher, as_json: bool) -> int:
    try:
        found = watcher.check()
        pending = watcher.deliver()
    finally:
        watcher.close()
    _print(found, as_json, only_events=False)
    if pending:
        say(f"assay: {pending} deliveries did not succeed yet; the next check repeats them", aside=True)
    if found.open:
        return OPEN
    return UNSETTLED if found.problems or pending else OK


def _run(watcher: AlertWatcher, rules: tuple[AlertRule, ...], prometheus: str | None, what: str) -> None:
    from contextlib import ExitStack

    from assay.live.alerts.prometheus import MetricsEndpoint

    with ExitStack() as stack:
        if prometheus is not None:
            if not any(rule.shows_on("prometheus") for rule in rules):
                raise InputError('--prometheus: no rule has "prometheus" in its `to`')
            endpoint = stack.enter_context(MetricsEndpoint(watcher.gauges.prometheus_text, **_place(prometheus)))
            say(f"assay: metrics at http://{endpoint.address}/metrics", aside=True)
        stopped = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            before = signal.signal(number, lambda *_: stopped.set())
            stack.callback(signal.signal, number, before)
        watcher.start()
        say(f"assay: {what}; Ctrl-C ends it", aside=True)
        stopped.wait()
        watcher.stop(STOP_GRACE)


STOP_GRACE = 5.0  # seconds for the check under way


def _place(text: str) -> dict[str, Any]:
    """Host and port of --prometheus."""
    host, _, port = text.rpartition(":")
    if not (port.isascii() and port.isdigit() and len(port) < 6 and int(port) < 65536):
        raise InputError(f"--prometheus: expected [HOST:]PORT, got {text[:60]!r}")
    return {"port": int(port), **({"host": host.strip("[]")} if host else {})}


def _print(check: AlertCheck, as_json: bool, *, only_events: bool) -> None:
    if as_json:
        say_json({
            "at": check.at,
            "problems": list(check.problems),
            "rules": [_slot_json(slot) for slot in check.slots],
        })  # fmt: skip
        return
    for slot in check.slots:
        if slot.event is not None or not only_events:
            state = slot.event or ("open" if slot.is_open else "ok")
            say(f"{state:<7} {slot.rule.name}{_part(slot)}: {slot.evidence.reason}")


def _part(slot: SlotCheck) -> str:
    from assay.store.alerts import shortened_value

    if slot.slice is None:
        return ""
    return f" ({slot.slice[0]}={shortened_value(slot.slice[1])})".replace("\n", " ")


def _slot_json(slot: SlotCheck) -> dict[str, Any]:
    part = None if slot.slice is None else {"column": slot.slice[0], "value": slot.slice[1]}
    named = {"rule": slot.rule.name, "run": slot.rule.run, "metric": slot.rule.metric, "slice": part}
    return {**named, "open": slot.is_open, "event": slot.event, "alert": slot.alert, **slot.evidence.to_dict()}
