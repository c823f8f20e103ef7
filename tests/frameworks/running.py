"""One run of a suite: its environment, its tests, and a process that runs them with something attached."""

from __future__ import annotations

import dataclasses
import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests._support.versions import Versions, environment
from tests.frameworks.outcomes import Run
from tests.frameworks.suites import SUITES, Suite

PLUGIN = Path(__file__).parent / "plugin"
#: Where runs are kept, beside the environments.
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "assay-test-versions" / "frameworks"
LIMIT = 3600.0  # seconds that a run may take
ONE_TEST = 300  # seconds that one test may take: more is a hang, and a failure

#: Settings of a user or a machine that would change what the suites do.
_FOREIGN = ("LANGCHAIN_", "LANGSMITH_", "LANGGRAPH_", "OPENAI_", "ASSAY_", "PYTEST_", "PYTHON", "VIRTUAL_ENV", "OTEL_")


def python_of(suite: Suite) -> Path:
    """The Python of the environment of a suite, with this checkout of assay; made when it is first asked for."""
    requirements = ("pip", *suite.requirements)
    return environment(Versions(name=f"suite-{suite.package}", requirements=requirements, options=suite.installing))


def folder_of(suite: Suite, python: Path, source: Path | None = None) -> Path:
    """The folder that holds the `tests` of a suite: `source`, or else its unpacked source distribution."""
    if source is not None:
        return source
    if suite.tests != "sdist":
        raise FileNotFoundError(
            f"{suite.package}: its tests are in no source distribution; --source says where they are"
        )
    home = python.parents[1] / f"{suite.package}-{suite.version}"
    if not home.exists():
        with tempfile.TemporaryDirectory(dir=python.parents[1]) as name:
            _download(suite, python, Path(name))
            (archive,) = Path(name).glob("*.tar.gz")
            with tarfile.open(archive) as packed:
                packed.extractall(Path(name) / "unpacked", filter="data")
            (unpacked,) = (Path(name) / "unpacked").iterdir()
            unpacked.rename(home)
    return home


def make_ready() -> None:
    """The environments and the tests of all suites that CI runs; raises where they cannot be had."""
    for suite in SUITES.values():
        if suite.small:
            folder_of(suite, python_of(suite))


def _download(suite: Suite, python: Path, folder: Path) -> None:
    what = ["--no-deps", "--no-binary", suite.package, f"{suite.package}=={suite.version}"]
    command = [str(python), "-m", "pip", "download", "-q", "--dest", str(folder), *what]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    if done.returncode:
        raise RuntimeError(f"{suite.package}: no source distribution:\n{done.stderr[-2000:]}")


def run(
    suite: Suite, attached: str, *, source: Path | None = None, only: Iterable[str] = (), small: bool = False
) -> Run:
    """Run a suite once with "nothing", the "empty" handler or "assay" attached.

    only   ids of tests that are run in place of all; `small`: the part that CI runs
    """
    python = python_of(suite)
    with _laid_out(folder_of(suite, python, source)) as folder:
        report = folder / "outsider.json"
        paths = tuple(only) or (suite.small if small else suite.paths)
        left_out = (*suite.deselected, *(suite.timed if small else ()))
        more = [*suite.options, *(f"--deselect={test}" for test in left_out)]
        words = [
            "-q",
            "-p",
            "assay_outsider",
            "-p",
            "no:cacheprovider",
            "--continue-on-collection-errors",
            f"--timeout={ONE_TEST}",
        ]
        command = [str(python), "-m", "pytest", *words, *more, *paths]
        log = folder / "outsider.log"
        with log.open("w") as said:
            settings = _settings(suite, attached, report, folder)
            subprocess.run(command, cwd=folder, env=settings, stdout=said, stderr=said, timeout=LIMIT, check=False)
        if not report.exists():
            raise RuntimeError(f"{suite.package}: pytest wrote no report:\n{log.read_text(errors='replace')[-3000:]}")
        return dataclasses.replace(Run.read(report), attached=attached)


@contextmanager
def _laid_out(home: Path) -> Iterator[Path]:
    """A copy of the tests and their settings alone: the package is imported from where it is installed."""
    with tempfile.TemporaryDirectory(prefix="assay-frameworks-") as name:
        folder = Path(name)
        shutil.copytree(home / "tests", folder / "tests")
        for file in ("pyproject.toml", "README.md"):
            if (home / file).exists():
                shutil.copy(home / file, folder)
        yield folder


def _settings(suite: Suite, attached: str, report: Path, folder: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
    mine = {
        "ASSAY_OUTSIDER_FRAMEWORK": suite.framework,
        "ASSAY_OUTSIDER_ATTACHED": attached,
        "ASSAY_OUTSIDER_REPORT": str(report),
        "PYTHONPATH": str(PLUGIN),
        "TMPDIR": str(folder),
    }
    return {**kept, **suite.settings, **mine}
