"""Files of results of any size: what is too large is a failure of its own request, and memory stays as it was."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.errors import Cause
from assay.judges.batch import transport
from assay.judges.batch.protocol import CollectedReplies, collected, lines_of
from assay.judges.batch.state import Batch, BatchState
from assay.judges.batch.transport import ResultFile
from assay.judges.http import reply_bytes
from tests._support.servers.batch_server import BatchServer
from tests.judges.batch.test_batch_faults import scored
from tests.judges.batch.test_batches import FIRST, SECOND
from tests.judges.batch.test_protocols import BATCH, BODY, KEYS, PROTOCOLS, WIRE, line

KINDS = pytest.mark.parametrize("kind", ["openai", "anthropic"])
LONG = "x" * 20_000


def read(kind: str, file: Path, *, complete: bool = True) -> dict[bytes, CollectedReplies]:
    files = [ResultFile(file, complete)]
    return {one.key: one for one in collected(PROTOCOLS[kind], WIRE, "model", BATCH, set(KEYS), files)}


def cause(one: CollectedReplies) -> str | None:
    return None if one.reply is None or "failure" not in one.reply else one.reply["failure"]["cause"]


def bloated(kind: str, key: bytes, where: str) -> bytes:
    """A line whose name stands before or after what is too large, or that has too many values."""
    found = json.loads(line(kind, key))
    if where == "values":
        return json.dumps({**found, "pad": [[]] * 4000}).encode()
    pad = {"pad": LONG}
    return json.dumps({**found, **pad} if where == "after the name" else {**pad, **found}).encode()


@KINDS
@pytest.mark.parametrize("where", ["after the name", "before the name", "values"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_line_that_is_too_large_costs_its_own_request(
    kind: str, where: str, place: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reply_bytes, "REPLY", 16_000)
    lines = [line(kind, key) for key in KEYS]
    lines[place] = bloated(kind, KEYS[place], where)
    (tmp_path / "r").write_bytes(b"\n".join(lines))
    found = read(kind, tmp_path / "r")
    assert [cause(found[key]) for key in KEYS] == ["too_large" if n == place else None for n in range(3)]
    assert "too_large" not in str([found[key].reply for n, key in enumerate(KEYS) if n != place])


def test_a_long_line_keeps_its_ends_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reply_bytes, "REPLY", 16_000)
    (tmp_path / "r").write_bytes(b"short\n" + b"<" + b"x" * 3_000_000 + b">\n" + b"last")
    first, long, last = lines_of(tmp_path / "r")
    assert (first, last) == (b"short", b"last")
    assert (long[:2], long[-3:]) == (b"<x", b"x>\n")
    assert len(long) < 30_000


@KINDS
def test_what_a_file_that_was_cut_off_lacks_is_not_paid_for_again(kind: str, tmp_path: Path) -> None:
    (tmp_path / "r").write_bytes(line(kind, KEYS[0]) + b"\n" + line(kind, KEYS[1])[:40])
    found = read(kind, tmp_path / "r", complete=False)
    assert [cause(found[key]) for key in KEYS] == [None, "too_large", "too_large"]
    assert found[KEYS[0]].reply == {"body": BODY} or kind == "anthropic"


def test_replies_that_a_process_kept_before_it_was_killed_are_not_missed(tmp_path: Path) -> None:
    """All are here, the batch is not marked as collected yet: reading the file again finds nothing new, and ends."""
    state = BatchState(tmp_path)
    state.ask((key, b"{}") for key in KEYS)
    batch = state.intend("there", "/chat/completions", KEYS, None)
    body = {"body": BODY}

    def killed() -> Iterator[CollectedReplies]:
        for key in KEYS:
            yield CollectedReplies(key, body, size=4 << 20)  # so large that each is kept by itself
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        state.collect(batch, killed(), "completed", 3)
    assert [state.lookup(key) for key in KEYS] == [(True, body)] * 3
    (tmp_path / "r").write_bytes(b"\n".join(line("openai", key) for key in KEYS))
    again = collected(PROTOCOLS["openai"], WIRE, "model", batch, state.keys(batch), [ResultFile(tmp_path / "r")])
    assert state.collect(batch, again, "completed", 3) == []
    assert state.batch(batch.number).state == "collected"


@pytest.mark.long
@KINDS
def test_in_a_run_a_reply_that_is_too_large_skips_its_row_and_no_other(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reply_bytes, "REPLY", 100_000)

    def change(number: int, found: dict[str, Any]) -> list[str] | None:
        return [json.dumps({"pad": "x" * 200_000, **found})] if number == 0 else None

    with BatchServer(change=change) as server:
        result = scored(server, tmp_path, kind, rows=3)
        assert set(server.submitted.values()) == {1}  # nothing is asked again
    causes = {str(score.error.cause) for row in result for score in row.scores.values() if score.error}
    assert causes == {"too_large"}
    assert sum(summary.scored for summary in result.metrics.values()) >= 3 * 3 - 2
    assert list(tmp_path.glob("batch-*")) == []


@pytest.mark.long
def test_in_a_run_an_endless_file_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "RESULTS", 300_000)
    monkeypatch.setattr(transport, "PER_RESULT", 0)

    def change(number: int, found: dict[str, Any]) -> list[str] | None:
        return [json.dumps(found), "x" * 1_000_000] if number == 0 else None

    with BatchServer(change=change) as server:
        result = scored(server, tmp_path, rows=2)
        assert set(server.submitted.values()) == {1}
        assert len(server.submitted) <= 2 * (FIRST + SECOND)
    causes = {str(score.error.cause) for row in result for score in row.scores.values() if score.error}
    assert causes == {str(Cause.TOO_LARGE)}


# ---- gigabytes


class LargeFile:
    """Streams a file of results with a line of `size` bytes for each of `keys`, by a thread of its own."""

    def __init__(self, batch: Batch, keys: list[bytes], size: int) -> None:
        self.batch, self.keys, self.size = batch, keys, size

    def lines(self) -> Iterator[bytes]:
        pad = "w " * (self.size // 2)
        for key in self.keys:
            body = {**BODY, "logprobs": pad}
            name = f"{self.batch.tag}-{key.hex()}"
            yield json.dumps({"custom_id": name, "response": {"status_code": 200, "body": body}}).encode() + b"\n"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n")
        for one in self.lines():
            writer.write(one)
            await writer.drain()
        writer.close()

    def __enter__(self) -> str:
        started: list[Any] = []
        ready = threading.Event()

        async def main() -> None:
            server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
            stop = asyncio.Event()
            started.extend([server, asyncio.get_running_loop(), stop])
            ready.set()
            await stop.wait()
            server.close()

        self.thread = threading.Thread(target=lambda: asyncio.run(main()), daemon=True)
        self.thread.start()
        assert ready.wait(10)
        self.started = started
        return f"http://127.0.0.1:{started[0].sockets[0].getsockname()[1]}/v1"

    def __exit__(self, *exc: object) -> None:
        self.started[1].call_soon_threadsafe(self.started[2].set)
        self.thread.join(10)


COLLECT = """
import asyncio, sys
from pathlib import Path
from assay.judges.batch.judge import OpenAIBatchJudge
from assay.judges.batch.protocol import BatchStatus, collected, downloaded
from assay.judges.batch.state import BatchState
folder = Path(sys.argv[2])
state = BatchState(folder)
(batch,) = state.batches()
judge = OpenAIBatchJudge("m", base_url=sys.argv[1], api_key="k", state=folder)
async def main():
    seen = BatchStatus("batch_1", "completed", True, results=("file-1",))
    async with downloaded(judge.endpoint.protocol, judge.endpoint, seen, batch.requests, folder) as files:
        return state.collect(batch, collected(
            judge.endpoint.protocol, judge.endpoint, "m", batch, state.keys(batch), files), "completed", 3)
left = asyncio.run(main())
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print(int(peak.split()[1]) // 1024, len(left), [path.name for path in folder.glob("batch-*")])
"""


@pytest.mark.long
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peak memory from /proc")
def test_a_file_of_gigabytes_is_read_in_the_memory_of_one_reply(tmp_path: Path) -> None:
    keys = [bytes([n // 256, n % 256]) * 8 for n in range(1200)]
    state = BatchState(tmp_path)
    state.ask((key, b"{}") for key in keys)
    batch = state.move(state.intend("there", "/chat/completions", keys, None), "running", id="batch_1")
    with LargeFile(batch, keys, 1 << 20) as url:  # 1.2 GB
        done = subprocess.run(
            [sys.executable, "-c", COLLECT, url, str(tmp_path)],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    assert done.returncode == 0, done.stderr[-2000:]
    peak, left, files = done.stdout.split(" ", 2)
    assert (int(left), files.strip()) == (0, "[]")
    assert int(peak) < 300
    found = state.lookup(keys[-1])[1]
    assert found is not None
    assert found["body"]["choices"] == BODY["choices"]
