"""Measuring a suite: all its runs, one after the other."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from tests.frameworks.measured import KINDS, Measured, split
from tests.frameworks.outcomes import Run
from tests.frameworks.running import python_of, run
from tests.frameworks.suites import SUITES

ALONE = 3  # runs of tests that differ, by themselves, of each kind
_CODE = ("src", "integrations")
_ROOT = Path(__file__).parents[2]


def measure(
    name: str, folder: Path, *, source: Path | None = None, plain: int = 1, keep: bool = False, small: bool = False
) -> Measured:
    """Run a suite: `plain` times with nothing, once with the empty handler, once with assay; keep runs in `folder`.

    keep   take plain and empty runs that are kept in place of new ones: nothing of assay is in them
    small  the part that CI runs
    Tests that assay changes are then run by themselves, `ALONE` times with each of the three.
    """
    suite = SUITES[name]
    environment = python_of(suite).parents[1].name

    def once(kind: str, only: tuple[str, ...] = ()) -> Run:
        began = time.monotonic()
        done = run(suite, kind, source=source, only=only, small=small)
        said = f"{name}, {kind}: {len(done.outcomes)} tests, {done.passed} passed, {time.monotonic() - began:.0f} s"
        print(said, file=sys.stderr, flush=True)
        return done

    def measured(runs: list[Run], alone: tuple[Run, ...] = ()) -> Measured:
        found = Measured(commit=_commit(), environment=environment, **split(runs), alone=alone)
        found.write(folder)
        return found

    before = Measured.read(folder) if keep else None
    runs = [*before.plain, *before.empty] if before and before.environment == environment else []
    for kind, count in zip(KINDS, (plain, 1, 1), strict=True):
        while sum(run.attached == kind for run in runs) < count:
            runs.append(once(kind))
            found = measured(runs)
    if differing := tuple(one.test for one in found.whole.because):
        found = measured(runs, tuple(once(kind, differing) for _ in range(ALONE) for kind in KINDS))
    return found


def _commit() -> str:
    """The last commit of assay's code, with a word on what is not committed."""
    log = ["log", "-1", "--format=%h", "--", *_CODE]
    status = ["status", "--porcelain", "--", *_CODE]
    last, changed = (
        subprocess.run(["git", *words], cwd=_ROOT, capture_output=True, text=True, check=False).stdout.strip()
        for words in (log, status)
    )
    return (last or "an unknown commit") + (" with changes" if changed else "")
