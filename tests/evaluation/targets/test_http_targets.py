"""`assay.run` with an HTTP application on loopback: templates, paths, streams, refusals."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

import assay
from assay.evaluation.targets import HttpTarget, TargetRuns
from assay.evaluation.targets.http_target import filled, follow

SECRET = "Bearer secret-0123456789"


class Application(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    busy: dict[str, int] = {}  # noqa: RUF012  # one server at a time
    released = threading.Event()

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        question = parse_qs(urlsplit(self.path).query).get("q", ["?"])[0]
        self._reply(200, {"answer": f"to {question}"})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        question = body.get("question") or body["input"]["text"]
        match urlsplit(self.path).path:
            case "/nested":
                assert self.headers["authorization"] == SECRET
                self._reply(200, {"choices": [{"message": {"content": f"{body['model']} to {question}"}}],
                                  "found": [{"text": "one"}, {"text": "two"}],
                                  "usage": {"in": 3, "out": 2, "price": 0.25}})  # fmt: skip
            case "/stream":
                self._stream(question)
            case "/busy":
                Application.busy[question] = Application.busy.get(question, 0) + 1
                if Application.busy[question] < 2:
                    self._reply(429, {"error": "slow down"}, {"Retry-After": "0"})
                else:
                    self._reply(200, {"answer": f"to {question}"})
            case "/hostile":
                self._hostile(question)
            case _:
                self._reply(200, {"answer": f"to {question}", "contexts": ["passage"]})

    def _hostile(self, question: str) -> None:
        match question:
            case "refused":
                self._reply(400, {"error": f"bad {self.headers['authorization']}"})
            case "redirect":
                self._reply(302, {}, {"Location": "http://127.0.0.1:1/"})
            case "html":
                self._reply(200, "<html>", {"Content-Type": "application/json"})
            case "list":
                self._reply(200, [1, 2])
            case "hangs":
                Application.released.wait(30)
                self._reply(200, {"answer": "late"})
            case "deep":
                self._reply(200, "[" * 50_000)
            case "closes":
                self.close_connection = True
            case _:
                self._reply(200, {"answer": f"to {question}"})

    def _reply(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        content = (body if isinstance(body, str) else json.dumps(body)).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _stream(self, question: str) -> None:
        """Server-sent events whose connection stays open after the last one."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for event in ({"contexts": ["passage"]}, {"token": "to "}, {"token": question}):
            self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")
        self.wfile.flush()
        Application.released.wait(10)
        self.close_connection = True


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Application)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    Application.released.set()
    server.shutdown()
    server.server_close()


def length(answer: str) -> float:
    return min(1.0, len(answer) / 100)


def ask(target: Any, *questions: str, **options: Any) -> TargetRuns:
    rows = [{"question": question} for question in questions]
    return assay.run(target, rows, [length], store=None, progress=False, **options)


def answers(runs: TargetRuns) -> list[tuple[str | None, tuple[str, ...]]]:
    return [(scored.sample.answer, scored.sample.passages) for _, scored in runs.result.all_rows()]


def test_an_address_alone_is_asked_with_the_question(url: str) -> None:
    assert answers(ask(url, "a", "b")) == [("to a", ("passage",)), ("to b", ("passage",))]


def test_a_query_is_made_of_the_address(url: str) -> None:
    target = HttpTarget(url + "/?q={question}", method="GET", template={})
    assert answers(ask(target, "a & b=c", "ä?")) == [("to a & b=c", ()), ("to ä?", ())]


def test_templates_and_paths_reach_into_any_shape(url: str) -> None:
    target = HttpTarget(
        url + "/nested", template={"input": {"text": "{question}"}, "model": "{model}"},
        headers={"Authorization": SECRET},
        answer="$.choices[0].message.content", contexts="found[*].text", input_tokens="usage.in",
        output_tokens="usage.out", cost="usage.price",
    )  # fmt: skip
    runs = ask(target, "a", vary={"model": ["m", "n"]})
    assert answers(runs) == [("m to a", ("one", "two"))]
    assert (runs.runs[0].input_tokens, runs.runs[0].output_tokens, runs.runs[0].cost) == (3, 2, 0.25)
    assert runs.results[1].run.endswith(".model=n")
    assert SECRET not in repr(target)


def test_events_of_a_stream_are_joined_and_its_open_connection_is_not_waited_for(url: str) -> None:
    assert answers(ask(url + "/stream", "a", call_timeout=5.0)) == [("to a", ("passage",))]


def test_a_refusal_for_rate_is_tried_again(url: str) -> None:
    assert answers(ask(url + "/busy", "a", "b")) == [("to a", ()), ("to b", ())]


HOSTILE = {
    "refused": "answered 400", "redirect": "redirects are not followed", "html": "no JSON", "list": "list",
    "hangs": "no answer within 3 s", "deep": "no JSON", "closes": "cannot be reached",
}  # fmt: skip


def test_a_hostile_reply_is_a_cause_of_its_row_alone(url: str) -> None:
    target = HttpTarget(url + "/hostile", headers={"Authorization": SECRET})
    runs = ask(target, *HOSTILE, "last", call_timeout=3.0, attempts=1)
    messages = {error.number: str(error.message) for error in runs.result.errors}
    for number, (name, message) in enumerate(HOSTILE.items(), 1):
        assert message in messages[number], name
    assert answers(runs)[-1] == ("to last", ())
    assert not any("secret-0123456789" in message for message in messages.values())


def test_nobody_listens() -> None:
    runs = ask("http://127.0.0.1:9/", "a", attempts=1)
    assert [str(error.cause) for error in runs.result.errors] == ["target"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"url": "localhost:8000"}, "expected an address"),
        ({"method": "DELETE"}, "method"),
        ({"template": {"q": "?"}}, "{question} is in neither"),
        ({"template": "{question}"}, "template: expected a JSON object"),
    ],
)
def test_a_wrong_request_names_its_argument(options: dict[str, Any], message: str) -> None:
    with pytest.raises(assay.InputError, match=message):
        HttpTarget(**{"url": "http://127.0.0.1:9/", **options})


@given(st.text(max_size=20), st.text(max_size=20))
def test_a_question_is_no_template(before: str, question: str) -> None:
    values = {"question": question}
    text = before.replace("{", "")
    assert filled({"a": [text + "{question}"]}, values) == {"a": [text + question]}  # once, whatever it has in braces
    assert filled("{other} {question}", values) == "{other} " + question


@given(st.recursive(st.none() | st.text(max_size=3), lambda inner: st.lists(inner, max_size=3)), st.text(max_size=30))
def test_any_path_through_any_reply_is_a_value_or_none(reply: Any, path: str) -> None:
    follow(reply, path)
