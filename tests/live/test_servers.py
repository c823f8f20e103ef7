"""However a real server ends its processes, what the application submitted is kept: see the table in `docs/live.md`."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.live.servers import COMMANDS, UNWARNED, WARNED, options_of, serving

pytestmark = [
    pytest.mark.needs(name="app-servers"),
    pytest.mark.skipif(sys.platform == "win32", reason="gunicorn and prefork need POSIX"),
]

KINDS = ("queue", "live")
TRIES = 3  # a busy machine may keep the writing thread waiting for more than 100 ms
#: Ways that a server does not have.
MISSING = {
    "restart": ("uvicorn", "uvicorn closed in lifespan", "uvicorn.run", "celery prefork"),
    "limit": ("uvicorn --reload", "uvicorn.run"),
}


def cells(ways: Iterable[str]) -> list[tuple[str, str]]:
    """Each server with each of these ways that it has."""
    return [(server, way) for server in COMMANDS for way in ways if server not in MISSING.get(way, ())]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("server", "way"), cells(WARNED), ids=lambda part: part.replace(" ", "_"))
def test_with_a_warning_everything_is_kept(server: str, way: str, kind: str, tmp_path: Path) -> None:
    """100 samples of 5 ms: a live scorer can score all within 1.75 s, and few before the server ends."""
    with serving(server, kind, tmp_path / "run", *options_of(server, way)) as running:
        WARNED[way](running)
        assert len(running.accepted()) >= 19
        assert running.lost() == {}


@pytest.mark.parametrize(("server", "way"), cells(UNWARNED), ids=lambda part: part.replace(" ", "_"))
def test_without_a_warning_a_queue_loses_the_last_100_ms_at_most(server: str, way: str, tmp_path: Path) -> None:
    """It writes every 50 ms."""
    ages = []
    for attempt in range(TRIES):
        with serving(server, "queue", tmp_path / str(attempt)) as running:
            ended = UNWARNED[way](running)
            assert len(running.accepted()) >= 20
            if way == "os._exit":  # the other processes of the server go on
                running.process.terminate()
                running.wait()
            ages.append(max((ended - when for when in running.lost().values()), default=0.0))
        if ages[-1] <= 0.1:
            return
    pytest.fail(f"samples of {ages} s before the end are lost")
