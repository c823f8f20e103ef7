"""Servers of applications (gunicorn, uvicorn, Celery) for tests, in an environment of their own."""

from __future__ import annotations

from pathlib import Path

from tests._support.versions import Versions, environment

APP_SERVERS = Versions(
    name="app-servers",
    requirements=("gunicorn>=23,<28", "uvicorn>=0.34,<1", "uvicorn-worker>=0.3,<1", "celery>=5.4,<6"),
    members=(".",),
)


def python() -> Path:
    """The Python of that environment, with this checkout; made when it is first asked for."""
    return environment(APP_SERVERS)
