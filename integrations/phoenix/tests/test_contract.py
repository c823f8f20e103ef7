"""The Phoenix sink keeps every promise of the sinks' contract, with a real server behind a gateway that misbehaves."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from assay_phoenix import PhoenixSink

from assay.records import Sample
from assay.sinks import Sink
from assay.testing.bench import ALL_FAULTS, Bench, Check, StoredScore, checks_for
from tests._support.servers.gateway import Gateway

pytestmark = pytest.mark.timeout(900)  # the first test of a session installs and starts the server

KEY = "phoenix-0123456789-secret"


class PhoenixBench(Bench):
    faults = ALL_FAULTS
    secrets = (KEY,)

    def __init__(self, url: str, app: Any, reader: Any) -> None:
        (self.ids,) = app.roots(1)  # type: ignore[misc]
        app.arrive()
        self.gateway: Gateway = Gateway(url).__enter__()
        self._reader = reader
        self._project = app.project

    def sink(self, **options: Any) -> Sink:
        return PhoenixSink(self.gateway.url, KEY, project=self._project, **options)

    def stored_scores(self) -> list[StoredScore]:
        return [
            StoredScore(
                name=one["name"],
                value=one["result"].get("score"),
                cause=one["metadata"]["assay.cause"] if one["result"].get("label") in ("skipped", "failed") else None,
                id=one["metadata"]["assay.id"],
                explanation=one["result"].get("explanation"),
                evidence=json.loads(one["metadata"].get("assay.evidence", "[]")),
            )
            for one in self._reader.annotations(Sample(ids=self.ids))
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
def bench(url: str, apps: Callable[..., Any], reader: Any) -> Iterator[PhoenixBench]:
    made = PhoenixBench(url, apps(), reader)
    yield made
    made.stop()


@pytest.mark.parametrize("check", checks_for(PhoenixBench), ids=lambda check: check.__name__)
def test_contract(bench: PhoenixBench, check: Check) -> None:
    check(bench)
