"""What other tools' handlers cost the same host, in the same run.

    python -m tests.benchmarks.bench_rivals

The dependencies of these tools exclude each other, and one of them loads a plugin into every pytest run: they are
installed into an environment of their own, which is kept between runs. Needs `uv`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
ROUNDS = 300
EVENTS = 14  # events of the LangChain chain per request, and of the LlamaIndex query
TOOLS = (
    "deepeval>=4.3,<5",
    "openinference-instrumentation-langchain>=0.1.50,<0.2",
    "openinference-instrumentation-llama-index>=4.3,<5",
    "opentelemetry-sdk>=1.37,<2",
    "psutil>=6,<8",
)


def environment() -> Path:
    """The Python of an environment with assay and the other tools."""
    uv = shutil.which("uv") or [sys.executable, "-m", "uv"]
    command = [uv] if isinstance(uv, str) else uv
    folder = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "assay-benchmarks" / "rivals"
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([*command, "venv", "-q", "--python", sys.executable, str(folder)], check=True)
    members = [ROOT, ROOT / "integrations" / "langchain", ROOT / "integrations" / "llama_index"]
    editable = [part for member in members for part in ("-e", str(member))]
    subprocess.run([*command, "pip", "install", "-q", "--python", str(python), *editable, *TOOLS], check=True)
    return python


def run(python: Path, framework: str) -> dict[str, dict[str, float]]:
    done = subprocess.run(
        [str(python), "-m", "tests.benchmarks.rivals_worker", framework, str(ROUNDS)],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def main() -> None:
    python = environment()
    for title, framework in (("LangChain", "langchain"), ("LlamaIndex", "llama_index")):
        found = run(python, framework)
        silent = next(spent for name, spent in found.items() if "nothing" in name)
        assay = found["assay"]["thread"] - silent["thread"]
        print(f"| {title}: CPU per request | host's thread | over no-op | per event | whole process |")
        print("|---|---|---|---|---|")
        for name, spent in found.items():
            over = spent["thread"] - silent["thread"]
            each = f"{over / EVENTS:+.1f} µs" if name not in ("no handler",) else ""
            times = f" ({over / assay:.1f}x assay)" if name in ("OpenInference", "DeepEval") else ""
            print(f"| {name} | {spent['thread']:.0f} µs | {over:+.0f} µs{times} | {each} | {spent['process']:.0f} µs |")
        print()


if __name__ == "__main__":
    main()
