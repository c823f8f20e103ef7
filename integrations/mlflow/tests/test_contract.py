"""The MLflow sink keeps every promise of the sinks' contract, with a real server behind a gateway that misbehaves."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from assay_mlflow import MlflowSink

from assay.records import Sample
from assay.sinks import Sink
from assay.testing.bench import ALL_FAULTS, Bench, Check, StoredScore, checks_for
from tests._support.servers.gateway import Gateway

pytestmark = pytest.mark.timeout(900)  # the first test of a session installs and starts the server

KEY = "mlflow-0123456789-secret"


class MlflowBench(Bench):
    faults = ALL_FAULTS
    secrets = (KEY,)

    def __init__(self, url: str, app: Any, reader: Any) -> None:
        (self.ids,) = app.roots(1)  # type: ignore[misc]
        self.gateway: Gateway = Gateway(url).__enter__()
        self._reader = reader

    def sink(self, **options: Any) -> Sink:
        return MlflowSink(self.gateway.url, **options)

    def stored_scores(self) -> list[StoredScore]:
        return [
            StoredScore(
                name=one.name,
                value=one.value,
                cause=one.error.error_code if one.error is not None else None,
                id=one.metadata["assay.id"],
                explanation=one.rationale,
                evidence=json.loads(one.metadata.get("assay.evidence", "[]")),
            )
            for one in self._reader.assessments(Sample(ids=self.ids))
        ]

    def wire(self) -> bytes:
        return self.gateway.wire

    def fault(self, *names: str) -> None:
        self.gateway.faults += names

    def tries(self) -> int:
        return len(self.gateway.writes)

    def stop(self) -> None:
        self.gateway.stop()

    def problems(self) -> list[str]:
        return self.gateway.problems


@pytest.fixture
def bench(url: str, apps: Callable[..., Any], reader: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[MlflowBench]:
    monkeypatch.setenv("MLFLOW_TRACKING_TOKEN", KEY)
    made = MlflowBench(url, apps(), reader)
    yield made
    made.stop()


@pytest.mark.parametrize("check", checks_for(MlflowBench), ids=lambda check: check.__name__)
def test_contract(bench: MlflowBench, check: Check) -> None:
    check(bench)
