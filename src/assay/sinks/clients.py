"""Clients that must not cross a fork: made on first use, in each process anew."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class PerProcess(Generic[T]):
    """Client that is made once in each process: connections and threads do not survive a fork.

    It holds no lock, which a fork might leave locked for ever. Two threads that ask at the same time for the first
    time may each get a client of their own, and one of them is kept.

    Args:
        make: Makes the client.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._made: tuple[int, T] | None = None

    def get(self) -> T:
        """Return the client of this process, made where there is none.

        Returns:
            The client.

        Raises:
            Exception: What `make` raises; the next call tries again.
        """
        made = self._made
        if made is None or made[0] != os.getpid():
            self._made = made = (os.getpid(), self._make())
        return made[1]

    def take(self) -> T | None:
        """Take the client of this process, to close it. The next `get` makes another.

        Returns:
            The client; None where there is none.
        """
        made, self._made = self._made, None
        return made[1] if made is not None and made[0] == os.getpid() else None
