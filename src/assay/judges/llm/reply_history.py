"""What a model's latest replies were like: whether asking once more for one that cannot be used is worth a call."""

from __future__ import annotations

from collections import deque

RECENT = 50  # replies that are looked at
KNOWN = 10  # fewer than so many tell nothing
IN_VAIN = 3  # replies in a row that were cut again when asked for once more: then the endpoint's limit is the reason


class ReplyHistory:
    """The latest replies of one judge."""

    __slots__ = ("_cut_again", "_usable")

    def __init__(self) -> None:
        self._usable: deque[bool] = deque(maxlen=RECENT)
        self._cut_again = 0

    def add(self, usable: bool) -> None:
        """Note a reply.

        Args:
            usable: Whether it could be read as an answer.
        """
        self._usable.append(usable)

    def add_second(self, cut: bool) -> None:
        """Note the reply to a request that was sent once more because its reply was cut.

        Args:
            cut: Whether this reply was cut, too.
        """
        self._cut_again = self._cut_again + 1 if cut else 0

    @property
    def mostly_usable(self) -> bool:
        """Whether at least half of the latest 50 replies could be used; false before there are ten."""
        usable = self._usable.copy()  # other threads may ask the same judge
        return len(usable) >= KNOWN and 2 * sum(usable) >= len(usable)

    @property
    def cuts_by_chance(self) -> bool:
        """Whether a cut reply may be whole when asked for once more; false after three in a row that were not."""
        return self.mostly_usable and self._cut_again < IN_VAIN
