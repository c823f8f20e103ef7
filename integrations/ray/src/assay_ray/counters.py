"""How far a job is, for Ray's dashboard and whatever reads its metrics: every name begins with `assay_`."""

from __future__ import annotations

from typing import Any

from ray.util.metrics import Counter


class Counters:
    """The counters of one run, by which they are tagged."""

    def __init__(self, run: str) -> None:
        tags: dict[str, Any] = {"tag_keys": ("run",)}
        self._rows = Counter("assay_rows", "Rows whose shard is done.", **tags)
        self._shards = Counter("assay_shards", "Shards that are done.", **tags)
        self._waiting = Counter("assay_rows_waiting", "Rows of them with a failure that may pass.", **tags)
        self._calls = Counter("assay_calls", "Calls to the judge that they took.", **tags)
        self._deaths = Counter("assay_worker_deaths", "Workers that died over a shard.", **tags)
        for counter in (self._rows, self._shards, self._waiting, self._calls, self._deaths):
            counter.set_default_tags({"run": run})

    def note(self, what: str, told: Any) -> None:
        """What a worker said: see `Team.heard`."""
        if what == "died":
            self._deaths.inc()
        if what != "done":
            return
        self._shards.inc()
        for counter, amount in (
            (self._rows, told["rows"]), (self._waiting, told["waiting"]), (self._calls, told["usage"].get("calls", 0)),
        ):  # fmt: skip
            if amount:
                counter.inc(amount)
