"""The webhook: signed, idempotent, and never sent on to another host."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from assay.errors import InputError, Undelivered
from assay.sinks import Receipt
from assay.sinks.webhook import WebhookSink
from assay.testing.bench import exchange
from tests._support.servers.webhook_receiver import SECRET, TOKEN, WebhookReceiver


@pytest.fixture
def receiver() -> Iterator[WebhookReceiver]:
    with WebhookReceiver() as server:
        yield server


def sink(receiver: WebhookReceiver, path: str = "/in", **options: object) -> WebhookSink:
    headers = {"Authorization": TOKEN}
    return WebhookSink(receiver.url + path, headers=headers, secret=SECRET, patience=0.5, **options)


def test_the_body_says_which_sample_and_where_it_comes_from(receiver: WebhookReceiver) -> None:
    sink(receiver).write(exchange({"otel_trace_id": "ab" * 16}, id="row-7"))
    (delivery,) = receiver.deliveries.values()
    assert delivery["sample"] == "row-7"
    assert delivery["ids"] == {"otel_trace_id": "ab" * 16}
    assert [one["name"] for one in delivery["annotations"]] == ["faithfulness", "hallucination", "context_recall"]
    assert receiver.problems == []


def test_the_key_is_that_of_the_content(receiver: WebhookReceiver) -> None:
    for value in (0.5, 0.5, 0.25):
        sink(receiver).write(exchange({}, value=value))
    assert len(receiver.writes) == 3
    assert len(receiver.deliveries) == 2


@pytest.mark.parametrize("status", [307, 308])
def test_a_redirect_within_the_host_is_followed_with_the_body(receiver: WebhookReceiver, status: int) -> None:
    receiver.redirect = (status, "/moved")
    assert sink(receiver).write(exchange({})) == Receipt(sent=3, confirmed=3)
    assert len(receiver.deliveries) == 1


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_to_another_host_is_not_followed(receiver: WebhookReceiver, status: int) -> None:
    with WebhookReceiver() as other:
        receiver.redirect = (status, other.url + "/moved")
        with pytest.raises(Undelivered, match=f"HTTP {status}"):
            sink(receiver).write(exchange({}))
        assert other.requests == []
    assert len(receiver.writes) == 1


def test_a_redirect_that_would_lose_the_body_is_not_followed(receiver: WebhookReceiver) -> None:
    receiver.redirect = (302, "/moved")
    with pytest.raises(Undelivered, match="HTTP 302"):
        sink(receiver).write(exchange({}))
    assert [request.method for request in receiver.requests] == ["POST"]


def test_a_wrong_secret_is_refused(receiver: WebhookReceiver) -> None:
    wrong = WebhookSink(receiver.url, headers={"Authorization": TOKEN}, secret="other")
    with pytest.raises(Undelivered, match="HTTP 422"):
        wrong.write(exchange({}))
    assert receiver.deliveries == {}


@pytest.mark.parametrize(
    "url",
    [
        "",
        "ftp://host/x",
        "file:///etc/passwd",
        "https://",
        "//host",
        "https://user:hunter2@host/",
        "http://[::1",
        "http://a b/",
    ],
)
def test_other_addresses_are_not_taken(url: str) -> None:
    with pytest.raises(InputError, match=r"^url: ") as caught:
        WebhookSink(url)
    assert "hunter2" not in str(caught.value)


def test_headers_cannot_break_out_of_their_line() -> None:
    with pytest.raises(InputError, match="headers"):
        WebhookSink("https://host", headers={"X-A": "1\r\nX-B: 2"})
