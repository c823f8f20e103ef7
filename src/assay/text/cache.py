"""A cache for what is read out of texts, bounded by the memory it takes rather than by its entries."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from assay._util.forks import own_lock

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class BoundedCache(Generic[K, V]):
    """The latest results of a function, of `max_bytes` altogether as `weigh` counts them; safe for threads.

    A result that takes more than `share` of that is not kept. Two threads that ask for the same at once may both
    compute it. Errors are not kept.
    """

    def __init__(self, max_bytes: int, weigh: Callable[[K, V], int], share: float = 1 / 8) -> None:
        self._max_bytes = max_bytes
        self._weigh = weigh
        self._largest = max_bytes * share
        self._kept: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._lock = own_lock(self)
        self.bytes = 0

    def get(self, key: K, make: Callable[[], V]) -> V:
        """What is kept under `key`, or what `make` gives."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key][0]
        value = make()  # outside the lock: it may take long
        size = self._weigh(key, value)
        if size > self._largest:
            return value
        with self._lock:
            if key not in self._kept:
                self._kept[key] = (value, size)
                self.bytes += size
            while self.bytes > self._max_bytes:
                self.bytes -= self._kept.popitem(last=False)[1][1]
        return value
