"""A finished exchange is made into a sample once, whoever asks first."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from assay.live.handlers.exchanges import PendingExchange
from assay.records import Sample

SAMPLE = Sample(question="Why?", contexts=None, answer="Because.")


def test_who_asks_while_it_is_being_made_gets_it_too() -> None:
    begun, go_on, made = threading.Event(), threading.Event(), []

    def make() -> Sample:
        made.append(1)
        begun.set()
        assert go_on.wait(10)
        return SAMPLE

    captured = PendingExchange(make, 10)
    with ThreadPoolExecutor(3) as threads:
        first = threads.submit(captured)
        assert begun.wait(10)
        others = [threads.submit(captured) for _ in range(2)]
        assert not any(other.done() for other in others)
        go_on.set()
        assert [one.result(10) for one in (first, *others)] == [SAMPLE] * 3
    assert (len(made), captured()) == (1, SAMPLE)


def test_what_cannot_be_made_is_not_made_again() -> None:
    made = []

    def make() -> Sample:
        made.append(1)
        raise ValueError("mine")

    captured = PendingExchange(make, 10)
    with pytest.raises(ValueError, match="mine"):
        captured()
    assert (captured(), len(made)) == (None, 1)


def test_who_asks_from_within_gets_nothing() -> None:
    """A generator that is collected while we work runs the host's hooks in this very thread."""
    inner: list[Sample | None] = []

    def make() -> Sample:
        inner.append(captured())
        return SAMPLE

    captured = PendingExchange(make, 10)
    assert (captured(), inner) == (SAMPLE, [None])
