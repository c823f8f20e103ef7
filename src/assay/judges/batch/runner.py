"""Carries what was gathered to a provider and its replies back: the states of `state`, one step after the other.

Whatever happens between two steps, the next process goes on from what is written.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress

from assay._util.sqlite import Database
from assay.errors import AssayError, Cause, Detached, InputError, JudgeFailure, StoreError
from assay.judges.batch.gathering import Gathering
from assay.judges.batch.protocol import AROUND, BatchProtocol, BatchStatus, collected, downloaded
from assay.judges.batch.state import OPEN, Batch, BatchState
from assay.judges.batch.submit import BatchSubmission, PollInterval
from assay.judges.batch.transport import BatchClient, ResultFile
from assay.judges.http.retries import Trouble

log = logging.getLogger("assay.judges")

LOCK_NAME = "batches.lock"


class BatchRunner:
    """Of one judge in one event loop, for one run or for whoever asks. `say` is told what happens."""

    def __init__(
        self,
        wire: BatchClient,
        protocol: BatchProtocol,
        model: str,
        gathering: Gathering,
        pace: PollInterval,
        say: Callable[[str], None] | None = None,
    ) -> None:
        self.wire = wire
        self.protocol = protocol
        self.model = model
        self.gathering = gathering
        self.pace = pace
        self.state: BatchState = gathering.state
        self.target = gathering.target
        self.stopped: Exception | None = None
        self._say = say
        self._most = protocol.most_requests
        self._full = False
        self._failures = 0
        self._held = ExitStack()
        self._sending = BatchSubmission(wire, protocol, self.state, pace, self._tell)
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin, if it has not yet. Raises what it ended with."""
        if self.stopped is not None:
            raise self.stopped
        if self._task is None:
            self._task = asyncio.create_task(self._whole())

    async def end(self) -> None:
        """Stop; what is under way goes on at the provider, and with the next run."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        self._held.close()
        self.state.close()

    async def _whole(self) -> None:
        try:
            self._own()
            await self._go()
        except Exception as error:
            self.stop(error)

    def stop(self, error: Exception) -> None:
        """Nothing more can be carried: the run ends, or everybody who waits gets the error."""
        known = isinstance(error, AssayError)
        self.stopped = error if known else JudgeFailure(Cause.BUG, f"batches: {type(error).__name__}: {error}")
        log.debug("batches: stopped by %r", error)
        if self.gathering.host is not None:
            self.gathering.host.stop(self.stopped)
        else:
            self.gathering.fail(self.stopped)

    def _own(self) -> None:
        """No other process is to carry the same batches: it would make them twice. The lock ends with the process."""
        lock = Database(self.state.folder / LOCK_NAME, "CREATE TABLE held (by)", "held", timeout=0.5)
        try:
            lock.create("batches ")
            self._held.callback(lock.close)
            self._held.enter_context(lock.write())
        except Exception as error:
            if isinstance(error, StoreError) and "locked" not in str(error):
                raise
            folder = str(self.state.folder)
            message = f"batches: another run is at work on those in {folder!r}; wait for it, or give state= a folder"
            raise InputError(message) from None
        for left in self.state.folder.glob("batch-*.jsonl"):  # by a process that was killed
            left.unlink(missing_ok=True)
        for left in self.state.folder.glob("batch-results-*"):
            shutil.rmtree(left, ignore_errors=True)

    # ---- the round

    async def _go(self) -> None:
        for batch in self.state.batches(self.target):
            self.gathering.again(batch.path, await self._sending.take_up(batch))
        while True:
            await self.gathering.quiet()
            self.gathering.news.clear()
            under_way = self.state.batches(self.target, ("running",))
            if self.gathering.fresh and not (self._full and under_way):
                await self._send()
                under_way = self.state.batches(self.target, ("running",))
            if under_way and await self._look(under_way):
                continue
            if self._is_detached(under_way):
                return
            if under_way or self._full:
                await self._sleep()
            else:
                await self.gathering.news.wait()

    def _is_detached(self, under_way: Sequence[Batch]) -> bool:
        host = self.gathering.host
        if host is None or not host.detach or not (under_way or self._full):
            return False
        many = f"{len(under_way)} batch{'es' * (len(under_way) != 1)}"
        waiting = sum(batch.requests for batch in under_way)
        message = f"run {host.name} waits for {many} with {waiting:,} requests; run it again to go on"
        self.stopped = Detached(message, run=host.name, batches=len(under_way))
        host.stop(self.stopped)
        return True

    async def _sleep(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self.pace.poll):
                await self.gathering.news.wait()

    async def _send(self) -> None:
        """All that was gathered, in as few batches as the provider's limits allow."""
        self._full = False
        self.gathering.keep()
        by_path: dict[str, list[tuple[bytes, int]]] = {}
        for key, (path, size) in self.gathering.fresh.items():
            by_path.setdefault(path, []).append((key, size))
        run = None if self.gathering.host is None else self.gathering.host.name
        for path, requests in by_path.items():
            for keys in self._files(requests):
                batch = self.state.intend(self.target, path, keys, run)
                for key in keys:
                    self.gathering.fresh.pop(key, None)
                await self._sending.bring(batch)

    def _files(self, requests: Sequence[tuple[bytes, int]]) -> list[list[bytes]]:
        files: list[list[bytes]] = []
        room = 0
        for key, size in requests:
            needed = size + AROUND
            if not files or len(files[-1]) >= self._most or needed > room:
                files.append([])
                room = self.protocol.most_bytes
            files[-1].append(key)
            room -= needed
        return files

    # ---- batches under way

    async def _look(self, under_way: Sequence[Batch]) -> bool:
        """Look at all batches; whether one of them has ended, and its replies were handed over."""
        ended = False
        for batch in under_way:
            assert batch.id is not None
            try:
                seen = await self.protocol.look(self.wire, batch.id)
                if seen.said != batch.said:
                    self.state.say(batch, seen.said)
                    self._tell(f"batch {batch.tag}: {seen.said}")
                if seen.ended:
                    ended = True
                    await self._ended(batch, seen)
                self._failures = 0
            except (JudgeFailure, Trouble) as error:
                failure = error.failure if isinstance(error, Trouble) else error
                self._failures += 1
                final = failure.cause is Cause.AUTH or failure.detail.get("final")
                if final or self._failures >= self.pace.failures:
                    raise failure from None
                self._tell(f"batch {batch.tag}: {failure.message}; looking again in {self.pace.poll:g} s")
        return ended

    async def _ended(self, batch: Batch, seen: BatchStatus) -> None:
        if seen.refused is not None:
            self._refused(batch, seen)
            return
        keys = self.state.keys(batch)
        async with downloaded(self.protocol, self.wire, seen, batch.requests, self.state.folder) as files:
            again = await asyncio.to_thread(self._collect, batch, seen, keys, files)
        self.gathering.again(batch.path, again)
        free = {key for key, _ in again}
        await self.gathering.deliver([key for key in keys if key not in free])
        self._full = False
        asked = f", {len(again):,} asked again" if again else ""
        self._tell(f"batch {batch.tag}: collected {len(keys) - len(again):,} of {len(keys):,} replies{asked}")
        if seen.cancelled and again:  # whoever did that does not want it sent again by itself
            message = f"batch {batch.tag} was cancelled at {self.wire.name}, with {len(again):,} requests unanswered"
            failure = JudgeFailure(Cause.INTERRUPTED, f"{message}; a rerun sends them again", detail={"final": True})
            raise failure

    def _collect(
        self, batch: Batch, seen: BatchStatus, keys: set[bytes], files: Sequence[ResultFile]
    ) -> list[tuple[bytes, int]]:
        replies = collected(self.protocol, self.wire, self.model, batch, keys, files)
        return self.state.collect(batch, replies, seen.said, self.pace.tries)

    def _refused(self, batch: Batch, seen: BatchStatus) -> None:
        """The provider took none of it: because too much waits already, or for good."""
        free = self.state.drop(batch, seen.said)
        self.gathering.again(batch.path, free)
        alone = not self.state.batches(self.target, OPEN)
        if seen.full and (not alone or self._most > 1):
            self._full = True
            if alone:
                self._most = max(1, min(self._most, batch.requests) // 2)
            return
        message = f"{self.wire.name} refuses the batch {batch.tag} of {batch.requests:,} requests: {seen.refused}"
        raise JudgeFailure(Cause.BAD_REQUEST, message, detail={"final": True})

    def _tell(self, text: str) -> None:
        log.info("%s", text)
        if self._say is not None:
            self._say(text)
