"""Sinks are asked before the first row is scored; what does not arrive is one line; clients' logs stay quiet."""

from __future__ import annotations

import io
import logging
import threading
from pathlib import Path
from typing import Any

import pytest

from assay import ScriptedJudge, evaluate
from assay.errors import InputError
from assay.evaluation.run_names import runs_of
from assay.records import Sample, ScoredSample
from assay.sinks.log_filter import silenced
from assay.sinks.remote import KeyRefused, NotThere, Refused, RemoteSink, SinkUnreachable
from assay.sinks.writing import check_sinks
from assay.store.store import Store

ROW = {"id": "a", "question": "Q?", "contexts": ["x"], "answer": "It is so."}


class Shop(RemoteSink):
    """A store that greets and answers as it is told; its client logs with tracebacks."""

    loggers = ("noisyclient",)

    def __init__(self, hello: Exception | None = None, answer: Exception | None = None, **options: Any) -> None:
        super().__init__(attempts=1, verify=False, **options)
        self.hello = hello
        self.answer = answer
        self.sent = 0

    def _say(self, error: Exception | None) -> None:
        if error is not None:
            try:
                raise error
            except Exception:
                logging.getLogger("noisyclient.http").exception("failed, API Key: xx")
                raise

    def greet(self) -> None:
        self._say(self.hello)

    def target_of(self, sample: Sample) -> str:
        return "trace-1"

    def send(self, target: str, annotations: Any, sample: Sample) -> None:
        self.sent += 1
        self._say(self.answer)


def run(sink: Any, tmp_path: Path, asked: list[str] | None = None) -> Any:
    def support(claim: str, passage: str) -> str:
        if asked is not None:
            asked.append(claim)
        return "supported"

    judge = ScriptedJudge(support=support)
    return evaluate([ROW], ["faithfulness"], judge, store=tmp_path, sinks=[sink])


def test_a_refused_key_is_an_error_before_anything_is_scored(tmp_path: Path) -> None:
    asked: list[str] = []
    with pytest.raises(InputError, match=r"Shop: HTTP 401"):
        run(Shop(KeyRefused("HTTP 401")), tmp_path, asked)
    assert asked == []
    assert runs_of(Store(tmp_path)) == []


def test_a_missing_key_is_the_sinks_own_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no key: set SHOP_KEY"):
        run(Shop(InputError("no key: set SHOP_KEY")), tmp_path)


@pytest.mark.parametrize(
    "error", [SinkUnreachable("the shop cannot be reached"), OSError(111, "refused"), Refused("422")]
)
def test_a_store_that_is_away_is_a_warning_and_the_run_goes_on(
    error: Exception, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    sink = Shop(error)
    assert run(sink, tmp_path).rows == 1
    assert sink.sent == 1
    assert [record.getMessage().startswith("assay: Shop: nothing can be delivered") for record in caplog.records] == [
        True
    ]


def test_a_store_without_that_page_answers_all_the_same(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert run(Shop(NotThere("HTTP 404")), tmp_path).rows == 1
    assert caplog.records == []


def test_a_dry_run_asks_nobody(tmp_path: Path) -> None:
    run(Shop(KeyRefused("HTTP 401"), dry_run=lambda target, annotations: None), tmp_path)


def test_sinks_without_a_check_and_with_a_broken_one(caplog: pytest.LogCaptureFixture) -> None:
    class Plain:
        def write(self, scored: ScoredSample) -> None: ...
        def close(self) -> None: ...

    class Broken(Plain):
        def check(self) -> None:
            raise ZeroDivisionError("oops")

    check_sinks([Plain(), Broken()])
    assert [record.getMessage() for record in caplog.records] == ["assay: Broken.check failed: ZeroDivisionError: oops"]


def test_what_did_not_arrive_is_one_line_with_target_and_reason_once(tmp_path: Path) -> None:
    result = run(Shop(answer=Refused("HTTP 403,\nthe key is not one that it knows")), tmp_path)
    (line,) = result.deliveries["Shop"].listed
    assert line == "a (trace-1): faithfulness: HTTP 403, the key is not one that it knows"
    assert "not delivered: a (trace-1): faithfulness: HTTP 403" in " ".join(str(result).split())


def test_the_clients_log_never_reaches_the_user(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    run(Shop(answer=Refused("no")), tmp_path)
    assert [record for record in caplog.records if record.name.startswith("noisyclient")] == []
    logging.getLogger("noisyclient.http").warning("the application's own call")
    assert [record.getMessage() for record in caplog.records] == ["the application's own call"]


@pytest.mark.parametrize("handler", ["of root", "of the client", "last resort"])
def test_a_logger_that_the_client_makes_at_its_first_call_is_muted_too(
    handler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"shy{handler.replace(' ', '')}"
    stream = io.StringIO()
    to_stream = logging.StreamHandler(stream)
    monkeypatch.setattr(logging.root, "handlers", [to_stream] if handler == "of root" else [])
    if handler == "of the client":
        monkeypatch.setattr(logging.getLogger(name), "handlers", [to_stream])
    if handler == "last resort":
        monkeypatch.setattr(logging, "lastResort", to_stream)
    with silenced(f"{name}.client"):
        assert f"{name}.client.http" not in logging.root.manager.loggerDict
        logging.getLogger(f"{name}.client.http").error("API Key: xx")
        logging.getLogger(f"{name}.clients").error("of others")
    logging.getLogger(f"{name}.client.http").error("the application's own")
    assert stream.getvalue().splitlines() == ["of others", "the application's own"]


def test_other_threads_keep_their_logs(caplog: pytest.LogCaptureFixture) -> None:
    log = logging.getLogger("noisyclient.other")
    with silenced("noisyclient"):
        log.warning("ours")
        other = threading.Thread(target=log.warning, args=("theirs",))
        other.start()
        other.join()
        with silenced("noisyclient"):
            log.warning("nested")
        log.warning("still ours")
    log.warning("afterwards")
    assert [record.getMessage() for record in caplog.records] == ["theirs", "afterwards"]
