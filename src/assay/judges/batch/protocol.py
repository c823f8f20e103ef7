"""What a provider's batches have in common, as far as the courier needs to know it."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from assay._util.byte_limits import MIB
from assay.errors import Cause, JudgeFailure
from assay.judges.batch.check_code import code_in, code_of, key_of
from assay.judges.batch.state import Batch, CollectedReplies
from assay.judges.batch.transport import BatchClient, ResultFile
from assay.judges.http import reply_bytes
from assay.judges.http.replies import failure_of, usage_of
from assay.judges.http.reply_bytes import ReplyTooLarge, check_values
from assay.judges.http.retries import Trouble
from assay.records import Usage

#: Bytes kept free in a file: what is written around each request, its code too, is counted as this much.
AROUND = 600
#: Statuses of a response that say that there is no list of batches.
NO_LIST = frozenset({400, 404, 405, 501})
#: Bytes at both ends of a line that is too long: the name of its request stands at one of them. A line has no _CUT.
_ENDS, _CUT = 4096, b"\n"


@dataclass(frozen=True, slots=True)
class BatchStatus:
    """What a provider says of a batch.

    Attributes:
        said: In words.
        ended: No further results will come.
        refused: Why nothing of it was run; None: it was, or still is.
        full: It was refused because too much waits already: later it will do.
        results: Where its results are.
        cancelled: Somebody ended it there.
    """

    id: str
    said: str
    ended: bool = False
    refused: str | None = None
    full: bool = False
    results: tuple[str, ...] = ()
    cancelled: bool = False


class CannotList(Exception):
    """The endpoint does not tell which batches there are."""


async def listed(wire: BatchClient, path: str, cursor: str, pages: int) -> AsyncIterator[list[dict[str, Any]]]:
    """What an endpoint lists of its batches, the newest first: up to a hundred at a time, up to so many times.

    Raises CannotList where there is no list, JudgeFailure where it cannot be had now.

    Args:
        cursor: What it calls the parameter for the id after which to go on.
    """
    after: str | None = None
    for _ in range(pages):
        params: dict[str, Any] = {"limit": 100} if after is None else {"limit": 100, cursor: after}
        try:
            page = await wire.get(path, params)
        except JudgeFailure as failure:
            if failure.detail.get("status") in NO_LIST:
                raise CannotList(failure.message) from None
            raise
        entries = page.get("data")
        if not isinstance(entries, list):
            raise CannotList(f"{wire.name} sent no list of batches")
        found = [entry for entry in entries if isinstance(entry, dict)]
        if not found:
            return
        yield found
        last = found[-1].get("id")
        if not page.get("has_more") or not isinstance(last, str) or last == after:
            return
        after = last


class BatchProtocol(Protocol):
    """How one provider's batches are spoken to.

    Attributes:
        path: Where batches are made and listed.
        most_requests, most_bytes: Of one batch.
        head, between, tail: What stands around the requests in a file.
    """

    path: str
    most_requests: int
    most_bytes: int
    head: bytes
    between: bytes
    tail: bytes

    def line(self, name: str, path: str, body: Mapping[str, Any]) -> bytes:
        """One request, under its name, as it stands in the file."""

    async def upload(self, wire: BatchClient, batch: Batch, file: Path) -> str | None:
        """Bring the file to the provider; what it is called there, where it is brought before the batch is made."""

    async def create(self, wire: BatchClient, batch: Batch, file: Path) -> BatchStatus:
        """Make the batch: one attempt. Raises Trouble where nobody knows whether it arrived."""

    async def find(self, wire: BatchClient, batch: Batch, known: set[str]) -> BatchStatus | Literal["later"] | None:
        """The batch, where the provider's list has it under its tag; "later": it may be one of those that still run.

        `known`: batches that are others. Raises CannotList.
        """

    async def look(self, wire: BatchClient, name: str) -> BatchStatus:
        """What the provider says of the batch that it calls `name`."""

    def result_paths(self, seen: BatchStatus) -> Sequence[str]:
        """Where the files of its results are."""

    def outcome(self, wire: BatchClient, model: str, line: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The reply that a line of the results holds, as `body` or `failure`; None: it may be asked again."""


@asynccontextmanager
async def downloaded(
    protocol: BatchProtocol, wire: BatchClient, seen: BatchStatus, requests: int, folder: Path | None = None
) -> AsyncIterator[list[ResultFile]]:
    """The files of a batch's results, on disk until the block ends. Raises JudgeFailure.

    Args:
        requests: Requests of the batch.
        folder: Where they lie. None: in the folder for temporary files.
    """
    with tempfile.TemporaryDirectory(prefix="batch-results-", dir=folder) as place:
        yield [await wire.download(path, Path(place), requests) for path in protocol.result_paths(seen)]


def collected(
    protocol: BatchProtocol, wire: BatchClient, model: str, batch: Batch, keys: set[bytes], files: Sequence[ResultFile]
) -> Iterator[CollectedReplies]:
    """The replies in the files of a batch's results: one for each request at most, whatever their order.

    A reply with the code of another request of the batch goes to that one (`check_code`), and one with a code that none
    has is asked again. Lines that cannot be read, name no request of this batch, or are of one a second time are passed
    over. A line that is too large is a failure, and so is all that is missing where a file was cut off. Raises Trouble
    where there are none but such lines.
    """
    answered: set[bytes] = set()
    coded: dict[str, list[bytes]] = {}
    for key in keys:
        coded.setdefault(code_of(key), []).append(key)
    named: set[bytes] = set()
    any_line = False
    for raw in (raw for file in files for raw in lines_of(file.path)):
        any_line = any_line or bool(raw.strip())
        key, line = _named(raw, batch)
        if key not in keys:
            continue
        named.add(key)
        if isinstance(line, ReplyTooLarge):
            reply: Mapping[str, Any] | None = _too_large(wire, str(line))
        else:
            reply = protocol.outcome(wire, model, line)
        key, reply = _belonging(key, reply, coded)
        if reply is not None and key not in answered:
            answered.add(key)
            yield CollectedReplies(key, reply, _usage(reply.get("body")), size=len(raw))
    if not named and any_line and keys:  # an error page is no result: nothing is paid for again
        message = f"{wire.name} sent results of the batch {batch.tag} in which none of its requests is found"
        raise Trouble(JudgeFailure(Cause.CONNECTION, message))
    if not all(file.complete for file in files):
        cut = _too_large(wire, "the file of results was cut off before one for this request")
        yield from (CollectedReplies(key, cut) for key in keys - answered)
        return
    yield from (CollectedReplies(key, None) for key in named - answered)


def _belonging(
    key: bytes, reply: Mapping[str, Any] | None, coded: Mapping[str, Sequence[bytes]]
) -> tuple[bytes, Mapping[str, Any] | None]:
    """The request that a reply is of, by its code where it has one; no reply where none has this code."""
    code = code_in(reply.get("body") or {}) if reply is not None else None
    own = key if code is None else key_of(code, key, coded)
    return (key, None) if own is None else (own, reply)


def lines_of(file: Path) -> Iterator[bytes]:
    """The lines of a file of results; of one that is longer than a reply may be, its beginning and its end."""
    with file.open("rb") as opened:
        while line := opened.readline(reply_bytes.REPLY + 1):
            if len(line) <= reply_bytes.REPLY:
                yield line.rstrip(b"\r\n")
                continue
            begin = end = line[:_ENDS]
            while line and not line.endswith(b"\n"):
                end, line = line[-_ENDS:], opened.readline(MIB)
            yield begin + _CUT + end + line[-_ENDS:]


def _named(raw: bytes, batch: Batch) -> tuple[bytes, dict[str, Any] | ReplyTooLarge]:
    """The key that a line of results names, b"" for none of this batch; and what it holds, or that it is too large."""
    try:
        if _CUT in raw:
            raise ReplyTooLarge(f"its line in the results has more than {reply_bytes.REPLY // MIB} MiB")
        check_values(raw)
    except ReplyTooLarge as error:
        name = re.search(r'"custom_id"\s{0,9}:\s{0,9}"([0-9a-f-]{1,64})"', raw.decode("utf-8", "replace"))
        return _key(None if name is None else name[1], batch), error
    line = _line(raw)
    return _key(line.get("custom_id"), batch), line


def _too_large(wire: BatchClient, what: str) -> dict[str, Any]:
    return {"failure": packed_failure(JudgeFailure(Cause.TOO_LARGE, f"{wire.name}: {what}"))}


def _usage(body: Any) -> Usage | None:
    if not isinstance(body, dict):
        return None
    said = body.get("usage")
    if "data" in body and isinstance(said, dict):  # of embeddings: nothing is written, and nothing cached
        said = {"completion_tokens": 0, "cached_tokens": 0, **said}
    return usage_of(said)


def name_of(batch: Batch, key: bytes) -> str:
    """What a request is called in its batch: 45 characters."""
    return f"{batch.tag}-{key.hex()}"


def refusal(wire: BatchClient, model: str, status: int, text: str) -> Mapping[str, Any] | None:
    """The failure that one request's error stands for; None where it may pass."""
    failure, may_pass = failure_of(wire.name, model, status, text, wire.scrub)
    return None if may_pass else {"failure": packed_failure(failure)}


def packed_failure(failure: JudgeFailure) -> dict[str, Any]:
    """A failure as JSON."""
    return {"cause": str(failure.cause), "message": failure.message, "raw": failure.raw, "detail": failure.detail}


def _line(raw: bytes) -> dict[str, Any]:
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _key(name: Any, batch: Batch) -> bytes:
    if not isinstance(name, str) or not name.startswith(batch.tag + "-"):
        return b""
    try:
        return bytes.fromhex(name[len(batch.tag) + 1 :])
    except ValueError:
        return b""
