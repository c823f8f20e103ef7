"""How requests leave: through the client of OpenAI, or through aiohttp, and nobody can tell which."""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import certifi
import pytest

from assay.judges.http import transports
from assay.judges.http.client import OPENAI, Address
from assay.judges.http.transports import (
    ClientTransport,
    PlainTransport,
    Response,
    TimedOut,
    Transport,
    Unreachable,
    transport_to,
)

Serve = Callable[[str, Any], Awaitable[None]]

#: What one request that a server read had.
Seen = tuple[str, dict[str, str], bytes]

BODY = {"model": "m", "text": "café — 今日 \ud7ff", "temperature": 0.0}


class Server:
    """Answers every request with the same bytes, and keeps what came."""

    def __init__(self, answer: bytes | None) -> None:
        self.answer = answer
        self.seen: list[Seen] = []
        self.opened = self.closed = 0

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.opened += 1
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                first, *lines = head.rstrip().split("\r\n")
                headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
                body = await reader.readexactly(int(headers["content-length"]))
                self.seen.append((first.split(" ")[1], headers, body))
                if self.answer is None:
                    await asyncio.sleep(30)
                elif not self.answer:
                    return
                else:
                    writer.write(self.answer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.closed += 1
            writer.close()


def answer(content: bytes, status: str = "200 OK", *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"content-length: {len(content)}", "content-type: application/json", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + content


@pytest.fixture
async def at() -> AsyncIterator[Callable[..., Awaitable[str]]]:
    """Starts a server on this machine; its address."""
    servers: list[asyncio.Server] = []

    async def start(server: Server, user: str = "", path: str = "/v1") -> str:
        servers.append(await asyncio.start_server(server, "127.0.0.1", 0))
        return f"http://{user}127.0.0.1:{servers[-1].sockets[0].getsockname()[1]}{path}"

    yield start
    for one in servers:
        one.close()


@pytest.fixture(params=["aiohttp", "client"])
def transport(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[[Address], Transport]:
    """Makes each of the two transports."""
    if request.param == "client":
        monkeypatch.setattr(transports, "_has_aiohttp", lambda: False)

    def make(address: Address) -> Transport:
        made = transport_to(address, 10.0)
        assert isinstance(made, PlainTransport if request.param == "aiohttp" else ClientTransport)
        return made

    return make


async def post(made: Transport, seconds: float = 10.0) -> Response:
    try:
        return await made.post("/chat/completions", BODY, seconds)
    finally:
        await made.close()


async def test_what_is_sent_is_the_same(transport: Any, at: Any) -> None:
    server = Server(answer(b'{"choices": [1]}'))
    url = await at(server)
    address = Address.of(url + "?a=1&b=x%20y", "the-key", {"X-Team": "readers", "x-token": "t"})
    response = await post(transport(address))
    assert (response.status, response.body()) == (200, {"choices": [1]})
    ((path, headers, body),) = server.seen
    assert path.replace("x%20y", "x+y") == "/v1/chat/completions?a=1&b=x+y"
    assert json.loads(body) == BODY
    assert {name: headers[name] for name in ("authorization", "x-team", "x-token", "accept", "content-type")} == {
        "authorization": "Bearer the-key",
        "x-team": "readers",
        "x-token": "t",
        "accept": "application/json",
        "content-type": "application/json",
    }


@pytest.mark.parametrize("name", ["Authorization", "authorization"])
async def test_a_header_of_ones_own_takes_the_place_of_the_key(transport: Any, at: Any, name: str) -> None:
    server = Server(answer(b"{}"))
    await post(transport(Address.of(await at(server), "the-key", {name: "Token mine"})))
    assert server.seen[0][1]["authorization"] == "Token mine"


async def test_credentials_of_an_address_go_as_such_and_not_in_the_path(transport: Any, at: Any) -> None:
    server = Server(answer(b"{}"))
    await post(transport(Address.of(await at(server, "me:p%40ss@"), "none", {})))
    path, headers, _ = server.seen[0]
    assert headers["authorization"] == "Basic " + base64.b64encode(b"me:p@ss").decode()
    assert "me" not in headers["host"] + path.replace("completions", "")


async def test_azure_is_sent_its_key_and_no_other(transport: Any, at: Any) -> None:
    server = Server(answer(b"{}"))
    url = await at(server, path="")
    address = Address.of(None, "the-key", {}, azure_endpoint=url, api_version="2024-10-21")
    await post(transport(address))
    path, headers, _ = server.seen[0]
    assert path == "/openai/chat/completions?api-version=2024-10-21"
    assert headers["api-key"] == "the-key"
    assert "authorization" not in headers


@pytest.mark.parametrize("status", ["400 Bad Request", "429 Too Many Requests", "500 Oops", "503 Unavailable"])
async def test_an_error_of_the_endpoint_is_a_response(transport: Any, at: Any, status: str) -> None:
    server = Server(answer(b'{"error": "caf\xc3\xa9"}', status, "retry-after: 7", "X-Request-Id: r1"))
    response = await post(transport(Address.of(await at(server), "k", {})))
    assert response.status == int(status[:3])
    assert response.text == '{"error": "café"}'
    assert (response.headers.get("retry-after"), response.headers.get("x-request-id")) == ("7", "r1")


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"])
async def test_redirects_are_not_followed(transport: Any, at: Any, status: str) -> None:
    elsewhere = Server(answer(b"{}"))
    to = await at(elsewhere)
    server = Server(answer(b"", status, f"location: {to}/chat/completions"))
    response = await post(transport(Address.of(await at(server), "k", {})))
    assert response.status == int(status[:3])
    assert response.headers["location"].startswith(to)
    assert elsewhere.seen == []


async def test_texts_are_read_as_their_header_says_or_else_as_utf_8(transport: Any, at: Any) -> None:
    for kind, text in {"text/plain; charset=latin-1": "café", "text/plain; charset=nonsense": "caf�"}.items():
        content = answer("café".encode("latin-1"), "500 Oops").replace(b"application/json", kind.encode())
        assert (await post(transport(Address.of(await at(Server(content)), "k", {})))).text == text


async def test_packed_replies_are_unpacked(transport: Any, at: Any) -> None:
    server = Server(answer(gzip.compress(b'{"choices": [1]}'), "200 OK", "content-encoding: gzip"))
    assert (await post(transport(Address.of(await at(server), "k", {})))).body() == {"choices": [1]}
    assert "gzip" in server.seen[0][1]["accept-encoding"]


@pytest.mark.parametrize("content", [b"", b"no JSON", b"[" * 100_000, b"\xff\xfe"])
async def test_a_response_that_is_no_json_has_no_body(transport: Any, at: Any, content: bytes) -> None:
    response = await post(transport(Address.of(await at(Server(answer(content))), "k", {})))
    assert response.body() is None


async def test_silence_is_a_timeout(transport: Any, at: Any) -> None:
    with pytest.raises(TimedOut):
        await post(transport(Address.of(await at(Server(None)), "k", {})), 0.05)


@pytest.mark.parametrize("content", [b"", b"nonsense\r\n\r\n", answer(b"{}").replace(b": 2", b": 200000")[:-2]])
async def test_a_broken_connection_is_no_response(transport: Any, at: Any, content: bytes) -> None:
    """One that is closed, one that speaks no HTTP, one that promises more than it sends."""
    made = transport(Address.of(await at(Server(content)), "k", {}))
    with pytest.raises((Unreachable, TimedOut)):
        await post(made, 0.2)


async def test_nobody_at_the_address_is_no_response_and_says_why(transport: Any) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    with pytest.raises(Unreachable, match=r"\S"):
        await post(transport(Address.of(f"http://user:pass-word@127.0.0.1:{port}/v1", "k", {})))


async def test_no_exception_holds_a_key(transport: Any) -> None:
    with pytest.raises(Unreachable) as caught:
        await post(transport(Address.of("http://user:pass-word@127.0.0.1:9/v1", "the-key", {})))
    assert "pass-word" not in str(caught.value)
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("key", ["a\nb", "a\r\nX-Evil: 1", "a\x00b"])
async def test_a_key_cannot_write_headers(transport: Any, at: Any, key: str) -> None:
    server = Server(answer(b"{}"))
    with pytest.raises((Unreachable, ValueError)):
        await post(transport(Address.of(await at(server), key, {})))
    assert server.seen == []


async def test_what_json_does_not_have_is_not_sent(transport: Any, at: Any) -> None:
    server = Server(answer(b"{}"))
    made = transport(Address.of(await at(server), "k", {}))
    with pytest.raises(ValueError, match="JSON"):
        await made.post("/x", {"temperature": float("nan")}, 1.0)
    await made.close()
    assert server.seen == []


async def test_connections_are_used_again_and_closed_with_the_transport(transport: Any, at: Any) -> None:
    server = Server(answer(b"{}"))
    made = transport(Address.of(await at(server), "k", {}))
    for _ in range(5):
        await made.post("/x", BODY, 5.0)
    assert (server.opened, server.closed) == (1, 0)
    await made.close()
    async with asyncio.timeout(5):
        while not server.closed:
            await asyncio.sleep(0.01)


async def test_cancelling_a_request_closes_its_connection(transport: Any, at: Any) -> None:
    server = Server(None)
    made = transport(Address.of(await at(server), "k", {}))
    task = asyncio.create_task(made.post("/x", BODY, 30.0))
    async with asyncio.timeout(5):
        while not server.seen:
            await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    server.answer = answer(b"{}")
    assert (await made.post("/x", BODY, 5.0)).status == 200
    assert server.opened == 2  # never the one on which an answer may still come
    await made.close()


# ---- which of the two


@pytest.mark.parametrize("name", ["HTTP_PROXY", "https_proxy", "ALL_PROXY"])
async def test_where_there_is_a_proxy_the_client_is_used(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "http://127.0.0.1:9")
    made = transport_to(Address.of("http://127.0.0.1:1/v1", "k", {}), 1.0)
    assert isinstance(made, ClientTransport)
    await made.close()


@pytest.mark.parametrize("name", ["OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_CUSTOM_HEADERS"])
async def test_what_the_environment_adds_for_openai_is_the_clients_to_add(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    for other in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_CUSTOM_HEADERS"):
        monkeypatch.delenv(other, raising=False)
    for url, kind in ((OPENAI, PlainTransport), ("http://127.0.0.1:1/v1", PlainTransport)):
        made = transport_to(Address.of(url, "k", {}), 1.0)
        assert isinstance(made, kind)
        await made.close()
    monkeypatch.setenv(name, "X-Team: readers")
    for url, kind in ((OPENAI, ClientTransport), ("http://127.0.0.1:1/v1", PlainTransport)):
        made = transport_to(Address.of(url, "k", {}), 1.0)
        assert isinstance(made, kind)
        await made.close()


def test_one_that_nobody_closes_says_nothing_to_the_host() -> None:
    """Dropped while its loop runs, after that has ended, and never: no line in any log, no warning that is shown."""
    code = """
import asyncio, gc, logging, socket, sys, threading
from assay.judges.http.client import Address
from assay.judges.http.transports import PlainTransport, transport_to
logging.basicConfig(level=logging.DEBUG, stream=sys.stderr)
logging.getLogger("asyncio").setLevel(logging.INFO)
server = socket.create_server(("127.0.0.1", 0))
closed = threading.Event()
def serve(one):
    while one.recv(65536):
        one.sendall(b"HTTP/1.1 200 OK\\r\\ncontent-length: 2\\r\\n\\r\\n{}")
    closed.set()
def accept():
    while True:
        threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()
threading.Thread(target=accept, daemon=True).start()
async def main(keep):
    made = transport_to(Address.of(f"http://127.0.0.1:{server.getsockname()[1]}/v1", "k", {}), 5.0)
    assert isinstance(made, PlainTransport)
    assert (await made.post("/x", {"x": "y"}, 5.0)).content == b"{}"
    made.itself = made  # a circle, which the collector finds
    if keep:
        return made
    del made
    gc.collect()
    while not closed.is_set():
        await asyncio.sleep(0.01)
asyncio.run(main(False))
kept = asyncio.run(main(True))
del kept
gc.collect()
left = asyncio.run(main(True))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_leaves_the_connections_of_its_parent_alone() -> None:
    """It ends, with all that ends with it; the parent's next request goes over the connection that is open."""
    code = """
import asyncio, gc, os, socket, sys, threading
from assay.judges.http.client import Address
from assay.judges.http.transports import transport_to
server = socket.create_server(("127.0.0.1", 0))
opened = []
def serve(one):
    while one.recv(65536):
        one.sendall(b"HTTP/1.1 200 OK\\r\\ncontent-length: 2\\r\\n\\r\\n{}")
def accept():
    while True:
        one, _ = server.accept()
        opened.append(one)
        threading.Thread(target=serve, args=(one,), daemon=True).start()
threading.Thread(target=accept, daemon=True).start()
made = transport = None
async def main():
    global made
    made = transport_to(Address.of(f"http://127.0.0.1:{server.getsockname()[1]}/v1", "k", {}), 5.0)
    await made.post("/x", {}, 5.0)
    child = os.fork()
    if child == 0:
        made = None
        gc.collect()
        sys.exit(0)
    os.waitpid(child, 0)
    response = await made.post("/x", {}, 5.0)
    await made.close()
    return response.status
print(asyncio.run(main()), len(opened))
"""
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", code]  # from 3.12 on: forks beside threads
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout.splitlines()[-1:], done.stderr) == (0, ["200 1"], "")


def test_a_judge_over_aiohttp_loads_no_client() -> None:
    code = """
import asyncio, sys
from assay.judges.http.client import Address
from assay.judges.http.transports import Unreachable, transport_to
async def main():
    made = transport_to(Address.of("http://127.0.0.1:9/v1", "k", {}), 1.0)
    try:
        await made.post("/x", {}, 1.0)
    except Unreachable:
        pass
    await made.close()
asyncio.run(main())
print("openai" in sys.modules, "aiohttp" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "False True\n"


def test_clients_share_certificates_until_a_variable_names_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def trusted() -> Any:
        return Address.of("https://model.example/v1", "k", {}).client(1.0)._client._transport._pool._ssl_context

    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    assert trusted() is trusted()
    own = tmp_path / "own.pem"
    first, end, _ = Path(certifi.where()).read_text("utf-8").partition("-----END CERTIFICATE-----\n")
    own.write_text(first + end, "utf-8")
    monkeypatch.setenv("SSL_CERT_FILE", str(own))
    assert len(trusted().get_ca_certs()) == 1
