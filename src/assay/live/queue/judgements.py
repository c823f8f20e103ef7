"""The judgements of a queue's workers: kept on disk, so that what a crash interrupts is not asked, and paid, twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from assay.store.group_writer import Judgement
from assay.store.store import Store


class QueueJudgements(Store):
    """The store in a queue's folder. Where it cannot be read or written, judgements are asked for again.

    `failed` is told of each such error.
    """

    def __init__(self, folder: Path, failed: Callable[[BaseException, str], None]) -> None:
        super().__init__(folder)
        self._failed = failed

    def get_judgement(self, key: str) -> bytes | None:
        """See `Store.get_judgement`."""
        try:
            return super().get_judgement(key)
        except Exception as error:
            self._failed(error, "judgements")
            return None

    def put_judgements(self, judgements: Iterable[Judgement], run: str | None = None) -> None:
        """See `Store.put_judgements`."""
        try:
            super().put_judgements(judgements, run)
        except Exception as error:
            self._failed(error, "judgements")

    def forget_judgements(self, before: float) -> None:
        """Delete judgements that were made before that time."""
        try:
            self.forget(before=before)
        except Exception as error:
            self._failed(error, "judgements")
