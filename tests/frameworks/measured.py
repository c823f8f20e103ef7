"""All that was run of one suite, kept in a folder, so that a suite can be measured today and another one tomorrow."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tests.frameworks.outcomes import ABSENT, Comparison, Difference, Run, compare

KINDS = ("nothing", "empty", "assay")


@dataclass(frozen=True, kw_only=True)
class Measured:
    """The runs of one suite.

    commit                   of assay, in the runs with it
    environment              the name of the folder of packages, the same for all runs
    plain, empty, attached   whole runs; they can be compared if there is one of each
    alone                    runs of those tests only that differed in the whole runs, of all three kinds; may be empty
    """

    commit: str
    environment: str = ""
    plain: tuple[Run, ...] = ()
    empty: tuple[Run, ...] = ()
    attached: tuple[Run, ...] = ()
    alone: tuple[Run, ...] = ()

    @property
    def comparable(self) -> bool:
        return bool(self.plain and self.empty and self.attached)

    @cached_property
    def whole(self) -> Comparison:
        """The whole runs, compared."""
        return compare(self.plain, self.empty, self.attached)

    @cached_property
    def comparison(self) -> Comparison:
        """What differs for a reason: a difference counts unless the test, run alone, shows that it is none."""
        flaky = {one.test: outcomes for one in self.whole.because if len(outcomes := self._plain(one.test)) > 1}
        once = {one.test for one in self.seen_once}
        because = tuple(one for one in self.whole.because if one.test not in flaky.keys() | once)
        return Comparison(because=because, shared=self.whole.shared, flaky={**self.whole.flaky, **flaky})

    @cached_property
    def seen_once(self) -> tuple[Difference, ...]:
        """Differences of the whole runs that no run of the test alone shows, and that no plain run does."""
        if not self.alone:
            return ()
        kinds = ([run for run in self.alone if run.attached == kind] for kind in KINDS)
        again = {one.test for one in compare(*kinds).because}
        candidates = (one for one in self.whole.because if one.test in self._ran_alone and one.test not in again)
        return tuple(one for one in candidates if len(self._plain(one.test)) == 1)

    def _plain(self, test: str) -> tuple[str, ...]:
        """What became of a test in plain runs, whole ones and its own."""
        alone = (run.outcomes[test] for run in self.alone if run.attached == KINDS[0] and test in run.outcomes)
        return tuple(sorted({*alone, *(run.outcomes.get(test, ABSENT) for run in self.plain)}))

    @cached_property
    def _ran_alone(self) -> set[str]:
        """Tests that ran by themselves with each of the three: for another one, nothing was shown."""
        by_kind = [{test for run in self.alone if run.attached == kind for test in run.outcomes} for kind in KINDS]
        return set.intersection(*by_kind)

    def write(self, folder: Path) -> None:
        """Keep it, in place of what was kept there before."""
        for old in folder.glob("*.json"):
            old.unlink()
        for name, runs in {"whole": (*self.plain, *self.empty, *self.attached), "alone": self.alone}.items():
            for number, run in enumerate(runs):
                run.write(folder / f"{name}-{number:02}-{run.attached}.json")
        (folder / "measured.json").write_text(json.dumps({"commit": self.commit, "environment": self.environment}))

    @classmethod
    def read(cls, folder: Path) -> Measured | None:
        """What was kept; None where nothing was."""
        if not (folder / "measured.json").exists():
            return None
        whole = [Run.read(path) for path in sorted(folder.glob("whole-*.json"))]
        alone = [Run.read(path) for path in sorted(folder.glob("alone-*.json"))]
        about = json.loads((folder / "measured.json").read_text())
        return cls(**about, **split(whole), alone=tuple(alone))


def split(runs: Iterable[Run]) -> dict[str, tuple[Run, ...]]:
    """Runs by their kind, under the names that `Measured` has for them."""
    runs = tuple(runs)
    names = zip(("plain", "empty", "attached"), KINDS, strict=True)
    return {name: tuple(run for run in runs if run.attached == kind) for name, kind in names}
