"""A real server of `assay view` on loopback, over stores with hostile texts in every field."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

import pytest

from assay import Store, evaluate
from assay.records import ScoredSample
from assay.view.open_store import OpenStore
from assay.view.security import AccessRules
from assay.view.server import listen, make_server
from tests.report.conftest import HOSTILE, METRICS, WRONG, hostile_row, judge, row

ROWS = 60


@dataclass(frozen=True)
class Reply:
    status: int
    text: str
    headers: dict[str, str]


@dataclass(frozen=True)
class Client:
    """An HTTP client that sends what it is told, `Host` included."""

    port: int
    host: str = "127.0.0.1"
    headers: dict[str, str] = field(default_factory=dict)

    def get(self, path: str, *pairs: tuple[str, str], method: str = "GET", **headers: str) -> Reply:
        """The reply; in names of headers "_" is "-"."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=60)
        try:
            sent = {**self.headers, **{name.replace("_", "-"): value for name, value in headers.items()}}
            address = f"{path}?{urlencode(pairs)}" if pairs else path
            connection.putrequest(method, address, skip_host="Host" in sent)
            for name, value in sent.items():
                connection.putheader(name, value)
            connection.endheaders()
            found = connection.getresponse()
            text = found.read().decode("utf-8")
            return Reply(found.status, text, {name.lower(): value for name, value in found.getheaders()})
        finally:
            connection.close()


@contextmanager
def serving(store: str | Path, rules: AccessRules | None = None) -> Iterator[Client]:
    """A server of a store in a thread of this process."""
    listening = listen("127.0.0.1", 0)
    server = make_server(OpenStore(Store(store)), rules or AccessRules())
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield Client(listening.getsockname()[1])
    finally:
        server.should_exit = True
        thread.join(20)
        listening.close()


def fill(address: str | Path) -> None:
    """Three runs: the second got eight rows wrong and has a hostile name; the third is a live one."""
    rows = [*(row(n) for n in range(ROWS - 1)), hostile_row()]
    wrong = [row(n, f"Thing {n} is red. It is made of cheese.") for n in range(WRONG)]
    evaluate(rows, METRICS, judge(), store=address, run="before")
    now = evaluate([*wrong, *rows[WRONG:]], METRICS, judge(), store=address, run=f"now {HOSTILE}", note=HOSTILE)
    with Store(address) as store:
        started = store.create_run("live/shop", {"judge": now.judge, "metrics": list(now.metrics)})
        found: list[tuple[int, ScoredSample, str | None]] = [(n, one, None) for n, one in enumerate(now, 1)]
        store.put_rows("live/shop", found, started=started)


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("view") / "store"
    fill(folder)
    return folder


@pytest.fixture(scope="session")
def client(filled: Path) -> Iterator[Client]:
    with serving(filled) as found:
        yield found


Get = Callable[..., Reply]
