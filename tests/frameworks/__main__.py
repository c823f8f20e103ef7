"""Run the frameworks' own tests plain, with an empty handler and with assay attached, and write what differs.

    python -m tests.frameworks                              all suites whose tests can be had
    python -m tests.frameworks langchain-core langgraph     these
    python -m tests.frameworks --runs 5                     five plain runs, which find flaky tests
    python -m tests.frameworks llama-index-core --source llama-index-core=FOLDER
    python -m tests.frameworks --page                       the page anew, from the runs that were kept

Writes docs/evidence/frameworks.md, on all suites that were ever measured here. The exit code is 1 where assay made a
difference that the empty handler does not make. A suite takes between one and fifteen minutes per run on two cores.
"""

from __future__ import annotations

import argparse
import platform
import sys
from pathlib import Path

from tests.frameworks.measured import Measured
from tests.frameworks.measuring import ALONE, measure
from tests.frameworks.page import page
from tests.frameworks.running import CACHE
from tests.frameworks.suites import SUITES

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "evidence" / "frameworks.md"


def write_page(folder: Path) -> int:
    """Write the page from all that is kept in `folder`; the number of differences that are assay's."""
    read = {name: Measured.read(folder / name) for name in SUITES}
    kept = {name: found for name, found in read.items() if found is not None and found.comparable}
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page(kept, python=platform.python_version(), alone=ALONE), encoding="utf-8")
    return sum(len(found.comparison.because) for found in kept.values())


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Run the frameworks' own tests with assay attached, and compare.")
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=f"of {', '.join(SUITES)}")
    parser.add_argument("--runs", type=int, default=1, help="plain runs; 5 show which tests are flaky by themselves")
    parser.add_argument("--source", action="append", default=[], metavar="SUITE=FOLDER", help="where its `tests` are")
    parser.add_argument("--results", type=Path, default=CACHE / "results", help="where runs are kept")
    parser.add_argument("--keep", action="store_true", help="do not repeat plain and empty runs that are kept")
    parser.add_argument("--page", action="store_true", help="run nothing, write the page from what is kept")
    options = parser.parse_args()
    options.sources = {name: Path(folder) for name, _, folder in (each.partition("=") for each in options.source)}
    if strange := (set(options.suites) | options.sources.keys()) - SUITES.keys():
        parser.error(f"{', '.join(sorted(strange))}: the suites are {', '.join(SUITES)}")
    return options


def main() -> int:
    options = _arguments()
    chosen = [] if options.page else options.suites or list(SUITES)
    for name in chosen:
        if SUITES[name].tests != "sdist" and name not in options.sources and not options.suites:
            print(f"not run: {name}, whose tests are in no source distribution; see --source", file=sys.stderr)
            continue
        source, folder = options.sources.get(name), options.results / name
        measure(name, folder, source=source, plain=options.runs, keep=options.keep)
    return int(write_page(options.results) > 0)


if __name__ == "__main__":
    sys.exit(main())
