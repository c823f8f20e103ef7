"""Whether a model's replies can mostly be used: then a reply that cannot is bad luck, and worth asking for again."""

from __future__ import annotations

from collections import deque

RECENT = 50  # replies that are looked at
KNOWN = 10  # fewer than so many tell nothing


class ReplyHistory:
    """The latest replies of one judge."""

    __slots__ = ("_usable",)

    def __init__(self) -> None:
        self._usable: deque[bool] = deque(maxlen=RECENT)

    def add(self, usable: bool) -> None:
        """Note a reply.

        Args:
            usable: Whether it could be read as an answer.
        """
        self._usable.append(usable)

    @property
    def mostly_usable(self) -> bool:
        """Whether at least half of the latest 50 replies could be used; false before there are ten."""
        return len(self._usable) >= KNOWN and 2 * sum(self._usable) >= len(self._usable)
