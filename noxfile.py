"""Tasks of this repository: `uvx nox -l` lists them, `uvx nox -s lint` runs one.

No session makes an environment for itself: all run in the project's environment, which `uv run` brings up to date.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import nox

nox.options.default_venv_backend = "none"
nox.options.sessions = ["lint", "types", "tests"]

CONSTRAINTS = Path(__file__).with_name("constraints.txt")
PYTHONS = ("3.11", "3.13")  # the oldest and the newest
PROJECTS = ("pyproject.toml", *(str(path) for path in sorted(Path().glob("integrations/*/pyproject.toml"))))
GROUPS = ("test", "dev", "docs")
#: The folders of `tests` that mirror those of `src/assay`, without the files that need an integration.
CORE_TESTS = (
    "-n",
    "2",
    *(f"tests/{path.name}" for path in sorted(Path("tests").iterdir()) if Path("src/assay", path.name).is_dir()),
    "--ignore=tests/_util/test_call_repr.py",
    "--ignore=tests/cli/test_capture_command.py",
    "--ignore=tests/sinks/test_contract.py",
    "--ignore=tests/sinks/test_registry.py",
    "--deselect=tests/data/test_openai_evals.py::test_a_source_without_columns_says_so",
)


def project(session: nox.Session, *command: str, options: tuple[str, ...] = ()) -> None:
    """Run a command in the project's environment."""
    session.run("uv", "run", "--all-packages", *options, *command, external=True)


@nox.session
def sync(session: nox.Session) -> None:
    """Install everything for development, in the versions of constraints.txt."""
    session.run(*lock_command(), external=True, log=False)
    session.run("uv", "sync", "--all-packages", external=True)


@nox.session
def lint(session: nox.Session) -> None:
    """Check style, format and words."""
    project(session, "ruff", "check", ".")
    project(session, "ruff", "format", "--check", ".")
    project(session, "pytest", "-q", "-n", "0", "tests/docs/test_words.py")


@nox.session
def types(session: nox.Session) -> None:
    """Check types: mypy on all sources, pyright on the public modules, both on right and wrong uses."""
    project(session, "mypy")
    project(session, "pyright")
    project(session, "pytest", "-q", "-n", "0", "-m", "", "tests/typing")


@nox.session
def tests(session: nox.Session) -> None:
    """Run the default tests, or those that you name: `nox -s tests -- tests/stats`."""
    project(session, "pytest", *(session.posargs or ("-n", "3")))


@nox.session
def core(session: nox.Session) -> None:
    """Run the core's tests with the group `test` alone, a small environment: `nox -s core -- tests/stats`."""
    small = ("uv", "run", "--no-default-groups", "--group", "test")
    session.run(*small, "pytest", *(session.posargs or CORE_TESTS), external=True)


@nox.session
def docs(session: nox.Session) -> None:
    """Build the site into `site/`; every warning is an error."""
    folder = session.posargs[0] if session.posargs else "site"
    build = ("sphinx-build", "-q", "-n", "-W", "--keep-going", "-b", "html", "docs", folder)
    project(session, *build, options=("--group", "docs"))


@nox.session(python=False)
@nox.parametrize("python", PYTHONS)
def long(session: nox.Session, python: str) -> None:
    """Run all tests that need no server, the long ones too, with one Python: `nox -s "long(python='3.13')"`."""
    interpreter = _interpreter(session, python)
    folder = Path(".nox", f"long-{python}").absolute()
    options = ("-W", "default", "--hypothesis-profile=thorough")
    command = ("pytest", *options, *(session.posargs or ("-n", "2", "--dist", "loadfile", "-m", "not needs")))
    uv_run = ("uv", "run", "--all-packages", "--python", interpreter)
    session.run(*uv_run, *command, external=True, env={"UV_PROJECT_ENVIRONMENT": str(folder)})


@nox.session
def wheels(session: nox.Session) -> None:
    """Build all distributions into `dist/`; then install and use them in an empty environment."""
    shutil.rmtree("dist", ignore_errors=True)
    session.run("uv", "build", "--all-packages", "-o", "dist", external=True)
    session.run("uv", "build", "-o", "dist", "integrations/ray", external=True)  # no member of the workspace
    project(session, "pytest", "-q", "-n", "0", "-m", "long", "tests/packaging/test_wheels.py")


@nox.session
def cookbook(session: nox.Session) -> None:
    """Run every file of the cookbook that needs no server."""
    project(session, "pytest", "-q", "-n", "0", "-m", "not needs", "tests/docs/test_cookbook.py")


@nox.session
def constraints(session: nox.Session) -> None:
    """Write constraints.txt: the newest version in range of every package that any part, extra or group needs."""
    groups = [part for group in GROUPS for part in ("--group", group)]
    resolve = ("uv", "pip", "compile", "-q", "--universal", "--fork-strategy", "fewest", "--python-version", PYTHONS[0])
    output = session.run(*resolve, "--all-extras", *groups, *PROJECTS, external=True, silent=True)
    pins = re.findall(r"^[A-Za-z0-9._-]+==[^\s;]+", str(output), re.MULTILINE)
    CONSTRAINTS.write_text("".join(f"{pin}\n" for pin in sorted(pins)), encoding="utf-8")
    session.log(f"{len(pins)} versions in {CONSTRAINTS.name}")


def lock_command() -> list[str]:
    """The command that writes uv.lock in the versions of constraints.txt.

    Each is an option: `uv lock` and `uv run` read no file of constraints, and ignore UV_CONSTRAINT.
    """
    return ["uv", "lock", *(f"-P{pin}" for pin in CONSTRAINTS.read_text(encoding="utf-8").split())]


def _interpreter(session: nox.Session, python: str) -> str:
    """The path of that Python on this machine. None is downloaded; without it the session is skipped."""
    found = session.run(
        "uv", "python", "find", python, external=True, silent=True, success_codes=[0, 1, 2],
        env={"UV_PYTHON_DOWNLOADS": "never", "UV_PYTHON": "", "VIRTUAL_ENV": ""},
    )  # fmt: skip
    lines = [line for line in str(found).splitlines() if Path(line).is_file()]
    if not lines:
        session.skip(f"no Python {python} on this machine, and none is downloaded")
    return lines[-1]
