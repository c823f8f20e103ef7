"""The stores of this repository's own sinks, and fakes of hosted ones, for the checks of `assay.testing.bench`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

from assay_langfuse.sink import LangfuseSink
from assay_langsmith.sink import LangSmithSink
from assay_opentelemetry.sink import OpenTelemetrySink

from assay.sinks import JsonlSink, Sink, read_jsonl
from assay.sinks.store import StoreSink
from assay.sinks.webhook import WebhookSink
from assay.store.store import Store
from assay.testing.bench import ALL_FAULTS, Bench, StoredScore
from tests._support.servers import langfuse_server, langsmith_server, otlp_receiver, webhook_receiver
from tests._support.servers.langfuse_server import LangfuseServer
from tests._support.servers.langsmith_server import LangSmithServer
from tests._support.servers.otlp_receiver import OtlpReceiver
from tests._support.servers.service import FakeService
from tests._support.servers.webhook_receiver import WebhookReceiver

RUN = "0195a3f0-1234-7abc-8def-0123456789ab"
TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


class JsonlBench(Bench):
    upserts = readable = False

    def __init__(self, folder: Path) -> None:
        self.path = folder / "scores.jsonl"

    def sink(self, **options: Any) -> Sink:
        return JsonlSink(self.path, **options)

    def stored_scores(self) -> list[StoredScore]:
        rows = read_jsonl(self.path).rows if self.path.exists() else ()
        return [held for row in rows for held in _own(row["sample"].get("id"), row["scores"])]

    def wire(self) -> bytes:
        return self.path.read_bytes()


class StoreBench(Bench):
    readable = False
    _keeps_text = True

    def __init__(self, folder: Path) -> None:
        self.path = folder / "store"

    def sink(self, **options: Any) -> Sink:
        if "texts" in options:
            self._keeps_text = options["keep_text"] = options.pop("texts")
        return StoreSink(self.path, **options)

    def stored_scores(self) -> list[StoredScore]:
        with Store(self.path) as store:
            return [
                held
                for row in store.rows("live")
                for held in _own(row.scored.sample.id, {n: s.to_dict() for n, s in row.scored.scores.items()})
            ]

    def wire(self) -> bytes:
        raw = b"".join(file.read_bytes() for file in sorted(self.path.iterdir()))
        with Store(self.path) as store:  # what is kept is compressed
            rows = [row.scored.to_dict() for row in store.rows("live")] if store.has_run("live") else []
        wire = raw + json.dumps(rows, ensure_ascii=False).encode()
        # a row without texts still says whose it is: else nobody could delete a person's rows
        return (
            wire
            if self._keeps_text
            else wire.replace(b'"user":"Ada Lovelace"', b"").replace(b'"user": "Ada Lovelace"', b"")
        )


class ServiceBench(Bench):
    """A sink in front of a fake service."""

    faults = ALL_FAULTS
    server: FakeService

    def fault(self, *names: str) -> None:
        self.server.faults += names

    def tries(self) -> int:
        return len(self.server.writes)

    def wire(self) -> bytes:
        return self.server.wire

    def stop(self) -> None:
        self.server.stop()

    def next_day(self) -> None:
        self.server.today += 1

    def problems(self) -> list[str]:
        return self.server.problems


class WebhookBench(ServiceBench):
    faults = ALL_FAULTS - {"forget"}
    readable = False
    secrets = (webhook_receiver.SECRET, webhook_receiver.TOKEN, "in-the-path")

    def __init__(self, folder: Path) -> None:
        self.server: WebhookReceiver = WebhookReceiver().__enter__()

    def sink(self, **options: Any) -> Sink:
        headers = {"Authorization": webhook_receiver.TOKEN}
        url = self.server.url + "/in-the-path"
        return WebhookSink(url, headers=headers, secret=webhook_receiver.SECRET, **options)

    def stored_scores(self) -> list[StoredScore]:
        """As a receiver does that goes by the ids of annotations: the last delivery counts."""
        by_id = {one["id"]: one for delivery in self.server.deliveries.values() for one in delivery["annotations"]}
        return [
            StoredScore(
                name=one["name"],
                value=one.get("value"),
                cause=one.get("cause"),
                id=one["id"],
                explanation=one["explanation"],
                evidence=_evidence(one["metadata"]),
            )
            for one in by_id.values()
        ]


class LangSmithBench(ServiceBench):
    ids: ClassVar = {"langchain_run_id": RUN}
    secrets = (langsmith_server.KEY,)

    def __init__(self, folder: Path) -> None:
        self.server: LangSmithServer = LangSmithServer().__enter__()
        self.server.add_run(RUN)

    def sink(self, **options: Any) -> Sink:
        return LangSmithSink(api_url=self.server.url, api_key=langsmith_server.KEY, **options)

    def stored_scores(self) -> list[StoredScore]:
        return [
            StoredScore(
                name=one["key"],
                value=one.get("score"),
                cause=one["value"].partition(": ")[2] if "value" in one else None,
                id=one["id"],
                explanation=one.get("comment"),
                evidence=_evidence(one["feedback_source"]["metadata"]),
            )
            for one in self.server.feedback.values()
        ]


class LangSmithConflictsBench(LangSmithBench):
    """A LangSmith that does not replace feedback by itself."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.server.conflicts = True


class LangfuseBench(ServiceBench):
    ids: ClassVar = {"langfuse_trace_id": TRACE, "langfuse_observation_id": SPAN}
    secrets = (langfuse_server.SECRET,)

    def __init__(self, folder: Path) -> None:
        self.server: LangfuseServer = LangfuseServer().__enter__()

    def sink(self, **options: Any) -> Sink:
        keys = {"public_key": langfuse_server.PUBLIC, "secret_key": langfuse_server.SECRET}
        return LangfuseSink(base_url=self.server.url, **keys, **options)

    def stored_scores(self) -> list[StoredScore]:
        return [
            StoredScore(
                name=one["name"],
                value=one["value"] if one["dataType"] == "NUMERIC" else None,
                cause=one["value"].partition(": ")[2] if one["dataType"] == "CATEGORICAL" else None,
                id=one["id"],
                explanation=one.get("comment"),
                evidence=_evidence(one["metadata"]),
            )
            for one in self.server.scores.values()
        ]


class OtelBench(ServiceBench):
    faults = ALL_FAULTS - {"forget"}
    upserts = readable = confirms = False
    ids: ClassVar = {"otel_trace_id": TRACE, "otel_span_id": SPAN}
    secrets = (otlp_receiver.KEY,)

    def __init__(self, folder: Path) -> None:
        self.server: OtlpReceiver = OtlpReceiver().__enter__()

    def sink(self, **options: Any) -> Sink:
        headers = {otlp_receiver.HEADER: otlp_receiver.KEY}
        return OpenTelemetrySink(endpoint=self.server.url, headers=headers, **{"timeout": 2.0, **options})

    def stored_scores(self) -> list[StoredScore]:
        return [
            StoredScore(
                name=one["gen_ai.evaluation.name"],
                value=one.get("gen_ai.evaluation.score.value"),
                cause=one.get("error.type"),
                id=one["assay.id"],
                explanation=one.get("gen_ai.evaluation.explanation"),
                evidence=_evidence(one),
            )
            for one in (record["attributes"] for record in self.server.records)
        ]


BENCHES: tuple[type[Bench], ...] = (
    JsonlBench,
    StoreBench,
    WebhookBench,
    LangSmithBench,
    LangSmithConflictsBench,
    LangfuseBench,
    OtelBench,
)


def _evidence(metadata: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(metadata.get("assay.evidence", "[]"))
    return found


def _own(sample: str | None, scores: dict[str, dict[str, Any]]) -> Iterable[StoredScore]:
    """The scores of a row in our own form, which keeps the whole evidence."""
    for name, score in scores.items():
        verdicts = [verdict for many in score["verdicts"].values() for verdict in many]
        yield StoredScore(
            name=name,
            value=score.get("value"),
            cause=score.get("error", {}).get("cause"),
            id=f"{sample}/{name}",
            evidence=[
                {
                    "label": verdict["label"],
                    "claim": verdict["claim"]["text"],
                    "quotes": [{"text": quote["text"]} for quote in verdict["evidence"]],
                }
                for verdict in verdicts
            ],
        )
