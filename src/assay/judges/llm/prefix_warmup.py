"""Of several requests that begin alike the first goes ahead: once it is answered, the endpoint knows how they begin."""

from __future__ import annotations

import asyncio
import hashlib
import weakref
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from assay.judges.prompt_rendering import SYSTEM, tokens_in
from assay.prompts.base import PromptContent

#: Tokens of a beginning, at least, that endpoints keep.
WORTH_KEEPING = 1024
#: Seconds that the others wait for the first, at most.
PATIENCE = 15.0
#: Beginnings that are remembered as known, and for how many seconds: endpoints forget after some minutes.
KNOWN, KNOWN_FOR = 2048, 240.0


class Prefixes:
    """Which beginnings the endpoint knows, by event loop."""

    def __init__(self) -> None:
        self._loops: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _PrefixState] = weakref.WeakKeyDictionary()

    @asynccontextmanager
    async def turn(self, content: PromptContent) -> AsyncIterator[None]:
        """Within, this prompt is sent. The first of its beginning enters at once, others when that is answered."""
        beginning = _beginning(content)
        if beginning is None:
            yield
            return
        known = self._loops.setdefault(asyncio.get_running_loop(), _PrefixState())
        first = known.sent.get(beginning)
        if first is not None:
            await asyncio.wait([first], timeout=PATIENCE)
        if first is not None or known.answered(beginning):
            yield
            return
        answered = asyncio.get_running_loop().create_future()
        known.sent[beginning] = answered
        try:
            yield
            known.remember(beginning)
        finally:
            known.sent.pop(beginning, None)
            answered.cancel()


class _PrefixState:
    def __init__(self) -> None:
        self.sent: dict[bytes, asyncio.Future[None]] = {}
        self._answered: OrderedDict[bytes, float] = OrderedDict()

    def answered(self, beginning: bytes) -> bool:
        """Whether a request that begins so was answered, not long ago."""
        at = self._answered.get(beginning)
        return at is not None and asyncio.get_running_loop().time() - at <= KNOWN_FOR

    def remember(self, beginning: bytes) -> None:
        self._answered[beginning] = asyncio.get_running_loop().time()
        self._answered.move_to_end(beginning)
        while len(self._answered) > KNOWN:
            self._answered.popitem(last=False)


def _beginning(content: PromptContent) -> bytes | None:
    """What stands for the part of a prompt that others share; None where it is too short to matter."""
    shared = content.material[: content.shared]
    tokens = tokens_in(SYSTEM) + sum(tokens_in(section.text) for section in shared)
    if not shared or tokens < WORTH_KEEPING:
        return None
    texts = "\x00".join([repr(content.schema), *(section.text for section in shared)])
    return hashlib.sha256(texts.encode("utf-8", "surrogatepass")).digest()
