"""Sinks by address, as the command line names them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from assay_langfuse.sink import LangfuseSink
from assay_langsmith.sink import LangSmithSink
from assay_opentelemetry.sink import OpenTelemetrySink

from assay._util.install_hints import install_extra
from assay.errors import InputError, MissingExtra
from assay.sinks import JsonlSink
from assay.sinks import registry as sinks
from assay.sinks.registry import resolve_sink
from assay.sinks.store import StoreSink
from assay.sinks.webhook import WebhookSink


def test_each_name_gives_its_sink(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGFUSE_PUBLIC_KEY", "pk")
    monkeypatch.setenv("LANGFUSE_SECRET_KEY", "sk")
    specs = {
        f"jsonl:{tmp_path}/scores.jsonl": JsonlSink,
        f"store:{tmp_path}/.assay": StoreSink,
        "webhook:https://host/hook": WebhookSink,
        "langsmith:": LangSmithSink,
        "langfuse:http://localhost:3000": LangfuseSink,
        "otel:http://localhost:4318": OpenTelemetrySink,
        "otel:": OpenTelemetrySink,
    }
    for spec, kind in specs.items():
        sink = resolve_sink(spec)
        assert type(sink) is kind, spec
        sink.close()


def test_a_path_with_colons_is_one_address(tmp_path: Path) -> None:
    sink = resolve_sink(f"jsonl:{tmp_path}/a:b.jsonl")
    assert isinstance(sink, JsonlSink)
    assert sink.path == tmp_path / "a:b.jsonl"


@pytest.mark.parametrize("spec", ["nowhere:x", "", "jsonl:", "store:", "webhook:", "webhook:ftp://x", "otel:localhost"])
def test_what_cannot_be_meant_is_said(spec: str) -> None:
    with pytest.raises(InputError):
        resolve_sink(spec)


def test_the_address_of_an_unknown_sink_is_not_repeated() -> None:
    with pytest.raises(InputError) as caught:
        resolve_sink("webhok:https://host/secret-path")
    assert "secret-path" not in str(caught.value)
    assert "webhook" in str(caught.value)


def test_a_missing_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sinks, "entry_points", lambda group: ())
    with pytest.raises(MissingExtra, match=re.escape(install_extra("opentelemetry"))):
        resolve_sink("otel:http://localhost:4318")


def test_langfuse_without_keys_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LANGFUSE_PUBLIC_KEY", raising=False)
    monkeypatch.delenv("LANGFUSE_SECRET_KEY", raising=False)
    with pytest.raises(InputError, match="LANGFUSE_PUBLIC_KEY"):
        resolve_sink("langfuse:http://localhost:3000")
