"""Values that pages keep between requests, within a budget of memory."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from assay._util.forks import own_lock

T = TypeVar("T")

BUDGET = 90_000_000  # bytes


class SizedCache:
    """Values by key. Each is made once, whoever asks; the ones used longest ago go first.

    Args:
        budget: Bytes that all values may take. One that is larger alone is kept until the next one is made.
    """

    def __init__(self, budget: int = BUDGET) -> None:
        self._budget, self._lock = budget, own_lock(self)
        self._kept: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._making: dict[Hashable, threading.Lock] = {}

    def get(self, key: Hashable, make: Callable[[], T], size: Callable[[T], int]) -> T:
        """The value of a key; `make` makes it where it is not kept, `size` tells how many bytes it takes."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key][0]  # type: ignore[no-any-return]
            making = self._making.setdefault(key, threading.Lock())
        with making:
            with self._lock:
                if key in self._kept:
                    return self._kept[key][0]  # type: ignore[no-any-return]
            try:
                value = make()
                self._keep(key, value, size(value))
            finally:
                with self._lock:
                    self._making.pop(key, None)
        return value

    def _keep(self, key: Hashable, value: Any, size: int) -> None:
        with self._lock:
            self._kept[key] = value, size
            while len(self._kept) > 1 and sum(taken for _, taken in self._kept.values()) > self._budget:
                self._kept.popitem(last=False)
