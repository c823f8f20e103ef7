"""Which runs are made, kept and taken again; suites are made up, nothing is installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks import measuring
from tests.frameworks.measured import Measured
from tests.frameworks.outcomes import Run


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, tuple[str, ...]]]:
    """What was run: with what attached, and which tests only. With assay, test `a` fails unless it runs alone."""
    made: list[tuple[str, tuple[str, ...]]] = []

    def run(suite: object, kind: str, *, only: tuple[str, ...] = (), **more: object) -> Run:
        made.append((kind, only))
        broken = kind == "assay" and not only
        return Run(attached=kind, outcomes={"a": "failed" if broken else "passed"})

    monkeypatch.setattr(measuring, "run", run)
    monkeypatch.setattr(measuring, "python_of", lambda suite: Path("cache/suite-1/bin/python"))
    return made


def test_a_difference_is_looked_at_alone_with_each_of_the_three(runs, tmp_path):
    found = measuring.measure("langchain", tmp_path, plain=2)
    assert runs[:4] == [("nothing", ()), ("nothing", ()), ("empty", ()), ("assay", ())]
    assert runs[4:] == [(kind, ("a",)) for _ in range(measuring.ALONE) for kind in ("nothing", "empty", "assay")]
    assert (found.comparison.because, [one.test for one in found.seen_once]) == ((), ["a"])
    assert Measured.read(tmp_path) == found


def test_plain_and_empty_runs_are_kept_and_those_with_assay_made_anew(runs, tmp_path):
    measuring.measure("langchain", tmp_path, plain=1)
    runs.clear()
    found = measuring.measure("langchain", tmp_path, plain=2, keep=True)
    assert runs[:2] == [("nothing", ()), ("assay", ())]
    assert (len(found.plain), len(found.empty), len(found.attached)) == (2, 1, 1)


def test_runs_of_other_packages_are_not_kept(runs, tmp_path, monkeypatch):
    measuring.measure("langchain", tmp_path)
    runs.clear()
    monkeypatch.setattr(measuring, "python_of", lambda suite: Path("cache/suite-2/bin/python"))
    measuring.measure("langchain", tmp_path, keep=True)
    assert runs[:3] == [("nothing", ()), ("empty", ()), ("assay", ())]


def test_what_was_run_is_kept_when_a_later_run_fails(runs, tmp_path, monkeypatch):
    run = measuring.run

    def failing(suite: object, kind: str, **more: object) -> Run:
        if kind == "assay":
            raise RuntimeError("pytest wrote no report")
        return run(suite, kind, **more)

    monkeypatch.setattr(measuring, "run", failing)
    with pytest.raises(RuntimeError):
        measuring.measure("langchain", tmp_path)
    kept = Measured.read(tmp_path)
    assert kept is not None
    assert (len(kept.plain), len(kept.empty), kept.comparable) == (1, 1, False)
