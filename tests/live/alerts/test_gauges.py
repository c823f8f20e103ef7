"""The state of rules for Prometheus and OpenTelemetry."""

from __future__ import annotations

import re
import socket
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from assay.errors import InputError
from assay.live.alerts.check import AlertChecker
from assay.live.alerts.gauges import AlertGauges
from assay.live.alerts.prometheus import MetricsEndpoint
from assay.live.alerts.rules import AlertTarget
from tests.live.alerts.fakes import NOW, Columns, filled, rule

HOSTILE = ['a"b\\c\nd', "\x00\x1b[2J", "\ud83d", "x" * 500, "x" * 499 + "y", "", "# HELP", "1.4"]
#: A line of the text format of Prometheus, version 0.0.4.
SERIES = re.compile(r'[a-z_]+(\{[a-z]+="(?:[^"\\\n]|\\[\\"n])*"(,[a-z]+="(?:[^"\\\n]|\\[\\"n])*")*\})? \S+')


def checked(tmp_path: Path, **given: Any) -> AlertGauges:
    values, names = [0.0] * 40 * len(HOSTILE), [value for value in HOSTILE for _ in range(40)]
    columns = Columns(values, times=[NOW] * len(values), columns={"version": names})
    gauges = AlertGauges()
    with filled(tmp_path / "store", []) as store:
        gauges.update(AlertChecker(store, [rule(slices=("version",), **given)], lambda *_: columns).check(NOW))
    return gauges


def test_each_line_is_one_series_whatever_slices_are_called(tmp_path: Path) -> None:
    text = checked(tmp_path, to=(AlertTarget("prometheus"),)).prometheus_text()
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert all(SERIES.fullmatch(line) for line in lines), lines
    assert len(set(lines)) == len(lines) == 3 * len(HOSTILE) + 2
    assert '{rule="low",run="shop",metric="faithfulness",column="version",value="1.4"} 1.0' in text
    assert 'value="a\\"b\\\\c\\nd"' in text


def test_only_rules_that_name_it_are_shown(tmp_path: Path) -> None:
    assert "rule=" not in checked(tmp_path, to=(AlertTarget("log"),)).prometheus_text()
    assert AlertGauges().prometheus_text().count("\n") == 6  # before the first check: names without series


def test_the_endpoint_is_on_loopback_and_serves_the_text() -> None:
    with MetricsEndpoint(lambda: "assay_alert_open 1\n", 0) as endpoint:
        assert endpoint.address.startswith("127.0.0.1:")
        with urllib.request.urlopen(f"http://{endpoint.address}/metrics", timeout=10) as reply:
            assert reply.read() == b"assay_alert_open 1\n"
            assert reply.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"http://{endpoint.address}/etc/passwd", timeout=10)
        host, _, port = endpoint.address.partition(":")
        with socket.create_connection((host, int(port))):  # says nothing: others are served all the same
            urllib.request.urlopen(f"http://{endpoint.address}/", timeout=10).close()
        with pytest.raises(InputError, match="cannot be listened on"):
            MetricsEndpoint(str, int(port))


def test_opentelemetry_observes_the_last_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    metrics = pytest.importorskip("opentelemetry.sdk.metrics")
    export = pytest.importorskip("opentelemetry.sdk.metrics.export")
    reader = export.InMemoryMetricReader()
    provider = metrics.MeterProvider([reader])
    monkeypatch.setattr("opentelemetry.metrics.get_meter", provider.get_meter)
    gauges = checked(tmp_path, to=(AlertTarget("otel"),))
    gauges.register([rule(to=(AlertTarget("otel"),))])
    (scope,) = reader.get_metrics_data().resource_metrics[0].scope_metrics
    found = {one.name: list(one.data.data_points) for one in scope.metrics}
    assert set(found) == {"assay.alert.open", "assay.alert.mean", "assay.alert.scored_rows"}
    assert {point.value for point in found["assay.alert.open"]} == {1.0}
    assert {point.value for point in found["assay.alert.mean"]} == {0.0}
    assert len(found["assay.alert.scored_rows"]) == len(HOSTILE)
    assert {"assay.alert.rule": "low", "assay.alert.value": "1.4"}.items() <= dict(
        next(point.attributes for point in found["assay.alert.open"] if point.attributes["assay.alert.value"] == "1.4")
    ).items()
    provider.shutdown()


def test_nothing_is_registered_for_rules_that_do_not_name_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "opentelemetry.metrics", None)
    AlertGauges().register([rule()])
    with pytest.raises(ImportError, match='alerts: "otel" needs OpenTelemetry'):
        AlertGauges().register([rule(to=(AlertTarget("otel"),))])
