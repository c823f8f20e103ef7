"""Judgements that are asked for anew: to see whether a judge still says what it said."""

from __future__ import annotations

from typing import Any

from assay.judges.cache import JudgementCache
from assay.judges.protocol import JudgementStore


class FreshJudgements:
    """A store of judgements that has none and keeps none. Prompts are fenced with the secret of another store.

    Args:
        store: The other store. None: the secret of the process.
    """

    def __init__(self, store: JudgementStore | None = None) -> None:
        self._store = store

    @property
    def secret(self) -> bytes | None:
        """See `assay.store.store.Store.secret`."""
        found: Any = getattr(self._store, "secret", None)
        return found if isinstance(found, bytes) else None

    def get_judgement(self, key: str) -> bytes | None:
        """Return none."""

    def put_judgement(self, key: str, prompt: str, judge: str, judgement: bytes) -> None:
        """Keep nothing."""


def fresh_cache(cache: JudgementCache) -> JudgementCache:
    """Make a cache that knows no judgement, for the same judge, which is asked in the same way.

    Args:
        cache: The cache of samples that are scored beside.

    Returns:
        A new cache. What is found through it is kept in its memory alone.
    """
    return JudgementCache(cache.judge, FreshJudgements(cache.store), _batched=cache.batched_groups)
