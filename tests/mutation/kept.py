"""What is kept from one run to the next, in a folder: what each test runs, and what became of each mutant.

A mutant that a test has noticed is not run again while its file is the same: tests are added more often than taken
away. Survivors are run again. What is known of a test is dropped where its file or a formula's file has changed.
"""

from __future__ import annotations

import json
import pickle
from hashlib import sha256
from pathlib import Path
from typing import Any

from tests.mutation.mutants import ROOMS, ROOT, Mutant, files


class Kept:
    """A folder that is made where it is not there; without one nothing is kept."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._digests: dict[str, str] = {}
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)

    def killed(self) -> set[tuple[str, ...]]:
        """The mutants that were noticed, each as `identity` has it."""
        fates: dict[tuple[str, ...], bool] = {}
        if self.folder is not None and (self.folder / "fates.jsonl").exists():
            for line in (self.folder / "fates.jsonl").read_text(encoding="utf-8").splitlines():
                *mutant, _, killed = json.loads(line)
                fates[tuple(mutant)] = killed
        return {mutant for mutant, killed in fates.items() if killed}

    def ended(self, mutant: Mutant, *, killed: bool, seconds: float = 0.0) -> None:
        """Note what became of a mutant, and how long it took: what a slow machine stops is no judgement."""
        if self.folder is not None:
            with (self.folder / "fates.jsonl").open("a", encoding="utf-8") as file:
                file.write(json.dumps([*self.identity(mutant), round(seconds, 1), killed], ensure_ascii=False) + "\n")

    def identity(self, mutant: Mutant) -> tuple[str, ...]:
        """What a mutant is called, and its file as it is."""
        return *mutant.key, self._digest(mutant.path)

    def covered(self) -> Any:
        """What was kept with `cover`; None where there is nothing, or where a formula's file has changed since."""
        path = self.folder / "covered.pickle" if self.folder is not None else None
        if path is None or not path.exists():
            return None
        formulas, tests, covered = pickle.loads(path.read_bytes())
        if formulas != self._formulas():
            return None
        for name in list(covered.seconds):
            file = name.partition("::")[0]
            if self._digest(file) != tests[file]:
                covered.forget(name)
        return covered

    def cover(self, covered: Any) -> None:
        """Keep what each test runs."""
        if self.folder is not None:
            tests = {file: self._digest(file) for file in {name.partition("::")[0] for name in covered.seconds}}
            (self.folder / "covered.pickle").write_bytes(pickle.dumps((self._formulas(), tests, covered)))

    def _formulas(self) -> dict[str, str]:
        return {str(path): self._digest(path.relative_to(ROOT).as_posix()) for room in ROOMS for path in files(room)}

    def _digest(self, file: str) -> str:
        if file not in self._digests:
            path = ROOT / file
            self._digests[file] = sha256(path.read_bytes()).hexdigest()[:12] if path.exists() else ""
        return self._digests[file]
