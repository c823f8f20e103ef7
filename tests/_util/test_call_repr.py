"""What objects of ours say of themselves in a terminal, a debugger or a log."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import Any

import pytest
from assay_langchain import AssayCallbackHandler, AssayMiddleware
from assay_langfuse import LangfuseSink
from assay_langsmith import LangSmithSink
from assay_llama_index import AssayEvaluator, AssayInstrumentation
from assay_mlflow import MlflowSink
from assay_opentelemetry import OpenTelemetrySink
from assay_phoenix import PhoenixSink

import assay
from assay._util.call_repr import LONG, call_repr, host_of
from assay.judges.scripted_judge import ScriptedJudge
from assay.live import FileLedger
from assay.sinks import MemorySink, StoreSink, WebhookSink

ROOMS = (
    "assay", "assay.judges.budget", "assay.capture", "assay.data", "assay.prompts", "assay.judges", "assay.live",
    "assay.metrics", "assay.evaluation.adapters", "assay.sinks", "assay.stats", "assay.metrics.systems",
    "assay.testing", "assay.text", "assay_embedded", "assay_embedded_multilingual", "assay_langchain",
    "assay_langfuse", "assay_langsmith", "assay_llama_index", "assay_mlflow", "assay_opentelemetry", "assay_phoenix",
    "assay_pytest",
)  # fmt: skip
JUDGE = ScriptedJudge(support=lambda claim, passage: "supported")
SECRET = "sk-very-secret"


def public() -> dict[str, type]:
    """Every class that our packages export and that somebody can have an object of."""
    found = {}
    for room in ROOMS:
        module = importlib.import_module(room)
        for name in getattr(module, "__all__", None) or [one for one in vars(module) if not one.startswith("_")]:
            one = getattr(module, name)
            ours = inspect.isclass(one) and one.__module__.split(".")[0].startswith("assay")
            if ours and not inspect.isabstract(one) and not getattr(one, "_is_protocol", False):
                found[f"{one.__module__}.{one.__name__}"] = one
    return found


def test_everything_public_says_what_it_is() -> None:
    classes = public()
    assert len(classes) > 120
    assert [name for name, one in classes.items() if one.__repr__ is object.__repr__] == []


def test_handlers_name_what_scores_and_who_judges() -> None:
    live = "LiveScorer(['faithfulness'], ScriptedJudge(support))"
    with AssayCallbackHandler("faithfulness", JUDGE) as handler:
        assert repr(handler) == f"AssayCallbackHandler({live})"
        assert repr(AssayMiddleware(handler=handler)) == f"AssayMiddleware(AssayCallbackHandler({live}))"
    assert repr(AssayInstrumentation("faithfulness", JUDGE)) == f"AssayInstrumentation({live})"
    assert repr(AssayCallbackHandler(metrics=())) == "<AssayCallbackHandler: metrics=()>"
    assert "switched off" in repr(AssayCallbackHandler("faithfulness", JUDGE, enabled=False))
    judged = "'faithfulness', ScriptedJudge(support)"
    assert repr(AssayEvaluator("faithfulness", JUDGE)).startswith(f"AssayEvaluator({judged}, threshold=")


def test_files_are_named(tmp_path: Path) -> None:
    path = str(tmp_path / "here")
    assert repr(assay.live.SampleQueue(path)) == f"SampleQueue({path!r})"
    assert repr(assay.JsonlSink(path + ".jsonl")) == f"JsonlSink({path + '.jsonl'!r})"
    assert repr(FileLedger(path + ".db")) == f"FileLedger({path + '.db'!r})"
    assert repr(StoreSink(path, "nightly")) == f"StoreSink({path!r}, 'live/nightly')"
    assert repr(assay.live.Worker(path, "faithfulness", JUDGE)).startswith(
        f"Worker({path!r}, ['faithfulness'], Scripted"
    )
    assert repr(MemorySink()) == "<MemorySink: 0 samples>"


def test_a_guard_says_what_it_lets_pass() -> None:
    ways = {"on_timeout": "block", "on_error": "block", "on_skipped": "block"}
    guard = assay.guard("faithfulness", JUDGE, threshold=0.8, deadline=1, **ways)  # type: ignore[arg-type]
    assert repr(guard).startswith(
        "Guard(['faithfulness'], ScriptedJudge(support), threshold={'faithfulness': 0.8}, dead"
    )


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: PhoenixSink("http://me:pw@box:6006", SECRET), "<PhoenixSink: Phoenix at box:6006>"),
        (
            lambda: LangfuseSink(public_key="pk", secret_key=SECRET, base_url="http://me:pw@box:3000"),
            "LangfuseSink(base_url='box:3000')",
        ),
        (lambda: LangSmithSink(api_url="http://me:pw@box/api", api_key=SECRET), "LangSmithSink(api_url='box')"),
        (lambda: MlflowSink("http://me:pw@box:5000"), "MlflowSink(tracking_uri='box:5000')"),
        (
            lambda: OpenTelemetrySink(endpoint="http://box:4318", headers={"authorization": SECRET}),
            "OpenTelemetrySink(endpoint='box:4318')",
        ),
        (lambda: WebhookSink("https://box/hooks/pw", secret=SECRET), "WebhookSink('box')"),
        (lambda: assay.OpenAIJudge("m", api_key=SECRET, base_url="http://box/v1"), "OpenAIJudge('m', base_url='http://box/v1')"),
    ],
)  # fmt: skip
def test_where_things_go_is_told_without_a_secret(made: Any, said: str) -> None:
    assert repr(made()) == said
    assert SECRET not in said


def test_a_judge_of_ones_own_is_named() -> None:
    class Mine(assay.TextJudge):
        fingerprint = "mine"

        async def generate(self, prompt: Any) -> Any:
            raise NotImplementedError

    assert repr(Mine()) == "Mine()"


def test_long_values_are_cut_and_those_that_raise_passed_over() -> None:
    class Raises:
        def __repr__(self) -> str:
            raise RuntimeError("never")

    assert call_repr(1, Raises(), left=None, kept=0) == "int(..., kept=0)"
    assert call_repr(1, "x" * 1000) == f"int('{'x' * (LONG - 4)}...)"


@pytest.mark.parametrize("address", ["http://[", "", "\x1b[2J", "http://a\x1b[2J/x"])
def test_a_host_that_is_none_is_safe_to_print(address: str) -> None:
    assert host_of(address).isprintable()


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("http://user:secret@localhost:11434/v1", "localhost:11434"),
        ("http://localhost:80/a@b", "localhost:80"),
        ("user:secret@localhost:11434/v1", "'localhost:11434/v1'"),
        ("http://user:se/cret@localhost/v1", "'localhost/v1'"),
        ("http://user:secret@[::1/v1", "'[::1/v1'"),
        ("postgresql://user:se@cret@db/x", "db"),
        ("sqlite:///runs.db", "'sqlite:///runs.db'"),
    ],
)
def test_no_password_is_printed(address: str, host: str) -> None:
    assert host_of(address) == host
