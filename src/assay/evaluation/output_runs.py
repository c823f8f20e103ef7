"""Rows with scores that were written somewhere, as a run of a store of its own, so that all that takes a run takes it.

A row that was lost when the rows were written, or that the run did not reach, is that again. A row that cannot be read
is one that cannot be read in the new store.
"""

from __future__ import annotations

import hashlib
import logging
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeGuard

from assay._util.normalise import well_formed
from assay._util.terminal import pluralize
from assay.data.images import placed
from assay.data.outputs.records import Output, OutputRow
from assay.data.unreadable import UnreadableRow
from assay.errors import InputError
from assay.evaluation.completeness import UNSCORED
from assay.evaluation.overview import overview_facts
from assay.evaluation.result import Result
from assay.records import Sample, ScoredSample
from assay.records.missing_rows import is_missing_row
from assay.store.store import Store
from assay.store.tables import Statements
from assay.store.temporary import TemporaryStore

BATCH = 500  # rows in one transaction
NAMED = 3  # rows that cannot be read that a note names
#: Judge of runs whose rows do not say who judged.
NOT_SAID = "not said"
#: What a file may say of a run, and of which type it has to be.
_FACTS: Mapping[str, type | tuple[type, ...]] = {
    "judge": str, "parameters": dict, "cache_hits": int, "seconds": (int, float), "stopped": str, "note": str,
    "data": str, "expected": int, "default_metrics": bool,
}  # fmt: skip
_ENDS = ("sequential", *UNSCORED)
_NOT_REACHED = "the run did not come to this row: "
_PRUNED, _MISSING = "the row was pruned", "the row is missing from the store"


def run_of_output(run: str, output: Output, *, folder: Path | None, started: float | None = None) -> Result:
    """Make a run of rows with scores, in a store that is deleted when it is no longer used.

    Args:
        run: Name of the run.
        output: The rows.
        folder: Below it the pictures lie that rows may name; others are left out. None: any.
        started: When the rows were written, in seconds since 1970, where they do not say it.

    Returns:
        The run.

    Raises:
        InputError: There are no rows, none can be read, or a value is outside of its metric's range.
        StoreError: The temporary store cannot be written.
    """
    store = TemporaryStore()
    _UNNAMED.add(store.name)
    weakref.finalize(store, _UNNAMED.discard, store.name)
    try:
        filling = _Filling(well_formed(run), store, folder)
        filling.read(output.rows())
        filling.finish(output, started)
        return Result.load(filling.run, store)
    except BaseException:
        store.close()
        raise


#: Stores of runs whose notes name the rows that cannot be read: each look at such a row would warn of it again.
_UNNAMED: set[str] = set()


def _is_news(record: logging.LogRecord) -> bool:
    return not (isinstance(record.args, tuple) and record.args and record.args[0] in _UNNAMED)


logging.getLogger("assay.store").addFilter(_is_news)


@dataclass(slots=True)
class _Filling:
    """The store while it is filled.

    Attributes:
        keys: Number of a row -> hash of its sample's key.
        numbers: Hash of a key -> number, of rows whose numbers the file does not say.
        waiting: Rows that are to be written with the next group.
        unreadable: After which row, and why.
        lost: Numbers of rows that could not be read when the file was written.
        pictures: Rows whose pictures were left out.
    """

    run: str
    store: Store
    folder: Path | None
    keys: dict[int, bytes] = field(default_factory=dict)
    numbers: dict[bytes, int] = field(default_factory=dict)
    waiting: dict[int, ScoredSample] = field(default_factory=dict)
    unreadable: list[tuple[int, str]] = field(default_factory=list)
    lost: set[int] = field(default_factory=set)
    gone: dict[str, int] = field(default_factory=lambda: {_MISSING: 0, _PRUNED: 0})
    not_reached: int = 0
    ended: str | None = None
    stopped: str | None = None
    metrics: dict[str, None] = field(default_factory=dict)
    judges: dict[str, None] = field(default_factory=dict)
    last: int = 0
    pictures: int = 0

    def read(self, rows: Iterator[OutputRow]) -> None:
        """Keep all rows."""
        self.store.create_run(self.run, {"judge": "", "metrics": []})
        before = 0
        for row in rows:
            if isinstance(row.scored, UnreadableRow):
                self.unreadable.append((before if row.number is None else row.number - 1, row.scored.message))
                before += 1
                continue
            self.metrics.update(dict.fromkeys(row.scored.scores))
            if is_missing_row(row.scored.sample):
                self._count_missing(row.number, row.scored)
            else:
                before = self._keep(row.number, row.scored, before)
        self._write()

    def _keep(self, number: int | None, scored: ScoredSample, before: int) -> int:
        """Keep a row under its number. The next free one where another sample has it already."""
        try:
            scored = self._with_pictures(scored)
        except InputError as error:
            self.unreadable.append((before, str(error)))
            return before + 1
        self.judges.update(dict.fromkeys(score.judge for score in scored.scores.values() if score.judge))
        key = hashlib.blake2b(scored.sample.key().encode("utf-8", "replace"), digest_size=12).digest()
        there = self.numbers.get(key) if number is None else number
        if there is not None and self.keys.get(there) == key:
            self.waiting[there] = _merged(self._row(there), scored)
        else:
            there = self.last + 1 if there is None or there in self.keys else there
            self.waiting[there], self.keys[there] = scored, key
            if number is None:
                self.numbers[key] = there
        self.last = max(self.last, there)
        if len(self.waiting) >= BATCH:
            self._write()
        return there

    def _with_pictures(self, scored: ScoredSample) -> ScoredSample:
        """The row, without pictures that its file may not name. Raises InputError where a text names one."""
        sample = scored.sample
        try:
            found = placed(sample, self.folder)
        except InputError:
            found = placed(_without_pictures(sample), self.folder)
            self.pictures += 1
        return scored if found is sample else replace(scored, sample=found)

    def _row(self, number: int) -> ScoredSample:
        waiting = self.waiting.get(number)
        return self.store.get_row(self.run, f"row:{number}").scored if waiting is None else waiting

    def _write(self) -> None:
        facts = ((number, scored, overview_facts(scored).to_text()) for number, scored in self.waiting.items())
        self.store.put_rows(self.run, facts)
        self.waiting.clear()

    def _count_missing(self, number: int | None, scored: ScoredSample) -> None:
        """A row that stands for one without scores: what it was is in its id, its number and its causes."""
        errors = [score.error for score in scored.scores.values() if score.error is not None]
        why = errors[0].message if errors else ""
        if (scored.sample.id or "").startswith("assay:lost:"):
            if number is not None:
                self.lost.add(number)
            else:
                self.gone[_PRUNED if why == _PRUNED else _MISSING] += 1
            return
        self.not_reached += 1
        causes = {error.cause for error in errors}
        self.ended = next((end for end, cause in UNSCORED.items() if cause in causes), "interrupted")
        self.stopped = why.removeprefix(_NOT_REACHED) if why.startswith(_NOT_REACHED) else self.ended

    def finish(self, output: Output, started: float | None) -> None:
        """Count what is missing, and keep what is known of the run. Raises InputError where no row is left."""
        if not self.keys:
            if self.unreadable:
                raise InputError(f"{self.run}: no row can be read: {self.unreadable[0][1]}")
            if not (self.lost or self.not_reached or any(self.gone.values())):
                raise InputError(f"{self.run}: has no rows with scores")
        began = output.facts.get("started")
        gone = self._count(began if _is_number(began) else started)
        self.store.put_run(self.run, self._info(output, len(self.keys) + gone))

    def _count(self, started: float | None) -> int:
        """Tell the store of rows that it never had; returns how many."""
        numbers = [*(number for number in sorted(self.lost) if number not in self.keys), *self._places()]
        saved, pruned = len(numbers) + sum(self.gone.values()), self.gone[_PRUNED]

        def count(db: Statements) -> None:
            db.executemany(
                "INSERT INTO rows (run, number, id, body, at) VALUES (?, ?, NULL, ?, ?)",
                [(self.run, number, b"", started) for number in numbers],
            )
            db.execute(
                "UPDATE runs SET saved = saved + ?, pruned = pruned + ?, started = COALESCE(?, started) WHERE id = ?",
                (saved, pruned, started, self.run),
            )

        self.store.write(count)
        return saved

    def _places(self) -> Iterator[int]:
        """Numbers for rows that cannot be read: the one after the row before where it is free, else at the end."""
        taken = self.keys.keys() | self.lost
        last = max(taken, default=0)
        for before, _ in self.unreadable:
            number = before + 1 if before + 1 not in taken else last + 1
            taken.add(number)
            last = max(last, number)
            yield number

    def _info(self, output: Output, rows: int) -> dict[str, Any]:
        facts = {name: found for name, kind in _FACTS.items() if isinstance(found := output.facts.get(name), kind)}
        expected = rows + self.not_reached if self.not_reached else None
        info: dict[str, Any] = {"stopped": self.stopped, "expected": expected, **facts}
        ended = output.facts.get("ended")
        info["ended"] = ended if ended in _ENDS else self.ended
        info["judge"] = facts.get("judge") or ", ".join(sorted(self.judges)) or NOT_SAID
        info["metrics"] = list(self.metrics)
        info["notes"] = [*_texts(output.facts.get("notes")), *output.notes, *self._notes(output)]
        info["rows"] = len(self.keys)
        return info

    def _notes(self, output: Output) -> Iterator[str]:
        if output.lacks:
            yield f"{self.run} holds no {output.lacks}: JSON lines and Parquet have them"
        if output.unknown:
            scale = f"--scale {output.unknown[0]}=WORST:BEST"
            yield (
                f"{self.run}: the scale of {', '.join(output.unknown)} is not known: read as 0 to 1, higher is better; "
                f"{scale} states another"
            )
        if self.unreadable:
            named = "; ".join(why for _, why in self.unreadable[:NAMED])
            more = f"; and {len(self.unreadable) - NAMED} more" if len(self.unreadable) > NAMED else ""
            yield f"{self.run}: {pluralize(len(self.unreadable), 'row')} could not be read: {named}{more}"
        if self.pictures:
            yield f"{self.run}: pictures of {pluralize(self.pictures, 'row')} lie outside its folder and are left out"


def _merged(old: ScoredSample, new: ScoredSample) -> ScoredSample:
    """The rule of `StoreSink`: the sample and scores of the last time; scores of other metrics stay."""
    return ScoredSample(sample=new.sample, scores={**old.scores, **new.scores})


def _without_pictures(sample: Sample) -> Sample:
    groups = (sample.contexts, sample.reference_contexts)
    bare, references = (group and tuple(replace(one, image=None) for one in group) for group in groups)
    return replace(sample, contexts=bare, reference_contexts=references)


def _texts(found: object) -> list[str]:
    return [text for text in found if isinstance(text, str)] if isinstance(found, list) else []


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 2**53
