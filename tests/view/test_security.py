"""Who may read the pages: hosts, origins, methods, the token and its cookie, the policy of every response."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.view.security import AccessRules, host_of, is_loopback
from assay.view.server import address_of, listen
from tests.view.conftest import Client, serving


@pytest.mark.parametrize(
    ("host", "allowed"),
    [
        ("127.0.0.1", True),
        ("localhost:9000", True),  # a forwarded port
        ("LOCALHOST", True),
        ("[::1]:8410", True),
        ("127.8.9.1:1", True),
        ("evil.example", False),  # a name that was rebound to this machine
        ("127.0.0.1.evil.example", False),
        ("localhost.evil.example:8410", False),
        ("93.184.216.34", False),
        ("[::1].evil.example", True),  # its name ends at the bracket: no browser sends this
        ("", False),
    ],
)
def test_hosts_that_are_no_names_of_this_server_are_refused(client: Client, host: str, allowed: bool):
    assert client.get("/", Host=host).status == (200 if allowed else 421)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "no-cors", "Sec_Fetch_Dest": "script"}, 403),
        ({"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "iframe"}, 403),
        ({"Sec_Fetch_Site": "same-site", "Sec_Fetch_Mode": "cors", "Sec_Fetch_Dest": "empty"}, 403),
        ({"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document"}, 200),
        ({"Sec_Fetch_Site": "same-origin", "Sec_Fetch_Mode": "no-cors", "Sec_Fetch_Dest": "style"}, 200),
    ],
)
def test_other_sites_read_nothing(client: Client, headers: dict[str, str], status: int):
    assert client.get("/", **headers).status == status
    own = f"127.0.0.1:{client.port}"
    assert client.get("/", Host=own, Origin=f"http://{own}").status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_nothing_but_reading_is_served(client: Client, method: str):
    assert client.get("/", method=method).status == 405


def test_every_response_has_the_policy(client: Client):
    style = re.findall(r"/static/[^\"]*", client.get("/").text)
    for path in ("/", "/nope", "/rows?run=nope", "/rows.csv?run=before", *style):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "server" not in headers
        assert ("immutable" in headers["cache-control"]) == path.startswith("/static/")
    assert client.get("/", Host="evil.example").headers["x-frame-options"] == "DENY"


def test_an_address_that_is_too_long_is_refused(client: Client):
    assert client.get("/?q=" + "x" * 20_000).status == 414


@pytest.fixture
def guarded(filled: Path) -> Iterator[Client]:
    rules = AccessRules("192.0.2.1", ("eval.example",), token="secret-token", session="session-value")
    with serving(filled, rules) as found:
        yield found


def test_the_token_becomes_a_cookie_and_leaves_the_address(guarded: Client):
    assert guarded.get("/").status == 401
    assert guarded.get("/rows?run=before").status == 401
    assert guarded.get("/?token=wrong").status == 401
    assert guarded.get("/?token=").status == 401
    assert guarded.get("/", Cookie="assay_view=wrong").status == 401
    reply = guarded.get("/rows?run=live%2Fshop&token=secret-token&order=data")
    assert (reply.status, reply.headers["location"]) == (303, "/rows?run=live%2Fshop&order=data")
    cookie = reply.headers["set-cookie"]
    assert cookie.startswith("assay_view=session-value;")
    assert "HttpOnly" in cookie
    assert "secret-token" not in cookie
    page = guarded.get(reply.headers["location"], Cookie="other=1; assay_view=session-value")
    assert page.status == 200
    assert "secret-token" not in page.text
    assert guarded.get("//evil.example/?token=secret-token").headers["location"] == "/evil.example/"


def test_beyond_loopback_addresses_and_named_hosts_are_names_of_the_server(guarded: Client):
    for host, status in (("198.51.100.7:8410", 401), ("eval.example", 401), ("evil.example", 421)):
        assert guarded.get("/", Host=host).status == status


@given(st.text(max_size=60))
def test_any_text_is_read_as_a_host(text: str):
    assert isinstance(host_of(text), str)
    assert isinstance(AccessRules().knows(text), bool)
    assert isinstance(is_loopback(text), bool)


def test_addresses_name_what_opens_the_pages():
    assert address_of("127.0.0.1", 8410, None) == "http://127.0.0.1:8410/"
    assert address_of("::1", 1, None) == "http://[::1]:1/"
    assert address_of("192.0.2.1", 2, "abc") == "http://192.0.2.1:2/?token=abc"


def test_an_address_that_cannot_be_had_is_an_error_that_says_so():
    with listen("127.0.0.1", 0) as taken, pytest.raises(InputError, match="--port"):
        listen("127.0.0.1", taken.getsockname()[1])
    with pytest.raises(InputError, match="cannot listen"):
        listen("no such host", 0)


@pytest.mark.long
def test_the_command_serves_until_it_is_interrupted(filled: Path):
    command = [sys.executable, "-m", "assay", "view", str(filled), "--no-browser", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.fullmatch(r"assay view: http://127\.0\.0\.1:(\d+)/\n", line)
        assert found is not None, line
        began = time.monotonic()
        client = Client(int(found[1]))
        assert client.get("/").status == 200
        first = time.monotonic() - began
        process.send_signal(signal.SIGINT)
        assert process.wait(20) in (0, 130)
    assert first < 5.0, "seconds to the first page, on a busy machine"


def test_a_store_that_is_not_there_is_not_made(command_line, tmp_path: Path):
    code, _, said = command_line("view", "nowhere", "--no-browser")
    assert code == 2
    assert "there is none in 'nowhere'" in said
    assert not (tmp_path / "nowhere").exists()
