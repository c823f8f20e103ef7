"""What remote sinks share: how long they try, what they say of what was lost, clients that do not cross a fork."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Sequence
from typing import Any

import pytest

from assay.errors import InputError, Undelivered
from assay.records import Sample
from assay.sinks import Receipt
from assay.sinks.annotations import Annotation
from assay.sinks.clients import PerProcess
from assay.sinks.remote import Busy, NotThere, Refused, RemoteSink, safe_words
from assay.testing.bench import exchange

NAMES = ("faithfulness", "hallucination", "context_recall")


class Scripted(RemoteSink):
    """Sends by calling `plan(names)`, which may raise."""

    def __init__(self, plan: Callable[[Sequence[str]], None], seen: Any = None, **options: Any) -> None:
        super().__init__(**options)
        self.plan, self.known = plan, seen
        self.calls: list[tuple[str, ...]] = []

    def target_of(self, sample: Sample) -> str | None:
        return sample.id

    def send(self, target: str, annotations: Sequence[Annotation], sample: Sample) -> None:
        names = tuple(one.name for one in annotations)
        self.calls.append(names)
        self.plan(names)

    def read_back(self, target: str, annotations: Sequence[Annotation], sample: Sample) -> Collection[str] | None:
        found: Collection[str] | None = None if self.known is None else self.known(annotations)
        return found


class OneByOne(Scripted):
    one_by_one = True


def fails(error: Exception, times: int = 10**6) -> Callable[[Sequence[str]], None]:
    left = [times]

    def plan(names: Sequence[str]) -> None:
        if left[0]:
            left[0] -= 1
            raise error

    return plan


def test_trouble_is_tried_as_often_as_said() -> None:
    sink = Scripted(fails(OSError("down")), attempts=3)
    with pytest.raises(Undelivered) as caught:
        sink.write(exchange({}))
    assert caught.value.scores == NAMES
    assert len(sink.calls) == 3


def test_trouble_that_passes_is_no_trouble() -> None:
    sink = Scripted(fails(OSError("down"), times=2), attempts=3)
    assert sink.write(exchange({})) == Receipt(sent=3)


def test_a_target_that_comes_late_is_waited_for_beyond_the_attempts() -> None:
    sink = Scripted(fails(NotThere("not yet"), times=4), attempts=1, patience=30)
    assert sink.write(exchange({})) == Receipt(sent=3)
    assert len(sink.calls) == 5


def test_patience_ends() -> None:
    sink = Scripted(fails(NotThere("never")), patience=0.3)
    with pytest.raises(Undelivered, match="never"):
        sink.write(exchange({}))
    assert len(sink.calls) >= 2


def test_a_store_that_asks_for_more_than_our_patience_is_given_up_at_once() -> None:
    sink = Scripted(fails(Busy("later", after=3600)), patience=5)
    with pytest.raises(Undelivered, match="later"):
        sink.write(exchange({}))
    assert len(sink.calls) == 1


def test_a_store_that_asks_to_wait_is_waited_for() -> None:
    sink = Scripted(fails(Busy("later", after=0.3), times=1), patience=30)
    began = time.monotonic()
    sink.write(exchange({}))
    assert time.monotonic() - began >= 0.3


def test_what_is_refused_does_not_hold_up_the_others() -> None:
    def plan(names: Sequence[str]) -> None:
        if "hallucination" in names:
            raise Refused("not this one")

    sink = OneByOne(plan, lambda annotations: {one.id for one in annotations})
    with pytest.raises(Undelivered, match="not this one") as caught:
        sink.write(exchange({}))
    assert caught.value.scores == ("hallucination",)
    assert sink.calls == [(name,) for name in NAMES]


def test_what_was_taken_and_cannot_be_found_is_named() -> None:
    sink = Scripted(lambda names: None, lambda annotations: {annotations[0].id}, patience=0.2)
    with pytest.raises(Undelivered, match="not to be found") as caught:
        sink.write(exchange({}))
    assert caught.value.scores == NAMES[1:]


def test_what_shows_up_late_is_confirmed() -> None:
    looks = []

    def seen(annotations: Sequence[Annotation]) -> set[str]:
        looks.append(1)
        return {one.id for one in annotations} if len(looks) > 3 else set()

    assert Scripted(lambda names: None, seen).write(exchange({})) == Receipt(sent=3, confirmed=3)


def test_a_store_that_cannot_be_read_leaves_the_scores_unconfirmed(caplog: pytest.LogCaptureFixture) -> None:
    def seen(annotations: Sequence[Annotation]) -> set[str]:
        raise Refused("no right to read")

    assert Scripted(lambda names: None, seen).write(exchange({})) == Receipt(sent=3)
    assert "no right to read" in caplog.text
    assert Scripted(lambda names: None, seen, verify=False).write(exchange({})) == Receipt(sent=3)


def test_an_interrupt_is_not_swallowed() -> None:
    def plan(names: Sequence[str]) -> None:
        raise KeyboardInterrupt

    sink = Scripted(plan)
    with pytest.raises(KeyboardInterrupt):
        sink.write(exchange({}))
    assert len(sink.calls) == 1


@pytest.mark.parametrize("options", [{"attempts": 0}, {"patience": 0}, {"patience": float("nan")}])
def test_wrong_options_are_named(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=f"^{next(iter(options))}: "):
        Scripted(lambda names: None, **options)


def test_foreign_messages_are_not_repeated() -> None:
    class HTTPError(Exception):
        status_code = 503

    assert safe_words(HTTPError("GET https://user:password@host?key=secret")) == "HTTPError (HTTP 503)"
    assert (
        safe_words(ConnectionRefusedError(111, "Connection refused")) == "ConnectionRefusedError (Connection refused)"
    )
    assert safe_words(RuntimeError("the text of the user")) == "RuntimeError"
    assert safe_words(Refused("our own words")) == "our own words"


def test_a_client_is_made_once_and_anew_after_a_fork() -> None:
    made: list[int] = []

    def make() -> int:
        made.append(os.getpid())
        return len(made)

    client = PerProcess(make)
    assert (client.get(), client.get(), made) == (1, 1, [os.getpid()])
    child = os.fork()
    if child == 0:
        os._exit(0 if client.take() is None and client.get() == 2 and made[-1] == os.getpid() else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert client.take() == 1
    assert client.take() is None
    assert client.get() == 2
