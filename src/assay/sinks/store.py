"""Live runs: scored samples as rows of a run in assay's own store, one run for each application."""

from __future__ import annotations

import contextlib
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from assay._util.call_repr import call_repr
from assay.errors import InputError, StoreError, Undelivered
from assay.records import Sample, Score, ScoredSample
from assay.sinks.base import Mask, Receipt
from assay.sinks.clients import PerProcess
from assay.sinks.masking import hidden_texts, hider, without_texts
from assay.store.group_writer import lies_in_one
from assay.store.live_counts import tidy_counts, write_counts
from assay.store.live_runs import DAYS, GIGABYTES, application_of, live_run_name
from assay.store.pruning import retain
from assay.store.store import Store

EVERY = 600.0  # seconds between looks for rows that are too old or too many
SLICE = 0.2  # seconds that one look may take; what is left waits for the next
SOON = 2.0  # seconds until the next look where something is left
MOST_RUNS = 64  # live runs that one sink keeps: more names than that are no names of applications


class StoreSink:
    """Keeps live runs in the store at `path`: `live/APPLICATION`, or `live` where the application is not known.

    A sample is one row, found again by its key: written twice it is one row with the scores of the last time, and
    further metrics are added to it. Several processes may write to one store. Rows that are too old, or beyond the
    size, are deleted at times, a few in a transaction; rows of other runs never are. `close` may be followed by further
    writes.

    Args:
        path: Folder, file or database URL of the store.
        application: Application of samples that name none in `metadata["application"]`.
        keep_text: False keeps scores, causes and ids alone: no text of the sample, of the evidence or of the judge, and
            of the metadata only `assay.store.live_runs.SLICE_KEYS`.
        mask: Applied to every text of the sample and its evidence, metadata included, before it is kept.
        slices: With `keep_text=False`, further keys of the metadata to keep.
        retain_days: Days for which a row is kept, above 0. None: no limit.
        retain_gb: Gigabytes (10**9 bytes) that the rows of a live run may take, above 0. None: no limit.

    Raises:
        InputError: An argument is out of range, or the application's name cannot be that of a run.
    """

    def __init__(
        self,
        path: str | Path,
        application: str | None = None,
        *,
        keep_text: bool = True,
        mask: Mask | None = None,
        slices: Collection[str] = (),
        retain_days: float | None = DAYS,
        retain_gb: float | None = GIGABYTES,
    ) -> None:
        if not str(path):
            raise InputError("path: expected the folder of a store, got an empty one")
        if isinstance(slices, str):
            raise InputError(f"slices: expected a sequence of keys, got one text, {slices!r}")
        for name, number in {"retain_days": retain_days, "retain_gb": retain_gb}.items():
            if number is not None and not number > 0:  # nor is NaN
                raise InputError(f"{name}: expected a number above 0 or None, got {number}")
        self.path = Path(path)
        self.run = live_run_name(application)
        self._address = str(path)
        self._keep_text = keep_text
        self._slices = frozenset(slices)
        self._hide = hider(mask, True)
        self._limits = (retain_days, retain_gb)
        self._store = PerProcess(lambda: Store(self._address))
        self._run_facts: dict[str, tuple[set[str], str]] = {}  # run -> its metrics and judge, as the store has them
        self._due = time.monotonic()  # when to look for rows to delete

    def __repr__(self) -> str:
        return call_repr(self, str(self.path), self.run)

    def check(self) -> None:
        """Open the store. Raises StoreError where there can be none."""
        self._store.get()

    def write(self, scored: ScoredSample) -> Receipt:
        """Keep one scored sample. Raises StoreError where there can be no store, Undelivered where it fails later."""
        store = self._store.get()
        run = self._run_of(scored.sample)
        try:
            self._describe(store, run, scored)
            store.merge_row(run, self._kept(scored))
        except StoreError as error:
            raise _undelivered(scored, error) from error
        return self._written(scored)

    def write_many(self, group: Sequence[ScoredSample]) -> list[Receipt | Exception]:
        """Keep several scored samples, those of one run in one transaction.

        Args:
            group: The samples.

        Returns:
            For each what `write` returns or raises.
        """
        outcomes: dict[int, Receipt | Exception] = {}
        rows: dict[str, dict[int, ScoredSample]] = defaultdict(dict)
        for index, scored in enumerate(group):
            try:
                rows[self._run_of(scored.sample)][index] = self._kept(scored)
            except Exception as error:  # of a mask, say
                outcomes[index] = error
        for run, kept in rows.items():
            try:
                self._write_run(run, list(kept.values()))
            except Exception as error:
                split = len(kept) > 1 and (not isinstance(error, StoreError) or lies_in_one(error))
                for index in kept:
                    outcomes[index] = self._attempt(group[index]) if split else _undelivered(group[index], error)
            else:
                outcomes |= {index: self._written(group[index]) for index in kept}
        return [outcomes[index] for index in range(len(group))]

    def _write_run(self, run: str, kept: Sequence[ScoredSample]) -> None:
        store = self._store.get()
        for scored in kept:
            self._describe(store, run, scored)
        store.merge_rows(run, kept)

    def _attempt(self, scored: ScoredSample) -> Receipt | Exception:
        try:
            return self.write(scored)
        except Exception as error:
            return error

    def _written(self, scored: ScoredSample) -> Receipt:
        with contextlib.suppress(StoreError):  # the sample is kept; the next look tries again
            self.tidy()
        return Receipt(sent=len(scored.scores), confirmed=len(scored.scores))

    def count_skipped(self, source: str, totals: Mapping[tuple[str | None, int, str], int]) -> None:
        """Write how many samples have no row, and why. Raises StoreError.

        Args:
            source: Name of the process or queue that counts.
            totals: Application, beginning of an hour and cause -> samples of the source, in all.
        """
        by_run: dict[str, dict[tuple[int, str], int]] = defaultdict(dict)
        for (application, hour, cause), samples in totals.items():
            name = application_of({"application": application})  # of a process of an earlier version it may be none
            of_run = by_run[self.run if name is None else live_run_name(name)]
            of_run[hour, cause] = of_run.get((hour, cause), 0) + samples
        for run, counts in by_run.items():
            write_counts(self._store.get(), run, source, counts)

    def amend(self, key: str, change: Callable[[Sample], Sample]) -> bool:
        """Change the metadata of a row that is kept. Raises StoreError.

        Args:
            key: Key of the sample.
            change: Function of the sample, as it is kept, that returns it with other metadata.

        Returns:
            False where no live run that this sink writes has the sample.
        """
        store = self._store.get()
        for run in {self.run, *list(self._run_facts)}:
            with contextlib.suppress(InputError):  # another run's, or none
                row = store.get_row(run, key)
                kept = row.scored.sample
                if kept.id == key:
                    ((at,),) = store.query("SELECT at FROM rows WHERE run = ? AND number = ?", run, row.number)
                    metadata = {"ended": at, **self._changed(kept, change(kept))}  # it is not of now
                    store.merge_row(run, ScoredSample(sample=replace(kept, metadata=metadata), scores={}))
                    return True
        return False

    def tidy(self) -> None:
        """Every ten minutes, delete rows that are too old or too many, for a moment. Raises StoreError."""
        if time.monotonic() < self._due:
            return
        days, gigabytes = self._limits
        self._due = time.monotonic() + EVERY
        store = self._store.get()
        seconds = None if days is None else days * 86_400.0
        most = None if gigabytes is None else gigabytes * 1e9
        until, done = time.monotonic() + SLICE, True
        for run in {self.run, *list(self._run_facts)}:
            if not store.has_run(run):  # deleted meanwhile: it is described anew
                self._run_facts.pop(run, None)
                continue
            found = retain(store, run, older_than=seconds, max_bytes=most, until=until)
            done = done and found.done
            tidy_counts(store, run, 0.0 if seconds is None else time.time() - seconds)
        if not done:
            self._due = time.monotonic() + SOON

    def close(self) -> None:
        """Close the file."""
        store = self._store.take()
        if store is not None:
            store.close()

    def _run_of(self, sample: Sample) -> str:
        application = application_of(sample.metadata)
        run = self.run if application is None else live_run_name(application)
        return run if run in self._run_facts or len(self._run_facts) < MOST_RUNS else self.run

    def _kept(self, scored: ScoredSample) -> ScoredSample:
        """The sample as it is stored."""
        if not self._keep_text:
            scored = without_texts(scored, self._slices)
        if self._hide is None:
            return scored
        data = hidden_texts(scored.to_dict(), self._hide)
        sample = Sample.from_dict({**data["sample"], "id": scored.sample.key()})  # its hash would change with the texts
        return ScoredSample(sample=sample, scores={name: Score.from_dict(one) for name, one in data["scores"].items()})

    def _changed(self, before: Sample, after: Sample) -> dict[str, Any]:
        """Metadata as it is kept after a change: what is new is masked; what is kept already was, and stays."""
        hidden = self._kept(ScoredSample(sample=after, scores={})).sample.metadata
        same = {
            key for key, value in after.metadata.items() if key in before.metadata and before.metadata[key] == value
        }
        return {key: before.metadata[key] if key in same else hidden[key] for key in after.metadata
                if key in same or key in hidden}  # fmt: skip

    def _describe(self, store: Store, run: str, scored: ScoredSample) -> None:
        """Say of the run which metrics and judge it has, where that is news."""
        judge = next((score.judge for score in scored.scores.values() if score.judge), None)
        metrics, of_run = self._run_facts.get(run, (set[str](), ""))
        if run in self._run_facts and metrics.issuperset(scored.scores) and judge in (None, of_run):
            return
        known: dict[str, Any] = {}
        with contextlib.suppress(InputError):  # a new run
            known = store.get_run(run)
        known.pop("summaries", None)  # of the rows as they were
        known["continuous"] = known.get("continuous", not known)  # a run of its own has no end
        names = [*known.get("metrics", ()), *(name for name in scored.scores if name not in known.get("metrics", ()))]
        judge = judge or known.get("judge") or ""
        store.put_run(run, {**known, "judge": judge, "metrics": names})
        self._run_facts[run] = {*names}, judge


def _undelivered(scored: ScoredSample, error: Exception) -> Exception:
    """The error of one sample that was not written; of one that is no StoreError itself."""
    if not isinstance(error, StoreError):
        return error
    failed = Undelivered(f"StoreSink: {error}", scores=tuple(scored.scores))
    failed.__cause__ = error
    return failed
