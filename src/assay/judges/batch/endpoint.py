"""An endpoint whose requests go into batches: to a judge it is like any other, only slower."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from assay.errors import Cause, InputError, JudgeFailure, StoreError
from assay.judges.batch.gathering import Gathering, Reply
from assay.judges.batch.protocol import BatchProtocol
from assay.judges.batch.runner import BatchRunner
from assay.judges.batch.savings import saved
from assay.judges.batch.state import BatchState
from assay.judges.batch.submit import PollInterval
from assay.judges.batch.transport import BatchClient
from assay.judges.http.client import Address
from assay.judges.http.deadlines import Deadline
from assay.judges.http.endpoint import Body
from assay.judges.http.error_bodies import error_in
from assay.judges.http.options import Settings
from assay.judges.http.replies import failure_of, usage_of
from assay.judges.http.reservation import AttemptReservation
from assay.judges.prompt_rendering import tokens_in
from assay.judges.protocol import SPENDING, Host

#: Where batches are kept while no run says where its store is.
FOLDER = Path(".assay")


class BatchEndpoint(BatchClient):
    """See the module.

    Args:
        model: Of all requests: a batch has one model.
        share: Of the usual price; None: not known.
        folder: Where batches are kept; None: where the run's store is.

    Attributes:
        say: Told what happens, in words.
    """

    def __init__(
        self,
        address: Address,
        settings: Settings,
        client: Any,
        *,
        model: str,
        protocol: BatchProtocol,
        pace: PollInterval,
        share: float | None,
        folder: Path | None,
    ) -> None:
        super().__init__(address, settings, client)
        self.model = model
        self.protocol = protocol
        self.pace = pace
        self.share = share
        self.folder = folder
        self.say: Callable[[str], None] | None = None
        self._runners: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, BatchRunner] = weakref.WeakKeyDictionary()

    async def call(
        self,
        model: str,
        path: str,
        make: Callable[[], Body],
        *,
        tokens: int,
        reply: int,
        deadline: Deadline | None = None,
        expected: str = "choices",
        most: Callable[[Body], int] = lambda body: 0,
    ) -> Body:
        """See `Endpoint.call`: the same, when the batch has come back. What waits in a batch has no deadline.

        A request that is in a batch under way, or was answered in one, is not sent, nor taken from the budget, again.
        """
        courier = self._runner()
        try:
            return await self._called(courier, path, make, expected, most, deadline or Deadline())
        except StoreError as error:  # without a place to write nothing may be sent
            courier.stop(error)
            raise JudgeFailure(Cause.INTERRUPTED, str(error)) from None

    async def _called(
        self,
        courier: BatchRunner,
        path: str,
        make: Callable[[], Body],
        expected: str,
        most: Callable[[Body], int],
        deadline: Deadline,
    ) -> Body:
        key, content = courier.gathering.key(path, make())
        under_way, found = courier.gathering.lookup(key)
        if found is not None:
            return self._read(found, expected)
        bill = AttemptReservation(1.0 if self.share is None else self.share)
        if not under_way and bill.wanted:
            bill.reserve(tokens_in(content.decode()), most(make()))
        try:
            courier.start()
            waiting = courier.gathering.ask(key, path, content)
            del content  # it lies on disk, and thousands may wait
            with deadline.stopped():
                found = await courier.gathering.reply(key, waiting)
            answer = self._read(found, expected)
            bill.usage = usage_of(answer.get("usage"))
            return answer
        except JudgeFailure as failure:
            bill.refused(failure.cause)
            raise
        finally:
            bill.settle()

    def _read(self, found: Reply, expected: str) -> Body:
        body = found.get("body")
        if isinstance(body, dict) and body.get(expected):
            error = error_in(body) if expected == "choices" else None
            if error is None:
                return body
            raise failure_of(self.name, self.model, *error, self.scrub)[0]
        said = found.get("failure")
        if not isinstance(said, dict):
            raise JudgeFailure(Cause.CONNECTION, f"{self.name} sent no {expected} in a result of a batch")
        detail = dict(said.get("detail") or {})
        raise JudgeFailure(Cause(said["cause"]), said["message"], raw=said.get("raw"), detail=detail)

    # ---- who asks

    def _runner(self) -> BatchRunner:
        loop = asyncio.get_running_loop()
        if loop not in self._runners:
            self._runners[loop] = self._made(None)
        return self._runners[loop]

    def _made(self, host: Host | None) -> BatchRunner:
        folder = self.folder or (FOLDER if host is None else host.folder)
        target = f"{self.name} {self.model}"
        gathering = Gathering(BatchState(folder), target, host, self.pace.patience)
        return BatchRunner(self, self.protocol, self.model, gathering, self.pace, self.say)

    @asynccontextmanager
    async def session_for(self, run: Host) -> AsyncIterator[None]:
        """See `BaseJudge.session_for`. At the end it notes what was saved, and forgets the replies that were used."""
        loop = asyncio.get_running_loop()
        before = self._runners.pop(loop, None)
        if before is not None:
            if before.gathering.host is not None:
                self._runners[loop] = before
                raise InputError("judge: it answers in batches for another run already; make a second one")
            await before.end()
        courier = self._runners[loop] = self._made(run)
        try:
            yield
            self._settle(courier, run)
        except JudgeFailure as failure:
            if failure is not courier.stopped:  # the replies were no good: the next run asks anew
                courier.state.forget(run.name)
            raise
        finally:
            self._runners.pop(loop, None)
            await courier.end()

    def _settle(self, courier: BatchRunner, run: Host) -> None:
        usage = courier.state.usage_of(run.name)
        if usage.calls:
            prices = getattr(SPENDING.get(), "prices", None)
            run.note(saved(usage, courier.state.of_run(run.name), self.share, self.name, prices))
        courier.state.forget(run.name)

    async def release(self) -> None:
        """See `Endpoint.release`. Batches under way go on at the provider."""
        courier = self._runners.pop(asyncio.get_running_loop(), None)
        if courier is not None:
            await courier.end()
        await super().release()
