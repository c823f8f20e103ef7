"""The page of evidence: docs/evidence/frameworks.md, from the runs that were kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any

from tests.frameworks.measured import Measured
from tests.frameworks.outcomes import Comparison, Difference, Run
from tests.frameworks.suites import SUITES, Suite

HEAD = """# The frameworks' own tests, with assay attached

What a host application does must not change because assay listens. The frameworks' own unit tests say what it does:
here they are run plain, with an empty handler that is not inline, and with assay attached to the whole process
(`install(AssayCallbackHandler(...))`, `AssayInstrumentation(...).attach()`; the real `LiveScorer`, a scripted judge,
`score_partial=True`), and compared test by test.

- **because of assay**: tests with an outcome that they have in no plain run and not with the empty handler either
- **an empty handler too**: tests that any handler changes, for example those that count handlers
- **flaky**: tests that differ between the plain runs; they are named below and left out of the comparison
- **seen once**: tests that differed in the whole run, and not in {alone} runs of them alone with each of the three
- **events heard**: for LlamaIndex the exchanges, outermost calls that were asked something
- a test that a run does not have counts as *absent* in it, so that none can get lost

Tests come from the source distribution of the very version that is installed, unless the table names another one.
Made by `python -m tests.frameworks` with Python {python}, on assay at {commits}.
"""
COLUMNS = (
    *("suite", "tests of", "tests", "runs: plain + empty + attached", "passed: plain → attached", "because of assay"),
    *("an empty handler too", "seen once", "flaky", "CPU: attached ÷ plain", "events heard", "samples"),
)


def page(measured: Mapping[str, Measured], *, python: str, alone: int) -> str:
    """The page, for all suites that were measured, in the order of the table of suites."""
    order = [name for name in SUITES if name in measured]
    commits = ", ".join(sorted({measured[name].commit for name in order}))
    parts = [HEAD.format(python=python, commits=commits, alone=alone), _table(order, measured)]
    parts += [_section(title, lines) for title, lines in _sections(order, measured) if lines]
    return "\n".join(parts)


def _table(order: Iterable[str], measured: Mapping[str, Measured]) -> str:
    rows = [_row(name, SUITES[name], measured[name]) for name in order]
    total = sum(len(measured[name].plain[0].outcomes) for name in order)
    lines = [COLUMNS, ("---",) * len(COLUMNS), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + f"\n\n{total:,} tests in all.\n"


def _row(name: str, suite: Suite, each: Measured) -> list[str]:
    found = each.comparison
    health = each.attached[0].seen.get("health", {})
    version = suite.version if suite.tests == "sdist" else f"{suite.version}, tests of {suite.tests}"
    return [
        name,
        f"{suite.package} {version}",
        str(len(each.plain[0].outcomes)),
        f"{len(each.plain)} + {len(each.empty)} + {len(each.attached)}",
        f"{_passed(each.plain)} → {_passed(each.attached)}",
        f"**{len(found.because)}**",
        str(len(found.shared)),
        str(len(each.seen_once)),
        str(len(found.flaky)),
        ratio(each.plain, each.attached),
        f"{_heard(health):,}",
        f"{health.get('live', {}).get('submitted', 0):,}",
    ]


def _passed(runs: Sequence[Run]) -> str:
    """`2428`, or `2427-2428` where runs differ."""
    low, high = min(run.passed for run in runs), max(run.passed for run in runs)
    return str(low) if low == high else f"{low}-{high}"


def _heard(health: Mapping[str, Any]) -> int:
    """Events of LangChain; for LlamaIndex the exchanges, as it counts no events."""
    return int(health.get("events", health.get("exchanges", 0)))


def ratio(plain: Sequence[Run], attached: Sequence[Run]) -> str:
    """CPU seconds with assay by those without, medians of the runs; – where the plain ones took none."""
    without, with_assay = (median(run.cpu_seconds for run in runs) for runs in (plain, attached))
    return f"{with_assay / without:.2f}" if without else "–"


def _sections(order: Iterable[str], measured: Mapping[str, Measured]) -> list[tuple[str, list[str]]]:
    because, shared, once, flaky, deselected, said = [], [], [], [], [], []
    for name in order:
        each, suite = measured[name], SUITES[name]
        found: Comparison = each.comparison
        because += [_difference(name, one) for one in found.because]
        shared += [_difference(name, one) for one in found.shared]
        once += [_difference(name, one) for one in each.seen_once]
        flaky += [f"- {name}: `{test}` ({' or '.join(outcomes)})" for test, outcomes in found.flaky.items()]
        deselected += [f"- {name}: `{test}`: {reason}" for test, reason in suite.deselected.items()]
        said.append(_said(name, each.attached))
    deselected += [f"- {name}: the whole suite, of which no run is kept" for name in SUITES if name not in measured]
    return [
        ("Because of assay", because),
        ("An empty handler too", shared),
        ("Seen once", once),
        ("Flaky", flaky),
        ("Not run", deselected),
        ("What assay said of itself", said),
    ]


def _section(title: str, lines: Iterable[str]) -> str:
    return f"## {title}\n\n" + "\n".join(lines) + "\n"


def _difference(suite: str, one: Difference) -> str:
    changed = f"{' or '.join(one.plain)} → {' or '.join(one.attached)}"
    reason = f": {one.reason.replace('|', '/')}" if one.reason else ""
    timed = "; it measures seconds" if one.test.startswith(SUITES[suite].timed) else ""
    return f"- {suite}: `{one.test}`, {changed} (empty handler: {' or '.join(one.empty)}{timed}){reason}"


def _said(name: str, attached: Sequence[Run]) -> str:
    """One line on the health after the runs: what went wrong, was dropped or stayed open, and which threads it had."""
    parts = []
    for run in attached:
        health = run.seen.get("health", {})
        live = health.get("live", {})
        opened = health.get("open_traces", health.get("open", 0))
        parts.append(
            f"errors {live.get('errors') or 'none'}, dropped {live.get('dropped', 0)}, open {opened}, "
            f"left out {health.get('left_out') or 'none'}, threads {', '.join(run.seen.get('threads', [])) or 'none'}, "
            f"log lines {len(run.seen.get('logs', []))}"
        )
    return f"- {name}: {'; '.join(parts)}"
