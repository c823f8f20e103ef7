"""Which tests run by default, and what the others need.

    pytest                              all that is neither `long` nor `needs` a server (`addopts` in pyproject.toml)
    pytest -m long                      the long ones
    pytest -m full                      those long ones that `.ci/run` leaves out: tests/_support/full.py says which
    pytest -m needs                     those with a real server or browser
    pytest -m "needs(name='phoenix')"   those with one of them
    pytest -m "" tests/cli/test_cli.py      a file with all that is in it

A test `needs` what it asks for: by one of the fixtures below, or by the mark `@pytest.mark.needs(name="phoenix")`.
"""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest
import typer.main

from tests._support import full, short_cases, slowest
from tests._support.servers import postgres_server, stores
from tests._support.servers.needed import INSTALL

#: Seconds that a long test may take, on a busy machine, if it does not say so itself.
LONG = 900

#: What a test needs that asks for one of these fixtures.
NEEDED_BY_FIXTURE = {"phoenix_url": "phoenix", "mlflow_url": "mlflow", "mlflow_packages": "mlflow",
                     "postgresql": "postgresql"}  # fmt: skip

# a machine may be busy with something else: time is held where a test measures it, not by hypothesis per example
hypothesis.settings.register_profile(
    "thorough", hypothesis.settings(), deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
# each run draws anew: what 25 draws miss today, the next runs find; the long tests take `thorough`
hypothesis.settings.register_profile("quick", hypothesis.settings.get_profile("thorough"), max_examples=25)
hypothesis.settings.load_profile("quick")

# a process of tests calls the command line a hundred times: its 45 commands are made once, not in 0.1 s for each call
typer.main.get_command = functools.cache(typer.main.get_command)


def pytest_configure(config: pytest.Config) -> None:
    """Each run prints its slowest files."""
    config.pluginmanager.register(slowest.SlowestFiles(), "slowest-files")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Files of long tests alone are not read where none is wanted: they hold a third of all tests."""
    if collection_path.suffix != ".py" or "not long" not in config.option.markexpr:
        return None
    return True if "\npytestmark = pytest.mark.long\n" in collection_path.read_text(encoding="utf-8") else None


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    # bytes may hold a time of day (gzip's header does), and xdist's processes must agree on every id
    return argname if isinstance(val, bytes) else None


@pytest.hookimpl(tryfirst=True)  # before `-m` looks at the marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Servers are slow and ask for little of a processor: their tests come first, and others run beside them.

    `.ci/run` keeps a file in one process (`--dist loadfile`), so that one cluster of Ray is up at a time; groups of
    pytest-xdist 3.8 are not heeded with pytest 9.2.
    """
    config.stash[full.COLLECTED] = [item.nodeid for item in items]
    short_cases.mark_the_others(items)
    for item in items:
        if item.get_closest_marker("long") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(LONG))
        needed = sorted(_needed_by(item))
        for name in needed:
            item.add_marker(pytest.mark.needs(name=name))
        if (needed or item.get_closest_marker("long")) and full.is_full(item.nodeid):
            item.add_marker(pytest.mark.full)
    items.sort(key=lambda item: item.get_closest_marker("needs") is None)


def _needed_by(item: pytest.Item) -> set[str]:
    """The names of what a test needs."""
    said = {str(mark.kwargs.get("name")) for mark in item.iter_markers("needs")}
    if not said <= INSTALL.keys():
        raise pytest.UsageError(f"{item.nodeid}: needs(name=...) is one of {', '.join(INSTALL)}")
    asked = NEEDED_BY_FIXTURE.keys() & set(getattr(item, "fixturenames", ()))
    return said | {NEEDED_BY_FIXTURE[fixture] for fixture in asked}


@pytest.fixture(scope="session")
def phoenix_url() -> str:
    """The base URL of a real Phoenix server."""
    return stores.phoenix()


@pytest.fixture(scope="session")
def mlflow_url() -> str:
    """The tracking URI of a real MLflow server."""
    return stores.mlflow()


@pytest.fixture(scope="session")
def mlflow_packages() -> Path:
    """The folder with the packages of MLflow whole, its database included."""
    return stores.packages(stores.MLFLOW.requirement)


@pytest.fixture(scope="session")
def postgresql() -> Iterator[postgres_server.Server]:
    """A real PostgreSQL server."""
    with postgres_server.server() as running:
        yield running


_NUMBERS = itertools.count(1)


@pytest.fixture(params=["folder", pytest.param("database", marks=pytest.mark.needs(name="postgresql"))])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where there is no store yet: a folder, and in another test a PostgreSQL database."""
    if request.param == "folder":
        return str(tmp_path / "store")
    running: postgres_server.Server = request.getfixturevalue("postgresql")
    return running.url(f"contract_{os.getpid()}_{next(_NUMBERS)}")
