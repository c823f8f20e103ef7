"""Ray for tests, in an environment of its own: half a gigabyte that nothing else here needs, with a server of S3."""

from __future__ import annotations

from pathlib import Path

from tests._support.versions import Versions, environment

RAY = Versions(
    name="ray",
    requirements=("moto[server]>=5,<6", "s3fs>=2024.12", "psutil>=6,<8"),
    members=(".", "integrations/embedded", "integrations/ray"),
)


def python() -> Path:
    """The Python of that environment, with this checkout; made when it is first asked for."""
    return environment(RAY)
