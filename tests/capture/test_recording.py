"""`record_context`: what the application found by itself reaches the current request, also from its own threads."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar

import pytest

from assay import InputError, carry_context, record_context
from assay.capture import Document
from assay.capture import record_context as recording

CURRENT: ContextVar[list[Document] | None] = ContextVar("current", default=None)


def recorder(found: tuple[Document, ...]) -> bool:
    request = CURRENT.get()
    if request is None:
        return False
    request += found
    return True


@pytest.fixture(autouse=True)
def _listening(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(recording, "_RECORDERS", [])
    monkeypatch.setattr(recording, "_warned", False)
    recording.add_recorder(recorder)
    recording.add_recorder(recorder)
    token = CURRENT.set(None)
    yield
    CURRENT.reset(token)


def test_passages_in_every_form_reach_the_request_once() -> None:
    request: list[Document] = []
    CURRENT.set(request)
    assert record_context("one")
    assert record_context(["two", {"text": "three", "id": 3, "score": 0.5, "metadata": {"page": 1}}])
    assert record_context({"page_content": "four"})
    assert record_context([])
    assert [(found.text, found.id, dict(found.metadata)) for found in request] == [
        ("one", None, {}),
        ("two", None, {}),
        ("three", "3", {"page": 1, "score": 0.5}),
        ("four", None, {}),
    ]


def test_outside_of_a_request_nothing_is_recorded_and_it_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert not record_context("lost")
        assert not record_context("lost again")
    assert len(caplog.records) == 1
    assert "carry_context" in caplog.text
    assert "lost" not in caplog.text


def test_what_is_no_passage_is_refused() -> None:
    CURRENT.set([])
    with pytest.raises(InputError, match="a passage must be"):
        record_context([7])


def test_threads_and_executors_of_ones_own_record_through_carry_context() -> None:
    request: list[Document] = []
    CURRENT.set(request)

    def search(query: str) -> bool:
        return record_context(f"found for {query}")

    with ThreadPoolExecutor(4) as pool:
        assert not pool.submit(search, "plain").result()  # a bare thread knows of no request
        carried = carry_context(search)
        assert all(pool.map(carried, map(str, range(20))))
    thread = threading.Thread(target=carry_context(search), args=("thread",))
    thread.start()
    thread.join()
    assert sorted(found.text for found in request) == sorted(
        [*(f"found for {n}" for n in range(20)), "found for thread"]
    )
    assert carried.__name__ == "search"
