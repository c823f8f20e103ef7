"""The servers that tests start end with them, however they end; and what cannot be had is said."""

from __future__ import annotations

import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from tests._support.servers import stores
from tests._support.servers.stores import Store, StoreUnavailable

FILES = Store(
    requirement="none", command=("python", "-m", "http.server", "{port}", "--bind", "127.0.0.1"), health="/log.txt"
)


@pytest.fixture(autouse=True)
def own_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores, "environment", lambda requirement: Path(sys.executable).parent)


def test_a_server_answers_within_the_block_and_not_after_it():
    with stores.serving(FILES) as url, urllib.request.urlopen(f"{url}/log.txt") as response:
        assert response.status == 200
    assert not answers(url)


def test_a_server_ends_with_the_process_that_started_it_even_if_that_is_killed():
    code = f"""
import sys, time
from pathlib import Path
from tests._support.servers import stores
stores.environment = lambda requirement: Path({str(Path(sys.executable).parent)!r})
store = stores.Store(requirement="none", command={FILES.command!r}, health="/log.txt")
with stores.serving(store) as url:
    print(url, flush=True)
    time.sleep(600)
"""
    holder = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    url = holder.stdout.readline().strip()
    assert answers(url)
    holder.kill()
    holder.wait()
    holder.stdout.close()
    deadline = time.monotonic() + 60
    while answers(url):
        assert time.monotonic() < deadline, "the server is still there"
        time.sleep(0.1)


def test_a_server_that_ends_at_once_is_told_with_what_it_printed():
    broken = Store(requirement="none", command=("python", "-c", "raise SystemExit('no such database')"), health="/")
    with pytest.raises(StoreUnavailable, match="no such database"), stores.serving(broken):
        pass


def test_what_cannot_be_installed_is_told_with_the_reason(tmp_path, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(StoreUnavailable, match="nowhere could not be installed"):
        stores.environment(str(tmp_path / "nowhere"))


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/log.txt", timeout=5) as response:
            return bool(response.status == 200)
    except OSError:
        return False
