"""What `assay demo` costs besides scoring, and when its first score is seen: `python -m tests.benchmarks.bench_demo`.

The demo is run in a folder of its own in a terminal of 80 columns. The second run there has every judgement in the
store:
what it takes is imports, the models, reading, arithmetic and output. Times of processes are CPU seconds, which other
work on the machine changes little; the first score is in seconds of the clock.
"""

from __future__ import annotations

import os
import pty
import re
import resource
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

CPU_TARGET = 6.0  # seconds of everything but scoring, with a warm cache
FIRST_TARGET = 3.0  # seconds from the loaded models to the first score


@dataclass(frozen=True)
class Demo:
    """One run: its CPU seconds, and the seconds from the bar, which needs the models, to the first row in it."""

    cpu: float
    first: float | None
    shown: str


def demo(folder: Path) -> Demo:
    """Run it in a pseudo terminal."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.environ.update(COLUMNS="80", TERM="xterm-256color")
        os.execv(sys.executable, [sys.executable, "-m", "assay", "demo"])
    seen = b""
    bar = first = None
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:  # the other side is closed
            break
        if not part:
            break
        seen += part
        now = time.monotonic()
        if bar is None and b"/22" in seen:
            bar = now
        if first is None and re.search(rb"[1-9]\d*/22[^\r\n]* \d\.\d{3}", seen):
            first = now
    os.close(terminal)
    _, status = os.waitpid(pid, 0)
    if status:
        raise RuntimeError(f"assay demo ended with {status}: {seen.decode(errors='replace')[-500:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Demo(cpu, first - bar if first and bar else None, seen.decode(errors="replace"))


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        cold, warm = demo(Path(folder)), demo(Path(folder))
    first = "not seen" if cold.first is None else f"{cold.first:.1f} s"
    print(f"- with every judgement in the store: {warm.cpu:.1f} CPU s (target: at most {CPU_TARGET:.0f})")
    print(f"- with none: {cold.cpu:.1f} CPU s, so that scoring takes {cold.cpu - warm.cpu:.1f}")
    print(f"- the first score is seen {first} after the models are loaded (target: within {FIRST_TARGET:.0f} s)")


if __name__ == "__main__":
    main()
