"""Environments with the oldest and the newest supported versions of the frameworks, made once under the user's cache.

Needs uv: pip cannot install the lowest versions that a project allows.
"""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parents[2]
MATRICES = {
    "langchain": "integrations/langchain/tests/test_shape_matrix.py",
    "llama_index": "integrations/llama_index/tests/test_shape_matrix.py",
}
MEMBERS = (".", "integrations/langchain", "integrations/llama_index", "integrations/embedded")
TOOLS = ("pytest>=8.3", "pytest-asyncio>=0.24", "pytest-timeout>=2.3", "pytest-xdist>=3.6", "hypothesis>=6.115")

#: Frameworks beside those that the integrations depend on themselves; the matrices use them.
FRAMEWORKS = ("langchain>=1.0,<2", "langchain-classic>=1.0,<2", "langgraph>=1.0,<2")


@dataclass(frozen=True, kw_only=True)
class Versions:
    """One set of versions: what is asked for besides the project, and how uv is to choose."""

    name: str
    requirements: tuple[str, ...]
    options: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()
    members: tuple[str, ...] = field(default=MEMBERS, repr=False)  # folders of this project


OLDEST = Versions(
    name="oldest",
    # a langgraph of this age does not say that it needs its prebuilt agents of the same age
    requirements=(*FRAMEWORKS, "langgraph-prebuilt==1.0.0"),
    options=("--resolution", "lowest-direct"),
)
NEWEST = Versions(
    name="newest",
    requirements=(*FRAMEWORKS, "langchain-core>=1.8,<2"),
    # langchain-core asks for a certifi that registries do not have yet
    overrides=("certifi",),
)

#: Libraries of agents and of tools, which no integration depends on.
AGENTS = Versions(
    name="agents",
    requirements=(
        *FRAMEWORKS,
        "deepagents>=0.7,<0.8",
        "langchain-mcp-adapters>=0.3,<0.4",
        "langgraph-supervisor>=0.0.31,<0.1",
        "langgraph-swarm>=0.1,<0.2",
        "openinference-instrumentation-langchain>=0.1.50,<0.2",
    ),
    overrides=("certifi",),
    members=(*MEMBERS, "integrations/opentelemetry"),
)
#: What runs the shapes of these libraries, live and from spans.
LIBRARIES = "integrations/langchain/tests/library_matrix.py"


@functools.cache
def environment(versions: Versions) -> Path:
    """The Python of an environment with these versions and this checkout."""
    uv = os.environ.get("UV") or shutil.which("uv")
    if uv is None:
        raise RuntimeError("uv is needed to install the oldest and newest versions: pip install uv")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "assay-test-versions"
    key = hashlib.sha256(f"{versions}{sys.version}".encode()).hexdigest()[:12]
    folder = cache / f"{versions.name}-{key}"
    python = folder / "bin" / "python"
    if not python.exists():
        _run([uv, "venv", "-q", "--python", sys.executable, str(folder)])
    members = [part for member in versions.members for part in ("-e", str(ROOT / member))]
    with tempfile.TemporaryDirectory() as name:
        overrides = Path(name) / "overrides.txt"
        overrides.write_text("\n".join(versions.overrides))
        more = ["--override", str(overrides)] if versions.overrides else []
        install = [uv, "pip", "install", "-q", "--python", str(python), *versions.options, *more]
        _run([*install, *members, *versions.requirements, *TOOLS])
    return python


@functools.cache
def marks(python: Path, matrix: str) -> Mapping[str, str]:
    """What became of each test of a matrix in that environment, by its name: "passed", "skipped", "failed", or "wrong"
    where it failed as it is known to."""
    with tempfile.TemporaryDirectory() as name:
        report = Path(name) / "report.xml"
        command = [
            str(python),
            "-m",
            "pytest",
            "-q",
            "-W",
            "default",
            "-p",
            "no:cacheprovider",
            f"--junitxml={report}",
            matrix,
        ]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)
        if not report.exists():
            raise RuntimeError(done.stdout[-3000:] + done.stderr[-3000:])
        return {case.attrib["name"]: _mark(case) for case in ElementTree.parse(report).iter("testcase")}


def installed(python: Path, *packages: str) -> dict[str, str]:
    """The versions of packages in that environment."""
    code = "import sys\nfrom importlib.metadata import version\nprint(*map(version, sys.argv[1:]))"
    return dict(zip(packages, _run([str(python), "-c", code, *packages]).split(), strict=True))


def _mark(case: ElementTree.Element) -> str:
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    skipped = case.find("skipped")
    if skipped is None:
        return "passed"
    return "wrong" if skipped.get("type") == "pytest.xfail" else "skipped"


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False, cwd=ROOT)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command[:4])} failed:\n{(done.stdout + done.stderr)[-3000:]}")
    return done.stdout
