"""The state of rules as gauges: OpenTelemetry metrics, and the text that Prometheus reads."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from assay._util.install_hints import install_package
from assay.errors import MissingExtra, printable
from assay.live.alerts.check import AlertCheck, SlotCheck
from assay.live.alerts.rules import AlertRule
from assay.store.alerts import shortened_value

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})

#: Name -> help and value.
_GAUGES: Mapping[str, str] = {
    "open": "Whether an alert of the rule is open.",
    "mean": "Weighted mean of the metric in the window.",
    "scored_rows": "Rows of the window that have a value.",
}


class AlertGauges:
    """The state of the last check."""

    def __init__(self) -> None:
        self._last: AlertCheck | None = None
        self._observers: list[Any] = []

    def update(self, check: AlertCheck) -> None:
        """Take over the state of a check.

        Args:
            check: The check.
        """
        self._last = check

    def prometheus_text(self) -> str:
        """The gauges of rules with "prometheus" in `to`, in the text format of Prometheus, version 0.0.4.

        Returns:
            The text.
        """
        check, lines = self._last, []
        for name, help_text in _GAUGES.items():
            series: dict[str, float] = {}
            for slot in () if check is None else check.slots:
                value = _value(slot, name)
                if slot.rule.shows_on("prometheus") and value is not None:
                    series.setdefault(_labels(_attributes(slot)), value)
            lines += _lines(f"assay_alert_{name}", help_text, series)
        if check is not None:
            lines += _lines("assay_alert_check_timestamp_seconds", "Time of the last check.", {"": check.at})
            problems = {"": float(len(check.problems))}
            lines += _lines("assay_alert_problems", "Rules that could not be checked.", problems)
        return "".join(f"{line}\n" for line in lines)

    def register(self, rules: Iterable[AlertRule]) -> None:
        """Observe the rules with "otel" in `to` by OpenTelemetry, through the provider of the application.

        Args:
            rules: The rules.

        Raises:
            MissingExtra: opentelemetry-api is not installed, and a rule wants it.
        """
        if self._observers or not any(rule.shows_on("otel") for rule in rules):
            return
        try:
            from opentelemetry.metrics import get_meter
        except ImportError:
            needed = install_package("opentelemetry-sdk")
            raise MissingExtra(f'alerts: "otel" needs OpenTelemetry: {needed}') from None
        meter = get_meter("assay")
        self._observers = [
            meter.create_observable_gauge(f"assay.alert.{name}", [self._observer(name)], description=text)
            for name, text in _GAUGES.items()
        ]

    def _observer(self, name: str) -> Any:
        from opentelemetry.metrics import Observation

        def observe(_: Any) -> list[Observation]:
            slots = () if self._last is None else self._last.slots
            return [
                Observation(value, {f"assay.alert.{key}": text for key, text in _attributes(slot).items()})
                for slot in slots
                if slot.rule.shows_on("otel") and (value := _value(slot, name)) is not None
            ]

        return observe


def _value(slot: SlotCheck, name: str) -> float | None:
    values = {"open": float(slot.is_open), "mean": slot.evidence.mean, "scored_rows": float(slot.evidence.scored)}
    return values[name]


def _attributes(slot: SlotCheck) -> dict[str, str]:
    column, value = slot.slice or ("", "")
    return {
        "rule": printable(slot.rule.name),
        "run": printable(slot.rule.run),
        "metric": printable(slot.rule.metric),
        "column": printable(column),
        "value": printable(shortened_value(value)),
    }


def _labels(attributes: Mapping[str, str]) -> str:
    return "{" + ",".join(f'{name}="{text.translate(_ESCAPES)}"' for name, text in attributes.items()) + "}"


def _lines(name: str, help_text: str, series: Mapping[str, float]) -> list[str]:
    shown = [f"{name}{labels} {_number(value)}" for labels, value in series.items()]
    return [f"# HELP {name} {help_text}", f"# TYPE {name} gauge", *shown]


def _number(value: float) -> str:
    return repr(value) if math.isfinite(value) else "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
