"""Brings one batch to its provider, and takes up those that an earlier process left.

Only one call is not safe to repeat, the one that makes a batch: when nobody knows whether it arrived, the provider's
list is asked, for as long as that list may lag behind.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay._util.output_files import output_file
from assay.errors import Cause, JudgeFailure
from assay.judges.batch.check_code import with_code
from assay.judges.batch.gathering import PATIENCE
from assay.judges.batch.protocol import BatchProtocol, BatchStatus, CannotList, name_of
from assay.judges.batch.state import Batch, BatchState
from assay.judges.batch.transport import BatchClient
from assay.judges.http.retries import LONGEST_PAUSE, RATE_ATTEMPTS, Trouble

#: What tells votes apart that are asked in the same words; it is not sent.
VOTE = "_vote"


@dataclass(frozen=True, slots=True, kw_only=True)
class PollInterval:
    """How long a courier waits, and how often it tries.

    Attributes:
        poll: Seconds between two looks at batches under way.
        list_lag: Seconds by which the provider's list may lag behind: so long a batch that may have been made is looked
            for.
        patience: Seconds without a new request after which those that there are go, although some row does something
            else.
        tries: Batches that one request goes into at most.
        failures: Looks in a row that may fail.
    """

    poll: float = 60.0
    list_lag: float = 600.0
    patience: float = PATIENCE
    tries: int = 3
    failures: int = 20


@dataclass(frozen=True, slots=True)
class BatchSubmission:
    """How batches are brought to one provider. `tell` is told what happens."""

    wire: BatchClient
    protocol: BatchProtocol
    state: BatchState
    pace: PollInterval
    tell: Callable[[str], None]

    async def take_up(self, batch: Batch) -> list[tuple[bytes, int]]:
        """A batch of an earlier process: what was not made is given up, what may have been is looked for.

        The requests that are free again, with their sizes.
        """
        seen = await self._found(batch) if batch.state == "creating" else None
        if seen is not None:
            self.state.move(batch, "running", id=seen.id)
        elif batch.state != "running":
            return self.state.drop(batch, "it was never made")
        return []

    async def bring(self, batch: Batch) -> None:
        """Bring a batch that was just intended to the provider. Raises JudgeFailure; it stays as far as it came."""
        refused = 0
        file = self.state.folder / f"batch-{batch.tag}.jsonl"
        try:
            await asyncio.to_thread(self._write, batch, file)
            batch = self.state.move(batch, "uploaded", file=await self._uploaded(batch, file))
            while batch.state != "running":
                if batch.state == "uploaded":
                    batch, refused = await self._create(batch, file, refused)
                    continue
                seen = await self._found(batch)
                name = None if seen is None else seen.id
                batch = self.state.move(batch, "uploaded" if name is None else "running", id=name)
        finally:
            file.unlink(missing_ok=True)
        self.tell(f"batch {batch.tag}: {batch.requests:,} requests are at {self.wire.name}, as {batch.id}")

    async def _uploaded(self, batch: Batch, file: Path) -> str | None:
        try:
            return await self.protocol.upload(self.wire, batch, file)
        except JudgeFailure as failure:
            if failure.cause in (Cause.TIMEOUT, Cause.CONNECTION, Cause.RATE_LIMITED):
                raise  # the next run goes on from here
            self.state.drop(batch, failure.message)
            raise

    async def _create(self, batch: Batch, file: Path, refused: int) -> tuple[Batch, int]:
        batch = self.state.move(batch, "creating")
        try:
            seen = await self.protocol.create(self.wire, batch, file)
        except Trouble as trouble:
            if trouble.failure.cause is not Cause.RATE_LIMITED:
                self.tell(f"batch {batch.tag}: {trouble.failure.message}; looking whether it was made")
                return batch, refused
            batch = self.state.move(batch, "uploaded")  # turned away: it was not made
            if refused + 1 >= RATE_ATTEMPTS or (trouble.retry_after or 0.0) > LONGEST_PAUSE:
                raise trouble.failure from None
            await asyncio.sleep(self.wire.retries.pause(trouble.retry_after, refused + 1))
            return batch, refused + 1
        except JudgeFailure as failure:
            self.state.drop(batch, failure.message)
            raise
        return self.state.move(batch, "running", id=seen.id), refused

    async def _found(self, batch: Batch) -> BatchStatus | None:
        """The batch that may have been made; None where it was not. Raises JudgeFailure where that cannot be known."""
        until = time.time() + self.pace.list_lag  # the call may have arrived as late as its connection ended
        while True:
            late = time.time() >= until
            try:
                seen = await self.protocol.find(self.wire, batch, self.state.ids())
            except CannotList as error:
                raise _may_exist(batch, self.wire.name, str(error)) from None
            if isinstance(seen, BatchStatus):
                self.tell(f"batch {batch.tag}: found at {self.wire.name}, as {seen.id}")
                return seen
            if seen is None and late:
                return None
            await asyncio.sleep(self.pace.poll if late else min(self.pace.poll, max(0.05, until - time.time())))

    def _write(self, batch: Batch, file: Path) -> None:
        protocol = self.protocol
        with output_file(file, "wb") as out:
            out.write(protocol.head)
            for n, (key, content) in enumerate(self.state.bodies(batch)):
                body: dict[str, Any] = json.loads(content)
                body.pop(VOTE, None)
                line = protocol.line(name_of(batch, key), batch.path, with_code(body, key))
                out.write((protocol.between if n else b"") + line)
            out.write(protocol.tail)


def _may_exist(batch: Batch, name: str, said: str) -> JudgeFailure:
    at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(batch.at))
    message = (
        f"a batch of {batch.requests:,} requests may have been made at {at}, when a process ended or a connection "
        f"broke, and {name} does not list its batches ({said}). Look there for one whose requests are named "
        f"{batch.tag}-...: `assay store batches adopt {batch.tag} ID` goes on with it; "
        f"`assay store batches resubmit {batch.tag}` sends the requests again, and they may be paid twice"
    )
    return JudgeFailure(Cause.CONNECTION, message, detail={"final": True})
