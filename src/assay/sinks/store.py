"""Scores as rows of a run in assay's own store, so that `assay show live ROW` shows them with their evidence."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

from assay._util.call_repr import call_repr
from assay.errors import InputError, StoreError, Undelivered
from assay.records import Sample, Score, ScoredSample
from assay.sinks.base import Mask, Receipt
from assay.sinks.clients import PerProcess
from assay.sinks.masking import hidden_texts, hider
from assay.store.store import Store
from assay.store.tables import check_run_name


class StoreSink:
    """Keeps scored samples in the store at `path`, as rows of the run `run`.

    A sample is one row, found again by its key: written twice it is one row with the scores of the last time, and
    further metrics are added to it. Several processes may write to one store. `close` may be followed by
    further writes.

    Args:
        run: The run's id; made if the store does not have it.
        mask: Applied to every text of the sample and its evidence, metadata included.
        texts: False keeps SHA-256 hashes in place of them.
    """

    def __init__(self, path: str | Path, run: str = "live", *, mask: Mask | None = None, texts: bool = True) -> None:
        if not str(path):
            raise InputError("path: expected the folder of a store, got an empty one")
        self.path = Path(path)
        self.run = check_run_name(run)
        self._hide = hider(mask, texts)
        self._store = PerProcess(lambda: Store(self.path))
        self._judge: str | None = None
        self._metrics: set[str] = set()

    def __repr__(self) -> str:
        return call_repr(self, str(self.path), self.run)

    def write(self, scored: ScoredSample) -> Receipt:
        """Keep one scored sample. Raises StoreError where there can be no store, Undelivered where it fails later."""
        names = tuple(scored.scores)
        store = self._store.get()
        try:
            self._describe(store, scored)
            store.merge_row(self.run, scored if self._hide is None else self._hidden(scored))
        except StoreError as error:
            raise Undelivered(f"StoreSink: {error}", scores=names) from error
        return Receipt(sent=len(names), confirmed=len(names))

    def close(self) -> None:
        """Close the file."""
        store = self._store.take()
        if store is not None:
            store.close()

    def _hidden(self, scored: ScoredSample) -> ScoredSample:
        assert self._hide is not None
        data = hidden_texts(scored.to_dict(), self._hide)
        sample = Sample.from_dict({**data["sample"], "id": scored.sample.key()})  # its hash would change with the texts
        return ScoredSample(sample=sample, scores={name: Score.from_dict(one) for name, one in data["scores"].items()})

    def _describe(self, store: Store, scored: ScoredSample) -> None:
        """Say of the run which metrics and judge it has, where that is news."""
        judge = next((score.judge for score in scored.scores.values() if score.judge), None)
        if self._metrics.issuperset(scored.scores) and (judge is None or judge == self._judge):
            return
        known: dict[str, Any] = {}
        with contextlib.suppress(InputError):  # a new run
            known = store.get_run(self.run)
        known.pop("summaries", None)  # of the rows as they were
        known["continuous"] = known.get("continuous", not known)  # a run of its own has no end
        self._metrics |= {*known.get("metrics", ()), *scored.scores}
        self._judge = judge or known.get("judge") or ""
        metrics = [*known.get("metrics", ()), *(name for name in scored.scores if name not in known.get("metrics", ()))]
        store.put_run(self.run, {**known, "judge": self._judge, "metrics": metrics})
