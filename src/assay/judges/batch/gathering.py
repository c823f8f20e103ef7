"""What is asked, gathered until nothing more can go on without an answer."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from assay.judges.batch.state import BatchState
from assay.judges.protocol import Host

Reply = Mapping[str, Any]

#: Seconds without a new request, and turns of the loop, after which all rows that wait are taken to wait for good.
QUIET, TURNS = 0.05, 50
#: The same where no run says which rows wait.
ALONE = 0.25
#: Seconds without a new request after which those that there are go, although some row does something else.
PATIENCE = 30.0
#: Bodies held in memory before they go to disk.
HELD = 200


@dataclass(slots=True)
class Gathering:
    """The requests of one run that wait for a reply. `fresh` are those that are in no batch yet: path and size.

    Bodies lie on disk; here is what is needed to count them and to hand replies over.
    """

    state: BatchState
    target: str
    host: Host | None = None
    patience: float = PATIENCE
    fresh: dict[bytes, tuple[str, int]] = field(default_factory=dict)
    asked: int = 0
    news: asyncio.Event = field(default_factory=asyncio.Event)
    _waiting: dict[bytes, list[asyncio.Future[Reply]]] = field(default_factory=dict)
    _held: list[tuple[bytes, bytes]] = field(default_factory=list)

    def key(self, path: str, body: Mapping[str, Any]) -> tuple[bytes, bytes]:
        """What a request is known by, and its body as it is kept. Equal requests of one reading are one."""
        content = json.dumps(body, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        kept = content.encode("utf-8", "replace")
        reading = 1 if self.host is None else self.host.reading
        whole = b"\0".join([self.target.encode("utf-8", "replace"), path.encode(), b"%d" % reading, kept])
        return hashlib.sha256(whole).digest()[:16], kept

    def lookup(self, key: bytes) -> tuple[bool, Reply | None]:
        """Whether a request is under way or answered, and its reply where it is there."""
        under_way, reply = self.state.lookup(key, None if self.host is None else self.host.name)
        return under_way or key in self.fresh, reply

    def ask(self, key: bytes, path: str, content: bytes) -> asyncio.Future[Reply]:
        """Take a request in; `reply` waits for what comes. Nobody who waits needs to hold its content."""
        waiting: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(key, []).append(waiting)
        if not self.lookup(key)[0]:
            self.fresh[key] = (path, len(content))
            self._held.append((key, content))
            if len(self._held) >= HELD:
                self.keep()
        self.asked += 1
        self.news.set()
        return waiting

    async def reply(self, key: bytes, waiting: asyncio.Future[Reply]) -> Reply:
        """The reply to a request that was taken in, whenever it comes."""
        try:
            return await waiting
        finally:
            self._leave(key, waiting)

    def keep(self) -> None:
        """Bring what is held to disk."""
        held, self._held = self._held, []
        if held:
            self.state.ask(held)

    async def deliver(self, keys: Sequence[bytes]) -> None:
        """Give the replies that have come to whoever waits for them: one after the other, as they are read."""
        for key in keys:
            await asyncio.sleep(0)
            waiting = self._waiting.get(key)
            reply = self.state.lookup(key)[1] if waiting else None
            for one in waiting or () if reply is not None else ():
                if not one.done():
                    one.set_result(reply or {})

    def again(self, path: str, requests: Sequence[tuple[bytes, int]]) -> None:
        """These go into another batch, where somebody waits for them."""
        for key, size in requests:
            if key in self._waiting:
                self.fresh[key] = (path, size)

    def fail(self, error: Exception) -> None:
        """Everybody who waits gets this error."""
        for waiting in list(self._waiting.values()):
            for one in waiting:
                if not one.done():
                    one.set_exception(error)

    async def quiet(self) -> None:
        """Return when nothing more can go on without an answer.

        Of a run's rows each waits for one, and no new request came for a moment that is longer than any step of a
        metric; or nothing came for `patience` seconds, as where a row is held up by something else.
        """
        loop = asyncio.get_running_loop()
        seen, since = self.asked, loop.time()
        while True:
            await asyncio.sleep(ALONE if self.host is None else QUIET)
            for _ in range(TURNS):  # a step of the loop may take longer than that moment
                await asyncio.sleep(0)
            if self.asked != seen:
                seen, since = self.asked, loop.time()
            elif self.host is None or self.host.all_wait() or loop.time() - since > self.patience:
                return

    def _leave(self, key: bytes, waiting: asyncio.Future[Reply]) -> None:
        others = self._waiting.get(key, [])
        if waiting in others:
            others.remove(waiting)
        if not others:
            self._waiting.pop(key, None)
            self.fresh.pop(key, None)
