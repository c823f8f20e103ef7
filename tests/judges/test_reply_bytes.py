"""Replies without an end, or that unpack to more than anybody wants: cut off in every transport, and others go on."""

from __future__ import annotations

import asyncio
import functools
import gzip
import json
import os
import subprocess
import sys
import zlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import Cause
from assay.judges.http import reply_bytes, transports
from assay.judges.http.client import Address
from assay.judges.http.reply_bytes import (
    BrokenReply,
    ReplyLimit,
    ReplyPool,
    ReplyReader,
    ReplyTooLarge,
    check_values,
    count_replies,
    limited_replies,
)
from assay.judges.http.transports import ClientTransport, PlainTransport, Unreachable
from assay.judges.llm.openai import OpenAIJudge
from assay.prompts import Criterion
from tests.judges.conftest import ask

KIB, MIB = 1 << 10, 1 << 20
PROMPT = Criterion("Is it short?", (("ANSWER", "Yes."),))
WRITTEN = json.dumps({"answers": [{"question": "Q1", "reason": "short", "label": "yes"}]})
GOOD = json.dumps({"choices": [{"message": {"content": WRITTEN}, "finish_reason": "stop"}]}).encode()


@functools.cache
def packed(mib: int, bits: int, piece: bytes = b" ") -> bytes:
    packer = zlib.compressobj(9, wbits=bits)
    pieces = [packer.compress(piece * (MIB // len(piece))) for _ in range(mib)]
    return b"".join([*pieces, packer.flush()])


#: Header Content-Encoding, first bytes, and bytes that come again and again without an end; none: the reply ends.
BOMBS: dict[str, Callable[[], tuple[str, bytes, bytes]]] = {
    "endless": lambda: ("", b"", b" " * 65536),
    "endless text": lambda: ("", b'{"choices":[{"message":{"content":"', b"a" * 65536),
    "one byte at a time": lambda: ("", b"", b" " * 512),
    "gzip": lambda: ("gzip", packed(64, 31), b""),
    "x-gzip": lambda: ("x-gzip", packed(64, 31), b""),
    "zlib": lambda: ("deflate", packed(64, 15), b""),
    "deflate without a header": lambda: ("deflate", packed(64, -15), b""),
    "gzip in gzip": lambda: ("gzip, gzip", gzip.compress(packed(64, 31)), b""),
    "members without end": lambda: ("gzip", b"", packed(1, 31)),
    "values": lambda: ("", b"[" + b"[]," * 400_000 + b"[]]", b""),
}


class Server:
    """Sends `begin` and then `more` for ever to every other request, the first one among them; else a good reply."""

    def __init__(self, encoding: str, begin: bytes, more: bytes, status: str = "200 OK") -> None:
        self.head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\nconnection: close\r\n"
        self.head += f"content-encoding: {encoding}\r\n" if encoding else ""
        self.begin, self.more, self.requests, self.sent = begin, more, 0, 0

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
            await reader.readexactly(int(head.partition("content-length: ")[2].partition("\r\n")[0] or 0))
            self.requests += 1
            if self.requests % 2 == 0:
                writer.write(
                    b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\nconnection: close\r\n\r\n%b" % (len(GOOD), GOOD)
                )
                return
            writer.write(self.head.encode() + b"\r\n" + self.begin)
            while self.more:
                writer.write(self.more)
                self.sent += len(self.more)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


@pytest.fixture
async def at() -> AsyncIterator[Callable[[Server], Any]]:
    servers: list[asyncio.Server] = []

    async def start(server: Server) -> str:
        servers.append(await asyncio.start_server(server, "127.0.0.1", 0))
        return f"http://127.0.0.1:{servers[-1].sockets[0].getsockname()[1]}/v1"

    yield start
    for one in servers:
        one.close()


@pytest.fixture(params=["aiohttp", "client", "a client of one's own"])
def transport(request: pytest.FixtureRequest) -> Callable[[str], Any]:
    def make(url: str) -> Any:
        if request.param == "aiohttp":
            return PlainTransport(Address.of(url, "k", {}))
        if request.param == "client":
            return ClientTransport(Address.of(url, "k", {}).client(10.0))
        import openai

        return ClientTransport(openai.AsyncOpenAI(api_key="k", base_url=url, max_retries=0))

    return make


@pytest.mark.parametrize("bomb", BOMBS)
async def test_a_reply_that_is_too_large_is_cut_off(
    bomb: str, transport: Any, at: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reply_bytes, "REPLY", 4 * MIB)
    server = Server(*BOMBS[bomb]())
    made = transport(await at(server))
    with pytest.raises(ReplyTooLarge, match=r"its reply ha|values of its reply"):
        (await made.post("/x", {}, 10.0)).body()
    assert (await made.post("/x", {}, 10.0)).content == GOOD
    assert server.sent < 32 * MIB  # and nothing near an endless reply came
    await made.close()


@pytest.mark.parametrize("status", ["500 Oops", "429 Too Many Requests", "400 Bad", "307 Temporary"])
async def test_an_error_without_an_end_is_read_as_far_as_it_says_something(
    transport: Any, at: Any, status: str
) -> None:
    server = Server("", b"the model is gone ", b"x" * 65536, status)
    made = transport(await at(server))
    response = await made.post("/x", {}, 10.0)
    assert (response.status, response.text[:17]) == (int(status[:3]), "the model is gone")
    assert len(response.content) == reply_bytes.ERROR
    assert (await made.post("/x", {}, 10.0)).content == GOOD
    await made.close()


@pytest.mark.parametrize("encoding", ["br", "zstd", "compress", "gzip, br"])
async def test_what_the_request_did_not_accept_is_no_reply(transport: Any, at: Any, encoding: str) -> None:
    made = transport(await at(Server(encoding, b"\x1b\x03\x00", b"")))
    with pytest.raises(Unreachable, match="which the request did not accept"):
        await made.post("/x", {}, 10.0)
    await made.close()


async def test_a_judge_fails_once_with_the_cause_and_its_next_prompt_is_judged(
    at: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transports, "_has_aiohttp", lambda: False)
    server = Server(*BOMBS["endless"]())
    judge = OpenAIJudge("m", base_url=await at(server), api_key="k")
    (said,) = await ask(judge, PROMPT)
    assert said.failure is not None
    assert said.failure.cause is Cause.TOO_LARGE
    assert "more than 32 MiB; ASSAY_MAX_REPLY_MIB in the environment raises the limit" in said.failure.message
    assert server.requests == 1  # it is not asked for the same again
    (said,) = await ask(judge, PROMPT)
    assert said.judgement.label == "yes"
    await judge.release()


async def test_a_client_of_ones_own_is_limited_for_the_judge_alone(at: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import openai

    monkeypatch.setattr(reply_bytes, "REPLY", KIB)
    client = openai.AsyncOpenAI(api_key="k", base_url=await at(Server("", b'"' + b"a" * 9000 + b'"', b"")))
    made = ClientTransport(client)
    ClientTransport(client)  # a second judge over it
    assert len(client._client.event_hooks["response"]) == 1
    own = await client.post("/x", cast_to=transports.http_library().Response)
    assert len(own.content) == 9002
    await made.post("/x", {}, 5.0)
    with pytest.raises(ReplyTooLarge):
        await made.post("/x", {}, 5.0)
    await made.close()


@pytest.mark.parametrize("library", ["httpx", "httpx2"])
def test_clients_of_frameworks_that_wait_are_limited(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    http = pytest.importorskip(library)
    monkeypatch.setattr(reply_bytes, "REPLY", MIB)
    large = http.MockTransport(lambda request: http.Response(200, content=(b" " * KIB for _ in range(2000))))
    client = http.Client(transport=large)
    count_replies(client)
    assert len(client.get("http://there").content) == 2000 * KIB
    with limited_replies(), pytest.raises(ReplyTooLarge, match="more than 1 MiB"):
        client.get("http://there")


# ---- the reader


def whole(status: int, encoding: str, raw: bytes, limit: int, cut: int) -> bytes:
    reader = ReplyReader(status, encoding, ReplyLimit(limit))
    try:
        return b"".join(piece for n in range(0, len(raw), cut) for piece in reader.feed(raw[n : n + cut]))
    finally:
        reader.close()


@given(
    content=st.binary(max_size=2000),
    how=st.sampled_from(["", "identity", "gzip", "deflate", "raw deflate", "gzip, gzip", "members"]),
    cut=st.integers(1, 300),
    room=st.integers(-1500, 1500),
)
def test_a_reply_is_read_whole_or_not_at_all(content: bytes, how: str, cut: int, room: int) -> None:
    """Whatever its packing, and in whatever pieces it comes: within the limit it is what was packed."""
    raw_deflate = zlib.compressobj(wbits=-15)
    raw = {
        "gzip": lambda: gzip.compress(content),
        "deflate": lambda: zlib.compress(content),
        "raw deflate": lambda: raw_deflate.compress(content) + raw_deflate.flush(),
        "gzip, gzip": lambda: gzip.compress(gzip.compress(content)),
        "members": lambda: gzip.compress(content[:100]) + gzip.compress(content[100:]),
    }.get(how, lambda: content)()
    encoding = {"raw deflate": "deflate", "members": "gzip"}.get(how, how)
    limit = max(0, len(content) + room)
    if len(content) <= limit:
        assert whole(200, encoding, raw, limit, cut) == content
    else:
        with pytest.raises(ReplyTooLarge):
            whole(200, encoding, raw, limit, cut)


@pytest.mark.parametrize("raw", [b"no gzip at all", gzip.compress(b"a" * 500, mtime=0)[:20] + b"\xff" * 40])
def test_what_is_no_gzip_is_no_reply(raw: bytes) -> None:
    with pytest.raises(BrokenReply, match="no sound gzip"):
        whole(200, "gzip", raw, MIB, 7)


def test_replies_at_the_same_time_share_the_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reply_bytes, "POOL", pool := ReplyPool())
    monkeypatch.setattr(reply_bytes, "AT_ONCE", 3 * MIB)
    readers = [ReplyReader(200, None, ReplyLimit(8 * MIB)) for _ in range(3)]
    for reader in readers[:2]:  # the first MiB of each is free: 1 MiB counts
        assert len(b"".join(reader.feed(b" " * 2 * MIB))) == 2 * MIB
    list(readers[2].feed(b" " * 2 * MIB))
    with pytest.raises(ReplyTooLarge, match="at the same time") as caught:
        list(readers[2].feed(b" "))
    assert caught.value.passing
    readers[0].close()
    assert list(readers[2].feed(b" ")) == [b" "]
    for reader in readers:
        reader.close()
    assert pool._used == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_has_all_the_room() -> None:
    pool = ReplyPool()
    pool.take(reply_bytes.AT_ONCE)
    child = os.fork()
    if child == 0:
        try:
            pool.take(reply_bytes.AT_ONCE)
        finally:
            os._exit(0 if pool._used == reply_bytes.AT_ONCE else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    with pytest.raises(ReplyTooLarge):
        pool.take(1)


def test_vectors_of_64_texts_are_no_bomb() -> None:
    check_values(
        b"0.0123456789012345678901,",
    )
    check_values(b",".join([b"-0.012345678901234567"] * 64 * 8192))


PEAK = """
import asyncio, sys
from pathlib import Path
def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) // 1024
from assay import OpenAIJudge
from assay.prompts import Criterion
import assay.judges.http.transports as transports
if sys.argv[2] == "client":
    transports._has_aiohttp = lambda: False
judge = OpenAIJudge("m", base_url=sys.argv[1], api_key="k", max_concurrency=16, max_attempts=9, retry_base=0.01)
async def main():
    asked = (judge.answer([Criterion("Is it short?", (("ANSWER", f"Yes {n}."),))]) for n in range(40))
    return [answer for (answer,) in await asyncio.gather(*asked)]
answers = asyncio.run(main())
causes = sorted({str(one.failure.cause) for one in answers if one.failure})
print(peak(), sum(one.failure is None for one in answers), causes)
"""


@pytest.mark.long
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peak memory from /proc")
@pytest.mark.parametrize("over", ["aiohttp", "client"])
@pytest.mark.parametrize("bomb", ["endless", "gzip"])
async def test_sixteen_bombs_at_once_stay_below_600_mb(over: str, bomb: str, at: Any) -> None:
    """Every other reply is one of 1 GB, or without an end."""
    bombs = {"endless": BOMBS["endless"](), "gzip": ("gzip", packed(1024, 31), b"")}
    url = await at(Server(*bombs[bomb]))
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PEAK, url, over, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    out, error = await child.communicate()
    assert out, error.decode()[-2000:]
    peak, judged, causes = out.decode().split(" ", 2)
    assert int(peak) < 600
    assert (int(judged) >= 20, causes.strip()) == (True, "['too_large']")  # every other request gets a good reply


def members(size: int, content: bytes = b"") -> bytes:
    one = gzip.compress(content)
    return one * (size // len(one))


@pytest.mark.parametrize(
    ("encoding", "make", "error"),
    [
        ("gzip", lambda: members(MIB), BrokenReply),
        ("gzip, gzip", lambda: gzip.compress(members(MIB)), BrokenReply),
        ("gzip, deflate", lambda: zlib.compress(members(MIB)), BrokenReply),
        ("gzip, gzip, gzip", lambda: gzip.compress(gzip.compress(members(64 * MIB))), BrokenReply),
        ("gzip", lambda: members(MIB, b"x"), BrokenReply),  # a byte of each part is counted, but not the work
        ("gzip, gzip", lambda: gzip.compress(gzip.compress(b"") + b"\0" * 200 * MIB), BrokenReply),
        # a long name
        ("gzip, gzip", lambda: gzip.compress(b"\x1f\x8b\x08\x10" + b"\0" * 6 + b"a" * 200 * MIB), ReplyTooLarge),
        (", ".join(["gzip"] * 1000), lambda: GOOD, BrokenReply),
        (", ".join(["gzip"] * 5), lambda: GOOD, BrokenReply),
    ],
)
def test_packings_that_give_few_bytes_for_much_work_are_given_up(
    encoding: str, make: Callable[[], bytes], error: type[Exception]
) -> None:
    """What would be unpacked is far more than the work of the limit; what is given up has used a part of it."""
    unpacked: list[bytes] = []

    def read() -> None:
        reader = ReplyReader(200, encoding, ReplyLimit(most=MIB))
        unpacked.extend(reader.feed(make()))

    with pytest.raises(error):
        read()
    assert sum(map(len, unpacked)) <= 1000


@pytest.mark.parametrize("encoding", ["gzip", "gzip, gzip", "gzip, gzip, gzip, gzip"])
def test_an_empty_reply_and_one_of_several_parts_are_read(encoding: str) -> None:
    packings = encoding.count("gzip")
    for parts in ([b""], [b"{", b"", b"}"]):
        body = b"".join(map(gzip.compress, parts))
        for _ in range(packings - 1):
            body = gzip.compress(body)
        assert b"".join(ReplyReader(200, encoding, ReplyLimit()).feed(body)) == b"".join(parts)
