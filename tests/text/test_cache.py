"""The cache of what is read out of texts is bounded by memory, and safe for threads."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from assay.text import sentences, split_sentences
from assay.text.cache import BoundedCache


def test_latest_results_are_kept_up_to_the_bound() -> None:
    cache: BoundedCache[str, int] = BoundedCache(100, lambda key, value: 10)
    made: list[int] = []
    for number in range(12):
        cache.get(str(number), lambda number=number: made.append(number) or number)  # type: ignore[misc]
        assert cache.get("0", lambda: -1) == 0  # asked for again and again, it stays
    assert cache.bytes == 100
    assert cache.get("11", lambda: -1) == 11
    assert cache.get("1", lambda: -1) == -1


def test_what_is_too_large_is_not_kept() -> None:
    cache: BoundedCache[str, int] = BoundedCache(100, lambda key, value: value)
    assert cache.get("a", lambda: 13) == 13
    assert cache.bytes == 0


def test_errors_are_not_kept() -> None:
    cache: BoundedCache[str, float] = BoundedCache(100, lambda key, value: 1)
    with pytest.raises(ZeroDivisionError):
        cache.get("a", lambda: 1 / 0)
    assert cache.get("a", lambda: 1.0) == 1.0


def test_threads_share_it() -> None:
    cache: BoundedCache[int, int] = BoundedCache(50, lambda key, value: 5)
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda n: cache.get(n % 20, lambda: n % 20), range(4000)))
    assert results == [n % 20 for n in range(4000)]
    assert cache.bytes == 50


def test_a_text_is_split_once(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "It is tall. " * 2000  # longer than one answer
    first = split_sentences(text)
    monkeypatch.setattr(sentences, "_split_all", lambda *args: pytest.fail("split again"))
    assert split_sentences(text) is first


def test_memory_is_bounded_though_texts_have_many_sentences() -> None:
    for number in range(40):
        split_sentences(f"{number}\n" + "a\n" * 5000)
    kept = sentences._REMEMBERED
    real = sum(sys.getsizeof(spans) + sum(map(sys.getsizeof, spans)) for spans, _ in kept._kept.values())
    assert real < 2 * kept.bytes
    assert kept.bytes <= 8_000_000
