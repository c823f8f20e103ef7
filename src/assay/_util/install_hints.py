"""How to install what is missing, as a command that works where it is printed.

assay may have come from an index, from built wheels in a folder, or from a clone in which it is edited, by pip or by
uv. What the installer wrote beside the package (PEP 376's INSTALLER, PEP 610's direct_url.json) tells which.
"""

from __future__ import annotations

import json
import shlex
import sys
import tomllib
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

DISTRIBUTION = "assay-rag"

#: Extras that are distributions of their own, with their folder in a clone. The others name packages of others.
PARTS = {
    "embedded": "embedded",
    "embedded-multilingual": "multilingual",
    "langchain": "langchain",
    "langfuse": "langfuse",
    "langsmith": "langsmith",
    "llama-index": "llama_index",
    "mlflow": "mlflow",
    "opentelemetry": "opentelemetry",
    "phoenix": "phoenix",
    "pytest": "pytest",
    "ray": "ray",
}


def install_extra(extra: str, *, of: str | None = None) -> str:
    """Return the command that installs an extra of assay into this environment.

    The command uses the installer of assay, pip or uv. It also works for a clone and for a folder of wheels.

    Args:
        extra: Name of the extra, such as "embedded".
        of: Integration that has the extra, a key of `PARTS`: "langchain" for `assay-langchain[classic]`. None: the
            core.

    Returns:
        The shell command, quoted.
    """
    found = _installed()
    came = _came_from(found)
    if came is not None and came.is_dir():
        return _install(found, *_editable(came, extra, of))
    named = f"assay-{of}[{extra}]" if of else f"{DISTRIBUTION}[{extra}]"
    return _install(found, *(["--find-links", str(came.parent)] if came is not None else []), named)


def install_package(*requirements: str) -> str:
    """Return the command that installs third-party packages into this environment.

    The command uses the installer of assay, pip or uv.

    Args:
        requirements: Packages, as in a requirements file, such as "pandas".

    Returns:
        The shell command, quoted.
    """
    return _install(_installed(), *requirements)


def _installed() -> Distribution | None:
    try:
        return distribution(DISTRIBUTION)
    except PackageNotFoundError:  # a folder on the path
        return None


def _came_from(found: Distribution | None) -> Path | None:
    """The folder of the clone or the wheel that assay was installed from; None where it came from an index."""
    text = found.read_text("direct_url.json") if found is not None else None
    try:
        url = urlsplit(str(json.loads(text)["url"])) if text else None
    except (ValueError, KeyError, TypeError):
        return None
    path = Path(url2pathname(url.path)) if url is not None and url.scheme == "file" else None
    return path if path is not None and path.exists() else None


def _install(found: Distribution | None, *arguments: str) -> str:
    by = ((found.read_text("INSTALLER") if found is not None else "") or "").strip()
    # environments that uv makes have no pip; naming the interpreter, the command holds in every folder
    begin = ["uv", "pip", "install", "--python", sys.executable] if by == "uv" else [_python(), "-m", "pip", "install"]
    return shlex.join([*begin, *arguments])


def _python() -> str:
    return sys.executable or "python"


def _editable(clone: Path, extra: str, of: str | None) -> list[str]:
    if of is not None:
        return _folders(clone, f"{clone / 'integrations' / PARTS[of]}[{extra}]", PARTS[of])
    if extra not in PARTS:
        return ["-e", f"{clone}[{extra}]"]
    return _folders(clone, str(clone / "integrations" / PARTS[extra]), PARTS[extra])


def _folders(clone: Path, last: str, folder: str) -> list[str]:
    """The core, the parts that this part needs, and the part: pip looks for what is not named on the index."""
    needed = [name for name in _needs(clone / "integrations" / folder) if name != folder]
    paths = [str(clone), *(str(clone / "integrations" / name) for name in needed), last]
    return [word for path in paths for word in ("-e", path)]


def _needs(part: Path) -> list[str]:
    try:
        project = tomllib.loads((part / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    except (OSError, ValueError, KeyError):
        return []
    own = {f"assay-{name}": folder for name, folder in PARTS.items()}
    return [folder for name, folder in own.items() if any(line.startswith(name) for line in project["dependencies"])]
